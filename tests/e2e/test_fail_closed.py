"""A guard that fails refuses: on the real CLI, in every permission mode, for the main agent and its sub-agents."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any, get_args

import pytest

import soak
from e2e.kit import Stage, reached, until
from e2e.server import server_config
from quarterdeck import AgentDefinition, HookEvent, HookMatcher, PermissionResultAllow, PreToolUseHookSpecificOutput
from quarterdeck.client import launch_initialize
from quarterdeck.policy import Policy
from quarterdeck.testing.install import SUPPORTED
from quarterdeck.testing.model import Stall, ToolUse
from quarterdeck.testing.model.request import content_text
from quarterdeck.wire.permissions import PermissionMode

pytestmark = pytest.mark.real
VERSIONS = SUPPORTED if soak.ON else (SUPPORTED[0],)
"""The old ones take a closed input for a yes. All of them in a soak."""


def specific(**said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}


async def raises(*_: Any) -> Any:
    raise RuntimeError("hook exploded")


def raises_at_once(*_: Any) -> Any:
    raise KeyError("tool")


async def is_cancelled(*_: Any) -> Any:
    raise asyncio.CancelledError


async def cancels_itself(*_: Any) -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.Event().wait()


async def recurses(*_: Any) -> Any:
    return await recurses()


async def never_answers(*_: Any) -> Any:
    await asyncio.Event().wait()


def returning(answer: Any) -> Callable[..., Any]:
    async def hook(*_: Any) -> Any:
        return answer

    return hook


def endless() -> dict[str, Any]:
    loop: dict[str, Any] = {}
    loop["systemMessage"] = loop
    return loop


FAILURES: dict[str, Callable[..., Any]] = {
    "raises": raises,
    "raises before it waits": raises_at_once,
    "is cancelled": is_cancelled,
    "cancels its own task": cancels_itself,
    "recurses": recurses,
    "is late": never_answers,
    "returns text": returning("deny"),
    "returns a number": returning(2),
    "returns False": returning(False),
    "returns a list": returning([specific(permissionDecision="deny")]),
    "returns a type": returning(PreToolUseHookSpecificOutput),
    "returns no JSON": returning(specific(permissionDecision="deny", permissionDecisionReason=object())),
    "returns a set": returning({"systemMessage": {1, 2}}),
    "returns itself": returning(endless()),
    "a wrong word": returning(specific(permissionDecision="Deny")),
    "another word": returning(specific(permissionDecision="block")),
    "no word at all": returning(specific(permissionDecision=False)),
    "an answer that is no number": returning(specific(permissionDecision=math.nan)),
    "a word in a typed answer": returning(PreToolUseHookSpecificOutput(permission_decision="refuse")),
    "the old key with a new word": returning({"decision": "deny"}),
    "Python's spelling": returning(specific(permission_decision="deny")),
    "in the wrong place": returning({"permissionDecision": "deny"}),
    "for another event": returning({"hookSpecificOutput": {"hookEventName": "PostToolUse"}}),
    "for no event": returning({"hookSpecificOutput": {"permissionDecision": "deny"}}),
    "with a reason that is no text": returning(specific(permissionDecision="deny", permissionDecisionReason=7)),
    "while it works on by itself": returning({"async_": True, **specific(permissionDecision="deny")}),
    "with an input that is no object": returning(specific(permissionDecision="allow", updatedInput=["rm"])),
}
MODES: tuple[PermissionMode, ...] = get_args(PermissionMode)


async def touch_under(stage: Stage, guards: dict[str, Callable[..., Any]], **options: Any) -> dict[str, str]:
    """One session in which each guard is asked about one ``touch``; what the model was told of each."""
    names = list(guards)

    async def guard(event: Any, *rest: Any) -> Any:
        asked = guards[names[int(event["tool_input"]["command"].split("ran")[1])]](event, *rest)
        return await asked if asyncio.iscoroutine(asked) else asked

    for number in range(len(names)):
        stage.model.reply(ToolUse("Bash", {"command": f"touch ran{number}"}, id=f"toolu_{number}"))
    stage.model.reply("done")
    matcher = HookMatcher(hooks=[guard], timeout=2)
    async with stage.session(hooks={"PreToolUse": [matcher]}, can_use_tool=stage.allow, **options) as session:
        await session.prompt("go")
    told = {
        block["tool_use_id"]: content_text(block["content"])
        for message in stage.model.conversation[-1].messages
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    }
    return {name: told[f"toolu_{number}"] for number, name in enumerate(names)}


def ran(stage: Stage) -> list[str]:
    return sorted(path.name for path in stage.cwd.glob("ran*"))


def mode_options(mode: str) -> dict[str, Any]:
    if mode != "bypassPermissions":
        return {"permission_mode": mode}
    return {"permission_mode": mode, "allow_dangerously_skip_permissions": True, "env": {"IS_SANDBOX": "1"}}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("mode", MODES)
async def test_no_failure_of_a_guard_lets_a_tool_run_in_any_mode(stage: Stage, mode: str) -> None:
    told = await touch_under(stage, FAILURES, **mode_options(mode))
    assert ran(stage) == []
    assert stage.asked == []
    assert [name for name, text in told.items() if "A PreToolUse hook failed, so this is refused" not in text] == []
    assert "RuntimeError: hook exploded" in told["raises"]
    assert "answer within" in told["is late"]


@pytest.mark.filterwarnings("ignore::UserWarning")
async def test_every_supported_cli_refuses_what_a_failing_guard_was_asked_about(any_stage: Stage) -> None:
    chosen = {name: FAILURES[name] for name in ("raises", "is cancelled", "is late", "a wrong word", "returns text")}
    told = await touch_under(any_stage, chosen, **mode_options("bypassPermissions"))
    assert ran(any_stage) == []
    assert len(told) == len(chosen)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("by", ["option", "matcher"])
async def test_who_wants_the_official_way_gets_it(stage: Stage, by: str) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch ran"}))
    stage.model.reply("done")
    matcher = HookMatcher(hooks=[raises], on_failure="continue" if by == "matcher" else None)
    options = mode_options("bypassPermissions") | ({"hooks_on_failure": "continue"} if by == "option" else {})
    async with stage.session(hooks={"PreToolUse": [matcher]}, **options) as session:
        await session.prompt("go")
    assert ran(stage) == ["ran"]


@pytest.mark.filterwarnings("ignore::UserWarning")
async def test_no_opinion_is_no_failure(stage: Stage) -> None:
    opinions = {"None": None, "an empty dict": {}, "a key of its own": {"seen": 1}, "a null": {"decision": None}}
    said_nothing = specific(permissionDecision=None, permissionDecisionReason=None)
    answers = {name: returning(opinion) for name, opinion in (opinions | {"all null": said_nothing}).items()}
    await touch_under(stage, answers, **mode_options("bypassPermissions"))
    assert len(ran(stage)) == len(answers)


async def test_where_a_failure_must_block_none_is_one_as_in_the_official_sdk(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch ran"}))
    stage.model.reply("done")
    hooks: Any = {"PreToolUse": [HookMatcher(hooks=[returning(None)], on_failure="block")]}
    async with stage.session(hooks=hooks, can_use_tool=stage.allow) as session:
        await session.prompt("go")
    assert ran(stage) == []
    assert "return {} for no opinion" in stage.tool_results()[0]


async def send_a_helper(
    stage: Stage,
    guard: Callable[..., Any],
    *,
    background: bool,
    told: str = "A PreToolUse hook failed, so this is refused",
    **options: Any,
) -> list[Any]:
    """A sub-agent tries one ``touch`` that ``guard`` is asked about, and is told ``told``; for which agents it was."""
    agents: list[Any] = []

    async def guarding(event: Any, *rest: Any) -> Any:
        if event["tool_name"] != "Bash":
            return specific(permissionDecision="allow")  # in plan and auto, 2.1.325 starts no agent on its own
        agents.append(event.get("agent_type"))
        asked = guard(event, *rest)
        return await asked if asyncio.iscoroutine(asked) else asked

    task = {"description": "help", "prompt": "Help", "subagent_type": "helper", "run_in_background": background}
    stage.model.on(
        lambda request: request.kind == "subagent" and not request.tool_results,
        ToolUse("Bash", {"command": "touch ran"}),
    )
    stage.model.on(lambda request: request.kind == "subagent", "I could not.")
    stage.model.reply(ToolUse("Task", task))
    for _ in range(1 + background):  # what runs in the background reports in a turn of its own
        stage.model.reply("done")
    options |= {"agents": {"helper": AgentDefinition(description="helps", prompt="Help.")}}
    hooks: Any = {"PreToolUse": [HookMatcher(hooks=[guarding], timeout=2)]}
    async with stage.session(hooks=hooks, can_use_tool=stage.allow, **options) as session:
        await session.prompt("go")
        await until(lambda: agents)
        await until(lambda: any(told in str(request.tool_results) for request in stage.model.requests))
    return agents


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
async def test_a_sub_agent_is_refused_what_its_guard_fails_at(stage: Stage, background: bool, mode: str) -> None:
    agents = await send_a_helper(stage, raises, background=background, **mode_options(mode))
    assert set(agents) == {"helper"}
    assert ran(stage) == []


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
@pytest.mark.parametrize("failure", ["is late", "is cancelled", "returns text", "a wrong word"])
async def test_a_sub_agent_is_refused_however_its_guard_fails(stage: Stage, background: bool, failure: str) -> None:
    options = mode_options("bypassPermissions")
    agents = await send_a_helper(stage, FAILURES[failure], background=background, **options)
    assert set(agents) == {"helper"}
    assert ran(stage) == []


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
async def test_a_sub_agent_is_refused_what_a_failing_policy_was_asked_about(stage: Stage, background: bool) -> None:
    class FailingPolicy(Policy):
        def judge(self, *_: Any) -> Any:
            raise RuntimeError("no verdict")

    policy = FailingPolicy([], cwd=str(stage.cwd))
    options = mode_options("bypassPermissions")
    told = "The policy failed, so this is denied: RuntimeError: no verdict"
    agents = await send_a_helper(stage, policy.hook, background=background, told=told, **options)
    assert set(agents) == {"helper"}
    assert ran(stage) == []


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("failure", ["is cancelled", "is late"])
async def test_a_policys_guard_refuses_when_it_fails_also_where_other_hooks_may_fail(
    stage: Stage, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_initialize, "DEFAULT_TIMEOUT_S", 2.0)

    class FailingPolicy(Policy):
        async def _guard(self, *given: Any) -> Any:
            return await FAILURES[failure](*given)

        _guard.fails_closed = True  # type: ignore[attr-defined]

    policy = FailingPolicy(Policy.from_rules(deny=["Bash(rm:*)"]).rules, cwd=str(stage.cwd))
    stage.model.reply(ToolUse("Bash", {"command": "touch ran"}))
    stage.model.reply("done")
    own: Any = {"PreToolUse": [HookMatcher(hooks=[raises])]}
    options = mode_options("bypassPermissions") | {"hooks_on_failure": "continue", "hooks": own}
    async with stage.session(can_use_tool=policy, **options) as session:
        await session.prompt("go")
    assert ran(stage) == []
    assert "A PreToolUse hook failed, so this is refused" in stage.tool_results()[0]


async def test_a_policy_that_cannot_follow_a_path_refuses_the_call(stage: Stage) -> None:
    policy = Policy.from_rules(allow=["Read(**)"], cwd=stage.cwd)
    (stage.cwd / "link0").symlink_to("/etc/hostname")
    for number in range(1, 1_500):
        (stage.cwd / f"link{number}").symlink_to(f"link{number - 1}")
    stage.model.reply(ToolUse("Read", {"file_path": str(stage.cwd / "link1499")}))
    stage.model.reply("done")
    hooks: Any = {"PreToolUse": [HookMatcher(hooks=[policy.hook])]}
    async with stage.session(hooks=hooks, can_use_tool=stage.allow) as session:
        await session.prompt("go")
    assert stage.asked == []
    assert "cannot be determined" in stage.tool_results()[0]


async def test_a_prompt_is_held_back_when_its_guard_fails(any_stage: Stage) -> None:
    stage = any_stage
    async with stage.session(hooks={"UserPromptSubmit": [HookMatcher(hooks=[raises])]}) as session:
        result = await session.prompt("go")
    if stage.newest:
        assert "A UserPromptSubmit hook failed, so this is refused: RuntimeError: hook exploded" in str(result.result)
    assert stage.model.conversation == []


@pytest.mark.parametrize("any_stage", SUPPORTED[2:], indirect=True)
async def test_a_permission_request_is_denied_when_its_guard_fails_before_the_callback_answers(
    any_stage: Stage,
) -> None:
    """2.0.77 and 2.1.17 wait for the callback, whatever such a hook says."""
    stage = any_stage
    refused = asyncio.Event()

    async def allow_later(*_: Any) -> PermissionResultAllow:
        await refused.wait()
        return PermissionResultAllow()

    stage.model.reply(ToolUse("Bash", {"command": "touch ran"}))
    stage.model.reply("done")
    hooks: Any = {"PermissionRequest": [HookMatcher(hooks=[raises])]}
    async with stage.session(hooks=hooks, can_use_tool=allow_later) as session:
        await session.prompt("go")
    refused.set()
    assert ran(stage) == []
    assert "A PermissionRequest hook failed" in stage.tool_results()[0]


async def test_a_model_is_not_switched_when_its_guard_fails(stage: Stage) -> None:
    hooks: Any = {"PreModelSwitch": [HookMatcher(hooks=[raises])]}
    async with stage.session(hooks=hooks) as session:
        with pytest.raises(Exception, match="A PreModelSwitch hook failed"):
            await session.set_model("sonnet")


def about(event: str, **said: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **said}}


FAILURES_OF_EVERY_GUARD = ("raises", "is cancelled", "is late", "returns text", "for another event", "returns no JSON")


async def asked_under(
    stage: Stage, event: HookEvent, guards: Sequence[Callable[..., Any]], **options: Any
) -> list[str]:
    """A server asks a person for a name, once under each guard; what it is told."""
    calls = iter(guards)

    async def guard(*given: Any) -> Any:
        return await next(calls)(*given)

    servers = {"st": server_config(stage.folder)}
    hooks: Any = {event: [HookMatcher(hooks=[guard], timeout=2)]}
    told: list[str] = []
    async with stage.session(hooks=hooks, mcp_servers=servers, allowed_tools=["mcp__st"], **options) as session:
        for _ in guards:
            stage.model.reply(ToolUse("mcp__st__ask", {}))
            stage.model.reply("asked")
            await session.prompt("ask me")
            told += stage.tool_results()
    return told


class Person:
    """Gives a name to whoever asks, and counts."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, *_: Any) -> dict[str, Any]:
        self.asked += 1
        return {"action": "accept", "content": {"name": "Bob"}}


async def test_nobody_is_asked_and_the_server_hears_no_when_the_guard_of_an_elicitation_fails(stage: Stage) -> None:
    person = Person()
    guards = [FAILURES[name] for name in FAILURES_OF_EVERY_GUARD]
    told = await asked_under(stage, "Elicitation", guards, on_elicitation=person)
    assert told == ['{"action": "decline"}'] * len(guards)
    assert person.asked == 0


async def test_the_server_does_not_hear_what_a_person_said_when_the_guard_of_the_answer_fails(stage: Stage) -> None:
    person = Person()
    guards = [FAILURES[name] for name in FAILURES_OF_EVERY_GUARD]
    told = await asked_under(stage, "ElicitationResult", guards, on_elicitation=person)
    assert told == ['{"action": "decline"}'] * len(guards)
    assert person.asked == len(guards)


@pytest.mark.parametrize("event", ["Elicitation", "ElicitationResult"])
async def test_what_a_guard_says_of_an_elicitation_counts_although_the_cli_hears_only_a_block(
    stage: Stage, event: HookEvent
) -> None:
    """Of a callback, 2.1.325 passes over ``action`` and ``content``; of a command hook it takes both."""
    said: list[dict[str, Any]] = [{}, *(about(event, action=action) for action in ("decline", "cancel", "accept"))]
    changed = about(event, action="accept", content={"name": "Eve"})
    told = await asked_under(stage, event, [*map(returning, said), returning(changed)], on_elicitation=Person())
    bob = '{"action": "accept", "content": {"name": "Bob"}}'
    no = '{"action": "decline"}'
    assert told == [bob, no, no, bob, bob if event == "Elicitation" else no]


@pytest.mark.parametrize("name", FAILURES_OF_EVERY_GUARD)
async def test_a_slash_command_is_neither_expanded_nor_does_it_run_anything_when_its_guard_fails(
    stage: Stage, name: str
) -> None:
    command = stage.cwd / ".claude" / "commands" / "go.md"
    command.parent.mkdir(parents=True)
    command.write_text("---\nallowed-tools: Bash(touch:*)\n---\n!`touch ran`\nSay that it is done.\n")
    hooks: Any = {"UserPromptExpansion": [HookMatcher(hooks=[FAILURES[name]], timeout=2)]}
    async with stage.session(hooks=hooks) as session:
        result = await session.prompt("/go")
    assert "A UserPromptExpansion hook failed, so this is refused" in str(result.result)
    assert ran(stage) == []
    assert stage.model.conversation == []


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("any_stage", VERSIONS, indirect=True)
async def test_closing_the_session_while_a_guard_thinks_runs_nothing(any_stage: Stage) -> None:
    asked = asyncio.Event()

    async def think(*_: Any) -> Any:
        asked.set()
        await asyncio.Event().wait()

    any_stage.model.reply(ToolUse("Bash", {"command": "touch ran"}))
    any_stage.model.reply("done")
    hooks: Any = {"PreToolUse": [HookMatcher(hooks=[think])]}
    async with any_stage.session(hooks=hooks, **mode_options("bypassPermissions")) as session:
        await session.send("go")
        await asked.wait()
    assert ran(any_stage) == []


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("any_stage", VERSIONS, indirect=True)
async def test_closing_the_session_in_the_middle_of_a_turn_runs_nothing_that_its_guard_has_not_seen(
    any_stage: Stage,
) -> None:
    gate = any_stage.model.gate()
    any_stage.model.reply(ToolUse("Bash", {"command": "touch ran"}), Stall(after=1, until=gate))
    any_stage.model.reply("done")
    hooks: Any = {"PreToolUse": [HookMatcher(hooks=[returning(specific(permissionDecision="deny"))])]}
    async with any_stage.session(hooks=hooks, **mode_options("bypassPermissions")) as session:
        await session.send("go")
        await reached(gate)
        closing = asyncio.create_task(session.close())
        await asyncio.sleep(0)  # the input is closed, and only then does the model go on
        gate.open()
        await closing
    assert ran(any_stage) == []
