"""``quarterdeck chat``: a conversation that can be steered while Claude works."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from quarterdeck._places import state_folder
from quarterdeck.cli.common import INTERRUPTED, Look
from quarterdeck.client.errors import QuarterdeckError
from quarterdeck.testing.simulated import dollars

from .answers import UnattendedAnswerer
from .chat_commands import COMMANDS, next_mode, rewind
from .chat_session import ChatSession, LocalSession
from .chat_shortcuts import remember, run_shell
from .chat_view import ChatView, history_in
from .completer import ChatCompleter
from .interactive import InteractiveAnswerer
from .interrupts import Interrupts
from .markdown import MarkdownPainter
from .screen import Screen
from .session_setup import options_of, resolve_session, session_rules
from .widgets import Menu, MenuOption

PROMPTS_KEPT = 100
LEAVE_WINDOW_S = 1.5
"""Ctrl-C twice within this time exits, even if the turn has ended in between."""
ESCAPE_WINDOW_S = 1.0
"""Esc twice within this time."""


OpenSession: TypeAlias = Callable[[Screen], ChatSession]
"""Makes the session, not yet open, that is shown and answered on the screen."""


def chat(given: argparse.Namespace) -> int:
    """Run ``quarterdeck chat``; the exit code."""
    resolve_session(given, "chat")
    rules = session_rules(given)
    options = options_of(given, partial=True)
    options.enable_file_checkpointing = True  # for /rewind
    first = " ".join(given.prompt)

    def session(screen: Screen) -> ChatSession:
        attended = given.unattended is None
        answerer = InteractiveAnswerer(screen, rules) if attended else UnattendedAnswerer(rules, screen.say)
        return LocalSession(screen.session(options, rules, answerer), given)

    async def talk() -> int:
        return await Chat(session).run(first)

    return asyncio.run(talk())


class Chat:
    """One conversation. Input is sent at once, during a turn or between turns."""

    def __init__(self, session: OpenSession) -> None:
        look = Look.of(sys.stdout)
        completer = ChatCompleter(self._commands, lambda: self.folder)
        self._interrupts = Interrupts()
        self._view = ChatView(colour=look.colour, completer=completer, history=history_in(state_folder()))
        self.screen = Screen(self._view, look, MarkdownPainter(colour=look.colour).lines, failed=self._interrupts.fail)
        self.session = session(self.screen)
        self.prompts: list[tuple[str, str]] = []
        """Id and text of each prompt, for /rewind."""
        self._jobs: set[asyncio.Task[None]] = set()
        self._reader: asyncio.Task[None] | None = None
        self._early: list[str] | None = []
        """What was entered before the session was open; None since it is."""
        self._code = 0
        self._stopped_at = -LEAVE_WINDOW_S
        self._escaped_at = -ESCAPE_WINDOW_S
        self._hint, self._hint_until = "", 0.0
        self._shell: asyncio.Task[None] | None = None
        self._stop_shell = asyncio.Event()

    async def run(self, first: str) -> int:
        view = self._view
        view.on_key, view.on_said, view.on_stop = self.screen.questions.key, self._said, self._stop_pressed
        view.on_escape, view.on_shift_tab = self._escape_pressed, self._shift_tab_pressed
        view.question_open = lambda: self.screen.questions.widget is not None
        view.listening = lambda: self.screen.questions.listening
        view.on_resize, self.screen.questions.on_end = self.screen.changed, view.question_ended
        view.status = self._status
        hurry = False
        with self._interrupts, self.screen:
            try:
                await self._talk(first)
            except asyncio.CancelledError:
                hurry = True
                if self._interrupts.error is not None:
                    raise self._interrupts.error from None
                self._code = self._interrupts.code or INTERRUPTED
            except QuarterdeckError as error:
                raise self.session.reported(error) from error
            finally:
                await self._close(hurry=hurry)
        view.drain()
        return self._code

    async def _talk(self, first: str) -> None:
        self.screen.say("dim", self.session.greeting)
        showing = asyncio.ensure_future(self._view.app.run_async(handle_sigint=False, set_exception_handler=False))
        try:
            await self.session.open()
            self.prompts = self.session.said()[-PROMPTS_KEPT:]
            self.screen.say("dim", "/help for commands and keys, Ctrl-D to exit")
            self._read()
            early, self._early = self._early or [], None
            for text in [first, *early] if first else early:
                self._said(text)
            self._code = await showing
        finally:
            if self._view.app.is_running:
                self._view.app.exit(result=self._code)
            else:
                showing.cancel()
            await asyncio.wait([showing])

    async def _close(self, *, hurry: bool) -> None:
        for job in (*self._jobs, *([self._reader] if self._reader else [])):
            job.cancel()
        await self.session.close(hurry=hurry)

    # Reading

    def _read(self) -> None:
        async def read() -> None:
            self.screen.say("dim", await self.session.follow())
            self.leave(0)

        self._reader = self._job(read())

    async def fork(self) -> None:
        """Continue in a copy of the session."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait([self._reader])
        try:
            self.screen.say("green", await self.session.fork())
        finally:
            self._read()

    def _job(self, work: Any) -> asyncio.Task[None]:
        job: asyncio.Task[None] = asyncio.ensure_future(work)
        self._jobs.add(job)
        job.add_done_callback(self._done)
        return job

    def _done(self, job: asyncio.Task[None]) -> None:
        self._jobs.discard(job)
        error = None if job.cancelled() else job.exception()
        if isinstance(error, QuarterdeckError) and job is not self._reader:
            self.screen.say("red", str(error))
        elif isinstance(error, Exception):
            self._interrupts.fail(self.session.reported(error) if isinstance(error, QuarterdeckError) else error)

    # Sending

    def _said(self, text: str) -> None:
        if text.strip() in ("exit", "quit", "/quit"):
            self.leave(0)
            return
        if self._early is not None:
            self._early.append(text)
            self.screen.say("dim", f"› {text}  (sent when the session has started)")
            return
        name, _, rest = text.partition(" ")
        command = COMMANDS.get(name[1:]) if name.startswith("/") else None
        if command is not None:
            self._job(command[1](self, rest.strip()))
        elif text.startswith(("!", "#")) and text[1:].strip() and not self.session.runs_here:
            self.screen.say("yellow", f"{text[0]} does not work in a session on a host")
        elif text.startswith("!") and text[1:].strip():
            self._stop_shell = asyncio.Event()
            self._shell = self._job(run_shell(self, text[1:].strip(), self._stop_shell))
        elif text.startswith("#") and text[1:].strip():
            self._job(remember(self, text[1:].strip()))
        else:
            self._job(self._send(text))

    async def _send(self, text: str) -> None:
        prompt_id = await self.session.send(text)
        self.prompts = [*self.prompts, (prompt_id, text)][-PROMPTS_KEPT:]

    def forget_from(self, prompt_id: str) -> None:
        """Forget this prompt and all later ones."""
        keys = [key for key, _ in self.prompts]
        if prompt_id in keys:
            del self.prompts[keys.index(prompt_id) :]

    def prefill(self, text: str) -> None:
        self._view.buffer.text = text
        self._view.buffer.cursor_position = len(text)

    @property
    def folder(self) -> Path:
        """Where the session works."""
        return Path(self.screen.folder or self.session.folder)

    async def choose(self, title: str, options: list[MenuOption]) -> object | None:
        """The chosen value; None for Escape."""
        async with self.screen.questions.turn() as questions:
            return await questions.ask(Menu(title, options, on_escape=None))  # type: ignore[no-any-return]

    # Leaving

    def _escape_pressed(self) -> None:
        """Esc interrupts the turn. Between turns, pressed twice, it clears the input line or opens the rewind list."""
        if self._stop_work():
            return
        now = asyncio.get_running_loop().time()
        again, self._escaped_at = now - self._escaped_at < ESCAPE_WINDOW_S, now
        typed = self._view.buffer.text
        if not again:
            self._flash(f"Esc again to {'clear the line' if typed else 'rewind'}")
            return
        self._escaped_at = -ESCAPE_WINDOW_S
        if typed:
            self._view.buffer.reset()
        else:
            self._job(rewind(self, ""))

    def _shift_tab_pressed(self) -> None:
        if self._early is None:
            self._job(next_mode(self))

    def _stop_work(self) -> bool:
        """Stop a shell command or the turn; False if there is neither."""
        if self._shell is not None and not self._shell.done():
            self._stop_shell.set()
            return True
        if self._reader is None or not self.session.is_working:
            return False
        if not self.screen.painter.is_interrupting:
            self.screen.painter.interrupting()
            self._job(self._interrupt())
            self.screen.changed()
        return True

    def _flash(self, text: str) -> None:
        """Show a hint in the status line for as long as it is true."""
        loop = asyncio.get_running_loop()
        self._hint, self._hint_until = text, loop.time() + ESCAPE_WINDOW_S
        self.screen.changed()
        loop.call_later(ESCAPE_WINDOW_S, self.screen.changed)

    def _stop_pressed(self) -> None:
        """Ctrl-C interrupts the turn; pressed again soon, or before it has stopped, it exits."""
        if self._shell is not None and not self._shell.done():
            self._stop_shell.set()
            return
        now = asyncio.get_running_loop().time()
        again = now - self._stopped_at < LEAVE_WINDOW_S  # the turn may have ended in between
        if self._reader is None or self.screen.painter.is_interrupting or again:
            self._interrupts.leave(INTERRUPTED)
        elif not self._stop_work():
            self.screen.say("dim", "Ctrl-D or /quit to exit")
        else:
            self._stopped_at = now
        self.screen.changed()

    async def _interrupt(self) -> None:
        await self.session.interrupt()

    def leave(self, code: int) -> None:
        self._code = code
        if self._view.app.is_running:
            self._view.app.exit(result=code)

    # Status

    def _commands(self) -> tuple[dict[str, str], dict[str, str]]:
        """Our commands and Claude Code's."""
        theirs = {one.name: one.description for one in self.screen.timeline.state.session.commands}
        ours = {name: purpose for name, (purpose, _) in COMMANDS.items()}
        return ours, {name: purpose for name, purpose in theirs.items() if name not in ours}

    def _status(self) -> str:
        if self._hint and asyncio.get_running_loop().time() < self._hint_until:
            return self.screen.look.paint("bold", self._hint)
        state = self.screen.timeline.state
        full = state.context.fraction
        parts = [
            state.session.model or "",
            state.session.permission_mode or "",
            dollars(state.cost.total_usd, simulated=self.screen.painter.simulated) if state.cost.total_usd else "",
            f"context {full:.0%}" if full else "",
            f"{len(state.tasks)} tasks" if any(task.status == "running" for task in state.tasks.values()) else "",
        ]
        return self.screen.look.paint("dim", " · ".join(filter(None, parts)))
