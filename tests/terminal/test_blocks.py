"""Markdown while it is written: cut into blocks that never change again, and drawn."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quarterdeck.cli.common import cells
from quarterdeck.cli.common.look import codes_of
from quarterdeck.cli.terminal.inline import spans, wrap
from quarterdeck.cli.terminal.markdown import MarkdownPainter
from quarterdeck.cli.terminal.markdown_blocks import MarkdownBlock, MarkdownSplitter
from quarterdeck.cli.terminal.text import painted_cells, painted_wrap, unpainted, wrapped

TEXT = """# Title

A paragraph of *some* words
on two lines.

- one
- two
  - inner
- three

  more of three
1. first
2. second

```python
def f():

    return 1
```

| a | b |
|---|---|
| 1 | 2 |

> quoted

The end."""

BLOCKS = [
    MarkdownBlock("# Title", gap=False),
    MarkdownBlock("A paragraph of *some* words\non two lines."),
    MarkdownBlock("- one"),
    MarkdownBlock("- two\n  - inner", gap=False),
    MarkdownBlock("- three\n\n  more of three", gap=False),
    MarkdownBlock("1. first"),
    MarkdownBlock("2. second", gap=False),
    MarkdownBlock("def f():\n\n    return 1", "python"),
    MarkdownBlock("| a | b |\n|---|---|\n| 1 | 2 |"),
    MarkdownBlock("> quoted"),
    MarkdownBlock("The end."),
]

WORDS = st.text(alphabet="ab *_`[]()#-|>\n\\~1.日é👩\u200d", max_size=200)


def cut(text: str, borders: list[int]) -> list[MarkdownBlock]:
    blocks, done, begin = MarkdownSplitter(), [], 0
    for border in [*sorted(borders), len(text)]:
        done += blocks.feed(text[begin:border])
        blocks.tail()
        begin = border
    return done + blocks.close()


@given(st.lists(st.integers(0, len(TEXT)), max_size=30))
def test_blocks_are_the_same_however_the_text_arrives(borders: list[int]) -> None:
    assert cut(TEXT, borders) == BLOCKS


@given(WORDS, st.lists(st.integers(0, 200), max_size=10))
def test_any_text_is_cut_the_same_in_one_go_and_in_pieces(text: str, borders: list[int]) -> None:
    assert cut(text, [border for border in borders if border <= len(text)]) == cut(text, [])


@given(WORDS, st.integers(10, 60), st.booleans())
@example(">111111\u200d1\u200d日", 10, False)
@example("| 111111\u200d1\u200d日 |\n| --- |\n| 日\u200d日\u200d日\u200d日 |", 10, True)
def test_no_line_is_wider_than_it_may_be_and_no_word_is_lost(text: str, width: int, colour: bool) -> None:
    painter = MarkdownPainter(colour=colour)
    for block in cut(text, []):
        lines = painter.lines(block, width)
        assert all(painted_cells(line) <= width for line in lines), lines
        letters = re.sub(r"[^ab日é]", "", block.source)
        shown = re.sub(r"[^ab日é]", "", "".join(map(unpainted, lines)))
        if block.language is not None or not re.search(r"[\[\]()<>|#]", block.source):
            assert shown == letters


def test_a_long_code_block_is_given_out_in_pieces_while_it_is_written() -> None:
    blocks = MarkdownSplitter()
    done = blocks.feed("```sh\n" + "".join(f"line {number}\n" for number in range(60)))
    assert [block.source.count("\n") + 1 for block in done] == [24, 24]
    assert [block.gap for block in done] == [False, False]
    (tail,) = blocks.tail()
    assert tail.source.startswith("line 48")
    assert tail.language == "sh"


def test_a_paragraph_without_an_end_is_cut_so_that_its_tail_stays_short() -> None:
    blocks = MarkdownSplitter()
    done = [block for _ in range(4_000) for block in blocks.feed("some words ")]
    (tail,) = blocks.tail()
    assert len(tail.source) <= 6_100
    assert len(done) >= 6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words", [("plain words", "")]),
        ("a **bold** one", [("a ", ""), ("bold", "1"), (" one", "")]),
        ("*it* and _it_", [("it", "3"), (" and ", ""), ("it", "3")]),
        ("snake_case_name and 2 * 3 * 4", [("snake_case_name and 2 * 3 * 4", "")]),
        ("**a `b` c**", [("a ", "1"), ("b", f"1;{codes_of('cyan')}"), (" c", "1")]),
        ("`**no**`", [("**no**", codes_of("cyan"))]),
        ("[x](http://y)", [("x", ""), (" (", ""), ("http://y", codes_of("blue underline")), (")", "")]),
        (r"\*no\*", [("*", ""), ("no", ""), ("*", "")]),
        ("~~gone~~", [("gone", "9")]),
        ("a ** b", [("a ** b", "")]),
    ],
)
def test_words_inside_a_line(text: str, expected: list[tuple[str, str]]) -> None:
    assert list(spans(text)) == expected


def test_wrapping_breaks_at_blanks_and_scripts_without_blanks_anywhere() -> None:
    assert wrap("one two three four", 9, colour=False) == ["one two", "three", "four"]
    assert wrap("ab 日本語日本語", 8, colour=False) == ["ab 日本", "語日本語"]
    assert wrap("x" * 12, 5, colour=False) == ["xxxxx", "xxxxx", "xx"]
    assert wrap("a  \nb", 9, colour=False) == ["a", "b"]
    assert wrap("**a b** c", 9, colour=True) == ["\x1b[1ma\x1b[0m\x1b[1m \x1b[0m\x1b[1mb\x1b[0m c"]


@given(st.text(alphabet="ab 日\n", max_size=120), st.integers(4, 30))
def test_plain_wrapping_keeps_all_letters(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "").replace("\n", "")
    assert all(cells(line) <= width for line in lines)


def test_colours_go_on_in_the_next_line() -> None:
    assert painted_wrap("\x1b[32mabcdef\x1b[0m!", 4) == ["\x1b[32mabcd\x1b[0m", "\x1b[32mef\x1b[0m!"]


def test_tables_and_quotes_are_drawn() -> None:
    painter = MarkdownPainter(colour=False)
    assert painter.lines(MarkdownBlock("| a | b |\n|---|---|\n| 1 | 2 |"), 40) == [" a  b", " ────", " 1  2"]
    assert painter.lines(MarkdownBlock("> quoted"), 40) == ["▌ quoted"]
