"""Odd lines on stdin, one per scenario; most are followed by a plain turn to see whether the session lives."""

from __future__ import annotations

import json
from typing import Any

from conversations.driver import STREAM_JSON
from conversations.scenarios._registry import every, newest, register
from conversations.stage import Stage

USER = {"type": "user", "session_id": "", "message": {"role": "user", "content": "hi"}, "parent_tool_use_id": None}


def _line(value: Any) -> bytes:
    return json.dumps(value).encode()


LIVES: dict[str, bytes] = {
    "json_array_line": b"[1, 2]",
    "json_string_line": b'"just a string"',
    "message_without_type": b'{"hello": "world"}',
    "unknown_message_type": b'{"type": "no_such_type", "x": 1}',
    "system_message_on_stdin": b'{"type": "system", "subtype": "init"}',
    "assistant_message_on_stdin": _line({"type": "assistant", "message": {"role": "assistant", "content": []}}),
    "empty_line": b"",
    "blank_line": b"  \t ",
    "keep_alive_on_stdin": b'{"type": "keep_alive"}',
    "update_environment_variables": _line({"type": "update_environment_variables", "variables": {"FOO_BAR": "1"}}),
    "control_response_unknown_id": _line(
        {"type": "control_response", "response": {"subtype": "success", "request_id": "nobody", "response": {}}}
    ),
    "control_cancel_request_unknown": b'{"type": "control_cancel_request", "request_id": "nobody"}',
    "control_request_without_request_id": b'{"type": "control_request", "request": {"subtype": "mcp_status"}}',
}

DIES: dict[str, bytes] = {
    "two_objects_one_line": _line(USER) + b" " + _line(USER),
    "json_null_line": b"null",
    "user_without_message": b'{"type": "user"}',
    "user_with_role_assistant": _line(USER | {"message": {"role": "assistant", "content": "hi"}}),
    "control_request_without_request": b'{"type": "control_request", "request_id": "x"}',
}

TURNS: dict[str, bytes] = {
    "user_content_string": _line(USER),
    "crlf_line_ending": _line(USER) + b"\r",
    "invalid_utf8": b'{"type":"user","message":{"role":"user","content":"bad \xff\xfe byte"}}',
    "lone_surrogate_escape": b'{"type":"user","message":{"role":"user","content":"lone \\ud800 surrogate"}}',
    "duplicate_keys": b'{"type":"user","type":"user","message":{"role":"user","content":"twice"}}',
    "user_message_with_wrong_session_id": _line(USER | {"session_id": "00000000-0000-4000-8000-000000000000"}),
    "user_with_unknown_fields": _line(USER | {"x_unknown": {"deep": [1, 2.5, None]}}),
    "large_user_message": _line(USER | {"message": {"role": "user", "content": "0123456789" * 20_000}}),
}


def _lives(line: bytes) -> Any:
    def play(stage: Stage) -> None:
        stage.model.reply("Still there.")
        with stage.claude() as run:
            run.send_bytes(line)
            run.turn("still there?")

    return play


def _dies(line: bytes) -> Any:
    def play(stage: Stage) -> None:
        stage.model.reply("hi")
        with stage.claude() as run:
            run.send_bytes(line)
            run.exited()

    return play


def _turn(line: bytes) -> Any:
    def play(stage: Stage) -> None:
        stage.model.reply("Read.")
        with stage.claude() as run:
            run.send_bytes(line)
            run.result()

    return play


for _name, _bytes in LIVES.items():
    register(_name, _lives(_bytes))
for _name, _bytes in DIES.items():
    register(_name, _dies(_bytes))
for _name, _bytes in TURNS.items():
    register(_name, _turn(_bytes))


@every
def malformed_json_first_line(stage: Stage) -> None:
    with stage.claude() as run:
        run.send_bytes(b"this is not JSON")
        run.exited()


@every
def malformed_json_later_line(stage: Stage) -> None:
    stage.model.reply("hi")
    with stage.claude() as run:
        run.turn("hi")
        run.send_bytes(b'{"type": "user", "mess')
        run.exited()


@newest
def last_line_without_newline(stage: Stage) -> None:
    stage.model.reply("Heard.")
    with stage.claude() as run:
        run.send_bytes(_line(USER), newline=False)
        run.close_stdin()
        run.result()


@newest
def duplicate_request_id(stage: Stage) -> None:
    line = {"type": "control_request", "request_id": "same", "request": {"subtype": "mcp_status"}}
    with stage.claude() as run:
        run.initialize()
        for _ in range(3):
            run.send(line)
        for _ in range(3):
            run.response("same")


@newest
def initialize_and_user_written_together(stage: Stage) -> None:
    stage.model.reply("Both read.")
    with stage.claude() as run:
        request_id = run.request("initialize")
        run.user("at once")
        run.response(request_id)
        run.result()


@newest
def user_first_then_initialize(stage: Stage) -> None:
    stage.model.reply("Either order.")
    with stage.claude() as run:
        run.user("first")
        run.request("initialize")
        run.result()


@newest
def initialize_after_a_turn(stage: Stage) -> None:
    stage.model.reply("Without a greeting.")
    stage.model.reply("With one.")
    with stage.claude() as run:
        run.user("first")
        run.result()
        run.initialize()
        run.turn("second")


@newest
def initialize_unknown_fields(stage: Stage) -> None:
    stage.model.reply("Ignored.")
    with stage.claude() as run:
        run.initialize(protocolVersion="1.0", features=["x"], mcpServers={"a": {}})
        run.turn("hi")


@newest
def await_initialize_first_line_is_user(stage: Stage) -> None:
    with stage.claude("--await-initialize") as run:
        run.user("too early")
        run.exited()


@newest
def session_mirror_and_await_initialize(stage: Stage) -> None:
    stage.model.reply("Mirrored.")
    # The mirror holds the system prompt and the tools' descriptions: ours, and none.
    own_words = ("--system-prompt", "Be brief.", "--tools", "", "--disable-slash-commands")
    with stage.claude("--session-mirror", "--await-initialize", *own_words) as run:
        run.initialize()
        run.turn("mirror")


@every
def no_verbose_flag(stage: Stage) -> None:
    flags = tuple(flag for flag in STREAM_JSON if flag != "--verbose")
    with stage.claude(base=("-p", *flags)) as run:
        run.close_stdin()
        run.exited()


@newest
def unknown_flag(stage: Stage) -> None:
    with stage.claude("--cwd", "/tmp") as run:
        run.close_stdin()
        run.exited()


@newest
def enable_auth_status(stage: Stage) -> None:
    stage.model.reply("hi")
    with stage.claude("--enable-auth-status") as run:
        run.initialize()
        run.turn("hi")


@newest
def sdk_url_rejected(stage: Stage) -> None:
    with stage.claude("--sdk-url", "ws://127.0.0.1:9/session") as run:
        run.exited()


@newest
def prompt_argument_is_ignored(stage: Stage) -> None:
    stage.model.reply("I answer stdin.")
    with stage.claude("-p", "a prompt as an argument") as run:
        run.turn("a prompt on stdin")
