"""Each tool, each hook and each mode of specification 003, as an editor sees it. No process: lines in, updates out."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from quarterdeck.gateways.acp import schema
from quarterdeck.gateways.acp.config_options import Chosen, modes_of, options_of
from quarterdeck.gateways.acp.drawing import Audience, Drawing
from quarterdeck.timeline import Timeline
from quarterdeck.timeline.parts import Model
from quarterdeck.timeline.state import SessionDetails
from quarterdeck.wire import decode

CWD = "/repo"


class Screen:
    def __init__(self, **audience: bool) -> None:
        self.updates: list[dict[str, Any]] = []
        self._timeline = Timeline()
        self._drawing = Drawing(self._emit, self._timeline, audience=Audience(**audience), cwd=CWD)

    def _emit(self, update: Any) -> None:
        self.updates.append(msgspec.json.decode(msgspec.json.encode(update)))

    def take(self, **line: Any) -> None:
        known = {"session_id": "s", "uuid": "u", **line}
        self._drawing.draw(self._timeline.take("out", decode(json.dumps(known).encode()), at=0.0))

    def call(self, tool: str, tool_input: dict[str, Any]) -> dict[str, Any]:
        """A call and its result, put together."""
        block = {"type": "tool_use", "id": "t", "name": tool, "input": tool_input}
        message = {"role": "assistant", "id": "m", "model": "x", "content": [block]}
        self.take(type="assistant", message=message, parent_tool_use_id=None)
        result = {"type": "tool_result", "tool_use_id": "t", "content": "done"}
        self.take(type="user", message={"role": "user", "content": [result]}, parent_tool_use_id=None)
        merged: dict[str, Any] = {}
        for one in self.updates:
            if one["sessionUpdate"].startswith("tool_call"):
                merged.update(one)
        return merged


TOOLS: dict[str, tuple[dict[str, Any], str, str]] = {
    "Task": ({"prompt": "Look", "description": "Explore", "subagent_type": "Explore"}, "think", "Explore"),
    "TaskOutput": ({"task_id": "b1", "block": True, "timeout": 5}, "think", "TaskOutput: b1"),
    "TaskStop": ({"task_id": "b1"}, "think", "TaskStop: b1"),
    "Bash": ({"command": "ls -la", "description": "List"}, "execute", "ls -la"),
    "Read": ({"file_path": "/repo/a.py", "offset": 3, "limit": 2}, "read", "Read a.py (lines 3–4)"),
    "Write": ({"file_path": "/repo/a.py", "content": "x"}, "edit", "Write a.py"),
    "Edit": ({"file_path": "/repo/a.py", "old_string": "a", "new_string": "b"}, "edit", "Edit a.py"),
    "Glob": ({"pattern": "*.py", "path": "/repo/src"}, "search", "Glob *.py in src"),
    "Grep": ({"pattern": "def"}, "search", "Grep def"),
    "NotebookEdit": ({"notebook_path": "/repo/a.ipynb", "new_source": "1"}, "edit", "Edit a.ipynb"),
    "WebFetch": ({"url": "http://a.b", "prompt": "sum up"}, "fetch", "Fetch http://a.b"),
    "WebSearch": ({"query": "acp"}, "fetch", "Search the web for acp"),
    "ExitPlanMode": ({"plan": "1. Leap"}, "switch_mode", "Ready to code?"),
    "AskUserQuestion": ({"questions": [{"question": "Which?", "header": "H", "options": []}]}, "think", "Which?"),
    "Config": ({"setting": "theme", "value": "dark"}, "other", "Config: theme"),
    "ListMcpResources": ({"server": "docs"}, "search", "ListMcpResources: docs"),
    "ReadMcpResource": ({"server": "docs", "uri": "doc://a"}, "read", "ReadMcpResource: docs"),
    "mcp__docs__find": ({"text": "acp"}, "other", "docs: find: acp"),
}
"""Tool → input, kind, title. ``TodoWrite`` is the plan, not a call."""


@pytest.mark.parametrize("tool", TOOLS)
def test_a_call_of_a_tool_has_kind_title_input_and_result(tool: str) -> None:
    tool_input, kind, title = TOOLS[tool]
    call = Screen().call(tool, tool_input)
    assert (call["kind"], call["title"], call["status"]) == (kind, title, "completed")
    assert call["rawInput"] == tool_input
    assert call["rawOutput"] == {"output": "done"}
    assert call["_meta"]["claudeCode"]["toolName"] == tool


def test_todos_are_a_plan() -> None:
    screen = Screen()
    screen.call("TodoWrite", {"todos": [{"content": "Look", "status": "pending", "activeForm": "Looking"}]})
    (plan,) = screen.updates
    assert (plan["sessionUpdate"], plan["entries"][0]["content"]) == ("plan", "Look")


HOOKS = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PermissionRequest",
    "Setup",
]


@pytest.mark.parametrize("event", HOOKS)
def test_a_hook_that_fails_or_says_something_is_shown_and_one_that_agrees_is_not(event: str) -> None:
    screen = Screen(notices=True)
    hook = {"hook_id": "h", "hook_name": f"{event}:mine", "hook_event": event}
    screen.take(type="system", subtype="hook_started", **hook)
    screen.take(type="system", subtype="hook_response", **hook, output="", exit_code=0, outcome="success")
    assert screen.updates == []
    screen.take(type="system", subtype="hook_started", **hook)
    screen.take(type="system", subtype="hook_response", **hook, output="no", exit_code=2, outcome="error")
    (shown,) = screen.updates
    assert shown == {"sessionUpdate": "notice", "severity": "warning", "title": f"Hook {event}:mine: error\nno"}


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions", "plan", "delegate", "dontAsk"])
def test_a_mode_that_is_in_effect_is_offered_whoever_chose_it(mode: str) -> None:
    """``delegate`` is one of older CLIs: it is shown where it is in effect, and never offered otherwise."""
    shown = modes_of(mode, bypass=False)
    assert shown.current_mode_id == mode
    assert mode in [one.id for one in shown.available_modes]
    elsewhere = {one.id for one in modes_of("default", bypass=False, version="2.1.325").available_modes}
    assert (mode in elsewhere) is (mode not in ("bypassPermissions", "delegate"))


@pytest.mark.parametrize(
    ("version", "has"), [("2.0.77", False), ("2.1.25", True), ("2.1.52", True), ("2.1.325", False)]
)
def test_delegate_is_offered_where_the_cli_has_it(version: str, has: bool) -> None:
    assert ("delegate" in [one.id for one in modes_of(None, bypass=False, version=version).available_modes]) is has
    details = SessionDetails(cli_version=version)
    (mode, _) = options_of(details, Chosen())
    assert isinstance(mode, schema.SessionConfigOptionSelect)
    assert ("delegate" in [one.value for one in mode.options]) is has


FAST = Model("default", "Opus", effort_levels=["low", "high"], fast_mode=True)
SLOW = Model("haiku", "Haiku")


def test_effort_and_fast_mode_are_those_of_the_model() -> None:
    details = SessionDetails(models=[FAST, SLOW], fast_mode="cooldown", effort="low", agents=["poet"])
    options = {one.id: one for one in options_of(details, Chosen(), switches=True)}
    effort, fast = options["effort"], options["fast"]
    assert isinstance(effort, schema.SessionConfigOptionSelect)
    assert [one.value for one in effort.options] == ["default", "low", "high"]
    assert effort.current_value == "low"
    assert isinstance(fast, schema.SessionConfigOptionBoolean)
    assert fast.current_value is True
    (fast,) = (one for one in options_of(details, Chosen(fast=False)) if one.id == "fast")
    assert isinstance(fast, schema.SessionConfigOptionSelect)
    assert (fast.current_value, [one.value for one in fast.options]) == ("off", ["on", "off"])
    assert [one.id for one in options_of(details, Chosen(model="haiku"))] == ["mode", "model", "agent"]
    assert [one.id for one in options_of(None, Chosen())] == ["mode", "model"]


def test_an_agent_can_be_chosen_until_something_is_said() -> None:
    details = SessionDetails(agents=["poet", "monk"])

    def offered(chosen: Chosen, *, new: bool) -> list[str]:
        found = [one for one in options_of(details, chosen, new=new) if one.id == "agent"]
        return [each.value for one in found for each in one.options]  # type: ignore[union-attr]

    assert offered(Chosen(), new=True) == ["default", "poet", "monk"]
    assert offered(Chosen(), new=False) == []
    assert offered(Chosen(agent="poet"), new=False) == ["poet"]
