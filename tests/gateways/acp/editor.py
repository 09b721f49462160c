"""An editor for tests: starts ``quarterdeck acp`` as editors do, and answers what it asks.

Every frame of the agent is checked: as JSON-RPC, and against the published schema.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from gateways.acp.published import Checker, check_envelope, schema_checker
from quarterdeck.gateways.acp import schema

LIMIT_S = 60.0
FORMS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
EVERYTHING: dict[str, Any] = {
    **FORMS,
    "session": {"notices": {}, "compaction": {}},
    "plan": {},
}
Reply = Callable[[dict[str, Any]], Any]


class RefusedError(Exception):
    """The agent answered with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.message: str = error["message"]


class Editor:
    """One running agent and everything it said."""

    def __init__(self, process: asyncio.subprocess.Process, checker: Checker | None) -> None:
        self.process = process
        self._checker = checker
        self.frames: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.cancelled: list[Any] = []
        self.replies: dict[str, Reply] = {}
        self.errors: dict[str, dict[str, Any]] = {}
        """Method → the error to answer it with."""
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._methods: dict[int, str] = {}
        self._number = 0
        self._news = asyncio.Event()
        self.reading = asyncio.ensure_future(self._read())

    # Speaking

    def send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def begin(self, method: str, **params: Any) -> asyncio.Future[Any]:
        """Make a request; await it for the result."""
        self._number += 1
        made = self._answers[self._number] = asyncio.get_running_loop().create_future()
        if self.reading.done() and (wrong := self.reading.exception()) is not None:
            made.set_exception(wrong)
            return made
        self._methods[self._number] = method
        self.send({"id": self._number, "method": method, "params": params})
        return made

    async def call(self, method: str, **params: Any) -> Any:
        async with asyncio.timeout(LIMIT_S):
            return await self.begin(method, **params)

    def notify(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    @property
    def last_id(self) -> int:
        return self._number

    # The usual

    async def initialize(self, **capabilities: Any) -> dict[str, Any]:
        return await self.call("initialize", protocolVersion=1, clientCapabilities=capabilities)

    async def new(self, cwd: Path, **more: Any) -> str:
        answer = await self.call("session/new", cwd=str(cwd), mcpServers=[], **more)
        return str(answer["sessionId"])

    def say(self, session_id: str, text: str, **more: Any) -> asyncio.Future[Any]:
        return self.begin("session/prompt", sessionId=session_id, prompt=[{"type": "text", "text": text}], **more)

    async def prompt(self, session_id: str, text: str, **more: Any) -> dict[str, Any]:
        async with asyncio.timeout(LIMIT_S):
            return await self.say(session_id, text, **more)

    def allow(self, option: str = "allow") -> None:
        """Answer every permission request with this option."""
        self.replies["session/request_permission"] = lambda _: {"outcome": {"outcome": "selected", "optionId": option}}

    # What came

    def updates(self, *kinds: str, session: str | None = None) -> list[dict[str, Any]]:
        found = [f["params"] for f in self.frames if f.get("method") == "session/update"]
        chosen = [one["update"] for one in found if session is None or one["sessionId"] == session]
        return [one for one in chosen if not kinds or one["sessionUpdate"] in kinds]

    def text(self, kind: str = "agent_message_chunk") -> str:
        return "".join(one["content"]["text"] for one in self.updates(kind))

    def call_of(self, tool: str) -> dict[str, Any]:
        """All that was said about the (last) call of a tool, put together as an editor does."""
        merged: dict[str, dict[str, Any]] = {}
        for one in self.updates("tool_call", "tool_call_update"):
            known = merged.setdefault(one["toolCallId"], {})
            known.update({key: value for key, value in one.items() if key != "_meta"})
            known.setdefault("_meta", {}).update(one.get("_meta") or {})
        named = [one for one in merged.values() if one["_meta"].get("claudeCode", {}).get("toolName") == tool]
        assert named, f"no call of {tool} among {[one.get('title') for one in merged.values()]}"
        return named[-1]

    async def until(self, condition: Callable[[], Any]) -> Any:
        async with asyncio.timeout(LIMIT_S):
            while not (found := condition()):
                if self.reading.done():
                    self.reading.result()
                    raise AssertionError("the agent has ended")
                self._news.clear()
                await self._news.wait()
        return found

    async def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            while line := await self.process.stdout.readline():
                frame = json.loads(line)
                self.frames.append(frame)
                self._take(frame)
                self._news.set()
        except Exception as wrong:
            for made in self._answers.values():
                if not made.done():
                    made.set_exception(wrong)
            raise
        finally:
            self._news.set()

    def _take(self, frame: dict[str, Any]) -> None:
        check_envelope(frame)
        number = frame.get("id")
        if "error" in frame and self._checker is not None:
            self._checker({"name": "Error", "value": frame["error"]})
        if "method" not in frame:
            if "error" not in frame:
                self._check(schema.AGENT_ANSWERS.get(self._methods.get(number or 0, "")), frame["result"])
            made = self._answers.pop(number, None)  # type: ignore[arg-type]
            if made is not None and not made.done():
                if "error" in frame:
                    made.set_exception(RefusedError(frame["error"]))
                else:
                    made.set_result(frame["result"])
        elif "id" in frame:
            self.asked.append(frame)
            self._check(self._shape(frame["method"]), frame["params"])
            if frame["method"] in self.errors:
                self.send({"id": number, "error": self.errors[frame["method"]]})
                return
            reply = self.replies.get(frame["method"])
            answer = None if reply is None else reply(frame["params"])
            if answer is not None:
                self.send({"id": number, "result": answer})
        elif frame["method"] == "$/cancel_request":
            self.cancelled.append(frame["params"]["requestId"])
        else:
            self._check(self._shape(frame["method"]), frame["params"])

    def _shape(self, method: str) -> Any:
        """What the agent may say; another one than ours says what it wants."""
        return schema.CLIENT_METHODS.get(method) if self._checker is None else schema.CLIENT_METHODS[method]

    def _check(self, struct: Any, value: Any) -> None:
        if self._checker is not None and struct is not None:
            name = getattr(struct, "__name__", "CreateElicitationRequest")
            self._checker({"name": name, "value": value})

    async def leave(self) -> int:
        """Close the agent's input, as an editor that quits."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(LIMIT_S):
            code = await self.process.wait()
            await self.reading
        return code


OURS = (sys.executable, "-m", "quarterdeck", "acp")


@asynccontextmanager
async def editor(
    *arguments: str,
    env: Mapping[str, str],
    checker: Checker | Literal["published"] | None = "published",
    command: Sequence[str] = OURS,
) -> AsyncIterator[Editor]:
    """An agent with these arguments; ended at the end. ``checker``: None for frames of another version or agent."""
    check = schema_checker() if checker == "published" else checker
    process = await asyncio.create_subprocess_exec(
        *(*command, *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", ""), **env},
        limit=64 * 1024 * 1024,
    )
    made = Editor(process, check)
    try:
        yield made
    finally:
        if process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()
            try:
                async with asyncio.timeout(LIMIT_S):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        await made.reading
