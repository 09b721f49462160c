"""``quarterdeck acp --check`` says what an editor will find, and what is missing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateways.acp.editor import OURS
from gateways.acp.test_hosted import Deck, short_folder
from simulated import Simulated

LIMIT_S = 60.0


@pytest.fixture
def deck(fake: Simulated) -> Iterator[Deck]:
    with short_folder() as folder:
        yield Deck(folder, str(fake.path), lambda: fake.env, fake.cwd)


async def checked(fake: Simulated, *arguments: str, state: Path | None = None, agent: str = "") -> tuple[int, str, str]:
    env: dict[str, Any] = {"PATH": os.environ["PATH"], **fake.env, "XDG_STATE_HOME": str(state or fake.root)}
    command = (*OURS, "--check", "--agent", agent or str(fake.path), *arguments)
    pipes: dict[str, Any] = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
    process = await asyncio.create_subprocess_exec(*command, env=env, cwd=fake.cwd, **pipes)
    async with asyncio.timeout(LIMIT_S):
        printed, complained = await process.communicate()
    return process.returncode or 0, printed.decode(), complained.decode()


async def test_a_check_that_passes_says_what_an_editor_will_find(fake: Simulated) -> None:
    code, printed, _ = await checked(fake)
    assert code == 0
    assert "Claude Code answers:" in printed
    assert "Account:" in printed
    assert "Sessions run in the agent" in printed
    assert printed.endswith("Ready. In the editor, set the agent's command to: quarterdeck acp\n")
    assert fake.left_running() == []


async def test_a_host_that_runs_is_named(fake: Simulated, deck: Deck) -> None:
    async with asyncio.timeout(LIMIT_S), deck.running():
        code, printed, _ = await checked(fake, state=deck.folder)
    assert (code, "Sessions live in the host and outlive the editor." in printed) == (0, True)


async def test_a_host_that_was_named_and_does_not_answer_is_a_failure(fake: Simulated) -> None:
    code, printed, complained = await checked(fake, "--host", "http://127.0.0.1:9")
    assert code == 1
    assert "The host does not answer" in complained
    assert "Ready" not in printed


async def test_an_agent_that_does_not_start_or_is_not_there_is_a_failure_that_says_why(fake: Simulated) -> None:
    broken = fake.root / "broken"
    broken.write_text("#!/bin/sh\necho 'no licence' >&2\nexit 3\n")
    broken.chmod(0o755)
    code, printed, complained = await checked(fake, agent=str(broken))
    assert (code, "Ready" in printed) == (1, False)
    assert "no licence" in complained
    code, _, complained = await checked(fake, agent=str(fake.root / "nowhere"))
    assert code not in (0, 1)
    assert "nowhere" in complained
