"""What a child inherits: no option, callback, rule or mode of its parent is lost when it is started, or later."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from host.family import MORE, START, WAIT, WORK, Family, Gate, Step, call, family, starts, touch
from host.kit import decide, frames_until, next_turn, pending, told
from host.program import attached, decides
from host.staged import BOTH
from inside import in_memory, worked_on
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.host import HostError
from quarterdeck.host.events import PolicyDecided
from quarterdeck.host.inheriting import OF_ITS_CONVERSATION, inherited_options
from quarterdeck.host.requests import Callbacks, HookCallback, OfSession, UpdateSession
from quarterdeck.host.resources import Approval, Session
from quarterdeck.policy import Policy
from quarterdeck.timeline.events import TextCompleted

both = pytest.mark.parametrize("kind", BOTH)
DENIED = {"settings": {"permissions": {"deny": ["Bash(touch:*)"]}}}


def test_every_option_is_inherited_but_those_of_the_parents_conversation() -> None:
    given = {field.name: "x" for field in dataclasses.fields(ClaudeAgentOptions)}
    given |= {"add_dirs": ["../more"], "plugins": [{"type": "local", "path": "own"}]}
    given |= {"extra_args": {"settings": "strict.json", "verbose": None, "name": "x"}}
    kept = inherited_options({**given, "callbacks": {"hooks": []}}, "/srv/repo")
    assert kept.keys() == {*given, "callbacks"} - OF_ITS_CONVERSATION
    assert (kept["settings"], kept["mcp_servers"]) == ("/srv/repo/x", "/srv/repo/x")
    assert (kept["add_dirs"], kept["plugins"]) == (["/srv/repo/../more"], [{"type": "local", "path": "/srv/repo/own"}])
    assert kept["extra_args"] == {"settings": "/srv/repo/strict.json", "verbose": None, "name": "x"}
    nothing: dict[str, Any] = {"add_dirs": [], "plugins": None, "extra_args": None}
    assert inherited_options(nothing, "/") == nothing
    assert inherited_options({"settings": '{"a": 1}', "mcp_servers": {}}, "/") == {
        "settings": '{"a": 1}',
        "mcp_servers": {},
    }


async def test_a_process_of_a_child_is_started_with_the_options_of_its_parent(tmp_path: Path) -> None:
    restraints: dict[str, Any] = {
        **DENIED,
        "disallowed_tools": ["WebFetch"],
        "env": {"KEY": "secret"},
        "max_turns": 20,
        "sandbox": {"enabled": True},
        "setting_sources": ["user"],
        "strict_mcp_config": True,
    }
    async with family(tmp_path, "sim", lead=starts(cwd="below")) as one:
        (one.cwd / "below").mkdir()
        parent = await one.parent(options={**restraints, "title": "Mine"})
        await frames_until(one.host, parent.id, "idle")
        (child,) = await one.children(parent)
        actors = in_memory(one.host)
        theirs, own = (actors[session.id].options(actors[session.id].log) for session in (child, parent))
        assert {name: getattr(theirs, name) for name in restraints} == {name: getattr(own, name) for name in restraints}
        assert {name: getattr(theirs, name) for name in restraints if name != "env"} == {
            name: value for name, value in restraints.items() if name != "env"
        }
        assert theirs.env["KEY"] == "secret"
        assert theirs.title is None
        body = in_memory(one.host)[child.id].log.record.body
        assert b"secret" not in body


@both
async def test_what_the_settings_of_the_parent_deny_is_denied_to_its_child(tmp_path: Path, kind: str) -> None:
    async with family(tmp_path, kind, lead=starts(), work=[touch("made.txt"), "Not done."]) as one:
        parent = await one.parent(allowed=["Bash"], options={"allowed_tools": ["Bash", START, WAIT], **DENIED})
        await frames_until(one.host, parent.id, "idle")
        (child,) = await one.children(parent)
        ((name, status, _),) = await one.ended(child)
        assert name == "Bash"
        assert status in ("failed", "denied")
        assert not (one.cwd / "made.txt").exists()


@both
async def test_hooks_of_a_program_are_asked_about_what_its_child_does(tmp_path: Path, kind: str) -> None:
    guard = Callbacks(hooks=[HookCallback(event="PreToolUse", matcher="Bash")])
    steps = [touch("one.txt"), "Not done."]
    async with family(tmp_path, kind, lead=starts(), work=steps) as one:
        parent = await one.parent(allowed=["Bash"], callbacks=guard)
        (child,) = await until_there(one, parent)
        async with attached(one.host, child.id) as program:
            asked = await program.asked("hook")
            assert asked.input["tool_input"]["command"] == "touch one.txt"
            await program.answer(asked, decides("deny", permissionDecisionReason="Not today."))
            await frames_until(one.host, parent.id, "idle")
        ((_, _, said),) = await one.ended(child)
        assert "Not today." in said
        assert not (one.cwd / "one.txt").exists()


@both
async def test_the_rules_in_the_settings_of_the_parents_folder_hold_in_a_folder_below(
    tmp_path: Path, kind: str
) -> None:
    async with family(tmp_path, kind, lead=starts(cwd="below"), work=[touch("made.txt"), "Not done."]) as one:
        (one.cwd / "below").mkdir()
        (one.cwd / ".claude").mkdir()
        (one.cwd / ".claude" / "settings.json").write_text(json.dumps(DENIED["settings"]))
        parent = await one.parent(allowed=["Bash"])
        await frames_until(one.host, parent.id, "idle")
        (child,) = await one.children(parent)
        assert child.cwd == str(one.cwd / "below")
        decided = told((await frames_until(one.host, child.id, "idle")), PolicyDecided)
        assert [(event.decision, event.rule) for event in decided] == [("deny", "Bash(touch:*)")]
        assert not (one.cwd / "below" / "made.txt").exists()


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
@pytest.mark.parametrize(
    "settings", ['{"hooks": {"PreToolUse": []}, "sandbox": {"enabled": true}}', "not JSON"], ids=["hooks", "damaged"]
)
async def test_a_folder_that_restrains_in_ways_of_its_own_is_not_left(tmp_path: Path, name: str, settings: str) -> None:
    steps = [call("start_session", prompt=WORK, cwd="below"), *starts()]
    async with family(tmp_path, "sim", lead=steps) as one:
        (one.cwd / "below").mkdir()
        (one.cwd / ".claude").mkdir()
        (one.cwd / ".claude" / name).write_text(settings)
        parent = await one.parent()
        await frames_until(one.host, parent.id, "idle")
        refused, *_ = await one.ended(parent)
        assert "Leave cwd empty" in refused[2]
        (child,) = await one.children(parent)
        assert child.cwd == str(one.cwd)


@both
async def test_a_child_never_has_more_than_its_parent_and_outlives_it_if_it_may(tmp_path: Path, kind: str) -> None:
    refused = [{"cwd": ".."}, {"cwd": "way-out"}, {"permission_mode": "acceptEdits"}]
    lead = [*(call("start_session", prompt=WORK, **given) for given in refused), *starts()]
    work = [call("start_session", prompt=WORK), "Nobody to start."]
    async with family(tmp_path, kind, lead=lead, work=work) as one:
        (tmp_path / "outside").mkdir()
        (one.cwd / "way-out").symlink_to(tmp_path / "outside")
        parent = await one.parent(tools={"children_outlive": True})
        await frames_until(one.host, parent.id, "idle")
        answers = [said for name, _, said in await one.ended(parent) if name == "start_session"]
        assert len(answers) == 4
        for word, said in zip(("outside", "outside", "allows more"), answers, strict=False):
            assert word in said
        (child,) = await one.children(parent)
        assert (child.cwd, child.permission_mode) == (str(one.cwd), "default")
        ((name, status, said),) = await one.ended(child)
        assert (name, status) == ("start_session", "failed")
        assert "No such tool available" in said
        await one.host.stop(OfSession(session_id=parent.id))
        one.host.tend()
        while worked_on(one.host):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        frames = await next_turn(one.host, child.id, MORE)
        assert [event.text for event in told(frames, TextCompleted)] == ["More done."]
        assert (await one.host.get_session(OfSession(session_id=parent.id))).state == "stopped"


# Policy


@both
@pytest.mark.parametrize("whose", ["host", "session"])
async def test_a_rule_against_starting_sessions_holds_though_the_tool_is_allowed(
    tmp_path: Path, kind: str, whose: str
) -> None:
    given: dict[str, Any] = {"policy": Policy.from_rules(deny=[START])} if whose == "host" else {}
    async with family(tmp_path, kind, lead=[call("start_session", prompt=WORK), "Refused."], **given) as one:
        more = {} if whose == "host" else {"policy": {"deny": [START]}}
        parent = await one.parent(**more)
        frames = await frames_until(one.host, parent.id, "idle")
        assert [(event.decision, event.rule) for event in told(frames, PolicyDecided)] == [("deny", START)]
        ((name, status, _),) = await one.ended(parent)
        assert (name, status != "finished") == ("start_session", True)
        assert await one.children(parent) == []


@both
async def test_the_policy_of_the_parent_holds_for_its_child(tmp_path: Path, kind: str) -> None:
    async with family(tmp_path, kind, lead=starts(), work=[touch("made.txt"), "Not done."]) as one:
        parent = await one.parent(allowed=["Bash"], policy={"deny": ["Bash(touch:*)"]})
        await frames_until(one.host, parent.id, "idle")
        (child,) = await one.children(parent)
        decided = told(await frames_until(one.host, child.id, "idle"), PolicyDecided)
        assert [(event.decision, event.rule) for event in decided] == [("deny", "Bash(touch:*)")]
        assert not (one.cwd / "made.txt").exists()


# Modes


def edit(name: str) -> Step:
    return {"tool": "Write", "input": {"file_path": name, "content": "x"}}


@both
async def test_a_running_child_is_asked_about_edits_once_its_parent_is(tmp_path: Path, kind: str) -> None:
    gate = Gate(tmp_path)
    lead = [call("start_session", prompt=WORK, name="child"), "Started."]
    path = tmp_path / ("claude/work" if kind == "sim" else "repo")
    work = [edit(str(path / "one.txt")), gate, edit(str(path / "two.txt")), "Done."]
    async with family(tmp_path, kind, lead=lead, work=work) as one:
        parent = await one.parent(permission_mode="acceptEdits")
        await frames_until(one.host, parent.id, "idle")
        (child,) = await one.children(parent)
        while not await one.ended(child):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await one.host.update_session(UpdateSession(session_id=parent.id, permission_mode="default"))
        assert (await one.host.get_session(OfSession(session_id=child.id))).permission_mode == "default"
        gate.open()
        (asked,) = await pending(one.host, child.id)
        assert asked.input["file_path"] == str(path / "two.txt")
        await decide(one.host, asked, "deny")
        await frames_until(one.host, child.id, "idle")
        assert ((path / "one.txt").exists(), (path / "two.txt").exists()) == (True, False)


@pytest.mark.parametrize("depth", [1, 2])
async def test_whatever_makes_a_mode_stricter_makes_it_stricter_below(tmp_path: Path, depth: int) -> None:
    """Here the model itself: it enters plan mode."""
    down = [call("start_session", prompt=WORK, name="below"), "Started."]
    lead = [*down[:1], {"tool": "EnterPlanMode", "input": {}}, "Planning."]
    async with family(tmp_path, "sim", lead=lead, work=down) as one:
        parent = await one.parent(permission_mode="acceptEdits", tools={"depth": depth})
        await frames_until(one.host, parent.id, "idle")
        assert (await one.host.get_session(OfSession(session_id=parent.id))).permission_mode == "plan"
        generation = [parent]
        for _ in range(depth):
            generation = await until_there(one, generation[0])
            await lowered_to("plan", one, generation[0].id)


async def lowered_to(mode: str, one: Family, session: str) -> None:
    while (await one.host.get_session(OfSession(session_id=session))).permission_mode != mode:
        one.host.tend()
        await asyncio.sleep(0.01)


async def test_people_cannot_give_a_child_more_than_its_parent_has(tmp_path: Path) -> None:
    async with family(tmp_path, "sim", lead=starts(), work=["Done.", "More done."]) as one:
        parent = await one.parent(permission_mode="acceptEdits")
        await frames_until(one.host, parent.id, "idle")
        (child,) = await one.children(parent)
        await one.host.stop(OfSession(session_id=child.id))
        await one.host.update_session(UpdateSession(session_id=parent.id, permission_mode="plan"))
        with pytest.raises(HostError, match="allows more than plan") as refused:
            await one.host.update_session(UpdateSession(session_id=child.id, permission_mode="default"))
        assert (refused.value.code, refused.value.details["field"]) == ("forbidden", "permission_mode")
        await next_turn(one.host, child.id, WORK)  # a person's prompt starts it again
        actor = in_memory(one.host)[child.id]
        assert actor.options(actor.log).permission_mode == "plan"


async def test_a_decision_gives_a_child_no_more_than_its_parent_has(tmp_path: Path) -> None:
    """Approving its plan would end its plan mode."""
    lead = [call("start_session", prompt=WORK, name="child"), "Started."]
    work = [{"tool": "ExitPlanMode", "input": {"plan": "Count."}}, touch("made.txt"), "Done."]
    async with family(tmp_path, "sim", lead=lead, work=work) as one:
        parent = await one.parent(permission_mode="plan")
        (child,) = await until_there(one, parent)
        (plan,) = await pending(one.host, child.id)
        with pytest.raises(HostError, match="allows more than plan") as refused:
            await decide(one.host, plan)
        assert (refused.value.code, refused.value.details["field"]) == ("forbidden", "mode")
        await frames_until(one.host, parent.id, "idle")
        await one.host.update_session(UpdateSession(session_id=parent.id, permission_mode="default"))
        await decide(one.host, plan)
        (asked,) = await next_pending(one, child.id, but=plan.id)
        with pytest.raises(HostError, match="allows more than default"):
            await decide(one.host, asked, mode="acceptEdits")
        await decide(one.host, asked)
        await frames_until(one.host, child.id, "idle")
        assert (one.cwd / "made.txt").exists()


async def until_there(one: Family, parent: Session) -> list[Session]:
    while not (found := await one.children(parent)):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return found


async def next_pending(one: Family, session: str, *, but: str) -> list[Approval]:
    while not (found := [approval for approval in await pending(one.host, session) if approval.id != but]):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return found
