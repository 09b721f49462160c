"""The pictures in the README and the documentation are what ``quarterdeck run`` shows now."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

DOCS = Path(__file__).parents[2] / "docs"


def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_terminal", DOCS / "draw_terminal.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def words_of(script: ModuleType, drawn: str) -> str:
    return " ".join(ElementTree.fromstring(drawn).itertext()).replace(script.NO_BREAK, " ")  # noqa: S314  # our own


def test_the_picture_is_drawn_from_a_run_as_it_is_now() -> None:
    script = drawing()
    drawn = script.picture(*script.recorded())
    assert drawn == script.PICTURE.read_text("utf-8"), "draw it anew: PYTHONPATH=tests python docs/draw_terminal.py"

    words = words_of(script, drawn)
    for seen in ("Allow this edit to notes.txt?", "1 -", "appels", "1 +", "apples", "Allow once", "allowed", "✔ done"):
        assert seen in words


def test_the_pictures_of_decisions_are_what_is_asked_now() -> None:
    script = drawing()
    for name, (kind, columns, theme) in script.KEPT.items():
        drawn = script.decision(kind, columns, theme)
        assert drawn == (script.ASSETS / name).read_text("utf-8"), f"{name}: draw it anew"
        words = words_of(script, drawn)
        assert "Allow once" in words
        assert ("risk: high" in words) == (kind == "command")
