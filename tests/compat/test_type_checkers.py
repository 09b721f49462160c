"""What a type checker knows of the package: every public name, none besides, and calls the official SDK's way.

One run of mypy over all programs here; its cache is the one of ``make lint``.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quarterdeck
from compat.test_official_names import OFFICIAL
from wire.test_public_names import LAZY

ROOT = Path(__file__).parents[2]

BUILT_THE_OFFICIAL_WAY = """
from quarterdeck import *
from quarterdeck.types import ContentBlock as Block

blocks: list[Block] = [TextBlock("x"), ThinkingBlock("a", "b"), ToolUseBlock("1", "Bash", {"command": "ls"})]
usage = {"input_tokens": 1}
task_usage: TaskUsage = {"total_tokens": 1, "tool_uses": 2, "duration_ms": 3}
model_usage = ModelUsage(
    inputTokens=1, outputTokens=1, cacheReadInputTokens=1, cacheCreationInputTokens=1, webSearchRequests=1, costUSD=0.1,
    contextWindow=1, maxOutputTokens=1,
)

AssistantMessage(content=[TextBlock(text="x")], model="m")
AssistantMessage(blocks, "m", None, "rate_limit", usage, "id", "end_turn", "s", "u")
AssistantMessage(content=blocks, model="m", error="unknown", usage=usage, message_id="i", session_id="s", uuid="u")
UserMessage(content="hi")
UserMessage(blocks, "u", None, {"stdout": ""}, None)
UserMessage(content=blocks, uuid="u", parent_tool_use_id="t", tool_use_result={"stdout": ""})
SystemMessage(subtype="init", data={"cwd": "/"})
SystemMessage("init", {"cwd": "/"})
StreamEvent(uuid="u", session_id="s", event={"type": "ping"})
StreamEvent("u", "s", {"type": "ping"}, None)
ResultMessage(subtype="success", duration_ms=1, duration_api_ms=1, is_error=False, num_turns=1, session_id="s")
ResultMessage("success", 1, 1, False, 1, "s", "end_turn", 0.1, usage, "r", None, {"m": model_usage}, [])
ResultMessage("success", 1, 1, False, 1, "s", deferred_tool_use=DeferredToolUse("i", "n", {}), errors=["x"], uuid="u")
ToolResultBlock(tool_use_id="t")
ToolResultBlock("t", "text", False)
ToolResultBlock("t", [{"type": "text", "text": "x"}], None)
ServerToolUseBlock("i", "web_search", {"query": "x"})
ServerToolResultBlock("t", {"type": "web_search_tool_result"})
TaskStartedMessage("task_started", {}, "t", "d", "u", "s")
TaskStartedMessage(subtype="task_started", data={}, task_id="t", description="d", uuid="u", session_id="s")
TaskProgressMessage("task_progress", {}, "t", "d", task_usage, "u", "s")
TaskNotificationMessage("task_notification", {}, "t", "completed", "o", "s", "u", "s", None, task_usage)
TaskUpdatedMessage("task_updated", {}, "t", {"status": "killed"}, "killed", "s", "u")
MirrorErrorMessage("mirror_error", {}, None, "boom")
HookEventMessage("hook_started", {}, "PreToolUse", "s", "u")
RateLimitEvent(rate_limit_info=RateLimitInfo(status="allowed", resets_at=1, utilization=0.1), uuid="u", session_id="s")
ConversationResetMessage("n", "u", "s")
"""

ATTRIBUTES = """
from typing import Any, assert_type

import quarterdeck
from quarterdeck.types import AssistantMessage, ContentBlock, Message, ResultMessage, StreamEvent, SystemMessage
from quarterdeck.types import McpHttpServerConfig, TextBlock, ToolResultBlock, UserMessage

configured: McpHttpServerConfig = {"type": "http", "url": "http://127.0.0.1"}
quarterdeck.ClaudeAgentOptions(mcp_servers={"a": configured})
assert_type(quarterdeck.types.TextBlock("x"), TextBlock)
assert_type(AssistantMessage(content=[], model="m"), AssistantMessage)

def attributes(
    assistant: AssistantMessage, user: UserMessage, result: ResultMessage, system: SystemMessage, stream: StreamEvent,
    block: ToolResultBlock, message: Message,
) -> None:
    assert_type(assistant.content, list[ContentBlock])
    assert_type(assistant.model, str)
    assert_type(assistant.usage, dict[str, Any] | None)
    assert_type(assistant.stop_reason, str | None)
    assert_type(user.content, str | list[ContentBlock])
    assert_type(result.is_error, bool)
    assert_type(result.usage, dict[str, Any] | None)
    assert_type(system.data, dict[str, Any])
    assert_type(stream.event, dict[str, Any])
    assert_type(block.content, str | list[dict[str, Any]] | None)
    if isinstance(message, AssistantMessage):
        for piece in message.content:
            if isinstance(piece, TextBlock):
                assert_type(piece.text, str)
"""

WRONG = """
from quarterdeck import Qurey
from quarterdeck import Connection
from quarterdeck import LazyNames
from quarterdeck import msgspec
from quarterdeck.types import Anything
from quarterdeck.client import Connection
from quarterdeck.wire import system_messages
quarterdeck.Qurey
quarterdeck.types.Anything
quarterdeck.TextBlock("x").txet
AssistantMessage(content=[])
AssistantMessage(contents=[], model="m")
AssistantMessage(content="text", model="m")
UserMessage()
ResultMessage(subtype=1, duration_ms=1, duration_api_ms=1, is_error=False, num_turns=1, session_id="s")
StreamEvent("u", "s", "event")
"""
WRONG_BEGINS = "import quarterdeck\nfrom quarterdeck import AssistantMessage, ResultMessage, StreamEvent, UserMessage\n"


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """Program → line → what mypy says of it."""
    folder = tmp_path_factory.mktemp("programs")
    wrong = WRONG_BEGINS + WRONG.strip() + "".join(f"\nfrom {package} import no_such_name" for package in LAZY)
    names = [
        f"def in_{number}() -> None:\n    from {package} import {', '.join(importlib.import_module(package).__all__)}\n"
        for number, package in enumerate(LAZY)
    ]
    programs = {
        "names": "\n".join(names),
        "official_types": f"from quarterdeck.types import {', '.join(OFFICIAL['modules']['types'])}",
        "built": BUILT_THE_OFFICIAL_WAY,
        "attributes": ATTRIBUTES,
        "wrong": wrong,
    }
    paths = {name: folder / f"checked_{name}.py" for name in programs}
    for name, text in programs.items():
        paths[name].write_text(text)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *map(str, paths.values())]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={"MYPYPATH": "src"})
    assert done.stderr == ""
    found: dict[str, dict[int, str]] = {name: {} for name in programs}
    for path, line, text in re.findall(r"^(.+?):(\d+): error: (.*)$", done.stdout, re.MULTILINE):
        found[Path(path).stem.removeprefix("checked_")][int(line)] = text
    return found | {"lines of wrong": dict(enumerate(wrong.splitlines(), 1))}


def test_every_public_name_is_known(errors: dict[str, dict[int, str]]) -> None:
    assert errors["names"] == {}
    assert errors["official_types"] == {}
    assert set(OFFICIAL["modules"]["types"]) <= set(quarterdeck.types.__all__)


def test_messages_can_be_built_the_official_way(errors: dict[str, dict[int, str]]) -> None:
    assert errors["built"] == {}
    exec(BUILT_THE_OFFICIAL_WAY, {})  # noqa: S102  # what is right for mypy is right for Python


def test_attributes_have_types(errors: dict[str, dict[int, str]]) -> None:
    assert errors["attributes"] == {}


def test_what_does_not_exist_is_an_error(errors: dict[str, dict[int, str]]) -> None:
    lines = errors["lines of wrong"]
    missed = [text for number, text in lines.items() if number not in errors["wrong"]]
    assert missed == WRONG_BEGINS.splitlines()
