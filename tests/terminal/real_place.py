"""A place to work in whose agent is the real CLI, talking to a scripted model."""

from __future__ import annotations

from pathlib import Path

from needs import real_cli
from quarterdeck.testing.model import ModelServer
from terminal.kit import Place


class RealPlace(Place):
    def __init__(self, folder: Path, model: ModelServer) -> None:
        super().__init__(folder)
        self.model = model
        self.env.update(model.env())
        self._agent = real_cli().argv[-1]

    def command(self, *words: str, agent: str = "") -> list[str]:
        return super().command(*words, agent=agent or self._agent)
