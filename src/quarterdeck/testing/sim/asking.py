"""The permission request: what the host is asked, and which of its answers count."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from . import tools
from .host import HostAnswer
from .permissions import EDIT_TOOLS, PERSONAL_TOOLS, PermissionDecision
from .results import TurnInterrupted
from .tools import Outcome

if TYPE_CHECKING:
    from .calls import SimulatedCall

INVALID = (
    "The canUseTool callback returned an invalid permission result. "
    "Expected {behavior: 'allow', updatedInput?: object} or {behavior: 'deny', message: string}."
)
STREAM_CLOSED = "AbortError: Tool permission stream closed before response received"


class ToolRefused(Exception):  # noqa: N818  # an outcome, not an error
    """The tool does not run; this is its result."""

    def __init__(
        self, outcome: Outcome, *, meta: dict[str, Any] | None = None, kind: str | None = None, denied: bool = False
    ) -> None:
        super().__init__(outcome.content)
        self.outcome = outcome
        self.denied = denied
        """Whether it counts among the result's ``permission_denials``."""
        self.meta: dict[str, Any] | None = None
        if meta is not None:
            self.meta = ({"non_execution_kind": kind} if kind else {}) | {"permission_decision": meta}


async def ask_permission(call: SimulatedCall, decision: PermissionDecision) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask the host: the input to run with, and what is noted of the decision. Raises ``ToolRefused``."""
    _refuse_if_nobody_answers(call, decision)
    cli = call.cli
    cli.say_state("requires_action")
    answer = await _ask(call, decision)
    cli.say_state("running")
    return _judge(call, answer)


def _refuse_if_nobody_answers(call: SimulatedCall, decision: PermissionDecision) -> None:
    session = call.cli.session
    if session.mode == "dontAsk" and call.name not in PERSONAL_TOOLS:
        message = f"Permission to use {call.name} has been denied because Claude Code is running in don't ask mode."
        _deny_unasked(call, message, "permission-rule", {"reason_type": "mode"}, decision_reason_type="mode")
    if session.flags.get("--permission-prompts") == "none":
        reason = "no approval surface in this session; permission request denied automatically"
        message = f"Permission for this tool use was denied: {call.name} needs approval, and nobody can answer here."
        told = {"decision_reason_type": "asyncAgent", "decision_reason": reason}
        _deny_unasked(call, message, "permission-rule", {"reason_type": "asyncAgent"}, **told)
    if not session.asks_host:
        _deny_unasked(
            call,
            f"Claude requested permissions to use {call.name}, but you haven't granted it yet.",
            "user-rejected",
            {},
        )


def _deny_unasked(call: SimulatedCall, message: str, kind: str, reason: dict[str, Any], **told: Any) -> None:
    call.cli.say("system", "permission_denied", tool_name=call.name, tool_use_id=call.id, **told, message=message)
    meta = {"decision": "reject", "source": "config", **reason}
    raise ToolRefused(Outcome.failed(message), meta=meta, kind=kind, denied=True)


async def _ask(call: SimulatedCall, decision: PermissionDecision) -> HostAnswer:
    body = _request(call, decision)
    if call.cli.hooks.has("PermissionRequest"):
        answer = await _ask_with_hooks(call, body)
    else:
        answer = await call.cli.host.ask("can_use_tool", **body)
    if answer.kind == "cancelled":  # the turn was interrupted: what follows is its business
        raise asyncio.CancelledError
    return answer


async def _ask_with_hooks(call: SimulatedCall, body: dict[str, Any]) -> HostAnswer:
    """PermissionRequest hooks are asked in parallel with the host; the first decision wins."""
    fields = {key: body[key] for key in ("permission_suggestions",) if key in body}
    asking = asyncio.create_task(call.cli.host.ask("can_use_tool", **body))
    await asyncio.sleep(0)  # the host's question goes out first, as on the real wire
    fired = call.cli.hooks.fire(
        "PermissionRequest", matched=call.name, about=call.id, tool_name=call.name, tool_input=call.input, **fields
    )
    hooking = asyncio.create_task(fired)
    try:
        await asyncio.wait([asking, hooking], return_when=asyncio.FIRST_COMPLETED)
        if not asking.done():
            choice = hooking.result().specific.get("decision")
            if isinstance(choice, dict) and choice.get("behavior") in ("allow", "deny"):
                return HostAnswer("ok", choice)
        return await asking
    except asyncio.CancelledError:
        hooking.cancel()
        raise
    finally:
        asking.cancel()
        call.cli.watch_task(hooking)  # a late hook runs to its end, without effect


def _request(call: SimulatedCall, decision: PermissionDecision) -> dict[str, Any]:
    cli, name = call.cli, call.name
    server = cli.mcp.provenance(name)
    body: dict[str, Any] = {"tool_name": name}
    if server is not None:
        body["mcp_server"] = server
    body |= {"display_name": cli.mcp.display_name(name) if server else name, "input": call.input}
    if (description := _description(call)) is not None:
        body["description"] = description
    if suggestions := cli.permissions.suggestions(name, call.input, decision):
        body["permission_suggestions"] = suggestions
    if decision.blocked_path and decision.reason_type not in ("hook", "workingDir"):
        body["blocked_path"] = decision.blocked_path
    if decision.reason:
        body |= {"decision_reason": decision.reason, "decision_reason_type": decision.reason_type}
    if decision.reason_type == "hook":
        body |= {"decision_reason_hook_event": "PreToolUse", "decision_reason_hook_source": "settings"}
    if name in EDIT_TOOLS or name == "Read" or server is not None:
        body["server_policy_ask_only"] = True
    body["tool_use_id"] = call.id
    if call.speaker.agent_id is not None:
        body["agent_id"] = call.speaker.agent_id
    if name in PERSONAL_TOOLS:
        body["requires_user_interaction"] = True
    return body


def _description(call: SimulatedCall) -> str | None:
    if call.name == "Bash":
        return str(call.input.get("description") or call.input.get("command"))
    if "file_path" in call.input:
        path = call.cli.session.resolve(str(call.input["file_path"]))
        inside = path.is_relative_to(call.cli.session.cwd)
        return str(path.relative_to(call.cli.session.cwd)) if inside else str(path)
    return None


def _judge(call: SimulatedCall, answer: HostAnswer) -> tuple[dict[str, Any], dict[str, Any]]:
    if not answer.ok:
        reason = STREAM_CLOSED if answer.kind == "ended" else f"Error: {answer.error}"
        _reject(f"Tool permission request failed: {reason}", source="config", reason_type="other")
    payload = answer.payload if isinstance(answer.payload, dict) else {}
    behavior, changed = payload.get("behavior"), payload.get("updatedInput", call.input)
    if behavior == "deny" and isinstance(payload.get("message"), str):
        if payload.get("interrupt") is True:
            raise TurnInterrupted
        _reject(payload["message"], source="user_reject")
    if behavior != "allow" or not isinstance(changed, dict):
        _reject(INVALID, source="config", reason_type="other")
    if problems := tools.missing_parameters(call.name, changed):
        source = {"decision": "reject", "source": "permission_updated_input_invalid"}
        text = (
            f"The permission handler returned updatedInput for {call.name} that failed schema validation: {problems[0]}"
        )
        result = f"InputValidationError: permission handler updatedInput failed schema for {call.name}"
        raise ToolRefused(Outcome(f"<tool_use_error>{text}</tool_use_error>", result, is_error=True), meta=source)
    if (mode := call.cli.permissions.apply(payload.get("updatedPermissions"))) is not None:
        call.cli.set_mode(mode)
    return changed, {"permission_decision": {"decision": "accept", "source": "user_temporary"}}


def _reject(message: str, **how: str) -> None:
    meta = {"decision": "reject", **how}
    raise ToolRefused(Outcome.failed(message), meta=meta, kind="permission-rule", denied=True)
