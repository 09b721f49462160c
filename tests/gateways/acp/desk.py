"""One agent on the real CLI with a scripted model, which several tests share: an agent takes a second to start."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from e2e.kit import real_cli
from gateways.acp.editor import EVERYTHING, Editor, editor
from quarterdeck.testing.model import ModelServer

LIMIT_S = 90.0
"""For what one test waits for, on a busy machine."""


class Desk:
    """The editor in front of it. Each test has sessions of its own; their folder, home and model are shared."""

    def __init__(self, folder: Path, model: ModelServer, runner: asyncio.Runner) -> None:
        self.model = model
        self.folder, self.cwd, self.home = folder, folder / "repo", folder / "home"
        for each in (self.cwd, self.home):
            each.mkdir()
        self.command = real_cli().argv[-1]
        self.env = {"HOME": str(self.home), "SHELL": "/bin/bash", "PATH": os.environ["PATH"], **model.env()}
        self.runner = runner
        self.ed: Editor

    def another(self, *arguments: str, **env: str) -> Any:
        """A second agent in the same place."""
        return editor("--agent", self.command, *arguments, env={**self.env, **env})

    async def new(self, **more: Any) -> str:
        """A session. What was said in others is forgotten."""
        self.reset()
        answer = await self.ed.call("session/new", cwd=str(self.cwd), **{"mcpServers": [], **more})
        return str(answer["sessionId"])

    def reset(self) -> None:
        self.ed.frames.clear()
        self.ed.asked.clear()
        self.ed.replies.clear()
        self.ed.allow()
        assert self.model.queued == 0, "an earlier test left a part of its script"

    @property
    def heard(self) -> str:
        """All that the model was last sent."""
        return self.model.conversation[-1].body.decode()

    def run(self, test: Coroutine[Any, Any, None]) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(LIMIT_S):
                await test

        self.runner.run(bounded())


@contextmanager
def desk_in(folder: Path) -> Iterator[Desk]:
    with ModelServer() as model, asyncio.Runner() as runner:
        desk = Desk(folder, model, runner)
        opening = desk.another()

        async def begin() -> None:
            desk.ed = await opening.__aenter__()
            await desk.ed.initialize(**EVERYTHING, auth={"terminal": True})

        runner.run(begin())
        try:
            yield desk
        finally:
            runner.run(opening.__aexit__(None, None, None))
