"""Any host operation on the command line: the request is built from arguments, the answer is printed as JSON."""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from contextlib import aclosing
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

import msgspec

from quarterdeck.cli.common import OK, USAGE_ERROR, Look, ReportedError
from quarterdeck.cli.common.table import Column, table
from quarterdeck.host.operations import OPERATIONS, Operation

from .naming import find_approval, find_session
from .showing import print_json

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost

_SESSION_FIELDS = ("session_id", "session")


def list_operations(*, as_json: bool) -> int:
    """``quarterdeck call`` without an operation."""
    listed = OPERATIONS.values()
    if as_json:
        for one in listed:
            fields = [field.encode_name for field in msgspec.structs.fields(one.takes)]
            row = {"name": one.name, "scope": one.scope, "fields": fields, "about": one.about}
            sys.stdout.write(msgspec.json.encode(row).decode() + "\n")
        return OK
    columns = [
        Column("OPERATION", [one.name for one in listed], "cyan"),
        Column("SCOPE", [one.scope for one in listed], "dim"),
    ]
    print("\n".join(table(columns, Column("", [one.about for one in listed]), Look.of(sys.stdout))))
    return OK


def wanted_operation(name: str) -> Operation:
    """Also as HTTP or gRPC users would write it: ``ListApprovals``, ``list-approvals``."""
    words = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name).strip("_").replace("-", "_")
    found = OPERATIONS.get(words)
    if found is None:
        close = get_close_matches(words, OPERATIONS, n=1)
        hint = f"Did you mean {close[0]}? " if close else ""
        raise ReportedError(f"no such operation: {name}", f"{hint}Run quarterdeck call for a list.", code=USAGE_ERROR)
    return found


def read_fields(words: Sequence[str]) -> dict[str, Any]:
    """``NAME=VALUE`` is text, ``NAME:=JSON`` anything, ``-`` an object on standard input; a repeated name is a list."""
    fields: dict[str, Any] = {}
    for word in words:
        if word == "-":
            fields |= _json_object(sys.stdin.read())
            continue
        name, sign, value = word.partition("=")
        if not sign or not name.rstrip(":"):
            raise ReportedError(f"{word!r} is not a field", "Write NAME=VALUE or NAME:=JSON.", code=USAGE_ERROR)
        given = _json(value, name[:-1]) if name.endswith(":") else value
        name = name.removesuffix(":")
        if name not in fields:
            fields[name] = given
        elif isinstance(fields[name], list):
            fields[name] = [*fields[name], given]
        else:
            fields[name] = [fields[name], given]
    return fields


def _json(text: str, name: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ReportedError(
            f"{name} is not JSON: {error}", f"For text, write {name}=VALUE.", code=USAGE_ERROR
        ) from error


def _json_object(text: str) -> dict[str, Any]:
    decoded = _json(text, "standard input")
    if not isinstance(decoded, dict):
        raise ReportedError("standard input is not a JSON object", 'Write {"NAME": VALUE, …}.', code=USAGE_ERROR)
    return decoded


async def call(host: RemoteHost, operation: Operation, fields: dict[str, Any], *, key: str | None = None) -> int:
    """Print the answer, or each item of a stream, as a line of JSON."""
    fields = dict(fields)
    for name in _SESSION_FIELDS:
        if isinstance(fields.get(name), str) and _has(operation, name):
            fields[name] = (await find_session(host, fields[name])).id
    if isinstance(fields.get("approval_id"), str):
        fields["approval_id"] = (await find_approval(host, fields["approval_id"])).id
    request = request_of(operation, fields)
    method = getattr(host, operation.name)
    if operation.streams:
        async with aclosing(method(request)) as items:
            async for item in items:
                print_json(item)
        return OK
    answer = await (method(request, key=key) if operation.writes else method(request))
    print_json(answer)
    return OK


def request_of(operation: Operation, fields: dict[str, Any]) -> Any:
    """Text becomes what the field takes: a number, a date, a list of one."""
    types_of = {field.encode_name: field.type for field in msgspec.structs.fields(operation.takes)}
    ready = {name: _fitted(types_of.get(name), value) for name, value in fields.items()}
    try:
        return msgspec.convert(ready, operation.takes, strict=False)
    except msgspec.ValidationError as error:
        known = ", ".join(types_of) or "none"
        raise ReportedError(f"{operation.name}: {error}", f"Its fields: {known}.", code=USAGE_ERROR) from error


def _has(operation: Operation, name: str) -> bool:
    return any(field.encode_name == name for field in msgspec.structs.fields(operation.takes))


def _fitted(wanted: Any, value: Any) -> Any:
    choices = get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)
    if isinstance(value, str):
        if bytes in choices and value.startswith("@"):
            return _file(value[1:])
        if str not in choices and any(get_origin(one) is list for one in choices):
            return [value]
    return value


def _file(path: str) -> bytes:
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise ReportedError(f"cannot read {path}: {error.strerror}", "Check the path.", code=USAGE_ERROR) from error
