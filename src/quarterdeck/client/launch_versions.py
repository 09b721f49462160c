"""What older CLIs lack at launch, as measured on 2.0.77, 2.1.17, 2.1.25, 2.1.52 and 2.1.325.

For each thing: the newest measured version that does *not* have it. A version in between is taken to have it; if it
does not, the CLI itself refuses the flag. An unknown version is taken for a new one. How versions differ on the wire is
in ``wire.versions``.
"""

from __future__ import annotations

from quarterdeck.wire.versions import Version

from .errors import CLITooOld

UNKNOWN_FLAGS: dict[str, Version] = {
    "--debug-file": (2, 1, 17),
    "--effort": (2, 1, 25),
    "--thinking": (2, 1, 25),
    "--autocompact": (2, 1, 52),
    "--await-initialize": (2, 1, 52),
    "--bare": (2, 1, 52),
    "--include-hook-events": (2, 1, 52),
    "--managed-settings-in-initialize": (2, 1, 52),
    "--permission-mode=auto": (2, 1, 52),
    "--permission-prompts": (2, 1, 52),
    "--plugin-dir-no-mcp": (2, 1, 52),
    "--project-config-root": (2, 1, 52),
    "--restricted": (2, 1, 52),
    "--resume-drops-turn": (2, 1, 52),
    "--safe-mode": (2, 1, 52),
    "--session-mirror": (2, 1, 52),
    "--task-budget": (2, 1, 52),
    "--thinking-display": (2, 1, 52),
}
"""An older CLI that gets one of these exits at once with "unknown option"."""

IGNORED_FIELDS: dict[str, Version] = {
    "prompt_suggestions": (2, 1, 25),
    "agent_progress_summaries": (2, 1, 52),
    "append_subagent_system_prompt": (2, 1, 52),
    "exclude_dynamic_sections": (2, 1, 52),
    "forward_nested_subagent_tool_calls": (2, 1, 52),
    "forward_subagent_text": (2, 1, 52),
    "per_task_stop_affordance": (2, 1, 52),
    "plan_mode_instructions": (2, 1, 52),
    "sdk_mcp_server_configs": (2, 1, 52),
    "skills": (2, 1, 52),
    "supported_dialog_kinds": (2, 1, 52),
    "system_prompt_snapshot": (2, 1, 52),
    "title": (2, 1, 52),
    "tool_aliases": (2, 1, 52),
}
"""Fields of ``initialize`` that older CLIs silently ignore."""

VERBATIM_PROMPTS_IGNORED: Version = (2, 1, 247)
LIST_PROMPT_IGNORED: Version = (2, 1, 52)
"""Older CLIs want ``systemPrompt`` as a string and fall back to their own prompt when it is a list."""
NAMED_AGENT_FROM_INITIALIZE_IGNORED: Version = (2, 1, 52)
"""``--agent`` looks only at agents in files: one that comes with ``initialize`` is too late for it."""


class UnsupportedOptionError(CLITooOld, ValueError):
    """The CLI that was found is too old for an option."""

    def __init__(self, option: str, version: str, *, missing_in: Version) -> None:
        self.option = option
        self.version = version
        self.missing_in = missing_in
        newest = ".".join(map(str, missing_in))
        super().__init__(
            f"{option} needs a newer Claude Code than {version} (known to be missing up to {newest}): update it, or "
            "omit the option"
        )


def lacks(version: Version | None, missing_in: Version) -> bool:
    """Whether this CLI is known to lack a thing. An unknown version is taken for a new one."""
    return version is not None and version <= missing_in
