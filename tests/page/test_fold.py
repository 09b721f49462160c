"""The page folds frames to the state that the host's own fold has: on every recording, whole and from its middle."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec

import needs
from conversations import Recording, all_recordings
from quarterdeck.gateways.http.page_joining import FOLDER
from quarterdeck.host.folding import FrameFold, is_preview
from quarterdeck.store.records import NewRow
from quarterdeck.timeline import Limits, Timeline
from quarterdeck.wire import decode

pytestmark = needs.program("node")
SCRIPT = Path(__file__).with_name("fold.mjs")
LIMIT_S = 240
UNLIMITED = Limits(items=100_000, text_chars=10**9, output_chars=10**9, input_chars=10**9)
"""Events are not shortened, and neither is what the page makes of them."""

COMMON = {"type": None, "at": 0.0, "parent_id": None}
SAID = {"text": {}, "done": False, "retracted": False}
REQUEST = {"id": "", "status": "open", "closed_at": None, "tool_id": None}
DRAWN: dict[str, dict[str, Any]] = {
    "prompt": {"id": "", "text": {}, "attachments": [], "status": "sent", "source": "us"},
    "text": {"id": "", **SAID, "error": None},
    "thinking": {"id": "", **SAID, "hidden": False, "duration_s": None},
    "tool_call": {
        "id": "",
        "name": "",
        "label": "",
        "about": "",
        "input": {},
        "status": "writing",
        "called_at": None,
        "ended_at": None,
        "elapsed_s": None,
        "output": None,
        "output_images": 0,
        "output_path": None,
        "diffs": [],
        "reason": None,
        "request_id": None,
        "task_id": None,
        "agent_type": None,
        "agent_id": None,
        "summary": None,
        "run_by_api": False,
        "live_output": None,
    },
    "permission": {
        **REQUEST,
        "tool_name": "",
        "label": "",
        "about": "",
        "input": {},
        "description": None,
        "diffs": [],
        "suggestions": [],
        "reason": None,
        "allowed": None,
        "note": None,
        "interrupted": False,
        "input_changed": False,
        "rules_added": [],
    },
    "questions": {**REQUEST, "questions": [], "answers": {}, "declined": False, "note": None},
    "plan_review": {**REQUEST, "plan": None, "path": None, "approved": None, "note": None, "mode": None},
    "elicitation": {
        **REQUEST,
        "server": "",
        "message": "",
        "url": None,
        "form": None,
        "action": None,
        "completed": False,
    },
    "dialog": {**REQUEST, "kind": "", "payload": {}, "behavior": None},
    "hook": {"event": "", "name": "", "source": "command", "tool_id": None, "output": None, "outcome": None},
    "notice": {"kind": "", "text": "", "level": "info", "tool_ids": []},
    "turn": {
        "id": "",
        "number": 0,
        "outcome": "",
        "error": None,
        "result": None,
        "started_at": None,
        "duration_s": 0.0,
        "steps": 0,
        "tokens": {},
        "cost_usd": 0.0,
        "total_usd": 0.0,
        "by_model": {},
        "denied": [],
        "source": None,
    },
}
"""What the page draws of each kind of item, and what it is when the host leaves it out."""
TASK = {"status": "running", "description": "", "background": False, "ended_at": None, "tool_id": None}
"""Not its tokens: what a notification says about them is in no event."""


def drawn(state: dict[str, Any]) -> dict[str, Any]:
    """A state as far as it can be seen, with the defaults filled in."""
    found = state.get("items", [])
    items = found if isinstance(found, list) else list(found.values())
    tasks = {key: _filled(task, TASK) for key, task in state.get("tasks", {}).items()}
    cost = state.get("cost", {}).get("total_usd", 0.0) if "total_usd" not in state else state["total_usd"]
    session = {name: state.get("session", {}).get(name) for name in ("model", "permission_mode")}
    return {
        "items": [_filled(item, {**COMMON, **DRAWN[item["type"]]}) for item in items],
        "tasks": tasks,
        "plans": state.get("plans", {}),
        "waiting": state.get("waiting", []),
        "context": state.get("context", {}),
        "activity": state.get("activity", "idle"),
        "turn": state.get("turn", 0),
        "turn_started_at": state.get("turn_started_at"),
        "suggestion": state.get("suggestion"),
        "cost": round(cost, 9),
        "session": session,
    }


def _filled(given: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    return {name: _same(given.get(name, default)) for name, default in defaults.items()}


def _same(value: Any) -> Any:
    """An empty text that is kept is no text; a number of JSON is a float or not."""
    if value == {"text": ""}:
        return {}
    return float(value) if type(value) is int else value


def folded(recording: Recording) -> tuple[list[Any], tuple[int, Any], dict[str, Any]]:
    """Frames, the state in the middle with its place, and the state at the end: without previews, as the host's."""
    fold = FrameFold(Timeline(limits=UNLIMITED))
    rows = [entry for entry in recording.entries if not entry.eof and entry.line.strip()]
    frames: list[Any] = []
    middle: tuple[int, Any] = (0, None)
    for entry in rows:
        message = decode(entry.line)
        if is_preview(message):
            continue
        kind = "sent" if entry.direction == "in" else "received"
        row = NewRow(at=entry.t, kind=kind, origin="agent", body=entry.line)  # type: ignore[arg-type]
        events = fold.events(row, message)
        frames.append({"session": "s", "seq": len(frames) + 1, "at": entry.t, "events": msgspec.to_builtins(events)})
        if len(frames) == max(len(rows) // 2, 1):
            middle = len(frames), json.loads(fold.timeline.snapshot())
    return frames, middle, json.loads(fold.timeline.snapshot())


def by_the_page(asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines = "".join(f"{json.dumps(one)}\n" for one in asked)
    command = ["node", str(SCRIPT), str(FOLDER)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def test_every_recording_is_folded_as_by_the_host_from_its_beginning_and_from_its_middle() -> None:
    known = [(recording.id, *folded(recording)) for recording in all_recordings()]
    asked: list[dict[str, Any]] = []
    for _, frames, (place, state), _ in known:
        asked += [{"frames": frames}, {"frames": frames[place:], "snapshot": state}]
    answers = by_the_page(asked)
    for number, (name, _, _, wanted) in enumerate(known):
        for answer, how in zip(
            answers[2 * number : 2 * number + 2], ("from the beginning", "from the middle"), strict=True
        ):
            seen, host = drawn(answer), drawn(wanted)
            for field, value in host.items():
                assert seen[field] == value, f"{name} {how}: {field}"
