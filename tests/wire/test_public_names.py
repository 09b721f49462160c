"""``quarterdeck.wire`` lists what its modules define, and every name of a lazy package can be imported."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import quarterdeck
from looping import for_each
from quarterdeck import client, wire
from quarterdeck._lazy import LazyNames

ROOT = Path(wire.__file__).parent
SOURCE = Path(quarterdeck.__file__).parent


def module_name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


LAZY = sorted(
    module_name(path, SOURCE.parent)
    for path in SOURCE.rglob("*.py")
    if "LazyNames(globals()" in path.read_text() and path.name != "_lazy.py"
)


def modules() -> list[str]:
    paths = [path.relative_to(ROOT).with_suffix("").parts for path in ROOT.rglob("*.py")]
    return sorted(".".join(parts) for parts in paths if not any(part.startswith("_") for part in parts))


@for_each("module", modules())
def test_every_class_of_a_module_is_public(module: str) -> None:
    tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
    assert classes - set(wire.__all__) == set()


def defined() -> dict[str, str]:
    """Public name → the module that defines it."""
    found: dict[str, str] = {}
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            match node:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                    names = [name]
                case ast.Assign(targets=targets):
                    names = [target.id for target in targets if isinstance(target, ast.Name)]
                case _:
                    names = []
            found |= {name: f".{module_name(path, ROOT)}" for name in names if name in wire.__all__}
    return found


def test_every_public_name_has_its_home() -> None:
    assert wire._names.homes() == defined()  # ``__all__`` is to be changed by hand: the difference says how


def test_a_program_that_asks_once_loads_few_classes() -> None:
    """What a session without hooks, tools and control calls does not need costs it nothing."""
    program = "import sys, quarterdeck; quarterdeck.query, quarterdeck.ClaudeSDKClient; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    needless = ("wire.tools", "wire.hook", "wire.answers.mcp", "wire.requests.state", "client.tools", "client.warm")
    assert [name for name in loaded if name.startswith(tuple(f"quarterdeck.{part}" for part in needless))] == []


ASKS_ONCE = """
import asyncio, sys
from quarterdeck import query

def loaded(): return {name for name in sys.modules if name.partition(".")[0] == "quarterdeck"}

at_import = loaded()
from quarterdeck import ClaudeAgentOptions
from quarterdeck.testing.sim import executable

async def main():
    async for _ in query(prompt="hi", options=ClaudeAgentOptions(cli_path=str(executable()))): pass

before = loaded()
asyncio.run(main())
print(len(at_import), *sorted(loaded() - before))
"""


def test_one_name_imports_what_it_needs_and_nothing_besides(tmp_path: Path) -> None:
    """The first query imports nothing more, so there is nothing to save by importing it later."""
    env = os.environ | {"HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", ASKS_ONCE], capture_output=True, text=True, check=True, env=env)
    modules, *later = done.stdout.split()
    assert later == []
    assert int(modules) <= 110


def test_no_package_finds_its_names_by_hand() -> None:
    assert {"quarterdeck", "quarterdeck.types", "quarterdeck.client", "quarterdeck.wire"} < set(LAZY)
    by_hand = [path for path in SOURCE.rglob("*.py") if "\ndef __getattr__" in path.read_text()]
    assert by_hand == []


@pytest.mark.parametrize("package", LAZY)
def test_every_public_name_is_there(package: str) -> None:
    room = importlib.import_module(package)
    names = room.__all__
    assert sorted(set(names)) == sorted(names)
    assert [name for name in names if getattr(room, name, None) is None] == []
    assert set(names) <= set(dir(room))


@pytest.mark.parametrize("package", LAZY)
def test_an_unknown_name_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"'{package}' has no attribute 'no_such_name'"):
        importlib.import_module(package).no_such_name  # noqa: B018


def test_a_name_in_two_rooms_is_that_of_the_first() -> None:
    assert quarterdeck.McpHttpServerConfig is client.McpHttpServerConfig is not wire.McpHttpServerConfig


def test_a_name_is_looked_up_once() -> None:
    namespace = {"__name__": "quarterdeck.wire", "__all__": []}
    names = LazyNames(namespace)
    names.of(".blocks")
    namespace["__all__"] += ["TextBlock"]
    assert namespace["__getattr__"]("TextBlock") is wire.TextBlock is namespace["TextBlock"]
