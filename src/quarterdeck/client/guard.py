"""Hooks that decide whether something may happen: if anything goes wrong in one of them, the answer is no.

The CLI treats a hook's error, an answer it does not understand and, before 2.1.325, a late answer as "no opinion", and
continues: in ``bypassPermissions`` the tool then runs. So a failing guard is answered here, in the event's own form of
"no", which every supported CLI understands. ``on_failure="continue"`` restores the CLI's behaviour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

MAX_REASON = 500
"""Maximum length of a failure message for the model."""
DEFAULT_TIMEOUT_S = 600.0
"""Timeout of a guard without one. The same as the CLI's since 2.1.17; 2.0.77 waits 60 s by default."""
FAILS_CLOSED = "fails_closed"
"""Attribute of a callback that must refuse when it fails."""
LATE_SHARE, LATE_S = 0.1, 1.0
"""How long before the CLI stops waiting a guard is answered for: a tenth of its time, one second at most."""

_TOOL_DECISIONS = ("allow", "deny", "ask", "defer")
_ELICITATIONS = ("Elicitation", "ElicitationResult")
_ELICITATION_ACTIONS = ("accept", "decline", "cancel")
_COMMON: dict[str, type] = {
    "continue": bool,
    "suppressOutput": bool,
    "stopReason": str,
    "reason": str,
    "systemMessage": str,
}
_DECISIONS = frozenset(("decision", "hookSpecificOutput"))
_DECIDING = frozenset(
    ("decision", "permissiondecision", "behavior", "action", "hookspecificoutput", "hookeventname", "updatedinput")
)
"""Keys that decide, folded. Under another spelling or in another place the CLI would not see them."""


class BadHookAnswerError(ValueError):
    """A guard's answer that the CLI would ignore."""


def guard_of(callback: Any) -> Callable[..., Any] | None:
    """The PreToolUse hook that a permission callback brings along: a policy with deny or ask rules has one.

    The CLI asks the callback only about calls that its settings and mode have not let through.
    """
    owner = getattr(callback, "__self__", callback)
    if hasattr(type(owner), "guard"):
        found: Callable[..., Any] | None = owner.guard
        return found
    return vars(callback).get("guard") if hasattr(callback, "__dict__") else None


def fails_closed(callback: Any) -> bool:
    """Whether it must refuse when it fails, whatever ``hooks_on_failure`` says: a policy's hooks must.

    That option is for the program's own hooks. ``on_failure`` of a policy's own matcher still counts.
    """
    return getattr(callback, FAILS_CLOSED, False) is True


def is_guard(event: str) -> bool:
    """Whether hooks of this event decide if something happens."""
    return event in _REFUSALS


def refusal(event: str, reason: str) -> dict[str, Any]:
    """The answer that says no."""
    return _REFUSALS[event](event, reason)


def describe_failure(event: str, problem: BaseException | str) -> str:
    """Why it was denied, for the model and the transcript."""
    what = problem if isinstance(problem, str) else f"{type(problem).__name__}: {problem}".rstrip(": ")
    return f"A {event} hook failed, so this is refused: {what[:MAX_REASON]}"


def give_up_after_s(timeout_s: float) -> float:
    """How long to wait for a guard before answering in its place."""
    return timeout_s - min(LATE_S, timeout_s * LATE_SHARE)


def check_answer(event: str, answer: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
    """The answer as it is sent. Raises ``BadHookAnswerError`` where the CLI would not see, or not read, the decision.

    2.1.325 rejects an answer with a null in it, whatever else it says. Here None is "not said", unless ``strict``.
    """
    if not answer:  # no opinion, which is what most say
        return {}
    said = dict(answer) if strict else _without_none(answer)
    try:
        msgspec.json.encode(said)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadHookAnswerError(f"its answer is not valid JSON: {error}") from error
    for key, value in said.items():
        if key in _COMMON:
            _expect(type(value) is _COMMON[key], key, value)
        elif key == "decision":
            _expect(value in ("approve", "block"), key, value)
        elif key == "async":
            _expect(value is False or (value is True and _DECISIONS.isdisjoint(said)), key, value)
        elif key == "hookSpecificOutput":
            _check_specific(event, value)
        else:
            _check_stray(key, "beside hookSpecificOutput")
    return _made_to_count(event, said) if event in _ELICITATIONS else said


def _without_none(answer: Mapping[str, Any]) -> dict[str, Any]:
    said = {key: value for key, value in answer.items() if value is not None}
    specific = said.get("hookSpecificOutput")
    if isinstance(specific, dict):
        said["hookSpecificOutput"] = {key: value for key, value in specific.items() if value is not None}
    return said


def _check_specific(event: str, specific: Any) -> None:
    _expect(isinstance(specific, dict), "hookSpecificOutput", specific)
    _expect(specific.get("hookEventName") == event, "hookEventName", specific.get("hookEventName"))
    known = _SPECIFIC[event]
    for key, value in specific.items():
        if key in known:
            _expect(known[key](value), key, value)
        elif key != "hookEventName":
            _check_stray(key, "in hookSpecificOutput")


def _check_stray(key: Any, place: str) -> None:
    """Keys the CLI does not know are no failure, unless they were meant to decide."""
    if str(key).replace("_", "").lower() in _DECIDING:
        raise BadHookAnswerError(f"the CLI does not know {key!r} {place}")


def _expect(fine: bool, key: str, value: Any) -> None:
    if not fine:
        raise BadHookAnswerError(f"{value!r:.80} is not a known value for {key!r}")


def _word(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_permission(value: Any) -> bool:
    return isinstance(value, dict) and value.get("behavior") in ("allow", "deny")


def _deny_tool(event: str, reason: str) -> dict[str, Any]:
    said = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": event, **said}}


def _deny_request(event: str, reason: str) -> dict[str, Any]:
    decision = {"behavior": "deny", "message": reason}
    return {"hookSpecificOutput": {"hookEventName": event, "decision": decision}}


def _block(event: str, reason: str) -> dict[str, Any]:
    return {"decision": "block", "reason": reason}


def _decline(event: str, reason: str) -> dict[str, Any]:
    return {**_block(event, reason), "hookSpecificOutput": {"hookEventName": event, "action": "decline"}}


def _made_to_count(event: str, said: dict[str, Any]) -> dict[str, Any]:
    """An answer about an elicitation that also works from a callback.

    2.1.325 accepts ``action`` and ``content`` only from command hooks. Of a callback's answer it sees only a block, and
    tells the server "decline".
    """
    specific = said.get("hookSpecificOutput", {})
    if event == "ElicitationResult" and "content" in specific:
        raise BadHookAnswerError("the CLI ignores 'content' from a callback and would pass on the user's own answer")
    if specific.get("action") in ("decline", "cancel"):
        return {"decision": "block", "reason": "A hook declined.", **said}
    return said


_REFUSALS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "PreToolUse": _deny_tool,
    "PermissionRequest": _deny_request,
    "UserPromptSubmit": _block,
    "UserPromptExpansion": _block,
    "PreModelSwitch": _deny_tool,
    "Elicitation": _decline,
    "ElicitationResult": _decline,
}
_PROMPT: dict[str, Callable[[Any], bool]] = {
    "additionalContext": _is_text,
    "sessionTitle": _is_text,
    "suppressOriginalPrompt": lambda value: isinstance(value, bool),
}
_ELICITATION: dict[str, Callable[[Any], bool]] = {"action": _word(*_ELICITATION_ACTIONS), "content": _is_object}
_SPECIFIC: dict[str, dict[str, Callable[[Any], bool]]] = {
    "PreToolUse": {
        "permissionDecision": _word(*_TOOL_DECISIONS),
        "permissionDecisionReason": _is_text,
        "updatedInput": _is_object,
        "additionalContext": _is_text,
    },
    "PermissionRequest": {"decision": _is_permission},
    "UserPromptSubmit": _PROMPT,
    "UserPromptExpansion": _PROMPT,
    "PreModelSwitch": {"permissionDecision": _word("allow", "deny", "ask"), "permissionDecisionReason": _is_text},
    "Elicitation": _ELICITATION,
    "ElicitationResult": _ELICITATION,
}


def wants_to_ask(answer: Mapping[str, Any]) -> bool:
    """Whether a ``PreToolUse`` hook wants a person to decide."""
    said = answer.get("hookSpecificOutput")
    return said is not None and said.get("permissionDecision") == "ask"


def reason_of(answer: Mapping[str, Any]) -> str | None:
    reason: str | None = answer["hookSpecificOutput"].get("permissionDecisionReason")
    return reason


def answered(answer: Mapping[str, Any], decided: Mapping[str, Any]) -> dict[str, Any]:
    """The hook's answer with what the permission callback decided in place of "ask"."""
    said = {**answer["hookSpecificOutput"], "permissionDecision": decided["behavior"]}
    if decided["behavior"] == "allow":
        said["updatedInput"] = decided["updatedInput"]
    else:
        said["permissionDecisionReason"] = decided["message"]
    return {**answer, "hookSpecificOutput": said}
