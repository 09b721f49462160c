"""The spool is what was appended, byte for byte, from the acknowledged offset on."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.keeper.spool import RENEW_BYTES, Spool

STEPS = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 100)), max_size=30)


@given(steps=STEPS)
def test_every_byte_after_the_acknowledged_one_can_be_read(
    steps: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    spool, whole = Spool(folder, segment_bytes=64), b""
    for size, share in steps:
        data = os.urandom(size)
        if data:
            assert spool.append(data) == size
        whole += data
        spool.acknowledge(len(whole) * share // 100)
        assert spool.end == len(whole)
        assert spool.first <= spool.acknowledged <= spool.end
        read, at = b"", spool.acknowledged
        while piece := spool.read(at, 17):
            read, at = read + piece, at + len(piece)
        assert read == whole[spool.acknowledged :]
        assert b"".join(path.read_bytes() for path in sorted(folder.iterdir())) == whole[spool.first :]
    spool.remove()
    assert list(folder.iterdir()) == []
    shutil.rmtree(folder)


def test_an_older_or_impossible_acknowledgement_changes_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path, segment_bytes=10)
    for _ in range(5):
        spool.append(b"0123456789")
    spool.acknowledge(30)
    spool.acknowledge(10)
    assert (spool.first, spool.acknowledged) == (30, 30)
    spool.acknowledge(10**9)
    assert (spool.acknowledged, spool.end) == (50, 50)
    spool.close()


def test_a_session_that_keeps_up_needs_little_room(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    for _ in range(40):
        spool.append(b"x" * 100_000)
        spool.acknowledge(spool.end)
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= RENEW_BYTES + 100_000
    assert spool.end == 4_000_000
    spool.close()


def test_without_room_it_takes_what_fits_and_says_so(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        assert spool.append(b"x" * 900) == 900
        assert spool.append(b"y" * 900) == 100
        with pytest.raises(OSError, match="too large") as full:
            spool.append(b"z")
        assert full.value.errno == errno.EFBIG
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert spool.append(b"z") == 1
    assert spool.read(899, 200) == b"x" + b"y" * 100 + b"z"
    spool.close()


def test_what_is_unread_can_be_read_though_the_folder_was_removed(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    spool = Spool(folder, segment_bytes=10)
    spool.append(b"0123456789")
    shutil.rmtree(folder)
    spool.append(b"after")
    assert spool.read(0, 100) + spool.read(10, 100) == b"0123456789after"
    assert [path.read_bytes() for path in folder.iterdir()] == [b"after"]
    spool.close()
