"""Where the user's own files are."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder(given: str | os.PathLike[str] | None = None) -> Path:
    """The named folder, or the user's state folder by the system's conventions."""
    if given:
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "quarterdeck"
