"""The state of one simulated session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from . import facts
from .flags import Flags

WHEN_STATES = ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "CLAUDE_CODE_SDK_READS_SESSION_STATE")
"""Either of them makes the CLI report idle, running and requires_action."""


class SimulatedSession(msgspec.Struct):
    id: str
    cwd: Path
    config_dir: Path
    flags: Flags
    env: dict[str, str]
    model: str = facts.DEFAULT_MODEL
    mode: str = "default"
    mode_before_plan: str = "default"
    title: str | None = None
    hooks: dict[str, list[dict[str, Any]]] = {}
    agents: dict[str, Any] = {}
    schema: dict[str, Any] | None = None
    forward_text: bool = False
    suggestions: bool = False
    initialized: int = 0
    """How often the host has shaken hands."""
    prompted: bool = False
    """A prompt has been read, with or without a handshake before it."""
    directories: list[Path] = []
    settings: dict[str, Any] = {}
    """The flag settings."""
    local_settings: dict[str, Any] = {}
    skills: list[str] = []
    """Of the project, as last read."""
    stored_in: Path | None = None
    """The project folder of a resumed session that began in another working directory."""
    context: list[str] = []
    """Texts that wait for the next request: prompts that were not to be answered."""

    @property
    def partial(self) -> bool:
        return "--include-partial-messages" in self.flags

    @property
    def replays(self) -> bool:
        return "--replay-user-messages" in self.flags

    @property
    def asks_host(self) -> bool:
        return self.flags.get("--permission-prompt-tool") == "stdio"

    @property
    def may_bypass(self) -> bool:
        launched = ("--dangerously-skip-permissions", "--allow-dangerously-skip-permissions")
        return self.flags.get("--permission-mode") == "bypassPermissions" or any(
            name in self.flags for name in launched
        )

    @property
    def reports_states(self) -> bool:
        return any(self.env.get(name) in ("1", "true") for name in WHEN_STATES)

    @property
    def checkpoints_files(self) -> bool:
        return self.env.get("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING") in ("1", "true")

    @property
    def max_retries(self) -> int:
        given = self.env.get("CLAUDE_CODE_MAX_RETRIES", "")
        return int(given) if given.isdigit() else 10

    @property
    def project_dir(self) -> Path:
        """Where transcripts of this working directory live: letters and digits stay, the rest becomes ``-``."""
        folder = "".join(char if char.isalnum() and char.isascii() else "-" for char in str(self.cwd))
        return self.config_dir / "projects" / folder

    @property
    def transcript_path(self) -> Path:
        return (self.stored_in or self.project_dir) / f"{self.id}.jsonl"

    def inside(self, path: Path) -> bool:
        """Whether a path is in the working directory or one that was added."""
        return any(path.is_relative_to(folder) for folder in (self.cwd, *self.directories))

    def resolve(self, path: str) -> Path:
        """An absolute path with links and dots resolved, so that no trick leads outside."""
        return (self.cwd / path).resolve()
