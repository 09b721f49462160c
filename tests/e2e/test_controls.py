"""Every control method against the newest CLI: what it answers is of the type that the method says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.conftest import running_in
from e2e.kit import Running, Stage, reached
from e2e.server import server_config
from quarterdeck import AssistantMessage, ControlError, wire
from quarterdeck.testing.model import Stall, ToolUse

pytestmark = pytest.mark.real

UUID = "aaaaaaaa-0000-4000-8000-000000000001"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("controls")
    with running_in(folder, mcp_servers={"st": server_config(folder)}) as running:
        (running.stage.cwd / "f.txt").write_text("hello file\n")
        (running.stage.cwd / "sub").mkdir()
        yield running


@pytest.fixture
def running(shared: Running) -> Running:
    shared.reset()
    return shared


async def spoken(running: Running, words: str = "hi", **prompt: Any) -> AssistantMessage:
    """One turn, so that there is a conversation; what was said in it."""
    running.model.reply(words)
    messages = [message async for message in running.session.prompt("say it", **prompt)]
    return next(message for message in messages if isinstance(message, AssistantMessage))


TYPED = {
    "binary_version": wire.BinaryVersion,
    "chrome_dialog": wire.ChromeDialog,
    "context_usage": wire.ContextUsageResponse,
    "cost": wire.SessionCost,
    "export": wire.ConversationExport,
    "fork_conversation": wire.ConversationFork,
    "hooks_listing": wire.HooksListing,
    "mcp_status": wire.McpStatusResponse,
    "memory_dialog": wire.MemoryDialog,
    "permission_rules": wire.PermissionRulesAnswer,
    "plan": wire.PlanAnswer,
    "reinitialize": wire.InitializeAnswer,
    "reload_output_styles": wire.ReloadOutputStylesResult,
    "reload_plugins": wire.ReloadPluginsResult,
    "reload_skills": wire.ReloadSkillsResult,
    "sandbox_dialog": wire.SandboxDialog,
    "settings": wire.SettingsAnswer,
    "skills_dialog": wire.SkillsDialog,
    "status": wire.StatusAnswer,
    "usage": wire.UsageAnswer,
    "workspace_diff": wire.WorkspaceDiff,
}


async def test_what_takes_no_argument_answers_with_its_type(running: Running) -> None:
    await spoken(running, "the words to export")
    answers = {name: await getattr(running.session, name)() for name in TYPED}
    assert {name: type(answer) for name, answer in answers.items()} == TYPED
    assert answers["binary_version"].version == running.stage.version
    assert "the words to export" in answers["export"].text
    assert answers["context_usage"].total_tokens > 0
    assert answers["mcp_status"].mcp_servers[0].name == "st"
    assert answers["fork_conversation"].forked is False
    assert [type(model) for model in await running.session.models()][:1] == [wire.ModelInfo]
    assert [type(command) for command in running.session.commands()][:1] == [wire.SlashCommand]
    assert [type(agent) for agent in running.session.agents()][:1] == [wire.AgentInfo]
    assert isinstance(running.session.account(), wire.AccountInfo)


async def test_files_are_read_suggested_and_seeded(running: Running) -> None:
    session = running.session
    assert (await session.read_file("f.txt")).contents == "hello file\n"
    assert (await session.read_file("f.txt", encoding="base64")).encoding == "base64"
    assert (await session.read_file("f.txt", max_bytes=3)).truncated
    with pytest.raises(ControlError):
        await session.read_file("no-such-file")
    await session.seed_read_state("f.txt", 1)
    assert isinstance(await session.file_suggestions("f"), wire.FileSuggestions)
    assert isinstance(await session.register_repo_root(running.stage.cwd / "sub"), wire.RegisteredRepoRoot)
    moved = await session.set_cwd(running.stage.cwd / "sub")
    assert moved.status == "needs_trust"


async def test_a_question_beside_the_conversation_a_title_and_a_name(running: Running) -> None:
    session = running.session
    message = await spoken(running)
    running.model.on(lambda request: request.kind == "side_question", "It goes well.", times=1)
    running.model.on(lambda request: request.kind == "title", '{"title": "A voyage"}', times=1)
    assert (await session.side_question("How goes it?")).response == "It goes well."
    assert await session.generate_title("Plan a voyage around the world") == "A voyage"
    assert await session.generate_title("sail") is None  # too little to name; no model is asked (2.1.325)
    await session.rename("Under way")
    with pytest.raises(ControlError):
        await session.rename("Other", session_id="00000000-0000-4000-8000-000000000000")
    assert message.uuid is not None
    rated = {"sentiment": "positive"}
    assert isinstance(await session.rate_message(message.uuid, **rated), dict)  # type: ignore[arg-type]


async def test_a_cancelled_side_question_is_taken_back(running: Running) -> None:
    await spoken(running)
    gate = running.model.gate()
    slow = "Was it slow?"
    running.model.on(lambda request: slow in request.text, "late", Stall(after=0, until=gate), times=1)
    asking = asyncio.create_task(running.session.side_question(slow))
    await reached(gate)
    asking.cancel()
    await asyncio.wait([asking])
    assert asking.cancelled()
    assert await running.session.binary_version()
    gate.open()


async def test_a_conversation_goes_back_to_before_a_prompt(running: Running) -> None:
    await spoken(running, "first")
    await spoken(running, "second", uuid=UUID)
    rewound = await running.session.rewind_conversation(UUID)
    assert (rewound.rewound, rewound.prefill_text) == (True, "say it")
    await spoken(running, "third")
    assert "second" not in running.model.conversation[-1].text


async def test_settings_change_for_the_session_or_in_a_file(running: Running) -> None:
    session = running.session
    await session.apply_settings({"model": "haiku"})
    await spoken(running)
    assert "haiku" in running.model.conversation[-1].model
    await session.apply_settings({"model": None})
    await session.update_settings("localSettings", {"outputStyle": "Explanatory"})
    written = running.stage.cwd / ".claude" / "settings.local.json"
    assert "Explanatory" in written.read_text()
    with pytest.raises(ControlError):
        await session.update_settings("localSettings", {"model": "x"})
    await session.set_has_subscribers(True)
    await session.set_prompt_suggestions_paused(True)
    override = await session.set_mcp_permission_mode_override("st", "default")
    assert isinstance(override, wire.McpPermissionOverride)


async def test_of_the_environment_only_tokens_can_be_changed(running: Running) -> None:
    """2.1.325 takes three variables, all of them tokens, and passes over the others without a word."""
    await spoken(running)
    running.session.update_environment({"SHIP": "Quarterdeck", "CLAUDE_CODE_SESSION_ACCESS_TOKEN": "swordfish"})
    look = 'echo "$SHIP,$CLAUDE_CODE_SESSION_ACCESS_TOKEN" > environment.txt'
    running.model.reply(ToolUse("Bash", {"command": look, "description": "look"}))
    running.model.reply("seen")
    await running.session.prompt("look")
    assert (running.stage.cwd / "environment.txt").read_text() == ",swordfish\n"


async def test_a_message_for_an_mcp_server_in_this_process_needs_no_such_server(running: Running) -> None:
    notification = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    await running.session.send_mcp_message("nobody", notification)  # no error for an unknown server (2.1.325)


@pytest.mark.parametrize(
    ("method", "arguments", "code"),
    [
        ("set_permission_mode", ["delegate"], "invalid_mode"),
        ("set_permission_mode", ["bypassPermissions"], "bypass_not_launched"),
        ("set_color", ["red"], "unsupported_request"),
        ("set_proactivity_level", ["ask"], None),
        ("authenticate_mcp_server", ["st"], None),
        ("task_output", ["nope"], None),
    ],
)
async def test_what_cannot_be_is_refused_with_the_clis_reason(
    running: Running, method: str, arguments: list[Any], code: str | None
) -> None:
    with pytest.raises(ControlError) as caught:
        await getattr(running.session, method)(*arguments)
    assert caught.value.code == code
    assert caught.value.error


async def test_several_controls_are_answered_while_a_turn_runs(running: Running) -> None:
    session, gate = running.session, running.model.gate()
    running.model.reply("A long answer.", Stall(after=3, until=gate))
    turn = session.prompt("talk")
    await turn.send()
    await reached(gate)
    answers = await asyncio.gather(session.mcp_status(), session.settings(), session.binary_version(), session.cost())
    assert [type(answer) for answer in answers] == [
        wire.McpStatusResponse,
        wire.SettingsAnswer,
        wire.BinaryVersion,
        wire.SessionCost,
    ]
    gate.open()
    assert (await turn).result == "A long answer."


async def test_a_session_can_be_told_to_end(stage: Stage) -> None:
    async with stage.session() as session:
        await session.end()
        assert [message async for message in session.messages()] == []
        assert session.exit_status is not None
        assert session.exit_status.code == 0
