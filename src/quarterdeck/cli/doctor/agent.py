"""The CLI: where it is, which version it reports, and whether it starts."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from quarterdeck._version import RELEASE
from quarterdeck.cli.common import cut, sanitize
from quarterdeck.transport.environment import child_environment
from quarterdeck.transport.errors import CLINotFoundError
from quarterdeck.transport.find import INSTALL_COMMAND, PATH_VARIABLES, find_cli, is_program
from quarterdeck.wire.versions import parse_version

from .findings import DoctorFinding

_finding = partial(DoctorFinding, "Claude Code")
VERSION_LIMIT_S = 30.0
"""``--version`` takes at most a second; longer on a cold disk or in an emulator."""
KILLED_LIMIT_S = 5.0
START_LIMIT_S = 60.0
"""From the start to the end of the process; a cold CLI needs a few seconds."""
SIMULATOR = "sim"


def look_for_cli(given: str | None, env: Mapping[str, str]) -> tuple[DoctorFinding, list[str] | None]:
    """Find the CLI; the second value is the command that starts it."""
    if given == SIMULATOR:
        from quarterdeck.testing.sim import executable

        words = [str(executable())]
        return _finding("cli-found", "ok", f"Simulator: {words[0]}", details={"argv": words}), words
    looked: list[str] = []

    def exists(path: str) -> bool:
        looked.append(path)
        return is_program(path)

    home = env.get("HOME") or None
    try:
        words = find_cli(given, env=env, home=home, exists=exists)
    except CLINotFoundError as error:
        return _not_found(_reason(str(error), given), looked, named=bool(given or _named_by(env))), None
    others = [path for path in _all_installed(env, home) if path not in words]
    how = "set by --cli" if given else _named_by(env)
    what = " ".join(words) + (f" ({how})" if how else "")
    if others:
        what += f"; also installed: {', '.join(others)}"
    details = {"argv": words, "looked_at": looked, "also": others}
    return _finding("cli-found", "ok", what, details=details), words


def _reason(said: str, given: str | None) -> str:
    """What the error says is wrong, with the name of our own option."""
    first, _, rest = said.replace("cli_path", "--cli").partition("\n")
    why = rest if first.startswith("Claude Code not found at:") else first
    why = why.split(". ", 1)[0]
    return f"{why} ({given})" if given else why


def _not_found(why: str, looked: list[str], *, named: bool) -> DoctorFinding:
    places = list(dict.fromkeys(looked))
    listed = "" if named else "".join(f"\n  {path}" for path in places)
    advice = f"Set --cli or {PATH_VARIABLES[0]} to its path, or install it: {INSTALL_COMMAND}"
    what = f"{why}. Looked in:{listed}" if listed else f"{why}."
    return _finding("cli-found", "problem", what, advice, {"argv": None, "looked_at": places, "also": []})


def _named_by(env: Mapping[str, str]) -> str:
    return next((f"set by {name}" for name in PATH_VARIABLES if env.get(name)), "")


def _all_installed(env: Mapping[str, str], home: str | None) -> list[str]:
    """Every installed claude: a shell may start another one than we do."""
    candidates: list[str] = []

    def never(path: str) -> bool:
        candidates.append(path)
        return False

    unnamed = {name: value for name, value in env.items() if name not in PATH_VARIABLES}
    try:
        find_cli(None, env=unnamed, home=home, exists=never)
    except CLINotFoundError:
        return [path for path in dict.fromkeys(candidates) if is_program(path)]
    raise AssertionError("find_cli found a file although none exists")


@dataclass(frozen=True, slots=True)
class CliOutput:
    """What a short-lived call of the CLI returned."""

    code: int | None
    """None if it timed out."""
    out: str
    err: str


def call_cli(words: Sequence[str], arguments: Sequence[str], env: Mapping[str, str], limit_s: float) -> CliOutput:
    """Call the CLI in a session's environment; kill its process group on a timeout. Raises ``OSError``."""
    with subprocess.Popen(
        [*words, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=child_environment(sdk_version=RELEASE, inherited=env),
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _end(process)
            return CliOutput(None, "", "")
    return CliOutput(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate(timeout=KILLED_LIMIT_S)


def version_of(words: Sequence[str], env: Mapping[str, str]) -> tuple[DoctorFinding, str | None]:
    """What it answers to ``--version``: the first time that it actually runs."""
    reinstall = f"Run it yourself ({' '.join(words)} --version), or reinstall it: {INSTALL_COMMAND}"
    try:
        answer = call_cli(words, ["--version"], env, VERSION_LIMIT_S)
    except OSError as error:
        why = f"Cannot be started: {error.strerror or error}"
        if Path(words[0]).is_file():
            why += " (wrong architecture, or a script without a #! line)"
        return _finding("cli-version", "problem", why, reinstall), None
    if answer.code is None:
        why = f"No answer to --version within {VERSION_LIMIT_S:.0f} s."
        return _finding("cli-version", "problem", why, reinstall), None
    version = parse_version(answer.out)
    if answer.code or version is None:
        said = cut(sanitize(answer.out.strip() or answer.err.strip() or "nothing", one_line=True), 200)
        why = f"--version exited with code {answer.code} and printed: {said}"
        return _finding("cli-version", "problem", why, reinstall), None
    text = ".".join(map(str, version))
    return _finding("cli-version", "ok", f"Version {text}", details={"version": text}), text


def start_check(words: Sequence[str]) -> DoctorFinding:
    """A real process and a real handshake. No prompt is sent, so no model is used."""
    from quarterdeck import QuarterdeckError

    begun = time.monotonic()
    advice = f"See what it prints: quarterdeck tap --out talk.ndjson -- {shlex.join(words)} -p hello"
    try:
        details = asyncio.run(_start(words))
    except TimeoutError:
        what = f"Not ready within {START_LIMIT_S:.0f} s; stopped."
        return _finding("cli-start", "problem", what, advice)
    except (QuarterdeckError, OSError) as error:
        what = f"Does not start: {cut(sanitize(str(error), one_line=True), 400)}"
        return _finding("cli-start", "problem", what, advice)
    took = time.monotonic() - begun
    what = f"Started, completed the handshake and stopped in {took:.1f} s."
    return _finding("cli-start", "ok", what, details={"seconds": round(took, 3), **details})


async def _start(words: Sequence[str]) -> dict[str, int]:
    """In an empty folder and without settings, so that no hook or MCP server of a project interferes."""
    from quarterdeck import ClaudeAgentOptions, connect

    with tempfile.TemporaryDirectory(prefix="quarterdeck-doctor-") as folder:
        options = ClaudeAgentOptions(cli_path=list(words), cwd=folder, setting_sources=[])
        async with asyncio.timeout(START_LIMIT_S), connect(options) as session:
            info = session.server_info
        return {"commands": len(info.commands or ()), "models": len(info.models or ())}
