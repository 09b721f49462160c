"""Permissions: modes, rules, updates, and the answer to "may this tool run?".

A user's callback returns ``PermissionResultAllow`` or ``PermissionResultDeny``. ``permission_answer`` writes it for the
CLI; ``parse_permission_answer`` reads it the way the CLI does, which the simulator needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from ._base import DOES_NOT_FIT
from ._official import Record, official
from ._shapes import Word

if TYPE_CHECKING:
    from .inbound import CanUseToolRequest as _Request
else:
    _Request = Any  # for ``typing.get_type_hints``; that module imports this one

PermissionMode: TypeAlias = Literal["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"]
"""2.1.325 also accepts ``manual`` and calls it ``default``. Up to 2.1.52 the CLI accepted any word, even
``delegate``."""

PermissionBehavior: TypeAlias = Literal["allow", "deny", "ask"]
PermissionUpdateDestination: TypeAlias = Literal[
    "userSettings", "projectSettings", "localSettings", "session", "cliArg"
]
PermissionUpdateType: TypeAlias = Literal[
    "addRules", "replaceRules", "removeRules", "setMode", "addDirectories", "removeDirectories"
]
PermissionDecisionClassification: TypeAlias = Literal["user_temporary", "user_permanent", "user_reject"]
PermissionDecisionReasonType: TypeAlias = Literal[
    "rule",
    "mode",
    "subcommandResults",
    "permissionPromptTool",
    "hook",
    "asyncAgent",
    "sandboxOverride",
    "workingDir",
    "safetyCheck",
    "classifier",
    "other",
]

_CLASSIFICATIONS = ("user_temporary", "user_permanent", "user_reject")
_RULES = ("rules", "behavior")
_NEEDED: dict[str, tuple[str, ...]] = {
    "addRules": _RULES,
    "replaceRules": _RULES,
    "removeRules": _RULES,
    "setMode": ("mode",),
    "addDirectories": ("directories",),
    "removeDirectories": ("directories",),
}
"""Update type → the fields it has besides ``type`` and ``destination``."""


@official("tool_name", "rule_content")
class PermissionRuleValue(Record, rename="camel"):
    """A tool and the calls of it that the rule covers: ``Bash`` with ``git status *``. No content: all calls."""

    tool_name: str
    rule_content: str | None = None


@official("type", "rules behavior mode directories destination")
class PermissionUpdate(Record):
    """A change of the rules, the mode or the directories, suggested by the CLI or sent with an allow."""

    type: Word[PermissionUpdateType]
    rules: list[PermissionRuleValue] | None = None
    behavior: Word[PermissionBehavior] | None = None
    mode: Word[PermissionMode] | None = None
    directories: list[str] | None = None
    destination: Word[PermissionUpdateDestination] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The form on the wire: the fields of its type, without nulls.

        2.1.325 drops the whole ``updatedPermissions`` list, silently, when one rule has ``"ruleContent": null``.
        """
        built: dict[str, Any] = msgspec.to_builtins(self)
        wanted = _NEEDED.get(self.type)
        if wanted is None:
            return built
        return {key: value for key, value in built.items() if key in wanted or key in ("type", "destination")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PermissionUpdate:
        """From the wire form. Raises ``msgspec.ValidationError`` for anything else."""
        return msgspec.convert(data, cls)


class _ContextExtras(Record, kw_only=True, gc=True):
    """What the official SDK's context does not have."""

    request: _Request | None = None
    """The whole request, for keys without an attribute."""
    request_id: str | None = None
    """For answering later: return ``LATER`` from the callback, then call ``Session.answer`` with this id."""


@official(
    "",
    "signal suggestions tool_use_id agent_id blocked_path decision_reason title display_name description",
    added="request request_id",
    suggestions=list,
)
class ToolPermissionContext(_ContextExtras):
    """What a permission callback is given besides the tool's name and input."""

    signal: Any | None = None
    suggestions: list[PermissionUpdate] = msgspec.field(default_factory=list)
    tool_use_id: str | None = None
    agent_id: str | None = None
    blocked_path: str | None = None
    decision_reason: str | None = None
    title: str | None = None
    display_name: str | None = None
    description: str | None = None

    @classmethod
    def from_request(
        cls, request: _Request, *, signal: Any | None = None, request_id: str | None = None
    ) -> ToolPermissionContext:
        context = cls(
            signal,
            list(request.permission_suggestions or ()),
            request.tool_use_id,
            request.agent_id,
            request.blocked_path,
            request.decision_reason,
            request.title,
            request.display_name,
            request.description,
        )
        force_setattr(context, "request", request)  # as arguments by name they take four times as long
        force_setattr(context, "request_id", request_id)
        return context


class _Decision(Record, kw_only=True, gc=True):
    decision_classification: PermissionDecisionClassification | None = None


@official("", "behavior updated_input updated_permissions", added="decision_classification", behavior="allow")
class PermissionResultAllow(_Decision):
    """The tool may run, with ``updated_input`` instead of its own input if given."""

    behavior: Literal["allow"] = "allow"
    updated_input: dict[str, Any] | None = None
    updated_permissions: list[PermissionUpdate] | None = None


@official(
    "", "behavior message interrupt", added="decision_classification", behavior="deny", message="", interrupt=False
)
class PermissionResultDeny(_Decision):
    """The tool may not run; the model reads ``message``. ``interrupt`` also ends the turn."""

    behavior: Literal["deny"] = "deny"
    message: str = ""
    interrupt: bool = False


PermissionResult: TypeAlias = PermissionResultAllow | PermissionResultDeny


def permission_answer(result: PermissionResult, request: _Request) -> dict[str, Any]:
    """The payload that answers ``request``.

    An allow always carries ``updatedInput``: optional on 2.1.325, but 2.0.77 and 2.1.25 deny the tool without it.
    """
    answer: dict[str, Any]
    if isinstance(result, PermissionResultAllow):
        updated = request.input if result.updated_input is None else result.updated_input
        answer = {"behavior": "allow", "updatedInput": updated}
        if result.updated_permissions is not None:
            answer["updatedPermissions"] = [_update_to_dict(update) for update in result.updated_permissions]
    elif isinstance(result, PermissionResultDeny):
        answer = {"behavior": "deny", "message": result.message or ""}
        if result.interrupt:
            answer["interrupt"] = True
    else:
        takes = "PermissionResult (PermissionResultAllow or PermissionResultDeny)"
        raise TypeError(f"Tool permission callback must return {takes}, got {type(result)}")
    if request.tool_use_id:
        answer["toolUseID"] = request.tool_use_id
    if result.decision_classification is not None:
        answer["decisionClassification"] = result.decision_classification
    return answer


def parse_permission_answer(payload: Any) -> PermissionResult | None:
    """The answer as CLI 2.1.325 understands it; None if it would deny the tool because the result is invalid.

    It is strict on all but two keys: a malformed ``updatedPermissions`` or an unknown ``decisionClassification`` is
    ignored.
    """
    if not isinstance(payload, dict) or not _optional(payload, "toolUseID", str):
        return None
    classification = payload.get("decisionClassification")
    if classification not in _CLASSIFICATIONS:
        classification = None
    if payload.get("behavior") == "allow" and _optional(payload, "updatedInput", dict):
        return PermissionResultAllow(
            updated_input=payload.get("updatedInput"),
            updated_permissions=_parse_updates(payload.get("updatedPermissions")),
            decision_classification=classification,
        )
    message = payload.get("message")
    if payload.get("behavior") == "deny" and isinstance(message, str) and _optional(payload, "interrupt", bool):
        return PermissionResultDeny(
            message=message,
            interrupt=payload.get("interrupt", False),
            decision_classification=classification,
        )
    return None


def _optional(payload: dict[str, Any], key: str, kind: type) -> bool:
    """Whether ``key`` is absent or of its kind; null is neither."""
    return key not in payload or isinstance(payload[key], kind)


def _update_to_dict(update: PermissionUpdate | Mapping[str, Any]) -> dict[str, Any]:
    return update.to_dict() if isinstance(update, PermissionUpdate) else dict(update)


def _parse_updates(value: Any) -> list[PermissionUpdate] | None:
    from ._strict_updates import StrictUpdate  # only the CLI's side reads answers

    try:
        msgspec.convert(value, list[StrictUpdate])
        return msgspec.convert(value, list[PermissionUpdate])
    except DOES_NOT_FIT:
        return None
