"""Shortcuts of the chat's input line: ``!`` runs a shell command, ``#`` remembers something."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .text import exact, wrapped
from .widgets import MenuOption

if TYPE_CHECKING:
    from .chat import Chat

KEPT_CHARS = 30_000
"""Of an output, for the model. The CLI's own Bash tool keeps as much."""
SHOWN_LINES = 40
READ_BYTES = 65_536


async def run_shell(chat: Chat, command: str, stop: asyncio.Event) -> None:
    """Run a command in the session's folder until ``stop``, show its output, and put both into the conversation."""
    look = chat.screen.look
    chat.screen.print([look.paint("bold", f"! {line}") for line in exact(command).split("\n")])
    async with _started(command, chat.folder) as process:
        reading, stopping = asyncio.ensure_future(_output_of(process)), asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait([reading, stopping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            _kill(process)
        output = await reading
        code = await process.wait()
    text = output.decode(errors="replace").rstrip("\n")
    _show(chat, text, "stopped" if stop.is_set() else f"exit code {code}" if code else "")
    await chat.tell(command, text[-KEPT_CHARS:])


@asynccontextmanager
async def _started(command: str, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Cancelled while it starts, it still ends."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_shell(
            command,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    )
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        _kill(await starting)
        raise
    try:
        yield process
    finally:
        _kill(process)


async def _output_of(process: asyncio.subprocess.Process) -> bytes:
    """The end of it."""
    output = b""
    while process.stdout is not None and (data := await process.stdout.read(READ_BYTES)):
        output = (output + data)[-4 * KEPT_CHARS :]
    return output


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
        MenuOption("user", "All my projects", "~/.claude/CLAUDE.md", key="u"),
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
