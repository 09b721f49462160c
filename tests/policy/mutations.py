"""Commands that are nearly right: seeds with pieces put in, taken out, quoted, wrapped and joined, by chance.

The words ``zap`` (a program that no rule allows), ``PWNED`` (a file that no rule covers), ``protected`` and ``outside``
stand in the pieces wherever an attack would have its own.
"""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

_TABLE: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "mutations.toml").read_text())
SEEDS, PIECES, WORDS, WRAPPERS, JOINS = (_TABLE[name] for name in ("seeds", "pieces", "words", "wrappers", "joins"))


def mutants(count: int, seed: int) -> list[str]:
    """``count`` different commands."""
    chance = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < count:
        command = chance.choice(SEEDS)
        for _ in range(chance.choice((1, 1, 1, 2, 2, 3))):
            command = changed(command, chance)
        made[command] = None
    return list(made)


def changed(command: str, chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.30:
        return _with_word(command, chance.choice(WORDS), chance)
    if kind < 0.55:
        at = chance.randint(0, len(command))
        return command[:at] + chance.choice(PIECES) + command[at:]
    if kind < 0.62:
        at = chance.randint(0, len(command))
        return command[:at] + command[at + chance.randint(1, 3) :]
    if kind < 0.75:
        return chance.choice(WRAPPERS).replace("{0}", command)
    if kind < 0.88:
        return command + chance.choice(JOINS) + chance.choice(SEEDS)
    return _quoted(command, chance)


def _with_word(command: str, word: str, chance: random.Random) -> str:
    words = command.split(" ")
    words.insert(chance.randint(0, len(words)), word)
    return " ".join(words)


def _quoted(command: str, chance: random.Random) -> str:
    words = command.split(" ")
    at = chance.randrange(len(words))
    word = words[at]
    middle = len(word) // 2
    forms = (
        f"'{word}'",
        f'"{word}"',
        f"$'{word}'",
        f"{word[:middle]}''{word[middle:]}",
        f'{word[:middle]}""{word[middle:]}',
        f"\\{word}",
        f"{{{word},}}",
        f"{{{word},zap}}",
        f"${{X:-{word}}}",
        f"$(echo {word})",
        f"{word[:middle]}\\\n{word[middle:]}",
        f"{word}*",
        f"={word}",
        f"${{(e):-{word}}}",
        f"{word}[1]",
        f"~/{word}",
        f"./{word}",
    )
    words[at] = chance.choice(forms)
    return " ".join(words)
