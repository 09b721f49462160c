"""The host as a service of the user: a systemd unit or a launchd agent."""

from __future__ import annotations

import argparse
import os
import plistlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from quarterdeck._places import state_folder
from quarterdeck.cli import serve
from quarterdeck.cli.common import OK, Look, ReportedError

LABEL = "quarterdeck"
LIMIT_S = 60.0
UNIT = """\
[Unit]
Description=Quarterdeck: Claude Code sessions

[Service]
Type=exec
ExecStart={command}
{environment}
Restart=on-failure
RestartSec=2
# Claude Code's processes belong to a keeper that outlives the host: end only the host itself.
KillMode=process
TimeoutStopSec=30

[Install]
WantedBy=default.target
"""
KEPT = ("PATH", "XDG_STATE_HOME", "CLAUDE_BIN", "CLAUDE_CONFIG_DIR")
"""Variables that say where things are. Nothing else is taken over: a file is no place for secrets."""


@dataclass(frozen=True)
class Manager:
    """How a system starts things for its user."""

    file: Path
    text: bytes
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]


def install(given: argparse.Namespace) -> int:
    """``quarterdeck service install``."""
    serve.arguments(given.serve)  # what serve would refuse is refused here
    manager = manager_for(sys.platform, given.serve)
    if given.print:
        sys.stdout.write(manager.text.decode())
        return OK
    if manager.file.exists() and not given.no_start:  # what runs has the old file's settings
        for words in manager.stop:
            _told(words, must=False)
    try:
        manager.file.parent.mkdir(parents=True, exist_ok=True)
        manager.file.write_bytes(manager.text)
    except OSError as error:
        raise ReportedError(
            f"cannot write {manager.file}: {error.strerror}", "Check the folder's permissions."
        ) from error
    look = Look.of(sys.stdout)
    print(f"{look.paint('green', 'written')}  {manager.file}")
    if given.no_start:
        return OK
    for words in manager.start:
        _told(words)
    print(f"{look.paint('green', 'started')}  quarterdeck ps lists its sessions")
    if (advice := _lingering()) is not None:
        print(look.paint("dim", advice))
    return OK


def remove() -> int:
    """``quarterdeck service remove``."""
    manager = manager_for(sys.platform, [])
    if not manager.file.exists():
        raise ReportedError("no service is installed", "Install one with quarterdeck service install.")
    for words in manager.stop:
        _told(words, must=False)
    manager.file.unlink(missing_ok=True)
    if sys.platform.startswith("linux"):
        _told(("systemctl", "--user", "daemon-reload"), must=False)
    print(f"{Look.of(sys.stdout).paint('green', 'removed')}  {manager.file}")
    return OK


def manager_for(platform: str, options: list[str]) -> Manager:
    """What would be written where on this system, and how it is started."""
    command = [sys.executable, "-m", "quarterdeck", "serve", *options]
    kept = {name: os.environ[name] for name in KEPT if os.environ.get(name)}
    if platform == "darwin":
        return _launchd(command, kept)
    if platform.startswith("linux"):
        return _systemd(command, kept)
    raise ReportedError(f"services are not supported on {platform}", "Run quarterdeck serve yourself.")


def _systemd(command: list[str], kept: dict[str, str]) -> Manager:
    base = os.environ.get("XDG_CONFIG_HOME")
    folder = (Path(base) if base else Path.home() / ".config") / "systemd" / "user"
    name = f"{LABEL}.service"
    environment = "\n".join(f"Environment={_quoted(f'{key}={value}')}" for key, value in kept.items())
    started = " ".join(_quoted(word).replace("$", "$$") for word in command)  # a variable would be put in its place
    text = UNIT.format(command=started, environment=environment)
    user = ("systemctl", "--user")
    return Manager(
        folder / name,
        text.encode(),
        start=((*user, "daemon-reload"), (*user, "enable", "--now", name)),
        stop=((*user, "disable", "--now", name),),
    )


def _quoted(word: str) -> str:
    """For a unit: specifiers and quotes mean nothing."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{escaped}"'


def _launchd(command: list[str], kept: dict[str, str]) -> Manager:
    file = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    log = str(state_folder() / "serve.log")
    settings = {
        "Label": LABEL,
        "ProgramArguments": command,
        "EnvironmentVariables": kept,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "AbandonProcessGroup": True,
        "ProcessType": "Interactive",
        "StandardErrorPath": log,
        "StandardOutPath": log,
    }
    domain = f"gui/{os.getuid()}"
    return Manager(
        file,
        plistlib.dumps(settings),
        start=(("launchctl", "bootstrap", domain, str(file)),),
        stop=(("launchctl", "bootout", f"{domain}/{LABEL}"),),
    )


def _told(words: tuple[str, ...], *, must: bool = True) -> None:
    program = shutil.which(words[0])
    if program is None:
        raise ReportedError(f"{words[0]} is not installed", "Run quarterdeck serve yourself, or use --no-start.")
    try:
        done = subprocess.run(
            [program, *words[1:]],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise ReportedError(f"{' '.join(words)} did not finish", "Check the system log.") from error
    if done.returncode and must:
        why = (done.stderr or done.stdout).strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        advice = (
            "See journalctl --user -u quarterdeck." if words[0] == "systemctl" else "See serve.log in the state folder."
        )
        raise ReportedError(f"{' '.join(words)}: {why[0]}", advice)


def _lingering() -> str | None:
    """On Linux, what a user's services live by."""
    if not sys.platform.startswith("linux"):
        return None
    user = os.environ.get("USER", "")
    if user and Path("/var/lib/systemd/linger", user).exists():
        return None
    return "It stops when you log out. To keep it running and start it at boot: loginctl enable-linger"
