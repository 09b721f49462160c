"""The plan that an agent keeps: a list it rewrites (TodoWrite), or tasks it makes and changes one by one (Task tools).

Headless, CLIs up to 2.1.52 have the first (2.1.52 the second in its place if CLAUDE_CODE_ENABLE_TASKS is set) and
2.1.325 has neither. Read when the tool has a result, so that a call that failed changes nothing. ``tool_use_result``
has the facts; a sub-agent's result comes without it (2.1.325), then the input and the text have to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast, get_args

import msgspec

from ._words import PlanStatus
from .events import Event, PlanChanged
from .items import Plan, ToolCall
from .limits import text_or_none
from .parts import PlanEntry
from .state import State

_STATUSES: tuple[str, ...] = get_args(PlanStatus)
_NUMBER = re.compile(r"#(\w+)")

Facts = Mapping[str, Any]


def fold_plan(state: State, call: ToolCall, result: Any, text: str, at: float, out: list[Event]) -> None:
    """A call of one of the planning tools has succeeded."""
    read = _READERS.get(call.name)
    if read is None:
        return
    source, owner = ("todo", call.parent_id or "") if call.name == "TodoWrite" else ("tasks", "")
    plan = state.plans.get(owner)
    before = plan.entries if plan is not None and plan.source == source else []
    entries = read(before, call.input, result if isinstance(result, dict) else {}, text)
    if entries is None or (plan is not None and entries == plan.entries):
        return
    state.plans[owner] = Plan(source, entries)
    out.append(PlanChanged(at, list(entries), source, owner or None))  # type: ignore[arg-type]


def _status(value: Any) -> PlanStatus:
    return cast(PlanStatus, value) if value in _STATUSES else "pending"


def _todo_write(_: list[PlanEntry], arguments: Facts, result: Facts, __: str) -> list[PlanEntry] | None:
    todos = result.get("newTodos", arguments.get("todos"))
    if not isinstance(todos, list):
        return None
    return [
        PlanEntry(
            id=str(number),
            text=str(todo.get("content", "")),
            status=_status(todo.get("status")),
            doing=text_or_none(todo.get("activeForm")),
        )
        for number, todo in enumerate(todos, start=1)
        if isinstance(todo, dict)
    ]


def _task_create(before: list[PlanEntry], arguments: Facts, result: Facts, text: str) -> list[PlanEntry] | None:
    task = result.get("task")
    found = _NUMBER.search(text)
    key = task.get("id") if isinstance(task, dict) else found and found[1]
    if key is None:
        return None
    entry = PlanEntry(
        id=str(key),
        text=str(arguments.get("subject", "")),
        doing=text_or_none(arguments.get("activeForm")),
        details=text_or_none(arguments.get("description")),
    )
    return [*(other for other in before if other.id != entry.id), entry]


def _task_update(before: list[PlanEntry], arguments: Facts, result: Facts, _: str) -> list[PlanEntry] | None:
    key = str(arguments.get("taskId"))
    if result.get("success") is False:
        return None
    if arguments.get("status") == "deleted":
        return [entry for entry in before if entry.id != key]
    known = next((entry for entry in before if entry.id == key), PlanEntry(id=key, text=f"task {key}"))
    changed = _changed(known, arguments)
    blocked = arguments.get("addBlockedBy")
    if isinstance(blocked, list):
        changed.blocked_by = [*changed.blocked_by, *(str(other) for other in blocked)]
    return _put(before, changed)


def _task_list(before: list[PlanEntry], _: Facts, result: Facts, __: str) -> list[PlanEntry] | None:
    tasks = result.get("tasks")
    if not isinstance(tasks, list):
        return None
    known = {entry.id: entry for entry in before}
    return [
        _changed(known.get(str(task.get("id")), PlanEntry(id=str(task.get("id")), text="")), task)
        for task in tasks
        if isinstance(task, dict)
    ]


def _task_get(before: list[PlanEntry], _: Facts, result: Facts, __: str) -> list[PlanEntry] | None:
    task = result.get("task")
    if not isinstance(task, dict):
        return None
    key = str(task.get("id"))
    known = next((entry for entry in before if entry.id == key), PlanEntry(id=key, text=""))
    return _put(before, _changed(known, task))


def _changed(entry: PlanEntry, facts: Facts) -> PlanEntry:
    """A copy with the new facts; events still have the old one."""
    blocked = facts.get("blockedBy")
    return msgspec.structs.replace(
        entry,
        text=text_or_none(facts.get("subject")) or entry.text,
        status=_status(facts["status"]) if text_or_none(facts.get("status")) else entry.status,
        doing=text_or_none(facts.get("activeForm")) or entry.doing,
        details=text_or_none(facts.get("description")) or entry.details,
        owner=text_or_none(facts.get("owner")) or entry.owner,
        blocked_by=[str(other) for other in blocked] if isinstance(blocked, list) else entry.blocked_by,
    )


def _put(before: list[PlanEntry], entry: PlanEntry) -> list[PlanEntry]:
    if any(other.id == entry.id for other in before):
        return [entry if other.id == entry.id else other for other in before]
    return [*before, entry]


_READERS: dict[str, Callable[[list[PlanEntry], Facts, Facts, str], list[PlanEntry] | None]] = {
    "TodoWrite": _todo_write,
    "TaskCreate": _task_create,
    "TaskUpdate": _task_update,
    "TaskList": _task_list,
    "TaskGet": _task_get,
}
