"""The Python of the pages on single topics runs as it stands there, against the simulator."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from quarterdeck.testing.sim import executable

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
PLACES = ("/home/me/project", "/home/me/shop", "/srv/repo")
"""Folders of the reader; here they are the folder of the test."""

NEEDED = {
    "policy.md": """
        import time
        from quarterdeck.policy import Memory, RememberingPolicy
        ask_the_team = None
    """,
    "transcripts.md": """
        import asyncio
        from quarterdeck import InMemorySessionStore as MyStore
        from quarterdeck.sync import prompt
        prompt("Is there a race condition?")
    """,
    "simulator.md": f"""
        import shutil
        shutil.copy({str(DOCS.parent / "examples" / "scenarios" / "tour.yaml")!r}, "tour.yaml")
    """,
    "sync-and-trio.md": "",
    "warm-retry-tracing.md": "from quarterdeck import ClaudeAgentOptions, Retry, RetryNotice, WarmPool, connect",
    "tap-and-trace.md": """
        import subprocess, sys
        recording = "quarterdeck run --agent sim --record talk.ndjson --output text hello"
        subprocess.run([sys.executable, "-m", *recording.split()], check=True, timeout=60)
    """,
}
"""Page → what its programs take for granted."""
RUNNER = """
import ast, asyncio, inspect, pathlib, sys
names = {"__name__": "page"}
for path in sys.argv[1:]:
    code = compile(pathlib.Path(path).read_text(), path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    waits = eval(code, names)
    if inspect.isawaitable(waits):
        asyncio.run(waits)
for name, value in list(names.items()):
    if name.startswith("test_"):
        asyncio.run(value(pathlib.Path.cwd()) if inspect.signature(value).parameters else value())
"""


@pytest.mark.parametrize("page", NEEDED)
def test_the_programs_of_a_page_run_one_after_the_other(page: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    programs = [_unindented(NEEDED[page]), *BLOCK.findall((DOCS / page).read_text("utf-8"))]
    assert len(programs) > 1
    files = []
    for number, program in enumerate(programs):
        for place in PLACES:
            program = program.replace(place, str(work))
        files.append(tmp_path / f"{page.removesuffix('.md')}-{number}.py")
        files[-1].write_text(program)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUNNER, *map(str, files)],
        cwd=work,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CLAUDE_BIN": str(executable(folder=tmp_path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{done.stdout}\n{done.stderr}"


def _unindented(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines())
