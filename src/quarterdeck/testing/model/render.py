"""A ``Reply`` as the Messages API spells it: a list of server-sent events, or one JSON message."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from typing import Any

from .script import Block, RawBlock, RedactedThinking, Reply, Text, Thinking, ToolUse

Event = dict[str, Any]

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Ids:
    """Identifiers shaped like the API's. The same ``seed`` gives the same ones; without a seed they never repeat."""

    def __init__(self, seed: str | None = None) -> None:
        self._seed = secrets.token_hex(8) if seed is None else seed
        self._count = 0

    def next(self, prefix: str) -> str:
        self._count += 1
        digest = hashlib.blake2b(f"{self._seed}:{self._count}".encode(), digest_size=22).digest()
        return f"{prefix}_01" + "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest)


def message(reply: Reply, *, model: str, ids: Ids) -> dict[str, Any]:
    """The whole answer to a request with ``stream: false``."""
    return {
        **_envelope(reply, model, ids),
        "content": [_whole(block, ids) for block in reply.blocks],
        "stop_reason": reply.final_stop_reason,
        "stop_sequence": None,
        **_stop_details(reply),
        "usage": reply.usage.as_json(),
    }


def events(reply: Reply, *, model: str, ids: Ids) -> Iterator[Event]:
    """The answer to a request with ``stream: true``, without the reply's faults."""
    yield {
        "type": "message_start",
        "message": {
            **_envelope(reply, model, ids),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": reply.usage.as_json() | {"output_tokens": 1},
        },
    }
    for index, block in enumerate(reply.blocks):
        start, deltas = _split(_whole(block, ids), block, reply.delta_size)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reply.final_stop_reason, "stop_sequence": None, **_stop_details(reply)},
        "usage": reply.usage.as_json(),
    }
    yield {"type": "message_stop"}


def sse(event: Event) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _envelope(reply: Reply, model: str, ids: Ids) -> dict[str, Any]:
    return {"id": ids.next("msg"), "type": "message", "role": "assistant", "model": reply.model or model}


def _stop_details(reply: Reply) -> dict[str, Any]:
    return {} if reply.stop_details is None else {"stop_details": dict(reply.stop_details)}


def _whole(block: Block, ids: Ids) -> dict[str, Any]:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(thinking, signature):
            return {"type": "thinking", "thinking": thinking, "signature": signature}
        case RedactedThinking(data):
            return {"type": "redacted_thinking", "data": data}
        case ToolUse(name, tool_input, identifier):
            return {
                "type": "tool_use",
                "id": ids.next("toolu") if identifier is None else identifier,
                "name": name,
                "input": dict(tool_input),
            }
        case RawBlock(raw):
            return dict(raw)


def _split(whole: dict[str, Any], block: Block, size: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the start event shows of a block, and the deltas that bring the rest."""
    match block:
        case Text(text):
            return whole | {"text": ""}, [{"type": "text_delta", "text": piece} for piece in _pieces(text, size)]
        case Thinking(thinking, signature):
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(thinking, size)]
            return whole | {"thinking": "", "signature": ""}, [
                *deltas,
                {"type": "signature_delta", "signature": signature},
            ]
        case ToolUse(input=tool_input):
            arguments = json.dumps(dict(tool_input), ensure_ascii=False)
            # The API opens each tool input with an empty piece.
            pieces = ["", *_pieces(arguments, size)]
            return whole | {"input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        case RedactedThinking() | RawBlock():
            return whole, []


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
