"""Options that are right alone and wrong together."""

from __future__ import annotations

import warnings

from .options import ClaudeAgentOptions
from .transcript_stores.protocol import implements


class CanUseToolShadowedWarning(UserWarning):
    """``can_use_tool`` is set, and other options allow some tools before it is asked."""


def check_conflicts(options: ClaudeAgentOptions) -> None:
    _check_permissions(options)
    _check_session(options)
    _check_store(options)
    if options.supported_dialog_kinds and options.on_user_dialog is None:
        raise ValueError("supported_dialog_kinds names dialogs, so it needs on_user_dialog to answer them")


def _check_permissions(options: ClaudeAgentOptions) -> None:
    handlers = [name for name in ("can_use_tool", "on_question", "on_plan") if getattr(options, name) is not None]
    if handlers and options.permission_prompt_tool_name not in (None, "", "stdio"):
        raise ValueError(
            f"{handlers[0]} and permission_prompt_tool_name exclude each other: both answer the same prompts"
        )
    if options.can_use_tool is not None:
        _warn_if_shadowed(options)


def _check_session(options: ClaudeAgentOptions) -> None:
    continues = bool(options.resume) or options.continue_conversation
    if options.session_id and continues and not options.fork_session:
        raise ValueError(
            "session_id names a new session: with resume or continue_conversation it takes fork_session=True as well"
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
        raise ValueError("continue_conversation with session_store needs a store that has list_sessions()")
    if options.enable_file_checkpointing:
        raise ValueError("session_store and enable_file_checkpointing exclude each other: checkpoints are not mirrored")
    if not options.persist_session:
        raise ValueError("session_store needs persist_session=True: what is not written cannot be mirrored")


def _warn_if_shadowed(options: ClaudeAgentOptions) -> None:
    if options.permission_mode == "bypassPermissions":
        message = (
            "can_use_tool is never asked: the mode bypassPermissions allows every call. A PreToolUse hook still is."
        )
    else:
        entries = [*options.allowed_tools, *(["Skill"] if options.skills == "all" else [])]
        tools = list(dict.fromkeys(filter(None, map(_whole_tool, entries))))
        if not tools:
            return
        message = (
            f"can_use_tool is not asked about {', '.join(tools)}: allowed_tools allows all their calls. "
            f"Narrow the rule, or use a PreToolUse hook."
        )
    warnings.warn(message, CanUseToolShadowedWarning, stacklevel=4)


def _whole_tool(rule: str) -> str:
    """The tool that a rule allows altogether (``Read``, ``Read()``, ``Read(*)``), or nothing."""
    tool, parenthesis, content = rule.partition("(")
    if not parenthesis:
        return tool.strip()
    return tool if content in (")", "*)") else ""
