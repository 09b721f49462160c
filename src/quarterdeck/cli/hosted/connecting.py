"""Where the host is, and how a command reaches it."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from quarterdeck._places import state_folder
from quarterdeck.cli.common import BROKEN_PIPE, FAILED, INTERRUPTED, OK, USAGE_ERROR, Parser, ReportedError

if TYPE_CHECKING:
    from quarterdeck.host import HostError
    from quarterdeck.remote import RemoteHost

HOST_VARIABLE = "QUARTERDECK_HOST"
TOKEN_VARIABLE = "QUARTERDECK_TOKEN"  # noqa: S105  # its name
CA_VARIABLE = "QUARTERDECK_CA_FILE"
NO_HOST = 3
"""The exit code when no host answers."""
EXITS = {
    OK: "success",
    FAILED: "the host refused, or there is no such session, request or token",
    USAGE_ERROR: "invalid arguments",
    NO_HOST: "no host is running",
    INTERRUPTED: "interrupted with Ctrl-C",
    BROKEN_PIPE: "output pipe closed",
}
_START = "Start one with quarterdeck serve, or use --host URL."


class HostAddress(NamedTuple):
    """Where a host is, and the token to show it."""

    url: str
    """``http://…``, ``https://…`` or ``unix:/path``."""
    token: str
    is_here: bool
    """On this machine: what a session's files are can be seen here, too."""
    ca_file: str | None = None
    """Certificates to trust beside the system's."""

    def __str__(self) -> str:
        return self.url.removeprefix("unix:")


def add_host_options(parser: Parser, *, json: str | None = "print JSON") -> None:
    """``--host``, ``--token-file`` and ``--ca-file``, and ``--json`` unless the command has none."""
    if json is not None:
        parser.add_argument("--json", action="store_true", help=json)
    group = parser.add_argument_group("host")
    where = f"the host's URL or state folder (default: ${HOST_VARIABLE}, or your own host)"
    group.add_argument("--host", metavar="URL", help=where)
    token = f"read the token from this file (default: ${TOKEN_VARIABLE}, or the state folder's)"
    group.add_argument("--token-file", metavar="FILE", help=token)
    trusted = f"trust the certificates in this PEM file, too (default: ${CA_VARIABLE})"
    group.add_argument("--ca-file", metavar="FILE", help=trusted)


def address_of(given: argparse.Namespace) -> HostAddress:
    """From ``--host``, ``QUARTERDECK_HOST``, or the user's state folder.

    The state folder's token is only ever sent to its socket: a URL could belong to anyone, even on this machine.
    """
    wanted: str = given.host or os.environ.get(HOST_VARIABLE, "")
    if wanted.startswith(("http://", "https://")):
        url = wanted.rstrip("/")
        return HostAddress(url, _token(given) or _no_token(url), is_here=False, ca_file=given.ca_file)
    if "://" in wanted:
        raise ReportedError(f"{wanted} is not a host", "Use http://…, https://… or a state folder.", code=USAGE_ERROR)
    folder = state_folder(wanted)
    if wanted and not folder.is_dir():
        advice = "Use http://…, https://… or a state folder; a prompt goes before --host."
        raise ReportedError(f"{wanted!r} is not a host", advice, code=USAGE_ERROR)
    socket = folder / "host.sock"
    if not socket.exists():
        raise ReportedError(f"no host is running in {folder}", _START, code=NO_HOST)
    return HostAddress(f"unix:{socket}", _token(given) or _read(folder / "token"), is_here=True)


def _token(given: argparse.Namespace) -> str:
    return _read(Path(given.token_file)) if given.token_file else os.environ.get(TOKEN_VARIABLE, "").strip()


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not a text file"
        advice = f"Set {TOKEN_VARIABLE}, or use --token-file."
        raise ReportedError(f"cannot read the token in {file}: {why}", advice, code=USAGE_ERROR) from error


def _no_token(url: str) -> str:
    advice = (
        f"Set {TOKEN_VARIABLE} or use --token-file. Create a token on the host's machine with quarterdeck token create."
    )
    raise ReportedError(f"no token for {url}", advice, code=USAGE_ERROR)


def on_host(given: argparse.Namespace, work: Callable[[RemoteHost], Awaitable[int]]) -> int:
    """Runs something on the selected host; returns the exit code. Refusals are reported."""
    address = address_of(given)

    async def connected() -> int:
        async with opened(address) as host:
            return await work(host)

    return asyncio.run(reporting(connected()))


def opened(address: HostAddress, say: Callable[[str, str], None] | None = None) -> RemoteHost:
    """An async context manager. ``say`` is called when the connection is lost and restored."""
    try:
        from quarterdeck.remote import RemoteHost
    except ImportError as error:
        raise ReportedError(
            f"{error.name} is not installed", "Run pip install 'quarterdeck[host]'.", code=USAGE_ERROR
        ) from error
    lost = False

    def changed(state: str) -> None:
        nonlocal lost
        if say is not None and state == "reconnecting":
            say("yellow", "connection to the host lost; reconnecting …")
        elif say is not None and lost and state == "connected":
            say("dim", "reconnected")
        lost = state == "reconnecting"

    return RemoteHost(address.url, token=address.token, ca_file=address.ca_file, on_state=changed)


async def reporting(work: Awaitable[int]) -> int:
    """What the host refuses becomes two lines: what, and what to do."""
    from quarterdeck.host import HostError

    try:
        return await work
    except HostError as error:
        raise reported(error) from error


def reported(error: HostError) -> ReportedError:
    code = NO_HOST if error.code in ("unavailable", "shutting_down") else FAILED
    told = "" if error.code == "unauthenticated" else error.hint
    return ReportedError(error.message, told or _NEXT.get(error.code, "Run quarterdeck ps."), code=code)


_NEXT = {
    "unauthenticated": f"Check {TOKEN_VARIABLE}, or create a new token with quarterdeck token create.",
    "forbidden": "Use a token with more rights: quarterdeck token create --scope …",
    "not_found": "Run quarterdeck ps to list sessions, quarterdeck approvals to list pending requests.",
    "already_decided": "Run quarterdeck audit to see who decided what.",
    "withdrawn": "Run quarterdeck approvals to list pending requests.",
    "not_running": "Send it a prompt with quarterdeck send to start it again.",
    "unavailable": _START,
    "shutting_down": "Try again when it is back.",
    "cli_missing": "Run quarterdeck doctor on the host's machine.",
    "cli_failed": "Run quarterdeck log ID to see what happened.",
}
