"""A stand-in for Claude Code that asks for many permissions at once: ``asking_cli.py COUNT FOLDER …``.

It writes each answer it gets to a file of its own in the folder, and ends its turn when all are answered.
``ASKED_ABOUT`` is the command, ``ASKED_BECAUSE`` the kind of reason it gives.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

COUNT, FOLDER = int(sys.argv[1]), Path(sys.argv[2])
SESSION = str(uuid.uuid4())


def say(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def ask_all() -> set[str]:
    asked = set()
    for number in range(COUNT):
        request_id = f"{SESSION}-{number}"
        tool_input = {"command": f"{os.environ.get('ASKED_ABOUT', 'echo')} {number}"}
        request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": tool_input, "tool_use_id": f"t{number}"}
        if "ASKED_BECAUSE" in os.environ:
            request["decision_reason_type"] = os.environ["ASKED_BECAUSE"]
        say(type="control_request", request_id=request_id, request=request)
        asked.add(request_id)
    return asked


def main() -> None:
    asked: set[str] = set()
    with (FOLDER / f"{os.getpid()}.ndjson").open("a") as answers:
        for text in sys.stdin:
            line = json.loads(text)
            if line["type"] == "control_request":
                answered = {"subtype": "success", "request_id": line["request_id"], "response": {}}
                say(type="control_response", response=answered)
            elif line["type"] == "user":
                say(
                    type="system",
                    subtype="init",
                    session_id=SESSION,
                    uuid=str(uuid.uuid4()),
                    cwd=str(Path.cwd()),
                    tools=[],
                )
                asked = ask_all()
            elif line["type"] == "control_response":
                answers.write(text)
                answers.flush()
                asked.discard(line["response"]["request_id"])
                if not asked:
                    say(type="result", subtype="success", is_error=False, session_id=SESSION, uuid=str(uuid.uuid4()))


main()
