"""A session from a store, resumed on this machine.

The CLI resumes from files. So the session is written to a temporary config folder, with what the CLI needs of the
user's own one besides: settings, and how it logs in. ``CLAUDE_CONFIG_DIR`` points the CLI there, and the folder goes
when the session ends (or this process, however it does). What the session adds is mirrored to the store.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Awaitable, Mapping
from pathlib import Path, PureWindowsPath
from typing import Any, TypeVar

from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.transcripts.messages import meta_path
from quarterdeck.client.transcripts.places import (
    CONFIG_DIR,
    SUFFIX,
    config_dir,
    is_session_id,
    project_key_for_directory,
)
from quarterdeck.transport import watchdog
from quarterdeck.wire._json import dumps

from .protocol import SessionStore, SessionStoreError, implements, key_for
from .reading import split_metadata

T = TypeVar("T")
logger = logging.getLogger("quarterdeck")

KEYCHAIN_S = 5.0
_KEYCHAIN_SERVICE = "Claude Code-credentials"
_INSTEAD_OF_KEYCHAIN = (CONFIG_DIR, "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN")
_NOT_IN_A_COPY = ("enabledPlugins", "extraKnownMarketplaces")
"""Settings that would make the CLI install plugins into the temporary folder at every resume."""


class ResumedHome:
    """A temporary config folder with one session in it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="quarterdeck-resume-"))
        watchdog.guard_directory(str(self.path))
        self._remove = weakref.finalize(self, _remove, str(self.path))

    def remove(self) -> None:
        self._remove()

    def write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)


def _remove(path: str) -> None:
    shutil.rmtree(path, ignore_errors=True)  # someone else may have cleaned the temporary folder
    watchdog.release_directory(path)


async def options_from_store(options: ClaudeAgentOptions) -> tuple[ClaudeAgentOptions, ResumedHome | None]:
    """The options to start the CLI with, and the folder to remove after it; unchanged if there is nothing to resume.

    A session that the store does not have is left to the CLI, which may have it on disk. Raises ``SessionStoreError``.
    """
    store = options.session_store
    if store is None or not (options.resume or options.continue_conversation):
        return options, None
    loader = _Loader(store, project_key_for_directory(options.cwd or None), options.load_timeout_ms / 1000)
    found = await (loader.session(options.resume) if options.resume else loader.newest())
    if found is None:
        return options, None
    session_id, entries = found
    home = ResumedHome()
    try:
        folder = home.path / "projects" / loader.project_key
        home.write(folder / (session_id + SUFFIX), _lines(entries))
        copy_login_and_settings(home, options.env)
        for path, data in await loader.agents(session_id, folder / session_id):
            home.write(path, data)
    except BaseException:
        home.remove()
        raise
    env = {**options.env, CONFIG_DIR: str(home.path)}
    return dataclasses.replace(options, env=env, resume=session_id, continue_conversation=False), home


def _lines(entries: list[Any]) -> bytes:
    return b"".join(dumps(entry) + b"\n" for entry in entries)


class _Loader:
    """Reads one project of a store, each call in bounded time."""

    def __init__(self, store: SessionStore, project_key: str, timeout_s: float) -> None:
        self._store = store
        self.project_key = project_key
        self._timeout_s = timeout_s

    async def _ask(self, call: Awaitable[T], what: str) -> T:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await call
        except TimeoutError as error:
            limit = f"{self._timeout_s:g} s (load_timeout_ms)"
            raise SessionStoreError(f"the session store's {what} took longer than {limit}; not resumed") from error
        except Exception as error:
            raise SessionStoreError(f"the session store's {what} failed, so nothing was resumed: {error}") from error

    async def session(self, session_id: str) -> tuple[str, list[Any]] | None:
        if not is_session_id(session_id):
            return None  # a title, which the CLI looks up; and never a part of a path
        entries = await self._ask(self._store.load(key_for(self.project_key, session_id)), f"load() of {session_id}")
        return (session_id, list(entries)) if entries else None

    async def newest(self) -> tuple[str, list[Any]] | None:
        """The newest conversation, as ``--continue`` has it: not one of a sub-agent."""
        listed = await self._ask(self._store.list_sessions(self.project_key), "list_sessions()")
        for one in sorted(listed, key=lambda entry: entry["mtime"], reverse=True):
            found = await self.session(one["session_id"])
            if found is not None and not (isinstance(found[1][0], dict) and found[1][0].get("isSidechain") is True):
                return found
        return None

    async def agents(self, session_id: str, folder: Path) -> list[tuple[Path, bytes]]:
        """The files of a session's sub-agents."""
        if not implements(self._store, "list_subkeys"):
            return []
        key = key_for(self.project_key, session_id)
        subkeys = await self._ask(
            self._store.list_subkeys({"project_key": self.project_key, "session_id": session_id}), "list_subkeys()"
        )
        files: list[tuple[Path, bytes]] = []
        for subpath in dict.fromkeys(subkeys):
            if not is_safe_subpath(subpath):
                logger.warning("the session store has a sub-agent with the unsafe path %r, which is skipped", subpath)
                continue
            entries = await self._ask(self._store.load({**key, "subpath": subpath}), f"load() of {subpath}")
            meta, records = split_metadata(list(entries or ()))
            target = folder.joinpath(*subpath.split("/"))
            path = target.with_name(target.name + SUFFIX)
            if records:
                files.append((path, _lines(records)))
            if meta is not None:
                about = {name: value for name, value in meta.items() if name != "type"}
                files.append((meta_path(str(path)), dumps(about)))
        return files


def is_safe_subpath(subpath: str) -> bool:
    """A name from a store becomes a path: nothing absolute, nothing that leads up, on no system."""
    parts = set(subpath.replace("\\", "/").split("/"))
    return "\0" not in subpath and not PureWindowsPath(subpath).drive and parts.isdisjoint({"", ".", ".."})


# The user's own folder


def copy_login_and_settings(home: ResumedHome, env: Mapping[str, str]) -> None:
    """The files the CLI needs to run as the user's own does. Missing or unreadable files are skipped."""
    own = Path(config_dir(env))
    named = env.get(CONFIG_DIR) or os.environ.get(CONFIG_DIR)
    login = _read(own / ".credentials.json")
    if sys.platform == "darwin" and not any(env.get(one) or os.environ.get(one) for one in _INSTEAD_OF_KEYCHAIN):
        login = _keychain() or login
    state = own / ".claude.json" if named else own.parent / ".claude.json"
    copies = {
        ".credentials.json": login and _without_refresh_token(login),
        ".claude.json": _read(state),
        "settings.json": _settings(_read(own / "settings.json")),
        "cowork_settings.json": _settings(_read(own / "cowork_settings.json")),
    }
    for name, data in copies.items():
        if data is not None:
            home.write(home.path / name, data)


def _read(path: Path) -> bytes | None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would make us wait for ever
            return None
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        logger.warning("%s is not used by the resumed session: %s", path, error)
        return None


def _without_refresh_token(login: bytes) -> bytes:
    """It can be used once: a CLI that used it in the temporary folder would log the user's own one out."""
    try:
        data = json.loads(login)
    except ValueError:
        return login
    if isinstance(data, dict) and isinstance(oauth := data.get("claudeAiOauth"), dict):
        oauth.pop("refreshToken", None)
    return json.dumps(data).encode()


def _settings(data: bytes | None) -> bytes | None:
    """Without what would lead the CLI away from the temporary folder, or fill it."""
    try:
        settings = json.loads((data or b"").decode("utf-8-sig"))
    except ValueError:
        return data
    if not isinstance(settings, dict):
        return data
    kept = {name: value for name, value in settings.items() if name not in _NOT_IN_A_COPY}
    if isinstance(env := kept.get("env"), dict):
        kept["env"] = {name: value for name, value in env.items() if name != CONFIG_DIR}
    return data if kept == settings else dumps(kept)


def _keychain() -> bytes | None:
    """macOS keeps the login in the keychain, under a name that depends on the config folder."""
    import getpass
    import subprocess

    command = ["security", "find-generic-password", "-a", getpass.getuser(), "-w", "-s", _KEYCHAIN_SERVICE]
    try:
        asked = subprocess.run(command, capture_output=True, timeout=KEYCHAIN_S, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.strip() or None if asked.returncode == 0 else None
