"""What a machine lacks skips a test, but fails it in CI."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import needs
from looping import for_each

HERE = Path(__file__).parent
DECIDES = re.compile(r"import.*\bInstallError\b|\b_npm import.*\bpackage\b|which\(\"(?:node|npm)\"\) is None")
DECIDE_THEMSELVES = {
    "needs.py": "is where it is decided",
    "testing/test_install.py": "tests the installation",
}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine with neither npm nor anything installed before."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("QUARTERDECK_CACHE", str(tmp_path / "cache"))
    return monkeypatch


NEEDS: dict[str, Callable[[], object]] = {
    "no Claude Code": needs.real_cli,
    "node or npm is missing": lambda: needs.from_npm("pyright", "1.0.0"),
    "a reason": lambda: needs.missing("a reason"),
}


@for_each("reason", NEEDS)
def test_what_is_missing_skips_a_test(reason: str, bare: pytest.MonkeyPatch) -> None:
    bare.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=reason):
        NEEDS[reason]()


@for_each("reason", NEEDS)
def test_what_is_missing_in_ci_fails_a_test(reason: str, bare: pytest.MonkeyPatch) -> None:
    bare.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=reason):
        NEEDS[reason]()


def test_a_program_that_is_missing_skips_only_outside_of_ci(bare: pytest.MonkeyPatch) -> None:
    bare.delenv("CI", raising=False)
    assert needs.program("node").args == (True,)
    bare.setenv("CI", "true")
    assert needs.program("node").args == (False,)


def test_nothing_else_decides_what_happens_without_npm() -> None:
    """Else it would be forgotten that a test in CI fails."""
    deciding = {str(path.relative_to(HERE)) for path in HERE.rglob("*.py") if DECIDES.search(path.read_text())}
    assert deciding - {"test_needs.py"} == set(DECIDE_THEMSELVES)
