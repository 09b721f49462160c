"""The command line beside the table of operations: what a host can do, a shell can do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import quarterdeck.cli
from hosted.kit import ServedHost, Shell
from quarterdeck.cli.common import ReportedError
from quarterdeck.cli.hosted.calling import read_fields, request_of, wanted_operation
from quarterdeck.host.operations import OPERATIONS

FOLDER = Path(quarterdeck.cli.__file__).parent
BY_CALL = {
    "answer_callback": "programs answer callbacks, not people",
    "attach_callbacks": "programs answer callbacks, not people",
    "compact": "/compact in attach",
    "delete_session": "rare, and final",
    "disable_mcp_server": "/mcp in attach",
    "enable_mcp_server": "/mcp in attach",
    "get_context": "/context in attach",
    "get_health": "for probes",
    "get_host": "for programs",
    "get_info": "for programs",
    "get_metrics": "for programs",
    "get_result": "log and export show it",
    "get_stderr": "log shows the end of it",
    "get_subagent": "log shows sub-agents",
    "list_files": "for completion",
    "list_folders": "for completion",
    "list_mcp_servers": "/mcp in attach",
    "list_rules": "quarterdeck policy is for people",
    "list_tasks": "attach shows them",
    "reconnect_mcp_server": "/mcp in attach",
    "resume": "send and attach resume by themselves",
    "set_mcp_servers": "for programs",
    "try_rule": "the page is for people; it needs the past requests",
    "stop_task": "attach shows tasks",
}
"""Operations without a command of their own, and why: ``quarterdeck call`` has them."""


def test_every_operation_has_a_command_or_a_reason_to_have_none() -> None:
    assert set(_called()) | set(BY_CALL) >= set(OPERATIONS)
    assert set(_called()) & set(BY_CALL) == set()
    assert set(BY_CALL) <= set(OPERATIONS)


def test_only_what_is_asked_of_a_host_counts_as_a_command() -> None:
    asks = ("host.stop(one)", "method = self.host.stop", 'for_each(host, given, "stop", done="stopped")')
    assert [list(_called_in(source)) for source in asks] == [["stop"]] * 3
    does_not = (
        'MenuOption("stop", "Deny and stop")',
        "session.stop()",
        'for_each(given, "stop")',
        'event.action == "stop"',
    )
    assert [list(_called_in(source)) for source in does_not] == [[]] * 4


def _called() -> Iterator[str]:
    """The operations that commands ask a host for, by their source."""
    for path in FOLDER.rglob("*.py"):
        yield from _called_in(path.read_text("utf-8"))


def _called_in(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in OPERATIONS and "host" in ast.unparse(node.value):
            yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "for_each":  # steering.for_each
            match node.args:
                case [ast.Name(id="host"), _, ast.Constant(value=str(name))] if name in OPERATIONS:
                    yield name


def test_every_operation_can_be_called_by_name(served: ServedHost, shell: Shell) -> None:
    listed = shell.json("call")
    assert [one["name"] for one in listed] == list(OPERATIONS)
    for operation in OPERATIONS.values():
        required = [field for field in msgspec.structs.fields(operation.takes) if field.required]
        if not required and not operation.streams and operation.name != "list_worktrees":
            [answer] = shell.json("call", operation.name)
            msgspec.convert(answer, operation.returns)


def test_a_session_is_called_by_its_name_and_text_becomes_what_a_field_takes(served: ServedHost, shell: Shell) -> None:
    session = served.idle(served.created("painter", prompt=None))
    [changed] = shell.json("call", "update_session", "session_id=pain", "tags=a", "budget_usd=2.5", "archived:=false")
    assert (changed["id"], changed["tags"], changed["budget_usd"]) == (session.id, ["a"], "2.5")
    [waited] = shell.json("call", "Wait", "session_id=painter", "for=idle", "timeout_s=5")
    assert waited["state"] == "idle"
    [first] = shell.json("call", "compact", "session_id=painter", "--key", "once")
    assert shell.json("call", "compact", "session_id=painter", "--key", "once") == [first]


def test_what_cannot_be_a_call_is_refused_before_a_host_is_asked() -> None:
    with pytest.raises(ReportedError, match="no such operation"):
        wanted_operation("get_sesion")
    for words in (["name"], ["=x"], [":=1"], ["tags:=[1"]):
        with pytest.raises(ReportedError):
            read_fields(words)
    with pytest.raises(ReportedError, match="unknown field"):
        request_of(OPERATIONS["get_session"], {"session_id": "a", "nme": "b"})
    with pytest.raises(ReportedError, match="session_id"):
        request_of(OPERATIONS["get_session"], {})


def test_a_field_may_be_a_file_where_bytes_are_wanted(tmp_path: Path) -> None:
    (tmp_path / "photo").write_bytes(b"\x00\xff")
    fields = read_fields(["session_id=a", "name=photo", "media_type=image/png", f"body=@{tmp_path / 'photo'}"])
    assert request_of(OPERATIONS["upload"], fields).body == b"\x00\xff"
    assert request_of(OPERATIONS["send_prompt"], {"session_id": "a", "content": "@photo"}).content == "@photo"
