"""A keeper on a machine whose clock is set back again and again: each look at it shows an earlier hour."""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "src"))

_hours = itertools.count()
_time = time.time
time.time = lambda: _time() - 3600 * next(_hours)

from quarterdeck.keeper import __main__  # type: ignore[attr-defined]  # noqa: E402

sys.exit(__main__.main(sys.argv[1:]))
