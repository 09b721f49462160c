"""A reply of the model on its way to the host: deltas if wanted, and one assistant message per block."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from quarterdeck.testing.model import render
from quarterdeck.testing.model.script import Cut, Stall, StreamError

from .calls import Round
from .steps import Error, Reply, ToolUse
from .voice import Speaker

if TYPE_CHECKING:
    from .simulator import SimulatedCli

CHARS_PER_TOKEN = 4
MAIN = Speaker()


class StreamBrokenError(Exception):
    """The answer broke off; the CLI asks again: after ``error``, or at once and without streaming if there is none."""

    def __init__(self, error: Error | None) -> None:
        super().__init__("broken" if error is None else error.message)
        self.error = error


class Stream:
    """Plays one reply. ``marks`` are the fields that say which prompts it answers."""

    def __init__(
        self, cli: SimulatedCli, reply: Reply, tools: Round, *, model: str, marks: dict[str, Any], quiet: bool
    ) -> None:
        self._cli = cli
        self._reply = reply
        self._tools = tools
        self._marks = marks
        self._partial = cli.session.partial and not quiet
        self.model = reply.model or model
        self.message_id = ""
        self.text = ""
        """The last text block."""
        self.visible = False
        self._envelope: dict[str, Any] = {}
        self._block: dict[str, Any] | None = None
        self._index = 0
        self._thought_chars = 0
        self._thought_tokens = 0

    async def play(self, *, with_tools: bool) -> None:
        """To the end, or until it breaks. Tools start as soon as their block is whole, the last one before the end."""
        faults = {fault.after: fault for fault in self._reply.faults}
        if any(isinstance(fault, Cut) for fault in faults.values()):
            # Of a stream that is cut nothing was shown (2.1.325): the CLI holds the first events back.
            raise StreamBrokenError(Error(0, "Connection error."))
        for number, event in enumerate(render.events(self._reply, model=self.model, ids=self._cli.ids)):
            await self._cli.sleep(self._reply.delay_s)
            fault = faults.get(number)
            if isinstance(fault, Stall):
                await stall(self._cli, fault)
            elif isinstance(fault, StreamError):
                self._say_broken()
                raise StreamBrokenError(None)
            await self._show(event, with_tools=with_tools)

    async def _show(self, event: dict[str, Any], *, with_tools: bool) -> None:
        match event["type"]:
            case "ping":
                return
            case "message_start":
                self._envelope = event["message"] | {"context_management": None}
                self.message_id = event["message"]["id"]
            case "content_block_start":
                self._index = event["index"]
                self._block = dict(event["content_block"])
                self._block.setdefault("json", "")
            case "content_block_delta":
                self._say_thinking_tokens(event["delta"])
                self._grow(event["delta"])
            case "content_block_stop":
                await self._finish_block(event, with_tools=with_tools)
                return
            case "message_delta" if with_tools:
                self._say_event(event)
                await self._start_last_tool()
                return
        self._say_event(event)

    def _grow(self, delta: dict[str, Any]) -> None:
        block = self._block or {}
        match delta["type"]:
            case "text_delta":
                block["text"] += delta["text"]
            case "thinking_delta":
                block["thinking"] += delta["thinking"]
            case "signature_delta":
                block["signature"] = delta["signature"]
            case "input_json_delta":
                block["json"] += delta["partial_json"]

    async def _finish_block(self, event: dict[str, Any], *, with_tools: bool) -> None:
        block, step = self._whole_block(), self._reply.blocks[self._index]
        self._block = None
        await self._before_text(block)
        self._cli.say_assistant(self._envelope | {"content": [block]}, MAIN, **self._take_marks(), **self._meta(block))
        self._say_event(event)
        last = self._index == len(self._reply.blocks) - 1
        if block["type"] == "tool_use" and isinstance(step, ToolUse) and with_tools and not last:
            await self._tools.start(block, step)
        self._last = (block, step)

    async def _start_last_tool(self) -> None:
        if not self._reply.blocks:
            return
        block, step = self._last
        if isinstance(step, ToolUse):
            await self._tools.start(block, step)

    def _whole_block(self) -> dict[str, Any]:
        import json

        block = dict(self._block or {})
        text = block.pop("json")
        if block["type"] == "tool_use":
            block["input"] = json.loads(text or "{}")
        if block["type"] == "text":
            self.text = block["text"]
        self.visible = self.visible or (block["type"] in ("text", "tool_use"))
        return block

    async def _before_text(self, block: dict[str, Any]) -> None:
        if block["type"] == "text" and self._cli.hooks.has("MessageDisplay"):
            fields: dict[str, Any] = {
                "turn_id": self._cli.new_id(),
                "message_id": self._cli.new_id(),
                "index": 0,
                "final": True,
            }
            await self._cli.hooks.fire("MessageDisplay", **fields, delta=block["text"])

    def _meta(self, block: dict[str, Any]) -> dict[str, Any]:
        if block["type"] == "tool_use" and block["name"].startswith("mcp__"):
            return {"tool_use_meta": [self._cli.mcp.tool_use_meta(block)]}
        if block["type"] == "thinking":
            return {"thinking_duration_ms": 0, "thinking_display": "updates"}
        return {}

    def _take_marks(self) -> dict[str, Any]:
        """Only the first message of a reply says which prompt it answers."""
        marks, self._marks = self._marks, {}
        return marks

    def _say_event(self, event: dict[str, Any]) -> None:
        if self._partial:
            starts = event["type"] == "message_start"
            more: dict[str, Any] = {"ttft_ms": self._cli.results.elapsed_ms()} if starts else {}
            if starts or (self._block or {}).get("type") == "thinking":
                more["thinking_display"] = "updates"
            self._cli.say("stream_event", event=event, parent_tool_use_id=None, **more, api_message_id=self.message_id)

    def _say_thinking_tokens(self, delta: dict[str, Any]) -> None:
        """An estimate before each piece of thought; a signature counts when it is the larger part."""
        if not self._partial or delta["type"] not in ("thinking_delta", "signature_delta"):
            return
        if delta["type"] == "thinking_delta":
            self._thought_chars += len(delta["thinking"])
            tokens = max(1, round(self._thought_chars / CHARS_PER_TOKEN + 0.01))
        else:
            tokens = len(delta["signature"]) * 3 // 16 + 1
        if tokens > self._thought_tokens:
            grown = tokens - self._thought_tokens
            self._cli.say("system", "thinking_tokens", estimated_tokens=tokens, estimated_tokens_delta=grown)
            self._thought_tokens = tokens

    def _say_broken(self) -> None:
        """A client must close what it has open; the received text is not repeated as a message (2.1.325)."""
        if self._block is not None:
            self._say_event({"type": "content_block_stop", "index": self._index})
        self._say_event({"type": "message_stop"})

    def say_aborted(self) -> None:
        """The received part of the open block, as its own message."""
        block = self._block
        if block is not None and block.get("text"):
            partial = {"type": "text", "text": block["text"]}
            self._cli.say_assistant(self._envelope | {"content": [partial]}, MAIN, **self._take_marks(), aborted=True)

    def say_closing(self) -> None:
        """The events that a client needs to close what it has open."""
        if not self._envelope:
            return
        if self._block is not None:
            self._say_event({"type": "content_block_stop", "index": self._index})
        delta = {"stop_reason": None, "stop_sequence": None}
        self._say_event({"type": "message_delta", "delta": delta, "usage": self._envelope["usage"]})
        self._say_event({"type": "message_stop"})


async def hold(cli: SimulatedCli, reply: Reply) -> None:
    """The stalls of a reply that is not streamed."""
    for fault in reply.faults:
        if isinstance(fault, Stall):
            await stall(cli, fault)


async def stall(cli: SimulatedCli, fault: Stall) -> None:
    if fault.until is None:
        await cli.sleep(fault.seconds)
        return
    gate = fault.until
    try:
        await asyncio.get_running_loop().run_in_executor(None, gate.hold, fault.seconds)
    except asyncio.CancelledError:
        gate.open()  # nobody waits any more: let the thread go
        raise
