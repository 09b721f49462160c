"""The plan that an agent keeps: by TodoWrite, or by the Task tools."""

from __future__ import annotations

from typing import Any

from quarterdeck.timeline import Event
from quarterdeck.timeline.events import PlanChanged
from quarterdeck.timeline.parts import PlanEntry

from .talk import Talk, assistant, call, kinds, only, result


def use(talk: Talk, key: str, name: str, arguments: dict[str, Any], facts: Any, output: str = "ok") -> list[Event]:
    return talk.hear(assistant(call(key, name, **arguments), message=f"msg_{key}"), result(key, output, facts))


TODOS = [
    {"content": "Look", "status": "completed", "activeForm": "Looking"},
    {"content": "Leap", "status": "in_progress", "activeForm": "Leaping"},
]
ENTRIES = [
    PlanEntry("1", "Look", "completed", doing="Looking"),
    PlanEntry("2", "Leap", "in_progress", doing="Leaping"),
]


def test_todo_write_is_the_whole_plan() -> None:
    talk = Talk()
    events = use(talk, "a", "TodoWrite", {"todos": TODOS}, {"oldTodos": [], "newTodos": TODOS})
    assert only(PlanChanged, events) == PlanChanged(2.0, ENTRIES, "todo")
    assert talk.state.plan.entries == ENTRIES


def test_the_same_plan_again_is_no_change() -> None:
    talk = Talk()
    use(talk, "a", "TodoWrite", {"todos": TODOS}, None)
    assert "plan_changed" not in kinds(use(talk, "b", "TodoWrite", {"todos": TODOS}, None))


def test_a_sub_agents_list_is_its_own() -> None:
    talk = Talk()
    use(talk, "a", "TodoWrite", {"todos": TODOS[:1]}, None)
    nested: dict[str, Any] = {"parent_tool_use_id": "agent"}
    talk.hear(assistant(call("b", "TodoWrite", todos=TODOS), message="m", **nested), result("b", **nested))
    assert talk.events[-1] == PlanChanged(4.0, ENTRIES, "todo", "agent")
    assert talk.state.plan.entries == ENTRIES[:1]


def test_a_call_that_failed_changes_no_plan() -> None:
    talk = Talk()
    talk.hear(assistant(call("a", "TodoWrite", todos=TODOS)), result("a", "InputValidationError", error=True))
    assert talk.state.plan is None


def test_tasks_are_made_changed_and_deleted_one_by_one() -> None:
    talk = Talk()
    look = {"subject": "Look", "description": "With care", "activeForm": "Looking"}
    use(talk, "a", "TaskCreate", look, {"task": {"id": "1", "subject": "Look"}})
    use(talk, "b", "TaskCreate", {"subject": "Leap"}, None, "Task #2 created successfully: Leap")
    use(talk, "c", "TaskUpdate", {"taskId": "1", "status": "in_progress", "owner": "me"}, {"success": True})
    use(talk, "d", "TaskUpdate", {"taskId": "2", "addBlockedBy": ["1"]}, {"success": True})
    look_entry = PlanEntry("1", "Look", "in_progress", doing="Looking", details="With care", owner="me")
    assert talk.state.plan.entries == [look_entry, PlanEntry("2", "Leap", blocked_by=["1"])]
    use(talk, "e", "TaskUpdate", {"taskId": "1", "status": "completed"}, {"success": False})
    use(talk, "f", "TaskUpdate", {"taskId": "2", "status": "deleted"}, {"success": True})
    assert talk.state.plan.entries == [look_entry]
    sizes = [len(event.entries) for event in talk.events if isinstance(event, PlanChanged)]
    assert sizes == [1, 2, 2, 2, 1]


def test_a_task_list_puts_the_plan_right() -> None:
    talk = Talk()
    use(talk, "a", "TaskCreate", {"subject": "Look", "description": "With care"}, {"task": {"id": "1"}})
    listed = [{"id": "1", "subject": "Look", "status": "completed"}, {"id": "3", "subject": "Land", "blockedBy": ["1"]}]
    use(talk, "b", "TaskList", {}, {"tasks": listed})
    use(talk, "c", "TaskGet", {"taskId": "3"}, {"task": {"id": "3", "description": "Softly", "status": "pending"}})
    assert talk.state.plan.entries == [
        PlanEntry("1", "Look", "completed", details="With care"),
        PlanEntry("3", "Land", details="Softly", blocked_by=["1"]),
    ]


def test_odd_results_change_nothing() -> None:
    talk = Talk()
    use(talk, "a", "TaskCreate", {"subject": "Look"}, {"odd": 1}, "odd")
    use(talk, "b", "TaskList", {}, {"tasks": "none"})
    use(talk, "c", "TaskGet", {"taskId": "1"}, {"task": None})
    use(talk, "d", "TodoWrite", {"todos": "none"}, None)
    assert talk.state.plan is None
