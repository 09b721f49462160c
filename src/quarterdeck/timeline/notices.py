"""Lines for the user: what the CLI wants shown, what it reports, and what this version does not know."""

from __future__ import annotations

from typing import Any

from quarterdeck.wire import (
    ActiveGoalMessage,
    BadLine,
    ErrorMessage,
    InformationalMessage,
    LocalCommandOutputMessage,
    MemoryRecallMessage,
    MirrorErrorMessage,
    NotificationMessage,
    PluginInstallMessage,
    SessionWritesLostMessage,
    SystemMessage,
    UnknownMessage,
    WorkerShuttingDownMessage,
)

from .events import BadLineSeen, Event, NoticeShown, UnknownSeen
from .items import Notice
from .limits import add_item, clip, new_id
from .state import State

_RAW_CHARS = 4_000
"""Of something unknown: enough to recognize it."""


def note(state: State, at: float, *, kind: str, text: str, key: str | None = None, **others: Any) -> Notice:
    """Add a line to the items, for something that has its own event."""
    shown = str(clip(text, state.limits.output_chars))
    notice = Notice(id=key or new_id(state, kind), at=at, kind=kind, text=shown, **others)
    if notice.id in state.items:
        del state.items[notice.id]  # a later one replaces it, at the end
    add_item(state, notice)
    return notice


def show(state: State, at: float, out: list[Event], *, kind: str, text: str, **others: Any) -> None:
    """Add a line to the items and report it."""
    made = note(state, at, kind=kind, text=text, **others)
    out.append(NoticeShown(at, made.id, made.kind, text, made.level, made.parent_id, made.tool_ids, made.details))


def unknown(state: State, at: float, out: list[Event], *, what: str, raw: bytes, reason: str = "") -> None:
    """Something that this version does not know; it is shown as it came."""
    kept = clip(raw.decode("utf-8", "replace"), _RAW_CHARS)
    note(state, at, kind="unknown", text=what, details={"raw": str(kept)})
    out.append(UnknownSeen(at, what, kept, reason))


def fold_unknown(state: State, message: UnknownMessage, at: float, out: list[Event]) -> None:
    unknown(state, at, out, what=f"message {message.type}", raw=message.raw, reason=message.reason)


def fold_unknown_system(state: State, message: SystemMessage, at: float, out: list[Event]) -> None:
    unknown(state, at, out, what=f"system {message.subtype}", raw=message.raw)


def fold_bad_line(state: State, message: BadLine, at: float, out: list[Event]) -> None:
    head = message.head.decode("utf-8", "replace")
    note(state, at, kind="bad_line", text=message.reason, level="warning", details={"head": head, "size": message.size})
    out.append(BadLineSeen(at, message.reason, head, message.size))


def fold_informational(state: State, message: InformationalMessage, at: float, out: list[Event]) -> None:
    ids = [message.tool_use_id] if message.tool_use_id else []
    show(
        state, at, out, kind="informational", text=message.content, level=message.level or "info", tool_ids=ids
    )  # fmt: skip


def fold_notification(state: State, message: NotificationMessage, at: float, out: list[Event]) -> None:
    """Shown for a limited time, if it has one; a later one with the same key replaces it."""
    key = f"notification:{message.key}" if message.key else None
    details = {"priority": message.priority, "timeout_s": message.timeout_ms and message.timeout_ms / 1000}
    known = {name: value for name, value in details.items() if value is not None}
    show(state, at, out, kind="notification", text=message.text, key=key, details=known)


def fold_local_command_output(state: State, message: LocalCommandOutputMessage, at: float, out: list[Event]) -> None:
    show(state, at, out, kind="command_output", text=message.content)


def fold_memory_recall(state: State, message: MemoryRecallMessage, at: float, out: list[Event]) -> None:
    paths = [path for memory in message.memories or () if isinstance(path := memory.get("path"), str)]
    details = {"mode": message.mode, "paths": paths}
    show(state, at, out, kind="memories", text=f"remembered {', '.join(paths)}", details=details)


def fold_plugin_install(state: State, message: PluginInstallMessage, at: float, out: list[Event]) -> None:
    words = ["plugin" if message.name else "plugins", message.name, message.status]
    text = " ".join(word for word in words if word)
    level = "error" if message.error or message.status == "failed" else "info"
    text = f"{text}: {message.error}" if message.error else text
    show(state, at, out, kind="plugin_install", text=text, level=level, details={"status": message.status})


def fold_shutting_down(state: State, message: WorkerShuttingDownMessage, at: float, out: list[Event]) -> None:
    show(state, at, out, kind="shutting_down", text=message.reason or "", level="warning")


def fold_writes_lost(state: State, message: SessionWritesLostMessage, at: float, out: list[Event]) -> None:
    lost = ", ".join(message.lost or ()) or "session"
    text = f"not written, the disk is full ({message.error_code}): {lost}"
    show(state, at, out, kind="writes_lost", text=text, level="error")


def fold_mirror_error(state: State, message: MirrorErrorMessage, at: float, out: list[Event]) -> None:
    show(state, at, out, kind="mirror_error", text=message.error, level="error")


def fold_error(state: State, message: ErrorMessage, at: float, out: list[Event]) -> None:
    show(state, at, out, kind="api_error", text=message.error.message or message.error.type or "", level="error")


def fold_goal(state: State, message: ActiveGoalMessage, at: float, out: list[Event]) -> None:
    goal = message.value
    state.session.goal = goal.condition if goal is not None else None
    text = goal.condition if goal is not None else "goal cleared"
    details = {} if goal is None else {"iterations": goal.iterations, "last_reason": goal.last_reason}
    show(state, at, out, kind="goal", text=text, details={k: v for k, v in details.items() if v is not None})
