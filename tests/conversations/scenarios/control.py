"""Control requests of the client: every subtype that the CLI serves without reaching out to a service."""

from __future__ import annotations

from typing import Any

from conversations.driver import Run
from conversations.scenarios._registry import every, newest
from conversations.scenarios.mcp import stdio_config, stdio_server
from conversations.stage import Stage
from quarterdeck.testing.model import Stall, ToolUse

UUID_A = "aaaaaaaa-0000-4000-8000-000000000001"

TYPED: tuple[dict[str, Any], ...] = (
    {"subtype": "interrupt"},
    {"subtype": "interrupt", "cancel_queued": True},
    {"subtype": "set_permission_mode", "mode": "acceptEdits"},
    {"subtype": "set_permission_mode", "mode": "manual"},
    {"subtype": "set_permission_mode", "mode": "delegate"},
    {"subtype": "set_permission_mode", "mode": "bypassPermissions"},
    {"subtype": "set_permission_mode", "mode": "default"},
    {"subtype": "set_model", "model": "haiku"},
    {"subtype": "set_model", "model": "no-such-model-xyz"},
    {"subtype": "set_model", "model": None},
    {"subtype": "set_model"},
    {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 5000},
    {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": None},
    {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": "many"},
    {"subtype": "rename_session", "title": "My title"},
    {"subtype": "rename_session", "title": "Other", "session_id": "00000000-0000-4000-8000-000000000000"},
    {"subtype": "set_color", "color": "red"},
    {"subtype": "get_context_usage"},
    {"subtype": "get_context_usage", "detail": "summary"},
    {"subtype": "get_session_cost"},
    {"subtype": "list_models"},
    {"subtype": "get_usage", "skip_behaviors": True},
    {"subtype": "get_binary_version"},
    {"subtype": "file_suggestions", "query": "f"},
    {"subtype": "read_file", "path": "f.txt"},
    {"subtype": "read_file", "path": "f.txt", "encoding": "base64"},
    {"subtype": "read_file", "path": "f.txt", "max_bytes": 3},
    {"subtype": "read_file", "path": "no-such-file"},
    {"subtype": "seed_read_state", "path": "f.txt", "mtime": 1},
    {"subtype": "register_repo_root", "directory": "sub"},
    {"subtype": "reload_plugins"},
    {"subtype": "reload_skills"},
    {"subtype": "reload_output_styles"},
    {"subtype": "set_has_subscribers", "has_subscribers": True},
    {"subtype": "stop_task", "task_id": "nope"},
    {"subtype": "background_tasks"},
    {"subtype": "get_task_output", "task_id": "nope"},
    {"subtype": "apply_flag_settings", "settings": {"model": "sonnet"}},
    {"subtype": "get_settings"},
    {"subtype": "get_hooks_listing"},
    {"subtype": "update_settings", "source": "localSettings", "settings": {"outputStyle": "Explanatory"}},
    {"subtype": "update_settings", "source": "localSettings", "settings": {"model": "x"}},
    {"subtype": "list_permission_rules"},
    {"subtype": "rewind_files", "user_message_id": UUID_A},
    {"subtype": "cancel_async_message", "message_uuid": UUID_A},
)

UNTYPED: tuple[dict[str, Any], ...] = (
    {"subtype": "get_status"},
    {"subtype": "get_plan"},
    {"subtype": "get_memory_dialog"},
    {"subtype": "get_skills_dialog"},
    {"subtype": "get_sandbox_dialog"},
    {"subtype": "get_workspace_diff"},
    {"subtype": "list_directory", "path": "."},
    {"subtype": "list_files", "path": "."},
    {"subtype": "export_conversation"},
    {"subtype": "side_question", "question": "what is up?"},
    {"subtype": "generate_session_title", "description": "a chat", "persist": False},
    {"subtype": "set_cwd", "cwd": "sub"},
    {"subtype": "set_prompt_suggestions_paused", "paused": True},
    {"subtype": "session_metadata"},
    {"subtype": "get_chrome_dialog"},
    {"subtype": "claim_session"},
    {"subtype": "start_shell_task", "command": "echo shell"},
    {"subtype": "set_proactivity_level", "level": "low"},
    {"subtype": "set_proactivity_level", "level": "ask"},
    {"subtype": "rewind_conversation", "user_message_id": "x"},
    {"subtype": "fork_conversation"},
    {"subtype": "message_rated", "message_uuid": "x", "rating": "good"},
    {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}},
    {"subtype": "hook_callback", "callback_id": "x", "input": {}},
    {"subtype": "elicitation", "mcp_server_name": "x", "message": "y"},
    {"subtype": "request_user_dialog", "dialog_kind": "x", "payload": {}},
    {"subtype": "totally_unknown_subtype"},
    {},
)


def _send_all(run: Run, requests: tuple[dict[str, Any], ...]) -> None:
    for number, request in enumerate(requests):
        request_id = f"probe_{number}"
        run.send({"type": "control_request", "request_id": request_id, "request": request})
        run.response(request_id)


def _prepare(stage: Stage) -> None:
    (stage.cwd / "f.txt").write_text("hello file\n")
    (stage.cwd / "sub").mkdir()


@newest
def control_all_typed(stage: Stage) -> None:
    _prepare(stage)
    stage.model.reply("hi")
    with stage.claude() as run:
        run.initialize()
        run.turn("hi")
        _send_all(run, TYPED)


@newest
def control_all_untyped(stage: Stage) -> None:
    _prepare(stage)
    stage.model.reply("hi")
    with stage.claude() as run:
        run.turn("hi")
        _send_all(run, UNTYPED)


@newest
def control_rewind_conversation_and_set_cwd(stage: Stage) -> None:
    _prepare(stage)
    stage.model.reply("first")
    stage.model.reply("second")
    with stage.claude() as run:
        run.turn("a")
        run.user("b", uuid=UUID_A)
        run.result()
        run.control("rewind_conversation", target_message_uuid=UUID_A)
        run.control("set_cwd", path=str(stage.cwd / "sub"))


@newest
def control_end_session(stage: Stage) -> None:
    stage.model.reply("hi")
    with stage.claude() as run:
        run.turn("hi")
        run.control("end_session")
        run.exited()


@newest
def control_before_any_turn(stage: Stage) -> None:
    with stage.claude() as run:
        run.initialize()
        for subtype in ("mcp_status", "get_settings", "get_context_usage", "interrupt"):
            run.control(subtype)


@every
def control_unknown_subtype(stage: Stage) -> None:
    stage.model.reply("hi")
    with stage.claude() as run:
        run.initialize()
        run.request("totally_unknown_subtype")
        run.turn("hi")


@every
def set_model_mode_thinking(stage: Stage) -> None:
    stage.model.reply("one")
    stage.model.reply("two")
    with stage.claude() as run:
        run.initialize()
        run.turn("a")
        run.control("set_model", model="haiku")
        run.control("set_permission_mode", mode="acceptEdits")
        run.control("set_max_thinking_tokens", max_thinking_tokens=4000)
        run.turn("b")


@every
def initialize_full(stage: Stage) -> None:
    stage.model.reply("Aye.")
    agents = {"mini": {"description": "A small one", "prompt": "Be small"}}
    with stage.claude() as run:
        run.initialize(systemPrompt=["You are terse."], appendSystemPrompt="Say aye.", agents=agents, title="A title")
        run.turn("hi")


@newest
def parallel_control_requests_in_turn(stage: Stage) -> None:
    gate = stage.model.gate()
    stage.model.reply("A long answer.", Stall(after=3, until=gate))
    with stage.claude("--include-partial-messages") as run:
        run.initialize()
        run.user("talk")
        gate.wait_reached(10)
        subtypes = ("mcp_status", "get_settings", "get_binary_version", "get_session_cost")
        for request_id in [run.request(subtype) for subtype in subtypes]:
            run.response(request_id)
        gate.open()
        run.result()


@every
def interrupt_mid_stream(stage: Stage) -> None:
    gate = stage.model.gate()
    stage.model.reply("A long answer that nobody will hear to its end.", Stall(after=4, until=gate))
    stage.model.reply("Still here.")
    with stage.claude("--include-partial-messages") as run:
        run.initialize()
        run.user("talk")
        run.wait(lambda m: m.get("type") == "stream_event" and m["event"]["type"] == "content_block_delta")
        run.request("interrupt")
        run.result()
        run.turn("Are you there?")


@newest
def interrupt_mid_bash(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo started; sleep 30"}))
    with stage.claude("--allowedTools", "Bash") as run:
        run.initialize()
        run.user("sleep")
        run.message("system", "task_started", timeout_s=10)
        run.control("interrupt")
        run.result()


@newest
def interrupt_while_permission_pending(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch x"}))
    with stage.claude() as run:
        run.initialize()
        run.user("touch")
        asked = run.asked()
        interrupted = run.request("interrupt")
        run.message("control_cancel_request")
        run.answer(asked, {"behavior": "allow", "updatedInput": asked["request"]["input"]})
        run.response(interrupted)
        run.result()


@newest
def interrupt_when_idle(stage: Stage) -> None:
    stage.model.reply("hi")
    with stage.claude() as run:
        run.initialize()
        run.control("interrupt")
        run.turn("hi")
        run.control("interrupt")


@newest
def sdk_control_cancel_request_own(stage: Stage) -> None:
    gate = stage.model.gate()
    stage.model.on(lambda request: request.kind == "side_question", "late", Stall(after=0, until=gate))
    stage.model.reply("hi")
    with stage.claude() as run:
        run.initialize()
        run.turn("hi")
        request_id = run.request("side_question", question="slow?")
        gate.wait_reached(10)
        run.send({"type": "control_cancel_request", "request_id": "unknown"})
        run.send({"type": "control_cancel_request", "request_id": request_id})
        run.response(request_id)


@newest
def initialize_twice(stage: Stage) -> None:
    stage.model.reply("hi")
    with stage.claude() as run:
        run.initialize()
        run.initialize()
        run.turn("hi")


@newest
def initialize_again_with_pending_permission(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch x"}))
    stage.model.reply("Done.")
    with stage.claude() as run:
        run.initialize()
        run.user("touch")
        asked = run.asked()
        run.initialize()
        run.answer(asked, {"behavior": "allow", "updatedInput": asked["request"]["input"]})
        run.result()


@newest
def rewind_files(stage: Stage) -> None:
    (stage.cwd / "old.txt").write_text("before\n")
    stage.model.reply(
        ToolUse("Write", {"file_path": str(stage.cwd / "new.txt"), "content": "new\n"}),
        ToolUse("Bash", {"command": "cat old.txt"}),
    )
    stage.model.reply("Written.")
    env = {"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true"}
    with stage.claude("--permission-mode", "acceptEdits", env=env) as run:
        run.allow_tools()
        run.initialize()
        run.user("write", uuid=UUID_A)
        run.result()
        run.control("rewind_files", user_message_id=UUID_A, dry_run=True)
        run.control("rewind_files", user_message_id=UUID_A)
        run.control("rewind_files", user_message_id="00000000-0000-4000-8000-000000000000")


@every
def mcp_status_and_set_servers(stage: Stage) -> None:
    stage.model.reply("hi")
    with stage.claude("--mcp-config", stdio_config(stage)) as run:
        run.initialize()
        run.turn("hi")
        run.control("mcp_status")
        run.control(
            "mcp_set_servers",
            servers={"second": stdio_server(stage), "bad": {"command": "no-such-command", "args": []}},
        )
        run.control("mcp_status")


@newest
def mcp_toggle_reconnect_call(stage: Stage) -> None:
    stage.model.reply("hi")
    with stage.claude("--mcp-config", stdio_config(stage)) as run:
        run.initialize()
        run.turn("hi")
        run.control("mcp_call", tool="mcp__st__echo", arguments={"text": "direct"})
        run.control("mcp_call", tool="echo", arguments={})
        run.control("mcp_read_resource", serverName="st", uri="mem://x")
        run.control("mcp_toggle", serverName="st", enabled=False)
        run.control("mcp_status")
        run.control("mcp_toggle", serverName="st", enabled=True)
        run.control("mcp_reconnect", serverName="st")
        run.control("mcp_reconnect", serverName="nope")
        run.control("mcp_authenticate", serverName="st")
