"""Checks options before a process starts: each by its own rule, then combinations."""

from __future__ import annotations

import copy
import warnings
from dataclasses import fields
from typing import Any

from .guard import guard_of
from .option_rules import wrong_type
from .options import ClaudeAgentOptions
from .transcript_stores.protocol import implements


class CanUseToolShadowedWarning(UserWarning):
    """``can_use_tool`` is set, but other options allow some tools before it is asked."""


_RULES = [(field.name, field.default, field.metadata["takes"]) for field in fields(ClaudeAgentOptions)]


def validate_options(options: ClaudeAgentOptions) -> ClaudeAgentOptions:
    """A copy with every value in the form the launch uses.

    Raises ``TypeError`` or ``ValueError``, naming the option and what it takes, if no session can start with them. A
    value that is likely to be a mistake gets an ``OptionWarning``.
    """
    if not isinstance(options, ClaudeAgentOptions):
        wrong_type("options", "a ClaudeAgentOptions", options)
    checked = copy.copy(options)
    for name, default, takes in _RULES:
        value = getattr(options, name)
        if value is not default:
            setattr(checked, name, takes(value, name))
    _check_permissions(checked)
    _check_session(checked)
    _check_store(checked)
    if checked.supported_dialog_kinds and checked.on_user_dialog is None:
        raise ValueError("supported_dialog_kinds names dialogs, so it needs on_user_dialog to answer them")
    return checked


def _check_permissions(options: ClaudeAgentOptions) -> None:
    handlers = [name for name in ("can_use_tool", "on_question", "on_plan") if getattr(options, name) is not None]
    if handlers and options.permission_prompt_tool_name not in (None, "stdio"):
        raise ValueError(
            f"{handlers[0]} callback cannot be used with permission_prompt_tool_name: both answer the same prompts"
        )
    if options.can_use_tool is not None and guard_of(options.can_use_tool) is None:
        _warn_if_shadowed(options)


def _check_session(options: ClaudeAgentOptions) -> None:
    continues = options.resume or options.continue_conversation
    if options.session_id and continues and not options.fork_session:
        raise ValueError(
            "session_id names a new session: with resume or continue_conversation it also needs fork_session=True"
        )
    if options.resume_session_at and not continues:
        raise ValueError("resume_session_at cuts a session that is resumed: it needs resume or continue_conversation")
    if options.resume_drops_turn is not None and not options.resume_session_at:
        raise ValueError("resume_drops_turn guards resume_session_at: it needs that option")


def _check_store(options: ClaudeAgentOptions) -> None:
    store = options.session_store
    if store is None:
        return
    if options.continue_conversation and not options.resume and not implements(store, "list_sessions"):
        raise ValueError("continue_conversation with session_store requires the store to implement list_sessions()")
    if options.enable_file_checkpointing:
        raise ValueError(
            "session_store cannot be combined with enable_file_checkpointing: checkpoints are not mirrored"
        )
    if not options.persist_session:
        raise ValueError("session_store needs persist_session=True: unwritten sessions cannot be mirrored")


def _warn_if_shadowed(options: ClaudeAgentOptions) -> None:
    if options.permission_mode == "bypassPermissions":
        message = (
            "can_use_tool will not be invoked: the mode bypassPermissions allows every call. Use a PreToolUse hook."
        )
    else:
        entries: list[Any] = [*options.allowed_tools, *(["Skill"] if options.skills == "all" else [])]
        tools = list(dict.fromkeys(filter(None, map(_whole_tool, entries))))
        if not tools:
            return
        message = (
            f"can_use_tool will not be invoked for: {', '.join(tools)}. allowed_tools allows all their calls: "
            f"narrow the rule, or use a PreToolUse hook."
        )
    warnings.warn(message, CanUseToolShadowedWarning, stacklevel=4)


def _whole_tool(rule: str) -> str:
    """The tool that a rule allows altogether (``Read``, ``Read()``, ``Read(*)``), or nothing."""
    tool, parenthesis, content = rule.partition("(")
    if not parenthesis:
        return tool.strip()
    return tool if content in (")", "*)") else ""
