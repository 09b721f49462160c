"""The demo: a scratch folder, the best available agent, and an answerer for runs without a user."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from quarterdeck.cli.common import Look
from quarterdeck.cli.run import parser
from quarterdeck.client.interaction import Approve, Reject, Revise
from quarterdeck.timeline.items import Elicitation, Permission, PlanReview, Questions
from quarterdeck.wire.permissions import PermissionResult, PermissionResultAllow, PermissionResultDeny

from .advice import SessionRules, advise
from .permission import permission_subject
from .run import run_pretty
from .screen import Screen
from .session_setup import options_of, session_rules

NOTES = "# Notes\n\nRemember to water the plants.\nThe cat has eaten.\n"
ONE_PROMPT = (
    "Hello! This is a scratch folder. Read notes.txt, tell me in two sentences what is in it, and then change the word "
    "plants to flowers in it."
)
SIMULATED_PROMPTS = (
    "Hello! What can you do here?",
    "Read notes.txt",
    "Change plants to flowers in notes.txt",
)
"""The simulator has no model and needs one task per prompt."""
ALLOWED_TOOLS = frozenset({"Read", "Edit", "Write", "Glob", "Grep"})


def demo(agent: str | None, *, yes: bool) -> int:
    if not agent:
        _say("dim", "Looking for Claude Code …")
    chosen, why = (agent, "") if agent else _best_agent(dict(os.environ))
    with tempfile.TemporaryDirectory(prefix="quarterdeck-demo-") as scratch:
        folder = Path(scratch).resolve() / "project"
        folder.mkdir()
        notes = folder / "notes.txt"
        notes.write_text(NOTES)
        _say("dim", f"{why}\n" if why else "")
        given = parser().parse_args(["--agent", chosen, "--cwd", str(folder)])
        code = asyncio.run(_play(given, chosen, folder, ask=sys.stdin.isatty() and sys.stdout.isatty() and not yes))
        _say("dim", f"\nnotes.txt is now: {' '.join(notes.read_text().split())}")
    return code


async def _play(given: argparse.Namespace, agent: str, folder: Path, *, ask: bool) -> int:
    options = options_of(given, partial=True)
    prompts: tuple[str, ...] = (ONE_PROMPT,)
    if agent == "sim":
        options.env |= {"HOME": str(folder.parent)}  # where the simulator stores its sessions
        prompts = SIMULATED_PROMPTS
    answerer = None if ask else _DemoAnswerer
    return await run_pretty(options, list(prompts), session_rules(given), given, attended=ask, answerer=answerer)


class _DemoAnswerer:
    """Shows each permission prompt and allows edits in the scratch folder."""

    def __init__(self, screen: Screen, rules: SessionRules) -> None:
        self._screen = screen
        self._rules = rules

    async def permission(self, asked: Permission, *, note: str = "") -> PermissionResult:
        advice = advise(self._rules.policy, asked.tool_name, asked.input, asked.suggestions)
        look, folder = self._screen.look, self._screen.folder
        lines = permission_subject(asked, advice, note=note, folder=folder).record(look)
        self._screen.print(lines, tool_id=asked.tool_id)
        if asked.tool_name not in ALLOWED_TOOLS:
            self._screen.say("yellow", "denied: the demo allows only edits")
            return PermissionResultDeny(message="This is a demo: only edits are allowed.")
        self._screen.say("yellow", "allowed without asking: this is a scratch folder")
        return PermissionResultAllow()

    async def questions(self, asked: Questions) -> dict[str, Any] | None:
        return None

    async def plan(self, asked: PlanReview) -> Approve | Revise | Reject:
        return Approve()

    async def elicitation(self, asked: Elicitation) -> dict[str, Any]:
        return {"action": "decline"}


def _best_agent(env: dict[str, str]) -> tuple[str, str]:
    """The user's claude if it is usable, otherwise the simulator; and a line that says which and why."""
    from quarterdeck.cli.doctor.agent import look_for_cli, version_of
    from quarterdeck.cli.doctor.login import login

    _, words = look_for_cli(None, env)
    if words is None:
        return "sim", "Claude Code is not installed. Using the built-in simulator (no model, no cost)."
    _, version = version_of(words, env)
    if not any(one.id == "login" and one.level == "ok" for one in login(words, version, env)):
        return "sim", "Claude Code is not logged in. Using the built-in simulator (no model, no cost)."
    return "claude", f"Using Claude Code {version or ''}. This calls a real model and costs about one cent."


def _say(style: str, text: str) -> None:
    if text:
        print(Look.of(sys.stdout).paint(style, text), flush=True)
