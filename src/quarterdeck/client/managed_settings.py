"""The managed tier of settings, set by a server, an administrator or an embedding program.

The first of these sources that sets anything wins: settings from the server, the managed file with its drop-ins,
settings passed by the program. With settings from the server, only the file's environment variables still apply; a file
with ``"parentSettingsBehavior": "merge"`` also lets the program's settings apply, below its own. Measured on 2.1.325.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias

PolicyOrigin: TypeAlias = Literal["remote", "file", "parent"]
Settings: TypeAlias = dict[str, Any]
Merge: TypeAlias = Callable[[Settings, Settings], Settings]

MAIN_FILE = "managed-settings.json"
DROP_INS = "managed-settings.d"

_TRUE = [
    "allowManagedPermissionRulesOnly",
    "allowManagedHooksOnly",
    "allowManagedMcpServersOnly",
    "enforceAvailableModels",
    "disableClaudeAiConnectors",
    "disableCommandPluginSources",
    "disableSideloadFlags",
    "disableSkillShellExecution",
    "disableWindowsBashCommandSplit",
    "disableRemoteControl",
    "disableAgentView",
    "disableWorkflows",
    "disableArtifact",
]
_FALSE = ["enableArtifact", "enableWorkflows", "syncClaudeAiSkills", "syncClaudeAiPlugins"]
_LISTS = ["deniedMcpServers", "deniedModels", "allowedMcpServers", "availableModels", "strictKnownMarketplaces"]
_PERMISSION_LISTS = ("deny", "ask", "allow", "additionalDirectories")
_SANDBOX_TRUE = ("enabled", "failIfUnavailable")
_SANDBOX_FALSE = ("autoAllowBashIfSandboxed", "allowUnsandboxedCommands", "enableWeakerNestedSandbox")
_SANDBOX_LISTS = {"network": ("deniedDomains", "allowedDomains"), "filesystem": ("denyRead", "denyWrite", "allowRead")}


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


def restrictive_part(settings: Settings) -> Settings:
    """What a program may set in the managed tier: permission rules and restrictions, nothing else."""
    kept: Settings = {key: True for key in _TRUE if settings.get(key) is True}
    kept |= {key: False for key in _FALSE if settings.get(key) is False}
    if settings.get("disableAllHooks") is True:
        kept["allowManagedHooksOnly"] = True  # a program cannot switch the administrator's hooks off
    if settings.get("disableAutoMode") == "disable":
        kept["disableAutoMode"] = "disable"
    kept |= {key: settings[key] for key in _LISTS if isinstance(settings.get(key), list)}
    for key, part in (("permissions", _permissions(settings)), ("sandbox", _sandbox(settings))):
        if part:
            kept[key] = part
    return copy.deepcopy(kept)


def _section(settings: Settings, key: str) -> Settings:
    found = settings.get(key)
    return found if isinstance(found, dict) else {}


def _permissions(settings: Settings) -> Settings:
    given = _section(settings, "permissions")
    kept = {key: given[key] for key in _PERMISSION_LISTS if isinstance(given.get(key), list)}
    for key in ("deny", "ask"):
        if key in kept:  # an exception to other rules restricts nothing
            kept[key] = [rule for rule in kept[key] if "(!" not in str(rule)]
    for key in ("disableBypassPermissionsMode", "disableAutoMode"):
        if given.get(key) == "disable":
            kept[key] = "disable"
    return kept


def _sandbox(settings: Settings) -> Settings:
    given = _section(settings, "sandbox")
    kept: Settings = {key: True for key in _SANDBOX_TRUE if given.get(key) is True}
    kept |= {key: False for key in _SANDBOX_FALSE if given.get(key) is False}
    for name, keys in _SANDBOX_LISTS.items():
        part = {key: lists[key] for lists in [_section(given, name)] for key in keys if key in lists}
        if part:
            kept[name] = part
    return kept
