"""Run the programs of ``idioms`` in a process of their own, against the real CLI and a scripted model."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from compat import idioms
from compat.idioms import _setup as words
from compat.running import INHERITED
from needs import real_cli
from quarterdeck.testing.model import ApiRequest, Error, ModelServer, Reply, Stall, Text, Thinking, ToolUse
from quarterdeck.testing.model.script import turn

HERE = Path(__file__).parent
RECORDED = HERE / "idioms" / "recorded"
RUN_LIMIT_S = 120.0


def modules() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(idioms.__path__) if not module.name.startswith("_"))


def programs() -> Iterator[tuple[str, str, words.Script]]:
    """Module, name and script of each program, in the order they are written down."""
    for module in modules():
        for name, value in vars(importlib.import_module(f"compat.idioms.{module}")).items():
            if callable(value) and isinstance(script := getattr(value, "script", None), words.Script):
                yield module, name, script


def recorded(module: str) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = json.loads((RECORDED / f"{module}.json").read_text())
    return lines


# The model


def teach(model: ModelServer, script: words.Script) -> None:
    more = {} if script.delta_size is None else {"delta_size": script.delta_size}
    turns = list(script.turns)
    for said in [said for said in turns if isinstance(said, words.Agent)]:
        model.on(lambda request: request.kind == "subagent", said.text)
        turns.remove(said)
    if script.again:
        _always(model, turns.pop())
    for said in turns:
        _next(model, said, more)


def _always(model: ModelServer, said: words.Turn) -> None:
    if isinstance(said, words.Recite):
        model.on_with(_is_main, lambda request: _recital(said, request))
    elif isinstance(said, words.Fail):
        model.on(_is_main, Error(said.status, said.message))
    else:
        model.on(_is_main, *_parts(said))


def _is_main(request: ApiRequest) -> bool:
    return request.kind == "main"


def _next(model: ModelServer, said: words.Turn, more: dict[str, Any]) -> None:
    if isinstance(said, words.Recite):
        model.reply_with(lambda request: _recital(said, request))
    elif isinstance(said, words.Fail):
        model.reply(Error(said.status, said.message))
    else:
        model.reply(*_parts(said), **more)


def _recital(recite: words.Recite, request: ApiRequest) -> Reply:
    everything = f"{request.system}\n{request.text}\n{request.model}\n{' '.join(request.tool_names)}"
    return Reply((Text(f"I know of {[word for word in recite.words if word in everything]}."),))


def _parts(said: Any) -> list[Any]:
    made: list[Any] = []
    for part in said if isinstance(said, tuple) else (said,):
        match part:
            case words.Use(tool, arguments):
                made.append(ToolUse(tool, arguments))
            case words.Think(text):
                made.append(Thinking(text))
            case words.Hang(after):
                made.append(Stall(after=after))
            case _:
                made.append(part)
    turn(*made)
    return made


# The process


class Worker:
    """One process that runs programs with one package, each in a home and a folder of its own."""

    def __init__(self, python: Path | str, package: str, folder: Path) -> None:
        self._command = [str(python), str(HERE / "idiom_worker.py")]
        self._package = package
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self.trace = ""
        """Where the last program failed, for a person to read."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def run(self, module: str, name: str, script: words.Script) -> list[str]:
        """What the program prints, line by line, without what differs between two runs."""
        home, cwd = self._folder / name / "home", self._folder / name / "work"
        shutil.rmtree(home.parent, ignore_errors=True)
        home.mkdir(parents=True)
        cwd.mkdir()
        with ModelServer(seed=name) as model:
            teach(model, script)
            job = {"module": module, "name": name, "cwd": str(cwd), "env": {"HOME": str(home), **model.env()}}
            answer = self._ask(job)
        self.trace = answer["trace"]
        return normal(answer["said"], self._folder, self._package)

    def _ask(self, job: dict[str, Any]) -> dict[str, Any]:
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Timer(RUN_LIMIT_S, process.kill)
        late.start()
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        finally:
            late.cancel()
        if not line:
            self.end()
            return {"said": f"did not end within {RUN_LIMIT_S:.0f} s, or ended the process\n", "trace": ""}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _start(self) -> subprocess.Popen[str]:
        env = {name: os.environ[name] for name in INHERITED if name in os.environ}
        env |= {"SDK": self._package, "CLAUDE_BIN": real_cli().argv[-1], "SHELL": "/bin/bash", "HOME": "/nowhere"}
        return subprocess.Popen(
            self._command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def end(self) -> None:
        """The next program starts a new process, and what the former had kept is told again."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


# What differs between two runs

_SAME_TOKEN = [
    ("uuid", re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")),
    ("tool use", re.compile(r"\btoolu_\w+")),
    ("request", re.compile(r"\breq_\w+")),
    ("message", re.compile(r"\bmsg_\w+")),
    ("port", re.compile(r"(?<=127\.0\.0\.1:)\d+")),
    ("agent", re.compile(r"\ba[0-9a-f]{16}\b")),
    ("address", re.compile(r"\b0x[0-9a-f]{6,}")),
]
_TIME = re.compile(
    r"(\w*(?:duration|_ms|Ms|time|elapsed|ttft|_at|mtime|last_modified|file_size)\w*)(['\"]?[=:] ?)\d[\d.e-]*"
)
"""None is negative."""
_COST = re.compile(r"(\w*(?:cost|Cost)\w*)(['\"]?[=:] ?)(?=[\d.]*[1-9])\d[\d.e-]*")
"""Of a turn that the model answered, it is not 0."""
_DATE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)")


_PROMPT_UUID = re.compile(r",\s+['\"]user_message_uuids?['\"](?:: (?:\[[^\]]*\]|['\"][^'\"]*['\"]))?")
"""Prompts have a uuid here, which the CLI repeats in ``data``."""
_BLOB = re.compile(r"blob-\d+-\w+")


def normal(text: str, folder: Path, package: str) -> list[str]:
    dashed = re.escape(re.sub(r"[^a-zA-Z0-9]", "-", str(folder)))
    text = re.sub(rf"{dashed}-[\w-]+?-work", "<project>", text)
    text = re.sub(rf"{re.escape(str(folder))}/\w+/(home|work)", r"<\1>", text)
    text = text.replace(package, "<sdk>")
    text = _BLOB.sub("<blob>", _PROMPT_UUID.sub("", text))
    text = _DATE.sub("<date>", _COST.sub(r"\1\2<cost>", _TIME.sub(r"\1\2<time>", text)))
    for word, pattern in _SAME_TOKEN:
        seen: dict[str, str] = {}
        text = pattern.sub(lambda found: seen.setdefault(found[0], f"<{word} {len(seen) + 1}>"), text)  # noqa: B023
    return text.splitlines()


GOES_ON = (
    "raised ProcessError ",
    "raised CLIConnectionError Working directory does not exist: ",
    "raised ValueError Invalid session_id: ",
)
"""How errors begin whose text may go on where the official one ends; ``docs/migration.md`` lists them."""


def agrees(official: list[str], ours: list[str]) -> bool:
    """Whether both printed the same, but for errors that say more."""
    pairs = zip(official, ours, strict=False)
    same = (mine == theirs or (theirs.startswith(GOES_ON) and mine.startswith(theirs)) for theirs, mine in pairs)
    return len(official) == len(ours) and all(same)
