"""The ``.proto`` files have every operation and every event, as the host's tables have them, and are written well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from gateways.grpc import generate, style
from gateways.grpc.event_table import PAGE, with_tables
from looping import for_each
from quarterdeck.gateways.grpc.errors import STATUS
from quarterdeck.gateways.grpc.messages import ENUMS, MESSAGES
from quarterdeck.gateways.grpc.methods import METHODS, SERVICES, Method
from quarterdeck.gateways.grpc.shapes import Kind, fields_of, message_name, snake
from quarterdeck.host.errors import CODES
from quarterdeck.host.events import EVENTS
from quarterdeck.host.operations import OPERATIONS


def test_the_files_are_what_the_tables_say() -> None:
    """Comments may be those of an older docstring until somebody runs ``make proto``."""
    there = {path.name: _bare(path.read_text()) for path in generate.FOLDER.glob("*.proto")}
    assert there == {name: _bare(text) for name, text in generate.proto_files().items()}, "run make proto"


def _bare(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.lstrip().startswith("//")]


def test_the_generated_python_is_fresh(tmp_path: Path) -> None:
    made = tmp_path / "v1"
    generate.compile_python(made)
    there = {path.name: path.read_text() for path in generate.PYTHON.iterdir() if path.is_file()}
    assert there == {path.name: path.read_text() for path in made.iterdir()}, "run make proto"


@pytest.fixture(scope="module")
def descriptors(tmp_path_factory: pytest.TempPathFactory) -> FileDescriptorSet:
    return described(generate.PROTO, tmp_path_factory.mktemp("descriptors") / "set")


def described(folder: Path, target: Path) -> FileDescriptorSet:
    sources = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.proto"))]
    settings = ["--include_imports", "--include_source_info", f"--descriptor_set_out={target}"]
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", *settings, *sources]
    subprocess.run(command, check=True, cwd=folder)
    return FileDescriptorSet.FromString(target.read_bytes())


def test_the_files_follow_the_usual_style(descriptors: FileDescriptorSet) -> None:
    assert style.faults(descriptors) == []


UNTIDY = """
syntax = "proto3";
package untidy;
import "google/protobuf/timestamp.proto";
message bad_name { string camelCase = 1; }
enum Colour { RED = 0; }
service Painter { rpc paint(bad_name) returns (bad_name); rpc Other(bad_name) returns (stream bad_name); }
"""


def test_what_is_against_the_style_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "Untidy.proto").write_text(UNTIDY)
    found = style.faults(described(tmp_path, tmp_path / "set"), ours="Untidy")
    for said in (
        "has no version",
        "folder of its package",
        "Untidy.proto: the name is not in snake case",
        "imported for nothing",
        "bad_name is not in Pascal case",
        "bad_name.camelCase is not in snake case",
        "COLOUR_UNSPECIFIED = 0",
        "Colour.RED should be",
        "Painter should be …Service",
        "Painter.paint is not in Pascal case",
        "should be paintRequest",
        "is used by two methods",
        "bad_name has no comment",
        "Painter.paint has no comment",
    ):
        assert any(said in fault for fault in found), said


def test_every_operation_is_a_method_and_every_method_but_converse_an_operation() -> None:
    assert set(METHODS) == set(OPERATIONS)
    there = set()
    for service in SERVICES:
        descriptor = _file_of(service).services_by_name[service]
        there |= {f"/{descriptor.full_name}/{method.name}" for method in descriptor.methods}
    assert there == {method.path for method in METHODS.values()} | {"/quarterdeck.v1.SessionService/Converse"}


def _file_of(service: str) -> Any:
    from quarterdeck.gateways.grpc.messages import FILES

    (file,) = [one.DESCRIPTOR for one in FILES if service in one.DESCRIPTOR.services_by_name]
    return file


@for_each("method", METHODS.values(), ids=list(METHODS))
def test_a_method_streams_where_its_operation_does_and_its_messages_have_all_fields(method: Method) -> None:
    rpc = _file_of(method.service).services_by_name[method.service].methods_by_name[method.name]
    assert rpc.server_streaming == method.operation.streams
    assert not rpc.client_streaming
    assert (rpc.input_type.name, rpc.output_type.name) == (method.request, method.response)
    asked = {field.name for field in fields_of(method.operation.takes)}
    assert asked <= set(rpc.input_type.fields_by_name)
    if method.operation.name != "watch_session":  # that has its own
        shown = {method.wrapped} if method.wrapped else {field.name for field in fields_of(method.returns)}
        assert shown == set(rpc.output_type.fields_by_name)


def test_every_event_of_the_timeline_and_of_the_host_is_a_member_of_event() -> None:
    members = MESSAGES["Event"].DESCRIPTOR.oneofs_by_name["event"].fields
    named = {member.name: member.message_type.name for member in members}
    assert named.pop("unknown") == "UnknownEvent"
    assert named.pop("oversized") == "OversizedEvent"
    assert named == {snake(message_name(event)): message_name(event) for event in EVENTS.values()}
    assert named["text_delta"] == "TextDelta"  # specification 001 calls it so
    assert {"StatusChange", "UsageReport"} <= set(named.values())


@for_each("event", EVENTS.values(), ids=list(EVENTS))
def test_a_message_of_an_event_has_all_its_fields(event: Any) -> None:
    descriptor = MESSAGES[message_name(event)].DESCRIPTOR
    assert set(descriptor.fields_by_name) == {field.name for field in fields_of(event)}
    for field in fields_of(event):
        if field.kind is Kind.WORD:
            assert {field.words.constant(word) for word in field.words.words} <= set(ENUMS[field.words.name].keys())


def test_every_code_has_a_status() -> None:
    assert set(STATUS) == CODES


def test_numbers_stay_and_those_of_what_is_gone_are_not_used_again() -> None:
    before = "message Thing {\n  string kept = 2;\n  string gone = 5;\n}\nenum Word {\n  WORD_UNSPECIFIED = 0;\n}\n"
    numbers = generate.Numbers([before])
    assert numbers.of("Thing", ["new", "kept"]) == ({"new": 6, "kept": 2}, [5])
    after = "message Thing {\n  reserved 5;\n  string kept = 2;\n  string new = 6;\n}\n"
    assert generate.Numbers([after]).of("Thing", ["kept", "new", "newer"])[0]["newer"] == 7
    assert generate.Numbers([after]).of("Thing", ["kept"]) == ({"kept": 2}, [5, 6])
    assert numbers.of("Word", ["WORD_UNSPECIFIED", "WORD_A"], first=0)[0] == {"WORD_UNSPECIFIED": 0, "WORD_A": 1}


def test_the_tables_in_the_documentation_are_those_of_the_code() -> None:
    page = PAGE.read_text()
    assert page == with_tables(page), "run PYTHONPATH=tests python -m gateways.grpc.event_table"
