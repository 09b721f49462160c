"""The assistant that is there without a scenario."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.testing.sim import Scenario
from testing.sim.harness import Sim


def play(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def assistant() -> Scenario:
    return Scenario(otherwise="assistant", time_scale=0)


@pytest.mark.parametrize(
    ("prompt", "asked", "said"),
    [
        ("hello", [], "Hello! I am the simulator's assistant"),
        ("what about the weather?", [], "You said: “what about the weather?”."),
        ("think about it", [], "I thought about it"),
        ("read a.txt please", [], "`a.txt` has 3 lines. It begins:\n\n> one\n> two"),
        ("list the files", [], "The output:\n\n```\na.txt\n```"),
        ("run cat a.txt", [], "The output:\n\n```\none\ntwo\n```"),
        ("run rm -rf /", ["Bash"], "That did not work: Exit code 127"),
        ("create b.txt with good day", ["Write"], "I created `b.txt`."),
        ("change 'one' to 'three' in a.txt", ["Edit"], "In `a.txt`, “one” is now “three”."),
        ("read nothing.txt", [], "That did not work: File does not exist"),
        ("ask me a question", ["AskUserQuestion"], "Thank you! The user did not answer the questions."),
        ("make a plan", ["ExitPlanMode"], "The plan is approved"),
        ("keep a todo list", [], "All three are done."),
        ("delegate this to a helper", [], "The helper is back."),
    ],
)
def test_it_does_what_it_is_asked_and_asks_before_it_changes_anything(
    tmp_path: Path, prompt: str, asked: list[str], said: str
) -> None:
    async def work() -> None:
        async with Sim(tmp_path, assistant()) as sim:
            (sim.cwd / "a.txt").write_text("one\ntwo\n")
            result = await sim.turn(prompt)
        requests = [m["request"]["tool_name"] for m in sim.said if m["type"] == "control_request"]
        assert (requests, result["result"][: len(said)]) == (asked, said)

    play(work)


def test_its_edits_are_real(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, assistant()) as sim:
            (sim.cwd / "a.txt").write_text("one\n")
            await sim.turn("replace one with two in a.txt")
            await sim.turn("create sub/b.txt saying hello")
        assert (sim.cwd / "a.txt").read_text() == "two\n"
        assert (sim.cwd / "sub" / "b.txt").read_text() == "hello\n"

    play(work)


def test_in_plan_mode_it_plans(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, assistant(), "--permission-mode", "plan") as sim:
            sim.user("build a ship")
            asked = await sim.asked()
            sim.answer(asked, {"behavior": "deny", "message": "Not now"})
            result = await sim.result()
        assert "1. Look at the files" in asked["request"]["input"]["plan"]
        assert result["result"] == "That did not work: Not now"

    play(work)


def test_the_shell_writes_nothing_outside_the_working_directory(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, assistant()) as sim:
            result = await sim.turn("run echo x > ../outside.txt")
        assert "Permission denied" in result["result"] or "Exit code 1" in result["result"]
        assert not (tmp_path / "outside.txt").exists()

    play(work)
