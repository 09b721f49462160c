"""The stage with a real CLI: a scripted Messages API stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quarterdeck.testing.install import NEWEST, SUPPORTED, default_cache_dir
from quarterdeck.testing.model import ModelServer
from quarterdeck.testing.model.request import ApiRequest, content_text
from quarterdeck.testing.model.server import ReplyRule

from .stage import OLD_PATIENCE_S, PATIENCE_S, Heard, Stage

OLD = frozenset(SUPPORTED) - {NEWEST}


class RealStage(Stage):
    def __init__(self, folder: Path, argv: Sequence[str], version: str) -> None:
        super().__init__(folder)
        self.version = version
        self.patience_s = OLD_PATIENCE_S if version in OLD else PATIENCE_S
        self._argv = list(argv)
        self.model = ModelServer()
        self._rules: dict[str, ReplyRule] = {}
        self._heard_before = 0
        self.model.start()

    def reply(self, *parts: Any, **options: Any) -> None:
        self.model.reply(*parts, **options)

    def reply_to(self, kind: str, *parts: Any, **options: Any) -> None:
        if kind in self._rules:
            self._rules[kind].times = 0
        self._rules[kind] = self.model.on(lambda request: request.kind == kind, *parts, **options)

    @property
    def heard(self) -> list[Heard]:
        requests = self.model.conversation[self._heard_before :]
        return [Heard(request.kind, _new_text(request), request.model) for request in requests]

    def share(self) -> bool:
        self._heard_before = len(self.model.conversation)
        while self._rules:
            self._rules.popitem()[1].times = 0
        return super().share() and not self.model.queued

    @property
    def system_prompt(self) -> str:
        """Of the last request; only a real API sees it."""
        return self.model.conversation[-1].system

    @property
    def conversation(self) -> str:
        """The text of all messages of the last request."""
        return self.model.conversation[-1].text

    @property
    def thinking(self) -> dict[str, Any] | None:
        """What the last request says about thinking."""
        return self.model.conversation[-1].json.get("thinking")

    def command(self) -> tuple[list[str], dict[str, str]]:
        # Half of what a CLI that is a script takes to start is compiling it; Node.js 22 can keep that
        return self._argv, self.model.env() | {"NODE_COMPILE_CACHE": str(default_cache_dir() / "node-compile-cache")}

    def close(self) -> None:
        super().close()
        self.model.close()


def _new_text(request: ApiRequest) -> str:
    """What was said since the model's last answer; a prompt that was folded in is a message of its own."""
    new: list[str] = []
    for message in reversed(request.messages):
        if message.get("role") == "assistant":
            break
        new.append(content_text(message.get("content")))
    return "\n".join(reversed(new))
