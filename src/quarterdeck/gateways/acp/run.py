"""Runs an agent on stdin and stdout until the editor goes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from .front import Front, Usual
from .stdio import StdoutWriter, read_stdin, take_stdout

if TYPE_CHECKING:
    from .agent import EditorAgent
    from .conversation import MakeOptions
    from .kept_sessions import FindHost
    from .peer import Peer


async def serve(
    make: MakeOptions,
    *,
    bypass: bool = False,
    logout: Callable[[], Awaitable[None]] | None = None,
    editor_tools: bool = True,
    draft: bool = False,
    find_host: FindHost | None = None,
    usual: Usual | None = None,
) -> None:
    """Serve until stdin ends, nobody reads stdout any more, or a signal says so. Leaves no process behind, except
    those of a host's sessions. ``usual``: as ``Front`` takes it; the other arguments are the agent's."""
    output = StdoutWriter(take_stdout())

    def agent(peer: Peer) -> EditorAgent:
        from .agent import EditorAgent

        return EditorAgent(
            peer,
            make,
            drained=output.drained,
            bypass=bypass,
            logout=logout,
            editor_tools=editor_tools,
            draft=draft,
            find_host=find_host,
        )

    front = Front(output.write, agent, draft=draft, usual=usual)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, ended.set)
    ends = {
        loop.create_task(read_stdin(front.peer.receive)),
        loop.create_task(output.broken.wait()),
        loop.create_task(ended.wait()),
    }
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in ends:
            task.cancel()
        output.write_now()
        await front.close()
        await asyncio.gather(*ends, return_exceptions=True)
