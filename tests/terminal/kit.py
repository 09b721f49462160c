"""A terminal for tests: the command runs in a real pseudo-terminal, an emulator keeps what a person would see."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import uuid
from pathlib import Path
from typing import Any

import pyte

from chaos.kit import MARK, marked_processes

LIMIT_S = 40.0
"""For what one test waits for, on a busy machine; every wait below ends by it."""
UP, DOWN, ENTER, ESCAPE, CTRL_C, ALT_ENTER = "\x1b[A", "\x1b[B", "\r", "\x1b", "\x03", "\x1b\r"


class Place:
    """A home and a folder to work in, and the environment of all that is started there."""

    def __init__(self, folder: Path) -> None:
        self.home, self.cwd = folder / "home", folder / "repo"
        self.home.mkdir()
        self.cwd.mkdir()
        self._folder = folder
        self._mark = uuid.uuid4().hex
        self.env: dict[str, str] = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/bash",
            MARK: self._mark,
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        }
        self.opened: list[Term] = []

    def plays(self, *steps: Any, **scenario: Any) -> None:
        """What the simulator does: the steps of one turn, or a whole scenario."""
        path = self._folder / f"{uuid.uuid4().hex}.json"
        path.write_text(json.dumps({"turns": [list(steps)], **scenario} if steps else scenario))
        self.env["QUARTERDECK_SIM_SCENARIO"] = str(path)

    def command(self, *words: str, agent: str = "sim") -> list[str]:
        return [sys.executable, "-m", "quarterdeck", words[0], "--agent", agent, *words[1:]]

    def term(
        self,
        *words: str,
        agent: str = "sim",
        columns: int = 80,
        rows: int = 30,
        stdin: str | None = None,
        **env: str,
    ) -> Term:
        """In a terminal; with ``stdin``, standard input is a file with that text instead."""
        given = None if stdin is None else self._folder / "stdin"
        if given is not None:
            given.write_text(str(stdin))
        term = Term(self.command(*words, agent=agent), self.cwd, {**self.env, **env}, columns, rows, given)
        self.opened.append(term)
        return term

    def piped(self, *words: str, agent: str = "sim", stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Without any terminal."""
        return subprocess.run(
            self.command(*words, agent=agent),
            cwd=self.cwd,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            start_new_session=True,
        )

    def close(self) -> None:
        for term in self.opened:
            term.close()

    def left_running(self) -> list[str]:
        return marked_processes(self._mark)


class ResizableScreen(pyte.HistoryScreen):
    """Changes its size as terminals do: nothing above the cursor is lost. pyte's own ``resize`` drops lines.

    Some wrap lines anew (``rewraps``), others cut them; some keep what is below the cursor as long as they can, others
    drop it first.
    """

    rewraps = False

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        wide, high = columns or self.columns, lines or self.lines
        at = self.cursor.y
        rows: list[Any] = []
        for y in range(self.lines):
            if y == self.cursor.y:
                at = len(rows) + (self.cursor.x // wide if self.rewraps else 0)
            rows += self._pieces(self.buffer[y], wide) if self.rewraps else [self._cut(self.buffer[y], 0, wide)]
        while len(rows) > high:
            if at > 0 if self.rewraps else at >= high:
                self.history.top.append(rows.pop(0))
                at -= 1
            else:
                rows.pop()
        while self.rewraps and len(rows) < high and self.history.top:
            rows.insert(0, self.history.top.pop())
            at += 1
        self.lines, self.columns = high, wide
        self.buffer.clear()
        for y, row in enumerate(rows):
            self.buffer[y] = row
        self.cursor.y = min(at, high - 1)
        self.cursor.x = self.cursor.x % wide if self.rewraps else min(self.cursor.x, wide - 1)
        self.set_margins()
        self.dirty.update(range(high))

    def _pieces(self, row: Any, wide: int) -> list[Any]:
        last = max((x for x, cell in row.items() if cell.data.strip()), default=0)
        return [self._cut(row, begin, begin + wide) for begin in range(0, last + 1, wide)]

    def _cut(self, row: Any, begin: int, end: int) -> Any:
        piece = pyte.screens.StaticDefaultDict(self.default_char)
        piece.update({x - begin: cell for x, cell in row.items() if begin <= x < end})
        return piece


class Term:
    """One command in a terminal of its own."""

    def __init__(
        self, command: list[str], cwd: Path, env: dict[str, str], columns: int, rows: int, stdin: Path | None = None
    ) -> None:
        self._master, slave = pty.openpty()
        self._slave = slave  # kept open, so that the terminal's state can be looked at when the command is gone
        self.screen = ResizableScreen(columns, rows, history=20_000)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = bytearray()
        self._set_size(columns, rows)
        self._before = termios.tcgetattr(slave)
        with Path(os.devnull if stdin is None else stdin).open() as file:
            self.process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=slave if stdin is None else file,
                stdout=slave,
                stderr=slave,
                preexec_fn=_own_terminal,
            )

    # What a person sees

    @property
    def lines(self) -> list[str]:
        """The scrollback and the screen."""
        top = ["".join(row[x].data for x in range(self.screen.columns)) for row in self.screen.history.top]
        return [line.rstrip() for line in [*top, *self.screen.display]]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def until(self, *wanted: str) -> str:
        """Wait until all of this can be seen; what is seen then."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            seen = self.text
            if all(one in seen for one in wanted):
                return seen
            if not self.read(deadline):
                missing = [one for one in wanted if one not in self.text]
                raise AssertionError(f"never seen: {missing}\n{self.text}")

    def read(self, deadline: float) -> bool:
        """Take in what the command writes; False at its end, or when it is too late."""
        ready, _, _ = select.select([self._master], [], [], min(max(deadline - time.monotonic(), 0), 0.2))
        if ready:
            try:
                data = os.read(self._master, 65_536)
            except OSError:  # nobody has the other end any more
                return False
            self.raw += data
            self._stream.feed(data)
            return True
        return time.monotonic() < deadline and self.process.poll() is None

    # What a person does

    def press(self, *keys: str) -> None:
        for key in keys:
            os.write(self._master, key.encode())

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self._set_size(columns, rows)

    def _set_size(self, columns: int, rows: int) -> None:
        """The kernel sends SIGWINCH to who runs in the foreground."""
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until_stopped(self) -> None:
        """Wait until the command is suspended; the terminal must be as it was."""
        deadline = time.monotonic() + LIMIT_S
        while Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            assert time.monotonic() < deadline, f"it does not stop\n{self.text}"
            self.read(time.monotonic() + 0.05)
        while self.read(time.monotonic()):
            pass
        assert termios.tcgetattr(self._slave) == self._before, "the terminal is not as it was"
        assert not self.screen.cursor.hidden, "the cursor is hidden"

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    # The end

    def exit(self) -> int:
        """Wait for the end of the command; its exit code. The terminal must be as it was."""
        deadline = time.monotonic() + LIMIT_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it does not end\n{self.text}"
            self.read(deadline)
        while self.read(time.monotonic()):
            pass
        assert termios.tcgetattr(self._slave) == self._before, "the terminal is not as it was"
        assert not self.screen.cursor.hidden, "the cursor is hidden"
        assert (7 << 5) in self.screen.mode, "lines do not wrap any more"
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT_S)
        os.close(self._master)
        os.close(self._slave)


def _own_terminal() -> None:
    """The command leads a session of its own with this terminal, so that Ctrl-C reaches it as it would a person's."""
    os.setsid()
    fcntl.ioctl(1, termios.TIOCSCTTY, 0)


def tool(name: str, tool_input: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"tool": name, "input": tool_input, **more}


def bash(command: str, **more: Any) -> dict[str, Any]:
    return tool("Bash", {"command": command, "description": "do it"}, **more)


def shown_question(term: Term) -> list[str]:
    """The screen from the question on; its own blank lines do not count."""
    lines = [line.rstrip() for line in term.screen.display]
    begin = next(index for index, line in enumerate(lines) if line.startswith("? Allow"))
    return [line for line in lines[begin:] if line]


def settled_question(term: Term, expected: list[str]) -> None:
    """Wait until this is what the screen shows."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        try:
            seen = shown_question(term)
        except StopIteration:
            seen = []
        if seen == expected:
            return
        assert term.read(deadline), f"{expected}\n is not what is seen:\n{term.text}"
