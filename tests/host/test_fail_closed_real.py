"""A guard of the host that fails refuses: on the real CLI, for the main agent and for a sub-agent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import soak
from conformance.real import RealStage
from host.kit import LIMIT_S, frames_until, told
from host.program import Program, attached, decides
from host.staged import host_over, stage_in
from inside import in_memory
from quarterdeck.host import HostError
from quarterdeck.host.requests import Callbacks, CreateSession, HookCallback, OfSession, SendPrompt
from quarterdeck.testing.model import ToolUse
from quarterdeck.testing.model.request import content_text
from quarterdeck.timeline.events import ToolEnded

pytestmark = pytest.mark.real
CALLS = {
    "touch unjudged": "The policy failed, so this is denied: RuntimeError: out of order",
    "touch broken": "A PreToolUse hook failed, so this is refused: KeyError",
    "touch unanswered": "did not ",
    "touch nonsense": "did not ",
}
"""What is tried, and why it is refused. On a busy machine Claude Code says first that a hook "did not respond"."""
SITUATIONS = (
    ("main", "default"),
    ("sub-agent", "bypassPermissions"),
    ("main", "bypassPermissions"),
    ("sub-agent", "default"),
)
HELP = ToolUse(
    "Task", {"description": "help", "prompt": "Help", "subagent_type": "general-purpose", "run_in_background": False}
)


async def answer_badly(program: Program, refused: list[str]) -> None:
    """No answer to one call, no valid one to another, no opinion about the rest."""
    while True:
        call = await program.told.get()
        if call is None or call.kind != "hook":
            continue
        command = call.input["tool_input"]["command"]
        if "nonsense" in command:
            with pytest.raises(HostError) as error:
                await program.answer(call, decides("Deny"))
            refused.append(error.value.code)
        elif "unanswered" not in command:
            await program.answer(call, {})


@pytest.mark.parametrize(("agent", "mode"), SITUATIONS if soak.ON else SITUATIONS[:2])
async def test_no_failure_of_the_policy_or_of_a_program_lets_a_tool_run(
    tmp_path: Path, mode: Any, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [ToolUse("Bash", {"command": command}, id=command.replace("touch ", "toolu_")) for command in CALLS]
    refused: list[str] = []
    with stage_in(tmp_path / "stage", "real") as stage:
        assert isinstance(stage, RealStage)
        if agent == "main":
            stage.reply(*calls)
        else:
            stage.model.on(lambda request: request.kind == "subagent", *calls, times=1)
            stage.model.on(lambda request: request.kind == "subagent", "I could not.")
            stage.reply(HELP)
        stage.reply("done")
        env = {**stage.options().env, "IS_SANDBOX": "1"}
        async with asyncio.timeout(LIMIT_S), host_over(stage, keeper=False, env=env) as host:
            session = await host.create_session(
                CreateSession(
                    cwd=str(stage.cwd),
                    permission_mode=mode,
                    callbacks=Callbacks(hooks=[HookCallback(event="PreToolUse", matcher="Bash", timeout_s=1)]),
                    options={"hooks_on_failure": "continue", "allowed_tools": ["Bash", "Task"]},
                )
            )
            policy = in_memory(host)[session.id].log.approvals.policy
            assert policy is not None
            judge, restrain = policy._against, policy.restrain

            def unable(tool: str, given: Any) -> Any:
                if given.get("command") == "touch unjudged":
                    raise RuntimeError("out of order")
                return judge(tool, given)

            def broken(tool: str, given: Any) -> Any:
                if given.get("command") == "touch broken":
                    raise KeyError("tool_name")
                return restrain(tool, given)

            monkeypatch.setattr(policy, "_against", unable)
            monkeypatch.setattr(policy, "restrain", broken)
            async with attached(host, session.id) as program:
                answering = asyncio.create_task(answer_badly(program, refused))
                await host.send_prompt(SendPrompt(session_id=session.id, content="go"))
                frames = await frames_until(host, session.id, "idle")
                answering.cancel()
            await host.stop(OfSession(session_id=session.id))
        blocks = [block for one in stage.model.requests for message in one.messages for block in message["content"]]

    expected = {call.id: CALLS[call.input["command"]] for call in calls}
    found = [block for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"]
    results = {block["tool_use_id"]: content_text(block["content"]) for block in found}
    assert set(expected) <= set(results)
    assert {key: results[key] for key, why in expected.items() if why not in results[key]} == {}
    assert refused == ["invalid"]
    assert list(stage.cwd.glob("*")) == []
    assert [one.status for one in told(frames, ToolEnded) if one.name == "Bash"] == ["denied"] * len(CALLS)
