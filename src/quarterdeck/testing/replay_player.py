"""Plays the CLI's part of a recording, without I/O: input goes in; what to write, and when, comes out.

Output recorded before an input is written at once; output after it waits until the host has sent that input.
Prompts and requests must come in the recorded order; answers to the CLI's requests are matched by id, in any order.

IDs that the host generates in each run are mapped: the answer to a request carries the id of the *live* request,
and the uuid of a user message is the live one wherever the CLI repeats it. All other bytes are those recorded.

Lenient: an input counts by its kind (type, subtype) alone; recorded inputs that the host leaves out are skipped,
with the CLI's answers to them; requests that were not recorded are answered with an error; other input is ignored.
"""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass

from .recording import Direction, Entry, Recording, whole_lines
from .replay_match import answered_id, difference, kind, parse


class ReplayMismatch(Exception):  # noqa: N818  # a finding about the program under test, not an error of this one
    """The host sent something other than what was recorded."""


class InputEndedEarly(ReplayMismatch):
    """The host closed the input although more was recorded."""


@dataclass(frozen=True, slots=True)
class ReplayOutput:
    direction: Direction
    data: bytes
    wait_s: float
    """How long after the previous entry it was recorded."""


@dataclass(frozen=True, slots=True)
class Ended:
    exit_code: int | None
    signal: str | None


class Player:
    """Call ``receive`` and ``receive_eof`` as input comes, and ``next`` until it gives None or ``Ended``."""

    def __init__(self, recording: Recording, *, strict: bool = True) -> None:
        self._recording = recording
        self._strict = strict
        self._entries = list(whole_lines(recording.entries))
        self._position = 0
        self._said: deque[int] = deque()
        self._answers: dict[str, deque[int]] = {}
        self._heard: set[int] = set()
        self._skipped_ids: set[str] = set()
        self._live_ids: dict[str, deque[str]] = {}
        self._answered: dict[str, str] = {}
        self._live_uuids: dict[bytes, bytes] = {}
        self._unasked: deque[bytes] = deque()
        self._pending = b""
        self._lines = 0
        self._eof = False
        self._stderr_left = recording.header.stderr.encode() if not recording.stream("err") else b""
        for index, entry in enumerate(self._entries):
            self._expect(index, entry)

    def _expect(self, index: int, entry: Entry) -> None:
        if entry.direction != "in" or entry.eof:
            return
        if not entry.line.strip():  # the CLI ignores blank lines, and so do we
            self._heard.add(index)
            return
        request_id = answered_id(parse(entry.line))
        if request_id is None:
            self._said.append(index)
        else:
            self._answers.setdefault(request_id, deque()).append(index)

    # Input

    def receive(self, data: bytes) -> None:
        """Take input from the host. In strict mode, raises ``ReplayMismatch`` if it is not what was recorded."""
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            self._line(line)

    def receive_eof(self) -> None:
        rest, self._pending = self._pending, b""
        if rest:
            self._line(rest)
        self._eof = True

    def _line(self, line: bytes) -> None:
        self._lines += 1
        if not line.strip():
            return
        message = parse(line)
        request_id = answered_id(message)
        index = self._find_answer(request_id, line) if request_id is not None else self._find_said(line)
        if index is None:
            return
        self._heard.add(index)
        recorded = parse(self._entries[index].line)
        if recorded is None or message is None:
            return
        old, new = recorded.get("request_id"), message.get("request_id")
        if recorded.get("type") == "control_request" and isinstance(old, str) and isinstance(new, str):
            self._live_ids.setdefault(old, deque()).append(new)
        old, new = recorded.get("uuid"), message.get("uuid")
        if isinstance(old, str) and isinstance(new, str) and old != new:
            self._live_uuids[json.dumps(old).encode()] = json.dumps(new).encode()

    def _find_answer(self, request_id: str, line: bytes) -> int | None:
        expected = self._answers.get(request_id)
        if not expected:
            if self._strict:
                raise self._mismatch(
                    f"an answer to {request_id!r}, for which the recording has no (further) answer", line
                )
            return None
        index = expected.popleft()
        self._check(index, line)
        return index

    def _find_said(self, line: bytes) -> int | None:
        if self._strict:
            if not self._said:
                raise self._mismatch(f"{kind(parse(line))}, where the recording has no further input", line)
            self._check(self._said[0], line)
            return self._said.popleft()
        wanted = kind(parse(line))
        place = next((n for n, i in enumerate(self._said) if kind(parse(self._entries[i].line)) == wanted), None)
        if place is None:
            self._refuse(line)
            return None
        for _ in range(place):
            self._skip(self._said.popleft())
        return self._said.popleft()

    def _check(self, index: int, line: bytes) -> None:
        entry = self._entries[index]
        if not self._strict or (found := difference(entry.line, line)) is None:
            return
        wanted, came = kind(parse(entry.line)), kind(parse(line))
        detail = found if wanted == came else f"expected {wanted}"
        raise self._mismatch(f"{came}; {self._recording.path}:{entry.number} has {wanted}: {detail}", line)

    def _mismatch(self, problem: str, line: bytes) -> ReplayMismatch:
        head = line[:200].decode(errors="replace") + ("…" if len(line) > 200 else "")
        return ReplayMismatch(f"input line {self._lines} is {problem}\n  it was: {head}")

    def _skip(self, index: int) -> None:
        self._heard.add(index)
        recorded = parse(self._entries[index].line)
        if recorded is not None and isinstance(recorded.get("request_id"), str):
            self._skipped_ids.add(recorded["request_id"])

    def _refuse(self, line: bytes) -> None:
        message = parse(line)
        if message is not None and message.get("type") == "control_request":
            body = {"subtype": "error", "request_id": message.get("request_id"), "error": "not in the recording"}
            self._unasked.append(json.dumps({"type": "control_response", "response": body}).encode() + b"\n")

    # Output

    def next(self) -> ReplayOutput | Ended | None:
        """The next thing to do, or None when the host has to send something first."""
        if self._unasked:
            return ReplayOutput("out", self._unasked.popleft(), 0.0)
        while self._position < len(self._entries):
            entry = self._entries[self._position]
            if entry.direction == "in" and not self._may_pass(entry):
                return None
            before = self._entries[self._position - 1].t if self._position else 0.0
            self._position += 1
            data = b"" if entry.direction == "in" or entry.eof else self._as_live(entry)
            if data:
                return ReplayOutput(entry.direction, data, max(0.0, entry.t - before))
        if self._stderr_left:
            data, self._stderr_left = self._stderr_left, b""
            return ReplayOutput("err", data, 0.0)
        return Ended(self._recording.exit_code, self._recording.signal)

    def _may_pass(self, entry: Entry) -> bool:
        if self._eof or self._position in self._heard:
            if self._strict and not entry.eof and self._position not in self._heard:
                where = f"{self._recording.path}:{entry.number}"
                raise InputEndedEarly(
                    f"the input ended after line {self._lines}; {where} has {kind(parse(entry.line))} next"
                )
            return True
        return False

    def _as_live(self, entry: Entry) -> bytes:
        """The recorded line with this host's ids; empty for an answer to a skipped request."""
        data = entry.data
        for old, new in self._live_uuids.items():
            data = data.replace(old, new)
        if b'"control_response"' not in data and b'"control_request_progress"' not in data:
            return data
        message = parse(data) or {}
        recorded = answered_id(message) if message.get("type") == "control_response" else message.get("request_id")
        waiting = self._live_ids.get(recorded) if isinstance(recorded, str) else None
        if waiting is None:
            return b"" if recorded in self._skipped_ids else data
        if waiting:  # else answered before: 2.0.77 answers set_permission_mode twice
            self._answered[str(recorded)] = waiting[0]
            if message.get("type") == "control_response":
                waiting.popleft()
        live = self._answered[str(recorded)]
        return data if live == recorded else _with_id(data, str(recorded), live)


def _with_id(line: bytes, old: str, new: str) -> bytes:
    place = re.compile(rb'("request_id"\s*:\s*)' + re.escape(json.dumps(old).encode()))
    return place.sub(lambda found: found[1] + json.dumps(new).encode(), line)
