"""The stand-in CLI, compiled, and the environment that tells it what to play."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from quarterdeck.testing.install import default_cache_dir

from . import _lines
from ._table import say

SOURCE = Path(__file__).parent / "standin.c"
COMPILE_LIMIT_S = 60.0


def compiled() -> Path:
    """The executable; compiled when its source is new."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    program = default_cache_dir() / "standin" / f"claude-{digest}"
    if not program.exists():
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            raise SystemExit(
                "the benchmark of the client needs a C compiler for its stand-in CLI: install cc, gcc or clang"
            )
        say(f"compiling the stand-in CLI with {compiler} ({sysconfig.get_platform()})")
        program.parent.mkdir(parents=True, exist_ok=True)
        new = program.with_suffix(".new")
        command = [compiler, "-O2", "-Wall", "-Wextra", "-std=gnu11", "-o", str(new), str(SOURCE)]
        subprocess.run(command, check=True, timeout=COMPILE_LIMIT_S)
        new.rename(program)
    return program


class Script:
    """Writes what the stand-in is to say into a folder; each method gives the environment for one load."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        result = _lines.replaced(_lines.result_line(), result="@TOLD@")
        self._common = {
            "STANDIN_INIT": self._file("init", _lines.init_line()),
            "STANDIN_RESULT": self._file("result", result),
        }

    def _file(self, name: str, *lines: bytes) -> str:
        path = self._folder / name
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return str(path)

    def says(self, name: str, lines: Iterable[bytes], count: int, *, per_second: int = 0) -> dict[str, str]:
        pace = {"STANDIN_PACE": str(per_second)} if per_second else {}
        return self._common | pace | {"STANDIN_FILE": self._file(name, *lines), "STANDIN_LINES": str(count)}

    def tells_the_time(self, count: int, *, per_second: int, line: bytes | None = None) -> dict[str, str]:
        """In text deltas, or in another line with ``@NOW@`` in it."""
        line = line or _lines.replaced(_lines.text_deltas()[0], event={"delta": {"text": "@NOW@"}})
        return self.says("clock", (line,), count) | {"STANDIN_CLOCK": str(per_second)}

    def asks(
        self, name: str, request: bytes, count: int, *, in_flight: int, first: tuple[bytes, ...] = ()
    ) -> dict[str, str]:
        return self._common | {
            "STANDIN_ASK": self._file(name, request),
            "STANDIN_FIRST": self._file(f"{name}-first", *first) if first else "",
            "STANDIN_ASKS": str(count),
            "STANDIN_FLIGHT": str(in_flight),
        }
