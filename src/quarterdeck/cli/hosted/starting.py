"""``quarterdeck run --host`` and ``quarterdeck chat --host``: a session on a host, new or continued."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.cli.common import FAILED, INTERRUPTED, OK, USAGE_ERROR, Look, ReportedError
from quarterdeck.cli.terminal.advice import SessionRules
from quarterdeck.cli.terminal.answers import UnattendedAnswerer
from quarterdeck.cli.terminal.arguments import EXITED_EARLY
from quarterdeck.cli.terminal.interrupts import Interrupts
from quarterdeck.cli.terminal.run import check_installed, say_on_stderr
from quarterdeck.cli.terminal.session_setup import prompt_of, session_rules, system_prompt_of
from quarterdeck.host import HostError
from quarterdeck.host.events import AnyEvent, StatusChange
from quarterdeck.host.requests import CreateSession, HostTools, OfSession, SendPrompt
from quarterdeck.host.resources import Session
from quarterdeck.timeline import Timeline
from quarterdeck.timeline.events import TurnEnded
from quarterdeck.wire import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    KeepAliveMessage,
    Message,
    ResultMessage,
    decode,
)

from .answering import HostedAnswers
from .attaching import talk
from .chat_session import HostedSession
from .connecting import HostAddress, address_of, opened, reported
from .following import FollowedSession
from .resuming import check, check_free, continued, continues

if TYPE_CHECKING:
    from quarterdeck.cli.terminal.outputs import ProgramOutput
    from quarterdeck.remote import RemoteHost

NOT_SAID = (ControlRequest, ControlResponse, ControlCancelRequest, KeepAliveMessage)
"""Messages between host and CLI, which no conversation has."""


def request_of(given: argparse.Namespace, rules: SessionRules) -> CreateSession:
    """The session that these arguments mean. Raises ``ReportedError`` for what a host cannot do."""
    check(given, rules)
    if given.record:
        raise ReportedError("--record does not work with --host", "Use quarterdeck log --raw.", code=USAGE_ERROR)
    options: dict[str, Any] = {
        "max_turns": given.max_turns,
        "max_budget_usd": given.max_budget,
        "system_prompt": system_prompt_of(given),
        "mcp_servers": _mcp_servers(given.mcp_config),
    }
    return CreateSession(
        cwd=str(Path(given.cwd or ".").absolute()),
        agent=given.agent,
        model=given.model,
        permission_mode=given.mode,
        options={name: value for name, value in options.items() if value is not None},
        policy=rules.narrowing() or None,
        preset=given.preset,
        host_tools=None if given.host_tools is None else HostTools(sessions=given.host_tools),
    )


def _mcp_servers(file: str | None) -> dict[str, Any] | None:
    if file is None:
        return None
    try:
        read = json.loads(Path(file).read_text())
        servers = read.get("mcpServers", read)
    except (OSError, ValueError, AttributeError) as error:
        raise ReportedError(f"cannot read {file}: {error}", "Check --mcp-config.", code=USAGE_ERROR) from error
    return dict(servers)


def chat(given: argparse.Namespace) -> int:
    """``quarterdeck chat --host``."""
    rules = session_rules(given)
    request = request_of(given, rules)
    request.options["enable_file_checkpointing"] = True  # for /rewind

    async def make(host: RemoteHost) -> Session:
        found = await continued(host, given, request.cwd) if continues(given) else None
        return found or await host.create_session(request)

    return talk(given, make, rules, first=" ".join(given.prompt), attended=given.unattended is None)


def run(given: argparse.Namespace) -> int:
    """``quarterdeck run --host``."""
    if given.partial:
        raise ReportedError("--partial does not work with --host", "Omit it.", code=USAGE_ERROR)
    prompt = prompt_of(given)
    rules = session_rules(given)
    request = request_of(given, rules)
    return asyncio.run(_run(given, address_of(given), request, prompt, rules))


async def _run(
    given: argparse.Namespace, address: HostAddress, request: CreateSession, prompt: Any, rules: SessionRules
) -> int:
    with Interrupts() as interrupts:
        try:
            async with opened(address) as host:
                found = await continued(host, given, request.cwd) if continues(given) else None
                if found is not None:
                    check_free(found)
                session = found or await host.create_session(request)
                one = _Run(host, session, prompt, interrupts)
                work = one.pretty(given, rules, address) if given.output == "pretty" else one.plain(given, rules)
                code = await work
                if given.output == "pretty":
                    print(Look.of(sys.stdout).paint("dim", f"Continue with: quarterdeck attach {session.id[:8]}"))
                return code
        except asyncio.CancelledError:
            if interrupts.error is not None:
                raise interrupts.error from None
            return interrupts.code or INTERRUPTED
        except HostError as error:
            raise reported(error) from error


class _Run:
    """One prompt in a new session, until its turn has ended."""

    def __init__(self, host: RemoteHost, session: Session, prompt: Any, interrupts: Interrupts) -> None:
        self._host = host
        self._session = session
        self._prompt = prompt
        self._interrupts = interrupts

    async def pretty(self, given: argparse.Namespace, rules: SessionRules, address: HostAddress) -> int:
        """As ``quarterdeck run`` draws it."""
        from quarterdeck.cli.terminal.screen import can_draw, plain_screen, terminal_screen

        live, fail = can_draw(), self._interrupts.fail
        if live:
            check_installed()
        attended = live and given.unattended is None
        drawing = terminal_screen(failed=fail, escaped=self._interrupts.escaped) if live else plain_screen(failed=fail)
        with drawing as screen:
            hosted = HostedSession(self._host, self._session, screen, rules, is_here=address.is_here, attended=attended)
            self._interrupts.interrupt = lambda: self._interrupt() if hosted.is_working else None
            screen.starting("starting Claude Code")
            await hosted.open(history=False)
            async with aclosing(hosted.events()) as followed:
                return await self._until_end(followed)

    async def plain(self, given: argparse.Namespace, rules: SessionRules) -> int:
        """For programs."""
        from quarterdeck.cli.terminal.outputs import RawOutput, output_for

        output = output_for(given.output, simulated=given.agent == "sim")
        nobody = UnattendedAnswerer(rules, say_on_stderr)
        answers = HostedAnswers(rules, nobody, host=self._host, say=say_on_stderr, failed=self._interrupts.fail)
        result: ResultMessage | None = None

        def line(data: bytes) -> None:
            nonlocal result
            if result is not None:  # what follows is no part of the turn
                return
            message = decode(data)
            if isinstance(message, ResultMessage):
                result = message
            _put(output, message, raw=isinstance(output, RawOutput))

        followed = FollowedSession(self._host, self._session.id, Timeline(), received=line)
        self._interrupts.interrupt = lambda: self._interrupt() if followed.state.turn_started_at is not None else None
        await followed.load()

        async def answered() -> Any:
            async with aclosing(followed.follow()) as batches:
                async for happened in batches:
                    answers.follow(happened, followed.state)
                    yield happened

        try:
            async with aclosing(answered()) as batches:
                return await self._until_end(batches)
        finally:
            answers.stop_all()
            output.finish(result)

    def _interrupt(self) -> Any:
        return self._host.interrupt(OfSession(session_id=self._session.id))

    async def _until_end(self, batches: Any) -> int:
        await self._host.send_prompt(SendPrompt(session_id=self._session.id, content=self._prompt))
        async for happened in batches:
            for event in happened:
                if (code := self._code(event)) is not None:
                    return code
        return EXITED_EARLY

    def _code(self, event: AnyEvent) -> int | None:
        if isinstance(event, TurnEnded):
            if self._interrupts.interrupted:
                return INTERRUPTED
            return OK if event.turn.outcome == "done" else FAILED
        if isinstance(event, StatusChange) and event.state in ("crashed", "stopped"):
            say_on_stderr("red", f"quarterdeck run: the session is {event.state}. {event.reason}".strip())
            return EXITED_EARLY
        return None


def _put(output: ProgramOutput, message: Message, *, raw: bool) -> None:
    from quarterdeck.cli.terminal.outputs import write_line

    if raw:
        write_line(message.raw)
    elif not isinstance(message, NOT_SAID):
        output.take([message])
