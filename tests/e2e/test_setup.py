"""What a session is told at its start, seen to have arrived in the newest CLI."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from e2e.kit import Stage, next_of, of_kind
from quarterdeck import (
    AgentDefinition,
    ControlError,
    InitMessage,
    ProcessExited,
    SessionStateChangedMessage,
    UserMessage,
    resume_session,
)
from quarterdeck.testing.model import ToolUse, Usage

pytestmark = pytest.mark.real


async def test_settings_files_are_read_or_not(stage: Stage) -> None:
    (stage.cwd / "CLAUDE.md").write_text("The password is swordfish.\n")
    for sources, told in ((None, True), ([], False), (["project"], True), (["user"], False)):
        async with stage.session(setting_sources=sources) as session:
            stage.model.reply("ok")
            await session.prompt("hi")
        assert ("swordfish" in stage.model.conversation[-1].text) is told, sources


async def test_a_large_prompt_and_many_agents_arrive_whole_and_not_on_the_command_line(stage: Stage) -> None:
    agents = {
        f"agent-{number}": AgentDefinition(description=f"Number {number}", prompt="x" * 13_000) for number in range(20)
    }
    system_prompt = "Be the ship's parrot. " + "y" * 1_000_000
    lines: list[str] = []
    async with stage.session(agents=agents, system_prompt=system_prompt, stderr=lines.append) as session:
        assert all(len(line) < 100_000 for line in stage.left_running())
        assert not any("parrot" in line for line in stage.left_running())
        stage.model.reply("Squawk")
        messages = [message async for message in session.prompt("hi")]
        names = {agent.name for agent in session.agents()}
        assert set(agents) <= names
    (init,) = of_kind(messages, InitMessage)
    assert set(agents) <= set(init.agents or ())
    assert system_prompt in stage.model.conversation[-1].system


async def test_further_flags_arrive(stage: Stage) -> None:
    async with stage.session(extra_args={"disable-slash-commands": None}) as plain:
        assert plain.commands() == []


async def test_a_process_that_does_not_start_says_why_on_stderr(stage: Stage) -> None:
    lines: list[str] = []
    session = stage.session(extra_args={"no-such-flag": None}, stderr=lines.append)
    with pytest.raises(ProcessExited, match="no-such-flag") as caught:
        async with session:
            pass
    assert caught.value.exit_code == 1
    assert any("no-such-flag" in line for line in lines)


async def test_states_and_echoes_come_when_asked_for(stage: Stage) -> None:
    uuid = "aaaaaaaa-0000-4000-8000-000000000001"
    options = {"session_state_events": True, "replay_user_messages": True, "can_use_tool": stage.allow}
    async with stage.session(**options) as session:
        stage.model.reply(ToolUse("Bash", {"command": "touch a"}))
        stage.model.reply("touched")
        messages = [message async for message in session.prompt("echo me", uuid=uuid)]
        messages += [await next_of(session, SessionStateChangedMessage, state="idle")]
    states = [message.state for message in of_kind(messages, SessionStateChangedMessage)]
    assert states[0] == "running"
    assert "requires_action" in states
    assert states[-1] == "idle"
    assert uuid in [message.uuid for message in of_kind(messages, UserMessage)]
    assert session.exit_status is not None


async def test_files_go_back_to_how_they_were(stage: Stage) -> None:
    old, new = stage.cwd / "old.txt", stage.cwd / "new.txt"
    old.write_text("before\n")
    uuid = "aaaaaaaa-0000-4000-8000-000000000001"
    options = {"enable_file_checkpointing": True, "permission_mode": "acceptEdits"}
    async with stage.session(**options) as session:
        stage.model.reply(ToolUse("Read", {"file_path": str(old)}))
        stage.model.reply(
            ToolUse("Write", {"file_path": str(new), "content": "new\n"}),
            ToolUse("Edit", {"file_path": str(old), "old_string": "before", "new_string": "after"}),
        )
        stage.model.reply("written")
        await session.prompt("write", uuid=uuid)
        assert (old.read_text(), new.read_text()) == ("after\n", "new\n")
        would = await session.rewind_files(uuid, dry_run=True)
        assert would.can_rewind
        assert set(would.files_changed or ()) == {str(old), str(new)}
        assert new.exists()
        await session.rewind_files(uuid)
        assert old.read_text() == "before\n"
        assert not new.exists()
        with pytest.raises(ControlError, match="No file checkpoint found"):
            await session.rewind_files("00000000-0000-4000-8000-000000000000")


async def test_costs_are_counted_by_turn_and_after_a_resume(stage: Stage) -> None:
    async with stage.session() as session:
        for number in (1, 2):
            stage.model.reply("ok", usage=Usage(1000 * number, 0))
            await session.prompt("spend")
        first, session_id = session.costs.total_usd, session.session_id
        assert session.costs.last.cost_usd == pytest.approx(first * 2 / 3)
        assert session_id is not None
    async with resume_session(session_id, stage.options(), **stage.at) as session:
        stage.model.reply("ok", usage=Usage(3000, 0))
        await session.prompt("spend more")
        assert session.costs.total_usd == pytest.approx(first)
        assert session.costs.reported_usd == pytest.approx(2 * first)


def settings_files(command_lines: str) -> list[Path]:
    flag = "--settings="
    return [Path(word.removeprefix(flag)) for word in command_lines.split() if word.startswith(flag)]


async def test_nothing_private_is_left_on_disk(stage: Stage) -> None:
    settings = {"env": {"TOKEN": "swordfish-in-settings"}}
    async with stage.session(settings=settings):
        commands = " ".join(stage.left_running())
        assert "swordfish-in-settings" not in commands
        (path,) = settings_files(commands)
        assert json.loads(path.read_text()) == settings
    assert not path.exists()
