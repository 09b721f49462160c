"""Where a scenario plays: a scripted model, a home and a folder of its own, and sessions of our client.

A scenario does not know whether the CLI is real (with a ``ModelServer`` behind it) or simulated.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from inside import connection_of, write_past
from quarterdeck.client import ClaudeAgentOptions, Session, connect
from quarterdeck.testing.model import Gate, ToolUse
from quarterdeck.wire import Message, PermissionResultAllow, ResultMessage, ToolResultBlock, UserMessage

M = TypeVar("M", bound=Message)

LIMIT_S = 30.0
"""For one scenario."""
PATIENCE_S = 15.0
"""For one message or answer of a CLI that is expected to give it."""
OLD_PATIENCE_S = 5.0
"""Some of the older ones never answer what they do not know: no need to wait long for that."""
POLL_S = 0.01
CALLBACKS = frozenset({"can_use_tool", "on_question", "on_plan", "on_elicitation"})
"""Options that a session which is shared asks anew for each scenario."""


class Differs(Exception):  # noqa: N818  # says what happened
    """The CLI did something else than the newest one does."""


class NotThere(Exception):  # noqa: N818  # says what happened
    """The CLI does not have what the scenario is about."""


def expect(what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise Differs(f"{what}: {_shown(found)}, not {_shown(expected)}")


def _shown(value: Any) -> str:
    """The same on every run, also for sets."""
    return f"{{{', '.join(sorted(map(repr, value)))}}}" if isinstance(value, set) and value else repr(value)


def expect_that(condition: object, otherwise: str) -> None:
    if not condition:
        raise Differs(otherwise)


class FileGate(Gate):
    """A gate that works across processes: two files say that it was reached and that it is open."""

    def __init__(self, path: Path) -> None:
        self._reached_file = path.with_suffix(".reached")
        self._open_file = path.with_suffix(".open")

    def wait_reached(self, timeout_s: float) -> bool:
        return self._wait(self._reached_file, timeout_s)

    def open(self) -> None:
        self._open_file.touch()

    def hold(self, timeout_s: float) -> None:
        self._reached_file.touch()
        self._wait(self._open_file, timeout_s)

    @staticmethod
    def _wait(path: Path, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while not path.exists():
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_S)
        return True


@dataclass(frozen=True, slots=True)
class Heard:
    """One request to the model, as far as a real and a simulated one can both tell."""

    kind: str
    text: str
    """What is new in it: the prompt, or the tools' results."""
    model: str


class Stage:
    """The face that scenarios see; ``real`` and ``simulated`` have the two kinds."""

    version: str
    """Of the CLI; the simulator has the version it claims to be."""
    patience_s = PATIENCE_S

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.cwd = folder / "repo"
        self.home.mkdir()
        self.cwd.mkdir()
        self.asked: list[tuple[str, dict[str, Any]]] = []
        """What ``allow`` was asked: tool and input."""
        self.ignored: set[str] = set()
        """Options that our client knows this version to take without effect."""
        self.hook: Callable[..., Any] | None = None
        """What ``run_hook`` calls: a session that is shared has its hooks for good, a scenario has its own."""
        self._gates: list[FileGate] = []
        self._keeps = False
        self._kept: tuple[str, Session] | None = None
        self._callbacks: dict[str, Any] = {}

    # The script

    def reply(self, *parts: Any, **options: Any) -> None:
        """What the model says next; parts and options are those of ``ModelServer.reply``."""
        raise NotImplementedError

    def reply_to(self, kind: str, *parts: Any, **options: Any) -> None:
        """What the model says from now on to every request of a kind (``main``, ``suggestion`` …); beats the queue."""
        raise NotImplementedError

    @property
    def heard(self) -> list[Heard]:
        """What the model was asked so far, by the conversation and its sub-agents."""
        raise NotImplementedError

    @property
    def system_prompt(self) -> str:
        """Of the last request to the model; only a real API gets to see it."""
        raise NotImplementedError

    def gate(self) -> FileGate:
        gate = FileGate(self.folder / f"gate{len(self._gates)}")
        self._gates.append(gate)
        return gate

    async def reached(self, gate: Gate) -> None:
        """Wait until the model's stream is held at the gate."""
        if not await asyncio.to_thread(gate.wait_reached, self.patience_s):
            raise Differs("the model was never asked")

    # Sessions

    def command(self) -> tuple[str | list[str], dict[str, str]]:
        """How the CLI is started, and its environment."""
        raise NotImplementedError

    def options(self, *, env: dict[str, str] | None = None, **more: Any) -> ClaudeAgentOptions:
        cli_path, own = self.command()
        basic = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "SHELL": "/bin/bash"}
        given = {"request_timeout_s": self.patience_s, **more}
        return ClaudeAgentOptions(
            cli_path=cli_path, cwd=self.cwd, env={**basic, **own, **(env or {})}, env_allow=[], **given
        )

    @asynccontextmanager
    async def session(self, **options: Any) -> AsyncIterator[Session]:
        """A session, open until the block ends; on a shared stage the next scenario may get it again."""
        if self._keeps:
            yield await self._shared(options)
            return
        async with connect(self.options(**options)) as session:
            self.ignored |= set(session.ignored_options)  # what the client knows about the version
            yield session

    async def _shared(self, options: dict[str, Any]) -> Session:
        self._callbacks = {name: value for name, value in options.items() if name in CALLBACKS}
        plain = {name: value for name, value in options.items() if name not in CALLBACKS}
        key = repr((sorted(self._callbacks), sorted(plain.items())))
        if self._kept is not None and self._kept[0] == key:
            return self._kept[1]
        await self.let_go()
        plain |= {name: self._forward(name) for name in self._callbacks}
        session = await connect(self.options(**plain)).open()
        self._kept = key, session
        return session

    def _forward(self, name: str) -> Callable[..., Any]:
        return lambda *called: self._callbacks[name](*called)

    async def let_go(self) -> None:
        """Close the session that was kept for the next scenario."""
        if self._kept is not None:
            _, session = self._kept
            self._kept = None
            await session.close()

    def share(self) -> bool:
        """Make ready for another scenario on the same stage; False when the last one left something in it."""
        self._keeps = True
        self.asked.clear()
        self.hook = None
        for left in self.cwd.iterdir():
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()
        return True

    async def allow(self, name: str, tool_input: dict[str, Any], _: Any) -> PermissionResultAllow:
        """A permission callback that says yes and remembers what it was asked."""
        self.asked.append((name, tool_input))
        return PermissionResultAllow()

    async def run_hook(self, *called: Any) -> Any:
        return None if self.hook is None else await self.hook(*called)

    def write(self, session: Session, line: bytes) -> None:
        """Bytes on the CLI's stdin that no client would write."""
        write_past(session, line)

    def close_input(self, session: Session) -> None:
        """At once: ``finish()`` would wait for the turn."""
        connection_of(session).close_input()

    def pid(self, session: Session) -> int:
        pid = session.pid
        if pid is None:
            raise Differs("the CLI has no process id")
        return pid

    async def next_of(self, session: Session, kind: type[M], **fields: Any) -> M:
        """The next message of that kind with these fields; NotThere when none comes."""
        try:
            async with asyncio.timeout(self.patience_s):
                async for message in session.messages():
                    if isinstance(message, kind) and all(getattr(message, k) == v for k, v in fields.items()):
                        return message
        except TimeoutError:
            raise NotThere(f"no {kind.__name__}") from None
        raise NotThere(f"the CLI exited before a {kind.__name__}")

    def close(self) -> None:
        for gate in self._gates:
            gate.open()


def bash(command: str, **more: Any) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "do it", **more})


def of_kind(messages: Iterable[object], kind: type[M]) -> list[M]:
    return [message for message in messages if isinstance(message, kind)]


async def told(turn: AsyncIterator[Message]) -> list[Message]:
    """All messages of a turn, its result last."""
    return [message async for message in turn]


def result_of(messages: list[Message]) -> ResultMessage:
    results = of_kind(messages, ResultMessage)
    if not results:
        raise Differs("the turn had no result")
    return results[-1]


def tool_results(messages: Iterable[object]) -> list[ToolResultBlock]:
    """The results of tools that the CLI told, in order."""
    found: list[ToolResultBlock] = []
    for message in of_kind(messages, UserMessage):
        content = message.content
        if not isinstance(content, str):
            found += [block for block in content if isinstance(block, ToolResultBlock)]
    return found


def text_of(block: ToolResultBlock) -> str:
    """The text of a tool's result, which is a string or a list of blocks."""
    content = block.content
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content or () if part.get("type") == "text")
