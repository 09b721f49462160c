"""Variables that change how the CLI starts, connects or writes."""

from __future__ import annotations

import codecs
import locale
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from quarterdeck.transport.environment import NESTING_VARIABLES

from .finding import Finding

PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy")
CERTIFICATES = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")
_SCHEMES = ("http", "https", "socks4", "socks5", "socks5h")


def environment(env: Mapping[str, str]) -> list[Finding]:
    checks = (_nesting, _node_options, _proxies, _certificates, _server, _terminal, _encoding)
    found = [finding for check in checks for finding in check(env)]
    return found or [Finding("environment", "environment", "ok", "nothing in it is in the way")]


def _nesting(env: Mapping[str, str]) -> Iterator[Finding]:
    names = sorted(NESTING_VARIABLES & env.keys())
    if names:
        yield Finding(
            "environment",
            "nesting",
            "warning",
            f"this runs inside a Claude Code session ({', '.join(names)})",
            "nothing for quarterdeck, which does not pass them on; for a claude started by hand: open another terminal",
        )


def _node_options(env: Mapping[str, str]) -> Iterator[Finding]:
    if env.get("NODE_OPTIONS"):
        yield Finding(
            "environment",
            "node-options",
            "warning",
            "NODE_OPTIONS is set, which can stop or slow the CLI",
            "nothing for quarterdeck, which does not pass it on; for a claude started by hand: unset NODE_OPTIONS",
        )


def _proxies(env: Mapping[str, str]) -> Iterator[Finding]:
    for name in PROXIES:
        if not env.get(name):
            continue
        host = _host(env[name], _SCHEMES)
        if host is None:
            advice = f"write it as http://host:port, or unset {name}"
            yield Finding("environment", f"proxy-{name}", "warning", f"{name} is no address of a proxy", advice)
        else:
            yield Finding("environment", f"proxy-{name}", "ok", f"{name}: the CLI connects through {host}")


def _server(env: Mapping[str, str]) -> Iterator[Finding]:
    if not env.get("ANTHROPIC_BASE_URL"):
        return
    host = _host(env["ANTHROPIC_BASE_URL"], ("http", "https"))
    if host is None:
        advice = "write it as https://host, or unset it"
        yield Finding("environment", "base-url", "problem", "ANTHROPIC_BASE_URL is no web address", advice)
    else:
        yield Finding("environment", "base-url", "ok", f"ANTHROPIC_BASE_URL: the CLI talks to {host}")


def _host(address: str, schemes: tuple[str, ...]) -> str | None:
    """Host and port alone: the rest may hold a password. None if it is no such address."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    return f"{parts.hostname}{port}" if parts.scheme in schemes and parts.hostname else None


def _certificates(env: Mapping[str, str]) -> Iterator[Finding]:
    for name in CERTIFICATES:
        if env.get(name) and not Path(env[name]).is_file():
            advice = f"correct it, or unset {name}"
            yield Finding("environment", f"certificates-{name}", "warning", f"{name} names no file", advice)


def _terminal(env: Mapping[str, str]) -> Iterator[Finding]:
    if sys.stdout.isatty() and env.get("TERM", "dumb") == "dumb":
        advice = "set TERM to what your terminal is, e.g. xterm-256color"
        yield Finding(
            "environment", "terminal", "warning", "TERM is not set, or dumb: no colour, plain prompts", advice
        )


def _encoding(env: Mapping[str, str]) -> Iterator[Finding]:
    used = {
        "the locale": locale.getpreferredencoding(False),
        "standard output": getattr(sys.stdout, "encoding", None) or "utf-8",
        "file names": sys.getfilesystemencoding(),
    }
    odd = [f"{name} ({encoding})" for name, encoding in used.items() if not _is_utf8(encoding)]
    if odd:
        what = f"not UTF-8: {', '.join(odd)}; letters beyond ASCII are lost"
        yield Finding("environment", "encoding", "warning", what, "export LANG=C.UTF-8 (or your language, in UTF-8)")


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False
