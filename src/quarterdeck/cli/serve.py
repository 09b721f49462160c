"""``quarterdeck serve``: the host over HTTP and gRPC, until stopped."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ipaddress
import json
import logging
import math
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from quarterdeck._places import state_folder

from .common import FAILED, OK, USAGE_ERROR, Look, Parser, ReportedError
from .hosted.moments import count, span

if TYPE_CHECKING:
    from quarterdeck.gateways.grpc import Server as CallServer
    from quarterdeck.gateways.http import Gateway, Server
    from quarterdeck.host import Host
    from quarterdeck.store.queries import Retention

DEFAULT_LISTEN = "127.0.0.1:8787"
UNIX = "unix:"
DESCRIPTION = """\
Run a host: sessions with a web page to watch, approve and steer them; a REST API with server-sent events and a
WebSocket, described at /openapi.json; and gRPC (proto/quarterdeck/v1). Sessions survive its restart.

The state folder contains the log, the socket host.sock, and the file token, an admin token for programs of this user.
SIGTERM or Ctrl-C lets running requests finish and asks clients to reconnect; a second one stops at once."""


def parser() -> Parser:
    built = Parser(
        "quarterdeck serve",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck serve", "on this machine"),
            ("quarterdeck serve --listen 127.0.0.1:0 --agent sim", "a free port, simulated sessions"),
            ("quarterdeck serve --grpc 127.0.0.1:8788", "for gRPC clients, too"),
            (
                "quarterdeck serve --listen 0.0.0.0:8787 --tls-cert cert.pem --allow-host deck.example",
                "for other machines",
            ),
        ],
        exits={OK: "stopped", FAILED: "it could not start", USAGE_ERROR: "invalid arguments"},
    )
    built.add_argument("--state", metavar="DIR", help="the state folder (default: the user's)")
    built.add_argument(
        "--listen", metavar="HOST:PORT", action="append", help=f"listen here (default: {DEFAULT_LISTEN})"
    )
    built.add_argument(
        "--grpc",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="also serve gRPC here: HOST:PORT or unix:FILE",
    )
    built.add_argument("--unix", metavar="FILE", help="the Unix socket (default: host.sock in the state folder)")
    built.add_argument("--agent", metavar="AGENT", help="the agent to run: claude (default), sim, or a path")
    built.add_argument("--no-keeper", action="store_true", help="end session processes with the host")
    built.add_argument("--folder", metavar="DIR", action="append", help="allow sessions only below this folder")
    built.add_argument(
        "--keep",
        metavar="SPAN",
        type=_kept(span),
        help="keep session logs for this long, e.g. 30d, or all (default: 90d)",
    )
    built.add_argument(
        "--keep-mib", metavar="N", type=_kept(count), help="maximum log size per session in MiB, or all (default: 512)"
    )
    built.add_argument("--json", action="store_true", help="print the ready message as JSON")
    built.add_argument("--log", choices=("text", "json"), default="text", help="the format of log lines on stderr")
    network = built.add_argument_group("network")
    network.add_argument("--tls-cert", metavar="FILE", help="serve TLS with this certificate")
    network.add_argument("--tls-key", metavar="FILE", help="its key, if it is not in the same file")
    network.add_argument(
        "--allow-host", metavar="NAME", action="append", default=[], help="a host name to accept in requests"
    )
    network.add_argument("--base-path", metavar="PATH", default="", help="the path prefix that a reverse proxy adds")
    network.add_argument(
        "--proxy", metavar="ADDRESS", action="append", default=[], help="trust the X-Forwarded headers of this proxy"
    )
    network.add_argument(
        "--insecure-plain-text-on-the-network",
        action="store_true",
        help="serve other machines without TLS: anyone on the network can read the tokens",
    )
    return built


def _kept(limit: Callable[[str], float]) -> Callable[[str], float]:
    """All of it, or this much."""
    return lambda text: math.inf if text == "all" else limit(text)


def _retention(given: argparse.Namespace) -> Retention:
    from quarterdeck.store.queries import Retention

    limits: dict[str, Any] = {}
    if given.keep is not None:
        limits["row_age_s"] = None if given.keep == math.inf else given.keep
    if given.keep_mib is not None:
        limits["row_bytes"] = None if given.keep_mib == math.inf else given.keep_mib * 1024 * 1024
    return Retention(**limits)


def arguments(argv: list[str] | None) -> tuple[argparse.Namespace, list[tuple[str, int]]]:
    """The arguments and the addresses to listen on. Wrong arguments end the program."""
    reader = parser()
    given = reader.parse_args(argv)
    places = [_place(reader, text) for text in given.listen or [DEFAULT_LISTEN]]
    calls = [text if text.startswith(UNIX) else _place(reader, text, "--grpc") for text in given.grpc]
    _check_network(reader, given, [*places, *(one for one in calls if not isinstance(one, str))])
    return given, places


def main(argv: list[str] | None = None) -> int:
    given, places = arguments(argv)
    try:
        from quarterdeck.gateways.http import Gateway, Server, Settings
        from quarterdeck.store.errors import StoreError, StoreInUse
    except ImportError as error:
        raise _not_installed(error, "host") from error
    if given.grpc:
        try:
            import quarterdeck.gateways.grpc.server  # noqa: F401  # to say now that it is missing
        except ImportError as error:
            raise _not_installed(error, "grpc") from error
    _log(given.log)
    settings = Settings(
        hosts=tuple(given.allow_host),
        base_path=given.base_path,
        proxies=tuple(given.proxy),
        connections=min(Settings().connections, _half()) if given.grpc else Settings().connections,
    )
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        try:
            runner.run(_serve(given, places, lambda host: Server(Gateway(host, settings))))
        except StoreInUse as error:
            hint = "Use it: quarterdeck ps. Or choose another --state."
            raise ReportedError(f"a host is already running in {error.folder}", hint) from error
        except (OSError, StoreError) as error:
            raise ReportedError(f"cannot serve: {error}", "Choose another --listen, --grpc or --state.") from error
    return OK


def _not_installed(error: ImportError, extra: str) -> ReportedError:
    return ReportedError(f"{error.name} is not installed", f"Run pip install 'quarterdeck[{extra}]'.", code=USAGE_ERROR)


def _place(reader: Parser, text: str, option: str = "--listen") -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        reader.error(f"{option} {text!r} is not HOST:PORT, e.g. {DEFAULT_LISTEN}")
    return host.strip("[]"), int(port)


def _check_network(reader: Parser, given: argparse.Namespace, places: list[tuple[str, int]]) -> None:
    if given.tls_key and not given.tls_cert:
        reader.error("--tls-key needs --tls-cert")
    beyond = [host for host, _ in places if not _is_loopback(host)]
    if beyond and not given.tls_cert and not given.insecure_plain_text_on_the_network:
        reader.error(f"{beyond[0]} is reachable from other machines: use --tls-cert")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _loop_factory() -> Any:
    try:
        import uvloop
    except ImportError:  # not on every system
        return None
    return uvloop.new_event_loop


def _log(form: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if form == "json" else logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


class _JsonLines(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        shown = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            shown["error"] = self.formatException(record.exc_info)
        return json.dumps(shown)


async def _serve(given: argparse.Namespace, places: list[tuple[str, int]], served: Callable[[Host], Server]) -> None:
    from quarterdeck.gateways.http.server import tls_context
    from quarterdeck.host import Host

    folder = state_folder(given.state)
    tls = None if given.tls_cert is None else tls_context(given.tls_cert, given.tls_key)
    host = Host(
        folder,
        keeper=not given.no_keeper,
        agents=agents_for(given.agent),
        folders=given.folder,
        retention=_retention(given),
    )
    async with host, served(host) as server, _calls(given, host) as calls:
        bound = [await server.listen_tcp(name, port, tls) for name, port in places]
        unix = Path(given.unix) if given.unix else folder / "host.sock"
        await server.listen_unix(unix)
        server.gateway.other_meters += [one.gateway.meter for one in calls.servers]
        secret = await own_token(host, folder)
        scheme = "http" if tls is None else "https"
        urls = [f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}" for name, port in bound]
        await _say_ready(server.gateway, urls, unix, secret, calls=calls.addresses, as_json=given.json)
        await _until_told(server, *calls.servers)


class _Calls(NamedTuple):
    """Where gRPC calls are taken."""

    servers: list[CallServer]
    addresses: list[str]


@contextlib.asynccontextmanager
async def _calls(given: argparse.Namespace, host: Host) -> AsyncIterator[_Calls]:
    if not given.grpc:
        yield _Calls([], [])
        return
    from quarterdeck.gateways.grpc import Server, Settings

    each = max(_half() // len(given.grpc), 1)
    async with Server(host, Settings(connections=min(Settings().connections, each))) as server:
        bound = [server.listen(one, certificate=given.tls_cert, key=given.tls_key) for one in given.grpc]
        await server.start()
        yield _Calls([server], bound)


def _half() -> int:
    """As many connections over HTTP, and as many over gRPC, leave sessions their descriptors."""
    from quarterdeck.gateways.common.sockets import descriptors_for_connections

    return descriptors_for_connections() // 2


def agents_for(name: str | None) -> dict[str, str]:
    """What sessions run unless they say otherwise: claude, the simulator, or a path."""
    if name in (None, "claude"):
        return {}
    if name == "sim":
        from quarterdeck.testing.sim import executable

        return {"claude": "sim", "sim": str(executable())}
    return {"claude": str(name)}


async def own_token(host: Host, folder: Path) -> str:
    """The admin token in the state folder; a new one if it is not valid any more."""
    from quarterdeck.host import HostError
    from quarterdeck.host.requests import CreateToken

    place = folder / "token"
    with contextlib.suppress(OSError, HostError):
        secret = (await asyncio.to_thread(place.read_text)).strip()
        await host.authenticate(secret)
        return secret
    made = await host.create_token(CreateToken(name="local", scope="admin", may_bypass=True))
    secret = made.secret or ""
    await asyncio.to_thread(_write_private, place, secret)
    return secret


def _write_private(place: Path, secret: str) -> None:
    beside = place.with_name(f".{place.name}.new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret + "\n")
    beside.replace(place)


async def page_of(gateway: Gateway, url: str, secret: str) -> str:
    """The URL of the page with a code that is good once, for a minute."""
    caller = await gateway.host.authenticate(secret, via="http")
    return f"{url}{gateway.settings.base_path}/#code={gateway.codes.issue(caller)}"


async def _say_ready(
    gateway: Gateway, urls: list[str], unix: Path, secret: str, *, calls: list[str], as_json: bool
) -> None:
    if as_json:
        told = {"ready": urls[0], "urls": urls, "unix": str(unix), "grpc": calls, "pid": os.getpid()}
        print(json.dumps(told), flush=True)
        return
    print("\n".join([*(f"grpc  {one}" for one in calls), f"ready {urls[0]}"]), flush=True)
    if sys.stdout.isatty():
        page = await page_of(gateway, urls[0], secret)
        dim = Look.of(sys.stdout).paint("dim", "this link works once, for a minute; Ctrl-C stops the host")
        print(f"open  {page}\n      {dim}", flush=True)


async def _until_told(*servers: Server | CallServer) -> None:
    """SIGTERM or Ctrl-C: stop; again: hurry."""
    told = asyncio.Event()

    def stop() -> None:
        if told.is_set():
            for server in servers:
                server.hurry()
        told.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    await told.wait()
    logging.getLogger("quarterdeck.http").info("Stopping")
    await asyncio.gather(*(server.stop() for server in servers))
