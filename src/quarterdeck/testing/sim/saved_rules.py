"""Permission rules in settings files: where the simulator saves them and reads them again.

With its own folder (``is_apart``) the simulator reads what it saved, as the CLI does, so that "always" applies to the
next run. Otherwise it reads no files: a test passes the rules it wants, and the tester's own settings must not matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.testing.simulated import is_apart

if TYPE_CHECKING:
    from .permissions import PermissionRule
    from .state import SimulatedSession

BEHAVIORS = ("allow", "deny", "ask")


def saved_rules(session: SimulatedSession) -> Iterator[tuple[str, str, str]]:
    """(behaviour, rule, source) from the files that ``--setting-sources`` selects."""
    if not is_apart(session.env, session.flags):
        return
    chosen = session.flags.get("--setting-sources")
    for source, path in _files(session).items():
        if chosen is None or source.removesuffix("Settings") in chosen.split(","):
            for behavior, texts in _permissions(path).items():
                if behavior in BEHAVIORS and isinstance(texts, list):
                    yield from ((behavior, str(text), source) for text in texts)


def save_rules(session: SimulatedSession, destination: str, rules: Iterable[PermissionRule]) -> None:
    """Save the rules where ``destination`` says; without a folder of its own the simulator has local settings only."""
    path = _files(session).get(destination)
    if path is None or (destination != "localSettings" and not is_apart(session.env, session.flags)):
        return
    settings = _settings(path) if path.exists() else {}
    if settings is None:
        return  # not ours to overwrite
    stored = settings.setdefault("permissions", {})
    for rule in rules:
        texts = stored.setdefault(rule.behavior, [])
        if str(rule) not in texts:
            texts.append(str(rule))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings, indent=2) + "\n")


def _files(session: SimulatedSession) -> dict[str, Path]:
    project = session.cwd / ".claude"
    return {
        "userSettings": session.config_dir / "settings.json",
        "projectSettings": project / "settings.json",
        "localSettings": project / "settings.local.json",
    }


def _permissions(path: Path) -> dict[str, Any]:
    found = (_settings(path) or {}).get("permissions")
    return found if isinstance(found, dict) else {}


def _settings(path: Path) -> dict[str, Any] | None:
    """None if the file cannot be read as settings."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
