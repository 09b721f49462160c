"""Approvals: exactly one decision."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

import soak
from quarterdeck.store.commits import (
    AddEffect,
    OpenApproval,
)
from quarterdeck.store.errors import (
    ApprovalConflict,
    InvalidCommit,
    InvalidCursor,
    NoSuchApproval,
)
from quarterdeck.store.queries import ApprovalQuery
from quarterdeck.store.records import (
    ApprovalRecord,
)
from store.conformance.base import Conformance
from store.making import (
    add,
    approval,
    ask,
    bodies,
    decided,
    decision,
    moved,
    row,
    start,
)


class ApprovalConformance(Conformance):
    """Exactly one decision."""

    async def test_an_approval_goes_its_way_and_keeps_when(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", row("one"))
            await ask(store, "a1", tool="Bash", body=b"\0input")
            opened = approval("a1", "s", tool="Bash", body=b"\0input", seq=2)
            assert await store.approval("a1") == opened
            await add(store, "s", changes=[decided("a1")])
            await add(store, "s", changes=[moved("a1", "delivered", 3.0)])
            await add(store, "s", changes=[moved("a1", "applied", 4.0)])
            assert await store.approval("a1") == approval(
                "a1",
                "s",
                tool="Bash",
                body=b"\0input",
                seq=2,
                state="applied",
                decision=decision(),
                moved_at={"decided": 2.0, "delivered": 3.0, "applied": 4.0},
            )

    async def test_no_state_is_reached_but_by_its_way(self, tmp_path: Path) -> None:
        ways = {
            "pending": [],
            "withdrawn": ["withdrawn"],
            "stranded": ["stranded"],
            "decided": ["decided"],
            "undeliverable": ["decided", "undeliverable"],
            "delivered": ["decided", "delivered"],
            "applied": ["decided", "delivered", "applied"],
        }
        allowed = {("pending", "decided"), ("pending", "withdrawn"), ("pending", "stranded")}
        allowed |= {("decided", "delivered"), ("decided", "undeliverable"), ("delivered", "applied")}
        reached = set()
        async with self.open(tmp_path) as store:
            await start(store)
            for state, way in ways.items():
                for to in ways:
                    name = f"{state}-{to}"
                    await ask(store, name)
                    for step in way:
                        await add(store, "s", changes=[decided(name) if step == "decided" else moved(name, step)])
                    try:
                        await add(store, "s", changes=[decided(name) if to == "decided" else moved(name, to)])
                    except ApprovalConflict as refused:
                        assert refused.approval.state == state
                    else:
                        reached.add((state, to))
        assert reached == allowed

    async def test_the_loser_learns_who_won_and_what(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await ask(store, "a1")
            await add(store, "s", b"winner", changes=[decided("a1", "allow", "ann")])
            with pytest.raises(ApprovalConflict, match="decided by user ann") as lost:
                await add(store, "s", b"loser", changes=[decided("a1", "deny", "bob")])
            assert lost.value.approval.decision == decision("allow", "ann")
            assert await bodies(store) == [b"ask", b"winner"]

    async def test_a_thousand_racing_decisions_on_two_hundred_approvals_have_two_hundred_winners(
        self, tmp_path: Path
    ) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await asyncio.gather(*(ask(store, f"a{number}") for number in range(200)))
            racers = [(f"a{number}", f"racer-{racer}") for number in range(200) for racer in range(5)]
            random.Random(soak.SEED).shuffle(racers)

            async def race(name: str, by: str) -> str | ApprovalRecord:
                try:
                    await add(store, "s", b"decided", changes=[decided(name, "allow", by), AddEffect("deliver", b"")])
                except ApprovalConflict as lost:
                    return lost.approval
                return by

            results = await asyncio.gather(*(race(*racer) for racer in racers))
            winners = {name: told for (name, _), told in zip(racers, results, strict=True) if isinstance(told, str)}
            losers = [told for told in results if not isinstance(told, str)]
            assert (len(winners), len(losers)) == (200, 800)
            for told in losers:
                assert told.decision is not None
                assert told.decision.by == winners[told.id]
            assert len(await store.effects()) == 200

    async def test_a_rule_may_open_and_decide_in_one_commit(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await add(store, "s", b"ask", changes=[OpenApproval(approval("a1", "s")), decided("a1")])
            found = await store.approval("a1")
            assert found is not None
            assert (found.state, found.seq) == ("decided", 1)

    async def test_an_approval_belongs_to_the_first_row_of_its_commit_so_that_none_of_them_goes(
        self, tmp_path: Path
    ) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s", row("one"))
            await add(store, "s", b"text", b"ask", b"more", changes=[OpenApproval(approval("a1", "s"))])
            await add(store, "s", changes=[OpenApproval(approval("a2", "s"))])
            found = [await store.approval("a1"), await store.approval("a2")]
            assert [one.seq for one in found if one] == [2, 4]

    async def test_an_approval_is_opened_once_and_pending(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await ask(store, "a1")
            with pytest.raises(InvalidCommit, match="a1 already"):
                await ask(store, "a1")
            with pytest.raises(InvalidCommit, match="opened as pending"):
                await ask(store, "a2", state="delivered")
            with pytest.raises(NoSuchApproval):
                await add(store, "s", changes=[decided("a3")])

    async def test_a_decision_belongs_to_deciding(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            await ask(store, "a1")
            with pytest.raises(InvalidCommit, match="only the state decided has a decision"):
                await add(store, "s", changes=[moved("a1", "decided")])

    async def test_approvals_are_found_by_state_session_kind_and_request(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store, "s")
            await start(store, "t")
            await ask(store, "z", "s", kind="questions")
            await ask(store, "y", "t")
            await ask(store, "x", "s")
            await add(store, "s", changes=[decided("x")])

            async def found(**filters: object) -> str:
                return "".join(one.id for one in (await store.approvals(ApprovalQuery(**filters))).approvals)  # type: ignore[arg-type]

            assert await found() == "zyx"
            assert await found(states=["pending"]) == "zy"
            assert await found(states=["pending", "decided"], session="s") == "zx"
            assert await found(kinds=["questions"]) == "z"
            assert await found(request_id="req-y") == "y"
            assert await found(session="nobody") == ""

    async def test_pages_of_approvals_go_on_where_the_last_ended(self, tmp_path: Path) -> None:
        async with self.open(tmp_path) as store:
            await start(store)
            for number in range(5):
                await ask(store, f"{number}")
            seen, cursor = [], None
            while True:
                page = await store.approvals(ApprovalQuery(limit=2, cursor=cursor))
                seen += [one.id for one in page.approvals]
                cursor = page.next_cursor
                if cursor is None:
                    break
            assert seen == ["0", "1", "2", "3", "4"]
            with pytest.raises(InvalidCursor):
                await store.approvals(ApprovalQuery(cursor="no cursor"))
