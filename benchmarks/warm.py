"""A warm pool against a cold start, on the real CLI with a scripted model.

``python -m benchmarks.warm`` prints the table (``--json`` for a program). Measured is what a program waits, from
wanting a session: to the first message that its prompt brings, to the turn's ``init``, to the model's first words. Cold
and warm take turns. The model answers at once, so the last row shows what the CLI itself takes, which no pool can save.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from quarterdeck import AssistantMessage, ClaudeAgentOptions, InitMessage, Session, WarmPool, connect
from quarterdeck.testing.install import NEWEST, install_cli
from quarterdeck.testing.model import ModelServer

from ._arguments import Size, parse
from ._table import Row, Section, say, show

ROUNDS = Size(full=20, quick=5)
POOL = 2
SETTLE_S = 1.0
"""Between two measurements, so that the pool's own starts are over and measured is not their noise."""
LIMIT_S = 60.0
MARKS = ("first message", "init", "first words")
Times = dict[str, list[float]]
Source = Callable[[], AbstractAsyncContextManager[Session]]


async def measure(wanted: Source, model: ModelServer, into: Times) -> None:
    """One session, one prompt: milliseconds to each mark."""
    model.reply("Aye.")
    seen: dict[str, float] = {}
    started = time.perf_counter()
    async with asyncio.timeout(LIMIT_S), wanted() as session:
        async for message in session.prompt("Are you there?"):
            passed_ms = (time.perf_counter() - started) * 1000
            seen.setdefault("first message", passed_ms)
            if isinstance(message, InitMessage):
                seen.setdefault("init", passed_ms)
            elif isinstance(message, AssistantMessage):
                seen.setdefault("first words", passed_ms)
    for mark in MARKS:
        into[mark].append(seen[mark])


async def compare(options: ClaudeAgentOptions, model: ModelServer, rounds: int) -> tuple[Times, Times]:
    cold: Times = {mark: [] for mark in MARKS}
    warm: Times = {mark: [] for mark in MARKS}
    async with WarmPool(POOL, options) as pool:
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}")
            for wanted, into in ((lambda: connect(options), cold), (pool.session, warm)):
                await pool.ready()
                await asyncio.sleep(SETTLE_S)
                await measure(wanted, model, into)
        if pool.counts.cold:
            raise SystemExit(f"the pool was empty {pool.counts.cold} times: these are no warm starts")
    return cold, warm


def run(*, quick: bool) -> list[Section]:
    cli = install_cli(NEWEST)
    with ModelServer() as model, tempfile.TemporaryDirectory() as folder:
        home, cwd = Path(folder, "home"), Path(folder, "repo")
        home.mkdir()
        cwd.mkdir()
        env = {"HOME": str(home), "PATH": os.environ["PATH"], **model.env()}
        options = ClaudeAgentOptions(cli_path=list(cli.argv), cwd=cwd, env=env, env_allow=[])
        cold, warm = asyncio.run(compare(options, model, ROUNDS.of(quick)))
    rows = [
        Row(
            f"request for a session to {mark} of the turn",
            "ms",
            warm[mark],
            cold[mark],
            target=10.0 if mark == MARKS[0] else None,
            against="cold start",
        )
        for mark in MARKS
    ]
    return [Section(f"A warm pool, Claude Code {NEWEST}", rows)]


def main() -> int:
    arguments = parse(__doc__)
    show(run(quick=arguments.quick), as_json=arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
