"""What one piece of a streamed text costs the timeline, in CPU time: in a short text and in a long one.

``python -m benchmarks.timeline`` prints the numbers and fails when a limit is broken.
"""

from __future__ import annotations

import json
import sys
import time

from quarterdeck.timeline import Timeline
from quarterdeck.wire import Decoder, Message

PIECE_LIMIT_US = 15.0
LONG_FACTOR = 5.0
"""How much dearer a piece of a text of 10 MB may be; copying the text at each piece would make it a hundred times."""
ROUNDS = 3


def decoded(*events: dict[str, object]) -> list[Message]:
    common = {"type": "stream_event", "uuid": "u", "session_id": "s", "parent_tool_use_id": None}
    return Decoder().feed(b"".join(json.dumps({**common, "event": event}).encode() + b"\n" for event in events))


def piece_us(pieces: int, size: int) -> float:
    """Microseconds for each piece of a text, the reading of its line not counted; the best of some rounds."""
    return min(_round(pieces, size) for _ in range(ROUNDS))


def _round(pieces: int, size: int) -> float:
    timeline = Timeline()
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {}}
    block = {"type": "text", "text": ""}
    for begin in decoded(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
    ):
        timeline.received(begin, at=0.0)
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x" * size}}
    told = decoded(*[delta] * pieces)
    started = time.process_time()
    for piece in told:
        timeline.received(piece, at=1.0)
    return (time.process_time() - started) / pieces * 1e6


def main() -> int:
    short, medium, long = piece_us(10_000, 8), piece_us(2_000, 500), piece_us(20_000, 500)
    print(f"a piece of 8 characters              {short:6.1f} µs   (limit {PIECE_LIMIT_US:.0f})")
    print(f"a piece of 500, in a text of 1 MB    {medium:6.1f} µs")
    print(f"a piece of 500, in a text of 10 MB   {long:6.1f} µs   (limit {LONG_FACTOR * medium:.0f})")
    return 0 if short <= PIECE_LIMIT_US and long <= LONG_FACTOR * medium else 1


if __name__ == "__main__":
    sys.exit(main())
