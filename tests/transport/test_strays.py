"""Processes outside the group: found by their mark, and only those whose owner is dead, or who is closing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from quarterdeck.transport import marks
from quarterdeck.transport.marks import MARK, Mark, attach, orphaned, this_program
from quarterdeck.transport.strays import MarkedStrays, sweep
from transport.support import process_is_gone, until_blocking

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
    until_blocking(lambda: len(marks.carriers(mark)) == 2 and marks.carriers(other), "all to have their environment")
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
    until_blocking(lambda: marks.carriers(mark) == [pid], "the child to carry the number")
    assert marks.carriers(Mark("nobody", mark.number + 1)) == []
    sweep(MarkedStrays(mark), 5.0)
    until_blocking(lambda: process_is_gone(pid), "the child to end")


def test_a_bounded_fork_storm_is_ended() -> None:
    mark = this_program().mark()
    storm = "import os, time\nfor _ in range(60):\n    if os.fork() == 0: os.setsid(); time.sleep(600)\ntime.sleep(600)"
    env = {"PATH": os.environ["PATH"], MARK: mark.text}
    parent = subprocess.Popen([sys.executable, "-S", "-c", storm], env=env, start_new_session=True)
    until_blocking(lambda: len(marks.carriers(mark)) > 20, "the storm to be in full swing")
    sweep(MarkedStrays(mark), 0.0)
    parent.wait(10)
    until_blocking(lambda: marks.carriers(mark) == [], "all of the storm to be gone")
