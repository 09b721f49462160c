"""``--resume`` and ``--continue``: which session is meant, and whose."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from terminal.kit import ENTER, Place, bash

ECHO = {"when": "(?P<all>.+)", "steps": ["You said {all}."]}
ID = re.compile(r"[0-9a-f-]{36}")


@pytest.fixture
def talks(place: Place) -> Place:
    place.plays(rules=[ECHO])
    return place


def start(place: Place, prompt: str, **more: str) -> str:
    """Run a prompt in a new session; its id."""
    done = place.piped("run", "--output", "json", prompt, **more)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["session_id"])


def stored(place: Place) -> dict[str, str]:
    return {path.stem: path.read_text() for path in (place.home / ".claude-simulator" / "projects").rglob("*.jsonl")}


@pytest.mark.parametrize("length", [8, 13, 36])
def test_a_prefix_of_the_id_resumes_the_session(talks: Place, length: int) -> None:
    session = start(talks, "about apples")
    done = talks.piped("run", "--output", "json", "--resume", session[:length].upper(), "and now?")
    assert (done.returncode, json.loads(done.stdout)["session_id"]) == (0, session)
    assert "and now?" in stored(talks)[session]


@pytest.mark.parametrize("named", ["prefix", "title"])
def test_a_chat_resumes_by_a_prefix_and_by_a_title(talks: Place, named: str) -> None:
    session = start(talks, "about apples")
    term = talks.term("chat", "--resume", session[:8] if named == "prefix" else "about app")
    term.until("/help for commands")
    term.press("and now?", ENTER)
    term.until("You said and now?.", "✔ done")
    term.press("\x04")
    assert term.exit() == 0
    assert "and now?" in stored(talks)[session]


def test_a_title_resumes_the_session(talks: Place) -> None:
    session = start(talks, "about apples")
    start(talks, "about pears")
    assert talks.piped("run", "--resume", "About App", "and now?").returncode == 0
    assert "and now?" in stored(talks)[session]


def test_an_ambiguous_title_lists_the_candidates(talks: Place) -> None:
    ids = {start(talks, "about apples"), start(talks, "about pears")}
    done = talks.piped("run", "--resume", "about", "and now?")
    assert done.returncode == 2
    assert set(ID.findall(done.stderr)) == ids
    assert done.stderr.startswith("quarterdeck run: several titles start with 'about':\n")
    assert done.stderr.endswith("Use an ID instead.\n")


def test_a_session_of_another_folder_is_resumed_from_here(talks: Place) -> None:
    other = talks.cwd / "below"
    other.mkdir()
    done = talks.piped("run", "--cwd", str(other), "--output", "json", "about apples")
    session = json.loads(done.stdout)["session_id"]
    assert talks.piped("run", "--resume", session[:8], "and now?").returncode == 0
    assert list(stored(talks)) == [session]
    assert "and now?" in stored(talks)[session]


def test_a_prompt_after_resume_is_not_taken_for_an_id(talks: Place) -> None:
    start(talks, "about apples")
    done = talks.piped("run", "--resume", "hello again")
    assert (done.returncode, done.stderr.splitlines()) == (
        2,
        [
            "quarterdeck run: no session has the title 'hello again'",
            "  If this is the prompt, put it first: quarterdeck run --agent sim 'hello again' --resume",
            "  To resume a specific session: quarterdeck run --agent sim --resume ID 'hello again'",
        ],
    )


def test_without_a_prompt_the_hint_names_the_session(talks: Place) -> None:
    session = start(talks, "about apples")
    term = talks.term("run", "--resume", session[:8], columns=120)
    assert term.exit() == 2
    assert "no prompt: the only argument was taken as the session for --resume" in term.text
    assert f'Add the prompt: quarterdeck run --agent sim --resume {session} "…"' in term.text


def test_a_failure_names_the_session_to_resume(talks: Place) -> None:
    talks.plays("Working.", bash("ls"), {"exit": 3})
    done = talks.piped("run", "--allow", "Bash(ls)", "go")
    (session,) = stored(talks)
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1] == (
        f"  Resume the session with: quarterdeck run --agent sim --resume {session}"
    )


def sessions(place: Place, *words: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "quarterdeck", "sessions", *words]
    done = subprocess.run(
        command, cwd=place.cwd, env=place.env, capture_output=True, text=True, timeout=40, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_simulated_sessions_are_kept_apart(talks: Place) -> None:
    session = start(talks, "about apples")
    assert sessions(talks, "--all", "--quiet") == (0, "", "")
    assert sessions(talks, "--agent", "sim", "--quiet") == (0, f"{session}\n", "")
    assert sessions(talks, "show", "--agent", "sim", session[:8])[0] == 0
    assert sessions(talks, "show", session[:8]) == (
        1,
        "",
        f"quarterdeck sessions: no such session: {session[:8]!r}\n"
        "  It is a session of the simulator. Add --agent sim.\n",
    )
    assert not list(talks.home.glob(".claude/projects/*"))


def test_the_forks_of_simulated_sessions_are_simulated(talks: Place) -> None:
    session = start(talks, "about apples")
    code, told, _ = sessions(talks, "fork", "--agent", "sim", session[:8])
    copy = ID.search(told)
    assert (code, copy is not None) == (0, True)
    assert told.splitlines()[-1] == f"  Resume it with: quarterdeck run --agent sim --resume {copy[0] if copy else ''}"
    assert set(stored(talks)) == {session, copy[0] if copy else ""}


def test_a_config_folder_of_your_own_has_one_for_the_simulator_beside_it(talks: Place, tmp_path: Path) -> None:
    talks.env["CLAUDE_CONFIG_DIR"] = str(tmp_path / "config")
    session = start(talks, "about apples")
    assert [path.stem for path in (tmp_path / "config-simulator").rglob("*.jsonl")] == [session]
    assert not (tmp_path / "config").exists()
    assert sessions(talks, "--agent", "sim", "--quiet") == (0, f"{session}\n", "")
    assert talks.piped("run", "--resume", session[:8], "and now?").returncode == 0
