"""A host whose process is full of modules: they are no work for full garbage collections, which stop all sessions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from host.kit import LIMIT_S

PROGRAM = """
import asyncio, gc, json, sys
from quarterdeck.host import Host

async def main(state):
    visited = [len(gc.get_objects())]
    set_aside = [gc.get_freeze_count()]
    for _ in range(2):
        async with Host(state, keeper=False):
            visited.append(len(gc.get_objects()))
            set_aside.append(gc.get_freeze_count())
    print(json.dumps([visited, set_aside]))

asyncio.run(main(sys.argv[1]))
"""


def test_what_is_there_before_the_first_host_opens_is_not_collected_any_more(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "state")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    visited, (before, first, second) = json.loads(done.stdout)
    assert before == 0
    assert first > visited[0] / 2
    assert max(visited[1:]) < visited[0] / 2, "a full collection still goes through the modules"
    assert second <= first, "a second host sets nothing aside: it would never be collected"
