"""Plays scenarios against CLIs, two at a time, and collects the outcomes."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from quarterdeck.client import ControlError, ControlTimeout, ProcessExited
from quarterdeck.client.launch_versions import UnsupportedOptionError
from quarterdeck.testing.install import install_cli

from .real import RealStage
from .scenario import Scenario
from .simulated import SimulatedStage
from .stage import LIMIT_S, Differs, NotThere, Stage

SIMULATOR = "simulator"
AT_ONCE = 2
TOO_LATE = f"not done within {LIMIT_S:.0f} s"

Status: TypeAlias = Literal["pass", "differs", "not there", "not claimed"]
MakeStage: TypeAlias = Callable[[Path], Stage]

_UNSTABLE = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"toolu_\w+"), "<tool use>"),
    (re.compile(r"req_\w+"), "<request>"),
    (re.compile(r"\d+(\.\d+)? ?ms\b"), "<time>"),
]
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Outcome:
    status: Status
    detail: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Target:
    """A CLI to play against."""

    name: str
    """A version, or ``simulator``."""
    make_stage: MakeStage


def simulator() -> Target:
    return Target(SIMULATOR, SimulatedStage)


def real_cli(version: str) -> Target:
    """The CLI of that version, installed if need be."""
    argv = install_cli(version).argv
    return Target(version, lambda folder: RealStage(folder, argv, version))


def own_cli(path: Path, name: str) -> Target:
    """A CLI that is on this machine already."""
    return Target(name, lambda folder: RealStage(folder, [str(path)], name))


async def play(scenario: Scenario, target: Target) -> Outcome:
    """One scenario against one CLI, in a fresh home and folder that are removed afterwards."""
    if target.name == SIMULATOR and scenario.simulator is not None:
        return Outcome("not claimed", scenario.simulator)
    folder = _fresh_folder()
    started = time.monotonic()
    stage = target.make_stage(folder)
    try:
        status, detail = await _judge(scenario, stage)
    finally:
        stage.close()
        # The CLI may still be writing there in its last moments
        shutil.rmtree(folder, ignore_errors=True)
    return Outcome(status, _stable(detail, folder), round(time.monotonic() - started, 2))


def _fresh_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="quarterdeck-conformance-")).resolve()


async def _judge(scenario: Scenario, stage: Stage) -> tuple[Status, str]:
    try:
        async with asyncio.timeout(LIMIT_S):
            await scenario.play(stage)
    except (NotThere, UnsupportedOptionError) as error:
        return "not there", str(error)
    except ControlTimeout as error:
        return "not there", f"{error.subtype} is never answered"
    except ControlError as error:
        if error.code == "unsupported_request" or "nsupported control request" in error.error:
            return "not there", f"{error.subtype} is refused as unknown"
        return "differs", f"{error.subtype} is refused: {error.error}"
    except Differs as error:
        if stage.ignored:
            return "not there", f"{', '.join(sorted(stage.ignored))} has no effect"
        return "differs", str(error)
    except ProcessExited as error:
        return "differs", f"the CLI ends with exit code {error.exit_code}"
    except TimeoutError:
        return "differs", TOO_LATE
    except Exception as error:  # noqa: BLE001  # whatever a CLI makes the client raise is what it does
        return "differs", f"{type(error).__name__}: {error}"
    return "pass", ""


def _stable(detail: str, folder: Path) -> str:
    """The text without ids, times and folders, so that it is the same on every run."""
    text = " ".join(detail.replace(str(folder), "<folder>").split())
    for pattern, placeholder in _UNSTABLE:
        text = pattern.sub(placeholder, text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class SharedStage:
    """One stage for several scenarios in a row. A scenario that differs is played again, alone."""

    def __init__(self) -> None:
        self._target: Target | None = None
        self._stage: Stage | None = None
        self._folder = Path()

    async def play(self, scenario: Scenario, target: Target) -> Outcome | None:
        """The outcome; None when it must be played alone."""
        if target.name == SIMULATOR and scenario.simulator is not None:
            return None
        if scenario.alone:
            await self.close()
            return None
        if self._stage is not None and (self._target is not target or not self._stage.share()):
            await self.close()
        if self._stage is None:
            self._target, self._folder = target, _fresh_folder()
            self._stage = target.make_stage(self._folder)
            self._stage.share()
        started = time.monotonic()
        status, detail = await _judge(scenario, self._stage)
        if status != "differs":
            return Outcome(status, _stable(detail, self._folder), round(time.monotonic() - started, 2))
        await self.close()
        return None

    async def close(self) -> None:
        if self._stage is not None:
            await self._stage.let_go()
            self._stage.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            self._stage = None


Told: TypeAlias = Callable[[Scenario, Target, Outcome], None]


async def play_all(
    scenarios: Iterable[Scenario], targets: Sequence[Target], *, on_outcome: Told, at_once: int = AT_ONCE
) -> dict[str, dict[str, Outcome]]:
    """All against all; scenario id → CLI → outcome."""
    listed = list(scenarios)
    found: dict[str, dict[str, Outcome]] = {scenario.id: {} for scenario in listed}
    # Those that may share a CLI first, so that few are started
    jobs = iter([(one, target) for target in targets for one in sorted(listed, key=lambda one: one.alone)])

    async def work() -> None:
        shared = SharedStage()
        try:
            for scenario, target in jobs:
                outcome = await shared.play(scenario, target) or await play(scenario, target)
                if outcome.detail == TOO_LATE:  # once more: a busy machine must not look like another behaviour
                    outcome = await play(scenario, target)
                found[scenario.id][target.name] = outcome
                on_outcome(scenario, target, outcome)
        finally:
            await shared.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())
    return found
