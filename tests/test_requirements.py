"""Every claim of the five specifications is a row of requirements.toml, and every row names tests that exist."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).parent / "requirements.toml"
REQUIRED = {"id", "source", "section", "behaviour", "tests"}
OPTIONAL = {"real", "pending"}
SOURCES = ("000", "001", "002", "003", "004")

DOCUMENT = tomllib.loads(FILE.read_text("utf-8"))
CLAIMS: list[dict[str, Any]] = DOCUMENT["claim"]


def problems(claim: dict[str, Any]) -> list[str]:
    """What is wrong with a row; nothing when it is fine."""
    found = [f"{key} is missing" for key in sorted(REQUIRED - set(claim))]
    found += [f"{key} is no field of a claim" for key in sorted(set(claim) - REQUIRED - OPTIONAL)]
    found += [f"{key} is empty" for key in sorted(set(claim) - {"tests"}) if not str(claim[key]).strip()]
    if claim.get("source") not in SOURCES:
        found.append(f"source is one of {', '.join(SOURCES)}")
    if not re.fullmatch(rf"{claim.get('source')}-[\w-]+", str(claim.get("id"))):
        found.append("the id starts with the source and has letters, digits and dashes")
    tests = claim.get("tests", [])
    if bool(tests) is ("pending" in claim):
        found.append("a row has tests, or says why it is pending, and not both")
    return found + [problem for test in tests if (problem := missing(test)) is not None]


def missing(test: str) -> str | None:
    """Why a test cannot be the one that is meant; None when it is there."""
    path, _, name = test.partition("::")
    function, bracket, parameter = name.partition("[")
    defined = functions(path)
    if function not in defined:
        return f"{test}: there is no such test"
    if bracket and parameter.removesuffix("]") not in defined[function]:
        return f"{test}: the test has no such case"
    return None


@lru_cache
def functions(path: str) -> dict[str, frozenset[str]]:
    """The tests of a file, each with the texts that could be the name of a case of it; {} when there is no file."""
    file = ROOT / path
    if not file.is_file():
        return {}
    tree = ast.parse(file.read_text("utf-8"))
    texts = frozenset(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    tests = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {test.name: texts if _has_cases(test) else frozenset() for test in tests if test.name.startswith("test_")}


def _has_cases(test: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("parametrize" in ast.unparse(decorator) for decorator in test.decorator_list)


def test_every_row_is_complete_and_names_tests_that_exist() -> None:
    bad = {str(claim.get("id")): found for claim in CLAIMS if (found := problems(claim))}
    assert bad == {}


def test_no_id_is_repeated() -> None:
    repeated = [name for name, times in Counter(claim["id"] for claim in CLAIMS).items() if times > 1]
    assert repeated == []


def test_no_more_rows_are_pending_than_the_file_allows() -> None:
    pending = [f"{claim['id']}: {claim['pending']}" for claim in CLAIMS if "pending" in claim]
    print(*pending, sep="\n")
    assert len(pending) <= DOCUMENT["pending_limit"]


def test_every_specification_is_covered() -> None:
    rows = Counter(claim["source"] for claim in CLAIMS)
    assert sorted(rows) == list(SOURCES)
    assert min(rows.values()) >= 30


def test_every_test_of_a_claim_is_named_by_a_row() -> None:
    named = {test.partition("[")[0] for claim in CLAIMS for test in claim["tests"]}
    paths = sorted((ROOT / "tests" / "claims").glob("test_claims_*.py"))
    written = {f"tests/claims/{path.name}::{name}" for path in paths for name in functions(f"tests/claims/{path.name}")}
    assert sorted(written - named) == []


GOOD = {
    "id": "000-x",
    "source": "000",
    "section": "s",
    "behaviour": "b",
    "tests": ["tests/test_requirements.py::test_no_id_is_repeated"],
}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"section": ""}, "section is empty"),
        ({"reel": "x"}, "reel is no field"),
        ({"source": "005"}, "source is one of"),
        ({"id": "001-x"}, "the id starts with the source"),
        ({"tests": []}, "has tests, or says why"),
        ({"pending": "later"}, "has tests, or says why"),
        ({"tests": ["tests/test_requirements.py::test_of_nothing"]}, "no such test"),
        ({"tests": ["tests/no_such_file.py::test_no_id_is_repeated"]}, "no such test"),
        ({"tests": ["tests/test_requirements.py::problems"]}, "no such test"),
        ({"tests": ["tests/test_requirements.py::test_no_id_is_repeated[case]"]}, "no such case"),
    ],
)
def test_a_bad_row_is_found(change: dict[str, Any], problem: str) -> None:
    assert problems(GOOD) == []
    assert any(problem in found for found in problems(GOOD | change))


def test_a_row_without_a_field_is_found() -> None:
    for field in REQUIRED:
        assert f"{field} is missing" in problems({key: GOOD[key] for key in GOOD if key != field})
