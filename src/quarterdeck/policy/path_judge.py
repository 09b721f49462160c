"""May this path be read or changed?"""

from __future__ import annotations

from .decision import Verdict
from .paths import Located, Places, is_sensitive
from .rulebook import Rulebook
from .rules import Rule


class PathJudge:
    def __init__(self, allow: Rulebook, deny: Rulebook, ask: Rulebook, places: Places, mode: str) -> None:
        self._allow, self._deny, self._ask, self._places = allow, deny, ask, places
        self._mode = mode
        self.accepts_edits = mode == "acceptEdits"
        self._seen: dict[str, Located | None] = {}

    def judge_path(self, path: str, *, edit: bool, tool: str | None = None) -> Verdict:
        """``tool`` is the file tool that asks; None for a shell command."""
        located = self.locate(path)
        if located is None:
            return Verdict("ask", f"{path[:80]!r} is not a path.", source="safety")
        for book in (self._deny, self._ask):
            rule = book.touching(located, edit=edit)
            if rule is not None:
                return Verdict.by(rule, f"{rule} matches {_shown(located)}.")
        return self._edit(located, tool) if edit else self._read(located, tool)

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
            why = f"{_shown(located)} makes other programs run something; no rule covers it."
            return Verdict("ask", why, source="safety")
        if self._mode == "plan":
            return Verdict("ask", "In plan mode nothing is changed.", source="mode")
        rule = self._allow.covering(located, edit=True) or (self._allow.for_tool(tool) if tool else None)
        if rule is not None:
            return Verdict.by(rule, f"{rule} allows {_shown(located)}.")
        if self.accepts_edits and self._places.inside(located):
            return Verdict(
                "allow", f"The mode accepts edits, and {located.given} is in the working folders.", source="mode"
            )
        return Verdict("ask", f"No rule allows changing {_shown(located)}.")

    def touching(self, book: Rulebook, path: str, *, edit: bool) -> Rule | None:
        located = self.locate(path)
        return None if located is None else book.touching(located, edit=edit)

    def naming(self, book: Rulebook, path: str) -> Rule | None:
        """By name only: the words of a command are not looked up on the disk unless they are known to be files."""
        if "/" not in path and path not in ("~", ".", ".."):
            return book.naming_here(path)
        return book.naming(self._places.absolute(path)) if "\0" not in path else None

    def is_inside(self, path: str) -> bool:
        located = self.locate(path)
        return located is not None and self._places.inside(located)

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


def _shown(located: Located) -> str:
    if located.real is None or located.real == located.given:
        return located.given
    return f"{located.given} (which leads to {located.real})"
