"""``quarterdeck acp`` beside ``claude-agent-acp``: driven by the same editor, over the same stand-in CLI, by turns.

``python -m benchmarks.acp`` prints the table (``--json`` for a program, ``--quick`` for a look). Each round starts
either agent as an editor does: initialize, a session, a flood of text, prompts at a model's pace, cancels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from . import _lines
from ._arguments import Size, parse
from ._environments import own_python
from ._npm import ANCHOR, ANCHOR_VERSION, anchor_command
from ._standin import Script, compiled
from ._table import Row, Section, say, show

ROUNDS = Size(full=5, quick=2)
CHUNKS = Size(full=40_000, quick=10_000)
PROMPTS = Size(full=60, quick=15)
"""Of a few chunks each, for the time to the first one."""
CANCELS = Size(full=120, quick=20)
PACE = 500
"""Chunks per second of a turn that is cancelled, and of the short ones."""
SHORT = 3
LONG = 10_000
LIMIT_S = 120.0
INITIALIZE, FASTER, SMALLER = 3.0, 5.0, 2.0
CHUNK = b'"agent_message_chunk"'
TICKS = os.sysconf("SC_CLK_TCK")


class Editor:
    """Drives one agent over its pipes, as cheaply as it can: what it does itself is time the agent waits."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: Path) -> None:
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            command, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._cwd = cwd
        self._number = 0
        self._rest = b""
        self._kept: list[bytes] = []
        """Lines that came with a first chunk: the answer may be among them."""
        self.chunks = 0
        self.first_at: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(LIMIT_S if error is None else 1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    @property
    def age_s(self) -> float:
        return time.perf_counter() - self._started

    @property
    def processor_s(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def memory_mb(self) -> float:
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024

    def send(self, method: str, params: dict[str, Any], number: int | None = None) -> None:
        assert self._process.stdin is not None
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def begin(self, method: str, **params: Any) -> int:
        self._number += 1
        self.chunks, self.first_at = 0, None
        self._kept.clear()
        self.send(method, params, self._number)
        return self._number

    def call(self, method: str, **params: Any) -> Any:
        return self.answer(self.begin(method, **params))

    def prompt(self, session: str) -> int:
        return self.begin("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}])

    def answer(self, number: int) -> Any:
        """Read until the answer, counting chunks on the way."""
        mark = f'"id":{number}'.encode()
        kept, self._kept = self._kept, []
        for lines in chain(kept, self._read()):
            if mark in lines:
                for line in lines.split(b"\n"):
                    if mark in line and (found := json.loads(line)).get("id") == number and "method" not in found:
                        if "error" in found:
                            raise SystemExit(f"the agent refused: {found['error']}")
                        return found["result"]
        raise SystemExit("the agent has ended")

    def until_first_chunk(self) -> None:
        for lines in self._read():
            self._kept.append(lines)
            if self.first_at is not None:
                return

    def _read(self) -> Iterator[bytes]:
        """Whole lines, as many as have come."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while data := os.read(descriptor, 1 << 20):
            whole, newline, self._rest = (self._rest + data).rpartition(b"\n")
            if newline:
                found = whole.count(CHUNK)
                if found and self.first_at is None:
                    self.first_at = time.perf_counter()
                self.chunks += found
                yield whole


class Load:
    """What either agent is put through."""

    def __init__(self, script: Script, folder: Path, *, quick: bool) -> None:
        self.quick = quick
        self._folder = folder
        count = CHUNKS.of(quick)
        message = _lines.streamed_message(count)
        self._flood = script.says("flood", message, len(message))
        short, long = _lines.streamed_message(SHORT), _lines.streamed_message(LONG)
        self._short = script.says("short", short, len(short), per_second=PACE)
        self._long = script.says("long", long, LONG, per_second=PACE) | {"STANDIN_STOPS": "1"}

    def measure(self, command: list[str], env: dict[str, str]) -> dict[str, list[float]]:
        """The values of one round; of cancels, each."""
        once = {**self._flooded(command, env | self._flood), **self._answered(command, env | self._short)}
        return {
            **{figure: [value] for figure, value in once.items()},
            "cancel_ms": self._cancelled(command, env | self._long),
        }

    def _started(self, editor: Editor) -> str:
        editor.call("initialize", protocolVersion=1, clientCapabilities={})
        return str(editor.call("session/new", cwd=str(self._folder), mcpServers=[])["sessionId"])

    def _flooded(self, command: list[str], env: dict[str, str]) -> dict[str, float]:
        count = CHUNKS.of(self.quick)
        with Editor(command, env, self._folder) as editor:
            editor.call("initialize", protocolVersion=1, clientCapabilities={})
            initialize_s = editor.age_s
            session = str(editor.call("session/new", cwd=str(self._folder), mcpServers=[])["sessionId"])
            new_s = editor.age_s - initialize_s
            before_s, began = editor.processor_s, time.perf_counter()
            editor.answer(editor.prompt(session))
            took_s = time.perf_counter() - began
            if editor.chunks < count:
                raise SystemExit(f"{editor.chunks} of {count} chunks came")
            return {
                "initialize_ms": initialize_s * 1e3,
                "new_ms": new_s * 1e3,
                "chunks_per_s": editor.chunks / took_s,
                "chunk_us": (editor.processor_s - before_s) / editor.chunks * 1e6,
                "memory_mb": editor.memory_mb,
            }

    def _answered(self, command: list[str], env: dict[str, str]) -> dict[str, float]:
        with Editor(command, env, self._folder) as editor:
            session = self._started(editor)
            editor.answer(editor.prompt(session))
            took = []
            for _ in range(PROMPTS.of(self.quick)):
                began = time.perf_counter()
                number = editor.prompt(session)
                editor.until_first_chunk()
                took.append(time.perf_counter() - began)
                editor.answer(number)
            return {"first_ms": _percentile(took, 0.5) * 1e3}

    def _cancelled(self, command: list[str], env: dict[str, str]) -> list[float]:
        """Each in a session of its own: after a cancel, the anchor waits for words that the stand-in does not say."""
        with Editor(command, env, self._folder) as editor:
            editor.call("initialize", protocolVersion=1, clientCapabilities={})
            took = []
            for _ in range(CANCELS.of(self.quick)):
                session = str(editor.call("session/new", cwd=str(self._folder), mcpServers=[])["sessionId"])
                number = editor.prompt(session)
                editor.until_first_chunk()
                began = time.perf_counter()
                editor.send("session/cancel", {"sessionId": session})
                if editor.answer(number)["stopReason"] != "cancelled":
                    raise SystemExit("a cancelled turn has another stop reason")
                took.append((time.perf_counter() - began) * 1e3)
                editor.call("session/close", sessionId=session)
            return took


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def rows(measured: dict[str, dict[str, list[float]]]) -> list[Row]:
    ours, peer = measured["ours"], measured["anchor"]

    def row(name: str, unit: str, figure: str, **more: Any) -> Row:
        return Row(name, unit, ours[figure], peer[figure], against="claude-agent-acp", **more)

    def cancels(name: str, share: float, **more: Any) -> Row:
        """Of all rounds together: one round has too few for the last percent."""
        sides = [[_percentile(side["cancel_ms"], share)] for side in (ours, peer)]
        return Row(name, "ms", *sides, against="claude-agent-acp", **more)

    return [
        row("start to the answer to initialize", "ms", "initialize_ms", target=INITIALIZE),
        row("session/new", "ms", "new_ms"),
        row("chunks of text to the editor", "chunks/s", "chunks_per_s", better="higher", target=FASTER),
        row("· CPU time per chunk", "µs", "chunk_us"),
        row("resident memory after it", "MB", "memory_mb", target=SMALLER),
        row("prompt to its first chunk: p50", "ms", "first_ms", target=1.0),
        cancels("cancel to the end of the turn: p50", 0.5),
        cancels("· p99", 0.99, target=1.0),
    ]


NOTE = (
    "Both are driven by one editor over the same stand-in CLI, and started anew for each of three loads in a round; "
    f"the anchor is `{ANCHOR}` {ANCHOR_VERSION}. Memory and CPU time are those of the agent's own process."
)


def run(*, quick: bool) -> list[Section]:
    anchor = anchor_command()
    if anchor is None:
        raise SystemExit(f"{ANCHOR} cannot be installed: node or npm is missing")
    cli = str(compiled())
    commands = {"ours": [str(own_python()), "-m", "quarterdeck", "acp", "--agent", cli], "anchor": anchor}
    measured: dict[str, dict[str, list[float]]] = {side: defaultdict(list) for side in commands}
    with tempfile.TemporaryDirectory(prefix="quarterdeck-bench-") as folder:
        work = Path(folder, "work")
        work.mkdir()
        env = {"PATH": os.environ["PATH"], "HOME": folder, "CLAUDE_CODE_EXECUTABLE": cli, "ANTHROPIC_API_KEY": "none"}
        load = Load(Script(Path(folder)), work, quick=quick)
        for number in range(ROUNDS.of(quick)):
            for side, command in commands.items():
                say(f"{side}, round {number + 1} of {ROUNDS.of(quick)}")
                for name, values in load.measure(command, env).items():
                    measured[side][name] += values
    return [Section("ACP beside claude-agent-acp", rows(measured), [NOTE])]


def main() -> int:
    arguments = parse(__doc__)
    sections = run(quick=arguments.quick)
    show(sections, as_json=arguments.json)
    return 0 if all(row.met is not False for section in sections for row in section.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
