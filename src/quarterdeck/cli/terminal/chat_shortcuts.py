"""Shortcuts of the chat's input line: ``!`` runs a shell command, ``#`` remembers something."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from quarterdeck.cli.common.table import path_end

from .text import exact, wrapped
from .widgets import MenuOption

if TYPE_CHECKING:
    from .chat import Chat

KEPT_CHARS = 30_000
"""Of an output, for the model. The CLI's Bash tool keeps the same amount."""
SHOWN_LINES = 40
READ_BYTES = 65_536
LAST_OUTPUT_S = 0.5
"""How long to read on when the command has ended: a daemon that it has started may keep the pipe open for ever."""


async def run_shell(chat: Chat, command: str, stop: asyncio.Event) -> None:
    """Run a command in the session's folder until ``stop``, show its output, and put both into the conversation."""
    look = chat.screen.look
    chat.screen.print([look.paint("bold", f"! {line}") for line in exact(command).split("\n")])
    with _OutputPipe() as output:
        async with _started(command, chat.folder, output) as process:
            ending, stopping = asyncio.ensure_future(process.wait()), asyncio.ensure_future(stop.wait())
            try:
                await asyncio.wait([ending, stopping], return_when=asyncio.FIRST_COMPLETED)
            finally:
                stopping.cancel()
                _kill(process)
            code = await ending
        await output.read_on(LAST_OUTPUT_S)
    text = bytes(output.end).decode(errors="replace").rstrip("\n")
    _show(chat, text, "stopped" if stop.is_set() else f"exit code {code}" if code else "")
    await chat.session.tell(command, text[-KEPT_CHARS:])


class _OutputPipe:
    """A pipe to write to, and the tail of what was written. It is closed even if others still have it open."""

    def __init__(self) -> None:
        self.end = bytearray()
        self._source, self.target = os.pipe()
        os.set_blocking(self._source, False)
        self._closed = asyncio.Event()

    def __enter__(self) -> _OutputPipe:
        asyncio.get_running_loop().add_reader(self._source, self._readable)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.get_running_loop().remove_reader(self._source)
        os.close(self._source)
        self.started()

    def started(self) -> None:
        """The command has the writing end now."""
        if self.target >= 0:
            os.close(self.target)
        self.target = -1

    def _readable(self) -> None:
        data = os.read(self._source, READ_BYTES)
        self.end += data
        del self.end[: -4 * KEPT_CHARS]
        if not data:
            asyncio.get_running_loop().remove_reader(self._source)
            self._closed.set()

    async def read_on(self, limit_s: float) -> None:
        """Until all have closed the pipe, or for so long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), limit_s)


@asynccontextmanager
async def _started(command: str, folder: Path, output: _OutputPipe) -> AsyncIterator[asyncio.subprocess.Process]:
    """Cancelled while it starts, it still ends."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_shell(
            command,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output.target,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    )
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        _kill(await starting)
        raise
    output.started()
    try:
        yield process
    finally:
        _kill(process)


def _kill(process: asyncio.subprocess.Process) -> None:
    """With all that it has started in its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _show(chat: Chat, output: str, note: str) -> None:
    look = chat.screen.look
    lines = [part for line in exact(output).split("\n") for part in wrapped(line, look.width - 2)] if output else []
    hidden = len(lines) - SHOWN_LINES
    shown = [look.paint("dim", f"  … {hidden:,} earlier lines")] if hidden > 0 else []
    shown += [f"  {line}" for line in lines[-SHOWN_LINES:]]
    if note:
        shown.append(look.paint("red", f"  {note}"))
    chat.screen.print(shown or [look.paint("dim", "  no output")])


async def remember(chat: Chat, text: str) -> None:
    """Add a line to one of the files that Claude Code reads at its start."""
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    places = {
        "project": chat.folder / "CLAUDE.md",
        "local": chat.folder / "CLAUDE.local.md",
        "user": home / "CLAUDE.md",
    }
    options = [
        MenuOption("project", "This project", "CLAUDE.md, for everyone who works on it", key="p"),
        MenuOption("local", "This project, only for me", "CLAUDE.local.md", key="l"),
        MenuOption("user", "All my projects", path_end(str(places["user"]), 60, home=str(Path.home())), key="u"),
    ]
    chosen = await chat.choose("Remember where?", options)
    if chosen is None:
        return
    path = places[str(chosen)]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else ""
        with path.open("a") as file:
            file.write(f"{'' if not before or before.endswith(chr(10)) else chr(10)}- {text}\n")
    except (OSError, UnicodeDecodeError) as error:
        chat.screen.say("red", f"not saved: {error}")
        return
    chat.screen.say("green", f"added to {path}")
