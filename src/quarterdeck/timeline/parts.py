"""What events and state are both made of: kept text, diffs, plans, questions, tokens."""

from __future__ import annotations

from typing import Any

import msgspec

from ._words import DiffKind, PlanStatus


class PartBase(msgspec.Struct, omit_defaults=True, gc=False):
    """A piece of an event or of the state."""


class Kept(PartBase):
    """A text, or the two ends of one that is too long: ``text``, then ``left_out`` characters, then ``tail``."""

    text: str = ""
    tail: str = ""
    left_out: int = 0

    @property
    def size(self) -> int:
        """How many characters there were."""
        return len(self.text) + self.left_out + len(self.tail)

    def __str__(self) -> str:
        if not self.left_out:
            return self.text
        return f"{self.text}\n… {self.left_out:,} characters left out …\n{self.tail}"


class Hunk(PartBase):
    """A group of adjacent changed lines. Each line begins with ``-``, ``+`` or a space; the starts count from 1."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[str]


class FileDiff(PartBase):
    """A change of one file, proposed by a call's input or made by it."""

    path: str
    kind: DiffKind
    hunks: list[Hunk]
    added: int = 0
    removed: int = 0
    numbered: bool = False
    """True if the line numbers are the file's own: only a call's result has them, not its input."""
    cell: str | None = None
    """The notebook cell that is changed; the lines are the cell's."""
    left_out: int = 0
    """Number of lines omitted."""


class PlanEntry(PartBase):
    """One to-do item."""

    id: str
    text: str
    status: PlanStatus = "pending"
    doing: str | None = None
    """The wording while it is in progress."""
    details: str | None = None
    owner: str | None = None
    blocked_by: list[str] = []


class Choice(PartBase):
    """One of the answers a question offers."""

    label: str
    description: str | None = None
    preview: str | None = None


class Question(PartBase):
    """One question. Its answer is the label of a choice, several of them, or free text."""

    text: str
    header: str | None = None
    choices: list[Choice] = []
    several: bool = False


class PermissionSuggestion(PartBase):
    """A rule that can be allowed permanently with the answer.

    ``text`` is for people; put ``update`` into the answer's ``updatedPermissions`` unchanged.
    """

    text: str
    destination: str | None
    update: dict[str, Any]
    rules: list[str] = []
    """Each rule as it would be written in the settings, e.g. ``Bash(git status)``."""


class Tokens(PartBase):
    """Tokens that were used."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    thinking: int = 0
    web_searches: int = 0

    @property
    def context(self) -> int:
        """How much of it was in the context window at the end: all input, and the output."""
        return self.input + self.cache_read + self.cache_write + self.output


class ModelCost(PartBase):
    """What one model has used and cost."""

    tokens: Tokens = msgspec.field(default_factory=Tokens)
    cost_usd: float = 0.0


class Context(PartBase):
    """Usage of the context window. ``window`` is 0 while its size is unknown."""

    tokens: int = 0
    window: int = 0
    model: str = ""

    @property
    def fraction(self) -> float | None:
        """0 to 1; None while the size of the window is not known."""
        return min(1.0, self.tokens / self.window) if self.window else None


class McpServer(PartBase):
    """An MCP server of the session; ``status`` is the CLI's: connected, failed, needs-auth, pending, disabled."""

    name: str
    status: str = ""
    error: str | None = None
    tools: int | None = None


class CommandInfo(PartBase):
    """A slash command."""

    name: str
    description: str = ""
    argument_hint: str = ""


class Model(PartBase):
    """A model that can be chosen."""

    value: str
    name: str = ""
    description: str = ""
    effort_levels: list[str] = []
    """What its effort can be set to; empty if it cannot be set, or if the CLI does not say."""
    fast_mode: bool = False
    """Whether it has a fast mode."""


class Account(PartBase):
    """The account."""

    email: str | None = None
    organization: str | None = None
    subscription: str | None = None
    api_key_source: str | None = None
    provider: str | None = None


class RateLimitState(PartBase):
    """The account's rate-limit status; ``resets_at`` is in seconds since 1970, ``used`` a fraction."""

    status: str
    kind: str | None = None
    used: float | None = None
    resets_at: float | None = None
    overage_status: str | None = None
    windows: dict[str, float] = {}
    """Window → fraction used."""
