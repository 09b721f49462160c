"""Errors in rules and settings.

::

    PolicyError (ValueError)
    ├── MissingGrammarError   the extra ``policy`` is not installed
    ├── BadRulesError         one or more rules were refused; each says file, line and reason
    └── BadSettingsError      a settings file that cannot be read or changed safely
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module


class PolicyError(ValueError):
    """Base of all policy errors."""


class MissingGrammarError(PolicyError, ImportError):
    """Shell commands cannot be read, so no policy can be made: it would have to deny them all."""

    def __init__(self, cause: ImportError) -> None:
        super().__init__(f"a policy needs a Bash grammar: pip install 'quarterdeck[policy]' ({cause})")


@cache
def need_grammar() -> None:
    """Raises ``MissingGrammarError`` when the policy is created, not at the first command."""
    try:
        import_module("tree_sitter")
        import_module("tree_sitter_bash")
    except ImportError as error:
        raise MissingGrammarError(error) from error


@dataclass(frozen=True, slots=True)
class BadRule:
    """One rejected rule: where it is, what it says, why it cannot be used."""

    text: str
    reason: str
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        if self.file is None:
            return f"{self.text!r}: {self.reason}"
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.text!r}: {self.reason}"


class BadRulesError(PolicyError):
    """Rules were rejected. None was applied, and none was guessed at: correct them and load again."""

    def __init__(self, rules: list[BadRule]) -> None:
        self.rules = tuple(rules)
        super().__init__("\n".join(str(rule) for rule in rules))


class BadSettingsError(PolicyError):
    """A settings file that is not what it should be."""

    def __init__(self, file: str, line: int | None, reason: str) -> None:
        self.file, self.line, self.reason = file, line, reason
        super().__init__(f"{file}: {reason}" if line is None else f"{file}:{line}: {reason}")
