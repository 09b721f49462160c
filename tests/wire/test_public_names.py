"""``quarterdeck.wire`` lists what its modules define, and every name of the list can be imported."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import quarterdeck
from quarterdeck import client, wire

ROOT = Path(wire.__file__).parent
NOT_SHOWN = {
    "SessionState",  # of an answer: the one of system messages is shown
    "McpResource",  # of a tool: the one of an answer is shown
}


def modules() -> list[str]:
    paths = [path.relative_to(ROOT).with_suffix("").parts for path in ROOT.rglob("*.py")]
    return sorted(".".join(parts) for parts in paths if not any(part.startswith("_") for part in parts))


@pytest.mark.parametrize("module", modules())
def test_every_class_of_a_module_is_public(module: str) -> None:
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
    assert classes - set(wire.__all__) - NOT_SHOWN == set()


@pytest.mark.parametrize("room", [wire, client, quarterdeck])
def test_every_public_name_is_there(room: object) -> None:
    names = room.__all__  # type: ignore[attr-defined]
    assert sorted(set(names)) == sorted(names)
    assert [name for name in names if getattr(room, name, None) is None] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    for room in (wire, client, quarterdeck, importlib.import_module("quarterdeck.types")):
        with pytest.raises(AttributeError, match="no_such_name"):
            room.no_such_name  # noqa: B018
