"""What scripts do, on the real CLI, by commands alone: send, wait, approve, upload, event, search, export, import."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from client.real_cli import place as real_place
from hosted.kit import LIMIT_S, ServedHost, Shell
from quarterdeck.testing.model import ModelServer, ToolUse

pytestmark = pytest.mark.real


def found(shell: Shell, *words: str) -> str:
    """What a search prints, once the index has it; bounded."""
    until = time.monotonic() + LIMIT_S
    while "painter" not in (shown := shell("search", *words)):
        assert time.monotonic() < until, shown
    return shown


def test_what_scripts_do_with_a_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with real_place(tmp_path) as stage:
        options = stage.options()
        env = {**options.env, "PATH": os.environ["PATH"]}
        (tmp_path / "served").mkdir()
        served = ServedHost(tmp_path / "served", agents={"claude": str(options.cli_path)}, env=env)
        monkeypatch.setenv("QUARTERDECK_HOST", str(served.state))
        monkeypatch.delenv("QUARTERDECK_TOKEN", raising=False)
        shell = Shell(capsys)
        served.start()
        try:
            _work(served, shell, tmp_path, stage.model)
        finally:
            served.close()


def _work(served: ServedHost, shell: Shell, tmp_path: Path, model: ModelServer) -> None:
    session = served.created("painter", prompt=None)
    (tmp_path / "log.txt").write_text("from outside")
    uploaded = shell("upload", "painter", str(tmp_path / "log.txt")).strip()
    model.reply(ToolUse("Bash", {"command": f"cp {uploaded} copied.txt", "description": "Copy"}))
    model.reply("The okapi is painted.")
    shell("send", "painter", f"Look at {uploaded}.")
    shell("wait", "painter", code=4)
    [waiting] = shell.json("approvals")
    shell("approve", waiting["id"])
    assert shell("wait", "painter") == ""
    assert (served.cwd / "copied.txt").read_text() == "from outside"

    model.reply("Noted.")
    shell("event", "painter", "ci.finished", "status=failed", "--prompt", "CI failed.")
    shell("wait", "painter", "--timeout", str(LIMIT_S))
    assert "External event 'ci.finished'" in model.conversation[-1].text

    shell("send", "painter", "much later", "--at", "2999-01-01T00:00:00+00:00")
    assert "much later" in shell("queue", "list", "painter")
    assert "okapi" in found(shell, "okapi")
    exported = tmp_path / "painter.ndjson"
    shell("export", "painter", "--out", str(exported))
    shell("import", str(exported), "--name", "copy")
    assert "The okapi is painted." in shell("export", "copy")
    shell("stop", "painter")
    shell("wait", session.id, "--for", "stopped")
    shell("wait", session.id, code=5)


def test_the_demo_shows_a_host_with_the_real_cli_when_that_is_wished(tmp_path: Path) -> None:
    """As ``make run AGENT=claude`` does, with nobody at the terminal."""
    with real_place(tmp_path) as stage:
        options, programs = stage.options(), tmp_path / "bin"
        programs.mkdir()
        (programs / "claude").symlink_to(str(options.cli_path))
        change = {"command": "sed -i s/plants/flowers/ notes.txt", "description": "Change a word"}
        stage.model.on(lambda request: "Change plants" in request.text, ToolUse("Bash", change), times=1)
        for _ in range(4):
            stage.model.reply("There you are.")
        done = subprocess.run(
            [sys.executable, "-m", "quarterdeck", "demo", "--serve", "--agent", "claude"],
            env={**options.env, "PATH": f"{programs}:{os.environ['PATH']}", "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=2 * LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "allowed automatically" in done.stdout
        assert "flowers" in done.stdout.partition("notes.txt is now: ")[2].partition("\n")[0]
        asked = [request.text for request in stage.model.conversation]
        assert any("What can you do here?" in text for text in asked)
