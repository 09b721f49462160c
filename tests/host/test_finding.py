"""Sessions are found by what was said to them, start in worktrees, and have the version they ask for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from host.kit import LIMIT_S, Place
from quarterdeck.host import HostError
from quarterdeck.host.requests import ListSessions, Wait
from quarterdeck.host.standing import SEARCHED_CHARS, searchable


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


def make_repository(folder: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *words], cwd=folder, check=True, timeout=LIMIT_S)


async def test_a_session_is_found_by_what_was_said_to_it(place: Place) -> None:
    place.claude.play(["Hi."])
    async with place.opened() as host:
        session = await place.created(host, "Where is the Lighthouse?")
        await host.wait(Wait(session_id=session.id, for_=["idle"], timeout_s=LIMIT_S))
        assert [one.id for one in (await host.list_sessions(ListSessions(q="lighthouse"))).sessions] == [session.id]
        assert (await host.list_sessions(ListSessions(q="harbour"))).sessions == []


def test_what_is_searched_is_bounded_and_fit_for_a_database() -> None:
    assert searchable("", "a\0b\ud800") == "\nab?"
    assert len(searchable("x" * SEARCHED_CHARS, "newest")) == SEARCHED_CHARS
    assert searchable("x" * SEARCHED_CHARS, "newest").endswith("\nnewest")


async def test_a_session_may_start_in_a_worktree_of_its_own(place: Place) -> None:
    make_repository(place.cwd)
    async with place.opened() as host:
        session = await place.created(host, None, worktree="fix")
        wanted = str(place.cwd.resolve().with_name(f"{place.cwd.name}-fix"))
        assert (session.cwd, session.worktree) == (wanted, wanted)
        with pytest.raises(HostError) as refused:
            await place.created(host, None, worktree="../elsewhere")
        assert refused.value.details["field"] == "worktree"


async def test_a_version_that_is_not_there_is_refused_and_one_that_is_named_is_used(place: Place) -> None:
    agents = {"claude": str(place.claude.path), "claude@9.9.9": str(place.claude.path)}
    async with place.opened(agents=agents) as host:
        with pytest.raises(HostError, match=r"Claude Code 1\.2\.3 is not available") as refused:
            await place.created(host, None, cli_version="1.2.3")
        assert refused.value.code == "cli_missing"
        assert (await place.created(host, None, cli_version="9.9.9")).state == "idle"
