"""The conversation that ``quarterdeck demo`` plays."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from quarterdeck import (
    AssistantMessage,
    ClaudeAgentOptions,
    PermissionResultAllow,
    PermissionResultDeny,
    Session,
    TextAccumulator,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    connect,
)
from quarterdeck.testing.sim import executable

from .roof import Look

PROMPTS = (
    "Hello! What can you do here?",
    "Read notes.txt",
    "Create hello.py with print('hello from the quarterdeck')",
)
NOTES = "Remember to water the plants.\n"


async def play(*, ask: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-demo-") as scratch:
        folder = Path(scratch) / "project"
        folder.mkdir()
        (folder / "notes.txt").write_text(NOTES)
        _say("dim", f"No model is needed: a simulated claude works in {folder}\n")
        options = ClaudeAgentOptions(
            cli_path=executable(),
            cwd=folder,
            env={"HOME": scratch},
            can_use_tool=_asking if ask else _allowing,
            include_partial_messages=True,
        )
        async with connect(options) as session:
            for prompt in PROMPTS:
                await _turn(session, prompt)
        _say("dim", f"The folder now holds: {', '.join(sorted(path.name for path in folder.iterdir()))}")


async def _turn(session: Session, prompt: str) -> None:
    _say("bold", f"› {prompt}")
    words = TextAccumulator(lambda piece: print(piece, end="", flush=True))
    turn = session.prompt(prompt)
    async for message in turn:
        words.add(message)
        if isinstance(message, (AssistantMessage, UserMessage)) and isinstance(message.content, list):
            for block in message.content:
                _show_tool(block)
    cost = session.turn_cost.cost_usd if session.turn_cost else 0.0
    _say("dim", f"\n  {turn.result.duration_ms if turn.result else 0:.0f} ms, {cost:.4f} USD\n")


def _show_tool(block: Any) -> None:
    if isinstance(block, ToolUseBlock):
        _say("cyan", f"\n  ⚙ {block.name} {block.input}")
    elif isinstance(block, ToolResultBlock):
        _say("red" if block.is_error else "dim", f"  ↳ {_first_line(block.content)}")


async def _allowing(name: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow:
    _say("yellow", f"  ? {name} asks for permission … allowed (nobody is at the terminal)")
    return PermissionResultAllow()


async def _asking(name: str, tool_input: dict[str, Any], context: Any) -> PermissionResultAllow | PermissionResultDeny:
    answer = await asyncio.to_thread(input, Look.of(sys.stdout).paint("yellow", f"  ? May {name} run? [Y/n] "))
    if answer.strip().lower() in ("", "y", "yes"):
        return PermissionResultAllow()
    return PermissionResultDeny(message="The user said no.")


def _first_line(content: Any) -> str:
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content or ())
    return text.strip().split("\n", 1)[0][:100]


def _say(style: str, text: str) -> None:
    print(Look.of(sys.stdout).paint(style, text), flush=True)
