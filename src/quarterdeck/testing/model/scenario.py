"""A scenario file as the script of a ``ModelServer``: the same file plays in the simulator and on the real CLI."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.testing.sim.positions import ScenarioFileError
from quarterdeck.testing.sim.scenario_file import load
from quarterdeck.testing.sim.steps import Agent, Error, Move, Reply, Tool, moves_of

from .server import ModelServer


def queue_scenario(server: ModelServer, path: Path | str) -> None:
    """Queue the model's part of a scenario file: ``turns``, then ``replies``. Raises ``ScenarioFileError``.

    Text, thinking, tool calls, stop reasons, usage and API errors are the model's. What only a simulated CLI can do
    (``exit``, ``pause``, a tool's ``result`` …) is refused, and so are ``rules``.
    """
    scenario = load(path)
    if scenario.rules:
        raise _refused(path, "`rules`")
    options = {"delta_size": scenario.delta_size, "delay_s": scenario.delay_s}
    for steps in [*scenario.turns, scenario.replies]:
        for move in moves_of(list(steps), **options):
            _queue(server, move, path)


def _queue(server: ModelServer, move: Move, path: Path | str) -> None:
    if isinstance(move, Reply):
        for block in move.blocks:
            if isinstance(block, Agent):
                raise _refused(path, "`agent`")
            if isinstance(block, Tool) and (block.result is not None or block.elicit or block.is_error):
                raise _refused(path, f"the result of {block.name}, which the real CLI runs itself,")
    elif not isinstance(move, Error):
        raise _refused(path, f"`{type(move).__name__.lower()}`")
    server.reply_with(lambda _: move)


def _refused(path: Path | str, what: str) -> ScenarioFileError:
    return ScenarioFileError(path, None, f"{what} can be played only by the simulator, not by a model")
