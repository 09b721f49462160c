"""A ``claude`` for tests: simulated, real with a scripted model, or recorded once and replayed.

The pytest plugin provides these as fixtures; they also work without pytest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from quarterdeck.client import ClaudeAgentOptions

from .launcher import write_launcher
from .model import ModelServer
from .sim import executable
from .sim.process import SCENARIO_VARIABLE

Step = str | Mapping[str, Any]
CassetteMode = Literal["once", "replay", "record"]

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
}
"""Keeps the real CLI from talking to anything but the given model."""


@dataclass
class Workplace:
    """A folder with its own home and working directory, so that no user settings affect a test."""

    root: Path
    home: Path = field(init=False)
    cwd: Path = field(init=False)

    def __post_init__(self) -> None:
        self.home = self.root / "home"
        self.cwd = self.root / "work"
        for folder in (self.home, self.cwd):
            folder.mkdir(parents=True, exist_ok=True)

    def options(self, cli_path: Any, env: Mapping[str, str], changes: Mapping[str, Any]) -> ClaudeAgentOptions:
        given = dict(changes)
        chosen = {"HOME": str(self.home), "PATH": os.environ.get("PATH", ""), **env, **given.pop("env", {})}
        return ClaudeAgentOptions(
            **{"cli_path": cli_path, "cwd": self.cwd, "env": chosen, "env_allow": [], **given},
        )


class FakeClaude:
    """The simulator, scripted with ``play``."""

    def __init__(self, root: Path) -> None:
        self._place = Workplace(root)
        self._scenario = root / "scenario.json"
        self.path = executable(folder=root / "bin")
        """For anything that takes the path of a ``claude``. Pass ``env`` too: it names the scenario."""

    @property
    def cwd(self) -> Path:
        """Its working directory."""
        return self._place.cwd

    @property
    def env(self) -> dict[str, str]:
        chosen = {"HOME": str(self._place.home)}
        if self._scenario.exists():
            chosen[SCENARIO_VARIABLE] = str(self._scenario)
        return chosen

    def play(self, *turns: Sequence[Step], **scenario: Any) -> None:
        """Set the script: a list of steps for each turn, or the keys of a scenario file as keyword arguments.

        A step is a text, or a step as in a scenario file: ``{"tool": "Bash", "input": {…}}`` …
        """
        self._play(json.dumps({"turns": [list(turn) for turn in turns], **scenario}).encode(), ".json")

    def play_file(self, path: Path | str) -> None:
        """Play a scenario file, JSON or YAML."""
        self._play(Path(path).read_bytes(), Path(path).suffix)

    def _play(self, scenario: bytes, suffix: str) -> None:
        self._scenario = self._scenario.with_suffix(suffix)
        self._scenario.write_bytes(scenario)

    def options(self, **changes: Any) -> ClaudeAgentOptions:
        """Options for a session with it; ``changes`` override them."""
        return self._place.options(self.path, self.env, changes)


class RealClaude:
    """The real CLI, talking to a scripted model."""

    def __init__(self, argv: Sequence[str], root: Path, model: ModelServer) -> None:
        self.argv = list(argv)
        self.model = model
        self._place = Workplace(root)

    @property
    def cwd(self) -> Path:
        return self._place.cwd

    @property
    def env(self) -> dict[str, str]:
        return {"HOME": str(self._place.home), **QUIET, **self.model.env()}

    def options(self, **changes: Any) -> ClaudeAgentOptions:
        return self._place.options(self.argv, self.env, changes)


class Cassette:
    """A conversation that is recorded once, then replayed."""

    def __init__(self, file: Path, root: Path, *, mode: CassetteMode = "once", cli: RealClaude | None = None) -> None:
        self.file = file
        self.recording = mode == "record" or (mode == "once" and not file.exists())
        """Whether this run records."""
        self._place = Workplace(root)
        self._cli = cli
        self.path = root / "bin" / "claude"
        """The executable: a tap in front of the real CLI, or a replay of the recording."""
        if self.recording and cli is None:
            raise FileNotFoundError(f"no recording {file}, and no real CLI to record with")
        if not self.recording and not file.exists():
            raise FileNotFoundError(f"no recording {file}: record it once, with a real CLI")
        if self.recording and cli is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_launcher(self.path, "quarterdeck.cli.tap", ["--redact", "--out", str(file), "--", *cli.argv])
        else:
            write_launcher(self.path, "quarterdeck.cli.replay", [str(file)])

    def options(self, **changes: Any) -> ClaudeAgentOptions:
        env = self._cli.env if self.recording and self._cli is not None else {}
        return self._place.options(self.path, env, changes)
