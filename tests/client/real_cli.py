"""The real CLI for a test: a scripted model, a fresh home, a fresh folder, and options that know nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from needs import real_cli
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.testing.install import NEWEST
from quarterdeck.testing.model import ModelServer

INHERITED = ["PATH", "LANG", "TMPDIR", "SYSTEMROOT"]


class Place:
    """Where sessions of one test live; they share home and folder, so one can resume another."""

    def __init__(self, folder: Path, model: ModelServer, version: str) -> None:
        self.model = model
        self.home = folder / "home"
        self.cwd = folder / "repo"
        self.home.mkdir()
        self.cwd.mkdir()
        self._cli = real_cli(version).argv[-1]

    def options(self, **more: Any) -> ClaudeAgentOptions:
        env = {"HOME": str(self.home), "SHELL": "/bin/bash", **self.model.env()}
        return ClaudeAgentOptions(cli_path=self._cli, cwd=self.cwd, env=env, env_allow=INHERITED, **more)


@contextmanager
def place(folder: Path, version: str = NEWEST) -> Iterator[Place]:
    with ModelServer() as model:
        yield Place(folder, model, version)
