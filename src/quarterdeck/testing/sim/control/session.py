"""Requests about the session itself: the handshake, mode, model, title, its end."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from quarterdeck.testing.sim import facts
from quarterdeck.testing.sim.commands import rename

from . import UNSUPPORTED, Answered, RefusedRequest

if TYPE_CHECKING:
    from quarterdeck.testing.sim.simulator import SimulatedCli

Request = dict[str, Any]
_DISPLAYS = ("summarized", "omitted", "highlights", None)


def initialize(cli: SimulatedCli, request: Request) -> Any:
    session = cli.session
    again = session.initialized > 0 or session.prompted
    session.initialized += 1
    session.hooks = request.get("hooks") or session.hooks
    session.agents |= request.get("agents") or {}
    session.schema = request.get("jsonSchema") or session.schema
    session.forward_text = request.get("forwardSubagentText") is True or session.forward_text
    session.suggestions = request.get("promptSuggestions") is True or session.suggestions
    if isinstance(title := request.get("title"), str) and title:
        rename(cli, title)
    cli.mcp.shake_hands(request.get("sdkMcpServers") or [], request.get("sdkMcpServerManifests") or {})
    if cli.mcp.connecting:
        return _answer_after_greeting(cli, request, again=again)
    return _answer_handshake(cli, request, again=again)


async def _answer_after_greeting(cli: SimulatedCli, request: Request, *, again: bool) -> Answered:
    """Tool servers are greeted before the host has its answer (2.1.325)."""
    await asyncio.sleep(0)
    return _answer_handshake(cli, request, again=again)


def _answer_handshake(cli: SimulatedCli, request: Request, *, again: bool) -> Answered:
    pending = cli.host.pending("can_use_tool")
    cli.host.answer(
        request["request_id"], _handshake(cli), pending_permission_requests=pending, pending_user_dialog_requests=[]
    )
    if again:
        cli.tasks.say_changed()
    return Answered()


def _handshake(cli: SimulatedCli) -> dict[str, Any]:
    session = cli.session
    source = "ANTHROPIC_API_KEY" if cli.env.get("ANTHROPIC_API_KEY") else "none"
    return {
        "commands": facts.slash_commands([*facts.SKILLS, *facts.COMMANDS]),
        "agents": facts.agent_infos(session.agents),
        "output_style": "default",
        "available_output_styles": facts.OUTPUT_STYLES,
        "user_output_styles_dir": str(session.config_dir / "output-styles"),
        "models": facts.models(),
        "account": {"tokenSource": "none", "apiKeySource": source, "apiProvider": "firstParty"},
        "pid": os.getpid(),
        "claude_code_version": facts.VERSION,
        "current_permission_mode": session.mode,
        "hook_on_failure_supported": True,
        "other_hook_ask_outranks_host": True,
        "feedback_mode": {"kind": "disabled"},
        "analytics_disabled": True,
        "remote_control_auto_enable": False,
        "remote_control_auto_connect_default": False,
        "remote_control_available": False,
        "remote_control_auto_on_by_default": False,
        "ide_rc_auto_enable_gate": False,
        "fast_mode_state": "off",
        "fast_mode_disabled_reason": "sdk_opt_in_required",
        "session_state": cli.state,
        "capabilities": facts.HANDSHAKE_CAPABILITIES,
    }


def interrupt(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    cli.interrupt()
    if request.get("cancel_queued") is not True:
        return {"still_queued": cli.prompts.uuids()}
    gone = cli.prompts.clear()
    for prompt in gone:
        cli.say_lifecycle(prompt, "cancelled")
    return {"still_queued": [], "cancelled": [prompt.uuid for prompt in gone if prompt.uuid]}


def set_permission_mode(cli: SimulatedCli, request: Request) -> Answered:
    mode = {"manual": "default"}.get(str(request.get("mode")), request.get("mode"))
    if mode not in facts.MODES:
        text = f"Cannot set permission mode: must be one of {', '.join(facts.MODES)}"
        raise RefusedRequest(text, "invalid_mode")
    if mode == "bypassPermissions" and not cli.session.may_bypass:
        text = (
            "Cannot set permission mode to bypassPermissions because the session was not launched with "
            "--dangerously-skip-permissions"
        )
        raise RefusedRequest(text, "bypass_not_launched")
    cli.host.answer(request["request_id"], {"mode": mode})
    cli.set_mode(str(mode))
    return Answered()


async def set_model(cli: SimulatedCli, request: Request) -> Answered:
    name = request.get("model")
    await switch_model(cli, name if isinstance(name, str) else None)
    cli.host.answer(request["request_id"], {"model": cli.session.model})
    await _after_switch(cli, name)
    return Answered()


async def switch_model(cli: SimulatedCli, name: str | None) -> None:
    before, after = cli.session.model, facts.resolve_model(name)
    if cli.hooks.has("PreModelSwitch") and before != after:
        await cli.hooks.fire("PreModelSwitch", **_switch(cli, before, after, name))
    cli.session.model = after
    if before != after:
        shown = f"{name} ({after})" if name and name != after else after
        cli.say_local_output(f"Set model to `{shown}`")
        cli.switched_from = before


async def _after_switch(cli: SimulatedCli, name: Any) -> None:
    if cli.hooks.has("PostModelSwitch") and cli.switched_from is not None:
        fields = _switch(cli, cli.switched_from, cli.session.model, name)
        cli.switched_from = None
        await cli.hooks.fire("PostModelSwitch", **fields)


def _switch(cli: SimulatedCli, before: str, after: str, name: Any) -> dict[str, Any]:
    fields = {"from_model": before, "to_model": after, "requested_model": name, "source": "sdk"}
    return fields | {"context_tokens": cli.bill.context_tokens}


def set_max_thinking_tokens(cli: SimulatedCli, request: Request) -> None:
    tokens = request.get("max_thinking_tokens")
    whole = tokens is None or (isinstance(tokens, int) and not isinstance(tokens, bool))
    if not whole or request.get("thinking_display") not in _DISPLAYS:
        raise RefusedRequest(
            "set_max_thinking_tokens: max_thinking_tokens must be an integer or null and thinking_display must be "
            '"summarized", "omitted", "highlights", or null'
        )


def rename_session(cli: SimulatedCli, request: Request) -> None:
    if request.get("session_id") not in (None, cli.session.id):
        raise RefusedRequest("session_id is not the current session")
    title = request.get("title")
    if not isinstance(title, str) or not title:
        raise RefusedRequest("rename_session: title must be a non-empty string")
    rename(cli, title)


def set_color(cli: SimulatedCli, request: Request) -> None:
    raise RefusedRequest("Unsupported control request subtype: set_color", UNSUPPORTED)


def set_cwd(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    path = request.get("path")
    if not isinstance(path, str) or not path:
        raise RefusedRequest("set_cwd: invalid request — path must be a non-empty string")
    return {"status": "needs_trust", "directory": str(cli.session.resolve(path))}


def set_proactivity_level(cli: SimulatedCli, request: Request) -> None:
    level = request.get("level")
    if level not in ("ask", "default", "proactive"):
        raise RefusedRequest(
            f"Cannot set proactivity: unrecognized level {level} (expected one of ask, default, proactive)"
        )
    raise RefusedRequest("Cannot set proactivity: levels are not enabled for this session")


def claim_session(cli: SimulatedCli, request: Request) -> None:
    raise RefusedRequest("not_a_spare: claim_session is only accepted by a process started with --await-claim")


def end_session(cli: SimulatedCli, request: Request) -> Answered:
    cli.host.answer(request["request_id"])
    cli.exit(0)
    return Answered()


def accept(cli: SimulatedCli, request: Request) -> None:
    """Nothing to do here, and nothing to say about it."""


HANDLERS = {
    "initialize": initialize,
    "interrupt": interrupt,
    "set_permission_mode": set_permission_mode,
    "set_model": set_model,
    "set_max_thinking_tokens": set_max_thinking_tokens,
    "rename_session": rename_session,
    "set_color": set_color,
    "set_cwd": set_cwd,
    "set_proactivity_level": set_proactivity_level,
    "claim_session": claim_session,
    "end_session": end_session,
    "set_has_subscribers": accept,
    "set_prompt_suggestions_paused": accept,
}
