"""A small MCP server over HTTP, in both of its forms, that remembers the headers it was sent."""

from __future__ import annotations

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

ECHO = {
    "name": "echo",
    "description": "echo",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


class _Handler(BaseHTTPRequestHandler):
    server: McpPlace
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.server.headers.setdefault(self.path.split("?")[0], []).append(dict(self.headers))
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = _answer(message)
        if self.path == "/messages":
            if answer is not None:
                self.server.answers.put(answer)
            self._reply(202, b"", "text/plain")
        elif answer is None:
            self._reply(202, b"", "text/plain")
        else:
            self._reply(200, json.dumps(answer).encode(), "application/json")

    def do_GET(self) -> None:
        if self.path != "/sse":
            self._reply(405, b"", "text/plain")
            return
        self.server.headers.setdefault("/sse", []).append(dict(self.headers))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self._event("endpoint", "/messages")
        while (answer := self.server.answers.get()) is not None:
            self._event("message", json.dumps(answer))
        self.close_connection = True

    def do_DELETE(self) -> None:
        self._reply(405, b"", "text/plain")

    def _event(self, name: str, data: str) -> None:
        self.wfile.write(f"event: {name}\ndata: {data}\n\n".encode())
        self.wfile.flush()

    def _reply(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def _answer(message: dict[str, Any]) -> dict[str, Any] | None:
    number, params = message.get("id"), message.get("params") or {}
    if number is None:
        return None
    match message["method"]:
        case "initialize":
            info = {"name": "web", "version": "1"}
            result: Any = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
        case "tools/list":
            result = {"tools": [ECHO]}
        case "tools/call":
            result = {"content": [{"type": "text", "text": f"over the web: {params['arguments']['text']}"}]}
        case _:
            return {"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no such method"}}
    return {"jsonrpc": "2.0", "id": number, "result": result}


class McpPlace(ThreadingHTTPServer):
    """``/mcp`` is streamable HTTP, ``/sse`` the older form."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.headers: dict[str, list[dict[str, str]]] = {}
        """Path → those of each request."""
        self.answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.answers.put(None)
        self.shutdown()
        self._thread.join()
        self.server_close()
