"""Hosts, keepers and processes killed at random: every watcher ends with exactly the log, and nothing happens twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import soak
from host.chaos_host import noted
from host.kit import Place, all_frames, told
from quarterdeck.host import Host
from quarterdeck.host.events import ApprovalChanged, ProcessChanged, QueueChanged
from quarterdeck.host.requests import ListSessions
from quarterdeck.host.resources import Frame, Session
from quarterdeck.keeper import find_keepers
from quarterdeck.timeline.events import PromptSent, TurnEnded

LIMIT_S = 1_800.0 if soak.ON else 120.0
LOOK_S = 0.01
PAUSE_S = (0.1, 4.0) if soak.ON else (0.1, 1.0)
"""Before the next kill."""
SESSIONS = soak.cases(3, in_soak=30)
WATCHERS = soak.cases(2, in_soak=20)
HOST_KILLS = soak.cases(3, in_soak=10)
KEEPER_KILLS = soak.cases(1, in_soak=2)
CLI_KILLS = soak.cases(2, in_soak=15)
KILLS = {"host": HOST_KILLS, "keeper": KEEPER_KILLS, "cli": CLI_KILLS}
"""How many of each, counting those that were at work."""
PROMPTS = 4
"""To each session at least, and more until everything was killed."""
ENDS = {"applied", "stranded", "undeliverable", "withdrawn"}
HERE = Path(__file__).parent


class Chaos:
    """One host after the other on the same folder, with processes that write down what they are told."""

    def __init__(self, root: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.place = Place(root, keeper=True)
        self.notes, self.inputs = root / "notes", root / "inputs"
        self.notes.mkdir()
        self.inputs.mkdir()
        self.enough = root / "enough"
        self.plan = {
            "sessions": SESSIONS,
            "prompts": PROMPTS,
            "watchers": WATCHERS,
            "notes": str(self.notes),
            "enough": str(self.enough),
            "seed": seed,
        }
        turn = ["Some text before it. " * 30, {"tool": "Bash", "input": {"command": "echo ran >> ran.txt"}}, "Done."]
        self.place.claude.play(rules=[{"when": "", "steps": turn}])
        self._cli = root / "counting"
        self._cli.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "counting_cli.py"}" "{self.inputs}" "$@"\n')
        self._cli.chmod(0o755)
        self.killed: Counter[str] = Counter()
        """What was alive when it was killed, and had work."""
        self.process: subprocess.Popen[str]

    def start(self) -> None:
        """A host of this program in ``process``, with what it prints."""
        place = self.place
        arguments = [HERE / "chaos_host.py", place.folder, place.cwd, self._cli, json.dumps(self.plan)]
        self.process = subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(place.claude.env))
        self.process.stdin.close()
        self.process.stdin = None

    def run(self) -> dict[str, int]:
        """Where each session's log ended, when all was done."""
        self.start()
        try:
            for kind in self.kills():
                time.sleep(self.chance.uniform(*PAUSE_S))
                self.kill(kind)
            self.enough.touch()
            out, err = self.process.communicate(timeout=LIMIT_S)
        finally:
            self.process.kill()
        assert out.strip(), err
        return dict(json.loads(out))

    def kills(self) -> list[str]:
        kills = list(Counter(KILLS).elements())
        self.chance.shuffle(kills)
        return kills

    def kill(self, kind: str) -> None:
        """Kill a host, keepers or a process, none of them idle."""
        deadline = time.monotonic() + LIMIT_S
        while self.killed[kind] < KILLS[kind] and not self._kill(kind):
            assert time.monotonic() < deadline, f"nothing to kill: {kind}"
            time.sleep(LOOK_S)

    def _kill(self, kind: str) -> bool:
        """Returns whether what it killed had work."""
        if not self.in_turn():
            assert self.process.poll() is None, f"the host has ended: {self.said()}"
            return False
        if kind == "cli":
            hit = self._kill_cli()
        elif kind == "keeper" and self.chance.random() < 0.5:
            hit = self._kill_keepers()  # the host lives on
        else:
            hit = self._kill_host()
            if kind == "keeper":
                hit = self._kill_keepers() and hit
            self.start()
        self.killed[kind] += hit
        return hit

    def _kill_host(self) -> bool:
        assert self.process.poll() is None, f"the host has ended: {self.said()}"
        self.process.kill()
        self.process.communicate()
        return self.in_turn() != []  # without a host, nobody begins one

    def said(self) -> str:
        """What the host had to say when it ended."""
        return self.process.communicate()[1]

    def _kill_keepers(self) -> bool:
        alive = [keeper.pid for keeper in find_keepers(self.place.folder / "keeper") if keeper.alive]
        hit = alive != [] and self.in_turn() != []
        for pid in alive:
            os.kill(pid, signal.SIGKILL)
        return hit

    def _kill_cli(self) -> bool:
        """Before it dies, it may stand still for a while: what it is told then is lost with it."""
        pid = self.chance.choice(self.in_turn() or [0])
        if not pid:
            return False
        try:
            if self.chance.random() < 0.7:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(self.chance.uniform(0.0, 0.5))
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def in_turn(self) -> list[int]:
        """The processes that are there and at work."""
        return [pid for pid in self.living() if (self.inputs / f"{pid}.turn").exists()]

    def living(self) -> list[int]:
        """The processes that are there."""
        pids = (int(file.name) for file in self.inputs.iterdir() if file.name.isdecimal())
        return sorted(pid for pid in pids if self._is_ours(pid))

    def _is_ours(self, pid: int) -> bool:
        try:
            return str(self.inputs).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False


async def test_every_watcher_ends_with_the_log_and_nothing_happens_twice(tmp_path: Path) -> None:
    chaos = Chaos(tmp_path, soak.SEED)
    ends = await asyncio.to_thread(chaos.run)
    assert chaos.killed == KILLS
    await check_all(chaos, ends, WATCHERS)


async def check_all(chaos: Chaos, ends: dict[str, int], watchers: int) -> None:
    """What the log says against what watchers were told, processes heard, and tools did."""
    place = chaos.place
    decided = applied = 0
    async with place.opened() as host:
        sessions = (await host.list_sessions(ListSessions(limit=1_000))).sessions
        assert {session.name for session in sessions} == set(ends)
        for session in sessions:
            frames = await all_frames(host, session.id)
            check_turns(frames)
            check_watchers(chaos.notes, watchers, session, frames, ends[session.name])
            await check_inputs(chaos, host, session, frames)
            states = approval_states(frames)
            decided += sum("decided" in one for one in states)
            applied += sum("applied" in one for one in states)
    assert chaos.living() == []
    ran = (place.cwd / "ran.txt").read_text().splitlines()
    # A call whose process was killed may have written its line or not, and is not applied.
    assert applied <= len(ran) <= decided


def check_turns(frames: list[Frame]) -> None:
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
    events = [event for frame in frames for event in frame.events]
    assert sum(isinstance(event, TurnEnded) for event in events) >= PROMPTS
    said = Counter(event.text for event in events if isinstance(event, PromptSent))
    assert len(said) >= PROMPTS
    lost = sum(isinstance(event, ProcessChanged) and event.state in ("exited", "lost") for event in events)
    assert sum(said.values()) <= len(said) + lost, said


def approval_states(frames: list[Frame]) -> list[list[str]]:
    """What became of each approval, in order."""
    states: dict[str, list[str]] = {}
    process_of: dict[str, int] = {}
    generation = last = 0
    for event in (event for frame in frames for event in frame.events):
        if isinstance(event, ProcessChanged):
            generation = last = event.generation
        elif isinstance(event, ApprovalChanged):
            states.setdefault(event.approval.id, []).append(event.approval.state)
            process_of[event.approval.id] = generation
    for approval, one in states.items():
        assert one[0] == "pending"
        assert one.count("decided") <= 1
        # What was delivered to a process that died is applied or not: nobody can say.
        assert one[-1] in ENDS or (one[-1] == "delivered" and process_of[approval] < last), one
    return list(states.values())


def check_watchers(notes: Path, watchers: int, session: Session, frames: list[Frame], end: int) -> None:
    log = [noted(frame) for frame in frames]
    for watcher in range(watchers):
        seen = (notes / f"{watcher}-{session.name}.txt").read_text().splitlines()
        assert seen == log[: len(seen)], (watcher, session.name)
        assert len(seen) >= end


async def check_inputs(chaos: Chaos, host: Host, session: Session, frames: list[Frame]) -> None:
    """What each process was told is what the log says, in its order and once; all of it, if it was not killed.

    A prompt that a killed process did not get is marked as uncertain, and an answer that it did not get never arrived:
    its approval is undeliverable, or delivered into the pipe of a process that has ended since.
    """
    sent: dict[int, list[bytes]] = {}
    after = 0
    while rows := (await host.store.read(session.id, after=after)).rows:
        after = rows[-1].seq
        for row in rows:
            if row.kind == "sent":
                sent.setdefault(row.generation, []).append(row.body)
    changes = told(frames, ProcessChanged)
    pids = {event.generation: event.pid for event in changes if event.pid is not None}
    dead = {event.generation for event in changes if event.state in ("exited", "lost")}
    queued = [prompt for event in told(frames, QueueChanged) for prompt in event.prompts]
    uncertain = {prompt.id for prompt in queued if prompt.state == "uncertain"}
    approvals = {event.approval.request_id: event.approval.state for event in told(frames, ApprovalChanged)}
    for generation, pid in pids.items():
        arrived = (chaos.inputs / str(pid)).read_bytes().split(b"\n")[:-1]
        assert arrived == sent[generation][: len(arrived)], (session.name, generation)
        lost = [json.loads(line) for line in sent[generation][len(arrived) :]]
        assert not lost or generation in dead, (session.name, generation, lost)
        assert {line["uuid"] for line in lost if line["type"] == "user"} <= uncertain, (session.name, generation)
        answered = {line["response"]["request_id"] for line in lost if line["type"] == "control_response"}
        states = {approvals[one] for one in answered if one in approvals}
        assert states <= {"undeliverable", "delivered"}, (session.name, generation, states)
    if pids:
        last = max(pids)
        assert (chaos.inputs / str(pids[last])).read_bytes().count(b"\n") == len(sent[last])
