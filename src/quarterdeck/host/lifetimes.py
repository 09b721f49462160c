"""Process lifecycle: when to restart a crashed process, end a silent one, and park an idle one."""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from quarterdeck.timeline.items import Prompt, Text, ToolCall
from quarterdeck.timeline.state import State

from .bodies import SessionBody
from .errors import HostError
from .requests import Lifecycle

FIRST_RESTART_S = 1.0
"""Delay before the first restart; doubles with each restart, up to a minute."""
LONGEST_RESTART_S = 60.0
MOST_RESTARTS = 1_000


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """``Lifecycle`` with all values set; None means never."""

    restarts: int = 3
    tell_model: bool = False
    hang_s: float | None = 30 * 60.0
    """A running tool reports every 30 s (2.1.325), so only a request to the model is silent for minutes."""
    park_s: float | None = 60 * 60.0
    limited: Literal["wait", "continue", "refuse"] = "wait"


def life_of(*said: Lifecycle) -> Life:
    """Merge lifecycles: the last one that sets a value wins. Raises ``HostError`` for invalid values."""
    given: dict[str, Any] = {}
    for one in said:
        given |= {name: value for name in one.__struct_fields__ if (value := getattr(one, name)) is not UNSET}
    for name in ("hang_s", "park_s"):
        if given.get(name) is not None and not 0 < given[name] < math.inf:
            raise HostError("invalid", f"{name} must be a number of seconds, or null.", field=f"lifecycle.{name}")
    if not 0 <= given.get("restarts", 0) <= MOST_RESTARTS:
        raise HostError("invalid", f"restarts must be between 0 and {MOST_RESTARTS:,}.", field="lifecycle.restarts")
    return Life(**given)


def plan_restart(body: SessionBody, life: Life, now: float) -> None:
    """Return when to restart a process that has ended, if at all."""
    body.restart_at = None
    if body.wanted and body.restarts < life.restarts:
        body.restart_at = now + min(FIRST_RESTART_S * 2**body.restarts, LONGEST_RESTART_S)
        body.restarts += 1


def cut_off(state: State) -> list[str]:
    """Describe the running tool calls, one line each."""
    calls = [state.items.get(one) for one in state.running]
    return [f"{call.label} {call.about}".strip() for call in calls if isinstance(call, ToolCall)]


AFTER_THE_LIMIT = "The rate limit that stopped you is over. Continue where you left off."


def is_cut_off_by_limit(state: State) -> bool:
    """Whether the last turn ended because the account's rate limit was reached."""
    for item in reversed(state.items.values()):
        if isinstance(item, Text):
            return item.error == "rate_limit"
        if isinstance(item, Prompt | ToolCall):
            return False
    return False


def about_cut_off(calls: list[str]) -> str:
    """The message to the model about interrupted calls."""
    listed = "\n".join(f"- {call}" for call in calls)
    return (
        "Claude Code was restarted after it exited unexpectedly. These tool calls were running, and it is unknown "
        f"whether they took effect:\n{listed}\nCheck before you repeat any of them."
    )
