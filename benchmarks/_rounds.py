"""Loads run by turns, each in a process of its own, and what becomes of their figures."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from ._arguments import Size
from ._standin import Script
from ._table import say

LIMIT_S = 600.0
ROUNDS = Size(full=5, quick=1)

Figures = dict[str, list[float]]
"""Figure → one value per round."""


class Rounds:
    """Runs loads by turns and keeps what they measured."""

    module: ClassVar[str]
    """The program that runs one load."""

    def __init__(self, *, cli: Path, script: Script, quick: bool) -> None:
        self._cli = cli
        self.script = script
        self.quick = quick

    def rounds(self, loads: dict[str, dict[str, Any]], size: Size = ROUNDS) -> dict[str, Figures]:
        """Each load once in every round."""
        measured: dict[str, Figures] = {load: defaultdict(list) for load in loads}
        for number in range(size.of(self.quick)):
            for load, setting in loads.items():
                say(f"{load}, round {number + 1} of {size.of(self.quick)}")
                for name, value in self.child(load, **setting).items():
                    measured[load][name].append(value)
        return measured

    def child(self, load: str, **setting: Any) -> dict[str, Any]:
        """One load, in a folder of its own unless it is given one."""
        if "folder" not in setting:
            with scratch() as folder:
                return self.child(load, folder=folder, **setting)
        setting |= {"cli": str(self._cli), "started": time.monotonic()}
        command = [sys.executable, "-m", self.module, load, json.dumps(setting)]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True)
        except subprocess.SubprocessError as error:
            raise SystemExit(f"{self.module} did not get through {load!r}: {error}") from error
        told: dict[str, Any] = json.loads(done.stdout)
        return told


@contextmanager
def scratch() -> Iterator[str]:
    """A folder on the file system of the current one."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".benchmark-") as folder:
        yield folder


def divided(values: list[float], by: list[float]) -> list[float]:
    """Round by round."""
    return [value / other for value, other in zip(values, by, strict=True)]


def each(figures: Figures, what: str) -> list[float]:
    """Microseconds of CPU time for each of them."""
    return [one * 1e6 for one in divided(figures["processor_s"], figures[what])]


def ms(microseconds: list[float]) -> list[float]:
    return [one / 1e3 for one in microseconds]


def thousands(count: int) -> str:
    return f"{count:,}".replace(",", " ")
