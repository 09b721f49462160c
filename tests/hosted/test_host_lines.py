"""What the host says about a session reaches people at a terminal: in ``log``, ``attach`` and ``ps``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from hosted.kit import ServedHost, Shell
from quarterdeck.cli.hosted.host_lines import host_line
from quarterdeck.cli.hosted.showing import until
from quarterdeck.host import Host
from quarterdeck.host.events import BudgetChanged, HangNoticed, ProcessChanged, TranscriptNoticed
from quarterdeck.host.requests import Lifecycle, OfSession, UpdateSession
from quarterdeck.testing.kit import FakeClaude
from terminal.kit import ENTER

CTRL_D = "\x04"


async def in_state(host: Host, session_id: str, state: str) -> None:
    while (await host.get_session(OfSession(session_id=session_id))).state != state:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def clock_of(moment: float) -> str:
    """As it is shown, of a time in full minutes; its day as well, if that is another one."""
    return until("limited", datetime.fromtimestamp(moment).astimezone()).strip()


def test_a_limit_says_until_when_everywhere(served: ServedHost, shell: Shell) -> None:
    resets_at = (time.time() // 60 + 10) * 60
    info = {"status": "rejected", "rateLimitType": "five_hour", "resetsAt": resets_at}
    served.claude.play([{"rate_limit": info}, "Limited."])
    session = served.created("painter")
    served.do(lambda host: in_state(host, session.id, "limited"))
    shown = clock_of(resets_at)
    assert f"  {shown}: The account'" in shell("ps")
    assert f"limited {shown}: The account's rate limit is reached." in shell("log", "painter")
    term = served.term("attach", "painter")
    term.until(f"limited {shown}: The account's rate limit is reached.")
    term.press(CTRL_D)
    term.exit()


def test_a_budget_that_comes_near_and_is_used_up_is_told(served: ServedHost, shell: Shell) -> None:
    served.claude.play(["One."], ["Two."], ["Three."])
    session = served.created("painter")
    spent = served.idle(session).cost_usd
    assert spent > 0
    limit = UpdateSession(session_id=session.id, budget_usd=spent * Decimal("2.3"))
    served.do(lambda host: host.update_session(limit))
    term = served.term("attach", "painter")
    term.until("One.", "\n›")
    term.press("more", ENTER)
    term.until("the session's budget is nearly used up: $")
    term.press("more", ENTER)
    term.until("the session's budget is used up: $", "quarterdeck budget")
    term.press("more", ENTER)
    term.until("The session's budget is used up")
    term.press(CTRL_D)
    term.exit()
    log = shell("log", "painter")
    lines = (
        "the session's budget: $",
        "the session's budget is nearly used up: $",
        "the session's budget is used up: $",
    )
    assert [line for line in lines if line in log] == list(lines)
    assert log.index(lines[0]) < log.index(lines[1]) < log.index(lines[2])


@pytest.fixture
def with_transcripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedHost]:
    """A host whose sessions keep their transcripts where Claude Code would."""
    claude = FakeClaude(tmp_path / "claude")
    claude.play(["One."])
    served = ServedHost(tmp_path, env=claude.env)
    monkeypatch.setenv("QUARTERDECK_HOST", str(served.state))
    yield served.start()
    served.close()


def test_a_conversation_that_was_continued_elsewhere_says_so(
    with_transcripts: ServedHost, capsys: pytest.CaptureFixture[str]
) -> None:
    served = with_transcripts
    session = served.created("painter", lifecycle=Lifecycle(park_s=0.05))
    served.do(lambda host: in_state(host, session.id, "parked"))
    (path,) = served.cwd.parent.rglob(f"{served.session(session.id).transcript_id}.jsonl")
    later = UpdateSession(session_id=session.id, lifecycle=Lifecycle(park_s=3_600.0))
    served.do(lambda host: host.update_session(later))
    term = served.term("attach", "painter")
    term.until("One.", "/help for commands", "\n›")
    last = path.read_text().splitlines()[-1]
    with path.open("a") as file:
        file.write(f"{last}\n{last}\n")
    term.press("more", ENTER)
    term.until("continued elsewhere, e.g. in a terminal: its transcript has 2 lines", "› more")
    term.press(CTRL_D)
    term.exit()
    log = Shell(capsys)("log", "painter")
    assert log.index("the session's process has ended") < log.index("continued elsewhere, e.g. in a terminal")


def test_each_thing_that_a_host_says_has_its_words() -> None:
    budget = Decimal("0.5"), Decimal("0.51")
    assert [
        host_line(BudgetChanged(0.0, "set", Decimal(2), Decimal(0))),
        host_line(BudgetChanged(0.0, "set", None, Decimal(0))),
        host_line(BudgetChanged(0.0, "interrupted", *budget)),
        host_line(BudgetChanged(0.0, "interrupted", *budget, "parent")),
        host_line(BudgetChanged(0.0, "near", *budget, "host")),
        host_line(TranscriptNoticed(0.0, "restored", "t")),
        host_line(TranscriptNoticed(0.0, "continued", "t", 1)),
        host_line(HangNoticed(0.0, 1, 120.4, "interrupt")),
        host_line(HangNoticed(0.0, 1, 140.0, "end")),
        host_line(ProcessChanged(0.0, 1, "lost", stderr="one\ntwo\n")),
        host_line(ProcessChanged(0.0, 1, "running", pid=7)),
    ] == [
        ("dim", "the session's budget: $2.00"),
        ("dim", "the session's budget was removed"),
        ("yellow", "stopped, because the session's budget is used up: about $0.5100 of $0.5000"),
        ("yellow", "stopped, because the budget of the session that started it is used up: about $0.5100 of $0.5000"),
        ("yellow", "the host's budget is nearly used up: $0.5100 of $0.5000"),
        ("yellow", "its transcript was gone; it continues with the host's copy"),
        ("yellow", "continued elsewhere, e.g. in a terminal: its transcript has 1 line that is not shown here"),
        ("yellow", "silent for 120 s: interrupted"),
        ("yellow", "silent for 140 s: its process is ended"),
        ("dim", "the session's process has ended: two"),
        None,
    ]


def test_the_end_of_a_state_has_its_day_if_that_is_another_one() -> None:
    noon = datetime.now().astimezone().replace(hour=12, minute=0, second=0, microsecond=0)
    assert until("limited", noon) == " until 12:00"
    assert until("crashed", noon + timedelta(seconds=5)) == ", starts again at 12:00:05"
    assert until("limited", noon + timedelta(days=2)) == f" until {noon + timedelta(days=2):%Y-%m-%d} 12:00"
    assert until("idle", None) == ""
