"""Before anything is looked at: who is at the other end, under which name they reached us, from which page.

A page of another site that a person has open can send requests here (CSRF), and can make its own name point here (DNS
rebinding). So ``Host`` must be a name of ours, and ``Origin``, where a browser sends one, must be ourselves.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

import msgspec
from starlette.types import Scope

from .problems import HttpError
from .settings import Settings

UNIX = "unix"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Visitor(msgspec.Struct, frozen=True):
    """The other end, as far as it can be trusted."""

    address: str
    """An IP address, or ``unix``."""
    scheme: str
    host: str
    """As in the header, with its port."""


NOBODY = Visitor("", "http", "")
KNOWN, KNOWN_CHARS = 1_000, 300


class Admission:
    """Checks the outside of a request."""

    def __init__(self, settings: Settings) -> None:
        self._base = settings.base_path.rstrip("/")
        self._hosts = LOOPBACK | {name.lower().strip("[]") for name in settings.hosts}
        self._unix_is_proxy = UNIX in settings.proxies
        self._proxies = [ipaddress.ip_network(one, strict=False) for one in settings.proxies if one != UNIX]
        self._has_proxies = self._unix_is_proxy or bool(self._proxies)
        self._known: dict[tuple[str, str, bytes], Visitor] = {}
        """Visitors whose ``Host`` was a name of ours, by all that was looked at."""

    def admit(self, scope: Scope, headers: dict[bytes, bytes]) -> Visitor:
        """Raises ``HttpError``. Changes the scope's path to the one below the base path."""
        if not scope["path"].startswith("/"):
            raise HttpError(400, "invalid", "The path must start with a slash.")
        visitor = self._visitor(scope, headers)
        if b"origin" in headers:
            self._check_origin(visitor, headers[b"origin"])
        if self._base:
            self._strip_base(scope)
        scope["scheme"] = visitor.scheme
        return visitor

    def _visitor(self, scope: Scope, headers: dict[bytes, bytes]) -> Visitor:
        """Raises ``HttpError`` if it asks for somebody else."""
        client = scope.get("client")
        address = UNIX if not client or not client[0] else client[0]
        if self._has_proxies and self._is_proxy(address):
            return self._checked(self._behind(address, scope["scheme"], headers))
        seen = (address, scope["scheme"], headers.get(b"host", b""))
        if (known := self._known.get(seen)) is None:
            known = self._checked(Visitor(address, _plain(scope["scheme"]), seen[2].decode("latin-1")))
            if len(self._known) >= KNOWN:
                self._known.clear()
            if len(seen[2]) <= KNOWN_CHARS:
                self._known[seen] = known
        return known

    def _checked(self, visitor: Visitor) -> Visitor:
        if _name(visitor.host) not in self._hosts:
            raise HttpError(
                421,
                "forbidden",
                "Unknown host name.",
                hint="Use localhost, or start it with --allow-host NAME.",
                field="Host",
            )
        return visitor

    def _behind(self, address: str, scheme: str, headers: dict[bytes, bytes]) -> Visitor:
        """Who is at the other end of a proxy, as it says."""
        chain = _listed(headers.get(b"x-forwarded-for", b""))
        address = next((one for one in reversed(chain) if not self._is_proxy(one)), chain[0] if chain else address)
        scheme = [scheme, *_listed(headers.get(b"x-forwarded-proto", b""))][-1]
        host = [headers.get(b"host", b"").decode("latin-1"), *_listed(headers.get(b"x-forwarded-host", b""))][-1]
        return Visitor(address, _plain(scheme), host)

    def _is_proxy(self, address: str) -> bool:
        if address == UNIX:
            return self._unix_is_proxy
        if not self._proxies:
            return False
        try:
            known = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        return any(known in network for network in self._proxies)

    def _check_origin(self, visitor: Visitor, origin: bytes) -> None:
        if origin.decode("latin-1").lower() != f"{visitor.scheme}://{visitor.host}".lower():
            raise HttpError(403, "forbidden", "Requests from other sites are not allowed.", field="Origin")

    def _strip_base(self, scope: Scope) -> None:
        path: str = scope["path"]
        if path == self._base or path.startswith(self._base + "/"):
            scope["path"] = path[len(self._base) :] or "/"


def _plain(scheme: str) -> str:
    return "https" if scheme in ("https", "wss") else "http"


def _name(host: str) -> str:
    """Of ``Host``: without its port, without brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    name, _, port = host.rpartition(":")
    return (name if name and port.isdigit() else host).lower()


def _listed(value: bytes) -> list[str]:
    return [one.strip() for one in value.decode("latin-1").split(",") if one.strip()]


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """By name. Raises ``HttpError`` where one that must be unique comes twice: two readers might choose differently."""
    found: dict[bytes, bytes] = {}
    for name, value in pairs:
        if name not in found:
            found[name] = value
        elif name in _SINGLE:
            raise HttpError(400, "invalid", f"The header {name.decode('latin-1')} is given twice.")
        else:
            found[name] += b", " + value
    return found


_SINGLE = frozenset({b"host", b"authorization", b"content-length", b"content-type", b"origin", b"idempotency-key"})
