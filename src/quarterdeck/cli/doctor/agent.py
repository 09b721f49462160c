"""The CLI: where it is, what else was looked at, and which version it says it is."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quarterdeck import __version__
from quarterdeck.cli.common import cut, plain
from quarterdeck.transport.environment import child_environment
from quarterdeck.transport.errors import CLINotFoundError
from quarterdeck.transport.find import INSTALL_COMMAND, PATH_VARIABLES, find_cli, is_program
from quarterdeck.wire.versions import parse_version

from .finding import Finding

VERSION_LIMIT_S = 30.0
"""``--version`` takes a second at most; a cold disk or an emulator takes longer."""
KILLED_LIMIT_S = 5.0
SIMULATOR = "sim"


def look_for_cli(given: str | None, env: Mapping[str, str]) -> tuple[Finding, list[str] | None]:
    """Where the CLI is, as the words that start it."""
    if given == SIMULATOR:
        from quarterdeck.testing.sim import executable

        words = [str(executable())]
        return Finding("Claude Code", "cli-found", "ok", f"the simulator: {words[0]}", details={"argv": words}), words
    looked: list[str] = []

    def exists(path: str) -> bool:
        looked.append(path)
        return is_program(path)

    home = env.get("HOME") or None
    try:
        words = find_cli(given, env=env, home=home, exists=exists)
    except CLINotFoundError as error:
        return _not_found(_reason(str(error), given), looked, named=bool(given or _named_by(env))), None
    others = [path for path in _everywhere(env, home) if path not in words]
    how = "as --cli says" if given else _named_by(env)
    what = " ".join(words) + (f" ({how})" if how else "")
    if others:
        what += f"; also there: {', '.join(others)}"
    details = {"argv": words, "looked_at": looked, "also": others}
    return Finding("Claude Code", "cli-found", "ok", what, details=details), words


def _reason(said: str, given: str | None) -> str:
    """The first sentence of the error, in the words of this command."""
    why = said.replace("cli_path", "--cli").split("\n", 1)[0].split(". ", 1)[0]
    return f"{why} ({given})" if given else why


def _not_found(why: str, looked: list[str], *, named: bool) -> Finding:
    places = list(dict.fromkeys(looked))
    listed = "" if named else "".join(f"\n  {path}" for path in places)
    advice = (
        f"install it with: {INSTALL_COMMAND}; or say where it is, by --cli FILE or the variable {PATH_VARIABLES[0]}"
    )
    what = f"{why}; looked at:{listed}" if listed else why
    return Finding("Claude Code", "cli-found", "problem", what, advice, {"argv": None, "looked_at": places, "also": []})


def _named_by(env: Mapping[str, str]) -> str:
    return next((f"as {name} says" for name in PATH_VARIABLES if env.get(name)), "")


def _everywhere(env: Mapping[str, str], home: str | None) -> list[str]:
    """Every place that has a claude: another one than expected may be the one that a shell starts."""
    candidates: list[str] = []

    def never(path: str) -> bool:
        candidates.append(path)
        return False

    unnamed = {name: value for name, value in env.items() if name not in PATH_VARIABLES}
    try:
        find_cli(None, env=unnamed, home=home, exists=never)
    except CLINotFoundError:
        return [path for path in dict.fromkeys(candidates) if is_program(path)]
    raise AssertionError("nothing exists, and yet it was found")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a short-lived call of the CLI gave."""

    code: int | None
    """None: it did not end in time."""
    out: str
    err: str


def ask(words: Sequence[str], arguments: Sequence[str], env: Mapping[str, str], limit_s: float) -> Answer:
    """Call the CLI as a session would start it, and end all that it started. Raises ``OSError``."""
    with subprocess.Popen(
        [*words, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=child_environment(sdk_version=__version__, inherited=env),
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _end(process)
            return Answer(None, "", "")
    return Answer(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate(timeout=KILLED_LIMIT_S)


def version_of(words: Sequence[str], env: Mapping[str, str]) -> tuple[Finding, str | None]:
    """What it answers to ``--version``: the first time that it really runs."""
    reinstall = f"run it by hand to see more: {' '.join(words)} --version; or install it anew: {INSTALL_COMMAND}"
    try:
        answer = ask(words, ["--version"], env, VERSION_LIMIT_S)
    except OSError as error:
        why = f"it cannot be started: {error.strerror or error}"
        if Path(words[0]).is_file():
            why += " (a wrong architecture, or a script without a first line that names its program)"
        return Finding("Claude Code", "cli-version", "problem", why, reinstall), None
    if answer.code is None:
        why = f"it did not answer --version within {VERSION_LIMIT_S:.0f} s"
        return Finding("Claude Code", "cli-version", "problem", why, reinstall), None
    version = parse_version(answer.out)
    if answer.code or version is None:
        said = cut(plain(answer.out.strip() or answer.err.strip() or "nothing", one_line=True), 200)
        why = f"--version ended with code {answer.code} and said: {said}"
        return Finding("Claude Code", "cli-version", "problem", why, reinstall), None
    text = ".".join(map(str, version))
    return Finding("Claude Code", "cli-version", "ok", f"version {text}", details={"version": text}), text
