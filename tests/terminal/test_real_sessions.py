"""Which session ``--resume`` and ``--continue`` mean, on the real CLI."""

from __future__ import annotations

import json

import pytest

from terminal.kit import ENTER
from terminal.real_place import RealPlace

pytestmark = pytest.mark.real


def start(place: RealPlace, prompt: str, *words: str, agent: str = "") -> str:
    """Run a prompt; the id of its session."""
    done = place.piped("run", "--output", "json", *words, prompt, agent=agent)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["session_id"])


def test_a_prefix_and_a_title_resume_the_session(real: RealPlace) -> None:
    for text in ("Apples.", "Again.", "Once more.", "And elsewhere."):
        real.model.reply(text)
    session = start(real, "about apples")
    assert start(real, "and now?", "--resume", session[:8]) == session
    assert start(real, "and then?", "--resume", "and no") == session  # the CLI names it by its last prompt
    elsewhere = real.cwd / "below"
    elsewhere.mkdir()
    assert start(real, "and here?", "--resume", session[:8], "--cwd", str(elsewhere)) == session
    assert "about apples" in real.model.conversation[-1].text


def test_a_chat_resumes_by_a_prefix_and_by_a_title(real: RealPlace) -> None:
    for text in ("Apples.", "Again.", "Once more."):
        real.model.reply(text)
    session = start(real, "about apples")
    for named, answer in ((session[:8], "Again."), ("and now", "Once more.")):
        term = real.term("chat", "--resume", named, agent="")
        term.until("/help for commands")
        term.press("and now?", ENTER)
        term.until(answer, "✔ done")
        term.press("\x04")
        assert term.exit() == 0
    assert "about apples" in real.model.conversation[-1].text


def test_continue_does_not_go_on_with_a_simulated_session(real: RealPlace) -> None:
    simulated = start(real, "a simulated hello", agent="sim")
    real.model.reply("Mine.")
    real.model.reply("Mine, too.")
    session = start(real, "about apples", "--continue")
    assert session != simulated
    assert "a simulated hello" not in real.model.conversation[0].text
    assert start(real, "another simulated hello", "--continue", agent="sim") == simulated
    assert start(real, "and now?", "--continue") == session


def test_a_prompt_after_resume_is_not_taken_for_an_id(real: RealPlace) -> None:
    real.model.reply("Apples.")
    start(real, "about apples")
    done = real.piped("run", "--resume", "hello again")
    first, second, third = done.stderr.splitlines()
    assert (done.returncode, first) == (2, "quarterdeck run: no session has the title 'hello again'")
    assert second.endswith("'hello again' --resume")
    assert third.endswith("--resume ID 'hello again'")
    assert len(real.model.conversation) == 1  # the model was not asked
