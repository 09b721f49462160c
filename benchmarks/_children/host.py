"""One load on the host, or on the bare program it is compared with, in a process of its own.

Run as ``python -m benchmarks._children.host LOAD JSON``; prints one JSON object with what it measured.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import msgspec

from quarterdeck.host import Host
from quarterdeck.host.events import RawLine, StatusChange
from quarterdeck.host.folding import Preview
from quarterdeck.host.requests import OfSession, ReadEvents, SendPrompt, WatchSession
from quarterdeck.host.resources import Frame
from quarterdeck.timeline.events import TextAdded, TextCompleted

from . import host_bare
from .client import Figures, Meter, percentiles, resident_kb
from .host_kit import AT_ONCE, KeeperFacts, Setting, a_host, created, delivered, frames_of_turn, metered, stop_keeper

SETTLE_S = 0.3


async def durable_host(setting: Setting) -> Figures:
    """Sessions that flood with lines that are rows, each with a subscriber."""
    async with a_host(setting) as host:
        ids = await created(host, setting, setting.sessions)
        turns = asyncio.gather(*(frames_of_turn(host, one) for one in ids))
        counts, figures = await metered(setting, turns)
    return {**figures, "rows": sum(counts)}


async def previews_host(setting: Setting) -> Figures:
    """One session that streams, and many who watch."""
    attached = asyncio.Semaphore(0)

    async def watch(session: str, after: str) -> tuple[int, int]:
        count = size = 0
        watched = host.watch_session(WatchSession(session_id=session, after=after))
        async with aclosing(watched):
            async for one in watched:
                if isinstance(one, Preview):
                    for event in one.events:
                        if isinstance(event, TextAdded):
                            count += 1
                            size += len(event.text)
                elif one.seq == known.seq:
                    attached.release()
                elif any(isinstance(event, StatusChange) and event.state == "idle" for event in one.events):
                    break
        return count, size

    async def all_of_it() -> list[tuple[int, int]]:
        await host.send_prompt(SendPrompt(session_id=session, content="go"))
        return await asyncio.gather(*watching)

    async with a_host(setting) as host:
        (session,) = await created(host, setting, 1)
        known = await host.get_session(OfSession(session_id=session))
        after = f"{known.epoch}-{known.seq - 1}"  # so that each gets a frame when it is there
        watching = [asyncio.create_task(watch(session, after)) for _ in range(setting.subscribers)]
        for _ in watching:
            await attached.acquire()
        told, figures = await metered(setting, all_of_it())
    return {**figures, **delivered(told, setting)}


async def late_host(setting: Setting) -> Figures:
    """How late each durable line is at its subscriber, at a steady pace."""
    delays: list[float] = []
    async with a_host(setting) as host:
        ids = await created(host, setting, setting.sessions)
        turns = asyncio.gather(*(frames_of_turn(host, one, _noting(delays)) for one in ids))
        _, figures = await metered(setting, turns)
    return {**figures, **percentiles(delays)}


def _noting(delays: list[float]) -> Callable[[Frame], None]:
    def note(frame: Frame) -> None:
        now = time.monotonic_ns()
        delays.extend((now - int(event.text)) / 1000 for event in frame.events if isinstance(event, TextCompleted))

    return note


async def interrupts(setting: Setting) -> Figures:
    """How long it takes from asking for an interrupt until the CLI has read it, while all sessions talk."""
    asked: dict[str, list[int]] = {}

    async def interrupt_in_turn(ids: list[str]) -> None:
        """One at a time: what is measured is not a queue of interrupts."""
        number = 0
        while True:
            session = ids[number % len(ids)]
            asked.setdefault(session, []).append(time.monotonic_ns())
            await host.interrupt(OfSession(session_id=session))
            number += 1
            await asyncio.sleep(1 / 100)

    async with a_host(setting) as host:
        ids = await created(host, setting, setting.sessions)
        turns = asyncio.gather(*(frames_of_turn(host, one) for one in ids))
        interrupting = asyncio.create_task(interrupt_in_turn(ids))
        _, figures = await metered(setting, turns)
        interrupting.cancel()
        delays = [delay for session in asked for delay in await _until_read(host, session, asked[session])]
    return {**figures, **percentiles(delays)}


async def _until_read(host: Host, session: str, asked: list[int]) -> list[float]:
    """By the answers, in which the stand-in says when it read the request."""
    frames = (await host.read_events(ReadEvents(session_id=session, view="raw", limit=1_000_000))).frames
    lines = [json.loads(event.line) for frame in frames for event in frame.events if isinstance(event, RawLine)]
    requests = [line["request_id"] for line in lines if line.get("request", {}).get("subtype") == "interrupt"]
    answers = {
        line["response"]["request_id"]: line["response"]["response"]["read_ns"]
        for line in lines
        if line["type"] == "control_response"
    }
    return [
        (answers[request] - begun) / 1000 for request, begun in zip(requests, asked, strict=False) if request in answers
    ]


async def fill(setting: Setting) -> dict[str, list[str]]:
    """Not measured: sessions with so many rows, in many turns, and one to warm up with."""
    ids = []
    async with a_host(setting) as host:
        for rows in (*setting.rows, 1):
            (session,) = await created(host, setting, 1)
            ids.append(session)
            while (await host.get_session(OfSession(session_id=session))).seq < rows:
                await frames_of_turn(host, session)
            await host.stop(OfSession(session_id=session))
    return {"ids": ids}


async def opening(setting: Setting) -> Figures:
    """Each session opened at its end by a host that has just started, several times."""
    *ids, warm_up = setting.ids
    took: dict[str, list[Figures]] = {session: [] for session in ids}
    for number in range(setting.count):
        async with setting.host(keeper=False) as host:
            await host.get_timeline(OfSession(session_id=warm_up))
            for session in ids if number % 2 else reversed(ids):
                with Meter() as meter:
                    await host.get_timeline(OfSession(session_id=session))
                took[session].append(meter.figures)
    return {
        f"{name}_{index}": sorted(one[name] for one in took[session])[setting.count // 2]
        for index, session in enumerate(ids)
        for name in ("wall_s", "processor_s")
    }


async def replay_host(setting: Setting) -> Figures:
    """A subscriber that begins at the beginning."""
    session = setting.ids[0]
    async with setting.host(keeper=False) as host:
        last = (await host.get_session(OfSession(session_id=session))).seq
        count = 0
        with Meter() as meter:
            watched = host.watch_session(WatchSession(session_id=session, previews=False))
            async with aclosing(watched):
                async for frame in watched:
                    assert isinstance(frame, Frame)
                    count += 1
                    if frame.seq == last:
                        break
    if count != last:
        raise SystemExit(f"{last} rows, {count} frames")
    return {**meter.figures, "rows": count}


async def idle(setting: Setting) -> Figures:
    """Memory of sessions that have had a turn and wait for the next prompt."""
    async with a_host(setting) as host:
        await _had_a_turn(host, setting, AT_ONCE)
        keeper = KeeperFacts(setting)
        before, keeper_before = await settled_kb(), keeper.resident_kb()
        await _had_a_turn(host, setting, setting.sessions)
        grown, keeper_grown = await settled_kb() - before, keeper.resident_kb() - keeper_before
    return {"kb": grown / setting.sessions, "keeper_kb": keeper_grown / setting.sessions}


async def _had_a_turn(host: Host, setting: Setting, count: int) -> list[str]:
    ids = await created(host, setting, count)
    for at in range(0, count, AT_ONCE):
        await asyncio.gather(*(frames_of_turn(host, one) for one in ids[at : at + AT_ONCE]))
    return ids


async def settled_kb() -> float:
    await asyncio.sleep(SETTLE_S)
    gc.collect()
    return resident_kb()


async def populate(setting: Setting) -> dict[str, list[str]]:
    """Not measured: sessions with processes that stay with the keeper."""
    async with setting.host() as host:
        return {"ids": await _had_a_turn(host, setting, setting.sessions)}


async def restart(setting: Setting) -> Figures:
    """From the start of this process to a host that has taken up every session."""
    with Meter() as meter:
        host = await setting.host().open()
    reached = time.monotonic()
    try:
        for session in setting.ids:
            state = (await host.get_session(OfSession(session_id=session))).state
            if state != "idle":
                raise SystemExit(f"session {session} is {state} after the restart")
    finally:
        await host.close()
    return {**meter.figures, "start_s": reached - setting.started}


async def leave(setting: Setting) -> Figures:
    """Not measured: end what ``populate`` left."""
    await stop_keeper(setting)
    return {}


_LOADS = (
    *(durable_host, previews_host, late_host, interrupts, fill, opening, replay_host, idle, populate, restart, leave),
    *host_bare.LOADS,
)
LOADS: dict[str, Callable[[Setting], Awaitable[Any]]] = {load.__name__: load for load in _LOADS}


async def run(load: str, setting: Setting) -> Any:
    return await LOADS[load](setting)


def main() -> None:
    load, setting = sys.argv[1], msgspec.json.decode(sys.argv[2], type=Setting)
    print(json.dumps(asyncio.run(run(load, setting))))


if __name__ == "__main__":
    main()
