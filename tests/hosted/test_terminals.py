"""``ps``, ``attach``, ``approvals --watch``, ``run`` and ``chat`` on a host, in terminals."""

from __future__ import annotations

from hosted.conftest import TOUCH
from hosted.kit import ServedHost
from quarterdeck.host import Host
from quarterdeck.host.requests import OfApproval, OfSession
from quarterdeck.host.resources import Approval
from terminal.kit import CTRL_C, ENTER, ESCAPE

CTRL_D = "\x04"
ASKED = "Allow this command?"


def test_ps_follows_the_sessions_until_q(served: ServedHost) -> None:
    term = served.term("ps")
    term.until("No sessions.")
    approval = served.asking("painter")
    term.until("painter", "waiting", "1 waiting for you")
    served.decide(approval)
    served.idle(served.session(approval.session_id))
    term.until("idle", "1 session ·")
    term.press("q")
    assert term.exit() == 0
    assert "painter" in term.text


def test_ps_fits_a_narrow_terminal_and_follows_its_size(served: ServedHost) -> None:
    served.idle(served.created("a-rather-long-name-for-a-session", prompt=None))
    term = served.term("ps", columns=30)
    term.until("ID", "STATE", "idle")
    assert all(len(line) <= 30 for line in term.lines)
    assert "FOLDER" not in term.text
    term.resize(120, 20)
    term.until("FOLDER")
    term.press("q")
    assert term.exit() == 0


def test_attach_shows_what_was_asks_what_waits_and_leaves_the_session_running(served: ServedHost) -> None:
    approval = served.asking("painter", prompt="make it")
    term = served.term("attach", "pain")
    term.until("› make it", ASKED, "touch made.txt", "Always in this session")
    term.press("y")
    term.until("It is done.", "✔ done")
    term.press("once more")
    term.until("› once more")
    term.press(ENTER)
    term.until(ASKED, "Deny with a note (n)")
    term.press("n")
    term.until("Tell Claude why")
    term.press("not today", ENTER)
    term.until("not today")
    served.idle(served.session(approval.session_id))
    term.until("\n›")
    term.press(CTRL_D)
    assert term.exit() == 0
    assert "quarterdeck attach painter" in term.text
    assert served.session(approval.session_id).state == "idle"


def test_two_terminals_show_the_same_and_one_answer_counts_for_both(unserved: ServedHost) -> None:
    unserved.claude.play([TOUCH, "It is done."], [TOUCH, "Once more."])
    approval = unserved.start().asking("painter", prompt="make it")
    one, two = unserved.term("attach", "painter"), unserved.term("attach", approval.session_id[:10], columns=60)
    for term in (one, two):
        term.until(ASKED, "Deny and stop")
    two.press("y")
    one.until("decided by local", "It is done.", "✔ done")
    two.until("It is done.", "✔ done", "\n›")
    one.press("and now")
    one.until("› and now")
    one.press(ENTER)
    for term in (one, two):
        term.until("› and now", "Deny and stop")
    one.press("y")
    two.until("decided by local", "Once more.")
    one.until("Once more.")
    for term in (one, two):
        term.press(CTRL_D)
        assert term.exit() == 0


def test_esc_in_an_attached_terminal_stops_the_turn(unserved: ServedHost) -> None:
    unserved.claude.play(["Working.", {"wait_for": "never.txt"}, "Over."])
    session = unserved.start().created("painter")
    term = unserved.term("attach", "painter")
    term.until("Working.", "Esc to stop")
    term.press(ESCAPE)
    term.until("interrupted")
    unserved.idle(session)
    term.press(CTRL_D)
    assert term.exit() == 0


def test_approvals_are_answered_by_keys_one_after_the_other(served: ServedHost) -> None:
    first, second = served.asking("one"), served.asking("two")
    term = served.term("approvals", "--watch")
    term.until("one · ", "1 more", ASKED, "Always allow this")
    term.press("j")
    term.until("two · ")
    term.press("y")
    term.until("allowed  two", "one · ")
    term.press("m")
    term.until("Tell Claude why")
    term.press("use mkdir", ENTER)
    term.until("denied  one", "no pending requests · 2 decided")
    decided = [served.do(lambda host, one=one: _approval(host, one.id)) for one in (first, second)]
    assert [one.decision for one in decided] == [
        {"decision": "deny", "message": "use mkdir"},
        {"decision": "allow"},
    ]
    term.press(ESCAPE)
    assert term.exit() == 0


def test_q_leaves_while_nothing_is_pending_but_not_at_the_end_of_a_word(served: ServedHost) -> None:
    term = served.term("approvals", "--watch")
    term.until("no pending requests · q to exit")
    term.press("seq")
    approval = served.asking("one")
    term.until("one · ", ASKED)
    term.until("Quit (q)")
    served.decide(approval)
    term.until("no pending requests")
    term.press("q")
    assert term.exit() == 0


def test_what_somebody_else_decides_goes_away_and_what_comes_is_shown(served: ServedHost) -> None:
    term = served.term("approvals", "--watch")
    term.until("no pending requests")
    approval = served.asking("one")
    term.until("one · ", ASKED)
    served.decide(approval, "deny")
    term.until("deny by program", "no pending requests")
    denied = served.asking("two")
    term.until("two · ", ASKED)
    term.press("n")
    term.until("denied  two", "no pending requests · 1 decided")
    assert served.do(lambda host: _approval(host, denied.id)).decision == {"decision": "deny"}
    served.asking("three")
    term.until("three · ", ASKED)
    term.press("q")
    assert term.exit() == 0


def test_always_this_is_remembered_and_an_edited_command_is_what_runs(served: ServedHost) -> None:
    session = served.session(served.asking("one").session_id)
    term = served.term("approvals", "--watch")
    term.until(ASKED, "Always allow this")
    term.press("e")
    term.until("Run this instead:")
    term.press("\x15touch other.txt", ENTER)
    term.until("allowed  one")
    assert served.idle(session).state == "idle"
    assert (served.cwd / "other.txt").exists()
    assert not (served.cwd / "made.txt").exists()
    served.asking("two")
    term.until("two · ", ASKED)
    term.press("a")
    term.until("In this folder (p)")
    term.press("p")
    term.until("allowed  two")
    assert served.idle(served.created("three")).state == "idle"
    term.press(CTRL_C)
    assert term.exit() == 0


def test_run_on_a_host_asks_here_and_says_how_to_go_on(served: ServedHost) -> None:
    term = served.term("run", "make it", "--host")
    term.until(ASKED, "Deny and stop")
    term.press("y")
    term.until("It is done.", "✔ done", "Continue with: quarterdeck attach")
    assert term.exit() == 0


def test_chat_on_a_host_starts_a_session_there(served: ServedHost) -> None:
    term = served.term("chat", "make it", "--host", str(served.state))
    term.until("› make it", ASKED)
    term.press("y")
    term.until("It is done.", "✔ done", "\n›")
    term.press("!ls")
    term.until("› !ls")
    term.press(ENTER)
    term.until("does not work in a session on a host")
    term.press(CTRL_D)
    assert term.exit() == 0


def test_chat_and_run_on_a_host_continue_a_session(served: ServedHost) -> None:
    term = served.term("run", "make it", "--host", "--allow", "Bash")
    assert term.exit() == 0
    chat = served.term("chat", "--host", "--continue")
    chat.until("› make it", "It is done.", "✔ done")
    chat.press(CTRL_D)
    assert chat.exit() == 0
    again = served.term("run", "again", "--host", "--continue", "--allow", "Bash")
    again.until("› again", "✔ done", "Continue with: quarterdeck attach")
    assert again.exit() == 0
    assert "› make it" not in again.text


def test_the_demo_shows_a_host_until_esc(served: ServedHost) -> None:
    term = served.term("demo", "--serve", columns=100)
    term.until("http://127.0.0.1:", "gardener · waiting", "Allow this edit to notes.txt?", "Skip, show the next")
    term.press("y")
    term.until("allowed  gardener", "no pending requests · 1 decided")
    term.press(ESCAPE)
    assert term.exit() == 0
    assert "notes.txt is now: " in term.text


def test_questions_and_plans_are_answered_by_keys_too(unserved: ServedHost) -> None:
    choices = [{"label": one, "description": one} for one in ("tea", "milk")]
    asked = {"questions": [{"question": "Which drink?", "header": "Drink", "options": choices, "multiSelect": False}]}
    unserved.claude.play([{"tool": "AskUserQuestion", "input": asked}, "Fine."])
    approval = unserved.start().asking("barkeeper")
    term = unserved.term("approvals", "--watch", columns=60)
    term.until("barkeeper · waiting", "? Which drink?", "Answer (y)")
    term.press("y")
    term.until("Drink: Which drink?", "2 milk")
    term.press("2")
    term.until("answered  barkeeper")
    decided = unserved.do(lambda host: _approval(host, approval.id))
    assert decided.decision == {"decision": "allow", "answers": {"Which drink?": "milk"}}
    term.press(ESCAPE)
    assert term.exit() == 0


def test_a_log_is_followed_until_ctrl_c(served: ServedHost) -> None:
    approval = served.asking("painter", prompt="make it")
    drawn, frames = (
        served.term("log", "painter", "--follow"),
        served.term("log", "painter", "-f", "--json", columns=200),
    )
    drawn.until("› make it")
    frames.until('"prompt_sent"')
    assert "It is" not in drawn.text
    served.decide(approval)
    drawn.until("touch made.txt", "done", "✔ done")
    frames.until('"turn_ended"')
    for term in (drawn, frames):
        term.press(CTRL_C)
        assert term.exit() == 130


def test_a_session_that_is_deleted_ends_what_is_attached_to_it(served: ServedHost) -> None:
    session = served.idle(served.created("painter", prompt=None))
    term = served.term("attach", "painter")
    term.until("/help for commands")
    served.do(lambda host: host.delete_session(OfSession(session_id=session.id)))
    term.until("the session was deleted")
    assert term.exit() == 0


async def _approval(host: Host, approval_id: str) -> Approval:
    return await host.get_approval(OfApproval(approval_id=approval_id))
