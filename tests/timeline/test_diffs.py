"""Diffs: of what a call would change, and of what it has changed."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.timeline import Limits
from quarterdeck.timeline.diffs import made, proposed
from quarterdeck.timeline.events import PermissionAsked, ToolCalled, ToolEnded
from quarterdeck.timeline.parts import FileDiff, Hunk

from .talk import Talk, assistant, call, may, only, result

LIMIT = 1_000
EDIT = {"file_path": "/a.py", "old_string": "x = 1\ny = 2\n", "new_string": "x = 1\ny = 3\n"}
EDIT_DIFF = FileDiff("/a.py", "update", [Hunk(1, 2, 1, 2, [" x = 1", "-y = 2", "+y = 3"])], added=1, removed=1)


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Edit", EDIT, [EDIT_DIFF]),
        (
            "Edit",
            {"file_path": "/n", "old_string": "", "new_string": "a"},
            [FileDiff("/n", "create", [Hunk(0, 0, 1, 1, ["+a"])], added=1)],
        ),
        (
            "MultiEdit",
            {
                "file_path": "/m",
                "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}],
            },
            [FileDiff("/m", "update", [Hunk(1, 1, 1, 1, ["-a", "+b"]), Hunk(1, 1, 0, 0, ["-c"])], added=1, removed=2)],
        ),
        (
            "Write",
            {"file_path": "/w", "content": "a\n\nb"},
            [FileDiff("/w", "write", [Hunk(0, 0, 1, 3, ["+a", "+", "+b"])], added=3)],
        ),
        (
            "NotebookEdit",
            {"notebook_path": "/n.ipynb", "new_source": "1 + 1", "cell_id": "c1", "edit_mode": "insert"},
            [FileDiff("/n.ipynb", "create", [Hunk(0, 0, 1, 1, ["+1 + 1"])], added=1, cell="c1")],
        ),
        (
            "NotebookEdit",
            {"notebook_path": "/n.ipynb", "new_source": "", "cell_id": "c1", "edit_mode": "delete"},
            [FileDiff("/n.ipynb", "delete", [Hunk(0, 0, 0, 0, [])], cell="c1")],
        ),
        ("Edit", {"file_path": 3}, []),
        ("Bash", {"command": "rm x"}, []),
    ],
)
def test_an_input_tells_what_would_change(tool: str, arguments: dict[str, Any], expected: list[FileDiff]) -> None:
    assert proposed(tool, arguments, LIMIT) == expected


PATCH = [{"oldStart": 10, "oldLines": 1, "newStart": 10, "newLines": 2, "lines": ["-y = 2", "+y = 3", "+z = 4"]}]
NUMBERED = FileDiff(
    "/a.py", "update", [Hunk(10, 1, 10, 2, ["-y = 2", "+y = 3", "+z = 4"])], added=2, removed=1, numbered=True
)


@pytest.mark.parametrize(
    ("tool", "facts", "expected"),
    [
        ("Edit", {"filePath": "/a.py", "structuredPatch": PATCH}, [NUMBERED]),
        ("Write", {"type": "update", "filePath": "/a.py", "content": "", "structuredPatch": PATCH}, [NUMBERED]),
        (
            "Write",
            {"type": "create", "filePath": "/w", "content": "a\n", "structuredPatch": []},
            [FileDiff("/w", "create", [Hunk(0, 0, 1, 1, ["+a"])], added=1, numbered=True)],
        ),
        (
            "NotebookEdit",
            {"notebook_path": "/n", "new_source": "b", "old_source": "a", "cell_id": "c", "edit_mode": "replace"},
            [FileDiff("/n", "update", [Hunk(1, 1, 1, 1, ["-a", "+b"])], added=1, removed=1, cell="c")],
        ),
        (
            "NotebookEdit",
            {
                "notebook_path": "/n",
                "new_source": "b",
                "cell_id": "c",
                "original_file": '{"cells": [{"id": "c", "source": ["a\\n", "b"]}]}',
            },
            [FileDiff("/n", "update", [Hunk(1, 2, 1, 1, ["-a", " b"])], removed=1, cell="c")],
        ),
        (
            "NotebookEdit",
            {"notebook_path": "/n", "new_source": "b", "original_file": "no JSON"},
            [FileDiff("/n", "update", [Hunk(0, 0, 1, 1, ["+b"])], added=1, cell="")],
        ),
        ("NotebookEdit", {"notebook_path": "/n", "new_source": "b", "error": "no such cell"}, []),
        ("Edit", "Error: String to replace not found", []),
        ("Edit", {"filePath": "/a.py", "structuredPatch": [{"odd": True}]}, []),
    ],
)
def test_a_result_tells_what_has_changed(tool: str, facts: Any, expected: list[FileDiff]) -> None:
    assert made(tool, facts, LIMIT) == expected


def test_the_diff_is_on_the_call_on_the_question_and_on_the_end() -> None:
    talk = Talk()
    talk.hear(assistant(call(name="Edit", **EDIT)), may(name="Edit", input=EDIT))
    talk.hear(result(facts={"filePath": "/a.py", "structuredPatch": PATCH}))
    assert only(ToolCalled, talk.events).diffs == [EDIT_DIFF]
    assert only(PermissionAsked, talk.events).request.diffs == [EDIT_DIFF]
    assert only(ToolEnded, talk.events).diffs == [NUMBERED]


def test_a_call_that_failed_has_changed_nothing() -> None:
    talk = Talk()
    talk.hear(assistant(call(name="Edit", **EDIT)), result(output="Not found", error=True))
    assert only(ToolEnded, talk.events).diffs == []


def test_a_long_diff_is_cut_and_says_by_how_much() -> None:
    talk = Talk(limits=Limits(diff_lines=10))
    talk.hear(assistant(call(name="Write", file_path="/w", content="line\n" * 1_000)))
    (diff,) = only(ToolCalled, talk.events).diffs
    assert (len(diff.hunks[0].lines), diff.added, diff.left_out) == (10, 1_000, 990)


def test_texts_too_long_to_compare_are_shown_one_after_the_other() -> None:
    arguments = {"file_path": "/a", "old_string": "same\n" * 2_000, "new_string": "same\n" * 2_000 + "new"}
    (diff,) = proposed("Edit", arguments, 10_000)
    assert (diff.added, diff.removed) == (2_001, 2_000)
