"""Where a scenario plays: a scripted model, a fresh home, a fresh folder, and the CLI processes it starts."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from conversations.driver import ASK, STREAM_JSON, Run
from quarterdeck.testing.install import CliInstall
from quarterdeck.testing.model import ModelServer

BASE = Path("/tmp/qd")
"""Short and neutral: these paths are in the recordings."""


class Stage:
    def __init__(self, name: str, install: CliInstall) -> None:
        self.name = name
        self.version = install.version
        self.model = ModelServer()
        self.folder = BASE / name
        self.home = self.folder / "home"
        self.cwd = self.folder / "repo"
        self.runs: list[tuple[str, Run]] = []
        self._argv = install.argv

    def __enter__(self) -> Self:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.home.mkdir(parents=True)
        self.cwd.mkdir()
        self.model.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.model.close()

    @property
    def is_newest(self) -> bool:
        return self.version not in {"2.0.77", "2.1.17", "2.1.25", "2.1.52"}

    @contextlib.contextmanager
    def claude(
        self,
        *flags: str,
        part: str = "",
        base: tuple[str, ...] = (*STREAM_JSON, *ASK),
        env: dict[str, str] | None = None,
        without_env: tuple[str, ...] = (),
    ) -> Iterator[Run]:
        """One process; it is recorded as the scenario's name, with ``_part`` when a scenario has several."""
        common = {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            **self.model.env(),
        }
        for name in without_env:
            del common[name]
        run = Run(self._argv, [*base, *flags], cwd=self.cwd, env=common | (env or {}))
        run.extra_env = env or {}
        with run:
            yield run
        self.runs.append((f"{self.name}_{part}" if part else self.name, run))
