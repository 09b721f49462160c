"""What the protocol's authors publish: their library for TypeScript, and the schema in it.

A test that cannot have it is skipped with the reason; on a build machine (``CI=true``) it fails instead.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest
from benchmarks._npm import anchor_command, sdk_folder

Checker = Callable[[dict[str, Any]], None]
"""Takes the name of a definition and a value: ``{"name": …, "value": …}``."""


def missing(what: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


def official_sdk() -> Path:
    folder = sdk_folder()
    if folder is None:
        missing("npm is missing, or cannot fetch the official ACP library")
    return folder


def official_python() -> Any:
    try:
        return importlib.import_module("acp")
    except ImportError as error:
        missing(f"the official Python library is not installed: {error}")


def anchor() -> list[str]:
    command = anchor_command()
    if command is None:
        missing("npm is missing, or cannot fetch claude-agent-acp and its node")
    return command


@cache
def definitions(version: str = "v1") -> dict[str, Any]:
    path = official_sdk() / "schema" / version / "schema.unstable.json"
    found: dict[str, Any] = json.loads(path.read_bytes())["$defs"]
    return found


@cache
def schema_checker(version: str = "v1") -> Checker:
    """Checks a value against a definition of the published schema."""
    from jsonschema import Draft202012Validator

    known = definitions(version)
    validators: dict[str, Any] = {}

    def check(given: dict[str, Any]) -> None:
        name = given["name"]
        if name not in validators:
            validators[name] = Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": known})
        validators[name].validate(given["value"])

    return check


def check_envelope(frame: Mapping[str, Any]) -> None:
    """What JSON-RPC demands of every message."""
    assert frame.get("jsonrpc") == "2.0", frame
    if "method" in frame:
        assert isinstance(frame["method"], str), frame
        assert not {"result", "error"} & set(frame), frame
        assert isinstance(frame.get("params", {}), dict), frame
    else:
        assert "id" in frame, frame
        assert len({"result", "error"} & set(frame)) == 1, frame
    if "error" in frame:
        assert isinstance(frame["error"]["code"], int), frame
        assert isinstance(frame["error"]["message"], str), frame
    assert set(frame) <= {"jsonrpc", "id", "method", "params", "result", "error"}, frame
