"""The example of the guide, run as it is against the real CLI with a scripted model; and the guide shows its code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compat.running import run_program
from quarterdeck.testing.model import ModelServer, ToolUse

from .event_table import with_table

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "timeline_fold.py"
GUIDE = (ROOT / "docs" / "timeline.md").read_text()

PRINTED = """\
Allow Write? greeting.txt
+hello
Write: finished
It is written.
(done, 40 tokens)
['Prompt', 'ToolCall', 'Permission', 'Text', 'TurnSummary']
"""


@pytest.mark.real
def test_the_example_follows_a_turn(tmp_path: Path) -> None:
    with ModelServer() as model:
        model.reply(ToolUse("Write", {"file_path": "greeting.txt", "content": "hello\n"}))
        model.reply("It is written.")
        assert run_program(EXAMPLE, tmp_path, model) == PRINTED


def test_every_snippet_of_the_guide_is_in_the_example() -> None:
    snippets = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    assert snippets
    assert [snippet for snippet in snippets if snippet not in EXAMPLE.read_text()] == []


def test_the_table_of_events_is_what_the_docstrings_say() -> None:
    assert with_table(GUIDE) == GUIDE
