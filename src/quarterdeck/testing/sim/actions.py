"""Steps of a scenario that are no words of the model: what the CLI itself does in a turn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from .steps import Compact, Emit, End, Exit, Move, Pause, RateLimit, Suggest, WaitFor

if TYPE_CHECKING:
    from .simulator import SimulatedCli
    from .turn import Turn

POLL_S = 0.01
"""How often a held turn looks for its file. Not scaled: it is a real wait for somebody else."""

_TERMINAL = {"error_max_turns": "max_turns", "error_max_budget_usd": "budget_exhausted"}


class TurnEnded(Exception):  # noqa: N818  # a way to end, not an error
    """The turn ends with an error result."""

    def __init__(self, subtype: str, errors: list[str], terminal_reason: str = "") -> None:
        super().__init__(subtype)
        self.subtype = subtype
        self.errors = errors
        self.terminal_reason = terminal_reason or _TERMINAL.get(subtype, "")


class ProcessEnds(Exception):  # noqa: N818  # what the scenario wants
    """A scenario lets the process die."""

    def __init__(self, step: Exit) -> None:
        super().__init__(f"exit {step.code}")
        self.step = step


async def perform(cli: SimulatedCli, move: Move, turn: Turn) -> None:
    match move:
        case Pause(seconds):
            await cli.sleep(seconds)
        case WaitFor():
            await _wait_for(cli, move)
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
            raise TurnEnded(subtype, list(errors))
        case Exit():
            raise ProcessEnds(move)


async def _wait_for(cli: SimulatedCli, step: WaitFor) -> None:
    path = cli.session.resolve(step.path)
    path.with_name(path.name + ".reached").touch()
    async with asyncio.timeout(step.limit_s):
        while not path.exists():  # noqa: ASYNC110  # another process makes the file: there is no event to wait for
            await asyncio.sleep(POLL_S)
