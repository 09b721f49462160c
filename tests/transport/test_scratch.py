"""Private files: who can read them, how large they get, and that they go."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from quarterdeck.transport import PrivateFiles


def test_a_file_is_for_its_owner_alone_in_a_directory_for_its_owner_alone() -> None:
    umask = os.umask(0)
    try:
        with PrivateFiles() as files:
            path = files.write("mcp.json", '{"token": "ü"}')
            modes = [stat.S_IMODE(entry.stat().st_mode) for entry in (path, path.parent)]
            assert (path.read_text(encoding="utf-8"), modes) == ('{"token": "ü"}', [0o600, 0o700])
    finally:
        os.umask(umask)
    assert not path.parent.exists()


def test_nothing_is_made_before_it_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with PrivateFiles():
        assert list(tmp_path.iterdir()) == []


def test_everything_goes_when_the_block_fails() -> None:
    files = PrivateFiles()
    with pytest.raises(RuntimeError, match="a bug"), files:
        path = files.write("a", b"1")
        raise RuntimeError("a bug")
    assert not path.parent.exists()


def test_everything_goes_at_interpreter_exit() -> None:
    program = """
from quarterdeck.transport import PrivateFiles
kept = [PrivateFiles() for _ in range(2)]
for files in kept:
    path = files.write("a", b"1")
    print(path, path.exists())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    told = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
    assert [(was_there, Path(path).parent.exists()) for path, was_there in told] == [("True", False)] * 2


def test_removing_twice_or_after_somebody_else_did_is_no_error() -> None:
    files = PrivateFiles()
    path = files.write("a", b"1")
    path.unlink()
    path.parent.rmdir()
    files.remove()
    files.remove()


def test_the_size_of_all_together_is_bounded() -> None:
    with PrivateFiles(limit_bytes=10) as files:
        files.write("a", b"12345678")
        with pytest.raises(ValueError, match="with b, the private files of this session would exceed 10 bytes"):
            files.write("b", b"123")
        files.write("c", b"12")


@pytest.mark.parametrize("name", ["../a", "a/b", "/etc/passwd", "..", ""])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with PrivateFiles() as files, pytest.raises(ValueError, match="not a plain file name"):
        files.write(name, b"")


def test_a_file_is_never_written_over() -> None:
    with PrivateFiles() as files:
        files.write("a", b"1")
        with pytest.raises(FileExistsError):
            files.write("a", b"2")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_files_for_a_cli_of_another_user_belong_to_that_user() -> None:
    with PrivateFiles(owner=65534) as files:
        path = files.write("a", b"1")
        assert (path.stat().st_uid, path.parent.stat().st_uid) == (65534, 65534)
