"""HTTP/1.1 for the model server: keep-alive, chunked event streams, connections that break on purpose.

Each connection has its own thread; ``close()`` ends them all within a bound.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from .render import Ids, events, message, sse
from .request import ApiRequest
from .script import Cut, Error, Reply, Stall, StreamError

BODY_LIMIT_BYTES = 64 * 1024 * 1024
IDLE_LIMIT_S = 120.0
"""A kept-alive connection that says nothing for this long is closed."""
CLOSE_LIMIT_S = 5.0
ACCEPT_POLL_S = 0.05


class ReplySource(Protocol):
    """Knows the script."""

    ids: Ids
    closing: threading.Event

    def admit(self, method: str, path: str, headers: dict[str, str], body: bytes) -> ApiRequest: ...

    def decide(self, request: ApiRequest) -> Reply | Error | dict[str, Any]: ...

    def finished(self, request: ApiRequest, outcome: str) -> None: ...


class HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # close() joins the threads itself, with a bound
    request_queue_size = 64

    def __init__(self, decider: ReplySource) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.decider = decider
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._acceptor = threading.Thread(
            target=self.serve_forever, args=(ACCEPT_POLL_S,), name="model-server", daemon=True
        )

    def start(self) -> None:
        self._acceptor.start()

    def close(self) -> None:
        """Stop accepting, break the open connections, wait for their threads (at most ``CLOSE_LIMIT_S``)."""
        deadline = time.monotonic() + CLOSE_LIMIT_S
        self.shutdown()
        self._acceptor.join(CLOSE_LIMIT_S)
        self.server_close()
        with self._lock:
            open_now = dict(self._connections)
        for connection in open_now:
            _break(connection)
        for thread in open_now.values():
            thread.join(max(0.0, deadline - time.monotonic()))
        alive = [thread.name for thread in (self._acceptor, *open_now.values()) if thread.is_alive()]
        if alive:
            raise RuntimeError(f"the model server's threads did not end within {CLOSE_LIMIT_S} s: {alive}")

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections[request] = threading.current_thread()
        if self.decider.closing.is_set():
            _break(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._connections.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests; anything else is a fault of ours and goes to stderr."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def _break(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the other end was faster


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "quarterdeck-model"
    sys_version = ""
    timeout = IDLE_LIMIT_S
    disable_nagle_algorithm = True
    server: HttpServer

    def do_POST(self) -> None:
        body = self._body()
        if body is None:
            return
        self._serve(body)

    def do_GET(self) -> None:
        self._serve(b"")

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Silent: requests are in ``ModelServer.requests``."""

    def _body(self) -> bytes | None:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return b"".join(self._chunks())
        length = int(self.headers.get("Content-Length", "0"))
        if length > BODY_LIMIT_BYTES:
            self.close_connection = True
            error = Error(413, f"the model server accepts at most {BODY_LIMIT_BYTES} bytes")
            self._json(413, error.as_json(self._request_id()))
            return None
        return self.rfile.read(length)

    def _chunks(self) -> Iterator[bytes]:
        total = 0
        while size := int(self.rfile.readline(64).split(b";")[0], 16):
            total += size
            if total > BODY_LIMIT_BYTES:
                raise ConnectionError(f"a chunked body over {BODY_LIMIT_BYTES} bytes")
            yield self.rfile.read(size)
            self.rfile.readline(2)
        while self.rfile.readline(8192).strip():
            pass

    def _serve(self, body: bytes) -> None:
        decider = self.server.decider
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = decider.admit(self.command, self.path, headers, body)
        outcome = "client_gone"
        try:
            outcome = self._answer(request, decider.decide(request))
        finally:
            decider.finished(request, outcome)

    def _answer(self, request: ApiRequest, turn: Reply | Error | dict[str, Any]) -> str:
        if isinstance(turn, Error):
            self._json(turn.status, turn.as_json(self._request_id()), dict(turn.headers))
            return "complete"
        if isinstance(turn, dict):
            self._json(200, turn)
            return "complete"
        if self._faults(turn, sent=0):
            return "cut"
        model = request.model or "claude-unknown"
        if request.stream:
            return self._stream(turn, model)
        self._json(200, message(turn, model=model, ids=self.server.decider.ids), dict(turn.headers))
        return "complete"

    def _stream(self, reply: Reply, model: str) -> str:
        self.send_response(200)
        self._headers({"Content-Type": "text/event-stream; charset=utf-8", "Transfer-Encoding": "chunked"})
        self._headers(dict(reply.headers))
        self.end_headers()
        for sent, event in enumerate(events(reply, model=model, ids=self.server.decider.ids)):
            if error := next((f for f in reply.faults if isinstance(f, StreamError) and f.after == sent), None):
                self._chunk(sse({"type": "error", "error": {"type": error.type, "message": error.message}}))
                break
            if reply.delay_s:
                self.server.decider.closing.wait(reply.delay_s)
            self._chunk(sse(event))
            if self._faults(reply, sent=sent + 1):
                return "cut"
        self._chunk(b"")
        return "complete"

    def _faults(self, reply: Reply, *, sent: int) -> bool:
        """Stall and cut where the script says so; returns whether the connection was cut."""
        for fault in reply.faults:
            if isinstance(fault, Stall) and fault.after == sent:
                if fault.until is None:
                    self.server.decider.closing.wait(fault.seconds)
                else:
                    fault.until.hold(fault.seconds)
        if any(isinstance(fault, Cut) and fault.after == sent for fault in reply.faults):
            self.close_connection = True
            _break(self.connection)
            return True
        return False

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _json(self, status: int, body: dict[str, Any], extra: dict[str, str] | None = None) -> None:
        payload = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self._headers({"Content-Type": "application/json", "Content-Length": str(len(payload))} | (extra or {}))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload)

    def _headers(self, headers: dict[str, str]) -> None:
        for name, value in headers.items():
            self.send_header(name, value)

    def send_response(self, code: int, message: str | None = None) -> None:
        super().send_response(code, message)
        self.send_header("request-id", self._request_id())

    def _request_id(self) -> str:
        return self.server.decider.ids.next("req")
