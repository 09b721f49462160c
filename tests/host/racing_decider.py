"""Decides approvals over HTTP: ``racing_decider.py HOST PORT SECRET DECISION GATE`` (their ids as JSON on stdin).

Waits until the file GATE is there, decides each of them over several connections at once, and prints what came of each:
``{id: [status, problem or approval]}``.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

CONNECTIONS = 4


def main(address: str, port: str, secret: str, decision: str, gate: str) -> None:
    ids: list[str] = json.load(sys.stdin)
    outcomes: dict[str, tuple[int, Any]] = {}
    print("ready", flush=True)
    while not Path(gate).exists():
        time.sleep(0.002)

    def decide(some: list[str]) -> None:
        connection = http.client.HTTPConnection(address, int(port), timeout=60)
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        for one in some:
            connection.request("POST", f"/v1/approvals/{one}/decision", json.dumps({"decision": decision}), headers)
            answer = connection.getresponse()
            outcomes[one] = (answer.status, json.loads(answer.read()))
        connection.close()

    threads = [threading.Thread(target=decide, args=(ids[number::CONNECTIONS],)) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(outcomes), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:6])
