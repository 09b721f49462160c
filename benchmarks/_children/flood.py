"""A CLI that says one long answer, in small pieces: paced, or as fast as the pipe takes it.

Now and then a piece is the time at which it was written (⟦microseconds⟧), so that whoever sees it knows how late it is.
"""

from __future__ import annotations

import json
import os
import sys
import time

COUNT, PER_SECOND, CLOCK_EVERY = (int(os.environ[name]) for name in ("FLOOD_DELTAS", "FLOOD_PACE", "FLOOD_CLOCK"))
PROSE = """The reader takes a chunk, the decoder makes messages of it, and **nobody waits** longer than needed.

- a point with `code` in it
- another one, somewhat longer than the first, so that it wraps in a narrow terminal

```python
def greet(name: str) -> str:
    return f"hello {name}"  # politely
```

## What follows

Some more words, *emphasised* here and there, as a model writes them when it explains what it has done and why.

"""
PIECES = [PROSE[start : start + 7] for start in range(0, len(PROSE), 7)]
IDS = {"session_id": "s", "parent_tool_use_id": None}


def write(*lines: dict[str, object]) -> None:
    data = memoryview(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    while data:
        data = data[os.write(1, data) :]


def event(**fields: object) -> dict[str, object]:
    return {"type": "stream_event", "event": fields, "uuid": "e", **IDS}


def delta(text: str) -> dict[str, object]:
    return event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": text})


def answer() -> None:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {}}
    write(event(type="message_start", message=message))
    write(event(type="content_block_start", index=0, content_block={"type": "text", "text": ""}))
    lines = [json.dumps(delta(piece)).encode() + b"\n" for piece in PIECES]
    began, said = time.monotonic(), 0
    while said < COUNT:
        wanted = COUNT if not PER_SECOND else min(COUNT, int((time.monotonic() - began) * PER_SECOND) + 1)
        batch = []
        for number in range(said, wanted):
            batch.append(lines[number % len(lines)])
            if number % CLOCK_EVERY == CLOCK_EVERY - 1:
                batch.append(json.dumps(delta(f" ⟦{time.monotonic_ns() // 1000}⟧ ")).encode() + b"\n")
        data = memoryview(b"".join(batch))
        while data:
            data = data[os.write(1, data) :]
        said = wanted
        if PER_SECOND:
            time.sleep(0.002)
    write(delta(f"\n\n⟦{time.monotonic_ns() // 1000}⟧ END"), event(type="content_block_stop", index=0))
    write(event(type="message_stop"))


def main() -> None:
    for line in sys.stdin.buffer:
        told = json.loads(line)
        if told["type"] == "control_request":
            reply = {"subtype": "success", "request_id": told["request_id"], "response": {}}
            write({"type": "control_response", "response": reply})
        elif told["type"] == "user":
            init = {"tools": [], "mcp_servers": [], "model": "m", "permissionMode": "default", "slash_commands": []}
            init |= {"cwd": "/", "apiKeySource": "none", "claude_code_version": "2.1.325", "output_style": "default"}
            write({"type": "system", "subtype": "init", "uuid": "i", "session_id": "s", **init})
            answer()
            result = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "result": "", "total_cost_usd": 0.0}
            result |= {"usage": {}, "modelUsage": {}, "permission_denials": [], "is_error": False}
            write({"type": "result", "subtype": "success", "uuid": "r", "session_id": "s", **result})


main()
