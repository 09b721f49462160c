"""The real CLI and ours on rules that are not about commands or paths: MCP servers and tools, sub-agents, skills.

As in ``tests/policy/test_differential.py``: the same rules and the same call, and ours may only be stricter. Rules come
by the command line here, where ``allowed_tools`` and ``disallowed_tools`` put them.
"""

from __future__ import annotations

from typing import Any

import pytest

from e2e.kit import Stage
from quarterdeck import PermissionResultDeny, create_sdk_mcp_server, tool
from quarterdeck.policy import Policy
from quarterdeck.testing.model import ToolUse

pytestmark = [pytest.mark.real, pytest.mark.filterwarnings("ignore::UserWarning")]

ADD = ("mcp__calc__add", {"a": 1, "b": 2})
SKILL = ("Skill", {"skill": "greet"})
TASK = (
    "Task",
    {"description": "look", "prompt": "look around", "subagent_type": "Explore", "run_in_background": False},
)
STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}
DIFFERENT = {
    (
        "Skill",
        "Skill(other)",
    ): "allow",  # the CLI runs a skill that grants itself nothing without a rule; ours wants one
}
"""What the CLI says where ours is stricter."""

CASES = [
    (ADD, [], [], "ask"),
    (ADD, ["mcp__calc__add"], [], "allow"),
    (ADD, ["mcp__calc"], [], "allow"),
    (ADD, ["mcp__calc__*"], [], "allow"),
    (ADD, ["mcp__calc__sub"], [], "ask"),
    (ADD, ["mcp__cal"], [], "ask"),
    (ADD, ["mcp__calc"], ["mcp__calc__add"], "deny"),
    (ADD, ["mcp__calc__add"], ["mcp__calc"], "deny"),
    (SKILL, ["Skill(greet)"], [], "allow"),
    (SKILL, ["Skill(other)"], [], "ask"),
    (SKILL, ["Skill"], ["Skill(greet)"], "deny"),
    (TASK, [], ["Task(Explore)"], "deny"),
    (TASK, [], ["Task"], "deny"),
]


@tool
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return f"sum {a + b}"


async def cli_says(stage: Stage, call: tuple[str, dict[str, Any]], allow: list[str], deny: list[str]) -> str:
    asked: list[str] = []

    async def ask(name: str, *_: Any) -> PermissionResultDeny:
        asked.append(name)
        return PermissionResultDeny(message="no")

    skill = stage.cwd / ".claude" / "skills" / "greet" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: greet\ndescription: Greet someone\n---\nSay hello.\n")
    stage.model.reply(ToolUse(*call))
    options: dict[str, Any] = {"mcp_servers": {"calc": create_sdk_mcp_server("calc", tools=[add])}}
    options |= {"allowed_tools": allow, "disallowed_tools": deny, "can_use_tool": ask, "setting_sources": ["project"]}
    async with stage.session(**options) as session:
        result = await session.prompt("go")
    if asked:
        return "ask"
    told = [str(text) for request in stage.model.requests for text in request.tool_results.values()]
    refused = bool(result.permission_denials) or any("denied" in text or "No such tool" in text for text in told)
    return "deny" if refused else "allow"


@pytest.mark.parametrize(("call", "allow", "deny", "ours"), CASES)
async def test_the_cli_says_the_same_or_ours_is_stricter(
    stage: Stage, call: tuple[str, dict[str, Any]], allow: list[str], deny: list[str], ours: str
) -> None:
    policy = Policy.from_rules(allow=allow, deny=deny, cwd=stage.cwd)
    assert policy.decide(*call).behavior == ours
    theirs = await cli_says(stage, call, allow, deny)
    assert theirs == DIFFERENT.get((call[0], *allow, *deny), ours)
    assert STRICTNESS[ours] >= STRICTNESS[theirs]
