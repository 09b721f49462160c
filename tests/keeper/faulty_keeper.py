"""A keeper with a bug: it fails when a process says ``poison``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "src"))

from quarterdeck.keeper import __main__, spool  # type: ignore[attr-defined]

_append = spool.Spool.append


def append(self: spool.Spool, data: bytes) -> int:
    if b"poison" in bytes(data):
        return 1 // 0
    return _append(self, data)


spool.Spool.append = append  # type: ignore[method-assign,assignment]
sys.exit(__main__.main(sys.argv[1:]))
