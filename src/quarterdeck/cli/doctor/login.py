"""Whether the user is logged in. No key, token, name or address is read or shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from quarterdeck.client.transcripts.places import config_dir
from quarterdeck.wire.versions import HAS_AUTH_STATUS, is_at_least

from .agent import call_cli
from .findings import DoctorFinding

_finding = partial(DoctorFinding, "login")
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": "Amazon Bedrock",
    "CLAUDE_CODE_USE_VERTEX": "Google Vertex AI",
    "CLAUDE_CODE_USE_FOUNDRY": "Microsoft Foundry",
}
STATUS_LIMIT_S = 20.0
_STATUS_FIELDS = ("loggedIn", "authMethod", "apiProvider", "apiKeySource")
"""What we keep of the CLI's answer; the rest may name a person or an organization."""
LOG_IN = "Run claude and type /login, or set ANTHROPIC_API_KEY."


def login(words: Sequence[str] | None, version: str | None, env: Mapping[str, str]) -> list[DoctorFinding]:
    present = [name for name in KEYS if env.get(name)]
    clouds = [cloud for name, cloud in CLOUDS.items() if env.get(name) not in (None, "", "0", "false")]
    found = []
    if present or clouds:
        what = _in_environment(present, clouds)
        found.append(_finding("login-environment", "ok", what, details={"set": present}))
    if (blank := [name for name in KEYS if name in env and not env[name].strip()]) != []:
        what = f"{', '.join(blank)} is set but empty."
        found.append(_finding("login-empty-key", "warning", what, "Unset it, or set it to a key."))
    status = _status(words, version, env)
    if status is not None:
        found.append(_from_status(status))
    else:
        found.append(_from_files(env, logged_in=bool(present or clouds)))
    return found


def _in_environment(present: list[str], clouds: list[str]) -> str:
    parts = [*(f"{name} is set" for name in present), *(f"{cloud} is selected" for cloud in clouds)]
    if len(present) > 1:
        parts.append(f"{present[0]} takes precedence")
    return f"{'; '.join(parts)}."


def _status(words: Sequence[str] | None, version: str | None, env: Mapping[str, str]) -> dict[str, Any] | None:
    """What the CLI reports; None if it cannot."""
    if words is None or not is_at_least(version, HAS_AUTH_STATUS):
        return None
    try:
        answer = call_cli(words, ["auth", "status", "--json"], env, STATUS_LIMIT_S)
        status = json.loads(answer.out)
    except (OSError, ValueError):
        return None
    if not isinstance(status, dict) or not isinstance(status.get("loggedIn"), bool):
        return None
    return {name: status[name] for name in _STATUS_FIELDS if isinstance(status.get(name), (str, bool))}


def _from_status(status: dict[str, Any]) -> DoctorFinding:
    if not status["loggedIn"]:
        return _finding("login", "problem", "Not logged in, according to the CLI.", LOG_IN, status)
    how = status.get("authMethod", "an unknown method")
    source = f" ({status['apiKeySource']})" if "apiKeySource" in status else ""
    return _finding("login", "ok", f"Logged in with {how}{source}, according to the CLI.", details=status)


def _from_files(env: Mapping[str, str], *, logged_in: bool) -> DoctorFinding:
    """By the existence of files: old CLIs cannot be asked."""
    if logged_in:
        return _finding("login", "ok", "By environment variable; the CLI was not asked.")
    file = Path(config_dir(env)) / ".credentials.json"
    if file.exists():
        return _finding("login", "ok", f"Credentials exist in {file.parent} (not read).")
    if sys.platform == "darwin":
        what = "No key and no credentials file. Credentials may be in the keychain, which is not checked."
        return _finding("login", "warning", what, f"If sessions fail: {LOG_IN}")
    what = f"Not logged in: no key in the environment and no credentials in {file.parent}."
    return _finding("login", "problem", what, LOG_IN)
