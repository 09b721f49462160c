"""The stage with the simulator, as a process of its own whose model reads its lines from a folder.

The scenario may go on writing the script while the simulator plays it, as it can with a ``ModelServer``: each reply is
a numbered file. What the simulated model was asked is written down beside them.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle  # only files that this package writes for a process that it starts
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quarterdeck.testing.launcher import write_launcher
from quarterdeck.testing.model.kinds import SCRIPTED_KINDS
from quarterdeck.testing.model.script import turn
from quarterdeck.testing.model.server import UNSCRIPTED_TEXT
from quarterdeck.testing.sim import Ask, SimulatedCli, process
from quarterdeck.testing.sim import Scenario as Script
from quarterdeck.testing.sim.facts import VERSION
from quarterdeck.testing.sim.flags import FlagError

from .stage import Heard, Stage

FOLDER_VARIABLE = "QUARTERDECK_CONFORMANCE_SCRIPT"
HEARD = "heard.ndjson"
TESTS = Path(__file__).parents[1]


class SimulatedStage(Stage):
    version = VERSION

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._script = folder / "script"
        self._script.mkdir()
        self._count = 0
        self._heard_before = 0
        self._launcher = write_launcher(folder / "bin" / "claude", __name__, [])

    def reply(self, *parts: Any, **options: Any) -> None:
        self._count += 1
        self._keep(f"{self._count:04}", turn(*parts, **_without_none(options)))

    def reply_to(self, kind: str, *parts: Any, **options: Any) -> None:
        self._keep(kind, turn(*parts, **_without_none(options)))

    def _keep(self, name: str, move: Any) -> None:
        (self._script / f"{name}.part").write_bytes(pickle.dumps(move))
        (self._script / f"{name}.part").rename(self._script / f"{name}.reply")

    @property
    def heard(self) -> list[Heard]:
        return [Heard(**json.loads(line)) for line in self._lines()[self._heard_before :]]

    def _lines(self) -> list[str]:
        path = self._script / HEARD
        return path.read_text().splitlines() if path.exists() else []

    def share(self) -> bool:
        self._heard_before = len(self._lines())
        return super().share() and not list(self._script.glob("*.reply"))

    def command(self) -> tuple[str, dict[str, str]]:
        return str(self._launcher), {
            FOLDER_VARIABLE: str(self._script),
            "ANTHROPIC_API_KEY": "none",
            "PYTHONPATH": str(TESTS),  # where the launcher finds this module
        }


def _without_none(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


class FolderBrain:
    """Says what the files of a folder say, each once, in the order of their numbers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def next(self, ask: Ask) -> Any:
        always = self._folder / f"{ask.kind}.reply"
        if ask.kind in SCRIPTED_KINDS:
            self._write_down(ask)
        if always.exists():
            return self._read(always)
        if ask.kind not in SCRIPTED_KINDS:
            return turn("ok")
        for path in sorted(self._folder.glob("[0-9]*.reply")):
            move = self._read(path)
            path.unlink()
            return move
        return turn(UNSCRIPTED_TEXT)

    def rest(self) -> list[Any]:
        return []

    @staticmethod
    def _read(path: Path) -> Any:
        return pickle.loads(path.read_bytes())  # noqa: S301  # see the import

    def _write_down(self, ask: Ask) -> None:
        with (self._folder / HEARD).open("a") as file:
            file.write(json.dumps({"kind": ask.kind, "text": ask.text, "model": ask.model}) + "\n")


def main(argv: Sequence[str]) -> int:
    """Be the simulated CLI; called by the launcher."""
    try:
        # A tenth of all waiting keeps the order of things and saves the time.
        script = Script(time_scale=0.1)
        cli = SimulatedCli(argv, scenario=script, brain=FolderBrain(Path(os.environ[FOLDER_VARIABLE])))
    except FlagError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return asyncio.run(process.serve(cli))  # the simulator's own main loop
