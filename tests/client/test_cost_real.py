"""What turns cost on the real CLIs, across resume, fork, ``/clear`` and a kill."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from client.real_cli import Place, place
from quarterdeck.client.cost import CostLedger
from quarterdeck.client.session import Session, connect
from quarterdeck.testing.install import NEWEST, SUPPORTED
from quarterdeck.testing.model import Usage

pytestmark = pytest.mark.real

LIMIT_S = 60.0
"""For one session of a few short turns on a busy machine."""


@asynccontextmanager
async def session_at(stage: Place, **options: Any) -> AsyncIterator[Session]:
    async with asyncio.timeout(LIMIT_S), connect(stage.options(**options)) as session:
        yield session


def usd(amount: float) -> float:
    """Without the last digits, in which sums of floats differ."""
    return round(amount, 9)


async def turn(stage: Place, session: Session, input_tokens: int) -> tuple[float, int, float]:
    """One turn of that size: its cost, its tokens over all models, and the CLI's own running total."""
    stage.model.reply("ok", usage=Usage(input_tokens, 0))
    result = await session.prompt(f"{input_tokens} tokens")
    assert not result.is_error
    last = session.costs.last
    assert result.total_cost_usd is not None
    tokens = sum(usage.input_tokens for usage in last.by_model.values())
    return usd(last.cost_usd), tokens, usd(result.total_cost_usd)


async def dollars_per_token(stage: Place, session: Session) -> float:
    cost, tokens, _ = await turn(stage, session, 1000)
    assert cost > 0
    return cost / tokens


async def test_a_resumed_and_a_forked_session_are_charged_only_for_their_own_turns(tmp_path: Path) -> None:
    with place(tmp_path) as stage:
        async with session_at(stage) as session:
            price = await dollars_per_token(stage, session)
            await turn(stage, session, 2000)
            assert usd(session.costs.total_usd) == usd(3000 * price)
            session_id = session.session_id
        async with session_at(stage, resume=session_id) as session:
            cost, tokens, running = await turn(stage, session, 4000)
            assert (cost, tokens) == (usd(4000 * price), 4000)
            assert running == usd(7000 * price), "2.1.325 goes on from the earlier total"
            cost, tokens, _ = await turn(stage, session, 500)
            assert (cost, tokens) == (usd(500 * price), 500)
            assert usd(session.costs.total_usd) == usd(4500 * price)
        async with session_at(stage, resume=session_id, fork_session=True) as session:
            cost, tokens, running = await turn(stage, session, 600)
            assert (cost, tokens) == (usd(600 * price), 600)
            assert running == usd(8100 * price), "a fork too"


async def test_a_clear_makes_the_running_total_fall_but_loses_nothing(tmp_path: Path) -> None:
    with place(tmp_path) as stage:
        async with session_at(stage) as session:
            price = await dollars_per_token(stage, session)
            stage.model.on(lambda request: "beside" in request.last_user_text, "yes", usage=Usage(300, 0))
            await session.side_question("Something beside?")
            cleared = await session.prompt("/clear")
            assert cleared.total_cost_usd == 0
            assert usd(session.costs.last.cost_usd) == usd(300 * price), "the side question comes with it"
            cost, tokens, running = await turn(stage, session, 700)
            assert (cost, tokens, running) == (usd(700 * price), 700, usd(700 * price))
            assert usd(session.costs.total_usd) == usd(2000 * price)


async def test_a_killed_process_is_missing_in_the_clis_total_and_not_in_the_ledgers(tmp_path: Path) -> None:
    ledger = CostLedger()
    with place(tmp_path) as stage:
        async with session_at(stage) as session:
            session.costs = ledger
            price = await dollars_per_token(stage, session)
            session_id = session.session_id
            assert session.server_info.pid is not None
            os.kill(session.server_info.pid, signal.SIGKILL)
        async with session_at(stage, resume=session_id) as session:
            session.costs = ledger
            ledger.process_started()
            cost, _, running = await turn(stage, session, 200)
            assert cost == usd(200 * price)
            assert running == usd(200 * price), "the killed process wrote no total down"
    assert usd(ledger.total_usd) == usd(1200 * price)


@pytest.mark.parametrize("version", [version for version in SUPPORTED if version != NEWEST])
async def test_older_clis_start_at_zero_after_a_resume(tmp_path: Path, version: str) -> None:
    with place(tmp_path, version) as stage:
        # These CLIs also ask for a title and the like, sooner or later: here that costs nothing.
        stage.model.on(lambda request: "tokens" not in request.last_user_text, "ok", usage=Usage(0, 0))
        async with session_at(stage) as session:
            price = await dollars_per_token(stage, session)
            session_id = session.session_id
        async with session_at(stage, resume=session_id) as session:
            cost, tokens, running = await turn(stage, session, 3000)
            assert running == cost == usd(session.costs.total_usd)
            assert cost >= usd(3000 * price)
            cleared = await session.prompt("/clear")
            assert usd(cleared.total_cost_usd or 0) == running, "only 2.1.325 starts anew there"
            assert session.costs.last.cost_usd == 0
            assert tokens >= 3000
