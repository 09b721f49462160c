"""Decides whether an input line matches the recorded one, although no two runs are the same byte for byte.

Compared as JSON, after this normalisation, which is all that strict replay tolerates:

- ``uuid``, ``session_id``, ``timestamp`` and ``request_id`` are not compared (ids are mapped, see ``replay_player``);
- a key with ``null`` counts as absent;
- a message content ``"text"`` counts as ``[{"type": "text", "text": "text"}]``: the CLI treats both the same;
- inside strings, UUIDs, ids of the API (``toolu_…``, ``msg_…``, ``req_…``) and ISO times count as any other of their
  kind, and line endings and white space at the ends do not count;
- ``[redacted]`` in the recording matches anything.

A line that is not a JSON object must match byte for byte.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .redaction import MARK

VOLATILE = frozenset({"uuid", "session_id", "timestamp", "request_id"})
_IN_TEXT = (
    (re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"), "<uuid>"),
    (re.compile(r"\b(toolu|msg|req)_[A-Za-z0-9]{8,}"), r"<\1>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?"), "<time>"),
)
REDACTED = MARK.decode()
_SHOWN = 60


def parse(line: bytes) -> dict[str, Any] | None:
    """The JSON object on the line, or None."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def kind(message: dict[str, Any] | None) -> str:
    """The name of a line in errors: its type, and the subtype of a request."""
    if message is None:
        return "a line that is not a JSON object"
    request = message.get("request")
    subtype = request.get("subtype") if isinstance(request, dict) else message.get("subtype")
    return f"{message.get('type')}/{subtype}" if isinstance(subtype, str) else str(message.get("type"))


def answered_id(message: dict[str, Any] | None) -> str | None:
    """The id of the request that this line answers; None if it is not an answer."""
    if message is None or message.get("type") != "control_response":
        return None
    response = message.get("response")
    return str(response.get("request_id")) if isinstance(response, dict) else ""


def difference(recorded: bytes, live: bytes) -> str | None:
    """Where the two lines differ, for a person; None when they count as the same."""
    old, new = parse(recorded), parse(live)
    if old is None or new is None:
        same = recorded.strip() == live.strip()
        return None if same else f"expected {_shown(recorded.decode(errors='replace'))}"
    return _differs("", _normal(old), _normal(new))


def _normal(value: Any, *, key: str = "") -> Any:
    if isinstance(value, dict):
        return {
            name: _normal(item, key=name) for name, item in value.items() if item is not None and name not in VOLATILE
        }
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").strip()
    for pattern, name in _IN_TEXT:
        text = pattern.sub(name, text)
    return [{"type": "text", "text": text}] if key == "content" else text


def _differs(place: str, old: Any, new: Any) -> str | None:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            here = f"{place}.{name}" if place else name
            if name not in new:
                return f"{here}: expected {_shown(old[name])}, found nothing"
            if name not in old:
                return f"{here}: expected nothing, found {_shown(new[name])}"
            if found := _differs(here, old[name], new[name]):
                return found
        return None
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return next((found for n, (a, b) in pairs if (found := _differs(f"{place}[{n}]", a, b))), None)
    if isinstance(old, str) and isinstance(new, str) and REDACTED in old:
        pattern = ".*".join(map(re.escape, old.split(REDACTED)))
        return (
            None if re.fullmatch(pattern, new, re.DOTALL) else f"{place}: expected {_shown(old)}, found {_shown(new)}"
        )
    return None if old == new else f"{place}: expected {_shown(old)}, found {_shown(new)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
