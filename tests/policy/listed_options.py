"""Commands with every option that the policy lists as harmless, in the forms in which a value may follow it.

The values are a file outside the project, a file that no rule covers, a program that no rule allows. An option that is
listed with a value and takes none, or the other way round, moves such a word to where nobody looks at it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from quarterdeck.policy.git_options import GIT_OPTIONS
from quarterdeck.policy.options import LISTED, known
from quarterdeck.policy.programs import words

OUTSIDE = "../outside/secret"
VALUES = (OUTSIDE, "PWNED", "zap")
TAILS = ("", " a.txt", " x a.txt", f" x {OUTSIDE}", f" x y {OUTSIDE}")
LEFT_OUT = words("less more man vim emacs nano sleep sftp pytest go df")
"""They wait for a person, or are too slow to be tried so often; ``df`` opens what it is given and reads none of it."""
WAIT = {
    "tail": words("-f -F --follow --retry"),
    "node": words("--watch --inspect-brk"),
    "git": words("-e -i -p --edit --interactive --patch --edit-todo"),
}
"""Options that wait for more, or for an answer."""


def option_commands() -> list[str]:
    """All of them, each once."""
    programs = [name for name in LISTED if name not in LEFT_OUT and shutil.which(name) is not None]
    return list(dict.fromkeys(command for name in (*programs, *GIT_OPTIONS) for command in _of_program(name)))


def _of_program(program: str) -> Iterator[str]:
    spec = known(program)
    assert spec is not None
    waits = WAIT.get(program.partition(" ")[0], frozenset())
    tails = TAILS[:2] if program in GIT_OPTIONS else TAILS
    for name, kind in (*((f"-{letter}", kind) for letter, kind in spec.letters.items()), *spec.long.items()):
        if name not in waits:
            for option in _forms(name[1:] if spec.single else name, kind):
                yield from (f"{program} {option}{tail}" for tail in tails)


def _forms(name: str, kind: str) -> Iterator[str]:
    """The option as it may be written: alone, with a value in its word, with one in the next."""
    if kind in ("", "?"):
        yield name
    if kind:
        for value in VALUES:
            yield f"{name}={value}" if name.startswith("--") else f"{name}{value}"
            yield f"{name} {value}"
