"""Requests that read the CLI's state: usage, cost, models, settings, rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from quarterdeck.testing.sim import facts
from quarterdeck.wire.hooks import HOOK_EVENTS, MATCHER_EVENTS

from . import RefusedRequest
from .session import switch_model

if TYPE_CHECKING:
    from quarterdeck.testing.sim.simulator import SimulatedCli

Request = dict[str, Any]
SYSTEM_PROMPT_TOKENS = 1645
TOOL_TOKENS = 6447
COMPACT_BUFFER = 33_000
EDITABLE = ("outputStyle", "permissions", "theme", "language")
"""Keys that ``update_settings`` takes."""


def get_context_usage(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    messages = cli.bill.context_tokens
    total = SYSTEM_PROMPT_TOKENS + TOOL_TOKENS + messages
    free = facts.CONTEXT_WINDOW - total - COMPACT_BUFFER
    rows = (
        ("system_prompt", "System prompt", SYSTEM_PROMPT_TOKENS, "promptBorder", "used"),
        ("system_tools", "System tools", TOOL_TOKENS, "inactive", "used"),
        ("messages", "Messages", messages, "purple_FOR_SUBAGENTS_ONLY", "used"),
        ("autocompact_buffer", "Autocompact buffer", COMPACT_BUFFER, "inactive", "buffer"),
        ("free_space", "Free space", free, "promptBorder", "free"),
    )
    categories = [dict(zip(("id", "name", "tokens", "color", "kind"), row, strict=True)) for row in rows]
    return {
        "categories": categories,
        "totalTokens": total,
        "maxTokens": facts.CONTEXT_WINDOW,
        "rawMaxTokens": facts.CONTEXT_WINDOW,
        "autocompactSource": "model-default",
        "percentage": round(100 * total / facts.CONTEXT_WINDOW),
        "gridRows": [],
        "model": cli.session.model,
        "memoryFiles": [],
        "mcpTools": [{"name": name, "tokens": 0} for name in cli.mcp.tool_names()],
        "mcpInstructions": [],
        "agents": [],
        "slashCommands": {"totalCommands": len(facts.COMMANDS), "includedCommands": len(facts.COMMANDS), "tokens": 0},
        "skills": {
            "totalSkills": len(facts.SKILLS),
            "includedSkills": len(facts.SKILLS),
            "tokens": 0,
            "skillFrontmatter": [],
        },
        "autoCompactThreshold": facts.CONTEXT_WINDOW - COMPACT_BUFFER,
        "isAutoCompactEnabled": True,
        "apiUsage": cli.bill.last_counts() if cli.bill.requests else None,
    }


def get_session_cost(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {"text": cli.bill.text(cli.clock() - cli.started)}


def get_usage(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    bill = cli.bill
    session = {
        "total_cost_usd": bill.total_cost_usd,
        "total_api_duration_ms": bill.api_ms,
        "total_duration_ms": int((cli.clock() - cli.started) * 1000),
        "total_lines_added": bill.lines_added,
        "total_lines_removed": bill.lines_removed,
        "model_usage": bill.model_usage(),
    }
    nothing = {"subscription_type": None, "rate_limits_available": False, "rate_limits": None, "behaviors": None}
    return {"session": session, **nothing}


def list_models(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {"models": facts.models()}


def get_binary_version(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {"version": facts.VERSION, "buildTime": facts.BUILD_TIME}


def get_settings(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    session = cli.session
    sources = [("flagSettings", session.settings), ("localSettings", session.local_settings)]
    applied = {
        "model": session.model,
        "effort": "medium",
        "advisor": None,
        "ultracode": False,
        "ultracodeRequested": False,
        "ultracodeAvailable": True,
        "ultrathinkAvailable": False,
        "outsideFileToolReadsBlocked": False,
        "outsideFileToolWritesBlocked": False,
        "outsideBlocksCountLaunchFoldersOnly": False,
        "launchEnvLeftOwnFilesInPlace": True,
    }
    return {
        "effective": session.local_settings | session.settings,
        "sources": [{"source": name, "settings": settings} for name, settings in sources if settings],
        "applied": applied,
    }


async def apply_flag_settings(cli: SimulatedCli, request: Request) -> None:
    settings = request.get("settings")
    if not isinstance(settings, dict):
        raise RefusedRequest("apply_flag_settings: settings must be an object")
    cli.session.settings |= settings
    if "model" in settings:
        await switch_model(cli, facts.resolve_model(settings["model"]))


async def update_settings(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    settings = request.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    if refused := [key for key in settings if key not in EDITABLE]:
        raise RefusedRequest(f"update_settings keys not allowed: {', '.join(refused)}")
    cli.session.local_settings |= settings
    path = cli.session.cwd / ".claude" / "settings.local.json"
    stored = json.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(stored | settings, indent=2) + "\n")
    return {}


def list_permission_rules(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {"state": cli.permissions.listing()}


def get_hooks_listing(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    catalog = [
        {"name": name, "summary": f"{name} (simulated)", "supportsMatcher": name in MATCHER_EVENTS}
        for name in HOOK_EVENTS
    ]
    return {"events": [], "hooks": [], "eventCatalog": catalog, "policy": {"restricted": False}}


def reload_plugins(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {
        "commands": facts.slash_commands([*facts.SKILLS, *facts.COMMANDS]),
        "agents": facts.agent_infos(cli.session.agents),
        "plugins": facts.PLUGINS,
        "mcpServers": [server.shown() for server in cli.mcp.servers.values()],
        "error_count": 0,
    }


def reload_skills(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    """Skills of the project count too; a new one is announced."""
    found = sorted(path.parent.name for path in (cli.session.cwd / ".claude" / "skills").glob("*/SKILL.md"))
    if found != cli.session.skills:
        cli.session.skills = found
        cli.say("system", "commands_changed", commands=facts.slash_commands([*found, *facts.SKILLS, *facts.COMMANDS]))
    return {"skills": facts.slash_commands([*found, *facts.SKILLS])}


def reload_output_styles(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {"available_output_styles": facts.OUTPUT_STYLES}


HANDLERS = {
    "get_context_usage": get_context_usage,
    "get_session_cost": get_session_cost,
    "get_usage": get_usage,
    "list_models": list_models,
    "get_binary_version": get_binary_version,
    "get_settings": get_settings,
    "apply_flag_settings": apply_flag_settings,
    "update_settings": update_settings,
    "list_permission_rules": list_permission_rules,
    "get_hooks_listing": get_hooks_listing,
    "reload_plugins": reload_plugins,
    "reload_skills": reload_skills,
    "reload_output_styles": reload_output_styles,
}
