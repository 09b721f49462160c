"""The usual style rules for ``.proto`` files (those that buf calls STANDARD, and that everything has a comment)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

_PASCAL = re.compile(r"[A-Z][a-zA-Z0-9]*")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_UPPER = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def faults(files: FileDescriptorSet, ours: str = "quarterdeck/") -> list[str]:
    """What is against a rule, each with its place."""
    own = [file for file in files.file if file.name.startswith(ours)]
    found = [fault for file in own for fault in _file(file, files)]
    used = [name for file in own for service in file.service for rpc in service.method for name in _types(rpc)]
    found += [f"{name} is used by two methods" for name in {one for one in used if used.count(one) > 1}]
    return found


def _types(rpc: Any) -> tuple[str, str]:
    return rpc.input_type, rpc.output_type


def _file(file: FileDescriptorProto, files: FileDescriptorSet) -> Iterator[str]:
    if file.syntax != "proto3":
        yield f"{file.name}: not proto3"
    if not re.fullmatch(r"[a-z0-9_.]+\.v[0-9]+", file.package):
        yield f"{file.name}: the package {file.package} has no version"
    if file.name.rpartition("/")[0] != file.package.replace(".", "/"):
        yield f"{file.name}: it is not in the folder of its package"
    if not _SNAKE.fullmatch(file.name.rpartition("/")[2].removesuffix(".proto")):
        yield f"{file.name}: the name is not in snake case"
    if file.public_dependency or file.weak_dependency:
        yield f"{file.name}: it has public or weak imports"
    yield from _unused(file, files)
    yield from _uncommented(file)
    for message in file.message_type:
        yield from _message(message)
    for enum in file.enum_type:
        yield from _enum(enum)
    for service in file.service:
        yield from _service(service)


def _unused(file: FileDescriptorProto, files: FileDescriptorSet) -> Iterator[str]:
    text = str(file)
    for name in file.dependency:
        (other,) = [one for one in files.file if one.name == name]
        defined = [one.name for one in (*other.message_type, *other.enum_type)]
        if not any(f'".{other.package}.{one}"' in text for one in defined):
            yield f"{file.name}: {name} is imported for nothing"


def _message(message: Any) -> Iterator[str]:
    if not _PASCAL.fullmatch(message.name):
        yield f"{message.name} is not in Pascal case"
    for field in message.field:
        if not _SNAKE.fullmatch(field.name):
            yield f"{message.name}.{field.name} is not in snake case"
    for oneof in message.oneof_decl:
        if not _SNAKE.fullmatch(oneof.name.removeprefix("_")):
            yield f"{message.name}.{oneof.name} is not in snake case"


def _enum(enum: Any) -> Iterator[str]:
    prefix = _HUMP.sub("_", enum.name).upper()
    if not _PASCAL.fullmatch(enum.name):
        yield f"{enum.name} is not in Pascal case"
    if enum.options.allow_alias:
        yield f"{enum.name} allows aliases"
    first = enum.value[0]
    if (first.name, first.number) != (f"{prefix}_UNSPECIFIED", 0):
        yield f"{enum.name} does not begin with {prefix}_UNSPECIFIED = 0"
    for value in enum.value:
        if not _UPPER.fullmatch(value.name) or not value.name.startswith(f"{prefix}_"):
            yield f"{enum.name}.{value.name} should be {prefix}_…"


def _service(service: Any) -> Iterator[str]:
    if not _PASCAL.fullmatch(service.name) or not service.name.endswith("Service"):
        yield f"{service.name} should be …Service"
    for rpc in service.method:
        if not _PASCAL.fullmatch(rpc.name):
            yield f"{service.name}.{rpc.name} is not in Pascal case"
        for given, ending in ((rpc.input_type, "Request"), (rpc.output_type, "Response")):
            if given.rpartition(".")[2] not in (f"{rpc.name}{ending}", f"{service.name}{rpc.name}{ending}"):
                yield f"{service.name}.{rpc.name}: {given} should be {rpc.name}{ending}"


def _uncommented(file: FileDescriptorProto) -> Iterator[str]:
    """Messages, enums, services and methods without a comment."""
    commented = {tuple(one.path) for one in file.source_code_info.location if one.leading_comments.strip()}
    for number, messages in ((4, file.message_type), (5, file.enum_type), (6, file.service)):
        for index, one in enumerate(messages):
            if (number, index) not in commented:
                yield f"{one.name} has no comment"
    for index, service in enumerate(file.service):
        for place, rpc in enumerate(service.method):
            if (6, index, 2, place) not in commented:
                yield f"{service.name}.{rpc.name} has no comment"
