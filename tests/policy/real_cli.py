"""Put tool calls to the real CLI and see what it decides: run, asked about, or refused.

What the CLI allows it does, so it is shut in: it can write nothing but the scratch folder of the comparison. Without
bubblewrap, calls that name a file elsewhere are not put to it. A comparison needs answers: a call about which the CLI
says nothing raises, and on a build machine (``CI=true``) a missing CLI or sandbox fails instead of being skipped.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from needs import missing, real_cli
from quarterdeck.testing.install import NEWEST
from quarterdeck.testing.model import ModelServer, ToolUse

CALLS_PER_TURN = 25
LIMIT_S = 150.0
LIMIT_PER_CALL_S = 2.0
_NO_NET = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
"""What the CLI allows it does: a page that may be fetched is asked of a port where nobody listens."""
REPOSITORY = str(Path(__file__).parent.parent.parent)
"""With the servers that the CLI is to start; a clone may be in the folder for temporary files."""
_ENDS = ("--unshare-pid", "--die-with-parent")
"""Whoever ends bubblewrap ends all that is inside."""
_FLAGS = ("--output-format", "stream-json", "--input-format", "stream-json", "--verbose")
DECIDED = frozenset({"allow", "ask", "deny"})
"""Answers that can be compared. What the tool itself refuses, for its input or because there is no such tool, was not
decided about."""


class NoAnswerError(RuntimeError):
    """The CLI said nothing about some calls: it ended early, hung, or speaks in another way."""


def decisions(
    calls: Sequence[tuple[str, dict[str, Any]]],
    *,
    cwd: Path,
    home: Path,
    permissions: dict[str, Any] | None = None,
    mode: str | None = "default",
    shell: Path | None = None,
    trusted: Sequence[str] | None = None,
    flags: Sequence[str] = (),
    cli: str = NEWEST,
    offered: set[str] | None = None,
) -> list[str]:
    """``allow``, ``ask`` or ``deny`` for each call, in order; ``invalid`` where the tool itself refuses its input.

    ``permissions`` become the project's settings; None leaves the settings files as they are. ``trusted`` are the
    folders that the user trusted, by default ``cwd`` alone. ``shell`` runs the commands that are allowed in place of
    the user's. ``cli`` is the version; of one before 2.1.325, "allow" means that the tool had a result. ``offered`` is
    given the names of the tools. Raises ``NoAnswerError`` if there is a call about which the CLI says nothing.
    """
    (cwd / ".claude").mkdir(parents=True, exist_ok=True)
    home.mkdir(parents=True, exist_ok=True)
    if permissions is not None:
        (cwd / ".claude" / "settings.json").write_text(json.dumps({"permissions": permissions}))
    folders = [str(cwd)] if trusted is None else trusted
    projects = {folder: {"hasTrustDialogAccepted": True} for folder in folders}
    (home / ".claude.json").write_text(json.dumps({"projects": projects}))
    with ModelServer() as model:
        model.on(lambda request: request.kind == "subagent", "The sub-agent is done.")
        for start in range(0, len(calls), CALLS_PER_TURN):
            batch = enumerate(calls[start : start + CALLS_PER_TURN], start)
            model.reply(*[ToolUse(name, given, id=f"toolu_{number:05}") for number, (name, given) in batch])
        model.reply("done")
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "IS_SANDBOX": "1", **_NO_NET, **model.env()}
        if shell is not None:
            environment |= {"SHELL": str(shell), "CLAUDE_CODE_SHELL": str(shell)}
        argv = [*real_cli(cli).argv, *_FLAGS, "--permission-prompt-tool", "stdio", *flags]
        if mode is not None:
            argv += ["--permission-mode", mode]
        if mode == "bypassPermissions":
            argv.append("--allow-dangerously-skip-permissions")
        found, ended = _run([*_shut_in(calls, cwd, home, shell, cli), *argv], cwd, environment, len(calls), offered)
    answers = [found.get(f"toolu_{number:05}", "missing") for number in range(len(calls))]
    unanswered = [call for call, answer in zip(calls, answers, strict=True) if answer == "missing"]
    if unanswered:
        shown = "; ".join(f"{tool} {given}" for tool, given in unanswered[:3])[:500]
        raise NoAnswerError(f"{len(unanswered)} of {len(calls)} calls have no answer ({shown}). The CLI {ended}")
    return answers


def _run(
    argv: Sequence[str], cwd: Path, environment: dict[str, str], calls: int, offered: set[str] | None
) -> tuple[dict[str, str], str]:
    """What the CLI decided, and how it ended."""
    with (
        tempfile.TemporaryFile() as stderr,
        subprocess.Popen(
            argv, cwd=cwd, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
        ) as process,
    ):
        watchdog = threading.Timer(max(LIMIT_S, calls * LIMIT_PER_CALL_S), process.kill)
        watchdog.start()
        found: dict[str, str] = {}
        try:
            finished = _converse(process, found, set() if offered is None else offered)
        finally:
            watchdog.cancel()
            process.kill()
        code = process.wait()
        stderr.seek(0)
        said = stderr.read().decode(errors="replace").strip()[-2000:]
    how = "finished its turn" if finished else f"ended with code {code} before its turn was over"
    return found, f"{how}, and wrote to stderr: {said or 'nothing'}"


def share_decided(answers: Sequence[str]) -> float:
    """The part of the answers that can be compared; a comparison of few shows nothing."""
    return sum(answer in DECIDED for answer in answers) / len(answers)


def _shut_in(
    calls: Sequence[tuple[str, dict[str, Any]]], cwd: Path, home: Path, shell: Path | None, cli: str
) -> list[str]:
    """What to start the CLI with, so that no file outside of the scratch folder can be changed."""
    scratch = Path(os.path.commonpath([cwd, home, *([] if shell is None else [shell])]))
    if _bubblewrap():
        program = str(Path(real_cli(cli).argv[-1]).parent)
        seen = [part for place in (program, REPOSITORY, sys.prefix) for part in ("--ro-bind", place, place)]
        places = ["--tmpfs", "/tmp", *seen, "--bind", str(scratch), str(scratch)]
        return ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *places, *_ENDS]
    if any(_changes_outside(*call, scratch) for call in calls):
        missing("needs bubblewrap: some of these calls would change files elsewhere if the CLI allowed them")
    return []


@functools.cache
def _bubblewrap() -> bool:
    if shutil.which("bwrap") is None:
        return False
    tried = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "true"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def _changes_outside(tool: str, given: dict[str, Any], scratch: Path) -> bool:
    path = given.get("file_path", given.get("notebook_path", "")) if tool not in ("Read", "Glob", "Grep") else ""
    return Path(path).is_absolute() and not Path(os.path.realpath(path)).is_relative_to(scratch)


def idle_shell(folder: Path) -> Path:
    """A shell that tells the CLI about itself and runs no command: nothing that is allowed happens."""
    folder.mkdir(parents=True, exist_ok=True)
    shell = folder / "bash"
    shell.write_text('#!/bin/sh\ncase "$*" in *SNAPSHOT_FILE*|"-c env") exec bash "$@";; esac\nexit 0\n')
    shell.chmod(0o755)
    return shell


def _converse(process: subprocess.Popen[bytes], found: dict[str, str], offered: set[str]) -> bool:
    """Lets one turn run, refuses what it asks, notes each decision in ``found``; whether the turn came to its end."""
    assert process.stdin is not None
    assert process.stdout is not None

    def send(message: dict[str, Any]) -> None:
        assert process.stdin is not None
        # one that has ended reads no more; its output, which is read to the end, says how far it came
        with suppress(BrokenPipeError):
            os.write(process.stdin.fileno(), json.dumps(message).encode() + b"\n")

    send({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}})
    send({"type": "user", "session_id": "", "message": {"role": "user", "content": "go"}, "parent_tool_use_id": None})
    for line in process.stdout:
        message = json.loads(line)
        if message["type"] == "system" and message["subtype"] == "init":
            offered |= set(message["tools"])
        elif message["type"] == "control_request":
            request = message["request"]
            found[request["tool_use_id"]] = "ask"
            answer = {"behavior": "deny", "message": "asked"}
            response = {"subtype": "success", "request_id": message["request_id"], "response": answer}
            send({"type": "control_response", "response": response})
        elif message["type"] == "user":
            for meta in message.get("tool_result_meta", ()):
                found.setdefault(meta["id"], _decision(meta))
            for result in message["message"]["content"]:
                if isinstance(result, dict) and result["type"] == "tool_result":
                    found.setdefault(result["tool_use_id"], _without_meta(result))
        elif message["type"] == "result":
            return True
    return False


def _without_meta(result: dict[str, Any]) -> str:
    """What a result alone says: of a tool that is denied as a whole, which is no tool; of an older CLI, of any."""
    text = str(result.get("content"))
    if not result.get("is_error"):
        return "allow"
    return "deny" if "denied" in text else "invalid"


def _decision(meta: dict[str, Any]) -> str:
    decision = meta.get("permission_decision", {}).get("decision")
    return {"accept": "allow", "reject": "deny"}.get(decision, "invalid")
