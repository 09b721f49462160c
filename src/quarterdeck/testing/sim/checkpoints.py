"""What files looked like before each prompt, so that ``rewind_files`` can bring it back."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Checkpoint(msgspec.Struct):
    prompt_id: str
    before: dict[Path, bytes | None] = {}
    """Each file that was changed after this prompt: its content until then, None when it did not exist."""


class RewindChanges(msgspec.Struct, frozen=True):
    """What going back would change."""

    files: list[Path]
    insertions: int
    deletions: int
    skipped_links: int = 0


class Checkpoints:
    def __init__(self) -> None:
        self._all: list[Checkpoint] = []

    def begin(self, prompt_id: str) -> None:
        self._all.append(Checkpoint(prompt_id))

    def before_change(self, path: Path) -> None:
        """To be called before a tool writes to ``path``."""
        if self._all:
            self._all[-1].before.setdefault(path, _content(path))

    def rewind(self, prompt_id: str, *, dry_run: bool) -> RewindChanges | None:
        """Restore everything as of that prompt; None if there is no such checkpoint."""
        start = next((index for index, point in enumerate(self._all) if point.prompt_id == prompt_id), None)
        if start is None:
            return None
        wanted: dict[Path, bytes | None] = {}
        for point in reversed(self._all[start:]):
            wanted |= point.before
        changed = {path: content for path, content in wanted.items() if content != _content(path)}
        counts = [_line_changes(_content(path) or b"", content or b"") for path, content in changed.items()]
        links = sum(path.is_symlink() for path in changed)
        if not dry_run:
            for path, content in changed.items():
                _restore(path, content)
        return RewindChanges(sorted(changed), sum(c[0] for c in counts), sum(c[1] for c in counts), links)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _restore(path: Path, content: bytes | None) -> None:
    if path.is_symlink():  # it may point anywhere: the CLI leaves links alone too
        return
    if content is None:
        path.unlink(missing_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _line_changes(now: bytes, then: bytes) -> tuple[int, int]:
    """Lines that going from ``now`` to ``then`` adds and removes."""
    import difflib

    added = removed = 0
    matcher = difflib.SequenceMatcher(None, now.splitlines(), then.splitlines(), autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            removed += end - start
            added += new_end - new_start
    return added, removed
