"""``claude -p "prompt"``: one turn, and the answer as text, as one JSON object, or as the stream."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

from quarterdeck.protocol.prompts import user_line

if TYPE_CHECKING:
    from .simulator import SimulatedCli

NO_TERMINAL = "Error: The simulator has no terminal interface: use --print, or --input-format stream-json."
NO_PROMPT = "Error: Input must be provided either through stdin or as a prompt argument when using --print"


async def print_once(cli: SimulatedCli) -> int:
    if "--print" not in cli.flags:
        sys.stderr.write(f"{NO_TERMINAL}\n")
        return 1
    prompt = cli.flags.prompt or (await asyncio.to_thread(sys.stdin.read) if not sys.stdin.isatty() else "")
    if not prompt.strip():
        sys.stderr.write(f"{NO_PROMPT}\n")
        return 1
    from .process import catch_signals

    wanted = cli.flags.get("--output-format") or "text"
    lines: list[bytes] = []

    def write(data: bytes) -> None:
        if wanted == "stream-json":
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
        else:
            lines.extend(data.splitlines())

    running = asyncio.create_task(cli.run(write, sys.stderr.write))
    await asyncio.sleep(0)
    if not running.done():
        catch_signals(cli, asyncio.get_running_loop())
        cli.feed(json.dumps(user_line(prompt)).encode() + b"\n")
        cli.feed_eof()
    code = await running
    result = next((line for line in map(json.loads, reversed(lines)) if line.get("type") == "result"), None)
    if result is not None:
        _print(result, wanted)
    return code


def _print(result: dict[str, Any], wanted: str) -> None:
    if wanted == "json":
        text = json.dumps(result, ensure_ascii=False)
    else:
        text = result.get("result") or "\n".join(result.get("errors", []))
    sys.stdout.write(f"{text}\n")
