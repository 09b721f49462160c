"""``quarterdeck acp --check`` says what an editor will find, and what is missing."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateways.acp.editor import OURS
from gateways.acp.test_hosted import Deck, short_folder
from quarterdeck.gateways.acp.account import auth_of
from quarterdeck.timeline.parts import Account
from simulated import Simulated

LIMIT_S = 60.0


@pytest.fixture
def deck(fake: Simulated) -> Iterator[Deck]:
    with short_folder() as folder:
        yield Deck(folder, str(fake.path), lambda: fake.env, fake.cwd)


async def checked(
    fake: Simulated, *arguments: str, state: Path | None = None, agent: str = "", **more: str
) -> tuple[int, str, str]:
    own = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(state or fake.root), "ANTHROPIC_API_KEY": "made-up"}
    env: dict[str, Any] = {**fake.env, **own, **more}
    command = (*OURS, "--check", "--agent", agent or str(fake.path), *arguments)
    pipes: dict[str, Any] = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
    process = await asyncio.create_subprocess_exec(*command, env=env, cwd=fake.cwd, **pipes)
    async with asyncio.timeout(LIMIT_S):
        printed, complained = await process.communicate()
    return process.returncode or 0, printed.decode(), complained.decode()


async def test_a_check_that_passes_says_what_an_editor_will_find(fake: Simulated) -> None:
    code, printed, _ = await checked(fake)
    assert code == 0
    assert re.search(r"Claude Code answers: [1-9]\d* commands, models default, opus,", printed)
    assert "Account: ANTHROPIC_API_KEY\n" in printed
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


async def test_without_a_login_it_is_not_ready_and_the_simulator_needs_none(fake: Simulated) -> None:
    code, printed, complained = await checked(fake, ANTHROPIC_API_KEY="")
    assert (code, "Ready" in printed) == (1, False)
    assert "Account: none\n" in printed
    assert "quarterdeck acp --login" in complained
    code, printed, _ = await checked(fake, agent="sim", ANTHROPIC_API_KEY="")
    assert (code, "Ready" in printed) == (0, True)


async def test_a_missing_extra_is_named(fake: Simulated, deck: Deck) -> None:
    """A module that cannot be imported stands before the real one."""
    folder = fake.root / "missing"
    source = "import sys, importlib.abc\nclass Gone(importlib.abc.MetaPathFinder):\n"
    source += "    def find_spec(self, name, path, target=None):\n"
    source += "        if name.split('.')[0] == 'websockets': raise ModuleNotFoundError(name, name=name)\n"
    source += "sys.meta_path.insert(0, Gone())\n"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(source)
    without = {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    code, printed, _ = await checked(fake, **without)
    assert (code, "pip install 'quarterdeck[remote]'" in printed) == (0, True)
    async with asyncio.timeout(LIMIT_S), deck.running():
        code, printed, _ = await checked(fake, state=deck.folder, **without)
        assert (code, "Sessions run in the agent." in printed) == (0, True)
        assert "pip install 'quarterdeck[remote]'" in printed
        code, _, complained = await checked(fake, "--host", str(deck.state), **without)
        assert (code, "pip install 'quarterdeck[remote]'" in complained) == (1, True)


@pytest.mark.parametrize(
    ("account", "label"),
    [
        (Account(email="a@b.example", provider="firstParty"), "a@b.example"),
        (Account(api_key_source="CLAUDE_CODE_OAUTH_TOKEN", provider="firstParty"), "CLAUDE_CODE_OAUTH_TOKEN"),
        (Account(provider="bedrock"), "bedrock"),
        (Account(api_key_source="none", provider="firstParty"), None),
        (Account(provider="firstParty"), None),
    ],
)
def test_a_login_is_an_account_a_key_or_another_provider(account: Account, label: str | None) -> None:
    told = auth_of(account)
    assert [one.label for one in told.accounts or ()] == ([] if label is None else [label])
    assert told.state == ("unauthenticated" if label is None else "authenticated")
