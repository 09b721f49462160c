"""A test of a program that edits a file, with no model: run it with pytest."""

import asyncio

import quarterdeck


def test_the_typo_is_corrected(fake_claude):
    notes = fake_claude.cwd / "notes.txt"
    notes.write_text("appels\n")
    edit = {"file_path": str(notes), "old_string": "appels", "new_string": "apples"}
    fake_claude.play([{"tool": "Read", "input": {"file_path": str(notes)}}, {"tool": "Edit", "input": edit}, "Done."])
    result = asyncio.run(quarterdeck.prompt("correct it", fake_claude.options(permission_mode="acceptEdits")))
    assert (result.result, notes.read_text()) == ("Done.", "apples\n")
