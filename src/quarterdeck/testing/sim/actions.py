"""Performs the steps of a scenario in which the CLI does something itself, rather than the model saying something."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from .results import ProcessEnds, TurnFailed
from .steps import Compact, Emit, End, Exit, Move, Pause, RateLimit, Suggest, WaitFor

if TYPE_CHECKING:
    from .simulator import SimulatedCli
    from .turn import PlayedTurn

POLL_S = 0.01
"""How often a held turn checks for its file. Not scaled: it really waits for someone else."""


async def perform(cli: SimulatedCli, move: Move, turn: PlayedTurn) -> None:
    match move:
        case Pause() | WaitFor():
            await wait(cli, move)
        case Emit(message):
            cli.say_message(dict(message))
        case RateLimit(info):
            cli.say("rate_limit_event", rate_limit_info=dict(info))
        case Suggest(text):
            turn.suggestion = text
        case Compact(summary):
            from .commands import compact

            await compact(cli, trigger="auto", summary=summary, instructions=None)
        case End(subtype, errors):
            raise TurnFailed(subtype, list(errors))
        case Exit():
            raise ProcessEnds(move)


async def wait(cli: SimulatedCli, step: Pause | WaitFor) -> None:
    """A turn can wait, and so can a sub-agent."""
    if isinstance(step, Pause):
        await cli.sleep(step.seconds)
        return
    path = cli.session.resolve(step.path)
    path.with_name(path.name + ".reached").touch()
    async with asyncio.timeout(step.limit_s):
        while not path.exists():  # noqa: ASYNC110  # another process makes the file: there is no event to wait for
            await asyncio.sleep(POLL_S)
