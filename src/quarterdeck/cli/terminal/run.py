"""``quarterdeck run``: one prompt, from start to exit code."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from quarterdeck.cli.common import FAILED, INTERRUPTED, OK, Look, ReportedError, sanitize
from quarterdeck.client.errors import CLIConnectionError, ProcessExited, QuarterdeckError, ResultError
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.session import Session
from quarterdeck.protocol import TurnState
from quarterdeck.testing.simulated import is_simulated
from quarterdeck.timeline import Timeline
from quarterdeck.wire import ResultMessage

from .advice import SessionRules
from .answers import Answerer, SessionAnswers, UnattendedAnswerer
from .arguments import EXITED_EARLY, NOT_STARTED
from .interrupts import Interrupts
from .session_setup import options_of, prompt_of, resolve_session, resume_command, session_rules

if TYPE_CHECKING:
    from .screen import Screen

LEAVE_GRACE_S = 0.2
"""How long the CLI may take to exit after a second Ctrl-C."""
INSTALL = "pip install 'quarterdeck[terminal]'"


def run(given: argparse.Namespace) -> int:
    """Run ``quarterdeck run``; the exit code."""
    resolve_session(given)
    prompt = prompt_of(given)
    rules = session_rules(given)
    pretty = given.output == "pretty"
    options = options_of(given, partial=given.partial if not pretty else sys.stdout.isatty())
    if pretty:
        return asyncio.run(run_pretty(options, [prompt], rules, given, attended=given.unattended is None))
    return asyncio.run(_run_for_programs(options, prompt, rules, given))


async def _run_for_programs(
    options: ClaudeAgentOptions, prompt: Any, rules: SessionRules, given: argparse.Namespace
) -> int:
    from .outputs import output_for

    output = output_for(given.output, simulated=is_simulated({**os.environ, **options.env}))
    with Interrupts() as interrupts:
        nobody = UnattendedAnswerer(rules, say_on_stderr)
        session = SessionAnswers(rules, nobody, timeline=Timeline(), failed=interrupts.fail).session(options)
        output.follow(session)
        interrupts.interrupt = lambda: _interrupt(session)
        result: ResultMessage | None = None
        try:
            try:
                async with _opened(session):
                    turn = session.prompt(prompt)
                    async for message in turn:
                        output.take([message])
                    result = turn.result
            finally:
                output.finish(result)
        except asyncio.CancelledError:
            return _exit_code_after_leaving(interrupts)
        except QuarterdeckError as error:
            raise reported_error(error, session, given) from error
        if result is not None and result.failed:
            say_on_stderr("red", f"quarterdeck run: {ResultError.of(result)}")
        return exit_code(result, interrupted=interrupts.interrupted)


async def run_pretty(
    options: ClaudeAgentOptions,
    prompts: list[Any],
    rules: SessionRules,
    given: argparse.Namespace,
    *,
    attended: bool,
    answerer: Callable[[Screen, SessionRules], Answerer] | None = None,
) -> int:
    """Draw one turn after another. ``answerer`` replaces the user."""
    from .screen import can_draw, plain_screen, terminal_screen

    live = can_draw()
    if live:
        check_installed()
    interrupts = Interrupts()
    fail = interrupts.fail
    result: ResultMessage | None = None
    session: Session | None = None
    with interrupts:
        try:
            drawing = terminal_screen(failed=fail, escaped=interrupts.escaped) if live else plain_screen(failed=fail)
            with drawing as screen:
                person = answerer or (_person if live and attended else _nobody)
                session = screen.session(options, rules, person(screen, rules))
                interrupts.interrupt = lambda: _interrupt_shown(session, screen)
                screen.starting("starting the simulator" if given.agent == "sim" else "starting Claude Code")
                async with _opened(session):
                    for prompt in prompts:
                        result = await session.prompt(prompt)
                        if interrupts.interrupted:
                            break
        except asyncio.CancelledError:
            return _exit_code_after_leaving(interrupts)
        except QuarterdeckError as error:
            raise reported_error(error, session, given) from error
    return exit_code(result, interrupted=interrupts.interrupted)


def _person(screen: Screen, rules: SessionRules) -> Answerer:
    from .interactive import InteractiveAnswerer

    return InteractiveAnswerer(screen, rules)


def _nobody(screen: Screen, rules: SessionRules) -> Answerer:
    return UnattendedAnswerer(rules, screen.say)


def _interrupt_shown(session: Session, screen: Screen) -> Awaitable[object] | None:
    work = _interrupt(session)
    if work is not None:
        screen.painter.interrupting()
    screen.changed()
    return work


class _opened:  # noqa: N801  # reads as what it is: ``async with _opened(session)``
    """Opens and closes the session, with a short grace period after a signal."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def __aenter__(self) -> Session:
        return await self._session.open()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not None:
            self._session.options.close_grace_s = LEAVE_GRACE_S
        await self._session.close()


def _interrupt(session: Session) -> Awaitable[object] | None:
    """Interrupt the turn, if there is one."""
    try:
        running = session.turn_state is not TurnState.IDLE
    except CLIConnectionError:  # not open yet
        return None
    return session.interrupt() if running else None


def _exit_code_after_leaving(interrupts: Interrupts) -> int:
    if interrupts.error is not None:
        raise interrupts.error
    return interrupts.code or INTERRUPTED


def exit_code(result: ResultMessage | None, *, interrupted: bool) -> int:
    if interrupted:
        return INTERRUPTED
    return OK if result is not None and not result.failed else FAILED


def reported_error(
    error: QuarterdeckError, session: Session | None, given: argparse.Namespace, *, command: str = "run"
) -> ReportedError:
    """With the command that resumes the session, if there is one by now."""
    told = sanitize(str(error))
    if not isinstance(error, ResultError | ProcessExited):
        return ReportedError(told, "Run quarterdeck doctor to find the cause.", code=NOT_STARTED)
    code = FAILED if isinstance(error, ResultError) else EXITED_EARLY
    session_id = _id_of(session)
    if session_id is None:
        return ReportedError(told, "Run quarterdeck sessions to find the session.", code=code)
    return ReportedError(told, f"Resume the session with: {resume_command(given, session_id, command)}", code=code)


def _id_of(session: Session | None) -> str | None:
    try:
        return None if session is None else session.session_id
    except CLIConnectionError:  # it was never opened
        return None


def say_on_stderr(style: str, text: str) -> None:
    print(Look.of(sys.stderr).paint(style, sanitize(text)), file=sys.stderr, flush=True)


def check_installed(*, instead: str = ", or use --output text") -> None:
    """Drawing needs the extra ``terminal``. ``instead``: what works without it."""
    from importlib.util import find_spec

    missing = [name for name in ("rich", "prompt_toolkit") if find_spec(name) is None]
    if missing:
        what = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        raise ReportedError(what, f"Run {INSTALL}{instead}.", code=NOT_STARTED)


def check_terminal(*, instead: str = 'quarterdeck run "…"', plain: str = 'quarterdeck run --output text "…"') -> None:
    """A conversation needs a terminal that can be redrawn, for keys and for output.

    ``instead`` is what works in a pipe, ``plain`` what works on a terminal that cannot be redrawn.
    """
    from .screen import can_draw

    if not sys.stdin.isatty() or not sys.stdout.isatty():
        which = "input" if sys.stdout.isatty() else "output"
        what, advice = f"standard {which} is not a terminal", f"In a script or a pipe, use: {instead}"
    elif not can_draw():
        what, advice = "this terminal cannot be redrawn (TERM=dumb)", f"Use: {plain}"
    else:
        return
    raise ReportedError(what, advice, code=NOT_STARTED)
