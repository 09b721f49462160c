"""A keeper of an earlier version of Quarterdeck. A file ``protocol`` next to the keepers' folder says which protocol it
speaks; without one, today's."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "src"))

from quarterdeck import _version
from quarterdeck.keeper import frames

_version.__version__ = "0.0.1"
_named = Path(sys.argv[1]).parent / "protocol"
if _named.exists():
    frames.PROTOCOL = int(_named.read_text())

from quarterdeck.keeper import __main__  # type: ignore[attr-defined]  # noqa: E402

sys.exit(__main__.main(sys.argv[1:]))
