"""``quarterdeck model``: the real CLI on a scripted model, outside of a test."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .common import OK, USAGE_ERROR, Look, Parser, ReportedError, sanitize

if TYPE_CHECKING:
    from quarterdeck.testing.model import ApiRequest, ModelServer

DESCRIPTION = """\
Starts a Messages API on 127.0.0.1 that says what you script, and runs a command with it. The real Claude Code then
works as usual (tools, permissions, hooks, sessions) without a model, an account or a cost. Its sessions and settings
are in a temporary folder, so yours are not touched.

Each --reply and each --tool is one turn of the model, in the order given. Without a command, it prints the environment
to use and serves until Ctrl-C."""
ELSEWHERE = (
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
)
"""Variables that would send the CLI to another model, or a token to ours."""
NOT_FOUND = 127
"""As in shells."""
SILENCE_S = 4.0
"""Between two signs of life during an installation."""


def parser() -> Parser:
    built = Parser(
        "quarterdeck model",
        usage="quarterdeck model [options] [-- COMMAND …]",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck model --reply 'Hello!' -- quarterdeck run hi", "the model answers Hello!"),
            (
                """quarterdeck model --tool 'Bash {"command": "ls"}' --reply Done. -- quarterdeck run 'list them'""",
                "the model calls a tool, and you are asked for permission",
            ),
            ("quarterdeck model --scenario permission.yaml -- claude -p go", "a scenario file, and claude itself"),
            ("quarterdeck model --cli 2.1.325 --reply hi -- quarterdeck run hi", "a fixed version of Claude Code"),
        ],
        exits={
            OK: "success; other codes of the command are passed on",
            USAGE_ERROR: "invalid arguments or scenario",
            NOT_FOUND: "the command was not found",
        },
    )
    built.set_defaults(turns=[])
    for name, metavar, purpose in (
        ("--reply", "TEXT", "the model says this (repeatable)"),
        ("--tool", "CALL", "the model calls a tool: its name and its input as JSON (repeatable)"),
    ):
        built.add_argument(name, action=_OrderedOption, metavar=metavar, help=purpose)
    built.add_argument("--scenario", metavar="FILE", help="the model's part of a scenario file, YAML or JSON")
    built.add_argument(
        "--cli",
        metavar="VERSION",
        help="use this version of Claude Code, fetched with npm if needed, not the installed one",
    )
    built.add_argument("--config-dir", metavar="DIR", help="keep sessions and settings here (default: temporary)")
    built.add_argument("--requests", metavar="FILE", help="write what the model was asked, one JSON object per line")
    built.add_argument("--json", action="store_true", help="without a command: print the environment as JSON")
    return built


class _OrderedOption(argparse.Action):
    """Options in the order in which they were given."""

    def __call__(self, reader: Any, given: argparse.Namespace, value: Any, option: str | None = None) -> None:
        given.turns = [*given.turns, (option, value)]


def main(argv: list[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    border = words.index("--") if "--" in words else len(words)
    reader = parser()
    given, command = reader.parse_args(words[:border]), words[border + 1 :]
    if border < len(words) and not command:
        reader.error("the command after -- is missing, e.g. -- quarterdeck run hi")
    if given.json and command:
        reader.error("--json is for use without a command; --requests FILE keeps what was asked")
    from quarterdeck.testing.model import ModelServer
    from quarterdeck.testing.simulated import SCRIPTED_VARIABLE

    with tempfile.TemporaryDirectory(prefix="quarterdeck-model-") as scratch, ModelServer() as server:
        _script(server, given)
        queued = server.queued
        settings = {
            **server.env(),
            **_cli(given.cli),
            "CLAUDE_CONFIG_DIR": str(Path(given.config_dir or scratch).absolute()),
            SCRIPTED_VARIABLE: "1",
        }
        try:
            return _run(command, settings) if command else _serve(server, settings, as_json=given.json)
        finally:
            _report(server, queued, given.requests)


def _script(server: ModelServer, given: argparse.Namespace) -> None:
    from quarterdeck.testing.model import ToolUse

    if given.scenario:
        from quarterdeck.testing.model.scenario import queue_scenario
        from quarterdeck.testing.sim import ScenarioFileError

        try:
            queue_scenario(server, given.scenario)
        except (ScenarioFileError, OSError) as error:
            raise ReportedError(str(error), "docs/simulator.md describes the file.", code=USAGE_ERROR) from error
    for option, text in given.turns:
        server.reply(text if option == "--reply" else ToolUse(*_tool_call(text)))


def _tool_call(text: str) -> tuple[str, dict[str, Any]]:
    """``Bash {"command": "ls"}`` → name and input."""
    name, _, written = text.strip().partition(" ")
    try:
        found = json.loads(written or "{}")
    except ValueError:
        found = None
    if not name or not isinstance(found, dict):
        raise ReportedError(
            f"--tool {text!r} is not a name followed by a JSON object",
            """Example: --tool 'Bash {"command": "ls"}'""",
            code=USAGE_ERROR,
        )
    return name, found


def _cli(version: str | None) -> dict[str, str]:
    if version is None:
        return {}
    from quarterdeck.testing.install import InstallError, install_cli, is_installed

    try:
        with contextlib.nullcontext() if is_installed(version) else _announced(f"installing Claude Code {version}"):
            words = install_cli(version).argv
    except InstallError as error:
        raise ReportedError(str(error), "Leave out --cli to use the installed claude.") from error
    return {"CLAUDE_BIN": words[-1]}


@contextlib.contextmanager
def _announced(what: str) -> Iterator[None]:
    """Says on stderr what takes so long, and every few seconds that it still does."""
    began, done = time.monotonic(), threading.Event()

    def repeat() -> None:
        while not done.wait(SILENCE_S):
            print(f"{what}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)

    print(f"{what} with npm (about 350 MB) …", file=sys.stderr, flush=True)
    teller = threading.Thread(target=repeat, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _run(command: Sequence[str], settings: dict[str, str]) -> int:
    env = {name: value for name, value in os.environ.items() if name not in ELSEWHERE} | settings
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command; we wait for its end
    try:
        with subprocess.Popen(command, env=env, restore_signals=True, preexec_fn=_take_interrupts) as process:
            code = process.wait()
    except FileNotFoundError as error:
        raise ReportedError(f"command not found: {command[0]}", "Check its spelling.", code=NOT_FOUND) from error
    except OSError as error:
        raise ReportedError(f"cannot run {command[0]}: {error.strerror}", "Check its path.", code=NOT_FOUND) from error
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code


def _take_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _serve(server: ModelServer, settings: dict[str, str], *, as_json: bool) -> int:
    unset = [name for name in ELSEWHERE if name in os.environ]
    if as_json:
        print(json.dumps({"base_url": server.base_url, "env": settings, "unset": unset}), flush=True)
    else:
        lines = [*(f"unset {name}" for name in unset), *(f"export {n}={shlex.quote(v)}" for n, v in settings.items())]
        print("\n".join(lines), flush=True)
    told = Look.of(sys.stderr).paint("dim", "Serving. Paste these lines into another shell. Ctrl-C ends it.")
    print(told, file=sys.stderr, flush=True)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    with contextlib.suppress(KeyboardInterrupt):
        ended.wait()
    return OK


def _report(server: ModelServer, queued: int, file: str | None) -> None:
    """Reports the unused parts of the script and any requests beyond it."""
    asked = server.conversation
    beyond = sum(request.answered_by == "unscripted" for request in asked)
    parts = []
    if server.queued:
        parts.append(f"{server.queued} of {queued} turns not used")
    if beyond:
        parts.append(f"{beyond} {'request' if beyond == 1 else 'requests'} had no scripted turn")
    if parts:
        print(f"quarterdeck model: {'; '.join(parts)}", file=sys.stderr, flush=True)
    if file:
        try:
            with Path(file).open("w", encoding="utf-8") as out:
                out.writelines(json.dumps(_facts(request)) + "\n" for request in server.requests)
        except OSError as error:
            raise ReportedError(f"cannot write {sanitize(file)}: {error.strerror}", "Use another path.") from error


def _facts(request: ApiRequest) -> dict[str, Any]:
    return {
        "number": request.number,
        "method": request.method,
        "path": request.path,
        "kind": request.kind,
        "answered_by": request.answered_by,
        "body": request.json,
    }
