"""The parts of ending a family that a whole process would reach only on another platform."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from quarterdeck.transport import Capabilities, detect
from quarterdeck.transport.census import carriers
from quarterdeck.transport.family import GroupFamily, TreeFamily, family_of
from quarterdeck.transport.marks import MARK, Mark
from quarterdeck.transport.process_table import descendants, listed
from quarterdeck.transport.strays import DescendantStrays, MarkedStrays
from transport.support import python, until_blocking

A_TEST = Mark("a-test", 1)
ALL = Capabilities(add_reader=True, epoll=True, pidfd=True, process_groups=True, proc_files=True, posix_shell=True)
NONE = Capabilities(
    add_reader=False, epoll=False, pidfd=False, process_groups=False, proc_files=False, posix_shell=False
)


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[bytes]]:
    """A process with a child of its own."""
    source = "import subprocess, sys; subprocess.Popen(['sleep', '600']); print('.', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        python(source),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, MARK: "a-test"},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        os.killpg(process.pid, signal.SIGKILL)


def test_the_kind_of_family_follows_the_capabilities(parent: subprocess.Popen[bytes]) -> None:
    kinds = [type(family_of(parent, A_TEST, capabilities)) for capabilities in (ALL, NONE)]
    assert kinds == [GroupFamily, TreeFamily]


def test_descent_and_mark_find_the_same_child(parent: subprocess.Popen[bytes]) -> None:
    until_blocking(lambda: len(carriers(A_TEST)) == 2, "the child to have started")
    assert carriers(A_TEST) == [parent.pid, *descendants([parent.pid], listed())]
    assert carriers(Mark("a-tes", 1)) == []


def test_without_groups_taskkill_ends_the_tree_and_its_absence_is_survived(
    parent: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def taskkill(command: list[str], **_: object) -> None:
        commands.append(command)
        raise FileNotFoundError(command[0])

    monkeypatch.setattr(subprocess, "run", taskkill)
    family = TreeFamily(parent)
    assert family.remains()
    family.kill()
    assert parent.wait(10) == -signal.SIGKILL
    assert not family.remains()
    family.kill()
    family.terminate()
    assert commands == [["taskkill", "/F", "/T", "/PID", str(parent.pid)]]


def test_without_ps_nobody_is_declared_dead(parent: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert descendants([parent.pid], listed()) == []
    assert GroupFamily(parent.pid, DescendantStrays(parent.pid), proc_files=False).remains()


def test_a_group_once_gone_is_never_signalled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    signalled: list[int] = []

    def killpg(_: int, number: int) -> None:
        signalled.append(number)
        raise ProcessLookupError

    monkeypatch.setattr(os, "killpg", killpg)
    family = GroupFamily(123456, MarkedStrays(Mark("nobody", 1)), proc_files=True)
    assert not family.remains()
    family.terminate()
    family.kill()
    assert signalled == [0]


def test_a_loop_that_cannot_watch_pipes_is_recognised() -> None:
    class Proactor(asyncio.SelectorEventLoop):
        def add_reader(self, *_: object) -> None:  # type: ignore[override]
            raise NotImplementedError

    for loop, expected in ((Proactor(), False), (asyncio.SelectorEventLoop(), True)):
        assert detect(loop).add_reader is expected
        loop.close()
