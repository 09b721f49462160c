"""How a turn ends: what its calls leave for the result, the ways to end early, and the result itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from .simulator import SimulatedCli
    from .steps import Exit

_TERMINAL = {"error_max_turns": "max_turns", "error_max_budget_usd": "budget_exhausted"}

_NO_AGENTS = {
    "spawned": 0,
    "requested": {"background": 0, "foreground": 0, "unset": 0},
    "started_in_background": 0,
    "max_depth": 0,
    "spawned_by_subagents": 0,
    "completed": 0,
    "failed": 0,
    "killed": {"parent": 0, "user": 0, "system": 0},
    "refused": {"depth_limit": 0, "concurrency_limit": 0, "budget": 0},
    "by_type": {},
}


class Notes(msgspec.Struct):
    """What the calls of a turn leave for its result."""

    denials: list[dict[str, Any]] = []
    user_messages: int = 0
    hook_stopped: bool = False
    structured: dict[str, Any] | None = None
    structured_failures: list[str] = []


class TurnFailed(Exception):  # noqa: N818  # a way to end, not an error of ours
    """The turn ends with an error result."""

    def __init__(self, subtype: str, errors: list[str], terminal_reason: str = "") -> None:
        super().__init__(subtype)
        self.subtype = subtype
        self.errors = errors
        self.terminal_reason = terminal_reason or _TERMINAL.get(subtype, "")


class TurnInterrupted(Exception):  # noqa: N818  # what the host wants
    """The host denied a tool and wants the whole turn to end."""


class ProcessEnds(Exception):  # noqa: N818  # what the scenario wants
    """A scenario lets the process die."""

    def __init__(self, step: Exit) -> None:
        super().__init__(f"exit {step.code}")
        self.step = step


class Results:
    """Writes results and counts them."""

    def __init__(self, cli: SimulatedCli) -> None:
        self._cli = cli
        self._count = 0
        self._started = cli.clock()

    def start_turn(self) -> None:
        self._started = self._cli.clock()
        self._cli.bill.start_turn()

    def success(self, text: str, *, notes: Notes, stop_reason: str | None, is_error: bool = False, **more: Any) -> None:
        fields = {"is_error": is_error, "num_turns": 1 + notes.user_messages, "api_error_status": None, "result": text}
        self._say("success", notes, fields | {"stop_reason": stop_reason} | {"terminal_reason": "completed"} | more)

    def local(self, text: str, **more: Any) -> None:
        """Nothing was asked of the model: a local command, or a prompt that needs no answer."""
        fields = {"is_error": False, "num_turns": 0, "stop_reason": None, "result": text}
        self._say("success", Notes(), fields | more)

    def error(self, subtype: str, errors: list[str], *, notes: Notes, stop_reason: str | None, **more: Any) -> None:
        fields = {"is_error": True, "num_turns": 1 + notes.user_messages, "stop_reason": stop_reason, "errors": errors}
        self._say(subtype, notes, fields | more)

    def startup_failure(self, message: str, **more: Any) -> None:
        """The process could not begin: the shortest of results."""
        fields = {"is_error": True, "num_turns": 0, "stop_reason": None, "errors": [message]}
        self._cli.say("result", "error_during_execution", **self._figures(Notes()), **fields, **more)

    def _say(self, subtype: str, notes: Notes, fields: dict[str, Any]) -> None:
        cli = self._cli
        cli.say(
            "result",
            subtype,
            **self._figures(notes),
            fast_mode_state="off",
            fast_mode_disabled_reason="sdk_opt_in_required",
            subagent_stats=_NO_AGENTS,
            safety_stops=0,
            queued_turn_count=len(cli.prompts),
            model_usage_since_last_result=cli.bill.since_last_result(),
            **fields,
        )

    def _figures(self, notes: Notes) -> dict[str, Any]:
        bill, count = self._cli.bill, self._count
        self._count += 1
        return {
            "duration_ms": self.elapsed_ms(),
            "duration_api_ms": bill.api_ms,
            "total_cost_usd": bill.total_cost_usd,
            "usage": bill.usage(),
            "modelUsage": bill.model_usage(),
            "permission_denials": notes.denials,
            "result_index": count,
        }

    def elapsed_ms(self) -> int:
        """Since the turn began."""
        return int((self._cli.clock() - self._started) * 1000)
