"""For tests of programs that have no event loop of asyncio's: a simulated CLI, and a look at what is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chaos.kit import MARK, marked_processes
from quarterdeck import ClaudeAgentOptions
from quarterdeck.testing.kit import FakeClaude

LIMIT_S = 30.0
"""Of every wait, on a busy machine."""
LOOK_S = 0.01
ASKS = {"tool": "Bash", "input": {"command": "touch made.txt", "description": "Make a file"}}
ASKS_FOR_TEA = """
for prompt in prompts():
    init()
    ask("1", subtype="make_tea", cups=2)
    result(str(answer_to("1")["response"]["cups"]))
"""
DIES_ONCE = """
import os
for prompt in prompts():
    init()
    if not os.path.exists("died"):
        open("died", "w").close()
        sys.exit(3)
    result("done")
"""


def until(condition: Callable[[], object]) -> None:
    """Bounded wait for something that nothing reports."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(LOOK_S)


class Simulated(FakeClaude):
    """The simulator, marked so that what is left of it can be found."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.root = root
        self.mark = uuid.uuid4().hex
        self.gate = root / "gate"

    def options(self, **changes: Any) -> ClaudeAgentOptions:
        return super().options(**{"env": {MARK: self.mark}, **changes})

    @property
    def held(self) -> dict[str, str]:
        """A step that holds the turn until ``release``."""
        return {"wait_for": str(self.gate)}

    def is_held(self) -> bool:
        return Path(f"{self.gate}.reached").exists()

    def release(self) -> None:
        self.gate.touch()

    def left_running(self) -> list[str]:
        return marked_processes(self.mark)

    def program(self, source: str) -> subprocess.Popen[str]:
        """Start a program that finds its options in ``options()``; warnings are errors in it."""
        prelude = f"""
            import sys
            from quarterdeck import *
            from quarterdeck import sync
            def options(**more):
                env = {{**{self.env | {MARK: self.mark}!r}, "PATH": {os.environ["PATH"]!r}}}
                return ClaudeAgentOptions(cli_path={str(self.path)!r}, cwd={str(self.cwd)!r}, env=env, **more)
        """
        path = self.root / "program.py"
        path.write_text(textwrap.dedent(prelude) + textwrap.dedent(source))
        return subprocess.Popen(
            [sys.executable, "-W", "error", path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@contextmanager
def simulated(root: Path) -> Iterator[Simulated]:
    fake = Simulated(root)
    yield fake
    until(lambda: fake.left_running() == [])


def interrupted(fake: Simulated, program: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Send Ctrl-C once the simulator holds the turn: exit code, what was printed, what was complained."""
    until(lambda: fake.is_held() or program.poll() is not None)
    program.send_signal(signal.SIGINT)
    return finished(program)


def finished(program: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        printed, complained = program.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        program.kill()
        printed, complained = program.communicate()
        raise AssertionError(f"the program hung:\n{printed}\n{complained}") from None
    return program.returncode, printed, complained
