"""Completion in the chat: commands after ``/``, files after ``@``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from .text import one_line

FILES_LIMIT = 100
HIDDEN = frozenset({".git", "node_modules", "__pycache__", ".venv"})
_FILE_WORD = re.compile(r"(?:^|\s)@([^\s@]*)$")


class ChatCompleter(Completer):
    """``commands`` returns ours and Claude Code's, each name → purpose; ``folder`` is the session's."""

    def __init__(
        self, commands: Callable[[], tuple[dict[str, str], dict[str, str]]], folder: Callable[[], Path]
    ) -> None:
        self._commands = commands
        self._folder = folder

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and " " not in before and "\n" not in before:
            yield from self._of_commands(before[1:])
        elif (found := _FILE_WORD.search(before)) is not None:
            yield from self._of_files(found[1])

    def _of_commands(self, prefix_typed: str) -> Iterator[Completion]:
        """Ours first; if nothing is typed yet, a separator and then Claude Code's."""
        ours, theirs = ([*one.items()] for one in self._commands())
        back = -len(prefix_typed) - 1
        for name, purpose in ours:
            if name.startswith(prefix_typed):
                yield Completion(f"/{name}", start_position=back, display_meta=one_line(purpose, 60))
        matching = [(name, purpose) for name, purpose in sorted(theirs) if name.startswith(prefix_typed)]
        if matching and not prefix_typed:
            more = f"{len(matching)} Claude Code commands below; type to filter"
            yield Completion("/", start_position=back, display="…", display_meta=more)
        for name, purpose in matching:
            yield Completion(f"/{name}", start_position=back, display_meta=one_line(purpose, 60))

    def _of_files(self, prefix_typed: str) -> Iterator[Completion]:
        directory, _, prefix = prefix_typed.rpartition("/")
        for entry in _entries(self._folder() / directory, prefix):
            name = f"{directory}/{entry.name}" if directory else entry.name
            suffix = "/" if entry.is_dir() else ""
            yield Completion(f"{name}{suffix}", start_position=-len(prefix_typed))


def _entries(folder: Path, prefix: str) -> Iterable[os.DirEntry[str]]:
    """Entries with this prefix, folders first, up to ``FILES_LIMIT``."""
    found: list[os.DirEntry[str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                hidden = entry.name.startswith(".") and not prefix.startswith(".")
                if entry.name.lower().startswith(prefix.lower()) and entry.name not in HIDDEN and not hidden:
                    found.append(entry)
                if len(found) >= FILES_LIMIT:
                    break
    except OSError:  # no such folder
        return []
    return sorted(found, key=lambda entry: (not entry.is_dir(), entry.name))
