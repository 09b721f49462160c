"""Whether somebody is signed in. Only that: no key, token, name or address is read or shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quarterdeck.client.transcripts.places import config_dir
from quarterdeck.wire.versions import parse_version

from .agent import ask
from .finding import Finding

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": "Amazon Bedrock",
    "CLAUDE_CODE_USE_VERTEX": "Google Vertex AI",
    "CLAUDE_CODE_USE_FOUNDRY": "Microsoft Foundry",
}
STATUS_SINCE = (2, 1, 52)
"""The oldest measured version with ``auth status``. On 2.0.77 and 2.1.17 these words are a prompt to the model."""
STATUS_LIMIT_S = 20.0
_TOLD = ("loggedIn", "authMethod", "apiProvider", "apiKeySource")
"""What is taken from the CLI's answer; the rest may name a person or an organization."""
SIGN_IN = "run claude and type /login, or set ANTHROPIC_API_KEY"


def login(words: Sequence[str] | None, version: str | None, env: Mapping[str, str]) -> list[Finding]:
    present = [name for name in KEYS if env.get(name)]
    clouds = [told for name, told in CLOUDS.items() if env.get(name) not in (None, "", "0", "false")]
    found = []
    if present or clouds:
        told = _in_environment(present, clouds)
        found.append(Finding("login", "login-environment", "ok", told, details={"set": present}))
    if (blank := [name for name in KEYS if name in env and not env[name].strip()]) != []:
        what = f"{', '.join(blank)} is set, but empty"
        found.append(Finding("login", "login-empty-key", "warning", what, "unset it, or give it its value"))
    status = _status(words, version, env)
    if status is not None:
        found.append(_from_status(status))
    else:
        found.append(_from_files(env, signed_in=bool(present or clouds)))
    return found


def _in_environment(present: list[str], clouds: list[str]) -> str:
    told = [*(f"{name} is set" for name in present), *(f"{cloud} is chosen" for cloud in clouds)]
    if len(present) > 1:
        told.append(f"the CLI uses {present[0]} before the others")
    return "; ".join(told)


def _status(words: Sequence[str] | None, version: str | None, env: Mapping[str, str]) -> dict[str, Any] | None:
    """What the CLI itself says; None if it cannot."""
    known = parse_version(version)
    if words is None or known is None or known < STATUS_SINCE:
        return None
    try:
        answer = ask(words, ["auth", "status", "--json"], env, STATUS_LIMIT_S)
        told = json.loads(answer.out)
    except (OSError, ValueError):
        return None
    if not isinstance(told, dict) or not isinstance(told.get("loggedIn"), bool):
        return None
    return {name: told[name] for name in _TOLD if isinstance(told.get(name), (str, bool))}


def _from_status(status: dict[str, Any]) -> Finding:
    if not status["loggedIn"]:
        return Finding("login", "login", "problem", "the CLI says that nobody is signed in", SIGN_IN, status)
    how = status.get("authMethod", "a way it does not tell")
    source = f" from {status['apiKeySource']}" if "apiKeySource" in status else ""
    return Finding("login", "login", "ok", f"the CLI says it is signed in, by {how}{source}", details=status)


def _from_files(env: Mapping[str, str], *, signed_in: bool) -> Finding:
    """By the existence of files alone, as old CLIs have no other way."""
    if signed_in:
        return Finding("login", "login", "ok", "the environment says how; the CLI was not asked")
    file = Path(config_dir(env)) / ".credentials.json"
    if file.exists():
        return Finding("login", "login", "ok", f"there are credentials in {file.parent} (not read)")
    if sys.platform == "darwin":
        what = "no key and no credentials file; they may be in the keychain, which is not looked into"
        return Finding("login", "login", "warning", what, f"if sessions fail: {SIGN_IN}")
    what = f"no key in the environment and no credentials in {file.parent}"
    return Finding("login", "login", "problem", what, SIGN_IN)
