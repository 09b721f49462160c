"""What a person can answer to "may this tool run?", and what each answer means.

"Always" is offered with the rule it adds, the narrowest first: a rule for exactly this call where the policy engine
knows one, then what Claude Code suggests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck.timeline.items import Permission
from quarterdeck.wire.permissions import (
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionRuleValue,
    PermissionUpdate,
)

from .schema import PermissionOption, PermissionOptionKind
from .tool_calls import EDITOR_TERMINAL

REJECTED = "The user does not want this. Ask what to do instead, or continue with something else."
REJECTED_ALWAYS = "The user does not want this call, now or later in this session."
ALWAYS_LIMIT = 4
"""Maximum number of "always" choices: nobody reads more."""
_PLACES = {
    "session": "in this session",
    "localSettings": "in this project, for you",
    "projectSettings": "in this project, for everyone",
    "userSettings": "in all projects",
}


class OfferedOption(msgspec.Struct, frozen=True):
    """An option and what it answers."""

    option: PermissionOption
    answer: Any
    label: str = ""
    refuses_always: bool = False

    @classmethod
    def of(cls, id_: str, name: str, kind: PermissionOptionKind, answer: Any, **more: Any) -> OfferedOption:
        return cls(PermissionOption(option_id=id_, name=name, kind=kind), answer, **more)


def permission_choices(request: Permission, cwd: str, *, hosted: bool = False) -> list[OfferedOption]:
    """The safe ones first and last; "always" in between, each with what it would allow. For the editor's terminals
    there is none: such a rule would be for all commands. ``hosted``: only what a host can remember."""
    updates = [one for one in _always(request, cwd) if not hosted or _is_for_host(one[1])]
    always = [
        OfferedOption.of(f"always-{index}", name, "allow_always", PermissionResultAllow(updated_permissions=[update]))
        for index, (name, update) in enumerate(updates[:ALWAYS_LIMIT])
    ]
    never = PermissionResultDeny(message=REJECTED_ALWAYS)
    return [
        OfferedOption.of("allow", "Allow once", "allow_once", PermissionResultAllow()),
        *([] if request.needs_person or request.tool_name == EDITOR_TERMINAL else always),
        OfferedOption.of("reject", "Reject", "reject_once", PermissionResultDeny(message=REJECTED)),
        OfferedOption.of("reject-always", "Always reject this call", "reject_always", never, refuses_always=True),
    ]


def _is_for_host(update: PermissionUpdate) -> bool:
    """A host accepts a mode or one rule with a decision; of more it would keep only a part."""
    return update.type == "setMode" or (update.type == "addRules" and len(update.rules or ()) == 1)


def _always(request: Permission, cwd: str) -> Iterator[tuple[str, PermissionUpdate]]:
    narrow = _narrow(request, cwd)
    if narrow is not None:
        yield narrow
    known = [str(rule) for rule in narrow[1].rules or ()] if narrow is not None else []
    for suggestion in request.suggestions:
        update = PermissionUpdate.from_dict(suggestion.update)
        where = _PLACES.get(update.destination or "", "")
        if update.type == "setMode":
            yield f"Always: switch to the mode {update.mode}", update
        elif update.behavior in (None, "allow") and [str(rule) for rule in update.rules or ()] != known:
            yield f"Always {suggestion.text} {where}".strip(), update


def _narrow(request: Permission, cwd: str) -> tuple[str, PermissionUpdate] | None:
    """A rule for this call alone; None where there is none, or the policy engine is not installed."""
    from quarterdeck.policy import Policy, PolicyError, narrow_rules

    try:
        rules = narrow_rules(Policy((), cwd=str(Path(cwd))), request.tool_name, request.input)
    except (ImportError, PolicyError):
        return None
    if not rules:
        return None
    values = [PermissionRuleValue(tool_name=rule.tool, rule_content=rule.content) for rule in rules]
    words = ", ".join(str(rule) for rule in rules)
    update = PermissionUpdate(type="addRules", rules=values, behavior="allow", destination="session")
    return f"Always allow {words} in this session", update


class Refusals:
    """Calls that a person has refused for the rest of the session."""

    def __init__(self) -> None:
        self._calls: set[str] = set()

    def add(self, tool: str, tool_input: Mapping[str, Any]) -> None:
        from quarterdeck.policy.memory import call_key

        self._calls.add(call_key(tool, tool_input))

    def reason(self, tool: str, tool_input: Mapping[str, Any]) -> str | None:
        """Why the call is refused; None if it is not."""
        if not self._calls:
            return None
        from quarterdeck.policy.memory import call_key

        return REJECTED_ALWAYS if call_key(tool, tool_input) in self._calls else None
