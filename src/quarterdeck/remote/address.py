"""Where a host is and how to authenticate: a URL or a Unix socket, and a token.

The token is the one passed in, ``QUARTERDECK_TOKEN`` or, for a Unix socket, the one stored next to it. The stored token
has every permission, so it is sent only to its own socket: a URL may be anyone's, even on this machine.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from quarterdeck._places import state_folder as state_folder
from quarterdeck.gateways.http.routes import SOCKET
from quarterdeck.host.errors import HostError

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

SOCKET_FILE, TOKEN_FILE = "host.sock", "token"
MESSAGE_LIMIT_BYTES = 256 * 1024 * 1024
"""Maximum size of one message from the host: a log row has at most 64 MiB, and JSON makes it longer."""
CA_VARIABLE = "QUARTERDECK_CA_FILE"
_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """A host to connect to."""

    shown: str
    """The name used in messages."""
    url: str
    """URL of its WebSocket; with ``unix``, only the path matters."""
    token: str
    unix: Path | None = None
    tls: ssl.SSLContext | None = None
    """For a host whose certificate the system doesn't trust."""

    @classmethod
    def find(
        cls,
        host: str | os.PathLike[str] | None = None,
        token: str | None = None,
        ca_file: str | os.PathLike[str] | None = None,
    ) -> Address:
        """Find a host from the arguments, the environment (``QUARTERDECK_HOST``, ``_TOKEN``, ``_CA_FILE``), or the
        user's state folder.

        ``host`` is a URL, a Unix socket (``unix:/run/host.sock``, or its path) or a state folder.
        """
        named = os.fspath(host) if host else os.environ.get("QUARTERDECK_HOST") or str(state_folder())
        if "://" in named and not named.startswith("unix:"):
            return cls._of_url(named, token, ca_file or os.environ.get(CA_VARIABLE))
        place = Path(named.removeprefix("unix://").removeprefix("unix:")).expanduser().absolute()
        socket = place / SOCKET_FILE if place.is_dir() or not place.suffix else place
        secret = _token(token, socket.parent, str(socket))
        return cls(shown=str(socket), url=f"ws://localhost{SOCKET}", token=secret, unix=socket)

    @classmethod
    def _of_url(cls, given: str, token: str | None, ca_file: str | os.PathLike[str] | None) -> Address:
        parts = urlsplit(given)
        scheme, name = _SCHEMES.get(parts.scheme), parts.hostname
        if scheme is None or not name or parts.query or parts.fragment or parts.username:
            raise HostError(
                "invalid", f"{given} is not the URL of a host.", hint="Use a URL such as https://host:8787."
            )
        path = parts.path.rstrip("/").removesuffix(SOCKET)
        return cls(
            shown=given,
            url=f"{scheme}://{parts.netloc}{path}{SOCKET}",
            token=_token(token, None, given),
            tls=_trusting(ca_file) if ca_file and scheme == "wss" else None,
        )

    @property
    def is_loopback(self) -> bool:
        return self.unix is not None or _is_loopback(urlsplit(self.url).hostname or "")

    async def connect(self, limit_s: float, tls: ssl.SSLContext | None = None) -> ClientConnection:
        """Connect. Raises the errors of ``websockets`` and the system."""
        try:
            from websockets.asyncio.client import connect, unix_connect
        except ModuleNotFoundError as error:
            raise HostError(
                "unavailable",
                "The package for WebSockets, which a remote host needs, is not installed.",
                hint="Run pip install 'quarterdeck[remote]'.",
            ) from error
        settings: dict[str, Any] = {
            "additional_headers": {"Authorization": f"Bearer {self.token}"},
            "compression": None if self.is_loopback else "deflate",
            "max_size": MESSAGE_LIMIT_BYTES,
            "open_timeout": limit_s,
            "close_timeout": 1.0,
            "ping_interval": None,  # not needed: the host sends something every few seconds
        }
        if self.unix is not None:
            return await unix_connect(str(self.unix), self.url, **settings)
        if (trusted := tls or self.tls) is not None:
            settings["ssl"] = trusted
        return await connect(self.url, proxy=None if self.is_loopback else True, **settings)


def _is_loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _trusting(ca_file: str | os.PathLike[str]) -> ssl.SSLContext:
    """Trust these certificates in addition to the system's."""
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(ca_file)
    except OSError as error:  # also a file without a certificate
        why = "it contains no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise HostError(
            "invalid",
            f"The certificates in {os.fspath(ca_file)} cannot be read: {why}.",
            hint="Use a PEM file with the certificate of the host, or of the authority that issued it.",
        ) from error
    return context


def _token(given: str | None, folder: Path | None, shown: str) -> str:
    found = given or os.environ.get("QUARTERDECK_TOKEN")
    if not found and folder is not None:
        try:
            found = (folder / TOKEN_FILE).read_text().strip()
        except OSError:
            hint = f"Start one with quarterdeck serve, or pass a token: {folder / TOKEN_FILE} cannot be read."
            raise HostError("unauthenticated", f"There is no token for the host at {shown}.", hint=hint) from None
    if not found or not (found.isascii() and found.isprintable()):
        hint = "Set QUARTERDECK_TOKEN. An admin can create a token with quarterdeck token create."
        raise HostError("unauthenticated", f"The host at {shown} needs a token.", hint=hint)
    return found
