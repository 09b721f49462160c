"""Every row of specification 003's feature matrix names tests that exist, or says what is missing."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
MATRIX = tomllib.loads((HERE / "matrix.toml").read_text("utf-8"))
ROWS_OF_SPECIFICATION = 32


def _tests(file: str) -> set[str]:
    tree = ast.parse((HERE / file).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_row_names_tests_that_exist() -> None:
    named = [test for tests in MATRIX["rows"].values() for test in tests]
    gone = [test for test in named if test.split("::")[1] not in _tests(test.split("::")[0])]
    assert gone == []
    assert all(MATRIX["rows"].values())


def test_every_row_of_the_specification_is_here_once() -> None:
    rows = [row for name in (*MATRIX["rows"], *MATRIX["missing"]) for row in name.split(", ")]
    assert len(rows) == len(set(rows)) == ROWS_OF_SPECIFICATION


def test_no_more_is_missing_than_the_file_allows() -> None:
    assert len(MATRIX["missing"]) <= MATRIX["missing_limit"]
    assert all(why.strip() for why in MATRIX["missing"].values())
