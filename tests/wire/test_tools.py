"""Inputs of every built-in tool."""

from __future__ import annotations

from typing import Any

import pytest

from looping import for_each
from quarterdeck.wire.tools import (
    TOOL_ALIASES,
    TOOL_INPUT_TYPES,
    TOOL_OUTPUT_TYPES,
    ToolInput,
    agents,
    files,
    network,
    parse_tool_input,
    planning,
    questions,
    schedule,
    services,
    shell,
)
from quarterdeck.wire.untyped import wire_names
from wire.tool_samples import ASKED, ASKED_TYPED, TODO, TODO_TYPED, attributes

COMMAND = {"command": "ls", "timeout": 5000, "description": "list", "run_in_background": False}
FINDING = {
    "file": "a.py",
    "summary": "s",
    "line": 3,
    "short_summary": "h",
    "failure_scenario": "f",
    "category": "c",
    "verdict": "CONFIRMED",
    "outcome": "fixed",
}

INPUTS: list[tuple[str, dict[str, Any], ToolInput]] = [
    (
        "Read",
        {"file_path": "/a", "offset": 1, "limit": 2, "pages": "1-3", "allow_large": True},
        files.FileReadInput(file_path="/a", offset=1, limit=2, pages="1-3", allow_large=True),
    ),
    ("Write", {"file_path": "/a", "content": "x"}, files.FileWriteInput(file_path="/a", content="x")),
    (
        "Edit",
        {"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": True},
        files.FileEditInput(file_path="/a", old_string="x", new_string="y", replace_all=True),
    ),
    (
        "NotebookEdit",
        {"notebook_path": "/n", "new_source": "x", "cell_id": "c", "cell_type": "code", "edit_mode": "insert"},
        files.NotebookEditInput(notebook_path="/n", new_source="x", cell_id="c", cell_type="code", edit_mode="insert"),
    ),
    ("Glob", {"pattern": "*.py", "path": "/a"}, files.GlobInput(pattern="*.py", path="/a")),
    (
        "Grep",
        {
            "pattern": "x",
            "path": "/a",
            "glob": "*.py",
            "output_mode": "content",
            "-B": 1,
            "-A": 2,
            "-C": 3,
            "context": 4,
            "-n": True,
            "-i": False,
            "-o": True,
            "type": "py",
            "head_limit": 5,
            "offset": 6,
            "multiline": True,
        },
        files.GrepInput(
            pattern="x",
            path="/a",
            glob="*.py",
            output_mode="content",
            before_context=1,
            after_context=2,
            around_context=3,
            context=4,
            line_numbers=True,
            ignore_case=False,
            only_matching=True,
            type="py",
            head_limit=5,
            offset=6,
            multiline=True,
        ),
    ),
    (
        "LSP",
        {"operation": "hover", "filePath": "/a", "line": 1, "character": 2, "query": "q"},
        files.LSPInput(operation="hover", file_path="/a", line=1, character=2, query="q"),
    ),
    (
        "Bash",
        COMMAND | {"dangerouslyDisableSandbox": True},
        shell.BashInput(**COMMAND, dangerously_disable_sandbox=True),
    ),
    (
        "PowerShell",
        COMMAND | {"dangerouslyDisableSandbox": True},
        shell.PowerShellInput(**COMMAND, dangerously_disable_sandbox=True),
    ),
    (
        "Monitor",
        {"description": "d", "timeout_ms": 1000, "command": "tail", "ws": {"url": "ws://x", "protocols": ["p"]}},
        shell.MonitorInput(
            description="d",
            timeout_ms=1000,
            command="tail",
            ws=shell.MonitorSocket(url="ws://x", protocols=["p"]),
        ),
    ),
    (
        "TaskOutput",
        {"task_id": "t", "block": True, "timeout": 100},
        shell.TaskOutputInput(task_id="t", block=True, timeout=100),
    ),
    ("BashOutput", {"bash_id": "b", "filter": "x"}, shell.BashOutputInput(bash_id="b", filter="x")),
    ("TaskStop", {"task_id": "t", "shell_id": "s"}, shell.TaskStopInput(task_id="t", shell_id="s")),
    (
        "Agent",
        {
            "prompt": "p",
            "description": "d",
            "subagent_type": "general-purpose",
            "model": "opus",
            "effort": "high",
            "run_in_background": False,
            "name": "n",
            "isolation": "worktree",
            "team_name": "t",
            "mode": "plan",
            "resume": "r",
            "max_turns": 3,
        },
        agents.AgentInput(
            prompt="p",
            description="d",
            subagent_type="general-purpose",
            model="opus",
            effort="high",
            run_in_background=False,
            name="n",
            isolation="worktree",
            team_name="t",
            mode="plan",
            resume="r",
            max_turns=3,
        ),
    ),
    (
        "SendMessage",
        {"to": "ann", "message": "m", "summary": "s", "notify_when_idle": True},
        agents.SendMessageInput(to="ann", message="m", summary="s", notify_when_idle=True),
    ),
    ("ListAgents", {"channel": "c", "q": "x"}, agents.ListAgentsInput(channel="c", q="x")),
    ("SubagentHandback", {"message": "m"}, agents.SubagentHandbackInput(message="m")),
    ("Skill", {"skill": "pdf", "args": "a"}, agents.SkillInput(skill="pdf", args="a")),
    ("ToolSearch", {"query": "q", "max_results": 5}, agents.ToolSearchInput(query="q", max_results=5)),
    (
        "Workflow",
        {
            "script": "s",
            "name": "n",
            "description": "d",
            "title": "t",
            "args": {"a": 1},
            "scriptPath": "/s",
            "resumeFromRunId": "wf_123456",
        },
        agents.WorkflowInput(
            script="s",
            name="n",
            description="d",
            title="t",
            args={"a": 1},
            script_path="/s",
            resume_from_run_id="wf_123456",
        ),
    ),
    ("EnterPlanMode", {}, planning.EnterPlanModeInput()),
    (
        "ExitPlanMode",
        {
            "plan": "p",
            "planFilePath": "/p.md",
            "allowedPrompts": [{"tool": "Bash", "prompt": "run tests"}],
            "pushToRemote": True,
            "remoteSessionId": "i",
            "remoteSessionUrl": "u",
            "remoteSessionTitle": "t",
        },
        planning.ExitPlanModeInput(
            plan="p",
            plan_file_path="/p.md",
            allowed_prompts=[planning.AllowedPrompt(tool="Bash", prompt="run tests")],
            push_to_remote=True,
            remote_session_id="i",
            remote_session_url="u",
            remote_session_title="t",
        ),
    ),
    ("TodoWrite", {"todos": [TODO]}, planning.TodoWriteInput(todos=[TODO_TYPED])),
    (
        "TaskCreate",
        {"subject": "s", "description": "d", "activeForm": "a", "metadata": {"k": 1}},
        planning.TaskCreateInput(subject="s", description="d", active_form="a", metadata={"k": 1}),
    ),
    ("TaskGet", {"taskId": "1"}, planning.TaskGetInput(task_id="1")),
    (
        "TaskUpdate",
        {
            "taskId": "1",
            "subject": "s",
            "description": "d",
            "activeForm": "a",
            "status": "deleted",
            "addBlocks": ["2"],
            "addBlockedBy": ["3"],
            "owner": "o",
            "metadata": {},
        },
        planning.TaskUpdateInput(
            task_id="1",
            subject="s",
            description="d",
            active_form="a",
            status="deleted",
            add_blocks=["2"],
            add_blocked_by=["3"],
            owner="o",
            metadata={},
        ),
    ),
    ("TaskList", {}, planning.TaskListInput()),
    ("EnterWorktree", {"name": "n", "path": "/p"}, planning.EnterWorktreeInput(name="n", path="/p")),
    (
        "ExitWorktree",
        {"action": "keep", "discard_changes": True},
        planning.ExitWorktreeInput(action="keep", discard_changes=True),
    ),
    (
        "AskUserQuestion",
        ASKED
        | {
            "answers": {"Which color?": "Red", "Which toppings?": ["Olives", "Corn"]},
            "annotations": {"Which color?": {"preview": "p", "notes": "n"}},
            "metadata": {"source": "s"},
        },
        questions.AskUserQuestionInput(
            questions=ASKED_TYPED,
            answers={"Which color?": "Red", "Which toppings?": ["Olives", "Corn"]},
            annotations={"Which color?": questions.QuestionAnnotation(preview="p", notes="n")},
            metadata={"source": "s"},
        ),
    ),
    (
        "WebFetch",
        {"url": "https://example.test", "prompt": "p", "offset": 3},
        network.WebFetchInput(url="https://example.test", prompt="p", offset=3),
    ),
    (
        "WebSearch",
        {"query": "q", "allowed_domains": ["a"], "blocked_domains": ["b"]},
        network.WebSearchInput(query="q", allowed_domains=["a"], blocked_domains=["b"]),
    ),
    ("ListMcpResourcesTool", {"server": "s"}, network.ListMcpResourcesInput(server="s")),
    ("ReadMcpResourceTool", {"server": "s", "uri": "u"}, network.ReadMcpResourceInput(server="s", uri="u")),
    ("ReadMcpResourceDirTool", {"server": "s", "uri": "u"}, network.ReadMcpResourceDirInput(server="s", uri="u")),
    ("RefreshMcpTools", {"server": "s"}, network.RefreshMcpToolsInput(server="s")),
    ("WaitForMcpServers", {"servers": ["s"]}, network.WaitForMcpServersInput(servers=["s"])),
    (
        "SubscribeMcpResource",
        {"server": "s", "uri": "u", "reason": "r"},
        network.SubscribeMcpResourceInput(server="s", uri="u", reason="r"),
    ),
    (
        "UnsubscribeMcpResource",
        {"server": "s", "uri": "u", "subscriptionId": "i"},
        network.UnsubscribeMcpResourceInput(server="s", uri="u", subscription_id="i"),
    ),
    (
        "SubscribePolling",
        {
            "type": "tool",
            "server": "s",
            "toolName": "t",
            "arguments": {"a": 1},
            "uri": "u",
            "intervalMs": 10,
            "reason": "r",
        },
        network.SubscribePollingInput(
            type="tool", server="s", tool_name="t", arguments={"a": 1}, uri="u", interval_ms=10, reason="r"
        ),
    ),
    (
        "UnsubscribePolling",
        {"subscriptionId": "i", "server": "s", "target": "t"},
        network.UnsubscribePollingInput(subscription_id="i", server="s", target="t"),
    ),
    (
        "CronCreate",
        {"cron": "0 9 * * *", "prompt": "p", "recurring": True, "durable": False},
        schedule.CronCreateInput(cron="0 9 * * *", prompt="p", recurring=True, durable=False),
    ),
    ("CronDelete", {"id": "c"}, schedule.CronDeleteInput(id="c")),
    ("CronList", {}, schedule.CronListInput()),
    (
        "ScheduleWakeup",
        {"delaySeconds": 1.5, "reason": "r", "prompt": "p", "stop": True, "noop": False},
        schedule.ScheduleWakeupInput(delay_seconds=1.5, reason="r", prompt="p", stop=True, noop=False),
    ),
    (
        "RemoteTrigger",
        {"action": "run", "trigger_id": "t", "session_id": "s", "cursor": "c", "body": {}},
        schedule.RemoteTriggerInput(action="run", trigger_id="t", session_id="s", cursor="c", body={}),
    ),
    (
        "PushNotification",
        {"message": "m", "status": "proactive"},
        schedule.PushNotificationInput(message="m", status="proactive"),
    ),
    ("ReadNotifications", {}, schedule.ReadNotificationsInput()),
    ("Config", {"setting": "theme", "value": "dark"}, services.ConfigInput(setting="theme", value="dark")),
    (
        "ReportFindings",
        {"findings": [FINDING], "level": "high"},
        services.ReportFindingsInput(findings=[services.Finding(**FINDING)], level="high"),
    ),
    (
        "propose_skills",
        {
            "proposals": [
                {
                    "name": "n",
                    "kind": "new",
                    "target": "t",
                    "description": "d",
                    "evidence": ["e"],
                    "edits": [{"old_string": "a", "new_string": "b"}],
                    "skillMd": "# s",
                }
            ]
        },
        services.ProposeSkillsInput(
            proposals=[
                services.SkillProposal(
                    name="n",
                    kind="new",
                    target="t",
                    description="d",
                    evidence=["e"],
                    edits=[services.TextReplacement(old_string="a", new_string="b")],
                    skill_md="# s",
                )
            ]
        ),
    ),
    ("ProposeGoal", {"condition": "c", "ask_user": True}, services.ProposeGoalInput(condition="c", ask_user=True)),
    (
        "SendFeedback",
        {
            "type": "bug",
            "title": "t",
            "details": "d",
            "area": "a",
            "failure_mode": "other",
            "task_category": "plan",
        },
        services.SendFeedbackInput(
            type="bug", title="t", details="d", area="a", failure_mode="other", task_category="plan"
        ),
    ),
    ("SendUserFile", {"files": ["/a"], "message": "m"}, services.SendUserFileInput(files=["/a"], message="m")),
    ("ShowOnboardingRolePicker", {}, services.ShowOnboardingRolePickerInput()),
    ("OfferChromeSetup", {"reason": "r"}, services.OfferChromeSetupInput(reason="r")),
    (
        "ClaudeDesign",
        {"operation": "o", "arguments": {"a": 1}},
        services.ClaudeDesignInput(operation="o", arguments={"a": 1}),
    ),
    (
        "Projects",
        {
            "method": "project_read",
            "path": "/p",
            "content": "c",
            "local_path": "/l",
            "present_to_user": True,
            "query": "q",
            "n": 3,
        },
        services.ProjectsInput(
            method="project_read", path="/p", content="c", local_path="/l", present_to_user=True, query="q", n=3
        ),
    ),
    *(
        ("Artifact", data, services.ArtifactInput(**data))
        for data in [
            {
                "action": "publish",
                "file_path": "/a",
                "file_paths": ["/a"],
                "favicon": "f",
                "icon": "i",
                "limit": 1,
                "page_token": "t",
                "scope": "mine",
                "title": "t",
                "description": "d",
                "label": "l",
                "url": "u",
                "prompt": "p",
                "force": True,
                "pin": False,
                "out_dir": "/o",
                "asset_id": "a",
                "after": "x",
                "capabilities": {},
                "contract": "latest",
            }
        ]
    ),
]


@for_each(("name", "data", "typed"), INPUTS, ids=[case[0] for case in INPUTS])
def test_an_input_is_typed_by_its_tool_and_spelled_as_on_the_wire(
    name: str, data: dict[str, Any], typed: ToolInput
) -> None:
    view = parse_tool_input(name, data)

    assert isinstance(view, ToolInput)
    assert attributes(view) == attributes(typed)
    assert view == typed
    assert typed.to_dict() == data


def test_every_tool_has_a_case_that_names_all_its_fields() -> None:
    assert {name for name, _, _ in INPUTS} == set(TOOL_INPUT_TYPES) - set(TOOL_ALIASES)
    for name, data, _ in INPUTS:
        assert set(data) == set(wire_names(TOOL_INPUT_TYPES[name])), name


@pytest.mark.parametrize(("old", "name"), TOOL_ALIASES.items())
def test_a_former_name_of_a_tool_means_the_same(old: str, name: str) -> None:
    assert TOOL_INPUT_TYPES[old] is TOOL_INPUT_TYPES[name]
    assert TOOL_OUTPUT_TYPES.get(old) is TOOL_OUTPUT_TYPES.get(name)


@for_each(("name", "data", "typed"), INPUTS, ids=[case[0] for case in INPUTS])
def test_an_input_still_reads_like_the_dict_it_was(name: str, data: dict[str, Any], typed: ToolInput) -> None:
    newer = data | {"new_key": 1}
    view = parse_tool_input(name, newer)

    assert type(view) is type(typed)
    assert dict(view) == newer
    assert view["new_key"] == 1
    assert "new_key" in view
    assert "other_key" not in view


def test_keys_unknown_to_us_are_readable_inside_the_objects_of_an_input() -> None:
    view = parse_tool_input("TodoWrite", {"todos": [TODO | {"priority": "high"}]})

    assert isinstance(view, planning.TodoWriteInput)
    assert view.todos[0]["priority"] == "high"


def test_a_powershell_command_is_never_taken_for_a_bash_command() -> None:
    assert not isinstance(parse_tool_input("PowerShell", {"command": "ls"}), shell.BashInput)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("mcp__calc__add", {"a": 1}),
        ("FromTheFuture", {"a": 1}),
        ("Bash", {"description": "the command is missing"}),
        ("Bash", {"command": ["ls"]}),
        ("Bash", None),
        ("Bash", "ls"),
        ("TodoWrite", {"todos": "none"}),
    ],
)
def test_an_input_without_a_type_is_returned_itself(name: str, data: Any) -> None:
    assert parse_tool_input(name, data) is data


def test_an_input_may_be_nested_deeper_than_python_can_recurse() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"deeper": deep}

    assert isinstance(parse_tool_input("TaskCreate", {"subject": "s", "metadata": deep}), planning.TaskCreateInput)
