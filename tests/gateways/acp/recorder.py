"""Stands between a client and an agent, and writes down what each says: ``recorder.py FILE COMMAND…``.

So a session that an official library drives can be checked frame by frame against the published schema.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from quarterdeck.gateways.acp import schema


def check_record(path: Path, checker: Callable[[dict[str, Any]], None]) -> Counter[str]:
    """Check every frame of the agent; how many there were of each method. An answer counts for its request."""
    from gateways.acp.published import check_envelope

    asked: dict[Any, str] = {}
    checked: Counter[str] = Counter()
    for line in path.read_text("utf-8").splitlines():
        said = json.loads(line)
        frame = said["frame"]
        check_envelope(frame)
        if said["by"] == "client":
            if "method" in frame and "id" in frame:
                asked[frame["id"]] = frame["method"]
            continue
        if "method" in frame:
            method, struct, value = frame["method"], schema.CLIENT_METHODS[frame["method"]], frame["params"]
        elif "error" in frame:
            method, struct, value = "error", schema.Error, frame["error"]
        else:
            method = asked[frame["id"]]
            struct, value = schema.AGENT_ANSWERS[method], frame["result"]
        checker({"name": getattr(struct, "__name__", "CreateElicitationRequest"), "value": value})
        checked[method] += 1
    return checked


def _copy(source: IO[bytes], target: IO[bytes], by: str, write: Callable[[str, bytes], None]) -> None:
    for line in source:
        write(by, line)
        target.write(line)
        target.flush()
    target.close()


def main(file: str, *command: str) -> int:
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert agent.stdin is not None
    assert agent.stdout is not None
    writing = threading.Lock()
    with Path(file).open("a", encoding="utf-8") as record, os.fdopen(os.dup(1), "wb") as client:

        def write(by: str, line: bytes) -> None:
            with writing:
                record.write(json.dumps({"by": by, "frame": json.loads(line)}) + "\n")
                record.flush()

        said = (sys.stdin.buffer, agent.stdin, "client", write)
        threading.Thread(target=_copy, args=said, daemon=True).start()
        _copy(agent.stdout, client, "agent", write)
    return agent.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
