"""What no allow rule and no mode may let a shell command do to files.

Deleting the disk's root, a folder right below it, home or a working folder: CLI 2.1.325 asks about these in every mode,
``bypassPermissions`` included. Changing files that make other programs run something: it asks unless the mode bypasses.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Sequence
from typing import Final

from . import programs
from .commands import Unit
from .decision import Verdict
from .file_words import file_words
from .nested import Layers, may_run_others, program_of
from .path_judge import PathJudge
from .paths import Places, fold, is_disguised
from .program_names import program_name
from .shapes import ANY, NAME, ONE, is_known, shapes
from .shell import Redirect
from .words import Word

_REMOVERS: Final = frozenset({"rm", "rmdir", "unlink", "shred", "srm", "trash", "rimraf"})
_WRITERS: Final = frozenset({"sed", "tar", "curl", "wget", "gcc", "sort", "uniq", "xxd"})
"""Others whose output files are known."""
_RECURSIVE: Final = re.compile(r"-[A-Za-z]*[rRd]|--(recursive|dir)\Z")
_ALL_OF: Final = re.compile(rf"(.*?)/?{ANY}(/[{ANY}.]*)?\Z", re.DOTALL)
_EDITS_IN_PLACE: Final = re.compile(r"-[A-Za-z]*i|--in-place")
_PARTS_OF_REPOSITORY: Final = frozenset({"head", "objects", "refs", "hooks"})


class FileGuard:
    def __init__(self, paths: PathJudge, places: Places) -> None:
        self._paths, self._places = paths, places
        self._values = {"HOME": [places.home], "PWD": [places.cwd]}

    def removes_too_much(self, layers: Layers) -> Verdict | None:
        """``rm -rf /``, ``~``, ``.`` and what could be one of them."""
        if layers.flat and program_of(layers.scripts[0].commands[0].words) not in _REMOVERS:
            return None
        moved = not programs.MOVERS.isdisjoint(_heads(layers))
        for words in _runs(layers, _REMOVERS):
            recursive = any(_RECURSIVE.match(word.hint) for word in words[1:])
            parents = words[0].hint == "rmdir" and len(words) > 1 and words[1].hint.startswith("-")
            for word in words[1:]:
                unknown = word.value is None and (moved or parents or (recursive and "{" in word.text))
                if not word.hint.startswith("-") and (unknown or self._is_critical(word, recursive=recursive)):
                    return Verdict("ask", f"{word.text[:80]} may delete more than intended.", source="safety")
        return None

    def _is_critical(self, word: Word, *, recursive: bool) -> bool:
        if word.value is None and word.text.startswith(("$(", "`", '"$(', '"`')):
            return True
        found = [word.hint] if word.value is not None else shapes(word.text, self._values)
        found = [shape.replace(NAME, ANY) for shape in found]
        return any(self._shape_is_critical(shape, recursive=recursive) for shape in found)

    def _shape_is_critical(self, shape: str, *, recursive: bool) -> bool:
        if is_known(shape):
            return self._path_is_critical(shape)
        if shape.startswith(ANY):
            # a variable may be empty or a root; *.o is neither
            return shape == ANY or shape[1:2] == "/" or (recursive and shape[:2] != ANY + "." and shape.endswith(ANY))
        all_of = _ALL_OF.match(shape)
        if all_of and ONE not in shape and ANY not in all_of[1]:
            return self._path_is_critical(all_of[1] or "/")
        return shape.startswith("/") and "/" not in shape[1:]

    def _path_is_critical(self, path: str) -> bool:
        spots: set[str] = set()
        for given in {path, path.strip() or "."}:  # 2.1.325 takes it without the blanks around it
            absolute = self._places.absolute(given)
            spots |= {absolute, os.path.normpath(absolute), self._places.real_of(absolute)}
        return any(
            spot.count("/") <= 1
            or any(
                root == spot or root.startswith(spot.rstrip("/") + "/")
                for root in (*self._places.roots, self._places.home)
            )
            for spot in spots
        )

    def changes_what_runs(self, layers: Layers) -> Verdict | None:
        """``touch .git/hooks/x``, ``sed -i … ~/.bashrc``"""
        for words in _runs(layers, programs.FILE_CHANGERS | _WRITERS):
            argv = [word.hint for word in words]
            named = file_words(argv)
            edits = named.writes
            if program_name(argv[0]) == "sed" and any(_EDITS_IN_PLACE.match(word) for word in argv[1:]):
                edits = (*edits, *named.reads)
            if program_name(argv[0]) == "sed" and (found := next(filter(self._paths.is_sensitive, argv[1:]), None)):
                return Verdict("ask", f"{found[:80]} can make other programs run commands.", source="safety")
            for name in edits:
                if name and self._paths.is_sensitive(name):
                    return Verdict("ask", f"{name[:80]} can make other programs run commands.", source="safety")
                if is_disguised(name):
                    return Verdict("ask", f"{name[:80]!r} may name a different file on some systems.", source="safety")
                if name and self.leads_out(name):
                    return Verdict("ask", f"{name[:80]} leads out of the working folders.", source="safety")
        return None

    def makes_repository(self, units: Sequence[Unit], redirects: Sequence[Redirect]) -> Verdict | None:
        """``mkdir objects refs hooks; touch HEAD; git status``: git takes such a folder for a repository, and runs what
        its configuration and hooks say."""
        runs = [unit.argv for unit in units if unit.argv and program_name(unit.argv[0]) == "git"]
        if not runs:
            return None
        elsewhere = any(word.startswith(("-C", "--git-dir", "--work-tree")) for argv in runs for word in argv)
        written = [name for unit in units if unit.argv for name in file_words(unit.argv).writes]
        written += [redirect.target.hint for redirect in redirects if redirect.writes]
        for name in written:
            parts = fold(os.path.normpath(name)).split("/")
            if not _PARTS_OF_REPOSITORY.isdisjoint(parts if elsewhere or name.startswith("/") else parts[:1]):
                return Verdict("ask", f"git may take the folder of {name[:80]} for a repository.", source="safety")
        return None

    def leads_out(self, path: str) -> bool:
        """Whether it looks like a path in the working folders and is none."""
        located = self._paths.locate(path)
        if located is None or self._places.inside(located):
            return False
        return any(located.given.startswith(root.rstrip("/") + "/") for root in self._places.roots)


def _heads(layers: Layers) -> Iterator[str]:
    return (command.words[0].hint for script in layers.scripts for command in script.commands if command.words)


def _runs(layers: Layers, wanted: frozenset[str]) -> Iterator[Sequence[Word]]:
    """The commands of ``wanted`` in every layer, even behind wrappers, each from its name on."""
    for script in layers.scripts:
        for command in (*script.commands, *script.also):
            words = command.words
            for at in range(len(words)) if words and may_run_others(words) else range(min(1, len(words))):
                if program_name(words[at].hint) in wanted:
                    yield words[at:]
