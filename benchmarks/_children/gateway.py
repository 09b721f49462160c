"""One load on the gateway, or on the bare server it is compared with, in a process of its own; its clients in another.

Run as ``python -m benchmarks._children.gateway LOAD JSON``; prints one JSON object with what it measured.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from quarterdeck.host.requests import AddEvent, OfSession, SendPrompt

from . import gateway_bare
from .client import Figures, Meter
from .gateway_bare import NOTE, asked_for, idle_kb
from .gateway_kit import clients, just_before, served
from .host import fill, late_host, replay_host
from .host_kit import Setting, a_host, created, metered


async def _broadcast(setting: Setting, kind: str) -> Figures:
    """One session that streams, and many who watch it over a socket."""
    async with a_host(setting) as host, served(host) as at:
        (session,) = await created(host, setting, 1)
        after = await just_before(host, session)
        asked: dict[str, Any] = {"token": at.token, "clients": setting.subscribers, "count": setting.count}
        if kind == "websocket":
            asked["subscriptions"] = [{"op": "subscribe", "ref": 1, "session": session, "after": after}]
        else:
            asked |= {"kind": "sse", "path": f"/v1/sessions/{session}/stream?after={after}"}
        async with clients("streams", at.port, counted='"text_added"', **asked) as readers:
            with Meter() as meter:
                began = time.monotonic_ns()
                await host.send_prompt(SendPrompt(session_id=session, content="go"))
                told = await readers.result()
    return {**meter.figures, "deliveries": told["deliveries"], "wall_s": (told["done_ns"] - began) / 1e9}


async def websockets_ours(setting: Setting) -> Figures:
    return await _broadcast(setting, "websocket")


async def events_ours(setting: Setting) -> Figures:
    return await _broadcast(setting, "sse")


async def late_websocket(setting: Setting) -> Figures:
    """How late each durable line is at a client over a WebSocket, at a steady pace."""
    async with a_host(setting) as host, served(host) as at:
        ids = await created(host, setting, setting.sessions)
        subscriptions = [
            {"op": "subscribe", "ref": ref, "session": one, "after": await just_before(host, one), "previews": False}
            for ref, one in enumerate(ids)
        ]

        async def all_of_it() -> dict[str, float]:
            await asyncio.gather(*(host.send_prompt(SendPrompt(session_id=one, content="go")) for one in ids))
            return await reader.result()

        async with clients("late", at.port, token=at.token, subscriptions=subscriptions) as reader:
            told, figures = await metered(setting, all_of_it())
    return {**figures, **told}


async def lines_in(setting: Setting) -> Figures:
    """Sessions that flood with turns as they are, streaming included, with one client that watches all of them."""
    async with a_host(setting) as host, served(host) as at:
        ids = await created(host, setting, setting.sessions)
        subscriptions = [
            {"op": "subscribe", "ref": ref, "session": one, "after": await just_before(host, one)}
            for ref, one in enumerate(ids)
        ]
        asked = {"token": at.token, "subscriptions": subscriptions, "counted": '"type":"turn_ended"', "count": len(ids)}
        async with clients("streams", at.port, **asked) as reader:
            with Meter() as meter:
                began = time.monotonic_ns()
                await asyncio.gather(*(host.send_prompt(SendPrompt(session_id=one, content="go")) for one in ids))
                told = await reader.result()
    return {**meter.figures, "lines": setting.count * len(ids), "wall_s": (told["done_ns"] - began) / 1e9}


async def first_piece(setting: Setting) -> Figures:
    """From a prompt over the WebSocket to the first piece of text there."""
    async with a_host(setting) as host, served(host) as at:
        ids = await created(host, setting, setting.sessions)
        subscriptions = [
            {"op": "subscribe", "ref": ref, "session": one, "after": await just_before(host, one)}
            for ref, one in enumerate(ids)
        ]
        asked = {"token": at.token, "subscriptions": subscriptions, "prompts": ids, "count": setting.count}
        async with clients("first_piece", at.port, **asked) as reader:
            return await reader.result()


async def replay_websocket(setting: Setting) -> Figures:
    """A client that begins at the beginning."""
    session = setting.ids[0]
    async with setting.host(keeper=False) as host, served(host) as at:
        known = await host.get_session(OfSession(session_id=session))
        subscription = {"op": "subscribe", "ref": 1, "session": session, "after": f"{known.epoch}-0", "previews": False}
        asked = {"token": at.token, "subscriptions": [subscription], "counted": '"op":"frame"', "count": known.seq}
        with Meter() as meter:
            async with clients("streams", at.port, **asked) as reader:
                told = await reader.result()
    return {**meter.figures, "rows": known.seq, "wall_s": (told["done_ns"] - told["began_ns"]) / 1e9}


async def idle_ours(setting: Setting) -> Figures:
    """Memory of a WebSocket that watches a session in which nothing happens."""
    async with a_host(setting) as host, served(host) as at:
        (session,) = await created(host, setting, 1)
        after = await just_before(host, session)
        subscription = {"op": "subscribe", "ref": 1, "session": session, "after": after}
        return {"kb": await idle_kb(setting, at.port, token=at.token, subscriptions=[subscription])}


async def requests_ours(setting: Setting) -> Figures:
    """One session, looked at again and again."""
    async with a_host(setting) as host, served(host) as at:
        (session,) = await created(host, setting, 1)
        return await asked_for(setting, at.port, f"/v1/sessions/{session}", token=at.token)


async def frames_ours(setting: Setting) -> Figures:
    """The last page of a session's log, read again and again."""
    async with a_host(setting) as host, served(host) as at:
        (session,) = await created(host, setting, 1)
        (limit,) = setting.rows
        for _ in range(limit):
            await host.add_event(AddEvent(session_id=session, type=NOTE.name, data=NOTE.data))
        after = (await host.get_session(OfSession(session_id=session))).seq - limit
        path = f"/v1/sessions/{session}/events?after={after}&limit={limit}"
        return await asked_for(setting, at.port, path, token=at.token)


_LOADS = (
    *(fill, late_host, replay_host, websockets_ours, events_ours, late_websocket, lines_in, first_piece),
    *(replay_websocket, idle_ours, requests_ours, frames_ours),
    *gateway_bare.LOADS,
)
LOADS: dict[str, Callable[[Setting], Awaitable[Any]]] = {load.__name__: load for load in _LOADS}


async def run(load: str, setting: Setting) -> Any:
    return await LOADS[load](setting)


def main() -> None:
    import uvloop

    load, setting = sys.argv[1], msgspec.json.decode(sys.argv[2], type=Setting)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(run(load, setting))))


if __name__ == "__main__":
    main()
