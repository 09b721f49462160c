"""Why a process could not be started, said so that the reader knows what to do."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from quarterdeck.transport import ChildCommand, CLIConnectionError, CLINotFoundError, ExitStatus, StartFailed
from transport.conftest import Stage
from transport.support import Recorder, python


def program(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def refused(stage: Stage, command: ChildCommand) -> CLIConnectionError:
    async def scene() -> None:
        transport = stage.transport(command)
        await transport.start(Recorder())

    with pytest.raises(CLIConnectionError) as caught:
        stage.play(scene)
    return caught.value


def test_a_missing_program_is_not_found(stage: Stage) -> None:
    error = refused(stage, ChildCommand(["/nonexistent/claude"]))
    assert (type(error), error.cli_path) == (CLINotFoundError, "/nonexistent/claude")  # type: ignore[attr-defined]


def test_a_missing_working_directory_is_named(stage: Stage, tmp_path: Path) -> None:
    error = refused(stage, ChildCommand(["cat"], cwd=tmp_path / "gone"))
    assert isinstance(error, StartFailed)
    assert str(error) == f"Working directory does not exist: {tmp_path}/gone. Create it or pass another cwd."
    (tmp_path / "file").touch()
    assert "is not a directory" in str(refused(stage, ChildCommand(["cat"], cwd=tmp_path / "file")))


def test_a_script_whose_interpreter_is_missing_says_so(stage: Stage, tmp_path: Path) -> None:
    error = refused(stage, ChildCommand([program(tmp_path / "claude", "#!/nonexistent/node\n")]))
    assert isinstance(error, StartFailed)
    assert "the one in its first line" in str(error)


def test_a_file_that_is_no_program_says_so(stage: Stage, tmp_path: Path) -> None:
    assert "not an executable for this system" in str(
        refused(stage, ChildCommand([program(tmp_path / "claude", "\x01\x02")]))
    )
    assert "is executable" in str(refused(stage, ChildCommand([program(tmp_path / "plain", "", 0o644)])))


def test_too_long_a_command_line_is_explained_with_its_size(stage: Stage) -> None:
    error = refused(stage, ChildCommand(["cat", "x" * 200_000], env={}))
    assert isinstance(error, StartFailed)
    assert "too long for the operating system (2000" in str(error)
    assert "Pass large values in files" in str(error)


def test_an_unknown_user_is_refused(stage: Stage) -> None:
    assert isinstance(refused(stage, ChildCommand(["cat"], user="no-such-user")), StartFailed)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may run a process as another user")
def test_a_process_can_run_as_another_user(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        transport = await stage.start(ChildCommand(["id", "-u"], user=65534, cwd="/"), recorder)
        await transport.wait()
        await transport.close()

    stage.play(scene)
    assert recorder.told == [b"65534\n", "eof", ExitStatus(code=0)]


def test_environment_and_directory_reach_the_process_and_it_leads_its_own_session(stage: Stage, tmp_path: Path) -> None:
    recorder = Recorder()

    async def scene() -> None:
        source = "import os; print(os.environ['A'], os.getcwd(), os.getsid(0) == os.getpgrp() == os.getpid())"
        transport = await stage.start(ChildCommand(python(source), cwd=tmp_path, env={"A": "1"}), recorder)
        await transport.wait()
        await transport.close()

    stage.play(scene)
    assert recorder.output.decode() == f"1 {tmp_path} True\n"


def test_no_descriptor_of_ours_reaches_the_process(stage: Stage) -> None:
    recorder = Recorder()

    async def scene() -> None:
        other = await stage.start(["cat"], Recorder())
        transport = await stage.start(
            python("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"), recorder
        )
        await transport.wait()
        await asyncio.gather(transport.close(), other.close())

    stage.play(scene)
    assert recorder.output == b"[0, 1, 2, 3]\n"  # the last one is the listing itself
