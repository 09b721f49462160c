"""Environment variables that change how the CLI starts, connects or prints."""

from __future__ import annotations

import codecs
import locale
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from quarterdeck.transport.environment import NESTING_VARIABLES

from .findings import DoctorFinding

_finding = partial(DoctorFinding, "environment")
PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy")
CERTIFICATES = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")
_SCHEMES = ("http", "https", "socks4", "socks5", "socks5h")


def environment(env: Mapping[str, str]) -> list[DoctorFinding]:
    checks = (_nesting, _node_options, _proxies, _certificates, _server, _terminal, _encoding)
    found = [finding for check in checks for finding in check(env)]
    return found or [_finding("environment", "ok", "Nothing unusual.")]


def _nesting(env: Mapping[str, str]) -> Iterator[DoctorFinding]:
    names = sorted(NESTING_VARIABLES & env.keys())
    if names:
        yield _finding(
            "nesting",
            "warning",
            f"Running inside a Claude Code session ({', '.join(names)}).",
            "Quarterdeck does not pass these on. To start claude yourself, open another terminal.",
        )


def _node_options(env: Mapping[str, str]) -> Iterator[DoctorFinding]:
    if env.get("NODE_OPTIONS"):
        yield _finding(
            "node-options",
            "warning",
            "NODE_OPTIONS is set and may break or slow down the CLI.",
            "Quarterdeck does not pass it on. To start claude yourself, unset it first.",
        )


def _proxies(env: Mapping[str, str]) -> Iterator[DoctorFinding]:
    for name in PROXIES:
        if not env.get(name):
            continue
        host = _host(env[name], _SCHEMES)
        if host is None:
            advice = f"Set {name} to http://host:port, or unset it."
            yield _finding(f"proxy-{name}", "warning", f"{name} is not a proxy URL.", advice)
        else:
            yield _finding(f"proxy-{name}", "ok", f"{name}: the CLI connects through {host}.")


def _server(env: Mapping[str, str]) -> Iterator[DoctorFinding]:
    if not env.get("ANTHROPIC_BASE_URL"):
        return
    host = _host(env["ANTHROPIC_BASE_URL"], ("http", "https"))
    if host is None:
        advice = "Set it to https://host, or unset it."
        yield _finding("base-url", "problem", "ANTHROPIC_BASE_URL is not a URL.", advice)
    else:
        yield _finding("base-url", "ok", f"ANTHROPIC_BASE_URL: the CLI connects to {host}.")


def _host(address: str, schemes: tuple[str, ...]) -> str | None:
    """Host and port only: the rest may contain a password. None if it is not such an address."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return None
    return f"{parts.hostname}{port}" if parts.scheme in schemes and parts.hostname else None


def _certificates(env: Mapping[str, str]) -> Iterator[DoctorFinding]:
    for name in CERTIFICATES:
        if env.get(name) and not Path(env[name]).is_file():
            advice = f"Set {name} to an existing file, or unset it."
            yield _finding(f"certificates-{name}", "warning", f"{name}: no such file.", advice)


def _terminal(env: Mapping[str, str]) -> Iterator[DoctorFinding]:
    if sys.stdout.isatty() and env.get("TERM", "dumb") == "dumb":
        advice = "Set TERM to your terminal type, e.g. xterm-256color."
        yield _finding("terminal", "warning", "TERM is unset or dumb: no colour, plain prompts.", advice)


def _encoding(env: Mapping[str, str]) -> Iterator[DoctorFinding]:
    used = {
        "the locale": locale.getpreferredencoding(False),
        "standard output": getattr(sys.stdout, "encoding", None) or "utf-8",
        "file names": sys.getfilesystemencoding(),
    }
    odd = [f"{name} ({encoding})" for name, encoding in used.items() if not _is_utf8(encoding)]
    if odd:
        what = f"Not UTF-8: {', '.join(odd)}. Non-ASCII characters are lost."
        yield _finding("encoding", "warning", what, "export LANG=C.UTF-8 (or another UTF-8 locale)")


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False
