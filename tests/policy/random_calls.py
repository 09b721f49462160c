"""Shell commands by chance: programs with options and operands they know, changed, wrapped and joined.

The pieces are those of ``shell_calls`` and ``mutations``; a seed gives the same commands again.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from policy.mutations import JOINS, SEEDS, WORDS, WRAPPERS, changed
from policy.shell_calls import PIECES
from quarterdeck.policy.git_options import GIT_OPTIONS
from quarterdeck.policy.options import LISTED, known

PROGRAMS = (*LISTED, *GIT_OPTIONS)
VALUES = (
    "a.txt", "src/a", "1", "5", "x", "+3", "-1", "=", "../outside/secret", "/etc/passwd", "~/a", "link/a", "protected",
    ".env", "$X", "'a b'", "src/*", "-", "@a", "a:b", "https://example.org/", "zap", "PWNED", "HEAD", "*.txt", "{a,b}",
    "a=b", "'$(zap)'", "1,3p", "'{print $1}'", "s/a/b/", "%H", "'%s'", "/dev/null", "-x", "--", "out/b", ".git/config",
    ".claude/settings.json", "secrets/key", "~/.ssh/id_rsa", "''", "\"$HOME\"", "..", ".", "/", "origin", "main",
)  # fmt: skip


def commands(count: int, seed: str) -> list[str]:
    """``count`` different ones."""
    chance = random.Random(seed)
    makers: tuple[Callable[[random.Random], str], ...] = (_optioned, _optioned, _filled, _seed)
    made: dict[str, None] = {}
    while len(made) < count:
        command = chance.choice(makers)(chance)
        for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
            command = _joined(command, chance) if chance.random() < 0.2 else changed(command, chance)
        made[command] = None
    return list(made)


def _seed(chance: random.Random) -> str:
    return str(chance.choice(SEEDS))


def _filled(chance: random.Random) -> str:
    """A template of the comparison with something in its gap."""
    template, gap = chance.choice(
        (("changers", "changed"), ("removers", "removed"), ("git_fronts", "git"), ("wrappers", "wrapped"))
    )
    if chance.random() < 0.4:
        return f"{chance.choice(PIECES['readers'])} {chance.choice((*PIECES['files'], *VALUES))}"
    if chance.random() < 0.3:
        return str(chance.choice(PIECES["printers"]))
    return str(chance.choice(PIECES[template])).format(chance.choice(PIECES[gap]))


def _optioned(chance: random.Random) -> str:
    """A program with some of its options, and operands."""
    program = chance.choice(PROGRAMS)
    spec = known(program)
    assert spec is not None
    options = [(f"-{letter}", kind) for letter, kind in spec.letters.items()] + list(spec.long.items())
    words: list[str] = []
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        if options:
            words += _option(*chance.choice(options), chance)
    words += [str(chance.choice(VALUES)) for _ in range(chance.choice((0, 1, 1, 2, 3)))]
    if chance.random() < 0.15:
        words.insert(chance.randint(0, len(words)), str(chance.choice(WORDS)))
    return " ".join((program, *words))


def _option(name: str, kind: str, chance: random.Random) -> list[str]:
    """As it is meant most of the time."""
    value = str(chance.choice(VALUES))
    if chance.random() < 0.1:
        name = name[: chance.randint(2, len(name))] if name.startswith("--") else name
    if not kind and chance.random() < 0.9:
        return [name]
    if chance.random() < 0.5:
        return [name, value]
    return [f"{name}={value}" if name.startswith("--") else f"{name}{value}"]


def _joined(command: str, chance: random.Random) -> str:
    other = chance.choice((_optioned, _filled, _seed))(chance)
    if chance.random() < 0.3:
        return str(chance.choice(WRAPPERS)).replace("{0}", f"{command}{chance.choice(JOINS)}{other}")
    return f"{command}{chance.choice(JOINS)}{other}"
