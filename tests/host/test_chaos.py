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
from collections.abc import Iterator
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
SESSIONS = soak.cases(3, in_soak=30)
WATCHERS = soak.cases(2, in_soak=20)
HOST_KILLS = soak.cases(3, in_soak=10)
KEEPER_KILLS = soak.cases(1, in_soak=2)
CLI_KILLS = soak.cases(2, in_soak=15)
PROMPTS = 4
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
        self.plan = {
            "sessions": SESSIONS,
            "prompts": PROMPTS,
            "watchers": WATCHERS,
            "notes": str(self.notes),
            "seed": seed,
        }
        turn = ["Some text before it. " * 30, {"tool": "Bash", "input": {"command": "echo ran >> ran.txt"}}, "Done."]
        self.place.claude.play(*([turn] * (PROMPTS + KEEPER_KILLS + CLI_KILLS)))
        self._cli = root / "counting"
        self._cli.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "counting_cli.py"}" "{self.inputs}" "$@"\n')
        self._cli.chmod(0o755)

    def start(self) -> subprocess.Popen[str]:
        place = self.place
        arguments = [HERE / "chaos_host.py", place.folder, place.cwd, self._cli, json.dumps(self.plan)]
        process = subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(place.claude.env))
        process.stdin.close()
        process.stdin = None
        return process

    def run(self) -> dict[str, int]:
        """Where each session's log ended, when all was done."""
        kills = ["host"] * HOST_KILLS + ["keeper"] * KEEPER_KILLS + ["cli"] * CLI_KILLS
        self.chance.shuffle(kills)
        process = self.start()
        try:
            for kind in kills:
                time.sleep(self.chance.uniform(0.5, 4.0))
                if kind == "cli":
                    self._kill_cli()
                elif kind == "keeper" and self.chance.random() < 0.5:
                    self._kill_keepers()  # the host lives on
                else:
                    process.kill()
                    process.communicate()
                    if kind == "keeper":
                        self._kill_keepers()
                    process = self.start()
            out, err = process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
        assert out.strip(), err
        return dict(json.loads(out))

    def _kill_keepers(self) -> None:
        for keeper in find_keepers(self.place.folder / "keeper"):
            if keeper.alive:
                os.kill(keeper.pid, signal.SIGKILL)

    def _kill_cli(self) -> None:
        alive = sorted(self.living())
        if alive:
            os.kill(self.chance.choice(alive), signal.SIGKILL)

    def living(self) -> Iterator[int]:
        """The processes that are there."""
        for file in self.inputs.iterdir():
            try:
                words = Path(f"/proc/{file.name}/cmdline").read_bytes()
            except OSError:
                continue
            if str(self.inputs).encode() in words:
                yield int(file.name)


async def test_every_watcher_ends_with_the_log_and_nothing_happens_twice(tmp_path: Path) -> None:
    chaos = Chaos(tmp_path, soak.SEED)
    ends = await asyncio.to_thread(chaos.run)
    await check_all(chaos, ends, WATCHERS)


async def check_all(chaos: Chaos, ends: dict[str, int], watchers: int) -> None:
    """What the log says against what watchers were told, processes heard, and tools did."""
    place = chaos.place
    decided = applied = unfinished = 0
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
            ended = [event for frame in frames for event in frame.events if isinstance(event, ProcessChanged)]
            unfinished += sum(len(event.unfinished) for event in ended)
    assert list(chaos.living()) == []
    ran = (place.cwd / "ran.txt").read_text().splitlines()
    # A call that was running when its process was killed may have been cut off before it wrote its line.
    assert applied - unfinished <= len(ran) <= decided


def check_turns(frames: list[Frame]) -> None:
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
    events = [event for frame in frames for event in frame.events]
    assert sum(isinstance(event, TurnEnded) for event in events) >= PROMPTS
    said = Counter(event.text for event in events if isinstance(event, PromptSent))
    assert len(said) == PROMPTS
    lost = sum(isinstance(event, ProcessChanged) and event.state in ("exited", "lost") for event in events)
    assert sum(said.values()) <= PROMPTS + lost, said


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

    A prompt that a killed process did not get is marked as uncertain.
    """
    sent: dict[int, list[bytes]] = {}
    after = 0
    while rows := (await host.store.read(session.id, after=after)).rows:
        after = rows[-1].seq
        for row in rows:
            if row.kind == "sent":
                sent.setdefault(row.generation, []).append(row.body)
    pids = {event.generation: event.pid for event in told(frames, ProcessChanged) if event.pid is not None}
    queued = [prompt for event in told(frames, QueueChanged) for prompt in event.prompts]
    uncertain = {prompt.id for prompt in queued if prompt.state == "uncertain"}
    for generation, pid in pids.items():
        arrived = (chaos.inputs / str(pid)).read_bytes().split(b"\n")[:-1]
        assert arrived == sent[generation][: len(arrived)], (session.name, generation)
        lost = map(json.loads, sent[generation][len(arrived) :])
        assert {line["uuid"] for line in lost if line["type"] == "user"} <= uncertain, (session.name, generation)
    if pids:
        last = max(pids)
        assert (chaos.inputs / str(pids[last])).read_bytes().count(b"\n") == len(sent[last])
