"""One name for each program: ``/usr/bin/python3.11``, ``python3`` and ``python`` are the same."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from .options import known

_VERSIONED: Final = re.compile(
    r"(python|pypy|perl|ruby|lua|luajit|php|node|pip|pytest|go|vim|emacs|bash|zsh|ksh)-?[0-9][0-9.]*\Z"
)
_SAME: Final = {
    "nodejs": "node",
    "py.test": "pytest",
    "gmake": "make",
    "fdfind": "fd",
    "bsdtar": "tar",
    "ripgrep": "rg",
    **dict.fromkeys(("gawk", "mawk", "nawk", "oawk", "original-awk", "bwk"), "awk"),
    **dict.fromkeys(("vi", "nvim", "view", "ex", "gvim", "vimdiff", "rvim", "vim.tiny", "vim.basic"), "vim"),
    **dict.fromkeys(("irb", "jruby"), "ruby"),
}


@lru_cache(maxsize=4096)
def program_name(word: str) -> str:
    """The program that ``word`` runs, by its usual name."""
    name = word.rpartition("/")[2] or word
    if name in _SAME:
        return _SAME[name]
    versioned = _VERSIONED.match(name)
    if versioned:
        return versioned[1]
    if name[:1] == "g" and len(name) > 3 and known(name) is None and known(name[1:]) is not None:
        return name[1:]  # the GNU tools on systems that have their own
    return name
