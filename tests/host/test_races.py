"""Many decide the same approvals at once, from tasks and from other processes: each has one winner, delivered once."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import soak
from host.kit import LIMIT_S, Place, frames_until
from quarterdeck.gateways.http import Gateway, Server
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.requests import CreateToken, Decide, Decision, ListApprovals
from quarterdeck.host.resources import Approval

SESSIONS, ASKED = 4, 50
PROCESSES, TASKS = 3, 2
HERE = Path(__file__).parent


async def all_asked(host: Host) -> list[Approval]:
    """Every approval, once all of them wait."""
    while True:
        listed = await host.list_approvals(ListApprovals(limit=1_000))
        if len(listed.approvals) == SESSIONS * ASKED:
            return listed.approvals
        await asyncio.sleep(0.02)


def in_some_order(ids: list[str], who: str) -> list[str]:
    mixed = list(ids)
    random.Random(f"{soak.SEED} {who}").shuffle(mixed)
    return mixed


class Decider:
    """A process that decides everything over HTTP."""

    def __init__(self, name: str, decision: str, address: tuple[str, int], secret: str, gate: Path) -> None:
        self.name = name
        words = [HERE / "racing_decider.py", *address, secret, decision, gate]
        self._process = subprocess.Popen(
            [sys.executable, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def get_ready(self, ids: list[str]) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(in_some_order(ids, self.name)))
        self._process.stdin.close()
        assert self._process.stdout.readline() == "ready\n"

    def outcomes(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        told = self._process.stdout.read()
        assert self._process.wait(LIMIT_S) == 0
        return dict(json.loads(told))

    def end(self) -> None:
        with self._process:  # closes its pipes
            self._process.kill()


async def decide_all(host: Host, ids: list[str], caller: Caller, decision: Any) -> dict[str, Any]:
    """A task of the host's own program; outcomes as HTTP would show them."""
    outcomes: dict[str, Any] = {}
    for one in in_some_order(ids, caller.name):
        try:
            await host.decide(Decide(approval_id=one, decision=Decision(decision=decision)), caller)
        except HostError as error:
            outcomes[one] = (409, {"code": error.code, **error.details})
        else:
            outcomes[one] = (200, {})
    return outcomes


async def test_a_thousand_racing_decisions_on_two_hundred_approvals(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=True)
    answers = tmp_path / "answers"
    answers.mkdir()
    agents = {"claude": [sys.executable, str(HERE / "asking_cli.py"), str(ASKED), str(answers)]}
    gate = tmp_path / "gate"
    deciders: list[Decider] = []
    async with place.opened(agents=agents) as host, Server(Gateway(host)) as server:
        address = await server.listen_tcp("127.0.0.1", 0)
        try:
            for number in range(PROCESSES):
                name, decision = f"process {number}", ("allow", "deny")[number % 2]
                token = await host.create_token(CreateToken(name=name, scope="approve"))
                deciders.append(Decider(name, decision, address, str(token.secret), gate))
            sessions = [await place.created(host) for _ in range(SESSIONS)]
            ids = [one.id for one in await all_asked(host)]
            await asyncio.gather(*(asyncio.to_thread(one.get_ready, ids) for one in deciders))
            gate.touch()
            callers = [Caller(name=f"task {number}", scope="approve") for number in range(TASKS)]
            tasks = [decide_all(host, ids, caller, ("allow", "deny")[n % 2]) for n, caller in enumerate(callers)]
            all_outcomes = await asyncio.gather(*(asyncio.to_thread(one.outcomes) for one in deciders), *tasks)
            for session in sessions:
                await frames_until(host, session.id, "idle")
        finally:
            for decider in deciders:
                decider.end()
        past = ListApprovals(state=["decided", "delivered", "applied"], limit=1_000)
        final = (await host.list_approvals(past)).approvals

    names = [*(one.name for one in deciders), *(caller.name for caller in callers)]
    winner: dict[str, str] = {}
    losers: Counter[str] = Counter()
    for name, outcomes in zip(names, all_outcomes, strict=True):
        assert set(outcomes) == set(ids)
        for one, (status, _) in outcomes.items():
            if status == 200:
                assert one not in winner, "two won"
                winner[one] = name
            losers[one] += status != 200
    assert set(winner) == set(ids)
    assert sum(losers.values()) == (PROCESSES + TASKS - 1) * len(ids)
    for outcomes in all_outcomes:
        for one, (status, told) in outcomes.items():
            if status != 200:
                assert (told["code"], told["decided_by"]) == ("already_decided", winner[one])

    decided = {one.id: one for one in final}
    assert set(decided) == set(ids)
    assert all(one.decided_by is not None and one.decided_by.name == winner[one.id] for one in final)
    delivered = [json.loads(line)["response"] for file in answers.iterdir() for line in file.read_text().splitlines()]
    by_request = {one["request_id"]: one["response"]["behavior"] for one in delivered}
    assert len(delivered) == len(by_request) == len(ids), "each was delivered once"
    assert all(by_request[one.request_id] == (one.decision or {})["decision"] for one in final)
