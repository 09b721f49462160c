"""A stand-in for Claude Code that says odd things: ``odd_cli.py JSON …``, an object with what differs from the usual.

``session_id``; ``request_id`` or ``tool_name`` of a permission that it asks for, or ``request``, another request;
``init``, ``result``: fields of those lines; ``lines``: what it says in each turn before anything else.
"""

from __future__ import annotations

import json
import sys
import uuid
from pathlib import Path
from typing import Any

ODD: dict[str, Any] = json.loads(sys.argv[1])
SESSION = ODD.get("session_id", str(uuid.uuid4()))


def say(**line: Any) -> None:
    known = {} if line["type"].startswith("control") else {"uuid": str(uuid.uuid4())}
    sys.stdout.write(json.dumps({**known, **line}) + "\n")
    sys.stdout.flush()


def begin() -> None:
    usual = {"session_id": SESSION, "cwd": str(Path.cwd()), "tools": []}
    say(type="system", subtype="init", **{**usual, **ODD.get("init", {})})
    for one in ODD.get("lines", []):
        say(session_id=SESSION, **one)
    if ODD.keys() & {"tool_name", "request_id", "request"}:
        usual = {"subtype": "can_use_tool", "tool_name": ODD.get("tool_name", "Bash"), "input": {}, "tool_use_id": "t"}
        asked = ODD.get("request", usual)
        say(type="control_request", request_id=ODD.get("request_id", "r"), request=asked)
    else:
        end()


def end() -> None:
    usual = {"is_error": False, "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "total_cost_usd": 0.1}
    told = {**usual, "result": "Done.", "session_id": SESSION, "usage": {}, **ODD.get("result", {})}
    say(type="result", subtype="success", **told)


for text in sys.stdin:
    line = json.loads(text)
    if line["type"] == "control_request":
        say(
            type="control_response",
            response={"subtype": "success", "request_id": line["request_id"], "response": {}},
        )
    elif line["type"] == "user":
        begin()
    elif line["type"] == "control_response":
        end()
