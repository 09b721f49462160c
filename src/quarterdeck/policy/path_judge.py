"""May this path be read or changed?"""

from __future__ import annotations

import re
from typing import Final

from .decision import Verdict, strictest
from .paths import BLANKS, Located, Places, climbs, is_disguised, is_sensitive
from .rulebook import Rulebook
from .rules import Rule, Source

_EXPANDS: Final = re.compile(r"[$`]|\A(=|~(?!/|\Z))|\{.*[\"']", re.DOTALL)
_BRACES: Final = re.compile(r"\{.*(,|\.\.)", re.DOTALL)
_GLOBS: Final = re.compile(r"[*?{}]")
"""Quoted, these are plain letters of a name; a program that hands the name to a shell makes more of them."""
_SETTINGS: Final = frozenset[Source](
    {"policySettings", "flagSettings", "localSettings", "projectSettings", "userSettings"}
)


class PathJudge:
    def __init__(
        self,
        allow: Rulebook,
        deny: Rulebook,
        ask: Rulebook,
        places: Places,
        mode: str,
        *,
        cli_reads_settings: bool = False,
    ) -> None:
        self._allow, self._deny, self._ask, self._places = allow, deny, ask, places
        self._mode = mode
        self._enforced = _SETTINGS if cli_reads_settings else frozenset[Source]()
        self.accepts_edits = mode == "acceptEdits"
        self._seen: dict[str, Located | None] = {}

    def judge_path(self, path: str, *, edit: bool, tool: str | None = None) -> Verdict:
        """``tool`` is the file tool that asks; None for a shell command."""
        if tool is None:
            return _disguise(path, edit=edit) or self._judge(path, edit, tool)
        readings = dict.fromkeys((path, path.strip(BLANKS)))
        verdicts = [self._judge(reading, edit, tool) for reading in readings]
        if any(is_disguised(reading) for reading in readings):
            verdicts.append(
                Verdict("ask", f"{path[:80]!r} may name a different file on some systems.", source="safety")
            )
        return strictest(verdicts)

    def _judge(self, path: str, edit: bool, tool: str | None) -> Verdict:
        located = self.locate(path)
        if located is None:
            return Verdict("ask", f"{path[:80]!r} is not a path.", source="safety")
        if tool is not None and located.real is None:
            return Verdict("deny", f"The target of {located.given} cannot be determined.", source="safety")
        if tool is not None and edit and self._places.is_link(located):
            why = f"{located.given} is a link; change {located.real} instead."
            return Verdict("deny", why, source="safety")  # so does 2.1.325, in every mode
        for book in (self._deny, self._ask):
            rule = book.touching(located, edit=edit)
            if rule is not None:
                return Verdict.by(rule, f"{rule} matches {_shown(located)}.")
        return self._edit(located, tool) if edit else self._read(located, tool)

    def judge_search(self, folder: str) -> Verdict | None:
        """What a search of file contents below ``folder`` would read; None where no rule has anything against it.

        The CLI leaves out what the settings deny that it has read itself (not what they ask about). Whether it has
        read them only the caller knows.
        """
        located = self.locate(folder.strip(BLANKS))
        if located is None:
            return None
        for book, enforced in ((self._deny, self._enforced), (self._ask, ())):
            rule = book.reaching_below(located, enforced=enforced)
            if rule is not None:
                return Verdict("ask", f"The search may read files that {rule} covers.", rule, "safety")
        return None

    def _read(self, located: Located, tool: str | None) -> Verdict:
        rule = self._allow.covering(located, edit=False) or (self._allow.for_tool(tool) if tool else None)
        if rule is not None:
            return Verdict.by(rule, f"{rule} allows {_shown(located)}.")
        if self._mode == "bypassPermissions":
            return Verdict("allow", "The mode bypasses permissions.", source="mode")
        if self._places.inside(located):
            return Verdict("allow", f"{located.given} is in the working folders.", source="mode")
        return Verdict("ask", f"{_shown(located)} is outside the working folders and no rule allows it.")

    def _edit(self, located: Located, tool: str | None) -> Verdict:
        if self._mode == "bypassPermissions":
            return Verdict("allow", "The mode bypasses permissions.", source="mode")
        if is_sensitive(located):
            why = f"{_shown(located)} can make other programs run commands; no rule covers it."
            return Verdict("ask", why, source="safety")
        if self._mode == "plan":
            return Verdict("ask", "Plan mode allows no changes.", source="mode")
        rule = self._allow.covering(located, edit=True)
        if rule is None and tool is not None and not self._places.leads_out(located):
            rule = self._allow.for_tool(tool)
        if rule is not None:
            return Verdict.by(rule, f"{rule} allows {_shown(located)}.")
        if self.accepts_edits and self._places.inside(located):
            return Verdict(
                "allow", f"The mode accepts edits, and {located.given} is in the working folders.", source="mode"
            )
        return Verdict("ask", f"No rule allows changing {_shown(located)}.")

    def out_of_reach(self, path: str, *, edit: bool) -> Verdict | None:
        """Why a shell command that is allowed may not have this path."""
        disguise = _disguise(path, edit=edit)
        if disguise is not None:
            return disguise
        located = self.locate(path)
        if located is None or located.real is None:
            return Verdict("ask", f"The target of {path[:80]!r} cannot be determined.", source="safety")
        if edit and is_sensitive(located):
            return Verdict("ask", f"{_shown(located)} can make other programs run commands.", source="safety")
        if edit and self._places.is_root(located):
            return Verdict("ask", f"{_shown(located)} is a working folder itself.", source="safety")
        if self._places.inside(located) or self._allow.covering(located, edit=edit):
            return None
        return Verdict("ask", f"{_shown(located)} is outside the working folders.")

    def touching(self, book: Rulebook, path: str, *, edit: bool) -> Rule | None:
        located = self.locate(path)
        return None if located is None else book.touching(located, edit=edit)

    def naming(self, book: Rulebook, path: str) -> Rule | None:
        """By name only: most words of a command are not files."""
        if "/" not in path and path not in ("~", ".", ".."):
            return book.naming_here(path)
        return book.naming(self._places.absolute(path)) if "\0" not in path else None

    def is_inside(self, path: str) -> bool:
        located = self.locate(path)
        return located is not None and self._places.inside(located)

    def may_be_reached(self, path: str) -> bool:
        """Whether it is in the working folders, or a rule allows reading it."""
        located = self.locate(path)
        return located is not None and (
            self._places.inside(located) or self._allow.covering(located, edit=False) is not None
        )

    def is_here(self, folder: str = "~") -> bool:
        """Whether ``cd`` to ``folder`` stays where the command starts."""
        located, here = self.locate(folder), self.locate(".")
        return located is not None and here is not None and located.real == here.real is not None

    def is_working_folder(self, path: str) -> bool:
        located = self.locate(path)
        return located is not None and self._places.is_root(located)

    def is_sensitive(self, path: str) -> bool:
        located = self.locate(path)
        return located is not None and is_sensitive(located)

    def locate(self, path: str) -> Located | None:
        """Each path is followed once for one decision: all rules judge the same place."""
        try:
            return self._seen[path]
        except KeyError:
            located = self._seen[path] = self._places.locate(path)
            return located

    def start_over(self) -> None:
        """A new decision: the disk may have changed."""
        self._seen.clear()


def looks_expanded(word: str) -> bool:
    """Whether a shell would make something else of it, were it not quoted."""
    return _EXPANDS.search(word) is not None


def _disguise(path: str, *, edit: bool) -> Verdict | None:
    """Paths in the words of a command that 2.1.325 asks about, wherever they lead."""
    if looks_expanded(path) or _BRACES.search(path) or (edit and _GLOBS.search(path)):
        return Verdict("ask", f"{path[:80]!r} looks like something that a shell expands.", source="safety")
    if climbs(path):
        return Verdict("ask", f"The target of {path[:80]!r} depends on links.", source="safety")
    if edit and is_disguised(path):
        return Verdict("ask", f"{path[:80]!r} may name a different file on some systems.", source="safety")
    return None


def _shown(located: Located) -> str:
    if located.real is None or located.real == located.given:
        return located.given
    return f"{located.given} (a link to {located.real})"
