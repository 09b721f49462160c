"""What the session is, control traffic of ours, and lines for the person."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.timeline.events import (
    AuthChanged,
    BadLineSeen,
    ControlAnswered,
    ControlProgressed,
    FilesPersisted,
    FilesRewound,
    McpChanged,
    ModeChanged,
    ModelChanged,
    NoticeShown,
    PermissionAsked,
    PromptSuggested,
    RateLimitChanged,
    SessionChanged,
    SessionStateChanged,
    UnknownSeen,
)
from quarterdeck.timeline.items import Notice
from quarterdeck.timeline.parts import Account, CommandInfo, Context, Kept, McpServer, Model, RateLimitState
from quarterdeck.wire import decode

from .talk import Talk, answer, ask, assistant, failure, init, kinds, may, only, prompt, stream, system, text, turn_end


def test_the_first_init_tells_the_session_and_the_next_ones_what_changed() -> None:
    talk = Talk()
    first = talk.hear(init(claude_code_version="2.1.325", betas=["context-1m"], plugins=[{"name": "p", "path": "/p"}]))
    assert only(SessionChanged, first) == SessionChanged(
        1.0, "s", ["session_id", "cwd", "cli_version", "tools", "plugins", "betas"]
    )
    assert only(ModelChanged, first) == ModelChanged(1.0, "opus", "cli")
    assert only(ModeChanged, first) == ModeChanged(1.0, "default", "cli")
    talk.hear(turn_end())
    assert kinds(talk.hear(init())) == ["turn_started"]
    talk.hear(turn_end())
    again = talk.hear(init(model="sonnet", skills=["review"], agents=["explorer"], output_style="Concise"))
    assert only(SessionChanged, again).changed == ["skills", "agents", "output_style"]
    assert only(ModelChanged, again) == ModelChanged(5.0, "sonnet", "cli", "opus")
    session = talk.state.session
    assert (session.plugins, session.betas, session.skills) == (["p"], ["context-1m"], ["review"])


def test_initialize_tells_commands_models_account_and_mode() -> None:
    talk = Talk()
    talk.say(ask("i", "initialize"))
    payload = {
        "commands": [{"name": "compact", "description": "Shorten", "argumentHint": "[how]"}],
        "models": [
            {"value": "sonnet", "displayName": "Sonnet", "description": "fast"},
            {"value": "opus", "supportedEffortLevels": ["low", "high"], "supportsFastMode": True},
        ],
        "account": {"email": "a@b.example", "subscriptionType": "max", "apiProvider": "firstParty"},
        "current_permission_mode": "plan",
    }
    events = talk.hear(answer("i", payload))
    assert only(SessionChanged, events).changed == ["commands", "models", "account"]
    session = talk.state.session
    assert session.commands == [CommandInfo("compact", "Shorten", "[how]")]
    assert session.models == [
        Model("sonnet", "Sonnet", "fast"),
        Model("opus", effort_levels=["low", "high"], fast_mode=True),
    ]
    assert session.account == Account("a@b.example", None, "max", None, "firstParty")
    assert session.permission_mode == "plan"
    talk.hear(init(slash_commands=["compact", "clear"], permissionMode="plan"))
    assert session.commands == [CommandInfo("compact", "Shorten", "[how]"), CommandInfo("clear")]


def test_commands_and_the_title_change() -> None:
    talk = Talk()
    talk.hear(system("commands_changed", commands=[{"name": "ahoy", "description": "Greet"}]))
    talk.hear(system("session_title_changed", title="Mine"))
    assert [event.changed for event in talk.events if isinstance(event, SessionChanged)] == [["commands"], ["title"]]
    assert (talk.state.session.commands, talk.state.session.title) == ([CommandInfo("ahoy", "Greet")], "Mine")
    talk.say(ask("r", "rename_session", title="Ours"))
    talk.hear(answer("r"))
    assert talk.state.session.title == "Ours"


def test_the_clis_own_state_is_told() -> None:
    talk = Talk()
    assert talk.hear(system("session_state_changed", state="requires_action")) == [
        SessionStateChanged(1.0, "requires_action")
    ]
    assert talk.state.cli_state == "requires_action"


# Model and mode


@pytest.mark.parametrize(("payload", "model"), [({"model": "claude-haiku-5-5"}, "claude-haiku-5-5"), (None, "haiku")])
def test_a_model_that_we_set_changes_by_us(payload: Any, model: str) -> None:
    talk = Talk()
    talk.hear(init())
    talk.say(ask("m", "set_model", model="haiku"))
    assert talk.hear(answer("m", payload)) == [ModelChanged(3.0, model, "us", "opus")]


def test_a_short_name_that_the_next_turn_spells_out_is_still_ours() -> None:
    talk = Talk()
    talk.say(ask("m", "set_model", model="haiku"))
    talk.hear(answer("m"))
    told = only(ModelChanged, talk.hear(init(model="claude-haiku-4-5")))
    assert told == ModelChanged(3.0, "claude-haiku-4-5", "us", "haiku")


def test_a_mode_that_we_set_changes_by_us_and_once() -> None:
    talk = Talk()
    talk.hear(init())
    talk.say(ask("m", "set_permission_mode", mode="plan"))
    events = talk.hear(system("status", status=None, permissionMode="plan"), answer("m", {"mode": "plan"}))
    assert events == [ModeChanged(3.0, "plan", "us", "default")]


def test_a_mode_that_was_refused_does_not_change() -> None:
    talk = Talk()
    talk.hear(init())
    talk.say(ask("m", "set_permission_mode", mode="delegate"))
    events = talk.hear(failure("m", "must be one of …", error_code="invalid_mode"))
    assert events == [ControlAnswered(3.0, "m", "set_permission_mode", "must be one of …", "invalid_mode")]
    assert (talk.state.session.permission_mode, talk.state.mode_wanted) == ("default", None)


def test_a_mode_that_the_cli_chose_changes_by_the_cli() -> None:
    talk = Talk()
    talk.hear(init())
    assert talk.hear(system("status", status=None, permissionMode="plan")) == [
        ModeChanged(2.0, "plan", "cli", "default")
    ]


def test_a_fallback_model_takes_over() -> None:
    talk = Talk()
    talk.hear(init())
    line = {"original_model": "opus", "fallback_model": "haiku", "trigger": "overloaded", "content": "Switched"}
    assert talk.hear(system("model_fallback", **line)) == [ModelChanged(2.0, "haiku", "cli", "opus", "Switched")]


# MCP servers


def test_servers_are_told_by_init_by_status_and_by_what_we_do() -> None:
    talk = Talk()
    talk.hear(init(mcp_servers=[{"name": "st", "status": "connected"}]))
    assert only(McpChanged, talk.events).servers == [McpServer("st", "connected")]
    talk.say(ask("1", "mcp_status"))
    listed = {"name": "st", "status": "connected", "tools": [{"name": "a"}, {"name": "b"}]}
    assert talk.hear(answer("1", {"mcpServers": [listed]})) == [
        McpChanged(3.0, [McpServer("st", "connected", None, 2)])
    ]
    talk.say(ask("2", "mcp_toggle", serverName="st", enabled=False))
    assert talk.hear(answer("2")) == [McpChanged(5.0, [McpServer("st", "disabled", None, 2)])]
    talk.say(ask("3", "mcp_set_servers", servers={}))
    events = talk.hear(answer("3", {"added": ["new", "bad"], "removed": ["st"], "errors": {"bad": "ENOENT"}}))
    assert only(McpChanged, events).servers == [McpServer("new", "pending"), McpServer("bad", "failed", "ENOENT")]


# Control requests of ours


def test_an_answer_without_an_event_of_its_own_is_told_as_answered() -> None:
    talk = Talk()
    talk.say(ask("g", "get_settings"))
    assert talk.hear(answer("g", {"effective": {}})) == [ControlAnswered(2.0, "g", "get_settings")]
    assert talk.hear(answer("g"), answer("never asked")) == []


def test_a_request_that_takes_long_tells_its_progress() -> None:
    talk = Talk()
    talk.say(ask("q", "side_question", question="?"))
    events = talk.hear(system("control_request_progress", request_id="q", status="api_retry", attempt=1, max_retries=3))
    assert events == [ControlProgressed(2.0, "q", "side_question", "api_retry", 1, 3)]


def test_files_set_back_are_told_also_for_a_dry_run() -> None:
    talk = Talk()
    talk.say(ask("d", "rewind_files", user_message_id="p", dry_run=True))
    talk.hear(answer("d", {"canRewind": True, "filesChanged": ["/a"], "insertions": 1, "deletions": 3}))
    talk.say(ask("r", "rewind_files", user_message_id="p"))
    talk.hear(answer("r", {"canRewind": True}))
    assert talk.events == [FilesRewound(2.0, "p", True, ["/a"], 1, 3), FilesRewound(4.0, "p")]


def test_the_context_can_be_measured() -> None:
    talk = Talk()
    talk.say(ask("c", "get_context_usage"))
    talk.hear(answer("c", {"totalTokens": 500, "rawMaxTokens": 1_000, "model": "opus"}))
    assert talk.state.context == Context(500, 1_000, "opus")


def test_a_session_that_moves_tells_where() -> None:
    talk = Talk()
    talk.say(ask("1", "set_cwd", path="/b"), ask("2", "set_cwd", path="/c"))
    talk.hear(answer("1", {"status": "needs_trust"}), answer("2", {"cwd": "/c", "changed": True}))
    assert only(SessionChanged, talk.events).changed == ["cwd"]


def test_traffic_of_servers_inside_the_host_has_nothing_to_show() -> None:
    talk = Talk()
    assert talk.hear(ask("m", "mcp_message", server_name="calc", message={"method": "tools/list"})) == []
    assert talk.say(answer("m", {"mcp_response": {}})) == []


# The account


def test_rate_limits_are_told_and_kept_by_kind() -> None:
    talk = Talk()
    info = {
        "status": "allowed_warning",
        "rateLimitType": "five_hour",
        "utilization": 0.9,
        "resetsAt": 100,
        "unifiedWindows": {"seven_day": {"utilization": 0.2}},
    }
    talk.hear({"type": "rate_limit_event", "rate_limit_info": info})
    limit = RateLimitState("allowed_warning", "five_hour", 0.9, 100.0, windows={"seven_day": 0.2})
    assert talk.events == [RateLimitChanged(1.0, limit)]
    assert talk.state.rate_limits == {"five_hour": limit}


def test_a_login_under_way_is_told() -> None:
    talk = Talk()
    talk.hear({"type": "auth_status", "isAuthenticating": True, "output": ["Open the page"], "error": None})
    assert talk.events == [AuthChanged(1.0, True, ["Open the page"])]
    assert talk.state.auth.authenticating


# Lines for the person


def test_stored_files_and_suggested_prompts_are_told() -> None:
    talk = Talk()
    files = {"files": [{"filename": "a", "file_id": "1"}], "failed": [{"filename": "b", "error": "full"}]}
    talk.hear(system("files_persisted", **files), {"type": "prompt_suggestion", "suggestion": "run the tests"})
    assert talk.events == [FilesPersisted(1.0, ["a"], {"b": "full"}), PromptSuggested(2.0, "run the tests")]
    assert talk.state.suggestion == "run the tests"
    talk.say(prompt())
    assert talk.state.suggestion is None


@pytest.mark.parametrize(
    ("line", "kind", "shown", "level"),
    [
        (
            system("informational", content="Blocked", level="warning", tool_use_id="t"),
            "informational",
            "Blocked",
            "warning",
        ),
        (system("notification", key="k", text="Hey", priority="high"), "notification", "Hey", "info"),
        (system("local_command_output", content="Total"), "command_output", "Total", "info"),
        (system("memory_recall", mode="select", memories=[{"path": "/m"}]), "memories", "remembered /m", "info"),
        (
            system("plugin_install", status="failed", name="p", error="no"),
            "plugin_install",
            "plugin p failed: no",
            "error",
        ),
        (system("plugin_install", status="started"), "plugin_install", "plugins started", "info"),
        (system("worker_shutting_down", reason="update"), "shutting_down", "update", "warning"),
        (
            system("session_writes_lost", error_code="ENOSPC", lost=["transcript"]),
            "writes_lost",
            "not written, the disk is full (ENOSPC): transcript",
            "error",
        ),
        (system("mirror_error", error="no store", key={}), "mirror_error", "no store", "error"),
        ({"type": "active_goal", "value": {"condition": "tests pass", "iterations": 2}}, "goal", "tests pass", "info"),
        ({"type": "active_goal", "value": None}, "goal", "goal cleared", "info"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}, "api_error", "Busy", "error"),
        (stream({"type": "error", "error": {"type": "overloaded_error"}}), "api_error", "overloaded_error", "error"),
        (assistant({"type": "compaction", "content": "Short"}), "compaction_summary", "Short", "info"),
        (
            assistant({"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}),
            "model_fallback",
            "a was replaced by b",
            "warning",
        ),
        (
            assistant({"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": []}),
            "mcp_tools",
            "s has 0 tools",
            "info",
        ),
        (assistant({"type": "container_upload", "file_id": "f"}), "upload", "f", "info"),
        ({"type": "command_lifecycle", "command_uuid": "c", "state": "odd"}, "prompt", "c: odd", "info"),
    ],
)
def test_a_line_for_the_person_is_a_notice(line: dict[str, Any], kind: str, shown: str, level: str) -> None:
    talk = Talk()
    notice = only(NoticeShown, talk.hear(line))
    assert (notice.kind, notice.text, notice.level) == (kind, shown, level)
    assert talk.item(Notice, notice.id).text == shown


def test_a_later_notification_with_the_same_key_replaces_the_first() -> None:
    talk = Talk()
    talk.hear(*(system("notification", key="k", text=words, timeout_ms=2_000) for words in ("one", "two")))
    (notice,) = talk.state.items.values()
    assert (notice.text, notice.details) == ("two", {"timeout_s": 2.0})


# What is not known


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({"type": "from_the_future", "x": 1}, "message from_the_future"),
        ({"type": "assistant"}, "message assistant"),
        (system("from_the_future"), "system from_the_future"),
        (assistant({"type": "hologram", "x": 1}), "block hologram"),
        (stream({"type": "hologram_start"}), "stream event hologram_start"),
        (ask("r", "make_coffee"), "request make_coffee"),
        (ask("r", "sdk_control_interrupt"), "request sdk_control_interrupt"),
    ],
)
def test_something_unknown_is_shown_as_it_came(line: dict[str, Any], what: str) -> None:
    talk = Talk()
    seen = only(UnknownSeen, talk.hear(line))
    assert seen.what == what
    assert seen.raw.text.startswith("{")
    assert [item.kind for item in talk.state.items.values() if isinstance(item, Notice)] == ["unknown"]


def test_a_bad_line_is_shown_and_the_next_one_is_read() -> None:
    talk = Talk()
    events = talk.timeline.received(decode(b"Segmentation fault"), at=1.0)
    seen = only(BadLineSeen, events)
    assert (seen.head, seen.size) == ("Segmentation fault", 18)
    assert kinds(talk.hear(assistant(text("Still here.")))) == ["turn_started", "block_started", "text_completed"]


def test_what_we_write_that_the_cli_ignores_is_ignored() -> None:
    talk = Talk()
    assert talk.say({"type": "keep_alive"}, {"type": "system", "subtype": "x"}, {"odd": 1}) == []
    assert talk.say({"type": "control_cancel_request", "request_id": "q"}) == []


def test_a_keep_alive_and_a_mirrored_transcript_have_nothing_to_show() -> None:
    talk = Talk()
    assert talk.hear({"type": "keep_alive"}, {"type": "transcript_mirror", "filePath": "/t", "entries": []}) == []


def test_raw_text_of_something_unknown_is_only_its_head() -> None:
    talk = Talk()
    seen = only(UnknownSeen, talk.hear({"type": "huge", "x": "y" * 100_000}))
    assert isinstance(seen.raw, Kept)
    assert (len(seen.raw.text) + len(seen.raw.tail), seen.raw.left_out > 90_000) == (4_000, True)


def test_a_mode_that_only_old_clis_have_is_told_like_any_other() -> None:
    talk = Talk()
    talk.say(ask("m", "set_permission_mode", mode="delegate"))
    assert talk.hear(answer("m")) == [ModeChanged(2.0, "delegate", "us")]


def test_a_call_that_wants_out_of_the_sandbox_says_so_when_it_asks() -> None:
    talk = Talk()
    talk.hear(may(decision_reason="Run outside of the sandbox", decision_reason_type="sandboxOverride"))
    request = only(PermissionAsked, talk.events).request
    assert (request.reason, request.reason_kind) == ("Run outside of the sandbox", "sandboxOverride")


def test_a_session_that_is_resumed_or_forked_has_its_id_from_the_first_turn_on() -> None:
    talk = Talk()
    talk.hear(init(session_id="original"), turn_end())
    talk.timeline.process_ended(at=3.0)
    talk.timeline.process_started()
    assert only(SessionChanged, talk.hear(init(session_id="fork"))) == SessionChanged(3.0, "fork", ["session_id"])
