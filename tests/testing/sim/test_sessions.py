"""Sessions on disk: resume, continue, fork, clear, rewinding."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.testing.sim import Scenario, Tool
from testing.sim.harness import Sim

UUID = "aaaaaaaa-0000-4000-8000-000000000001"


def play(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def answers(*texts: str) -> Scenario:
    return Scenario(turns=[[text] for text in texts])


def transcripts(sim: Sim) -> dict[str, list[dict[str, Any]]]:
    files = (sim.home / ".claude" / "projects").glob("*/*.jsonl")
    return {path.stem: [json.loads(line) for line in path.read_text().splitlines()] for path in files}


def texts(records: list[dict[str, Any]]) -> list[str]:
    spoken = [record["message"]["content"] for record in records if record["type"] in ("user", "assistant")]
    return [content if isinstance(content, str) else content[0].get("text", "") for content in spoken]


def test_a_transcript_is_a_chain_in_the_cli_s_layout(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, answers("one", "two")) as sim:
            await sim.turn("a")
            result = await sim.turn("b")
        (name, records), *others = transcripts(sim).items()
        links = [record for record in records if "uuid" in record]
        assert (name, others) == (result["session_id"], [])
        assert texts(records) == ["a", "one", "b", "two"]
        assert [link["parentUuid"] for link in links] == [None, *(link["uuid"] for link in links[:-1])]
        folder = next((sim.home / ".claude" / "projects").iterdir())
        assert folder.name == "".join(char if char.isalnum() else "-" for char in str(sim.cwd))
        assert (folder / f"{name}.jsonl").stat().st_mode & 0o777 == 0o600
        shown = [m["uuid"] for m in sim.said if m["type"] == "assistant"]
        assert shown == [link["uuid"] for link in links if link["type"] == "assistant"]

    play(work)


def test_resume_and_continue_keep_the_session_and_fork_copies_it(tmp_path: Path) -> None:
    async def one(flags: list[str], prompt: str, answer: str) -> tuple[str, Sim]:
        async with Sim(tmp_path, answers(answer), *flags) as sim:
            result = await sim.turn(prompt)
        return result["session_id"], sim

    async def work() -> None:
        first, _ = await one([], "a", "one")
        resumed, _ = await one(["--resume", first], "b", "two")
        continued, _ = await one(["--continue"], "c", "three")
        forked, sim = await one([f"--resume={first}", "--fork-session"], "d", "four")
        assert first == resumed == continued != forked
        said = {name: texts(records) for name, records in transcripts(sim).items()}
        three = ["a", "one", "b", "two", "c", "three"]
        assert said == {first: three, forked: [*three, "d", "four"]}

    play(work)


def test_resume_at_a_message_grows_another_branch(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, answers("one", "two")) as sim:
            session = (await sim.turn("a"))["session_id"]
            at = next(m["uuid"] for m in sim.said if m["type"] == "assistant")
            await sim.turn("b")
        async with Sim(tmp_path, answers("other"), "--resume", session, "--resume-session-at", at) as sim:
            await sim.turn("c")
        last = [record for record in transcripts(sim)[session] if "uuid" in record][-2:]
        assert [record["parentUuid"] for record in last] == [at, last[0]["uuid"]]

    play(work)


@pytest.mark.parametrize(
    ("flags", "stderr", "results"),
    [
        (["--resume", UUID], f"No conversation found with session ID: {UUID}\n", 1),
        (["--session-id", UUID], f"Error: Session ID {UUID} is already in use.\n", 0),
    ],
)
def test_a_session_that_cannot_go_on_ends_the_process(
    tmp_path: Path, flags: list[str], stderr: str, results: int
) -> None:
    async def work() -> None:
        if results == 0:
            async with Sim(tmp_path, answers("one"), "--session-id", UUID) as sim:
                await sim.turn("a")
        async with Sim(tmp_path, answers("two"), *flags) as sim:
            code = await sim.exited()
        assert (code, sim.stderr, len(sim.said)) == (1, stderr, results)

    play(work)


def test_nothing_is_kept_without_persistence_and_everything_mirrored_with_the_flag(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, answers("one"), "--no-session-persistence", "--session-mirror") as sim:
            await sim.turn("a")
        mirrored = [entry for m in sim.said if m["type"] == "transcript_mirror" for entry in m["entries"]]
        assert transcripts(sim) == {}
        assert texts([entry for entry in mirrored if "message" in entry]) == ["a", "one"]

    play(work)


def test_clear_starts_another_session_in_the_same_process(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, answers("one", "two")) as sim:
            before = (await sim.turn("a"))["session_id"]
            await sim.turn("/clear")
            after = (await sim.turn("b"))["session_id"]
        assert before != after
        assert {name: texts(records) for name, records in transcripts(sim).items()} == {
            before: ["a", "one"],
            after: ["<command-name>/clear</command-name>\n<command-message>clear</command-message>", "b", "two"],
        }

    play(work)


def test_files_go_back_to_how_they_were_at_a_prompt(tmp_path: Path) -> None:
    edits = [
        Tool("Write", {"file_path": "new.txt", "content": "new\n"}),
        Tool("Edit", {"file_path": "old.txt", "old_string": "b", "new_string": "B"}),
        "Done.",
    ]
    flags = ("--permission-mode", "acceptEdits")

    async def work() -> None:
        env = {"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true"}
        async with Sim(tmp_path, Scenario(turns=[edits]), *flags, env=env) as sim:
            (sim.cwd / "old.txt").write_text("a\nb\n")
            sim.user("edit", uuid=UUID)
            await sim.result()
            changed = (sim.cwd / "old.txt").read_text()
            dry = await sim.control("rewind_files", user_message_id=UUID, dry_run=True)
            real = await sim.control("rewind_files", user_message_id=UUID)
        files = [str(sim.cwd / name) for name in ("new.txt", "old.txt")]
        assert dry["response"] == {"canRewind": True, "filesChanged": files, "insertions": 1, "deletions": 2}
        assert real["response"] == {"canRewind": True, "skippedLinks": 0}
        assert (changed, (sim.cwd / "old.txt").read_text()) == ("a\nB\n", "a\nb\n")
        assert not (sim.cwd / "new.txt").exists()

    play(work)
