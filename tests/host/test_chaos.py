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
from typing import Any

import soak
from host.kit import Place, all_frames
from quarterdeck.host.events import ApprovalChanged
from quarterdeck.host.requests import ListSessions
from quarterdeck.keeper import find_keepers
from quarterdeck.timeline.events import PromptSent, TurnEnded

LIMIT_S = 600.0 if soak.ON else 120.0
SESSIONS = soak.cases(3, in_soak=30)
WATCHERS = soak.cases(2, in_soak=20)
HOST_KILLS = soak.cases(3, in_soak=10)
KEEPER_KILLS = soak.cases(1, in_soak=2)
PROMPTS = 4


class Hosts:
    """One host after the other, on the same folder."""

    def __init__(self, place: Place, plan: dict[str, Any]) -> None:
        self._place = place
        self._plan = plan

    def start(self) -> subprocess.Popen[str]:
        place, program = self._place, str(Path(__file__).with_name("chaos_host.py"))
        process = subprocess.Popen(
            [
                sys.executable,
                program,
                self._place.folder,
                self._place.cwd,
                self._place.claude.path,
                json.dumps(self._plan),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(place.claude.env))
        process.stdin.close()
        return process

    def killed(self, after_s: float) -> None:
        process = self.start()
        time.sleep(after_s)
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()

    def finished(self) -> None:
        process = self.start()
        process.stdin = None  # it is closed
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
        assert out.strip().endswith("done"), err


async def test_every_watcher_ends_with_the_log_and_nothing_happens_twice(tmp_path: Path) -> None:
    chance = random.Random(soak.SEED)
    place = Place(tmp_path, keeper=True)
    turn = ["Some text before it. " * 30, {"tool": "Bash", "input": {"command": "touch made.txt"}}, "Done."]
    place.claude.play(*([turn] * (PROMPTS + KEEPER_KILLS)))
    notes = tmp_path / "notes"
    notes.mkdir()
    plan = {"sessions": SESSIONS, "prompts": PROMPTS, "watchers": WATCHERS, "notes": str(notes)}
    hosts = Hosts(place, plan)
    kills = ["host"] * HOST_KILLS + ["keeper"] * KEEPER_KILLS
    chance.shuffle(kills)
    for kind in kills:
        await asyncio.to_thread(hosts.killed, chance.uniform(0.5, 4.0))
        if kind == "keeper":
            for keeper in find_keepers(place.folder / "keeper"):
                if keeper.alive:
                    os.kill(keeper.pid, signal.SIGKILL)
    await asyncio.to_thread(hosts.finished)

    async with place.opened() as host:
        for session in (await host.list_sessions(ListSessions(limit=1_000))).sessions:
            frames = await all_frames(host, session.id)
            assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
            events = [event for frame in frames for event in frame.events]
            assert sum(isinstance(event, TurnEnded) for event in events) >= PROMPTS
            said = Counter(event.text for event in events if isinstance(event, PromptSent))
            assert len(said) == PROMPTS
            assert max(said.values()) <= 1 + KEEPER_KILLS, said
            states: dict[str, list[str]] = {}
            for event in events:
                if isinstance(event, ApprovalChanged):
                    states.setdefault(event.approval.id, []).append(event.approval.state)
            for one in states.values():
                assert one.count("decided") <= 1
                assert one[0] == "pending"
                assert one[-1] in ("applied", "stranded", "undeliverable", "withdrawn", "delivered"), one
            log = [f"{frame.seq} {','.join(type(event).__name__ for event in frame.events)}" for frame in frames]
            for watcher in range(WATCHERS):
                seen = (notes / f"{watcher}-{session.name}.txt").read_text().splitlines()
                assert seen == log[: len(seen)], (watcher, session.name)
                assert len(seen) >= len(log) - 20
