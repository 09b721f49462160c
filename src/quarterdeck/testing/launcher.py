"""Executables for programs that can only be given the path of their ``claude``, and no arguments before their own."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def write_launcher(path: Path, module: str, arguments: list[str], *, environment: dict[str, str] | None = None) -> Path:
    """A shell script that calls ``main`` of ``module`` with these arguments, then its own.

    ``environment`` maps a word among the arguments to a variable: where that is set when the launcher runs, it counts
    instead. Not ``python -m``, which takes 10 ms more; ``-P``, so that the working directory cannot shadow a module.
    """
    words = [_word(word, (environment or {}).get(word)) for word in arguments]
    call = f"import sys; from {module} import main; sys.exit(main(sys.argv[1:]))"
    command = " ".join([shlex.quote(sys.executable), "-P", "-c", shlex.quote(call), *words])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    path.chmod(0o755)
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
