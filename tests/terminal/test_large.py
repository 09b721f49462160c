"""A large change or a long command is shown whole, and the prompt does not wait for lines that nobody looks at."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli.terminal import comparing
from quarterdeck.cli.terminal.comparing import compare
from quarterdeck.cli.terminal.rows import Joined, LongText
from quarterdeck.testing.model import ToolUse
from terminal.kit import Place, Term, bash, tool
from terminal.real_place import RealPlace

TEXTS = st.lists(st.text(alphabet="ab日\u0301", max_size=30), max_size=8)
LINES = st.lists(st.sampled_from("abcdefgh"), max_size=14)


@given(TEXTS, st.integers(3, 12), st.integers(-3, 60), st.integers(-3, 60))
def test_rows_are_the_same_wherever_one_looks(lines: list[str], room: int, begin: int, end: int) -> None:
    rows = LongText(lines, room, head=lambda index: f"{index}>", indent="  ")
    whole = [rows[at] for at in range(len(rows))]
    assert rows[:] == whole
    assert rows[begin:end] == whole[begin:end]
    assert "".join(row.removeprefix("  ").rpartition(">")[2] for row in whole) == "".join(lines)
    assert Joined(["x"], rows, [], ["y", "z"])[begin:end] == ["x", *whole, "y", "z"][begin:end]


def test_only_rows_that_are_looked_at_are_drawn() -> None:
    drawn: list[int] = []
    rows = LongText([f"line {number}" for number in range(100_000)], 70, head=lambda index: str(drawn.append(index)))
    assert len(rows) == 100_000
    assert len(rows[50_000:50_040]) == 40
    assert drawn == list(range(50_000, 50_040))


@pytest.mark.parametrize("small", [0, 4, 1_000])
def test_comparing_in_parts_leads_from_the_old_text_to_the_new_one(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "SMALL", small)

    @given(LINES, LINES)
    def check(old: list[str], new: list[str]) -> None:
        codes, _ = compare(old, new)
        made: list[str] = []
        at = (0, 0)
        for word, a, b, c, d in codes:
            assert at == (a, c)
            assert (old[a:b] == new[c:d]) == (word == "equal")
            made += old[a:b] if word == "equal" else new[c:d]
            at = b, d
        assert (made, at) == (new, (len(old), len(new)))
        words = [code[0] == "equal" for code in codes]
        assert not any(one and other for one, other in pairwise(words))

    check()


def test_texts_of_few_different_lines_are_one_block_and_say_so() -> None:
    old, new = ["}", ""] * 1_000, ["", "}", "}"] * 650
    _, whole = compare(old, new)
    assert not whole
    far = [f"line {number}" for number in range(100_000)]
    codes, whole = compare(far, [*far[:10], "new", *far[10:50_000], *far[50_001:]])
    assert whole
    assert [word for word, *_ in codes] == ["equal", "insert", "equal", "delete", "equal"]


def read_whole(term: Term, last: str) -> None:
    term.until("more lines: v shows all", "Large change: shown without colours and marked words.", "Deny and stop")
    term.press("v", "G")
    term.until(last)
    term.press("/")
    term.press("line 777;", "\r")
    term.until("777 + line 777;")
    term.press("q")
    term.resize(120, 40)
    term.until("Deny and stop")
    term.press("y")
    assert term.exit() == 0


def test_a_change_of_40_000_lines_is_seen_whole(place: Place) -> None:
    content = "".join(f"line {number};\n" for number in range(1, 40_001))
    place.plays(tool("Write", {"file_path": str(place.cwd / "long.py"), "content": content}), "Written.")
    read_whole(place.term("run", "go"), "40000 + line 40000;")
    assert (place.cwd / "long.py").read_text() == content


@pytest.mark.real
def test_a_large_change_of_the_real_cli_is_seen_whole(real: RealPlace) -> None:
    content = "".join(f"line {number};\n" for number in range(1, 12_001))
    real.model.reply(ToolUse("Write", {"file_path": str(real.cwd / "long.py"), "content": content}))
    real.model.reply("Written.")
    read_whole(real.term("run", "go", agent=""), "12000 + line 12000;")
    assert (real.cwd / "long.py").read_text() == content


def test_a_long_command_is_seen_whole_and_says_that_nothing_is_marked(place: Place) -> None:
    command = "cat > out.txt <<'END'\n" + "".join(f"line {number}\n" for number in range(12_000)) + "END\nrm -rf /tmp/x"
    place.plays(bash(command), "Done.")
    term = place.term("run", "go")
    term.until(
        "  $ cat > out.txt <<'END'", "Long input: risky parts are not marked.", "It was not analysed", "v shows all"
    )
    term.press("v", "G")
    term.until("rm -rf /tmp/x")
    term.press("q", "x")
    assert term.exit() == 1
