"""``quarterdeck demo``: a short conversation in the terminal, with the simulator as the CLI.

What a newcomer sees first: text as it streams, a tool that asks for permission, an edit that really happens (in a
scratch folder), and what it cost. Interactive on a terminal, answering itself elsewhere.
"""

from __future__ import annotations

import argparse
import asyncio
import os
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

PROMPTS = (
    "Hello! What can you do here?",
    "Read notes.txt",
    "Create hello.py with print('hello from the quarterdeck')",
)
NOTES = "Remember to water the plants.\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="quarterdeck demo", description=__doc__.splitlines()[0].split(": ", 1)[1])
    parser.add_argument("--yes", action="store_true", help="allow everything without asking")
    arguments = parser.parse_args(argv)
    asyncio.run(_play(ask=sys.stdin.isatty() and sys.stdout.isatty() and not arguments.yes))
    return 0


async def _play(*, ask: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-demo-") as scratch:
        folder = Path(scratch) / "project"
        folder.mkdir()
        (folder / "notes.txt").write_text(NOTES)
        _say("dim", f"No model is needed: a simulated claude works in {folder}\n")
        options = ClaudeAgentOptions(
            cli_path=executable(),
            cwd=folder,
            env={"HOME": scratch, "QUARTERDECK_SIM_PACE": os.environ.get("QUARTERDECK_SIM_PACE", "fast")},
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
    answer = await asyncio.to_thread(input, _painted("yellow", f"  ? May {name} run? [Y/n] "))
    if answer.strip().lower() in ("", "y", "yes"):
        return PermissionResultAllow()
    return PermissionResultDeny(message="The user said no.")


def _first_line(content: Any) -> str:
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content or ())
    return text.strip().split("\n", 1)[0][:100]


def _say(style: str, text: str) -> None:
    print(_painted(style, text), flush=True)


def _painted(style: str, text: str) -> str:
    codes = {"bold": "1", "dim": "2", "red": "31", "yellow": "33", "cyan": "36"}
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\033[{codes[style]}m{text}\033[0m"
