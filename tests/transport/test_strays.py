"""Processes outside the group: found by their mark, and only those whose owner is dead, or who is closing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from quarterdeck.transport import census, marks
from quarterdeck.transport.census import orphaned
from quarterdeck.transport.marks import MARK, Mark, attach, this_program
from quarterdeck.transport.strays import MarkedStrays, sweep
from transport.support import process_is_gone, until_blocking

LIMIT_S = 20.0
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[bytes]] = []

    def run(mark: str, *command: str) -> subprocess.Popen[bytes]:
        words = command or ("sleep", "600")
        process = subprocess.Popen(words, start_new_session=True, env={"PATH": os.environ["PATH"], MARK: mark})
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait(10)


def test_what_a_dead_program_left_is_told_from_what_a_live_one_runs(start: Start) -> None:
    namespace, pid, started = this_program().owner.split(".")
    left = f"{namespace}.{pid}.{int(started) - 1}.left"  # the same number, given to another process since
    alive, elsewhere, foreign = f"{this_program().owner}.alive", f"1.{2**22}.1.elsewhere", "0123456789abcdef"
    for mark in (left, alive, elsewhere, foreign):
        start(mark)
    until_blocking(lambda: any(mark.text == left for mark in orphaned()), "the process to have its environment")
    found = {mark.text for mark in orphaned()}
    assert left in found
    assert found.isdisjoint({alive, elsewhere, foreign})


OWNS = """
import subprocess, sys
from quarterdeck.transport.marks import attach, this_program
mark = this_program().mark()
child = subprocess.Popen(["sh", "-c", "read line; env -i setsid sleep 600 >/dev/null & echo $!"], stdin=-1, stdout=-1)
attach(child.pid, mark)
print(mark.number, child.communicate(b"go\\n")[0].decode(), flush=True)
sys.stdin.read()
"""


def test_a_number_alone_tells_that_its_owner_is_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNS], stdin=-1, stdout=-1, text=True) as owner:
        assert owner.stdout is not None
        number, pid = map(int, owner.stdout.readline().split())
        mark = Mark("-", number)
        until_blocking(lambda: census.carriers(mark) == [pid], "the child to carry the number")
        assert mark not in set(orphaned())
        owner.kill()
        owner.wait(LIMIT_S)
    assert mark in set(orphaned())
    sweep(MarkedStrays(mark), LIMIT_S)
    until_blocking(lambda: process_is_gone(pid), "the child to end")


@pytest.mark.parametrize("number", [0, 1, 1024, 10**6, 2**40])
def test_a_limit_that_is_not_ours_is_no_mark(number: int) -> None:
    assert not marks.names_a_dead_program(number)


def test_a_number_of_another_namespace_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = 2**22 - 1
    monkeypatch.setattr(marks, "start_of", lambda pid: 7 if pid == dead else None)
    number = marks._program.__wrapped__(dead).mark().number
    monkeypatch.setattr(marks, "start_of", lambda _: None)
    assert marks.names_a_dead_program(number)
    monkeypatch.setattr(marks, "namespace", lambda: "4026539999")
    assert not marks.names_a_dead_program(number)


def test_a_program_does_not_end_the_family_that_it_is_part_of(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    namespace = this_program().owner.partition(".")[0]
    own = f"{namespace}.{2**22}.1.own"
    start(own)
    until_blocking(lambda: any(mark.text == own for mark in orphaned()), "the process to have its environment")
    monkeypatch.setenv(MARK, own)
    assert own not in {mark.text for mark in orphaned()}


def test_a_sweep_ends_a_process_that_ignores_sigterm_and_one_that_is_stopped_and_no_other(start: Start) -> None:
    mark, other = this_program().mark(), this_program().mark()
    deaf = start(mark.text, sys.executable, "-S", "-c", "import signal, time; signal.signal(15, 1); time.sleep(600)")
    stopped, bystander = start(mark.text), start(other.text)
    until_blocking(lambda: len(census.carriers(mark)) == 2 and census.carriers(other), "all to have their environment")
    stopped.send_signal(signal.SIGSTOP)
    sweep(MarkedStrays(mark), 0.1)
    assert stopped.wait(10) in (-signal.SIGTERM, -signal.SIGKILL)
    assert deaf.wait(10) < 0
    assert bystander.poll() is None


def test_the_number_is_inherited_and_found_where_the_environment_was_cleared(start: Start) -> None:
    mark = this_program().mark()
    parent = subprocess.Popen(
        ["/bin/sh", "-c", "read line; env -i setsid sleep 600 >/dev/null & echo $!"], stdin=-1, stdout=-1
    )
    attach(parent.pid, mark)
    pid = int(parent.communicate(b"go\n", timeout=20)[0])
    until_blocking(lambda: census.carriers(mark) == [pid], "the child to carry the number")
    assert census.carriers(Mark("nobody", mark.number + 1)) == []
    sweep(MarkedStrays(mark), 5.0)
    until_blocking(lambda: process_is_gone(pid), "the child to end")


def test_a_mark_is_found_behind_a_long_environment(start: Start) -> None:
    mark = this_program().mark()
    long = {f"LONG{number}": "x" * 100_000 for number in range(4)}
    process = subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], **long, MARK: mark.text})
    try:
        until_blocking(lambda: census.carriers(mark) == [process.pid], "the process to have its environment")
    finally:
        process.kill()
        process.wait(10)


def test_those_who_ask_while_somebody_looks_share_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[threading.Event] = []

    class SlowCensus(census.Census):
        def __init__(self) -> None:
            looks.append(threading.Event())
            assert looks[-1].wait(LIMIT_S)
            super().__init__()

    monkeypatch.setattr(census, "Census", SlowCensus)
    first = census.look(this_program().mark())
    until_blocking(lambda: looks, "the first look")
    later = [census.look(this_program().mark()) for _ in range(50)]
    looks[0].set()
    assert first.result(LIMIT_S) == []
    until_blocking(lambda: len(looks) == 2, "the next look")
    assert not any(found.done() for found in later)
    looks[1].set()
    assert [found.result(LIMIT_S) for found in later] == [[]] * 50
    assert len(looks) == 2


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # 3.12 and later: there are threads, which is the point
def test_a_forked_child_looks_for_itself() -> None:
    busy = threading.Event()
    mark = this_program().mark()
    census.look(mark).add_done_callback(lambda _: busy.wait(LIMIT_S))  # the parent's thread is still at it
    pid = os.fork()
    if pid == 0:
        signal.alarm(int(LIMIT_S))
        os._exit(0 if census.carriers(mark) == [] else 1)
    try:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    finally:
        busy.set()


def test_a_bounded_fork_storm_is_ended() -> None:
    mark = this_program().mark()
    storm = "import os, time\nfor _ in range(60):\n    if os.fork() == 0: os.setsid(); time.sleep(600)\ntime.sleep(600)"
    env = {"PATH": os.environ["PATH"], MARK: mark.text}
    parent = subprocess.Popen([sys.executable, "-S", "-c", storm], env=env, start_new_session=True)
    until_blocking(lambda: len(census.carriers(mark)) > 20, "the storm to be in full swing")
    sweep(MarkedStrays(mark), 0.0)
    parent.wait(10)
    until_blocking(lambda: census.carriers(mark) == [], "all of the storm to be gone")
