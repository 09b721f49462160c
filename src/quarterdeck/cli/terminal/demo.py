"""The demonstration: a scratch folder, an agent that can be had, and somebody who answers where nobody is."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from quarterdeck.cli.common import Look
from quarterdeck.client.interaction import Approve, Reject, Revise
from quarterdeck.timeline.items import Elicitation, Permission, PlanReview, Questions
from quarterdeck.wire.permissions import PermissionResult, PermissionResultAllow, PermissionResultDeny

from .advice import Rulebook, advise
from .arguments import run_parser
from .job import options_of, rulebook_of
from .permission import permission_lines
from .run import play_pretty
from .screen import Screen

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
"""The simulator has no model: it takes one thing at a time."""
HARMLESS = frozenset({"Read", "Edit", "Write", "Glob", "Grep"})


def demo(agent: str | None, *, yes: bool) -> int:
    chosen, why = (agent, "") if agent else _best_agent(dict(os.environ))
    with tempfile.TemporaryDirectory(prefix="quarterdeck-demo-") as scratch:
        folder = Path(scratch).resolve() / "project"
        folder.mkdir()
        notes = folder / "notes.txt"
        notes.write_text(NOTES)
        _say("dim", f"{why}\n" if why else "")
        given = run_parser().parse_args(["--agent", chosen, "--cwd", str(folder)])
        code = asyncio.run(_play(given, chosen, folder, ask=sys.stdin.isatty() and sys.stdout.isatty() and not yes))
        _say("dim", f"\nnotes.txt, now: {' '.join(notes.read_text().split())}")
    return code


async def _play(given: argparse.Namespace, agent: str, folder: Path, *, ask: bool) -> int:
    options = options_of(given, partial=True)
    prompts: tuple[str, ...] = (ONE_PROMPT,)
    if agent == "sim":
        options.env = {"HOME": str(folder.parent)}  # it keeps its sessions there, and here nobody wants them later
        prompts = SIMULATED_PROMPTS
    answerer = None if ask else _Itself
    return await play_pretty(options, list(prompts), rulebook_of(given), attended=ask, answerer=answerer)


class _Itself:
    """Allows what touches only the scratch folder, and shows what a person would have been asked."""

    def __init__(self, screen: Screen, rulebook: Rulebook) -> None:
        self._screen = screen
        self._rulebook = rulebook

    async def permission(self, asked: Permission, *, note: str = "") -> PermissionResult:
        advice = advise(self._rulebook.policy, asked.tool_name, asked.input, asked.suggestions)
        look, folder = self._screen.look, self._screen.folder
        lines = permission_lines(asked, advice, look, note=note, folder=folder)
        self._screen.print(lines, tool_id=asked.tool_id)
        if asked.tool_name not in HARMLESS:
            self._screen.say("yellow", "denied: the demonstration allows edits only")
            return PermissionResultDeny(message="This is a demonstration: only files of the folder may be changed.")
        self._screen.say("yellow", "nobody was asked: this is a scratch folder")
        return PermissionResultAllow()

    async def questions(self, asked: Questions) -> dict[str, Any] | None:
        return None

    async def plan(self, asked: PlanReview) -> Approve | Revise | Reject:
        return Approve()

    async def elicitation(self, asked: Elicitation) -> dict[str, Any]:
        return {"action": "decline"}


def _best_agent(env: dict[str, str]) -> tuple[str, str]:
    """The person's own claude where it can be used, else the simulator; and a line that says which, and why."""
    from quarterdeck.cli.doctor.agent import look_for_cli, version_of
    from quarterdeck.cli.doctor.login import login

    _, words = look_for_cli(None, env)
    if words is None:
        return "sim", "Claude Code is not installed, so the simulator plays: no model, the protocol is real."
    _, version = version_of(words, env)
    if not any(one.id == "login" and one.level == "ok" for one in login(words, version, env)):
        return "sim", "Nobody is signed in to Claude Code, so the simulator plays: no model, the protocol is real."
    return "claude", f"With Claude Code {version or ''}: this asks a real model and costs about a cent."


def _say(style: str, text: str) -> None:
    if text:
        print(Look.of(sys.stdout).paint(style, text), flush=True)
