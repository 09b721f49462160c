"""Words of CLI 2.1.325 that programs compare with: names of tools, reasons, and how texts about limits begin.

Names and values are those of the TypeScript SDK (0.3.325), which has them as constants.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

ExitReason: TypeAlias = Literal["clear", "resume", "logout", "prompt_input_exit", "other"]
EXIT_REASONS: tuple[ExitReason, ...] = get_args(ExitReason)
"""Why a session ended: what ``reason`` of a ``SessionEnd`` hook says."""

BUILTIN_TOOL_NAMES: tuple[str, ...] = (
    "Agent",
    "Artifact",
    "AskUserQuestion",
    "Bash",
    "ClaudeDesign",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EndConversation",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "ListAgents",
    "ListMcpResourcesTool",
    "LSP",
    "Monitor",
    "NotebookEdit",
    "OfferChromeSetup",
    "PowerShell",
    "Projects",
    "propose_skills",
    "ProposeGoal",
    "PushNotification",
    "Read",
    "ReadMcpResourceDirTool",
    "ReadMcpResourceTool",
    "ReadNotifications",
    "RemoteTrigger",
    "ReportFindings",
    "ScheduleWakeup",
    "SendFeedback",
    "SendMessage",
    "SendUserFile",
    "SendUserMessage",
    "ShareOnboardingGuide",
    "ShowOnboardingRolePicker",
    "Skill",
    "SubagentHandback",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "WaitForMcpServers",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
)
"""Built-in tools as permission rules, ``tools`` and ``disallowed_tools`` spell them.

Some of them are off on some platforms, and the CLI has others besides: a session's tools are in its ``InitMessage``.
"""

LEGACY_TOOL_NAME_ALIASES: dict[str, str] = {
    "Task": "Agent",  # what the stream still says
    "KillShell": "TaskStop",
    "KillBash": "TaskStop",
    "ListPeers": "ListAgents",
    "Brief": "SendUserMessage",
    "ListMcpResources": "ListMcpResourcesTool",
    "ReadMcpResource": "ReadMcpResourceTool",
    "ReadMcpResourceDir": "ReadMcpResourceDirTool",
}
"""Former name of a tool → its name. Permission rules, hook matchers and options still take the former ones."""

USAGE_LIMIT_ERROR_PREFIXES: tuple[str, ...] = (
    "You've hit your",
    "You've reached your",
    "You're out of usage credits",
    "Your org is out of usage · add funds to continue",
    "Your org is out of usage · contact your admin",
    "Your seat type doesn't include usage credits",
    "Your seat type doesn't include usage",
    "Your usage allocation has been disabled by your admin",
    "Your group's usage limit is set to $0",
    "Fable 5 requires usage credits",
    "You're out of extra usage",
    "Your seat type doesn't include extra usage",
)
"""How the text of an error begins when a usage limit was reached."""

ORG_POLICY_LIMIT_PREFIXES: tuple[str, ...] = ("This service is disabled for your org",)
"""How the text of an error begins when the organisation does not permit the service: no limit that passes."""

USAGE_WARNING_PREFIXES: tuple[str, ...] = ("You've used", "You're close to")
"""How a warning begins that a limit is near. Never an error."""

USAGE_TRANSITION_PREFIXES: tuple[str, ...] = (
    "You're now using usage credits",
    "You're now using your usage allocation",
    "Now using your usage allocation",
    "Now using usage credits",
    "Now using credits",
    "You're now using extra usage",
    "Now using extra usage",
)
"""How a notice begins that from now on credits are used up. Never an error."""
