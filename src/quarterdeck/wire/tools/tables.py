"""Inputs and results of the built-in tools, by the tools' names on the wire.

``TOOL_INPUT_TYPES`` and ``TOOL_OUTPUT_TYPES`` cover CLI 2.0.77 to 2.1.325. A tool of an MCP server, or one this version
does not know, has no type here: its input stays a dict.
"""

from __future__ import annotations

from typing import Any

from quarterdeck.wire._base import DOES_NOT_FIT
from quarterdeck.wire._view import typed_view
from quarterdeck.wire.vocabulary import LEGACY_TOOL_NAME_ALIASES

from . import ToolInput, agents, files, network, planning, questions, schedule, services, shell

_TOOLS: dict[str, tuple[Any, Any]] = {
    "Read": (files.FileReadInput, files.FileReadOutput),
    "Write": (files.FileWriteInput, files.FileWriteOutput),
    "Edit": (files.FileEditInput, files.FileEditOutput),
    "NotebookEdit": (files.NotebookEditInput, files.NotebookEditOutput),
    "Glob": (files.GlobInput, files.GlobOutput),
    "Grep": (files.GrepInput, files.GrepOutput),
    "LSP": (files.LSPInput, None),
    "Bash": (shell.BashInput, shell.BashOutput),
    "PowerShell": (shell.PowerShellInput, shell.BashOutput),
    "Monitor": (shell.MonitorInput, shell.MonitorOutput),
    "TaskOutput": (shell.TaskOutputInput, None),
    "BashOutput": (shell.BashOutputInput, None),
    "TaskStop": (shell.TaskStopInput, shell.TaskStopOutput),
    "Agent": (agents.AgentInput, agents.AgentOutput),
    "SendMessage": (agents.SendMessageInput, None),
    "ListAgents": (agents.ListAgentsInput, None),
    "SubagentHandback": (agents.SubagentHandbackInput, None),
    "Skill": (agents.SkillInput, None),
    "ToolSearch": (agents.ToolSearchInput, None),
    "Workflow": (agents.WorkflowInput, agents.WorkflowOutput),
    "EnterPlanMode": (planning.EnterPlanModeInput, planning.EnterPlanModeOutput),
    "ExitPlanMode": (planning.ExitPlanModeInput, planning.ExitPlanModeOutput),
    "TodoWrite": (planning.TodoWriteInput, planning.TodoWriteOutput),
    "TaskCreate": (planning.TaskCreateInput, planning.TaskCreateOutput),
    "TaskGet": (planning.TaskGetInput, planning.TaskGetOutput),
    "TaskUpdate": (planning.TaskUpdateInput, planning.TaskUpdateOutput),
    "TaskList": (planning.TaskListInput, planning.TaskListOutput),
    "EnterWorktree": (planning.EnterWorktreeInput, planning.EnterWorktreeOutput),
    "ExitWorktree": (planning.ExitWorktreeInput, planning.ExitWorktreeOutput),
    "AskUserQuestion": (questions.AskUserQuestionInput, questions.AskUserQuestionOutput),
    "WebFetch": (network.WebFetchInput, network.WebFetchOutput),
    "WebSearch": (network.WebSearchInput, network.WebSearchOutput),
    "ListMcpResourcesTool": (network.ListMcpResourcesInput, list[network.ListedMcpResource]),
    "ReadMcpResourceTool": (network.ReadMcpResourceInput, network.ReadMcpResourceOutput),
    "ReadMcpResourceDirTool": (network.ReadMcpResourceDirInput, network.ReadMcpResourceDirOutput),
    "RefreshMcpTools": (network.RefreshMcpToolsInput, list[network.RefreshedMcpServer]),
    "WaitForMcpServers": (network.WaitForMcpServersInput, None),
    "SubscribeMcpResource": (network.SubscribeMcpResourceInput, network.SubscribeOutput),
    "UnsubscribeMcpResource": (network.UnsubscribeMcpResourceInput, network.UnsubscribeOutput),
    "SubscribePolling": (network.SubscribePollingInput, network.SubscribeOutput),
    "UnsubscribePolling": (network.UnsubscribePollingInput, network.UnsubscribeOutput),
    "CronCreate": (schedule.CronCreateInput, schedule.CronCreateOutput),
    "CronDelete": (schedule.CronDeleteInput, schedule.CronDeleteOutput),
    "CronList": (schedule.CronListInput, schedule.CronListOutput),
    "ScheduleWakeup": (schedule.ScheduleWakeupInput, schedule.ScheduleWakeupOutput),
    "RemoteTrigger": (schedule.RemoteTriggerInput, schedule.RemoteTriggerOutput),
    "PushNotification": (schedule.PushNotificationInput, schedule.PushNotificationOutput),
    "ReadNotifications": (schedule.ReadNotificationsInput, schedule.ReadNotificationsOutput),
    "Config": (services.ConfigInput, services.ConfigOutput),
    "ReportFindings": (services.ReportFindingsInput, services.ReportFindingsOutput),
    "propose_skills": (services.ProposeSkillsInput, services.ProposeSkillsOutput),
    "ProposeGoal": (services.ProposeGoalInput, services.ProposeGoalOutput),
    "SendFeedback": (services.SendFeedbackInput, services.SendFeedbackOutput),
    "SendUserFile": (services.SendUserFileInput, None),
    "ShowOnboardingRolePicker": (services.ShowOnboardingRolePickerInput, services.ShowOnboardingRolePickerOutput),
    "OfferChromeSetup": (services.OfferChromeSetupInput, services.OfferChromeSetupOutput),
    "ClaudeDesign": (services.ClaudeDesignInput, services.ClaudeDesignOutput),
    "Projects": (services.ProjectsInput, None),
    "Artifact": (services.ArtifactInput, None),
}
"""Name → type of the input, type of the result (None: untyped)."""

_FORMER = LEGACY_TOOL_NAME_ALIASES | {"AgentOutputTool": "TaskOutput", "BashOutputTool": "TaskOutput"}
TOOL_ALIASES: dict[str, str] = {old: name for old, name in _FORMER.items() if name in _TOOLS}
"""Former name → current name, of the tools that have a type here. The CLI still accepts most of them."""

_BY_ANY_NAME = _TOOLS | {old: _TOOLS[name] for old, name in TOOL_ALIASES.items()}

TOOL_INPUT_TYPES: dict[str, type[ToolInput]] = {name: shapes[0] for name, shapes in _BY_ANY_NAME.items()}
TOOL_OUTPUT_TYPES: dict[str, Any] = {name: shapes[1] for name, shapes in _BY_ANY_NAME.items() if shapes[1] is not None}


def parse_tool_input(name: str, data: dict[str, Any]) -> ToolInput | dict[str, Any]:
    """A typed view of a tool's input; the dict itself if the tool or the shape is unknown. Never raises."""
    view: ToolInput | dict[str, Any] = _view_or_self(data, TOOL_INPUT_TYPES.get(name))
    return view


def parse_tool_output(name: str, data: Any) -> Any:
    """A typed view of a tool's result, or the value itself. Never raises.

    A failed call's result is a plain string that begins with ``Error:``; an MCP tool's is a list of content blocks.
    """
    return _view_or_self(data, TOOL_OUTPUT_TYPES.get(name))


def _view_or_self(data: Any, shape: Any) -> Any:
    if shape is None:
        return data
    try:
        return typed_view(data, shape)
    except DOES_NOT_FIT:
        return data
