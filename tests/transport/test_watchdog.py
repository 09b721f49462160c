"""The watchdog ends what is registered when its pipe closes, and only then, and only that."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from inside import remembered, vanish
from quarterdeck.transport.watchdog import Watchdog
from transport.support import group_is_gone, process_is_gone, until_blocking

LIMIT_S = 20


@pytest.fixture
def dog() -> Iterator[Watchdog]:
    dog = Watchdog()
    yield dog
    dog.stop()


@pytest.fixture
def groups() -> Iterator[list[subprocess.Popen[bytes]]]:
    started = [subprocess.Popen(["sleep", "600"], start_new_session=True) for _ in range(3)]
    yield started
    for process in started:
        process.kill()
        process.wait(10)


def test_it_ends_registered_groups_and_no_others(dog: Watchdog, groups: list[subprocess.Popen[bytes]]) -> None:
    for process in groups:
        dog.add(f"g{process.pid}")
    dog.remove(f"g{groups[1].pid}")
    vanish(dog, LIMIT_S)
    assert [groups[0].wait(10), groups[1].poll(), groups[2].wait(10)] == [-signal.SIGTERM, None, -signal.SIGTERM]


def test_it_kills_a_group_that_ignores_sigterm(dog: Watchdog) -> None:
    deaf = subprocess.Popen(
        ["/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert deaf.stdout is not None
    with deaf.stdout:
        assert deaf.stdout.readline() == b"ready\n"
        dog.add(f"g{deaf.pid}")
        vanish(dog, LIMIT_S)
        assert deaf.wait(10) == -signal.SIGKILL
    until_blocking(lambda: group_is_gone(deaf.pid))


def test_it_removes_directories_whatever_their_names(dog: Watchdog, tmp_path: Path) -> None:
    names = ["plain", "two words", "a*b", "$HOME", "quote'\"", "kept"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "secret").write_text("x")
        dog.add(f"d{tmp_path / name}")
    dog.remove(f"d{tmp_path / 'kept'}")
    vanish(dog, LIMIT_S)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_goodbye_ends_nothing(dog: Watchdog, groups: list[subprocess.Popen[bytes]]) -> None:
    dog.add(f"g{groups[0].pid}")
    pid = dog.pid
    dog.stop()
    assert pid is not None
    assert process_is_gone(pid)
    assert groups[0].poll() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_stays_when_a_service_manager_signals_everyone(dog: Watchdog, number: signal.Signals) -> None:
    dog.add("d/nonexistent/a")
    pid = dog.pid
    assert pid is not None
    until_blocking(lambda: _ignores(pid, number), "the shell to set its traps")
    os.kill(pid, number)
    dog.add("d/nonexistent/b")
    assert dog.pid == pid


def _ignores(pid: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    ignored = next(line for line in status.splitlines() if line.startswith("SigIgn")).split()[1]
    return bool(int(ignored, 16) >> (number - 1) & 1)


def test_it_is_started_again_when_somebody_ended_it_and_knows_all_it_knew(
    dog: Watchdog, groups: list[subprocess.Popen[bytes]]
) -> None:
    dog.add(f"g{groups[0].pid}")
    first = dog.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until_blocking(lambda: process_is_gone(first))
    dog.add(f"g{groups[1].pid}")
    assert dog.pid not in (None, first)
    vanish(dog, LIMIT_S)
    assert [groups[0].wait(10), groups[1].wait(10)] == [-signal.SIGTERM] * 2


def test_one_that_is_stopped_is_replaced_without_ending_what_it_watches(
    dog: Watchdog, groups: list[subprocess.Popen[bytes]]
) -> None:
    dog.add(f"g{groups[0].pid}")
    first = dog.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)
    for number in range(700):  # 64 KiB of pipe, in lines of 100 bytes
        dog.add(f"d/nonexistent/{number:084d}")
    assert dog.pid != first
    assert process_is_gone(first)
    assert groups[0].poll() is None


def test_one_that_does_not_hear_the_goodbye_is_ended(groups: list[subprocess.Popen[bytes]]) -> None:
    dog = Watchdog()
    dog.add(f"g{groups[0].pid}")
    pid = dog.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    dog.stop()
    assert process_is_gone(pid)
    assert groups[0].poll() is None


def test_a_list_longer_than_the_pipe_reaches_a_new_one(dog: Watchdog, tmp_path: Path) -> None:
    folders = [tmp_path / f"{number:0200d}" for number in range(600)]
    for folder in folders:
        folder.mkdir()
        remembered(dog).add(f"d{folder}")
    dog.add(f"d{tmp_path / 'last'}")
    pid = dog.pid
    assert pid is not None and len("".join(remembered(dog))) > 128 * 1024
    vanish(dog, LIMIT_S)
    assert not any(folder.exists() for folder in folders)


def test_without_a_shell_it_says_so_and_the_rest_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    dog = Watchdog("/nonexistent/sh")
    dog.add("g123456")
    dog.remove("g123456")
    dog.stop()
    assert [record.getMessage() for record in caplog.records] == [
        "no watchdog: if this process is killed, its CLI processes keep running"
    ]
