"""What the CLI says, as input for the benchmarks: made of lines recorded from the real one (2.1.325)."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate, cycle, islice, takewhile
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parent.parent / "tests" / "conversations" / "2.1.325"

INPUT_DELTAS = 10
"""In which the input of a tool call is streamed."""
ANSWER_BYTES = 2 * 1024
"""Of the line of a completed message."""
TOOL_RESULT_BYTES = 10 * 1024
"""Of the line of a tool's result."""
OUTPUT_CHARS = 400
"""Of a command's output, in a conversation of small steps."""
ROUNDS_PER_TURN = 3
PIECE_CHARS = 5
"""Of a delta of prose, about a word."""
PROSE = """The reader takes a chunk, the decoder makes messages of it, and **nobody waits** longer than needed:

```python
print("done")
```
"""
SOURCE = Path(__file__)
"""What the tool has read: code, with its line ends, quotes and indents."""


@cache
def recorded(scenario: str | None = None) -> tuple[bytes, ...]:
    """The lines on the CLI's stdout, of one recording or of all."""
    return tuple(_stdout_lines(f"{scenario or '*'}.ndjson"))


def _stdout_lines(pattern: str) -> Iterator[bytes]:
    for path in sorted(RECORDINGS.glob(pattern)):
        for line in path.read_text("utf-8", "surrogatepass").split("\n")[1:]:
            entry = json.loads(line) if line else {}
            if entry.get("d") == "out" and "b" in entry:
                yield entry["b"].encode("utf-8", "surrogatepass")


@cache
def text_deltas() -> tuple[bytes, ...]:
    """Every text delta that was recorded."""
    return tuple(line for line in recorded() if b'"text_delta"' in line)


def repeat(lines: tuple[bytes, ...], count: int) -> bytes:
    """``count`` lines, the given ones over and over."""
    whole, rest = divmod(count, len(lines))
    return (b"".join(line + b"\n" for line in lines) * whole) + b"".join(line + b"\n" for line in lines[:rest])


@cache
def mixed_turn(pieces: int | None = None) -> tuple[bytes, ...]:
    """A turn with streaming: in each round the model speaks, calls a tool, and gets its result.

    ``pieces``: of text to a message; None for as many as recorded ones are needed to say it.
    """
    calls = recorded("partial_messages")
    events = [line for line in calls if b'"stream_event"' in line]
    inputs = [line for line in recorded() if b'"input_json_delta"' in line]
    start = _first(events, b'"message_start"')
    block = _first(events, b'"content_block_start"')
    stop = _first(events, b'"content_block_stop"')
    change, end = _first(events, b'"message_delta"'), _first(events, b'"message_stop"')
    answer = _with_text(_first(calls, b'"type":"assistant"', b'"type":"text"'))
    call = _first(recorded(), b'"type":"assistant"', b'"type":"tool_use"')
    result = _of_read(_first(recorded(), b'"tool_use_result":{"type":"text","file"'))
    few = islice(cycle(text_deltas()), pieces)
    one_round = (
        start,
        block,
        *(_streamed(json.loads(answer)["message"]["content"][0]["text"]) if pieces is None else few),
        answer,
        stop,
        block,
        *islice(cycle(inputs), INPUT_DELTAS),
        call,
        stop,
        change,
        end,
        result,
    )
    init = _first(calls, b'"subtype":"init"')
    status = _first(recorded(), b'"subtype":"status"')
    return (init, status, *(one_round * ROUNDS_PER_TURN))


def conversation(count: int) -> Iterator[bytes]:
    """Lines without streaming, each with ids of its own: the model speaks, calls a tool, and gets its result."""
    prose, output = PROSE, _filled(SOURCE.read_text("utf-8"), OUTPUT_CHARS)
    said, call = (_first(recorded(), b'"type":"assistant"', part) for part in (b'"type":"text"', b'"type":"tool_use"'))
    result = _first(recorded(), b'"tool_result"', b'"tool_use_result":{"stdout"')
    lines = [json.loads(line) for line in (said, call, result)]
    lines[0]["message"]["content"][0]["text"] = prose
    lines[1]["message"]["content"][0] |= {"id": "toolu_@NUMBER@", "name": "Bash", "input": {"command": "cat made.py"}}
    lines[2]["message"]["content"][0] |= {"tool_use_id": "toolu_@NUMBER@", "content": output}
    lines[2] |= {"tool_use_result": {**lines[2]["tool_use_result"], "stdout": output}, "tool_result_meta": []}
    for number, line in enumerate(lines):
        line["uuid"] = f"{number}@NUMBER@"
        if "id" in line["message"]:
            line["message"]["id"] = "msg_@NUMBER@"
    templates = [_compact(line) for line in lines]
    for number in range(count):
        yield templates[number % 3].replace(b"@NUMBER@", b"%020d" % (number // 3))


def streamed_message(pieces: int) -> tuple[bytes, ...]:
    """One message, in as many recorded pieces of text, with what comes before and after them."""
    events = [line for line in recorded("partial_messages") if b'"stream_event"' in line]
    begins = (_first(events, b'"message_start"'), _first(events, b'"content_block_start"'))
    answer = _first(recorded("partial_messages"), b'"type":"assistant"', b'"type":"text"')
    ends = (_first(events, b'"content_block_stop"'), _first(events, b'"message_stop"'))
    deltas = [line for line in text_deltas() if b'"index":0' in line]
    return (*begins, *islice(cycle(deltas), pieces), answer, *ends)


def streamed_prose(pieces: int, end: str) -> tuple[bytes, ...]:
    """One message of paragraphs and code, said in as many pieces, the last of them ``end``; then all of it at once."""
    events = [line for line in recorded("partial_messages") if b'"stream_event"' in line]
    begins = (_first(events, b'"message_start"'), _first(events, b'"content_block_start"'))
    ends = (_first(events, b'"content_block_stop"'), _first(events, b'"message_stop"'))
    delta = _first(text_deltas(), b'"index":0')
    text = _filled(PROSE + "\n", PIECE_CHARS * (pieces - 1))
    said = [text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS)] + [end]
    deltas = [replaced(delta, event={"delta": {"text": piece}}) for piece in said]
    answer = json.loads(_first(recorded("partial_messages"), b'"type":"assistant"', b'"type":"text"'))
    answer["message"]["content"][0]["text"] = "".join(said)
    return (*begins, *deltas, _compact(answer), *ends)


def timed_answer() -> bytes:
    """A completed message that says when it was written."""
    said = json.loads(_first(recorded(), b'"type":"assistant"', b'"type":"text"'))
    said["message"]["id"], said["uuid"] = "msg_@NOW@", "@NOW@"
    said["message"]["content"][0]["text"] = "@NOW@"
    return _compact(said)


def result_line() -> bytes:
    """The end of a turn."""
    return _first(recorded("plain_turn"), b'"type":"result"')


def init_line() -> bytes:
    """The beginning of a turn."""
    return _first(recorded("plain_turn"), b'"subtype":"init"')


def _first(lines: tuple[bytes, ...] | list[bytes], *parts: bytes) -> bytes:
    return next(line for line in lines if all(part in line for part in parts))


def _streamed(text: str) -> list[bytes]:
    """As many recorded deltas as it takes to say so much."""
    sizes = cycle([len(json.loads(line)["event"]["delta"]["text"]) for line in text_deltas()])
    said = takewhile(lambda sum_before: sum_before < len(text), accumulate(sizes, initial=0))
    return [line for line, _ in zip(cycle(text_deltas()), said, strict=False)]


def _with_text(line: bytes) -> bytes:
    """The line with as much text as makes it as long as such a thing is in practice."""

    def with_text(size: int) -> bytes:
        message = json.loads(line)
        message["message"]["content"][0]["text"] = _filled(PROSE, size)
        return _compact(message)

    return _of_length(ANSWER_BYTES, with_text)


def _of_read(line: bytes) -> bytes:
    """The line of a file read by the Read tool, with a file of usual length: its lines are there twice (2.1.325)."""

    def with_text(size: int) -> bytes:
        message, text = json.loads(line), _filled(SOURCE.read_text("utf-8"), size)
        numbered = "\n".join(f"{number:>6}\t{row}" for number, row in enumerate(text.split("\n"), 1))
        message["message"]["content"][0]["content"] = numbered
        message["tool_use_result"]["file"]["content"] = text
        return _compact(message)

    return _of_length(TOOL_RESULT_BYTES, with_text)


def _of_length(size: int, with_text: Callable[[int], bytes]) -> bytes:
    """The longest of these lines that is no longer than ``size`` bytes."""
    fitting = bisect_right(range(size), size, key=lambda characters: len(with_text(characters))) - 1
    return with_text(fitting)


def _filled(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def _compact(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def replaced(line: bytes, **changes: Any) -> bytes:
    """The line with other values; a dict goes into the object that is there."""
    return _compact(_merged(json.loads(line), changes))


def _merged(old: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for key, value in changes.items():
        merged[key] = _merged(merged.get(key, {}), value) if isinstance(value, dict) else value
    return merged


def permission_request() -> bytes:
    """As recorded, with an id to be filled in."""
    return replaced(_request("perm_allow", b'"can_use_tool"'), request_id="@ID@")


def hook_request() -> bytes:
    """For the first hook that the host has named."""
    return replaced(_request("hooks_basic", b'"PreToolUse"'), request_id="@ID@", request={"callback_id": "hook_0"})


def mcp_requests() -> tuple[bytes, ...]:
    """The handshake with an in-process server, and a call of its tool ``add`` at the end."""
    parts = (b'"initialize"', b"notifications/initialized", b"tools/list", b"tools/call")
    lines = [replaced(_request("sdk_mcp", part), request_id="@ID@") for part in parts]
    call = replaced(
        lines[-1], request={"message": {"id": "@NUMBER@", "params": {"_meta": {"progressToken": "@NUMBER@"}}}}
    )
    # A number that stays one when its digits are filled in.
    return (*lines[:-1], call.replace(b'"@NUMBER@"', b"1@ID@"))


def _request(scenario: str, part: bytes) -> bytes:
    return _first(recorded(scenario), b'"control_request"', part)
