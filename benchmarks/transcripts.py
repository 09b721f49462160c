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

from ._peer import peer_python
from ._table import OURS, PEER, Row, Section, say, show

COUNT, FULL_COUNT = 1_000, 10_000
FILE_BYTES = 200_000
PROJECTS = 50
ROUNDS = 3
LIMIT_S = 600.0
SPEED_FACTOR, MEMORY_FACTOR = 5.0, 3.0

PROGRAM = """
import sys, time, resource, json, hashlib, dataclasses
from {package} import {names}
start = time.perf_counter()
{work}
took = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
same = hashlib.sha256(json.dumps([dataclasses.astuple(one) for one in found]).encode()).hexdigest()
print(json.dumps([took * 1000, peak / 1024, len(found), same]))
"""
LIST = "found = list_sessions()"
PAGE = "found = list_sessions(limit=50)"
READ = "found = get_session_messages(sys.argv[1])"

WORDS = (
    "the function returns a list of open files and closes each of them when the last reader has gone away because "
    "otherwise the descriptor would leak until the process ends def class import return self async await None True"
).split()


def text(chance: random.Random, size: int) -> str:
    """About as many characters of prose and code, with what JSON has to escape."""
    words = chance.choices(WORDS, k=size // 6)
    for at in range(7, len(words), 9):
        words[at] = chance.choice(['"quoted"', "line\n    end", "ünïcode", "path\\to\\it"])
    return " ".join(words)


def records(chance: random.Random, session_id: str, cwd: str, size: int) -> Iterator[dict[str, Any]]:
    """A conversation as the CLI writes it: prompts, answers, tool calls and their results, and what it keeps besides."""
    base = {"sessionId": session_id, "userType": "external", "entrypoint": "cli", "cwd": cwd, "version": "2.1.325"}
    base |= {"gitBranch": "main", "isSidechain": False, "timestamp": "2026-11-02T10:11:12.345Z"}
    parent: str | None = None
    yield {"type": "mode", "mode": "default", "sessionId": session_id}
    written = 0
    while written < size:
        turn: list[dict[str, Any]] = [
            {"type": "user", "message": {"role": "user", "content": text(chance, 300)}},
            {"type": "attachment", "attachment": {"type": "environment"}, "rendered": text(chance, 1_500)},
        ]
        for _ in range(chance.randint(1, 4)):
            call = f"toolu_{chance.getrandbits(80):020x}"
            said = [{"type": "text", "text": text(chance, 1_200)}]
            used = [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": text(chance, 150)}}]
            got = [{"type": "tool_result", "tool_use_id": call, "content": text(chance, 6_000)}]
            turn += [
                {"type": "assistant", "message": {"role": "assistant", "id": f"msg_{call}", "content": said}},
                {"type": "assistant", "message": {"role": "assistant", "id": f"msg_{call}", "content": used}},
                {
                    "type": "user",
                    "message": {"role": "user", "content": got},
                    "toolUseResult": {"stdout": text(chance, 6_000)},
                },
            ]
        for record in turn:
            one = str(uuid.UUID(int=chance.getrandbits(128), version=4))
            yield {"parentUuid": parent, **base, **record, "uuid": one}
            parent = one
        yield {"type": "api-request", "id": session_id, "params": {"tail": text(chance, 3_000)}}
        written += 60 * sum(len(one) for one in turn) + 14_000 * len(turn) // 3
    yield {"type": "last-prompt", "lastPrompt": text(chance, 80), "sessionId": session_id}


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
    sides = {OURS: (Path(sys.executable), "quarterdeck"), PEER: (peer_python(), "claude_agent_sdk")}
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


NOTE = "Both return the same list. Time is that of the call alone, memory the peak of the whole process."


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
