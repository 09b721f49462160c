"""What is drawn: resize, large results, other scripts, hostile text, colours."""

from __future__ import annotations

import os
import re

import pytest

from quarterdeck.cli.common.look import codes_of
from terminal.kit import Place, bash, tool

CYAN = codes_of("cyan")
HOSTILE = (
    "before \x1b]0;owned\x07 \x1b[2J\x1b[H \x9b31m \x1b]52;c;ZXZpbA==\x07 \x08\x08\x08 \u202egnp.exe \u2066x\u2069 "
    "\x1b[?1049h \x1bc zero\u200bwidth \U000e0041 after"
)


def test_escape_sequences_of_the_model_and_of_tools_have_no_effect(place: Place) -> None:
    place.plays(HOSTILE, bash("show", result=HOSTILE), f"```\n{HOSTILE}\n```")
    term = place.term("run", "--allow", "Bash", "go", columns=100)
    assert term.exit() == 0
    ours = re.sub(rb"\x1b\[(\?(25|7|2026|2004)[hl]|[0-9;]*[mABCK]|J)", b"", bytes(term.raw))
    assert b"\x1b" not in ours
    assert not set("\x07\x08\x9b\u202e\u2066\u200b\U000e0041").intersection(ours.decode())
    seen = term.text
    assert "before ␛]0;owned␇ ␛[2J␛[H <U+009B>31m" in seen
    assert "<U+202E>gnp.exe" in seen
    assert "zero<U+200B>width" in seen
    assert seen.count("after") >= 2
    assert term.screen.title == ""


def test_a_hidden_character_of_a_command_is_seen_when_it_is_asked_about(place: Place) -> None:
    place.plays(bash("echo safe\x1b[8m; touch evil\x1b[0m"), "Done.")
    term = place.term("run", "go")
    term.until("$ echo safe␛[8m; touch evil␛[0m", "Allow once")
    term.press("x")
    term.exit()


def test_a_tool_result_of_10_megabytes_is_a_glance(place: Place) -> None:
    (place.cwd / "big.txt").write_text("x" * 99 + "\n")
    place.plays(bash("show", result="line of the result\n" * 550_000), "Done with it.")
    term = place.term("run", "--allow", "Bash", "go")
    assert term.exit() == 0
    assert "Done with it." in term.text
    assert term.text.count("line of the result") == 4
    assert "characters in total" in term.text or "lines in total" in term.text
    assert len(term.raw) < 100_000


def test_wide_and_right_to_left_characters_stay_in_their_lines(place: Place) -> None:
    words = (
        "日本語のとても長い文章です。" * 12
        + "\n\n"
        + "مرحبا بالعالم كيف حالك اليوم " * 10
        + "\n\n"
        + "👩‍👩‍👧 e\u0301 한국어 " * 12
    )
    place.plays(
        words, tool("Write", {"file_path": str(place.cwd / "名前.txt"), "content": "漢字" * 60 + "\n"}), "終わり"
    )
    term = place.term("run", "go", columns=60)
    term.until("Allow writing 名前.txt?", "Allow once")
    term.press("y")
    assert term.exit() == 0
    assert "終わり" in term.text.replace(" ", "")
    assert re.sub(r"\s", "", term.text).count("日本語のとても長い文章です。") == 12
    assert " ".join(term.text.split()).count("مرحبا بالعالم كيف حالك اليوم") >= 9
    assert all(len(line) <= 60 for line in term.lines)


def test_the_live_part_follows_the_size_of_the_terminal(place: Place) -> None:
    place.plays(
        "Begun.", bash("ls"), {"wait_for": "go.txt"}, "The end of it, in a sentence that is longer than fifty cells."
    )
    term = place.term("run", "--allow", "Bash(ls)", "go", columns=100, rows=30)
    term.until("Begun.", "Esc to stop")
    term.resize(50, 30)
    term.until("Esc to stop")
    (place.cwd / "go.txt").touch()
    assert term.exit() == 0
    assert term.text.count("Begun.") == 1
    assert "The end of it, in a sentence that is longer than\nfifty cells." in term.text


def test_a_menu_stays_usable_in_a_terminal_that_shrinks(place: Place) -> None:
    place.plays(bash("touch a.txt"), "Done.")
    term = place.term("run", "go", columns=90, rows=24)
    term.until("Allow once", "Deny and stop")
    term.resize(50, 10)
    term.until("Deny and stop")
    term.press("y")
    assert term.exit() == 0
    assert (place.cwd / "a.txt").exists()


def test_finished_text_is_written_once(place: Place) -> None:
    paragraphs = [f"Paragraph number {number} has some words." for number in range(60)]
    place.plays("\n\n".join(paragraphs), delta_size=5, delay_s=0.0005)
    term = place.term("run", "go", rows=12)
    assert term.exit() == 0
    assert [line for line in term.lines if line.startswith("Paragraph")] == paragraphs


def test_code_is_coloured_and_loses_nothing(place: Place) -> None:
    code = "\n".join(f"value_{number} = {number}  # a comment" for number in range(70))
    place.plays(f"Look:\n\n```python\n{code}\n```\n\nThat was it.", delta_size=40)
    term = place.term("run", "go")
    assert term.exit() == 0
    assert [line for line in term.lines if line.startswith("│ ")] == [f"│ {line}" for line in code.split("\n")]
    assert f"\x1b[{CYAN}m".encode() in term.raw


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_none_is_wanted(place: Place, variables: dict[str, str]) -> None:
    place.plays("**Bold** words.", bash("ls"), "Done.")
    term = place.term("run", "--allow", "Bash(ls)", "go", **variables)
    assert term.exit() == 0
    assert "Done." in term.text
    assert re.search(rb"\x1b\[[0-9;]*[1-9][0-9;]*m", term.raw) is None


@pytest.mark.parametrize("broken", ["painter.last_line", "live.plan_lines", "live.running_lines"])
def test_an_error_of_ours_ends_it_is_seen_and_leaves_the_terminal_as_it_was(place: Place, broken: str) -> None:
    """At the end of a turn, and in the middle of a frame."""
    module, name = broken.split(".")
    patch = f"import quarterdeck.cli.terminal.{module} as one\none.{name} = lambda *a, **b: 1 / 0\n"
    (place.home / "sitecustomize.py").write_text(patch)
    place.env["PYTHONPATH"] = os.pathsep.join([str(place.home), *filter(None, [place.env.get("PYTHONPATH")])])
    todos = [{"content": "Look", "activeForm": "Looking", "status": "in_progress"}]
    endless = [] if module == "painter" else [bash("sleep 30")]
    place.plays(tool("TodoWrite", {"todos": todos}), *endless, "Done.")
    term = place.term("run", "--allow", "Bash(sleep:*)", "go")
    assert term.exit() == 1
    assert "ZeroDivisionError" in term.text
