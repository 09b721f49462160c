"""Every control method that is safe to call, on the newest real CLI: its typed answer, or the refusal that is known."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from client.real_cli import Place, place
from client.test_controls import methods
from quarterdeck import wire
from quarterdeck.client.errors import ControlError, ControlTimeout
from quarterdeck.client.session import Session, connect
from quarterdeck.client.tools import create_sdk_mcp_server, tool
from quarterdeck.testing.install import NEWEST, SUPPORTED
from quarterdeck.testing.model import Stall, ToolUse
from quarterdeck.transport import ExitStatus
from quarterdeck.wire.versions import REFUSES_UNKNOWN_REQUESTS, is_at_least

pytestmark = pytest.mark.real

LIMIT_S = 30.0
"""For one call, or one short session, on a busy machine."""
PROMPT_UUID = "11111111-1111-4111-8111-111111111111"
OTHER_UUID = "22222222-2222-4222-8222-222222222222"

NOT_CALLED = {"finish_mcp_authentication", "clear_mcp_authentication", "set_mcp_permission_mode_override"}
"""They change how the CLI signs in or what it lets through; no test should need that of a machine."""

Call = Callable[[Session], Coroutine[Any, Any, Any]]

ECHO_SERVER = """
import json, sys
schema = {"type": "object", "properties": {"text": {"type": "string"}}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1"}}
    if message["method"] == "tools/list":
        result = {"tools": [{"name": "echo", "description": "says it again", "inputSchema": schema}]}
    if message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "echo:" + message["params"]["arguments"]["text"]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


async def allow(name: str, tool_input: dict[str, Any], context: Any) -> wire.PermissionResultAllow:
    return wire.PermissionResultAllow()


class Live:
    """One session for the whole module, after one turn that wrote a file and left a command running."""

    def __init__(self, stage: Place, runner: asyncio.Runner, session: Session) -> None:
        self.stage = stage
        self.session = session
        self.task_id = ""
        self._runner = runner

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        async def bounded() -> Any:
            async with asyncio.timeout(LIMIT_S):
                return await work

        return self._runner.run(bounded())

    def call(self, call: Call) -> Any:
        return self.run(call(self.session))

    async def first_turn(self) -> None:
        model = self.stage.model
        model.reply(ToolUse("Write", {"file_path": str(self.stage.cwd / "new.txt"), "content": "one\ntwo\n"}))
        model.reply(ToolUse("Bash", {"command": "echo started; sleep 60", "run_in_background": True}))
        model.reply("done")
        async for message in self.session.prompt("write and run", uuid=PROMPT_UUID):
            if isinstance(message, wire.TaskStartedMessage):
                self.task_id = message.task_id


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with place(tmp_path_factory.mktemp("controls")) as stage, asyncio.Runner() as runner:
        (stage.cwd / "f.txt").write_text("hello file\n")
        (stage.cwd / "sub").mkdir()
        server = stage.cwd.parent / "server.py"
        server.write_text(ECHO_SERVER)
        options = stage.options(
            can_use_tool=allow,
            enable_file_checkpointing=True,
            mcp_servers={"st": {"command": sys.executable, "args": [str(server)]}},
        )

        async def opened() -> Session:
            return await connect(options).open()

        session = runner.run(opened())
        it = Live(stage, runner, session)
        try:
            it.run(it.first_turn())
            yield it
        finally:
            runner.run(session.close())


@asynccontextmanager
async def session_at(stage: Place, **options: Any) -> AsyncIterator[Session]:
    async with asyncio.timeout(LIMIT_S), connect(stage.options(**options)) as session:
        yield session


# Answers

ANSWERED: dict[str, tuple[Call, type]] = {
    "interrupt": (lambda s: s.interrupt(True), wire.InterruptReceipt),
    "cancel_prompt": (lambda s: s.cancel_prompt(OTHER_UUID), bool),
    "set_model": (lambda s: s.set_model("haiku"), wire.ModelAnswer),
    "set_max_thinking_tokens": (lambda s: s.set_max_thinking_tokens(None), type(None)),
    "set_permission_mode": (lambda s: s.set_permission_mode("acceptEdits"), wire.PermissionModeAnswer),
    "set_prompt_suggestions_paused": (lambda s: s.set_prompt_suggestions_paused(True), type(None)),
    "side_question": (lambda s: s.side_question("what is up?"), wire.SideAnswer),
    "export": (lambda s: s.export(), wire.ConversationExport),
    "rename": (lambda s: s.rename("My title"), type(None)),
    "generate_title": (lambda s: s.generate_title("a chat about how to refactor the parser"), str),
    "fork_conversation": (lambda s: s.fork_conversation(), wire.ConversationFork),
    "background_tasks": (lambda s: s.background_tasks(), wire.BackgroundTasksResult),
    "read_file": (lambda s: s.read_file("f.txt"), wire.FileContents),
    "seed_read_state": (lambda s: s.seed_read_state("f.txt", 0), type(None)),
    "file_suggestions": (lambda s: s.file_suggestions("f"), wire.FileSuggestions),
    "set_cwd": (lambda s: s.set_cwd("sub"), wire.SetCwdResult),
    "workspace_diff": (lambda s: s.workspace_diff(), wire.WorkspaceDiff),
    "mcp_status": (lambda s: s.mcp_status(), wire.McpStatusResponse),
    "reconnect_mcp_server": (lambda s: s.reconnect_mcp_server("st"), type(None)),
    "call_mcp_tool": (lambda s: s.call_mcp_tool("mcp__st__echo", {"text": "x"}), wire.McpCallResult),
    "send_mcp_message": (
        lambda s: s.send_mcp_message("none", {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        type(None),
    ),
    "context_usage": (lambda s: s.context_usage(detail="summary"), wire.ContextUsageResponse),
    "cost": (lambda s: s.cost(), wire.SessionCost),
    "usage": (lambda s: s.usage(skip_behaviors=True), wire.UsageAnswer),
    "models": (lambda s: s.models(), list),
    "binary_version": (lambda s: s.binary_version(), wire.BinaryVersion),
    "status": (lambda s: s.status(), wire.StatusAnswer),
    "plan": (lambda s: s.plan(), wire.PlanAnswer),
    "settings": (lambda s: s.settings(), wire.SettingsAnswer),
    "apply_settings": (lambda s: s.apply_settings({"outputStyle": "Concise"}), type(None)),
    "update_settings": (lambda s: s.update_settings("localSettings", {"outputStyle": "default"}), type(None)),
    "permission_rules": (lambda s: s.permission_rules(), wire.PermissionRulesAnswer),
    "hooks_listing": (lambda s: s.hooks_listing(), wire.HooksListing),
    "reload_plugins": (lambda s: s.reload_plugins(), wire.ReloadPluginsResult),
    "reload_skills": (lambda s: s.reload_skills(), wire.ReloadSkillsResult),
    "reload_output_styles": (lambda s: s.reload_output_styles(), wire.ReloadOutputStylesResult),
    "memory_dialog": (lambda s: s.memory_dialog(), wire.MemoryDialog),
    "skills_dialog": (lambda s: s.skills_dialog(), wire.SkillsDialog),
    "sandbox_dialog": (lambda s: s.sandbox_dialog(), wire.SandboxDialog),
    "chrome_dialog": (lambda s: s.chrome_dialog(), wire.ChromeDialog),
    "reinitialize": (lambda s: s.reinitialize(), wire.InitializeAnswer),
    "set_has_subscribers": (lambda s: s.set_has_subscribers(None), type(None)),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_a_method_is_answered_as_its_type_says(live: Live, name: str) -> None:
    call, kind = ANSWERED[name]
    assert type(live.call(call)) is kind


# Refusals

REFUSED: dict[str, tuple[Call, str, str | None]] = {
    "set_permission_mode": (
        lambda s: s.set_permission_mode("bypassPermissions"),
        "bypassPermissions",
        "bypass_not_launched",
    ),
    "set_proactivity_level": (lambda s: s.set_proactivity_level("ask"), "proactivity", None),
    "rename": (lambda s: s.rename("t", session_id=OTHER_UUID), "session", None),
    "rate_message": (lambda s: s.rate_message("x", "so-so"), "sentiment", None),  # type: ignore[arg-type]
    "set_color": (lambda s: s.set_color("red"), "set_color", "unsupported_request"),
    "task_output": (lambda s: s.task_output("unknown"), "no shell or Monitor task with that task_id", None),
    "rewind_files": (lambda s: s.rewind_files(OTHER_UUID), "No file checkpoint found for this message.", None),
    "register_repo_root": (lambda s: s.register_repo_root("/"), "/", None),
    "reconnect_mcp_server": (lambda s: s.reconnect_mcp_server("nope"), "Server not found: nope", None),
    "call_mcp_tool": (lambda s: s.call_mcp_tool("echo"), "Not a fully-qualified MCP tool name: echo", None),
    "read_mcp_resource": (lambda s: s.read_mcp_resource("st", "mem://x"), "uri must use the ui:// scheme", None),
    "authenticate_mcp_server": (
        lambda s: s.authenticate_mcp_server("st"),
        'Server type "stdio" does not support OAuth authentication',
        None,
    ),
    "update_settings": (
        lambda s: s.update_settings("localSettings", {"model": "opus"}),
        "update_settings keys not allowed: model",
        None,
    ),
    "claim": (lambda s: s.claim(wire.ClaimSessionRequest(cwd="/")), "not_a_spare", None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_why(live: Live, name: str) -> None:
    call, words, code = REFUSED[name]
    with pytest.raises(ControlError) as caught:
        live.call(call)
    assert words in caught.value.error
    assert (caught.value.code, caught.value.session_id) == (code, live.session.session_id)


# What the answers say


def test_the_version_is_that_of_the_cli(live: Live) -> None:
    assert live.call(lambda s: s.binary_version()).version == live.session.server_info.claude_code_version == NEWEST


def test_the_handshake_told_commands_agents_and_account(live: Live) -> None:
    assert "compact" in {command.name for command in live.session.commands()}
    assert "general-purpose" in {agent.name for agent in live.session.agents()}
    account = live.session.account()
    assert account is not None
    assert account.api_key_source == "ANTHROPIC_API_KEY"


def test_the_models_are_those_of_the_handshake(live: Live) -> None:
    told = [model.value for model in live.session.server_info.models or ()]
    assert [model.value for model in live.call(lambda s: s.models())] == told


def test_a_file_is_read_as_text_or_bytes(live: Live) -> None:
    text = live.call(lambda s: s.read_file("f.txt"))
    exact = live.call(lambda s: s.read_file(live.stage.cwd / "f.txt", encoding="base64"))
    assert (text.contents, text.lossy, text.encoding) == ("hello file\n", False, None)
    assert (exact.contents, exact.encoding) == ("aGVsbG8gZmlsZQo=", "base64")


def test_a_tool_is_called_without_the_model(live: Live) -> None:
    result = live.call(lambda s: s.call_mcp_tool("mcp__st__echo", {"text": "direct"}))
    assert result.content == [{"type": "text", "text": "echo:direct"}]


def test_a_server_is_switched_off_and_on(live: Live) -> None:
    def status() -> str:
        (server,) = [server for server in live.call(lambda s: s.mcp_status()).mcp_servers if server.name == "st"]
        return str(server.status)

    live.call(lambda s: s.toggle_mcp_server("st", False))
    assert status() == "disabled"
    live.call(lambda s: s.toggle_mcp_server("st", True))
    assert status() == "connected"


def test_servers_are_added_while_the_session_runs_also_one_in_this_process(live: Live) -> None:
    @tool("shout", "says it louder", {"text": str})
    async def shout(arguments: dict[str, Any]) -> str:
        return str(arguments["text"]).upper()

    servers = {"mine": create_sdk_mcp_server("mine", tools=[shout]), "bad": {"command": "/nowhere/at/all"}}
    result = live.call(lambda s: s.set_mcp_servers(servers))
    assert sorted(result.added) == ["bad", "mine"]
    assert list(result.errors) == ["bad"]
    assert "ENOENT" in result.errors["bad"]
    live.stage.model.reply(ToolUse("mcp__mine__shout", {"text": "hey"}))
    live.stage.model.reply("done")

    async def shouted() -> str:
        await live.session.prompt("shout")
        return str(live.stage.model.conversation[-1].json["messages"])

    assert "HEY" in live.run(shouted())
    assert sorted(live.call(lambda s: s.set_mcp_servers({})).removed) == ["bad", "mine"]


def test_a_directory_joins_the_workspace(live: Live) -> None:
    sub = live.stage.cwd / "sub"
    assert live.call(lambda s: s.register_repo_root(sub)).directory == str(sub)
    state = live.call(lambda s: s.permission_rules()).state
    assert str(sub) in {directory.path for directory in state.workspace_directories}


def test_files_go_back_to_where_they_were(live: Live) -> None:
    written = live.stage.cwd / "new.txt"
    assert written.exists()
    would = live.call(lambda s: s.rewind_files(PROMPT_UUID, dry_run=True))
    assert (would.can_rewind, would.files_changed) == (True, [str(written)])
    assert written.exists()
    assert live.call(lambda s: s.rewind_files(PROMPT_UUID)) == wire.RewindFilesResult(True, skipped_links=0)
    assert not written.exists()


def test_a_task_in_the_background_is_read_and_stopped(live: Live) -> None:
    assert isinstance(live.call(lambda s: s.task_output(live.task_id)), wire.TaskOutput)

    async def stopped() -> wire.Message:
        await live.session.stop_task(live.task_id)
        async for message in live.session.messages():
            if isinstance(message, wire.TaskNotificationMessage):
                return message
        raise AssertionError("the session ended")

    assert live.run(stopped()).status == "stopped"


# Sessions of their own


async def test_an_interrupt_tells_which_prompts_still_wait_and_a_waiting_one_can_be_taken_back(tmp_path: Path) -> None:
    with place(tmp_path) as stage:
        gate = stage.model.gate()
        stage.model.reply("a long story", Stall(after=2, until=gate))
        async with session_at(stage) as session:
            turn = session.prompt("tell")
            await turn.send()
            assert await asyncio.to_thread(gate.wait_reached, LIMIT_S)
            await session.send("later 1", priority="later", uuid=PROMPT_UUID)
            await session.send("later 2", priority="later", uuid=OTHER_UUID)
            assert await session.cancel_prompt(OTHER_UUID)
            receipt = await session.interrupt(cancel_queued=True)
            assert (receipt.still_queued, receipt.cancelled) == ([], [PROMPT_UUID])
            result = await turn
            assert result.subtype == "error_during_execution"


async def test_the_conversation_goes_back_and_the_session_ends_by_request(tmp_path: Path) -> None:
    with place(tmp_path) as stage:
        stage.model.reply("one")
        stage.model.reply("two")
        async with session_at(stage) as session:
            await session.prompt("a")
            await session.prompt("b", uuid=PROMPT_UUID)
            rewound = await session.rewind_conversation(PROMPT_UUID)
            assert (rewound.rewound, rewound.target_message_uuid, rewound.prefill_text) == (True, PROMPT_UUID, "b")
            await session.end("enough")
            async for _ in session.messages():
                pass
            assert session.exit_status == ExitStatus(code=0)


@pytest.mark.parametrize("version", [version for version in SUPPORTED if version != NEWEST])
async def test_older_clis_answer_the_requests_of_their_time_and_refuse_or_ignore_the_others(
    tmp_path: Path, version: str
) -> None:
    with place(tmp_path, version) as stage:
        async with session_at(stage) as session:
            assert await session.interrupt() == wire.InterruptReceipt()
            assert await session.set_permission_mode("plan") == wire.PermissionModeAnswer(mode="plan")
            assert await session.set_model("haiku") == wire.ModelAnswer()
            await session.set_max_thinking_tokens(1000)
            assert await session.mcp_status() == wire.McpStatusResponse([])
            assert await session.set_mcp_servers({}) == wire.McpSetServersResult([], [], {})
            with pytest.raises(ControlError, match="File rewinding is not enabled"):
                await session.rewind_files(PROMPT_UUID)
            assert "compact" in {command.name for command in session.commands()}
            with pytest.raises(ControlError) as caught:
                await session.context_usage(timeout_s=0.5)
            answers = is_at_least(version, REFUSES_UNKNOWN_REQUESTS)
            assert type(caught.value) is (ControlError if answers else ControlTimeout)


def test_every_method_was_called_but_for_those_that_are_not_safe() -> None:
    alone = {
        "toggle_mcp_server",
        "set_mcp_servers",
        "stop_task",
        "rewind_conversation",
        "end",
    }
    assert set(ANSWERED) | set(REFUSED) | alone == set(methods()) - NOT_CALLED
