"""What each option takes, checked before a process starts.

Closed sets are errors, not warnings: a mistyped permission mode or setting source must not start a session with other
rights than meant, and a value newer than this package can still be given by ``extra_args``. Hook events are the
exception, as nothing else can register a hook: one that merely *resembles* a known event is an error, a wholly new name
is a warning.
"""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

from quarterdeck.wire.agents import EffortLevel
from quarterdeck.wire.permissions import PermissionMode

from . import validate_rules as rules
from . import validate_shapes as shapes
from .options import ClaudeAgentOptions
from .options_types import SettingSource
from .validate_conflicts import check_conflicts
from .validate_rules import Rule, dict_of, list_of, one_of, optional, shape, whole_number, wrong_type

LIMIT_BYTES_LEAST = 64 * 1024
"""One read from the pipe."""

_maybe_callback = optional(rules.callback)
_maybe_argument = optional(rules.argument)
_maybe_text = optional(rules.text)
_maybe_path = optional(rules.path)

RULES: dict[str, Rule] = {
    "tools": optional(shapes.tools),
    "allowed_tools": shapes.rule_list,
    "system_prompt": optional(shapes.system_prompt),
    "mcp_servers": shapes.servers,
    "strict_mcp_config": rules.flag,
    "permission_mode": optional(
        one_of(*get_args(PermissionMode), "manual", "delegate", "", otherwise="permission-mode")
    ),
    "continue_conversation": rules.flag,
    "resume": _maybe_argument,
    "session_id": optional(shapes.session_id),
    "max_turns": optional(whole_number(1)),
    "max_budget_usd": optional(rules.positive_number),
    "disallowed_tools": shapes.rule_list,
    "model": _maybe_argument,
    "fallback_model": _maybe_argument,
    "betas": shapes.strings,
    "permission_prompt_tool_name": _maybe_argument,
    "cwd": _maybe_path,
    "cli_path": optional(rules.program),
    "settings": optional(shapes.settings),
    "add_dirs": list_of(rules.path, "a list of paths"),
    "env": shapes.env,
    "extra_args": shapes.extra_args,
    "max_buffer_size": optional(whole_number(1)),
    "debug_stderr": rules.anything,
    "stderr": _maybe_callback,
    "can_use_tool": _maybe_callback,
    "hooks": optional(shapes.hooks),
    "user": optional(rules.named),
    "include_partial_messages": rules.flag,
    "include_hook_events": rules.flag,
    "forward_subagent_text": rules.flag,
    "verbatim_prompts": rules.flag,
    "fork_session": rules.flag,
    "resume_session_at": _maybe_argument,
    "resume_drops_turn": optional(rules.named),
    "agents": optional(dict_of(shapes.agent, "a dict of name → AgentDefinition")),
    "setting_sources": optional(
        list_of(one_of(*get_args(SettingSource), otherwise="setting-sources"), "a list of setting sources")
    ),
    "skills": optional(shapes.skills),
    "sandbox": optional(rules.json_object),
    "plugins": list_of(shapes.plugin, "a list of plugins"),
    "max_thinking_tokens": optional(whole_number(0)),
    "thinking": optional(shapes.thinking),
    "effort": optional(one_of(*get_args(EffortLevel), otherwise="effort")),
    "output_format": optional(shapes.output_format),
    "enable_file_checkpointing": rules.flag,
    "session_store": optional(rules.methods("append", "load")),
    "session_store_flush": one_of("batched", "eager"),
    "load_timeout_ms": whole_number(0),
    "task_budget": optional(shape("{'total': tokens}", {"total": whole_number(1)}, {})),
    "client_app": optional(shapes.client_app),
    "project_config_root": _maybe_path,
    "agent": _maybe_argument,
    "tool_aliases": optional(dict_of(rules.text, "a dict of tool name → tool name")),
    "persist_session": rules.flag,
    "supported_dialog_kinds": list_of(rules.text, "a list of dialog kinds"),
    "on_user_dialog": _maybe_callback,
    "per_task_stop_affordance": rules.flag,
    "plan_mode_instructions": _maybe_text,
    "allow_dangerously_skip_permissions": rules.flag,
    "permission_prompts": optional(one_of("host", "none", otherwise="permission-prompts")),
    "plugin_delivery": one_of("argv", "initialize"),
    "prompt_suggestions": rules.flag,
    "agent_progress_summaries": rules.flag,
    "managed_settings": optional(rules.json_object),
    "debug": rules.flag,
    "debug_file": _maybe_path,
    "title": _maybe_text,
    "executable": optional(one_of("node", "bun", "deno")),
    "executable_args": shapes.strings,
    "abort": optional(rules.methods("is_set", "wait")),
    "tool_config": optional(shapes.tool_config),
    "on_elicitation": _maybe_callback,
    "on_question": _maybe_callback,
    "on_plan": _maybe_callback,
    "env_allow": optional(list_of(rules.named, "a list of names")),
    "limit_bytes": whole_number(LIMIT_BYTES_LEAST),
    "initialize_timeout_s": rules.positive_number,
    "request_timeout_s": rules.positive_number,
    "close_grace_s": rules.number_from_zero,
    "replay_user_messages": rules.flag,
    "session_state_events": rules.flag,
    "append_subagent_system_prompt": _maybe_text,
    "forward_nested_subagent_tool_calls": rules.flag,
    "auth_status": rules.flag,
    "slash_commands": rules.flag,
    "bare": rules.flag,
    "safe_mode": rules.flag,
    "restricted": rules.flag,
    "auto_compact": optional(shapes.auto_compact),
    "retry": optional(rules.methods("wait_s")),
    "tracing": optional(rules.flag),
}
"""Option → what it takes. Every option has a rule."""


def validate_options(options: ClaudeAgentOptions) -> None:
    """Raise ``TypeError`` or ``ValueError``, naming the option and what it takes, if no session can start with them."""
    if not isinstance(options, ClaudeAgentOptions):
        wrong_type("options", "a ClaudeAgentOptions", options)
    for option in fields(options):
        RULES[option.name](getattr(options, option.name), option.name)
    check_conflicts(options)
