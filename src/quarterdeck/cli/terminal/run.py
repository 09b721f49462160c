"""``quarterdeck run``: one prompt from its start to its exit code."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from quarterdeck.cli.common import FAILED, INTERRUPTED, OK, Look, Trouble, plain
from quarterdeck.client.errors import CLIConnectionError, ProcessExited, QuarterdeckError, ResultError
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.session import Session, connect
from quarterdeck.protocol import TurnState
from quarterdeck.wire import ResultMessage

from .advice import Rulebook
from .answers import Answerer, Callbacks, Unattended
from .arguments import BROKEN_OFF, NOT_STARTED
from .interrupts import Interrupts
from .job import options_of, prompt_of, rulebook_of

if TYPE_CHECKING:
    from .screen import Screen

LEAVE_GRACE_S = 0.2
"""Who presses Ctrl-C twice does not want to wait."""
INSTALL = "pip install 'quarterdeck[terminal]'"


def run(given: argparse.Namespace) -> int:
    """Everything ``quarterdeck run`` does."""
    prompt = prompt_of(given)
    rulebook = rulebook_of(given)
    pretty = given.output == "pretty" and not given.json
    options = options_of(given, partial=given.partial if not pretty else sys.stdout.isatty())
    if pretty:
        return asyncio.run(play_pretty(options, [prompt], rulebook, attended=given.unattended is None))
    return asyncio.run(_play_for_programs(options, prompt, rulebook, given))


async def _play_for_programs(
    options: ClaudeAgentOptions, prompt: Any, rulebook: Rulebook, given: argparse.Namespace
) -> int:
    from .outputs import output_for

    output = output_for(given.output, raw=given.json)
    callbacks = Callbacks(rulebook, Unattended(rulebook, say_on_stderr), lambda _: None)
    callbacks.install(options)
    session = connect(options)
    output.follow(session)
    with Interrupts() as interrupts:
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
            return _left(interrupts)
        except QuarterdeckError as error:
            raise trouble(error) from error
        if result is not None and result.failed:
            say_on_stderr("red", f"quarterdeck run: {ResultError.of(result)}")
        return exit_code(result, interrupted=interrupts.interrupted)


async def play_pretty(
    options: ClaudeAgentOptions,
    prompts: list[Any],
    rulebook: Rulebook,
    *,
    attended: bool,
    answerer: Callable[[Screen, Rulebook], Answerer] | None = None,
) -> int:
    """For people: one turn after the other, drawn. ``answerer`` stands in for the person."""
    from .front import can_draw, lines_only, terminal

    live = can_draw()
    if live:
        check_installed()
    interrupts = Interrupts()
    result: ResultMessage | None = None
    with interrupts:
        try:
            with (terminal if live else lines_only)(failed=interrupts.fail) as screen:
                person = answerer or (_person if live and attended else _nobody)
                session = session_on(screen, options, rulebook, person(screen, rulebook))
                interrupts.interrupt = lambda: _interrupt_shown(session, screen)
                async with _opened(session):
                    for prompt in prompts:
                        result = await session.prompt(prompt)
                        if interrupts.interrupted:
                            break
        except asyncio.CancelledError:
            return _left(interrupts)
        except QuarterdeckError as error:
            raise trouble(error) from error
    return exit_code(result, interrupted=interrupts.interrupted)


def _person(screen: Screen, rulebook: Rulebook) -> Answerer:
    from .asking import Asking

    return Asking(screen, rulebook)


def _nobody(screen: Screen, rulebook: Rulebook) -> Answerer:
    return Unattended(rulebook, screen.say)


def session_on(screen: Screen, options: ClaudeAgentOptions, rulebook: Rulebook, answerer: Answerer) -> Session:
    """A session, not opened, that is followed and answered on this screen."""
    Callbacks(rulebook, answerer, screen.asked).install(options)
    options.stderr = lambda line: screen.say("dim", line)
    session = connect(options)
    screen.follow(session)
    return session


def _interrupt_shown(session: Session, screen: Screen) -> Awaitable[object] | None:
    work = _interrupt(session)
    if work is not None:
        screen.painter.interrupting()
    screen.changed()
    return work


class _opened:  # noqa: N801  # reads as what it is: ``async with _opened(session)``
    """The session, opened and closed; who leaves by a signal does not wait long for the CLI."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def __aenter__(self) -> Session:
        return await self._session.open()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not None:
            self._session.options.close_grace_s = LEAVE_GRACE_S
        await self._session.close()


def _interrupt(session: Session) -> Awaitable[object] | None:
    """Stop the turn, if one runs."""
    try:
        running = session.turn_state is not TurnState.IDLE
    except CLIConnectionError:  # not open yet
        return None
    return session.interrupt() if running else None


def _left(interrupts: Interrupts) -> int:
    if interrupts.error is not None:
        raise interrupts.error
    return interrupts.code or INTERRUPTED


def exit_code(result: ResultMessage | None, *, interrupted: bool) -> int:
    if interrupted:
        return INTERRUPTED
    return OK if result is not None and not result.failed else FAILED


def trouble(error: QuarterdeckError) -> Trouble:
    if isinstance(error, ResultError):
        return Trouble(plain(str(error)), "the session may be resumed: quarterdeck run --continue", code=FAILED)
    if isinstance(error, ProcessExited):
        return Trouble(plain(str(error)), "go on with quarterdeck run --continue", code=BROKEN_OFF)
    return Trouble(plain(str(error)), "quarterdeck doctor looks for the cause", code=NOT_STARTED)


def say_on_stderr(style: str, text: str) -> None:
    print(Look.of(sys.stderr).paint(style, plain(text)), file=sys.stderr, flush=True)


def check_installed() -> None:
    """Drawing needs the extra; everything else does not."""
    from importlib.util import find_spec

    if find_spec("rich") is None or find_spec("prompt_toolkit") is None:
        raise Trouble(
            "drawing on a terminal needs two more packages", f"{INSTALL}, or use --output text", code=NOT_STARTED
        )
