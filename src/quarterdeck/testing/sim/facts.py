"""What the real CLI 2.1.325 says about itself: its version, tools, commands, agents, models and prices.

Names and shapes are the CLI's; descriptions are ours and short.
"""

from __future__ import annotations

from typing import Any

VERSION = "2.1.325"
BUILD_TIME = "2026-11-13T18:52:23Z"

TOOLS = [
    "Task",
    "AskUserQuestion",
    "Bash",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "ListAgents",
    "Monitor",
    "NotebookEdit",
    "Read",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "TaskStop",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
]
UNLISTED_TOOLS = ("Agent", "Glob", "Grep", "TodoWrite", "StructuredOutput")
"""Not in ``system/init`` of the newest headless CLI, but played here when a scenario calls them."""

SKILLS = [
    "deep-research",
    "dataviz",
    "update-config",
    "verify",
    "debug",
    "code-review",
    "simplify",
    "batch",
    "fewer-permission-prompts",
    "doctor",
    "loop",
    "claude-api",
    "workflow-authoring",
    "run",
    "run-skill-generator",
    "plugin-authoring",
]
COMMANDS = [
    "agents",
    "auto-mode-setup",
    "autocompact",
    "clear",
    "color",
    "compact",
    "config",
    "output-style",
    "context",
    "effort",
    "fast",
    "focus",
    "heapdump",
    "init",
    "mcp",
    "model",
    "__remote-workflow",
    "workflow-launch-exec",
    "reload-plugins",
    "reload-skills",
    "rename",
    "security-review",
    "usage",
    "insights",
    "recap",
    "goal",
    "list-agents",
    "team-onboarding",
]
TERMINAL_COMMANDS = ["doctor", "color", "focus", "reload-plugins"]
ALIASES = {"usage": ["cost", "stats"], "clear": ["reset", "new"], "rename": ["name"], "config": ["settings"]}
ARGUMENT_HINTS = {"clear": "[name]", "compact": "<optional instructions>", "model": "<model>", "rename": "[name]"}

AGENTS = ("claude", "Explore", "general-purpose", "Plan", "statusline-setup")
OUTPUT_STYLES = ["default", "Proactive", "Concise", "Explanatory", "Learning"]
PLUGINS = [
    {"name": name, "path": "builtin", "source": f"{name}@builtin"}
    for name in ("cc-plugin-agents-md", "cc-plugin-privacy", "cc-plugin-plugin-authoring")
]
CAPABILITIES = [
    "interrupt_receipt_v1",
    "interrupt_cancel_queued_v1",
    "interrupt_send_now_v1",
    "interrupt_requeue_taken_v1",
    "msg_lifecycle_v1",
    "request_marker_lists_v1",
    "ask_user_question_unanswered_v1",
    "lifecycle_wakeup_source_v1",
    "sdk_mcp_tools_list_changed",
    "sdk_mcp_manifests",
    "mcp_read_resource_v1",
    "mcp_tool_ui_meta_v1",
    "ui_surface_v1",
    "mcp_call_result_not_for_model_v1",
    "mcp_call_check_permissions_v1",
    "voice_call_talk_line_v1",
    "withdrawn_files_note_v2",
    "ui_pane_widget_v1",
    "reload_plugins_refuse_if_busy_v1",
]
HANDSHAKE_CAPABILITIES = [
    "ui_surface_v1",
    "mcp_call_result_not_for_model_v1",
    "mcp_call_check_permissions_v1",
    "voice_call_talk_line_v1",
    "ui_pane_widget_v1",
    "reload_plugins_refuse_if_busy_v1",
]

MODES = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan")
DEFAULT_MODEL = "claude-opus-5-5"

_MODELS = {
    "opus": ("claude-opus-5-5", "Opus 5.5", 4.0, 20.0),
    "fable": ("claude-fable-5-2", "Fable 5.2", 8.0, 40.0),
    "sonnet": ("claude-sonnet-5-5", "Sonnet 5.5", 2.0, 10.0),
    "haiku": ("claude-haiku-5-5", "Haiku 5.5", 0.1, 0.5),
}
CONTEXT_WINDOW = 1_000_000
MAX_OUTPUT_TOKENS = 128_000
CACHE_READ_PRICE = 0.1
"""Times the price of input tokens."""
CACHE_WRITE_PRICE = 1.25


def resolve_model(name: str | None) -> str:
    """The full id of a model; the CLI takes a name it does not know as it is."""
    if name in (None, "", "default"):
        return DEFAULT_MODEL
    known = _MODELS.get(str(name).lower())
    return str(name) if known is None else known[0]


def display_name(model: str) -> str:
    return next((shown for full, shown, *_ in _MODELS.values() if full == model), model)


def prices(model: str) -> tuple[float, float]:
    """Dollars per million tokens, in and out; an unknown model costs what the default does."""
    found = {full: (cost_in, cost_out) for full, _, cost_in, cost_out in _MODELS.values()}
    return found.get(model, found[DEFAULT_MODEL])


def models() -> list[dict[str, Any]]:
    default = _model_info("default", *_MODELS["opus"]) | {"displayName": "Default (recommended)"}
    return [default, *(_model_info(alias, *entry) for alias, entry in _MODELS.items())]


def _model_info(alias: str, full: str, shown: str, cost_in: float, cost_out: float) -> dict[str, Any]:
    return {
        "value": alias,
        "resolvedModel": full,
        "displayName": alias.capitalize(),
        "description": f"{shown} · simulated · ${cost_in:g}/${cost_out:g} per Mtok",
        "supportsEffort": True,
        "supportedEffortLevels": ["low", "medium", "high", "xhigh", "max"],
        "supportsAdaptiveThinking": True,
        "supportsAutoMode": True,
        "supportsThinkingOff": False,
    }


def slash_commands(names: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "description": f"/{name} (simulated)",
            "argumentHint": ARGUMENT_HINTS.get(name, ""),
            "builtin": True,
        }
        | ({"aliases": ALIASES[name]} if name in ALIASES else {})
        for name in names
    ]


def agent_infos(more: dict[str, Any]) -> list[dict[str, Any]]:
    own = [{"name": name, "description": f"The {name} agent (simulated)"} for name in AGENTS]
    return own + [{"name": name, "description": str(agent.get("description", ""))} for name, agent in more.items()]
