"""The managed tier of settings, set by a server, an administrator or an embedding program.

The first of these sources that sets anything wins: settings from the server, the managed file with its drop-ins,
settings passed by the program. With settings from the server, only the file's environment variables still apply; a file
with ``"parentSettingsBehavior": "merge"`` also lets the program's settings apply, below its own. Measured on 2.1.325.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from .restrictive_settings import Settings, restrictive_part

PolicyOrigin: TypeAlias = Literal["remote", "file", "parent"]
Merge: TypeAlias = Callable[[Settings, Settings], Settings]

MAIN_FILE = "managed-settings.json"
DROP_INS = "managed-settings.d"


def managed_files(folder: Path) -> list[Path]:
    """The managed file and its drop-ins, in the order in which they are merged."""
    try:
        extra = sorted(path for path in (folder / DROP_INS).iterdir() if path.suffix == ".json")
    except OSError:
        extra = []
    return [folder / MAIN_FILE, *(path for path in extra if not path.name.startswith("."))]


def managed_tier(
    server: Settings | None, file: Settings, parent: Settings | None, merge: Merge
) -> tuple[Settings, PolicyOrigin] | None:
    """The managed settings and their source; None if there are none."""
    if server:
        env = {**file.get("env", {}), **server.get("env", {})}
        return {**server, **({"env": env} if env else {})}, "remote"
    passed = restrictive_part(parent) if parent else {}
    if file:
        return (merge(passed, file) if file.get("parentSettingsBehavior") == "merge" else file), "file"
    return (passed, "parent") if passed else None
