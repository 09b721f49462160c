"""Results of every built-in tool."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.wire.tools import (
    TOOL_INPUT_TYPES,
    agents,
    files,
    network,
    parse_tool_input,
    parse_tool_output,
    planning,
    questions,
    schedule,
    shell,
)
from quarterdeck.wire.untyped import wire_names
from quarterdeck.wire.usage import Usage
from wire.tool_samples import ASKED, ASKED_TYPED, TODO, TODO_TYPED, attributes

PATCH = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-v1", "+v2", "+line"]}
HUNK = files.PatchHunk(old_start=1, old_lines=1, new_start=1, new_lines=2, lines=["-v1", "+v2", "+line"])
DIFF = {
    "filename": "a",
    "status": "added",
    "additions": 1,
    "deletions": 0,
    "changes": 1,
    "patch": "@@",
    "repository": "o/r",
}

OUTPUTS: list[tuple[str, Any, Any]] = [
    (
        "Bash",
        {
            "stdout": "out",
            "stderr": "err",
            "interrupted": True,
            "isImage": False,
            "noOutputExpected": True,
            "backgroundTaskId": "b1",
            "gitOperation": {
                "commit": {"sha": "abc", "kind": "committed", "branch": "main"},
                "push": {"branch": "main"},
                "branch": {"ref": "r", "action": "merged"},
                "pr": {"number": 7, "url": "u", "action": "created"},
            },
        },
        shell.BashOutput(
            stdout="out",
            stderr="err",
            interrupted=True,
            is_image=False,
            no_output_expected=True,
            background_task_id="b1",
            git_operation=shell.GitOperation(
                commit=shell.GitCommit(sha="abc", kind="committed", branch="main"),
                push=shell.GitPush(branch="main"),
                branch=shell.GitBranch(ref="r", action="merged"),
                pr=shell.PullRequest(number=7, url="u", action="created"),
            ),
        ),
    ),
    (
        "Read",
        {
            "type": "text",
            "file": {"filePath": "/f", "content": "hello\n", "numLines": 2, "startLine": 1, "totalLines": 2},
        },
        files.FileReadTextOutput(
            file=files.ReadText(file_path="/f", content="hello\n", num_lines=2, start_line=1, total_lines=2)
        ),
    ),
    (
        "Read",
        {
            "type": "image",
            "file": {
                "base64": "AA==",
                "type": "image/png",
                "originalSize": 1,
                "dimensions": {
                    "originalWidth": 1,
                    "originalHeight": 2,
                    "displayWidth": 3,
                    "displayHeight": 4,
                },
            },
        },
        files.FileReadImageOutput(
            file=files.ReadImage(
                base64="AA==",
                type="image/png",
                original_size=1,
                dimensions=files.ImageDimensions(
                    original_width=1, original_height=2, display_width=3, display_height=4
                ),
            )
        ),
    ),
    (
        "Read",
        {"type": "notebook", "file": {"filePath": "/n", "cells": [{"a": 1}]}},
        files.FileReadNotebookOutput(file=files.ReadNotebook(file_path="/n", cells=[{"a": 1}])),
    ),
    (
        "Read",
        {"type": "pdf", "file": {"filePath": "/p", "base64": "AA==", "originalSize": 1}},
        files.FileReadPdfOutput(file=files.ReadPdf(file_path="/p", base64="AA==", original_size=1)),
    ),
    (
        "Read",
        {
            "type": "parts",
            "file": {"filePath": "/p", "originalSize": 1, "count": 2, "outputDir": "/o"},
            "firstPage": 1,
            "pages": [{"base64": "AA==", "mediaType": "image/png", "error": "e"}],
        },
        files.FileReadPartsOutput(
            file=files.ReadParts(file_path="/p", original_size=1, count=2, output_dir="/o"),
            first_page=1,
            pages=[files.ReadPage(base64="AA==", media_type="image/png", error="e")],
        ),
    ),
    (
        "Edit",
        {
            "filePath": "/a",
            "oldString": "x",
            "newString": "y",
            "originalFile": "x",
            "structuredPatch": [PATCH],
            "userModified": False,
            "replaceAll": True,
            "gitDiff": DIFF,
            "staged": True,
        },
        files.FileEditOutput(
            file_path="/a",
            old_string="x",
            new_string="y",
            original_file="x",
            structured_patch=[HUNK],
            user_modified=False,
            replace_all=True,
            git_diff=files.GitDiff(**DIFF),
            staged=True,
        ),
    ),
    (
        "Write",
        {"type": "create", "filePath": "/a", "content": "v2", "structuredPatch": [PATCH], "userModified": False},
        files.FileWriteOutput(
            type="create", file_path="/a", content="v2", structured_patch=[HUNK], user_modified=False
        ),
    ),
    (
        "Task",
        {
            "status": "completed",
            "prompt": "p",
            "agentId": "a1",
            "agentType": "general-purpose",
            "content": [{"type": "text", "text": "done"}],
            "totalDurationMs": 1198,
            "totalTokens": 120,
            "totalToolUseCount": 1,
            "usage": {"input_tokens": 100, "output_tokens": 20},
            "toolStats": {"bashCount": 1},
            "canContinueAgent": True,
        },
        agents.AgentCompleted(
            prompt="p",
            agent_id="a1",
            agent_type="general-purpose",
            content=[agents.AgentText(type="text", text="done")],
            total_duration_ms=1198,
            total_tokens=120,
            total_tool_use_count=1,
            usage=Usage(input_tokens=100, output_tokens=20),
            tool_stats=agents.AgentToolStats(bash_count=1),
            can_continue_agent=True,
        ),
    ),
    (
        "Agent",
        {"status": "async_launched", "isAsync": True, "agentId": "a1", "outputFile": "/o", "canReadOutputFile": True},
        agents.AgentLaunched(is_async=True, agent_id="a1", output_file="/o", can_read_output_file=True),
    ),
    (
        "Agent",
        {"status": "remote_launched", "taskId": "t", "sessionUrl": "u"},
        agents.AgentLaunchedRemotely(task_id="t", session_url="u"),
    ),
    (
        "TodoWrite",
        {"oldTodos": [], "newTodos": [TODO]},
        planning.TodoWriteOutput(old_todos=[], new_todos=[TODO_TYPED]),
    ),
    (
        "ExitPlanMode",
        {"isAgent": False, "filePath": "/p.md"},
        planning.ExitPlanModeOutput(is_agent=False, file_path="/p.md"),
    ),
    (
        "TaskUpdate",
        {"success": True, "taskId": "1", "updatedFields": ["status"], "statusChange": {"from": "a", "to": "b"}},
        planning.TaskUpdateOutput(
            success=True,
            task_id="1",
            updated_fields=["status"],
            status_change=planning.TaskStatusChange(from_="a", to="b"),
        ),
    ),
    (
        "TaskList",
        {"tasks": [{"id": "1", "subject": "s", "status": "pending", "blockedBy": ["2"]}]},
        planning.TaskListOutput(tasks=[planning.TaskSummary(id="1", subject="s", status="pending", blocked_by=["2"])]),
    ),
    (
        "AskUserQuestion",
        ASKED | {"answers": {"Which color?": "Red"}, "afkTimeoutMs": 5},
        questions.AskUserQuestionOutput(questions=ASKED_TYPED, answers={"Which color?": "Red"}, afk_timeout_ms=5),
    ),
    (
        "WebSearch",
        {
            "query": "q",
            "results": [{"tool_use_id": "t", "content": [{"title": "x", "url": "u"}]}, "that was it"],
            "durationSeconds": 1.5,
        },
        network.WebSearchOutput(
            query="q",
            results=[
                network.WebSearchHits(tool_use_id="t", content=[network.WebSearchHit(title="x", url="u")]),
                "that was it",
            ],
            duration_seconds=1.5,
        ),
    ),
    (
        "CronList",
        {"jobs": [{"id": "c", "cron": "* * * * *", "humanSchedule": "every minute", "prompt": "p"}]},
        schedule.CronListOutput(
            jobs=[schedule.CronJob(id="c", cron="* * * * *", human_schedule="every minute", prompt="p")]
        ),
    ),
]


@pytest.mark.parametrize(("name", "data", "typed"), OUTPUTS)
def test_a_result_is_typed_by_its_tool_and_spelled_as_on_the_wire(name: str, data: Any, typed: Any) -> None:
    view = parse_tool_output(name, data)

    assert type(view) is type(typed)
    assert attributes(view) == attributes(typed)
    assert typed.to_dict() == data


def test_a_list_of_results_is_typed_one_by_one() -> None:
    view = parse_tool_output("ListMcpResources", [{"uri": "u", "name": "n", "mimeType": "t", "server": "s", "x": 1}])

    assert attributes(view[0]) == attributes(network.ListedMcpResource(uri="u", name="n", mime_type="t", server="s"))
    assert view[0]["x"] == 1


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("Bash", "Error: Exit code 3"),
        ("mcp__calc__add", [{"type": "text", "text": "3"}]),
        ("Read", {"type": "hologram", "file": {}}),
        ("Agent", None),
    ],
)
def test_a_result_without_a_type_is_returned_itself(name: str, data: Any) -> None:
    assert parse_tool_output(name, data) is data


KEYS = sorted(
    {key for cls in TOOL_INPUT_TYPES.values() for key in wire_names(cls)}
    | {key for _, data, _ in OUTPUTS for key in data}
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(name=st.sampled_from(sorted(TOOL_INPUT_TYPES)), data=st.dictionaries(st.sampled_from(KEYS), JSON) | JSON)
def test_nothing_makes_us_raise_or_lose_a_key(name: str, data: Any) -> None:
    for view in (parse_tool_input(name, data), parse_tool_output(name, data)):
        assert view == data
