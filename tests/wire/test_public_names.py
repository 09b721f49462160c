"""``quarterdeck.wire`` lists what its modules define, and every name of the list can be imported."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import quarterdeck
from looping import for_each
from quarterdeck import client, wire
from quarterdeck.wire._homes import HOMES

ROOT = Path(wire.__file__).parent
NOT_SHOWN = {
    "SessionState",  # of an answer: the one of system messages is shown
    "McpResource",  # of a tool: the one of an answer is shown
}


def modules() -> list[str]:
    paths = [path.relative_to(ROOT).with_suffix("").parts for path in ROOT.rglob("*.py")]
    return sorted(".".join(parts) for parts in paths if not any(part.startswith("_") for part in parts))


@for_each("module", modules())
def test_every_class_of_a_module_is_public(module: str) -> None:
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
    assert classes - set(wire.__all__) - NOT_SHOWN == set()


def defined() -> dict[str, str]:
    """Public name → the module that defines it."""
    found: dict[str, str] = {}
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(path.read_text()).body:
            match node:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                    names = [name]
                case ast.Assign(targets=targets):
                    names = [target.id for target in targets if isinstance(target, ast.Name)]
                case _:
                    names = []
            for name in names:
                elsewhere = (name, module) in {("SessionState", "answers.session"), ("McpResource", "tools.network")}
                if name in wire.__all__ and not elsewhere:
                    found[name] = module
    return found


def test_every_public_name_has_its_home() -> None:
    assert defined() == HOMES  # HOMES is to be changed by hand: the difference says how
    assert sorted(HOMES) == sorted(wire.__all__)


def test_a_program_that_asks_once_loads_few_classes() -> None:
    """What a session without hooks, tools and control calls does not need costs it nothing."""
    program = "import sys, quarterdeck; quarterdeck.query, quarterdeck.ClaudeSDKClient; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    needless = ("wire.tools", "wire.hook", "wire.answers.mcp", "wire.requests.state", "client.tools", "client.warm")
    assert [name for name in loaded if name.startswith(tuple(f"quarterdeck.{part}" for part in needless))] == []


@pytest.mark.parametrize("room", [wire, client, quarterdeck])
def test_every_public_name_is_there(room: object) -> None:
    names = room.__all__  # type: ignore[attr-defined]
    assert sorted(set(names)) == sorted(names)
    assert [name for name in names if getattr(room, name, None) is None] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    for room in (wire, client, quarterdeck, importlib.import_module("quarterdeck.types")):
        with pytest.raises(AttributeError, match="no_such_name"):
            room.no_such_name  # noqa: B018
