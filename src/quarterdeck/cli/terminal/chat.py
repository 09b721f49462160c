"""``quarterdeck chat``: a conversation that can be steered while Claude works."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

from quarterdeck.cli.common import INTERRUPTED, Look
from quarterdeck.client.errors import QuarterdeckError
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.session import Session
from quarterdeck.protocol import TurnState

from .advice import SessionRules
from .answers import UnattendedAnswerer
from .chat_commands import COMMANDS
from .chat_view import ChatView, history_in, state_folder
from .completer import ChatCompleter
from .costs import dollars
from .interactive import InteractiveAnswerer
from .interrupts import Interrupts
from .markdown import MarkdownPainter
from .run import LEAVE_GRACE_S, reported_error
from .screen import Screen
from .session_setup import options_of, resolve_session, session_rules
from .widgets import Menu, MenuOption

PROMPTS_KEPT = 100
LEAVE_WINDOW_S = 1.5
"""Ctrl-C twice within this time exits, even if the turn has ended in between."""


def chat(given: argparse.Namespace) -> int:
    """Run ``quarterdeck chat``; the exit code."""
    resolve_session(given, "chat")
    rules = session_rules(given)
    options = options_of(given, partial=True)
    options.enable_file_checkpointing = True  # for /rewind
    first = " ".join(given.prompt)

    async def talk() -> int:
        return await Chat(options, rules, attended=given.unattended is None).run(first)

    return asyncio.run(talk())


class Chat:
    """One conversation. Input is sent at once, during a turn or between turns."""

    def __init__(self, options: ClaudeAgentOptions, rules: SessionRules, *, attended: bool) -> None:
        look = Look.of(sys.stdout)
        folder = Path(options.cwd or ".")
        completer = ChatCompleter(self._commands, lambda: folder)
        self._interrupts = Interrupts()
        self._view = ChatView(colour=look.colour, completer=completer, history=history_in(state_folder()))
        self.screen = Screen(self._view, look, MarkdownPainter(colour=look.colour).lines, failed=self._interrupts.fail)
        answerer = InteractiveAnswerer(self.screen, rules) if attended else UnattendedAnswerer(rules, self.screen.say)
        self.session: Session = self.screen.session(options, rules, answerer)
        self.prompts: list[tuple[str, str]] = []
        """Id and text of each prompt, for /rewind."""
        self._jobs: set[asyncio.Task[None]] = set()
        self._reader: asyncio.Task[None] | None = None
        self._code = 0
        self._stopped_at = -LEAVE_WINDOW_S

    async def run(self, first: str) -> int:
        view = self._view
        view.on_key, view.on_said, view.on_stop = self.screen.questions.key, self._said, self._stop_pressed
        view.asking, view.status = lambda: self.screen.questions.widget is not None, self._status
        with self._interrupts, self.screen:
            try:
                await self._talk(first)
            except asyncio.CancelledError:
                self.session.options.close_grace_s = LEAVE_GRACE_S
                if self._interrupts.error is not None:
                    raise self._interrupts.error from None
                self._code = self._interrupts.code or INTERRUPTED
            except QuarterdeckError as error:
                raise reported_error(error) from error
            finally:
                await self._close()
        view.drain()
        return self._code

    async def _talk(self, first: str) -> None:
        self.screen.say("dim", "starting Claude Code …")
        showing = asyncio.ensure_future(self._view.app.run_async(handle_sigint=False, set_exception_handler=False))
        try:
            await self.session.open()
            self.screen.say("dim", "/help for commands, Ctrl-D to exit")
            self._read()
            if first:
                self._said(first)
            self._code = await showing
        finally:
            if self._view.app.is_running:
                self._view.app.exit(result=self._code)
            else:
                showing.cancel()
            await asyncio.wait([showing])

    async def _close(self) -> None:
        for job in (*self._jobs, *([self._reader] if self._reader else [])):
            job.cancel()
        await self.session.close()

    # Reading

    def _read(self) -> None:
        """Consume messages so that more can arrive; the screen reads the journal."""

        async def read() -> None:
            async for _ in self.session.batches():
                pass
            self.screen.say("dim", "Claude Code exited")
            self.leave(0)

        self._reader = self._job(read())

    async def reopen(self, options: ClaudeAgentOptions) -> None:
        """Restart the CLI with other options."""
        if self._reader is not None:
            self._reader.cancel()
        await self.session.reopen(options)
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
            self._interrupts.fail(reported_error(error) if isinstance(error, QuarterdeckError) else error)

    # Sending

    def _said(self, text: str) -> None:
        name, _, rest = text.partition(" ")
        command = COMMANDS.get(name[1:]) if name.startswith("/") else None
        self._job(command[1](self, rest.strip()) if command is not None else self._send(text))

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

    async def choose(self, title: str, options: list[MenuOption]) -> object | None:
        """The chosen value; None for Escape."""
        async with self.screen.questions.turn() as questions:
            return await questions.ask(Menu(title, options, on_escape=None))  # type: ignore[no-any-return]

    # Leaving

    def _stop_pressed(self) -> None:
        """Ctrl-C interrupts the turn; pressed again soon, or before it has stopped, it exits."""
        now = asyncio.get_running_loop().time()
        again = now - self._stopped_at < LEAVE_WINDOW_S  # the turn may have ended in between
        if self._reader is None or self.screen.painter.is_interrupting or again:
            self._interrupts.leave(INTERRUPTED)
        elif self.session.turn_state is TurnState.IDLE:
            self.screen.say("dim", "Ctrl-D or /quit to exit")
        else:
            self._stopped_at = now
            self.screen.painter.interrupting()
            self._job(self._interrupt())
        self.screen.changed()

    async def _interrupt(self) -> None:
        await self.session.interrupt()

    def leave(self, code: int) -> None:
        self._code = code
        if self._view.app.is_running:
            self._view.app.exit(result=code)

    # Status

    def _commands(self) -> dict[str, str]:
        theirs = {one.name: one.description for one in self.screen.timeline.state.session.commands}
        return theirs | {name: purpose for name, (purpose, _) in COMMANDS.items()}

    def _status(self) -> str:
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
