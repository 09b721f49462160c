"""Listing stored sessions: ours against the official SDK on the same folder.

``python -m benchmarks.transcripts`` makes 1,000 transcripts of 200 KB each in a temporary folder and lists them;
``--full`` makes 10,000 (2 GB). Every listing is an interpreter of its own, in turns, so that the peak of its memory is
that of one listing; the files are in the page cache for both. What both return is compared, too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._environments import own_python, peer_python
from ._table import OURS, PEER, Row, Section, say, show

COUNT, FULL_COUNT = 1_000, 10_000
FILE_BYTES = 200_000
PROJECTS = 50
ROUNDS = 5
LIMIT_S = 600.0
SPEED_FACTOR, MEMORY_FACTOR = 5.0, 3.0

PROGRAM = """
import sys, time
from {package} import {names}
start = time.process_time()
{work}
took = time.process_time() - start
peak = int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])  # ru_maxrss starts at the parent's
import dataclasses, hashlib, json
same = hashlib.sha256(json.dumps([dataclasses.astuple(one) for one in found]).encode()).hexdigest()
print(json.dumps([took * 1000, peak / 1024, len(found), same]))
"""
LIST = "found = list_sessions()"
PAGE = "found = list_sessions(limit=50)"
READ = "found = get_session_messages(sys.argv[1])"

WORDS = """the function returns a list of open files and closes each of them when the last reader has gone away because
otherwise the descriptor would leak until the process ends def class import return self async await None True"""


def text(chance: random.Random, size: int) -> str:
    """About as many characters of prose and code, with what JSON has to escape."""
    words = chance.choices(WORDS.split(), k=size // 6)
    for at in range(7, len(words), 9):
        words[at] = chance.choice(['"quoted"', "line\n    end", "ünïcode", "path\\to\\it"])
    return " ".join(words)


def some(chance: random.Random, usual: int, most: int = 40_000) -> int:
    """A size as tool results have it: mostly small, sometimes very large."""
    return min(int(chance.lognormvariate(0, 1.2) * usual) + 20, most)


class Writer:
    """Records with the keys, in the order and of about the sizes that CLI 2.1.325 writes them."""

    def __init__(self, chance: random.Random, session_id: str, cwd: str) -> None:
        self._chance = chance
        self._session_id = session_id
        self._parent: str | None = None
        self._base = {"userType": "external", "entrypoint": "cli", "cwd": cwd, "sessionId": session_id}
        self._base |= {"version": "2.1.325", "gitBranch": "main"}

    def about(self, kind: str, **fields: Any) -> dict[str, Any]:
        """A record about the session."""
        return {"type": kind, **fields, "sessionId": self._session_id}

    def link(self, kind: str, first: dict[str, Any], last: dict[str, Any] | None = None) -> dict[str, Any]:
        """A record of the conversation."""
        one = str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        record = {"parentUuid": self._parent, "isSidechain": False, **first, "type": kind, "uuid": one}
        self._parent = one
        return {**record, "timestamp": "2026-11-02T10:11:12.345Z", **(last or {}), **self._base}

    def attachment(self, size: int) -> dict[str, Any]:
        body = {"type": "environment", "content": text(self._chance, size // 2)}
        return self.link("attachment", {"attachment": body}, {"rendered": text(self._chance, size // 2)})

    def spoken(self, message_id: str, block: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 4, "cache_read_input_tokens": 18_000, "output_tokens": 120, "service_tier": "standard"}
        message = {"model": "m", "id": message_id, "type": "message", "role": "assistant", "content": [block]}
        return self.link("assistant", {"message": {**message, "usage": usage}, "requestId": f"req_{message_id}"})

    def result(self, call: str) -> dict[str, Any]:
        said = text(self._chance, some(self._chance, 600))
        block = {"tool_use_id": call, "type": "tool_result", "content": said}
        return self.link("user", {"message": {"role": "user", "content": [block]}}, {"toolUseResult": {"stdout": said}})


def records(chance: random.Random, session_id: str, cwd: str, size: int) -> Iterator[dict[str, Any]]:
    """A conversation: what the CLI writes at its start, then turns with tool calls until it is long enough."""
    write, written = Writer(chance, session_id, cwd), 0
    yield write.about("queue-operation", operation="enqueue", content=text(chance, 40))
    yield write.link("user", {"message": {"role": "user", "content": text(chance, 300)}})
    yield from (write.attachment(many) for many in (900, 500, 800, 3_000, 12_000))
    yield write.about("api-request-shape", shape=text(chance, 28_000))
    while written < size - 60_000:
        turn = [write.link("user", {"message": {"role": "user", "content": text(chance, some(chance, 200))}})]
        for _ in range(chance.randint(1, 8)):
            call = f"toolu_{chance.getrandbits(80):020x}"
            used = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": text(chance, 80)}}
            turn += [
                write.about("api-request", params={"tail": text(chance, 900)}),
                write.spoken(f"msg_{call}", {"type": "text", "text": text(chance, some(chance, 300))}),
                write.spoken(f"msg_{call}", used),
                write.result(call),
            ]
        turn.append(write.about("last-prompt", lastPrompt=text(chance, 80)))
        yield from turn
        written += sum(len(json.dumps(one)) for one in turn)
    yield write.about("cost-state", totalCostUSD=1.5, modelUsage={"m": {"inputTokens": 10, "outputTokens": 20}})


def make_folder(config: Path, count: int) -> int:
    """``count`` transcripts below a config folder, some with titles and tags; their bytes."""
    chance, total = random.Random(7), 0
    bodies = []
    for _ in range(20):
        lines = [
            json.dumps(one, separators=(",", ":"), ensure_ascii=False)
            for one in records(chance, "SESSION", "CWD", FILE_BYTES)
        ]
        bodies.append("\n".join(lines) + "\n")
    for number in range(count):
        cwd = f"/home/someone/projects/project-{number % PROJECTS}"
        folder = config / "projects" / cwd.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        session_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        body = bodies[number % len(bodies)].replace("SESSION", session_id).replace('"CWD"', json.dumps(cwd))
        if number % 5 == 0:
            body += json.dumps({"type": "custom-title", "customTitle": f"Title {number}"}, separators=(",", ":")) + "\n"
        if number % 7 == 0:
            body += json.dumps({"type": "tag", "tag": f"tag-{number % 3}"}, separators=(",", ":")) + "\n"
        path = folder / f"{session_id}.jsonl"
        data = body.encode()
        path.write_bytes(data)
        os.utime(path, (1_790_000_000 + number, 1_790_000_000 + number))
        total += len(data)
    return total


def measure(config: Path, work: str, *arguments: str) -> dict[str, tuple[list[float], list[float]]]:
    """(milliseconds, MB) per side, in turns."""
    sides = {OURS: (own_python(), "quarterdeck"), PEER: (peer_python(), "claude_agent_sdk")}
    samples: dict[str, tuple[list[float], list[float]]] = {side: ([], []) for side in sides}
    env = {**os.environ, "CLAUDE_CONFIG_DIR": str(config)}
    names = "get_session_messages" if "messages" in work else "list_sessions"
    for number in range(ROUNDS):
        seen = set()
        for side, (python, package) in sides.items():
            say(f"{work}, round {number + 1} of {ROUNDS}: {side}")
            program = PROGRAM.format(package=package, work=work, names=names)
            command = [str(python), "-P", "-c", program, *arguments]
            done = subprocess.run(command, env=env, stdout=subprocess.PIPE, timeout=LIMIT_S, check=True)
            took, peak, count, same = json.loads(done.stdout)
            samples[side][0].append(took)
            samples[side][1].append(peak)
            seen.add((count, same))
        if len(seen) != 1:
            raise SystemExit(f"the two packages do not agree on {work}: {seen}")
    return samples


def rows(config: Path, what: str, work: str, *arguments: str, target: bool = True) -> list[Row]:
    samples = measure(config, work, *arguments)
    speed, memory = (SPEED_FACTOR, MEMORY_FACTOR) if target else (None, None)
    return [
        Row(f"{what}: time", "ms", samples[OURS][0], samples[PEER][0], target=speed),
        Row(f"{what}: peak memory", "MB", samples[OURS][1], samples[PEER][1], target=memory),
    ]


def run(*, full: bool, large_mb: int) -> list[Section]:
    count = FULL_COUNT if full else COUNT
    folder = Path(tempfile.mkdtemp(prefix="quarterdeck-bench-"))
    try:
        say(f"making {count:,} transcripts")
        total = make_folder(folder / "many", count)
        listed = rows(folder / "many", "all sessions", LIST) + rows(folder / "many", "the newest 50", PAGE)
        shutil.rmtree(folder / "many")
        say(f"making a transcript of {large_mb} MB")
        session_id = make_large(folder / "large", large_mb)
        read = rows(folder / "large", "all messages", READ, session_id, target=False)
    finally:
        shutil.rmtree(folder)
    return [
        Section(f"Listing {count:,} transcripts, {total / 1e9:.1f} GB in {PROJECTS} projects", listed, [NOTE]),
        Section(f"Reading a transcript of {large_mb} MB", read),
    ]


def make_large(config: Path, megabytes: int) -> str:
    session_id = str(uuid.UUID(hashlib.sha256(b"large").hexdigest()[:32]))
    folder = config / "projects" / "-large"
    folder.mkdir(parents=True)
    chance = random.Random(8)
    with (folder / f"{session_id}.jsonl").open("w", encoding="utf-8") as file:
        for record in records(chance, session_id, "/large", megabytes * 1_000_000):
            file.write(json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n")
    return session_id


NOTE = (
    "Both return the same list. Time is CPU time of the call alone (user and system); memory is the peak of the "
    "whole process until then, including the interpreter and imports, excluding the comparison of results."
)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--full", action="store_true", help="10,000 transcripts (2 GB of disk, some minutes)")
    parser.add_argument("--large-mb", type=int, default=50, help="size of the transcript that is read whole")
    arguments = parser.parse_args()
    sections = run(full=arguments.full, large_mb=arguments.large_mb)
    show(sections, as_json=arguments.json)
    return 0 if all(row.met is not False for section in sections for row in section.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
