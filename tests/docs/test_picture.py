"""The picture in the README is what ``quarterdeck run`` shows now."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

DOCS = Path(__file__).parents[2] / "docs"


def test_the_picture_is_drawn_from_a_run_as_it_is_now() -> None:
    spec = importlib.util.spec_from_file_location("draw_terminal", DOCS / "draw_terminal.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    drawn = script.picture(*script.recorded())
    assert drawn == script.PICTURE.read_text("utf-8"), "draw it anew: PYTHONPATH=tests python docs/draw_terminal.py"

    words = " ".join(ElementTree.fromstring(drawn).itertext()).replace(script.NO_BREAK, " ")  # noqa: S314  # our own
    for seen in ("Allow this edit to notes.txt?", "1 -", "appels", "1 +", "apples", "Allow once", "allowed", "✔ done"):
        assert seen in words
