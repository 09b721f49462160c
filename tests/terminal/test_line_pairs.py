"""Which line stands beside which in a diff."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli.terminal.line_pairs import MOST, aligned

LINES = st.lists(st.sampled_from(["", "a = 1", "a = 2", "def f(x):", "def f(x, y):", "return", "    return x"]))


def test_a_line_put_in_before_stands_alone_and_the_changed_one_beside_its_old_self() -> None:
    removed = ["total = price * count"]
    added = ["# in cents", "total = price * count * 100"]
    assert list(aligned(removed, added)) == [(None, "# in cents"), (removed[0], added[1])]


def test_a_line_taken_out_in_the_middle_leaves_the_others_in_pairs() -> None:
    removed = ["first(one)", "second(two)", "third(three)"]
    added = ["first(1)", "third(3)"]
    assert list(aligned(removed, added)) == [(removed[0], added[0]), (removed[1], None), (removed[2], added[1])]


def test_lines_with_nothing_in_common_are_paired_in_order() -> None:
    assert list(aligned(["alpha", "beta"], ["1", "2", "3"])) == [("alpha", "1"), ("beta", "2"), (None, "3")]


def test_a_very_large_change_is_paired_in_order() -> None:
    removed = [f"line {n}" for n in range(MOST)]
    assert list(aligned(removed, ["x", "line 0"]))[:2] == [("line 0", "x"), ("line 1", "line 0")]


@given(removed=LINES, added=LINES)
def test_every_line_is_there_once_and_in_order(removed: list[str], added: list[str]) -> None:
    pairs = list(aligned(removed, added))
    assert [one for one, _ in pairs if one is not None] == removed
    assert [other for _, other in pairs if other is not None] == added
