"""Run a program against the real CLI and a scripted model, in a fresh home and a fresh folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from needs import real_cli
from quarterdeck.testing.model import ModelServer

RUN_LIMIT_S = 120.0
"""A program takes a few seconds; a busy machine may take ten times as long."""
INHERITED = ("PATH", "LANG", "TMPDIR", "SYSTEMROOT")

_VARIABLE = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"toolu_\w+"), "<tool use>"),
    (re.compile(r"req_\w+"), "<request>"),
]


def run_program(
    program: Path,
    folder: Path,
    model: ModelServer,
    *,
    python: Path | str = sys.executable,
    quiet: bool = True,
    words: Sequence[str] = (),
    **variables: str,
) -> str:
    """What the program prints; it must end well and, if ``quiet``, write nothing to its standard error."""
    home, cwd = folder / "home", folder / "work"
    home.mkdir(parents=True)
    cwd.mkdir()
    env = {name: os.environ[name] for name in INHERITED if name in os.environ}
    env |= {"HOME": str(home), "SHELL": "/bin/bash", "CLAUDE_BIN": real_cli().argv[-1], **model.env(), **variables}
    done = subprocess.run(
        [python, "-W", "error", program, *words],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
        check=False,
    )
    said = f"{program.name} said:\n{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, said
    assert not (quiet and done.stderr), said
    return without_ids(done.stdout)


def without_ids(text: str) -> str:
    for pattern, placeholder in _VARIABLE:
        text = pattern.sub(placeholder, text)
    return text
