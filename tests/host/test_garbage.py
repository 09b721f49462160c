"""Modules are no work for full garbage collections, which stop all sessions; freed memory goes back to the system."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

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


HOLES = """
from pathlib import Path
from quarterdeck._memory import give_back

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])

empty = resident()
kept = [(bytes(40_000), bytes(600)) for _ in range(1_000)]
full = resident()
kept = [small for _, small in kept]
freed = resident()
give_back()
print(empty, full, freed, resident())
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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be asked for it")
def test_memory_that_was_freed_between_other_memory_goes_back_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    empty, full, freed, given_back = map(int, done.stdout.split())
    assert freed - empty > (full - empty) * 0.9, "it goes back by itself: nothing has to be asked for"
    assert given_back - empty < (full - empty) / 2
