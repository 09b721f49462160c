"""Hook callbacks registered in the handshake: which to call, with what, and what they decided."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from .simulator import SimulatedCli

HOOK_TIMEOUT_S = 60.0
"""When the matcher names none."""

WITHOUT_EFFORT = frozenset({"UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SessionEnd", "ConfigChange"})
WITHOUT_MODE = frozenset({"StopFailure", "SessionStart", "SessionEnd", "PreCompact", "PostCompact", "Notification"})


class HookVerdict(msgspec.Struct):
    """What all hooks of one event said together."""

    outputs: list[dict[str, Any]] = []
    timed_out: bool = False

    @property
    def specific(self) -> dict[str, Any]:
        """All ``hookSpecificOutput`` merged, the later one winning."""
        found: dict[str, Any] = {}
        for output in self.outputs:
            own = output.get("hookSpecificOutput")
            found |= own if isinstance(own, dict) else {}
        return found

    @property
    def permission(self) -> tuple[str | None, str]:
        """The strictest decision about a tool, deny before ask before allow, and its reason."""
        found: dict[str, str] = {}
        for output in self.outputs:
            own = output.get("hookSpecificOutput")
            own = own if isinstance(own, dict) else {}
            word = own.get("permissionDecision") or {"approve": "allow", "block": "deny"}.get(
                str(output.get("decision"))
            )
            if word in ("deny", "ask", "allow"):
                found.setdefault(word, str(own.get("permissionDecisionReason") or output.get("reason") or ""))
        for word in ("deny", "ask", "allow"):
            if word in found:
                return word, found[word]
        return None, ""

    @property
    def blocked(self) -> str | None:
        """The reason of the first ``decision: block``."""
        for output in self.outputs:
            if output.get("decision") == "block":
                return str(output.get("reason", ""))
        return None

    @property
    def stops(self) -> bool:
        return any(output.get("continue") is False for output in self.outputs)

    @property
    def messages(self) -> list[str]:
        return [str(output["systemMessage"]) for output in self.outputs if output.get("systemMessage")]


class Hooks:
    def __init__(self, cli: SimulatedCli) -> None:
        self._cli = cli

    def has(self, event: str) -> bool:
        return bool(self._cli.session.hooks.get(event))

    async def fire(
        self, event: str, *, matched: str | None = None, about: str | None = None, **fields: Any
    ) -> HookVerdict:
        """Call every hook of ``event`` whose matcher takes ``matched`` (a tool, say), side by side.

        ``about``: the tool call it is about, where the input does not say so itself.
        """
        tool_use_id = about or fields.get("tool_use_id")
        verdict = HookVerdict()
        calls = [
            self._call(verdict, event, callback_id, entry.get("timeout"), tool_use_id, fields)
            for entry in self._cli.session.hooks.get(event, [])
            if _matches(entry.get("matcher"), matched)
            for callback_id in entry.get("hookCallbackIds", [])
        ]
        await asyncio.gather(*calls)
        return verdict

    async def _call(
        self,
        verdict: HookVerdict,
        event: str,
        callback_id: str,
        timeout_s: Any,
        tool_use_id: str | None,
        fields: dict[str, Any],
    ) -> None:
        session = self._cli.session
        body: dict[str, Any] = {
            "session_id": session.id,
            "transcript_path": str(session.transcript_path),
            "cwd": str(session.cwd),
            "prompt_id": self._cli.prompt_id,
        }
        if event not in WITHOUT_MODE:
            body["permission_mode"] = session.mode
        if event not in WITHOUT_EFFORT:
            body["effort"] = {"level": "medium"}
        limit_s = float(timeout_s) if isinstance(timeout_s, int | float) else HOOK_TIMEOUT_S
        answer = await self._cli.host.ask(
            "hook_callback",
            timeout_s=limit_s,
            callback_id=callback_id,
            input={**body, "hook_event_name": event, **fields},
            tool_use_id=tool_use_id or self._cli.new_id(),
        )
        if answer.ok and isinstance(answer.payload, dict):
            verdict.outputs.append(answer.payload)
        elif answer.kind == "timeout":
            verdict.timed_out = True
        elif answer.kind in ("ok", "error"):
            self._cli.say(
                "system",
                "informational",
                content=f"{event}: Hook callback {callback_id} failed: the host answered with an error. "
                "It counts as an empty answer.",
                level="warning",
                tag="hook_callback_failed",
            )


def _matches(matcher: Any, value: str | None) -> bool:
    """No matcher, an empty one or ``*`` takes everything; else names and patterns, the whole value."""
    if not isinstance(matcher, str) or matcher in ("", "*") or value is None:
        return True
    try:
        return re.fullmatch(matcher, value) is not None
    except re.error:
        return matcher == value
