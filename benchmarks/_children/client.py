"""One load on one SDK, in a process of its own: the same program for both, but for the name that is imported.

Run as ``python client.py quarterdeck|claude_agent_sdk LOAD JSON``; prints one JSON object with what it measured.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import resource
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

SETTLE_S = 0.3

sdk: Any
Figures = dict[str, float]


def processor_s() -> float:
    """What this process has used, its threads included and its children not."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Meter:
    """CPU time and wall-clock time of what is done inside the ``with``."""

    figures: Figures

    def __enter__(self) -> Meter:
        gc.collect()
        self._began = time.perf_counter(), processor_s()
        return self

    def __exit__(self, *_: object) -> None:
        used, wall = processor_s(), time.perf_counter()
        self.figures = {"wall_s": wall - self._began[0], "processor_s": used - self._began[1]}


def resident_kb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return float(line.split()[1])
    raise OSError("this system does not tell a process's memory in /proc/self/status")


def options(setting: dict[str, Any], env: dict[str, str] | None = None, **others: Any) -> Any:
    env = setting["env"] if env is None else env
    return sdk.ClaudeAgentOptions(cli_path=setting["cli"], env=env, include_partial_messages=True, **others)


async def read_turn(client: Any) -> tuple[int, int, str]:
    """Messages, characters of streamed text, and what the result says."""
    count = size = 0
    told = ""
    stream_event, assistant, result = sdk.StreamEvent, sdk.AssistantMessage, sdk.ResultMessage
    async for message in client.receive_response():
        count += 1
        if isinstance(message, stream_event):
            event = message.event
            if event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
                size += len(event["delta"]["text"])
        elif isinstance(message, assistant):
            size += len(message.content)
        elif isinstance(message, result):
            told = message.result or ""
    return count, size, told


async def read_deltas(client: Any) -> tuple[int, int]:
    """The same where there is nothing but text deltas between the first message and the last."""
    count = size = 0
    stream_event = sdk.StreamEvent
    async for message in client.receive_response():
        count += 1
        if isinstance(message, stream_event):
            size += len(message.event["delta"]["text"])
    return count, size


async def turn(setting: dict[str, Any], read: Callable[[Any], Awaitable[Any]]) -> Figures:
    """One turn, from the prompt to the result."""
    async with sdk.ClaudeSDKClient(options(setting)) as client:
        with Meter() as meter:
            await client.query("go")
            count, size = (await read(client))[:2]
    return {**meter.figures, "messages": count, "text": size}


async def deltas(setting: dict[str, Any]) -> Figures:
    return await turn(setting, read_deltas)


async def mixed(setting: dict[str, Any]) -> Figures:
    return await turn(setting, read_turn)


async def crowd(setting: dict[str, Any]) -> Figures:
    """Many sessions that all flood."""
    async with AsyncExitStack() as stack:
        clients = [await opened(stack, setting) for _ in range(setting["sessions"])]
        with Meter() as meter:
            for client in clients:
                await client.query("go")
            told = await asyncio.gather(*map(read_deltas, clients))
    return {**meter.figures, "messages": sum(count for count, _ in told)}


async def late(setting: dict[str, Any]) -> Figures:
    """How late the messages of many sessions at a model's pace are, spread evenly over the time between two messages
    of one session. A host that sends its prompts faster would else have them all at the same moment.
    """
    delays: list[float] = []
    interval_ns, sessions = 10**9 // int(setting["env"]["STANDIN_CLOCK"]), setting["sessions"]
    async with AsyncExitStack() as stack:
        clients = []
        for number in range(sessions):
            phase = {"STANDIN_PHASE": str(number * interval_ns // sessions)}
            clients.append(await opened(stack, setting, setting["env"] | phase))
        with Meter() as meter:
            for client in clients:
                await client.query("go")
            await asyncio.gather(*(listen(client, delays) for client in clients))
    return {**percentiles(delays), **meter.figures}


async def listen(client: Any, delays: list[float]) -> None:
    """Note how many microseconds ago each message was written."""
    async for message in client.receive_response():
        now = time.monotonic_ns()
        if isinstance(message, sdk.StreamEvent):
            delays.append((now - int(message.event["delta"]["text"])) / 1000)


def percentiles(samples: list[float]) -> Figures:
    samples.sort()
    return {"p50_us": samples[len(samples) // 2], "p99_us": samples[int(len(samples) * 0.99)], "messages": len(samples)}


async def backlog(setting: dict[str, Any]) -> Figures:
    """How long it takes to close a session that floods and that nobody reads."""
    client = sdk.ClaudeSDKClient(options(setting))
    await client.connect()
    await client.query("go")
    await asyncio.sleep(SETTLE_S)
    with Meter() as meter:
        await client.disconnect()
    return {"close_s": meter.figures["wall_s"], "processor_s": meter.figures["processor_s"]}


async def asked(setting: dict[str, Any], **callbacks: Any) -> Figures:
    async with sdk.ClaudeSDKClient(options(setting, **callbacks)) as client:
        with Meter() as meter:
            await client.query("go")
            *_, told = await read_turn(client)
    answers, errors, p50_ns = map(int, told.split())
    if errors or answers != setting["asks"]:
        raise SystemExit(f"{setting['asks']} requests, {answers} answers, {errors} of them errors")
    return {**meter.figures, "answers": answers, "p50_us": p50_ns / 1000}


async def permissions(setting: dict[str, Any]) -> Figures:
    async def decide(tool: str, tool_input: dict[str, Any], context: Any) -> Any:
        return sdk.PermissionResultAllow()

    return await asked(setting, can_use_tool=decide)


async def hooks(setting: dict[str, Any]) -> Figures:
    async def look(hook_input: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        return {}

    return await asked(setting, hooks={"PreToolUse": [sdk.HookMatcher(hooks=[look])]})


async def tools(setting: dict[str, Any]) -> Figures:
    async def add(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}

    offered = sdk.tool("add", "Add two numbers", {"a": float, "b": float})(add)
    server = sdk.create_sdk_mcp_server("calc", "1.0.0", [offered])
    return await asked(setting, mcp_servers={"calc": server})


async def idle(setting: dict[str, Any]) -> Figures:
    """Memory and threads of sessions that are connected and wait for a prompt."""
    async with AsyncExitStack() as stack:
        await opened(stack, setting)
        await asyncio.sleep(SETTLE_S)
        gc.collect()
        before, threads = resident_kb(), threading.active_count()
        for _ in range(setting["sessions"]):
            await opened(stack, setting)
        await asyncio.sleep(SETTLE_S)
        gc.collect()
        grown = (resident_kb() - before) / setting["sessions"]
        more = (threading.active_count() - threads) / setting["sessions"]
    return {"kb_per_session": grown, "threads_per_session": more, "base_kb": setting["base_kb"]}


async def first(setting: dict[str, Any]) -> Figures:
    """From the start of this process to the first message; ``started`` was taken before it was."""
    reached = [(time.monotonic(), processor_s()) async for _ in sdk.query(prompt="go", options=options(setting))]
    return {"start_s": reached[0][0] - setting["started"], "processor_s": reached[0][1]}


async def quiet(setting: dict[str, Any]) -> Figures:
    """How late a quiet session's messages are while a session beside it floods."""
    delays: list[float] = []
    flooded = 0

    async def drown(client: Any) -> None:
        nonlocal flooded
        async for message in client.receive_response():
            if isinstance(message, sdk.StreamEvent):
                message.event["delta"]["text"]
                flooded += 1

    async with AsyncExitStack() as stack:
        calm = await opened(stack, setting)
        loud = await stack.enter_async_context(sdk.ClaudeSDKClient(options(setting, setting["flood_env"])))
        flooding = asyncio.create_task(drown(loud))
        with Meter() as meter:
            await loud.query("go")
            await calm.query("go")
            await listen(calm, delays)
        if flooding.done():
            raise SystemExit("the flood ended too early")
        flooding.cancel()
    return {**percentiles(delays), **meter.figures, "messages": flooded}


async def opened(stack: AsyncExitStack, setting: dict[str, Any], env: dict[str, str] | None = None) -> Any:
    return await stack.enter_async_context(sdk.ClaudeSDKClient(options(setting, env)))


_LOADS = (deltas, mixed, crowd, late, backlog, permissions, hooks, tools, idle, first, quiet)
LOADS = {load.__name__: load for load in _LOADS}


def main() -> None:
    global sdk
    package, load, setting = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    sdk = importlib.import_module(package)
    sdk.query, sdk.ClaudeSDKClient, sdk.ClaudeAgentOptions  # noqa: B018  # what a program imports by name
    setting["base_kb"] = resident_kb()
    print(json.dumps(asyncio.run(LOADS[load](setting))))


if __name__ == "__main__":
    main()
