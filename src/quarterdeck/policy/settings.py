"""Reading and writing Claude Code's settings files: the only place of this package that does I/O on its own.

Read as the CLI reads them: managed, user, project and local settings. What lies in a folder that the user has not
trusted only narrows: no allow rule, no further directory and no weaker mode of it counts. 2.1.325 does the same for
``settings.json``; here it holds for ``settings.local.json`` too, which a repository may bring along as well. What did
not count is a note on the policy. Written so that nothing but the rule changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from quarterdeck.wire.permissions import PermissionMode

from .errors import BadRule, BadRulesError, BadSettingsError
from .jsonfile import JsonTextError, Value, append, line_of, parse, remove
from .rules import Behavior, Rule, RuleError, Source, parse_rule

MAX_BYTES = 4_000_000
IGNORE_TRUST = "CLAUDE_CODE_IGNORE_PERSISTED_TRUST"
"""With this variable the CLI (2.1.325) takes no folder for trusted."""
IN_THE_FOLDER: tuple[Source, ...] = ("localSettings", "projectSettings")
"""The author of the project may have written these."""
_STRICTEST_FIRST = ("plan", "dontAsk", "default", "auto", "acceptEdits", "bypassPermissions")
"""``plan`` asks about edits that rules allow, and ``dontAsk`` does not."""
BEHAVIORS: tuple[Behavior, ...] = ("allow", "deny", "ask")
MANAGED_FILE = {
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
    "win32": r"C:\Program Files\ClaudeCode\managed-settings.json",
}.get(sys.platform, "/etc/claude-code/managed-settings.json")


@dataclass(slots=True)
class SettingsFile:
    """One file, read."""

    path: str
    source: Source
    text: str
    root: Value
    rules: list[Rule] = field(default_factory=list)

    def get(self, *keys: str) -> Any:
        """The plain value at ``keys``, or None."""
        data: Any = json.loads(self.text.lstrip("\ufeff"))
        for key in keys:
            data = data.get(key) if isinstance(data, dict) else None
        return data


@dataclass(slots=True)
class Loaded:
    """What the files together say."""

    cwd: str
    home: str
    trust_file: str
    rules: list[Rule] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    roots: dict[Source, str] = field(default_factory=dict)
    mode: PermissionMode = "default"
    notes: list[str] = field(default_factory=list)


def load(cwd: str, *, home: str | None = None, config: str | None = None, managed: str | None = None) -> Loaded:
    """All settings for ``cwd``. Raises ``BadRulesError`` or ``BadSettingsError``; a missing file says nothing.

    ``config`` is the CLI's own folder: ``CLAUDE_CONFIG_DIR`` where that is set and no ``home`` is given, else
    ``.claude`` in ``home``. The file that knows which folders are trusted is in it, or beside it in ``home``.
    """
    folder = Path(cwd).absolute()
    user = Path.home() if home is None else Path(home)
    own = config or (os.environ.get("CLAUDE_CONFIG_DIR") if home is None else None)
    settings = Path(own) if own else user / ".claude"
    managed_file = Path(managed or MANAGED_FILE)
    places: tuple[tuple[Source, Path, Path], ...] = (
        ("policySettings", managed_file, managed_file.parent),
        ("localSettings", folder / ".claude" / "settings.local.json", folder),
        ("projectSettings", folder / ".claude" / "settings.json", folder),
        ("userSettings", settings / "settings.json", settings),
    )
    trust_file = trust_file_for(home, config)
    loaded = Loaded(str(folder), str(user), str(trust_file), roots={source: str(root) for source, _, root in places})
    bad: list[BadRule] = []
    read = [read_file(str(path), source, bad) for source, path, _ in places]
    if bad:
        raise BadRulesError(bad)
    _combine(loaded, [file for file in read if file is not None])
    return loaded


def _combine(loaded: Loaded, files: list[SettingsFile]) -> None:
    managed_only = any(
        file.get("allowManagedPermissionRulesOnly") is True for file in files if file.source == "policySettings"
    )
    trusted = is_trusted(loaded.cwd, loaded.trust_file)
    for file in files:
        rules, directories = file.rules, _strings(file, "additionalDirectories")
        if managed_only and file.source != "policySettings":
            if rules:
                loaded.notes.append(f"{file.path}: rules ignored, because managed settings allow only their own")
            rules, directories = [], []
        if file.source in IN_THE_FOLDER and not trusted:
            kept = [rule for rule in rules if rule.behavior != "allow"]
            if len(kept) < len(rules) or directories:
                loaded.notes.append(
                    f"{file.path}: allow rules and directories ignored, because this folder is not trusted"
                )
            rules, directories = kept, []
        loaded.rules.extend(rules)
        for folder in directories:  # one that does not exist when the CLI (2.1.325) starts is ignored
            if Path(loaded.cwd, folder).is_dir():
                loaded.directories.append(folder)
            else:
                loaded.notes.append(f"{file.path}: the directory {folder} is ignored, because it does not exist")
    loaded.mode = _mode(files, trusted, loaded.notes)


def _strings(file: SettingsFile, key: str) -> list[str]:
    found = file.get("permissions", key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise BadSettingsError(file.path, None, f"permissions.{key} is not a list of strings")
    return found


def _mode(files: list[SettingsFile], trusted: bool, notes: list[str]) -> PermissionMode:
    """The first file that sets a mode wins. The files of an untrusted folder can only make it stricter."""
    if trusted:
        return _said_mode(files, files, notes) or "default"
    outside = [file for file in files if file.source not in IN_THE_FOLDER]
    inside = [file for file in files if file.source in IN_THE_FOLDER]
    mode = _said_mode(outside, files, notes) or "default"
    wanted = _said_mode(inside, files, notes) or mode
    return min(mode, wanted, key=_STRICTEST_FIRST.index)


def _said_mode(files: list[SettingsFile], all_files: list[SettingsFile], notes: list[str]) -> PermissionMode | None:
    """None if no file sets one. A mode that is ignored becomes the default: 2.1.325 reads no further files either."""
    modes: tuple[PermissionMode, ...] = get_args(PermissionMode)
    disabled = any(file.get("permissions", "disableBypassPermissionsMode") == "disable" for file in all_files)
    for file in files:
        wanted = file.get("permissions", "defaultMode")
        if wanted is None:
            continue
        if wanted not in modes:
            raise BadSettingsError(
                file.path, None, f"permissions.defaultMode {wanted!r} is not one of {', '.join(modes)}"
            )
        weak = (wanted == "acceptEdits" and file.source == "projectSettings") or (
            wanted == "bypassPermissions" and (disabled or file.source in IN_THE_FOLDER)
        )
        if weak:
            notes.append(f"{file.path}: the mode {wanted} is ignored here")
            return "default"
        return cast(PermissionMode, wanted)
    return None


def trust_file_for(home: str | None = None, config: str | None = None) -> Path:
    """The CLI's file that knows which folders are trusted: in its own folder if that is named, else in the home."""
    own = config or (os.environ.get("CLAUDE_CONFIG_DIR") if home is None else None)
    return Path(own or home or Path.home()) / ".claude.json"


def is_trusted(cwd: str, trust_file: str) -> bool:
    """Whether the user accepted the CLI's trust dialogue for the project that ``cwd`` belongs to."""
    if os.environ.get(IGNORE_TRUST):
        return False
    path = Path(trust_file)
    try:
        projects = json.loads(path.read_bytes())["projects"]
    except (FileNotFoundError, KeyError):
        return False
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise BadSettingsError(str(path), None, f"cannot be read: {error}") from error
    entry = projects.get(str(project_of(Path(cwd).resolve()))) if isinstance(projects, dict) else None
    return isinstance(entry, dict) and entry.get("hasTrustDialogAccepted") is True


def project_of(folder: Path) -> Path:
    """The folder whose trust counts (2.1.325): the root of the repository (for a worktree, of its main checkout), or
    the folder itself outside a repository."""
    for above in (folder, *folder.parents):
        git = above / ".git"
        if git.is_dir():
            return above
        if git.is_file():
            return _main_checkout(git) or above
    return folder


def _main_checkout(git: Path) -> Path | None:
    """Of a worktree that its main checkout knows; a ``.git`` file can name any other repository."""
    try:
        own = (git.parent / git.read_text().removeprefix("gitdir:").strip()).resolve()
        common = (own / (own / "commondir").read_text().strip()).resolve()
        known = (own / (own / "gitdir").read_text().strip()).resolve() == git
    except (OSError, ValueError):
        return None
    return common.parent if known and common.name == ".git" else None


def read_file(path: str, source: Source, bad: list[BadRule]) -> SettingsFile | None:
    """One file; None if it does not exist. Rejected rules are added to ``bad``."""
    text = _read_text(path)
    if text is None or not text.strip():
        return None
    root = _parse(path, text)
    file = SettingsFile(path, source, text, root)
    permissions = root.members.get("permissions")
    if permissions is None:
        return file
    if permissions.kind != "object":
        raise BadSettingsError(path, line_of(text, permissions.start), "permissions is not an object")
    for behavior in BEHAVIORS:
        listed = permissions.members.get(behavior)
        if listed is None:
            continue
        if listed.kind != "array":
            raise BadSettingsError(path, line_of(text, listed.start), f"permissions.{behavior} is not a list")
        for item in listed.items:
            _read_rule(file, item, behavior, bad)
    return file


def _read_rule(file: SettingsFile, item: Value, behavior: Behavior, bad: list[BadRule]) -> None:
    line = line_of(file.text, item.start)
    try:
        if item.kind != "string":
            raise RuleError("a rule must be a string")
        file.rules.append(parse_rule(item.value, behavior, source=file.source, file=file.path, line=line))
    except RuleError as problem:
        shown = item.value if item.kind == "string" else file.text[item.start : item.end][:60]
        bad.append(BadRule(shown, str(problem), file.path, line))


def _read_text(path: str) -> str | None:
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BadSettingsError(path, None, f"cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise BadSettingsError(path, None, f"is larger than {MAX_BYTES} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadSettingsError(path, line, "is not UTF-8") from error


def _parse(path: str, text: str) -> Value:
    try:
        root = parse(text)
    except JsonTextError as problem:
        raise BadSettingsError(path, line_of(text, problem.at), f"is not valid JSON: {problem}") from problem
    if root.kind != "object":
        raise BadSettingsError(path, 1, "is not a JSON object")
    return root


def add_rule(path: str | os.PathLike[str], behavior: Behavior, rule: str) -> bool:
    """Add ``rule`` to a settings file, creating it if necessary. False if it is already there."""
    name = os.fspath(path)
    try:
        parse_rule(rule, behavior)
    except RuleError as problem:
        raise BadRulesError([BadRule(rule, str(problem), name)]) from problem
    text = _read_text(name)
    if text is None or not text.strip():
        text = "{\n}\n"
    listed, text = _list_for(name, text, behavior)
    if any(item.value == rule for item in listed.items):
        return False
    _write(name, append(text, listed, json.dumps(rule, ensure_ascii=False)))
    return True


def remove_rule(path: str | os.PathLike[str], behavior: Behavior, rule: str) -> bool:
    """Remove ``rule`` from a settings file, wherever it is listed under ``behavior``. False if it is not there."""
    name = os.fspath(path)
    text = _read_text(name)
    found = False
    while text is not None:
        permissions = _parse(name, text).members.get("permissions")
        listed = permissions.members.get(behavior) if permissions else None
        item = next((item for item in listed.items if item.value == rule), None) if listed else None
        if listed is None or item is None:
            break
        text, found = remove(text, listed, item), True
    if found and text is not None:
        _write(name, text)
    return found


def _list_for(path: str, text: str, behavior: Behavior) -> tuple[Value, str]:
    """The list of rules for ``behavior``, put into the text where it is missing."""
    for keys in (("permissions",), ("permissions", behavior)):
        container = _parse(path, text)
        for key in keys[:-1]:
            container = container.members[key]
        if keys[-1] not in container.members:
            empty = "{}" if keys == ("permissions",) else "[]"
            text = append(text, container, f"{json.dumps(keys[-1])}: {empty}")
    permissions = _parse(path, text).members["permissions"]
    listed = permissions.members.get(behavior)
    if permissions.kind != "object" or listed is None or listed.kind != "array":
        raise BadSettingsError(path, line_of(text, permissions.start), f"permissions.{behavior} is not a list")
    return listed, text


def _write(path: str, text: str) -> None:
    """Replace the file in one step. A link stays a link, the mode stays the mode."""
    _parse(path, text)
    target = Path(path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as file:
            with contextlib.suppress(FileNotFoundError):
                temporary.chmod(target.stat().st_mode & 0o7777)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
