"""What a test of the real CLI stands on: a scripted model, a fresh home and folder, options, a look at what is left."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from chaos.kit import MARK, marked_processes
from needs import real_cli
from quarterdeck import ClaudeAgentOptions, HookMatcher, Message, PermissionResultAllow, Session, connect
from quarterdeck.testing.install import NEWEST
from quarterdeck.testing.model import Gate, ModelServer

LIMIT_S = 60.0
"""For what one test waits for, on a busy machine; every wait below ends by it."""
M = TypeVar("M", bound=Message)


class Stage:
    """Where the sessions of one test live; they share home, folder and model, so one can resume another."""

    def __init__(self, folder: Path, model: ModelServer, version: str) -> None:
        self.version = version
        self.model = model
        self.folder = folder
        self.home = folder / "home"
        self.cwd = folder / "repo"
        self.home.mkdir()
        self.cwd.mkdir()
        self.asked: list[tuple[str, dict[str, Any]]] = []
        """What ``allow`` was asked."""
        self._cli = real_cli(version)
        self._mark = uuid.uuid4().hex

    @property
    def newest(self) -> bool:
        return self.version == NEWEST

    def options(self, *, env: dict[str, str] | None = None, **more: Any) -> ClaudeAgentOptions:
        own = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            MARK: self._mark,
            **self.model.env(),
            **(env or {}),
        }
        return ClaudeAgentOptions(cli_path=list(self._cli.argv), cwd=self.cwd, env=own, env_allow=[], **more)

    @property
    def at(self) -> dict[str, Any]:
        """Where sessions with these options run, as arguments for ``connect`` and its like."""
        return {}

    def connect(self, options: ClaudeAgentOptions) -> Session:
        return connect(options, **self.at)

    @asynccontextmanager
    async def session(self, **options: Any) -> AsyncIterator[Session]:
        async with asyncio.timeout(LIMIT_S), self.connect(self.options(**options)) as session:
            yield session

    def close(self) -> None:
        """End what the stage itself has started."""

    async def allow(self, name: str, tool_input: dict[str, Any], _: Any) -> PermissionResultAllow:
        """A permission callback that says yes and remembers what it was asked."""
        self.asked.append((name, tool_input))
        return PermissionResultAllow()

    def left_running(self) -> list[str]:
        """The processes that the test has started and that still live, in whatever process group."""
        return marked_processes(self._mark)

    def tool_results(self) -> list[str]:
        """The text of the tool results that the model was sent last."""
        return list(self.model.conversation[-1].tool_results.values())


class Running:
    """A session that several tests share, each with callbacks of its own: a CLI takes seconds to start."""

    def __init__(
        self,
        stage: Stage,
        runner: asyncio.Runner,
        *,
        make: Callable[[ClaudeAgentOptions], Session] = Session,
        **options: Any,
    ) -> None:
        """``make`` has another kind of session than a local one."""
        self.stage = stage
        self.model = stage.model
        self.runner = runner
        self.decide: Callable[..., Any] = stage.allow
        """What a permission request is answered with; the others likewise."""
        self.answer: Callable[..., Any] = _nothing
        self.review: Callable[..., Any] = _nothing
        self.guard: Callable[..., Any] = _nothing
        self.session = make(
            stage.options(
                can_use_tool=lambda *asked: self.decide(*asked),
                on_question=lambda *asked: self.answer(*asked),
                on_plan=lambda *asked: self.review(*asked),
                hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[lambda *called: self.guard(*called)])]},
                **options,
            )
        )

    def reset(self) -> None:
        """As it was before any test."""
        self.decide, self.answer, self.review, self.guard = self.stage.allow, _nothing, _nothing, _nothing
        self.stage.asked.clear()
        assert self.model.queued == 0, "an earlier test left a part of its script"

    def run(self, test: Coroutine[Any, Any, None]) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(LIMIT_S):
                await test

        self.runner.run(bounded())


async def _nothing(*_: Any) -> None:
    """A callback without an opinion."""


async def reached(gate: Gate) -> None:
    """Wait, bounded, until the model's stream is held at the gate."""
    assert await asyncio.to_thread(gate.wait_reached, LIMIT_S), "the stream never got to the gate"


async def until(condition: Callable[[], object]) -> None:
    """Bounded wait for something that nothing reports."""
    async with asyncio.timeout(LIMIT_S):
        while not condition():  # noqa: ASYNC110  # the condition is another object's state
            await asyncio.sleep(0.01)


async def next_of(session: Session, kind: type[M], **fields: Any) -> M:
    """The next message of that kind with these fields; those before it are passed over."""
    async for message in session.messages():
        if isinstance(message, kind) and all(getattr(message, name) == value for name, value in fields.items()):
            return message
    raise AssertionError(f"the session ended before a {kind.__name__} came")


def of_kind(messages: Iterable[object], kind: type[M]) -> list[M]:
    return [message for message in messages if isinstance(message, kind)]
