"""A recording read as what was said: the claims of the specifications are checked on these."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import conversations
from conversations import Recording
from quarterdeck.wire import decode

Line = dict[str, Any]
NEWEST = "2.1.325"
OLD = ("2.0.77", "2.1.17", "2.1.25", "2.1.52")
VERSIONS = (*OLD, NEWEST)
OWN = Path(__file__).parent / "recordings"


class Talk:
    """One conversation. ``out`` is what the CLI wrote, ``sent`` what it was sent, both parsed."""

    def __init__(self, recording: Recording) -> None:
        self.header = recording.header
        self.out: list[Line] = [json.loads(line) for line in recording.lines("out")]
        self.sent: list[Line] = [
            message.data for message in map(decode, recording.lines("in")) if "type" in message.data
        ]

    def of(self, kind: str, subtype: str | None = None) -> list[Line]:
        return [line for line in self.out if line["type"] == kind and subtype in (None, line.get("subtype"))]

    def kinds(self) -> list[str]:
        """``type`` or ``system/subtype`` of each line, stream events left out."""
        return [_kind(line) for line in self.out if line["type"] != "stream_event"]

    @property
    def init(self) -> Line:
        return self.of("system", "init")[0]

    @property
    def result(self) -> Line:
        """The last one."""
        return self.of("result")[-1]

    def asked(self, subtype: str = "can_use_tool") -> list[Line]:
        """Requests of the CLI."""
        return [line["request"] for line in self.of("control_request") if line["request"]["subtype"] == subtype]

    def hook_inputs(self, event: str) -> list[Line]:
        inputs = [request["input"] for request in self.asked("hook_callback")]
        return [given for given in inputs if given["hook_event_name"] == event]

    def answers(self, subtype: str) -> list[Line]:
        """What the CLI answered to requests of that subtype, in order; several answers to one request included."""
        ids = {line["request_id"] for line in self.sent if _asks(line, subtype)}
        found = [line["response"] for line in self.of("control_response")]
        return [response for response in found if response.get("request_id") in ids]

    def tool_results(self) -> list[Any]:
        blocks = [block for line in self.of("user") for block in _blocks(line) if block["type"] == "tool_result"]
        return [block["content"] for block in blocks]

    def texts(self) -> list[str]:
        """What the assistant said."""
        return [block["text"] for line in self.of("assistant") for block in _blocks(line) if block["type"] == "text"]


def _asks(line: Line, subtype: str) -> bool:
    return line["type"] == "control_request" and str(line["request"].get("subtype")) == subtype


def _kind(line: Line) -> str:
    return f"system/{line['subtype']}" if line["type"] == "system" else str(line["type"])


def _blocks(line: Line) -> list[Line]:
    content = line["message"]["content"]
    return content if isinstance(content, list) else []


@lru_cache(maxsize=256)
def talk(scenario: str, version: str = NEWEST) -> Talk:
    """The recording of that scenario, of ``conversations`` or of our own."""
    for root in (OWN, conversations.ROOT):
        for ending in (".ndjson", ".ndjson.gz"):
            path = root / version / (scenario + ending)
            if path.exists():
                return Talk(conversations.load(path))
    raise LookupError(f"no recording {version}/{scenario}")


@lru_cache(maxsize=len(VERSIONS))
def every_talk(version: str) -> list[Talk]:
    return [Talk(recording) for recording in conversations.all_recordings(version)]
