"""Which settings a session would have: the layers of settings files merged as the CLI merges them, without starting it.

From low to high: user, project, local, flag (``settings`` of the options), managed. Objects are merged key by key,
lists are joined without repetition, anything else is replaced. A session that runs answers for itself:
``session.settings()``.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from quarterdeck.policy.settings import MANAGED_FILE
from quarterdeck.wire.hooks import HOOK_EVENTS

from .managed_settings import PolicyOrigin, managed_files, managed_tier
from .options_types import SettingSource
from .restrictive_settings import Settings, is_permission_rule
from .transcripts.places import config_dir

ResolvedSettingSource: TypeAlias = Literal["user", "project", "local", "flag", "managed"]

_REPLACED = ("fallbackModel", "modelPicker")
"""Taken as a whole from the highest layer that has it."""
_REPLACED_BY_KEY = ("extraKnownMarketplaces", "managedMcpServers")
_RULES = ("allow", "deny", "ask")
_ESCALATING = ("bypassPermissions", "auto", "acceptEdits")
_NEVER_FROM_A_CHECKOUT = ("bypassPermissions", "auto")
"""Even an uncommitted file next to the checkout may not choose these."""


class SettingProvenance(msgspec.Struct, frozen=True):
    """Where a setting comes from."""

    source: ResolvedSettingSource
    path: str | None = None
    """The file, for the sources that are files of this user or project."""
    policy_origin: PolicyOrigin | None = None
    """For ``managed``: from the server, from files, or from ``managed_settings``."""


class SettingsSourceLayer(msgspec.Struct, frozen=True):
    """The settings of one source."""

    source: ResolvedSettingSource
    settings: dict[str, Any]
    path: str | None = None
    policy_origin: PolicyOrigin | None = None


class ResolvedSettings(msgspec.Struct, frozen=True):
    """The answer of ``resolve_settings``."""

    effective: dict[str, Any]
    """All layers merged."""
    provenance: dict[str, SettingProvenance]
    """Each key of ``effective`` → the highest source that has it."""
    sources: list[SettingsSourceLayer]
    """The layers, lowest first. Empty sources are omitted."""
    unread: dict[str, str]
    """File → why it does not count: the CLI ignores a file with a fault as a whole."""


def resolve_settings(
    *,
    cwd: str | os.PathLike[str] | None = None,
    setting_sources: Sequence[SettingSource] | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    managed_settings: Mapping[str, Any] | None = None,
    server_managed_settings: Mapping[str, Any] | None = None,
    managed_folder: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> ResolvedSettings:
    """The settings that a session with these options would have. Reads files; starts no process.

    ``settings`` is the option of that name: a dict, JSON text or a file. ``managed_settings`` and
    ``server_managed_settings`` are the parts of the managed tier that are not files; ``managed_folder`` contains its
    files. ``env`` takes precedence over the environment, as in the options.

    ``permissions.defaultMode`` is what the files say: ask ``filter_escalating_default_mode`` before you act on it. The
    CLI ignores a file in which a value has the wrong type; here that is noticed only for ``env``, ``permissions``,
    ``hooks`` and null. Profiles and registries of other systems are not read.
    """
    folder = Path.cwd() if cwd is None else Path(cwd).absolute()
    wanted = ("user", "project", "local") if setting_sources is None else tuple(setting_sources)
    reader = _SettingsReader()
    layers = [
        reader.layer("user", Path(config_dir(env)) / "settings.json", wanted),
        reader.layer("project", folder / ".claude" / "settings.json", wanted),
        reader.layer("local", folder / ".claude" / "settings.local.json", wanted),
        reader.flag(settings, folder),
        _managed(reader, managed_folder, managed_settings, server_managed_settings),
    ]
    sources = [layer for layer in layers if layer is not None and layer.settings]
    effective: Settings = {}
    provenance: dict[str, SettingProvenance] = {}
    for layer in sources:
        effective = merge_settings(effective, layer.settings)
        origin = SettingProvenance(layer.source, layer.path, layer.policy_origin)
        provenance |= dict.fromkeys(layer.settings, origin)
    return ResolvedSettings(effective, provenance, sources, reader.unread)


def _managed(
    reader: _SettingsReader,
    folder: str | os.PathLike[str] | None,
    passed: Mapping[str, Any] | None,
    server: Mapping[str, Any] | None,
) -> SettingsSourceLayer | None:
    file: Settings = {}
    for path in managed_files(Path(MANAGED_FILE).parent if folder is None else Path(folder)):
        file = merge_settings(file, reader.file(path))
    tier = managed_tier(
        None if server is None else _readable(copy.deepcopy(dict(server))),
        file,
        None if passed is None else dict(passed),
        merge_settings,
    )
    return None if tier is None else SettingsSourceLayer("managed", tier[0], None, tier[1])


class _SettingsReader:
    """Reads settings, and remembers what does not count."""

    def __init__(self) -> None:
        self.unread: dict[str, str] = {}

    def layer(self, source: SettingSource, path: Path, wanted: Sequence[str]) -> SettingsSourceLayer | None:
        return SettingsSourceLayer(source, self.file(path), str(path)) if source in wanted else None

    def flag(self, given: Mapping[str, Any] | str | os.PathLike[str] | None, cwd: Path) -> SettingsSourceLayer | None:
        if given is None or given == "":
            return None
        if isinstance(given, Mapping):
            return SettingsSourceLayer("flag", self._checked("settings", json.dumps(given)))
        if isinstance(given, str) and given.lstrip().startswith("{"):
            return SettingsSourceLayer("flag", self._checked("settings", given))
        path = cwd / given
        return SettingsSourceLayer("flag", self.file(path), str(path))

    def file(self, path: Path) -> Settings:
        """The file's settings; empty if it does not exist or does not apply."""
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, ValueError) as error:
            self.unread[str(path)] = str(error)
            return {}
        return self._checked(str(path), text) if text.strip() else {}

    def _checked(self, name: str, text: str) -> Settings:
        try:
            loaded = json.loads(text)
            if not isinstance(loaded, dict):
                raise ValueError("it is not a JSON object")
            return _readable(loaded)
        except ValueError as error:
            self.unread[name] = str(error)
            return {}


def _readable(settings: Settings) -> Settings:
    """Settings as the CLI takes them up. Raises ``ValueError`` where it would ignore them all."""
    for key, value in settings.items():
        if value is None:
            raise ValueError(f"{key} is null")
    for key in ("env", "permissions", "hooks"):
        if not isinstance(settings.get(key, {}), dict):
            raise ValueError(f"{key} is not an object")
    if "env" in settings:
        settings["env"] = {name: _as_text(value) for name, value in settings["env"].items()}
    if "permissions" in settings:
        settings["permissions"] = _permissions(settings["permissions"])
    if "hooks" in settings:
        settings["hooks"] = {event: hooks for event, hooks in settings["hooks"].items() if event in HOOK_EVENTS}
        if any(not isinstance(hooks, list) for hooks in settings["hooks"].values()):
            raise ValueError("the hooks of an event are not a list")
        if not settings["hooks"]:
            del settings["hooks"]
    return settings


def _as_text(value: Any) -> str:
    """A variable's value as JavaScript writes it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)


def _permissions(given: Settings) -> Settings:
    """Invalid rules are dropped; the others apply."""
    kept = dict(given)
    for key in (*_RULES, "additionalDirectories"):
        listed = kept.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            raise ValueError(f"permissions.{key} is not a list of strings")
    for key in _RULES:
        if key in kept:
            kept[key] = [rule for rule in kept[key] if is_permission_rule(rule)]
    return kept


def merge_settings(lower: Mapping[str, Any], higher: Mapping[str, Any]) -> dict[str, Any]:
    """Two layers as one. Neither is changed."""
    merged = copy.deepcopy(dict(lower))
    for key, value in higher.items():
        merged[key] = _merged(key, merged.get(key), value)
    return merged


def _merged(key: str, lower: Any, higher: Any) -> Any:
    if key not in _REPLACED:
        if isinstance(lower, list) and isinstance(higher, list):
            return _joined(lower, higher)
        if isinstance(lower, dict) and isinstance(higher, dict):
            return {**lower, **copy.deepcopy(higher)} if key in _REPLACED_BY_KEY else merge_settings(lower, higher)
    return copy.deepcopy(higher)


def _joined(lower: list[Any], higher: list[Any]) -> list[Any]:
    """Without repetition of texts and numbers; objects that look the same are two."""
    joined: list[Any] = []
    for item in (*lower, *copy.deepcopy(higher)):
        if isinstance(item, dict | list) or not any(type(item) is type(other) and item == other for other in joined):
            joined.append(item)
    return joined


def filter_escalating_default_mode(resolved: ResolvedSettings) -> dict[str, Any]:
    """``resolved.effective`` without a permission mode that files of the checkout may not choose.

    The CLI takes ``bypassPermissions`` and ``auto`` from neither the project's nor the local file, and ``acceptEdits``
    not from the project's.
    """
    effective = resolved.effective
    mode = _mode(effective)
    if mode not in _ESCALATING:
        return effective
    chosen_by = next((layer.source for layer in reversed(resolved.sources) if _mode(layer.settings) is not None), None)
    barred = ("project", "local") if mode in _NEVER_FROM_A_CHECKOUT else ("project",)
    if chosen_by not in barred:
        return effective
    permissions = {key: value for key, value in effective["permissions"].items() if key != "defaultMode"}
    return {**effective, "permissions": permissions}


def _mode(settings: Mapping[str, Any]) -> Any:
    permissions = settings.get("permissions")
    return permissions.get("defaultMode") if isinstance(permissions, dict) else None
