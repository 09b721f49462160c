"""Delivers one notice to a URL (signed) or to a command's stdin. Every attempt is bounded in time and size."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import http.client
import os
import signal
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from .alerts import may_reach
from .name_lookup import NameLookup, in_thread

TRY_S = 10.0
"""How long a URL has to answer."""
COMMAND_S = 30.0
"""How long a command may take."""
SECRET_FILE = "webhook-secret"  # noqa: S105 (the name of a file)


class NotDeliveredError(Exception):
    """An attempt failed; with ``for_good``, retrying is pointless."""

    def __init__(self, why: str, *, for_good: bool = False) -> None:
        super().__init__(why)
        self.for_good = for_good


class Webhooks:
    """Posts notices, each in its own thread, so that a hanging name server or receiver delays nothing else.

    Each receiver gets one notice at a time, so there are at most as many threads as alerts, plus hanging lookups.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = NameLookup()

    async def post(self, url: str, body: bytes, *, delivery: str, at: float, private_hosts: list[str]) -> None:
        """Post a notice. Doesn't follow redirects. Raises ``NotDeliveredError``."""
        request = _DeliveryAttempt(url, body)
        request.headers = {
            "Content-Type": "application/json",
            "User-Agent": "quarterdeck",
            "Quarterdeck-Delivery": delivery,
            "Quarterdeck-Signature": signature(self._secret(), body, at),
        }
        request.address = await self._address(request.name, private_hosts)
        try:
            async with asyncio.timeout(TRY_S):
                status = await in_thread(request.send)
        except TimeoutError:
            raise NotDeliveredError(f"no answer within {TRY_S:.0f} s") from None
        finally:
            request.abort()
        if not 200 <= status < 300:
            raise NotDeliveredError(
                f"it answered {status}", for_good=status in (400, 401, 403, 404, 405, 410, 413, 415)
            )

    async def _address(self, name: str, private_hosts: list[str]) -> str:
        """Look up the name's address. We connect to exactly this address, so a later lookup can't change it."""
        try:
            found = await self._names.addresses(name)
        except OSError as error:
            raise NotDeliveredError(f"cannot resolve {name}: {error}") from error
        for address in found:
            if may_reach(name, address, private_hosts):
                return address
        raise NotDeliveredError(f"{name} has a private address and is not in private_hosts", for_good=True)

    def _secret(self) -> bytes:
        """The signing key, created on first use. Receivers need it to verify notices."""
        path = self._folder / SECRET_FILE
        try:
            if not path.exists() or not path.read_bytes().strip():
                part = path.with_suffix(".part")  # renamed when complete: an empty key would sign for anyone
                part.unlink(missing_ok=True)
                with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                    file.write(os.urandom(32).hex().encode())
                part.replace(path)
            return path.read_bytes().strip()
        except OSError as error:
            raise NotDeliveredError(f"cannot use {path}: {error}") from error


def signature(secret: bytes, body: bytes, at: float) -> str:
    """Return ``t=…,v1=…``: the time, and the HMAC-SHA256 of ``time.body``."""
    moment = f"{at:.0f}"
    return f"t={moment},v1={hmac.new(secret, moment.encode() + b'.' + body, hashlib.sha256).hexdigest()}"


class _DeliveryAttempt:
    """One attempt, in a thread; ``abort`` ends it from another thread."""

    headers: dict[str, str]
    address: str

    def __init__(self, url: str, body: bytes) -> None:
        self._parts = urlsplit(url)
        self.name = self._parts.hostname or ""
        self._body = body
        self._socket: socket.socket | None = None
        self._aborted = False

    def send(self) -> int:
        secure = self._parts.scheme == "https"
        port = self._parts.port or (443 if secure else 80)
        if not secure and may_reach(self.name, self.address, []):
            raise NotDeliveredError("a public address needs https", for_good=True)
        try:
            self._socket = socket.create_connection((self.address, port), timeout=TRY_S)
            if self._aborted:
                raise NotDeliveredError("no attempts left")
            if secure:
                self._socket = ssl.create_default_context().wrap_socket(self._socket, server_hostname=self.name)
            connection = http.client.HTTPConnection(self.name, port, timeout=TRY_S)
            connection.sock = self._socket
            path = self._parts.path or "/"
            connection.request(
                "POST", f"{path}?{self._parts.query}" if self._parts.query else path, self._body, self.headers
            )
            return connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            raise NotDeliveredError(str(error) or type(error).__name__) from error
        finally:
            self.abort()

    def abort(self) -> None:
        self._aborted = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()


async def run_command(command: Sequence[str], body: bytes) -> None:
    """Run a command and end its process group. Raises ``NotDeliveredError``."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise NotDeliveredError(f"{command[0]} could not be started: {error}", for_good=True) from error
    try:
        async with asyncio.timeout(COMMAND_S):
            await process.communicate(body)
    except TimeoutError:
        raise NotDeliveredError(f"{command[0]} took longer than {COMMAND_S:.0f} s") from None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if process.returncode:
        raise NotDeliveredError(f"{command[0]} exited with code {process.returncode}")
