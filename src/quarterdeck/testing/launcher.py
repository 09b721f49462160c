"""Launcher scripts for programs that accept only a path to ``claude``."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_CALL = "import sys; sys.path.append(sys.argv.pop(1)); from {module} import main; sys.exit(main(sys.argv[1:]))"
"""Finds this package even where it is not installed, without an environment variable that tool servers would inherit.
Not ``python -m``, which takes 10 ms more."""


def write_launcher(
    path: Path,
    module: str,
    arguments: list[str],
    *,
    environment: Mapping[str, str] | None = None,
    exports: Mapping[str, str] | None = None,
) -> Path:
    """Write a shell script that calls ``main`` of ``module`` with these arguments, then its own.

    ``environment`` maps a word among the arguments to a variable: where that is set when the launcher runs, its value
    is used instead. ``exports`` are variables that the program sees with these values where they are not set.
    """
    words = [_word(word, (environment or {}).get(word)) for word in arguments]
    source = str(Path(__file__).parents[2])
    # -P: no file of the working directory is taken for a module
    start = [sys.executable, "-P", "-c", _CALL.format(module=module), source]
    defaults = [f"export {name}; {name}={_word(value, name)}" for name, value in (exports or {}).items()]
    lines = ["#!/bin/sh", *defaults, f'exec {" ".join([*map(shlex.quote, start), *words])} "$@"']
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, "\n".join(lines) + "\n")
    return path


def _word(word: str, variable: str | None) -> str:
    if variable is None:
        return shlex.quote(word)
    # Inside ${…:-…} within double quotes: only these four are special there
    plain = word
    for special in '\\"$`':
        plain = plain.replace(special, "\\" + special)
    return f'"${{{variable}:-{plain}}}"' if "}" not in word else _conditional(word, variable)


def _conditional(word: str, variable: str) -> str:
    """A default that contains a brace, as ``{pid}`` does, cannot stand inside ``${…}``."""
    return f'"$(if [ -n "${variable}" ]; then printf %s "${variable}"; else printf %s {shlex.quote(word)}; fi)"'


def _write(path: Path, text: str) -> None:
    """All or nothing: another process may be starting it."""
    if path.is_file() and path.read_text() == text and os.access(path, os.X_OK):
        return
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    Path(file.name).chmod(0o755)
    Path(file.name).replace(path)
