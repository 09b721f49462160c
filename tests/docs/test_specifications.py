"""docs/specifications.md is what requirements.toml says."""

from __future__ import annotations

import tomllib

from docs.specifications import PAGE, ROWS, page


def test_the_page_is_fresh() -> None:
    claims = tomllib.loads(ROWS.read_text("utf-8"))["claim"]
    assert PAGE.read_text("utf-8") == page(claims), "run: python tests/docs/specifications.py"


def test_a_cell_cannot_break_its_table() -> None:
    row = {"source": "000", "section": "a|b", "behaviour": "x\ny <b>", "tests": ["tests/a.py::test_it_works[a|b]"]}
    last = page([row]).splitlines()[-1]
    assert last == "| a\\|b | x y &lt;b> |  | [`test_it_works`](../tests/a.py) |"
