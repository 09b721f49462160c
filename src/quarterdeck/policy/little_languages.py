"""Programs given to ``sed`` and ``awk``: do they only print?

Both languages can run commands, read and write files. Only what is plainly none of that is harmless; a program that is
not understood is not.
"""

from __future__ import annotations

import re
from typing import Final

_SED_ADDRESS: Final = r"(?:[0-9]+(?:~[0-9]+)?|\$|/(?:\\[^\n]|[^/\\\[\n])*/I?)"
_SED_SIMPLE: Final = re.compile(rf"(?:{_SED_ADDRESS}(?:,(?:{_SED_ADDRESS}|[+~][0-9]+))?)? *!? *")
_SED_COMMANDS: Final = frozenset("pdqQ=nNhHgGxDPlz")
_SED_FLAGS: Final = re.compile(r"[gpiI0-9]*")
_SED_END: Final = re.compile(r"[ \t]*(?:[;\n}][;\n} \t]*|\Z)")
_AWK_ACTS: Final = re.compile(r"system|getline|ARGV|ARGC|@|`|\\\n")
_AWK_PRINTS: Final = re.compile(r"print")


def harmless_sed(script: str) -> bool:
    """Only addresses, ``s`` and ``y`` without acting flags, and commands of one letter that touch no file."""
    at = 0
    while at < len(script):
        address = _SED_SIMPLE.match(script, at)
        at = address.end() if address else at
        command = script[at : at + 1]
        at += 1
        if command == "{":
            while script[at : at + 1] in (" ", "\t", "\n", ";") and at < len(script):
                at += 1
            continue
        if command in ("s", "y"):
            end = _after_substitution(script, at, flags=command == "s")
            if end is None:
                return False
            at = end
        elif command not in _SED_COMMANDS or not command:
            return False
        done = _SED_END.match(script, at)
        if done is None:
            return False
        at = done.end()
    return bool(script)


def _after_substitution(script: str, at: int, *, flags: bool) -> int | None:
    """Where ``s/a/b/g`` ends; None when there is any doubt where its parts do."""
    mark = script[at : at + 1]
    if not mark or mark.isalnum() or mark in "\\\n \t;}":
        return None
    part = re.compile(rf"(?:\\[^\n]|[^\\\n{re.escape(mark)}])*{re.escape(mark)}")
    pattern = part.match(script, at + 1)
    replacement = part.match(script, pattern.end()) if pattern else None
    if pattern is None or replacement is None or not _closed_brackets(pattern[0][:-1]):
        return None
    given = _SED_FLAGS.match(script, replacement.end()) if flags else None
    return given.end() if given else replacement.end()


def _closed_brackets(pattern: str) -> bool:
    """Inside ``[…]`` some sed do not take the delimiter for one: then the parts are elsewhere."""
    inside = False
    for char in re.sub(r"\\.", "", pattern):
        if char == "[":
            inside = True
        elif char == "]":
            inside = False
    return not inside


def harmless_awk(program: str) -> bool:
    """No commands, no other input; ``>`` and ``|`` only before anything is printed: there they compare."""
    if _AWK_ACTS.search(program):
        return False
    prints = _AWK_PRINTS.search(program)
    return prints is None or not any(mark in program[prints.start() :] for mark in ">|")
