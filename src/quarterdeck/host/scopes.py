"""Authorization: checks every operation in one place, before it runs.

``checked`` wraps each method of ``Host`` that is an operation. A caller needs the operation's scope, sees only sessions
in its folders, and may use ``bypassPermissions`` only with a flag on its token. Writes are recorded in the audit log.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, TypeVar, get_args

import msgspec

from quarterdeck.store import Commit
from quarterdeck.store.commits import AddAudit
from quarterdeck.store.errors import StorageFailed, StoreError
from quarterdeck.store.records import AuditRecord

from . import requests as takes
from . import resources as returns
from .callers import PROGRAM, Caller
from .errors import HostError
from .folders import as_path, is_below
from .host_base import HostBase
from .operations import OPERATIONS, Operation
from .resources import Scope
from .stalls import host_error

logger = logging.getLogger("quarterdeck.host")

H = TypeVar("H", bound=type[HostBase])

_RANK: dict[str, int] = {scope: rank for rank, scope in enumerate(get_args(Scope))}
FILTERED = frozenset(
    {
        *("list_sessions", "list_approvals", "watch_approvals", "decide_many", "get_host", "get_health", "get_limits"),
        *("search", "get_presets", "try_rule"),
    }
)
"""Operations about no folder that a caller with folders may use: they show what it may see, or nothing of sessions."""
IN_THEIR_OWN_COMMIT = frozenset({"create_session", "decide", "decide_many"})
"""Operations that commit their audit entry with their change."""
UNWRITTEN_TOO = frozenset({"stop"})
"""Operations that work even if the log can't be written."""
NOT_AUDITED = frozenset({"send_prompt", "add_event", "attach_callbacks"})
"""Operations whose caller is in the session's log."""
_NOTED = frozenset(
    [
        "approval_id",
        "prompt_id",
        "grant_id",
        "token_id",
        "server",
        "task_id",
        "name",
        "tags",
        "model",
        "permission_mode",
        "archived",
        "budget_usd",
        "scope",
        "folders",
        "expires_s",
        "may_bypass",
        "subtype",
        "to",
        "at",
        "path",
        "force",
        "transcript_id",
        "cwd",
    ]
)
"""Request fields stored in the audit log. None can contain a secret."""


def allows(scope: Scope, needed: Scope) -> bool:
    return _RANK[scope] >= _RANK[needed]


def sees(caller: Caller, cwd: str) -> bool:
    return not caller.folders or is_below(cwd, caller.folders)


def checked(cls: H) -> H:
    """Check the caller of every operation of the class. A stream built on batches is checked there."""
    for name, operation in OPERATIONS.items():
        if hasattr(cls, f"{name}_together"):
            name = f"{name}_together"
        method = getattr(cls, name, None)
        if method is not None:
            setattr(cls, name, _checked_stream(operation, method) if operation.streams else _checked(operation, method))
    return cls


def _paths_of(request: type[takes.Request]) -> tuple[tuple[str, bool], ...]:
    """The fields that contain folders, and whether they may be empty."""
    known = {field.name: field.default == "" for field in msgspec.structs.fields(request)}
    return tuple((name, known[name]) for name in ("cwd", "path", "folders") if name in known)


_PATHS = {operation.takes: _paths_of(operation.takes) for operation in OPERATIONS.values()}


def _check_paths(request: takes.Request) -> None:
    """Reject relative paths, except from the program that runs the host. Raises ``HostError``."""
    for name, may_be_empty in _PATHS[type(request)]:
        value = getattr(request, name)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str) and (path or not may_be_empty):
                as_path(path, name, absolute=True)


_WITH_FILES = {
    operation.takes
    for operation in OPERATIONS.values()
    if any(field.type is bytes for field in msgspec.structs.fields(operation.takes))
}


def _check_characters(request: takes.Request) -> None:
    """Reject text with a lone surrogate, which can't be stored. Raises ``HostError``."""
    if type(request) in _WITH_FILES:
        return
    for name in request.__struct_fields__:
        try:
            msgspec.json.encode(getattr(request, name))
        except UnicodeEncodeError as error:
            raise HostError("invalid", f"{error.object[:50]!r} is not valid Unicode.", field=name) from error
        except TypeError:  # values that aren't JSON are rejected where they are used
            continue


def _checked(operation: Operation, method: Callable[..., Any]) -> Callable[..., Any]:
    async def written(
        self: HostBase, request: Any, caller: Caller, key: dict[str, str | None], session: str | None
    ) -> Any:
        result = await method(self, request, caller, **key)
        if operation.name not in IN_THEIR_OWN_COMMIT | NOT_AUDITED:
            await _note(self, operation, request, caller, session)
        return result

    @functools.wraps(method)
    async def call(self: HostBase, request: Any, caller: Caller = PROGRAM, **key: str | None) -> Any:
        try:
            session = await _admit(self, operation, request, caller)
            if not operation.writes:
                result = await method(self, request, caller, **key)
            elif operation.name in UNWRITTEN_TOO:
                _check_characters(request)
                result = await written(self, request, caller, key, session)
            else:
                _check_characters(request)
                self.stalls.check(session)
                result = await self.stalls.unless_stalled(session, written(self, request, caller, key, session))
        except StoreError as error:
            raise host_error(error) from error
        except UnicodeEncodeError as error:
            raise HostError("invalid", f"{error.object[:50]!r} is not valid Unicode.") from error
        if caller.folders and isinstance(result, returns.SessionList):
            seen = [one for one in result.sessions if sees(caller, one.cwd)]
            return msgspec.structs.replace(result, sessions=seen)
        return result

    return call


def _checked_stream(operation: Operation, method: Callable[..., Any]) -> Callable[..., Any]:
    if not inspect.isasyncgenfunction(method):
        return _checked(operation, method)

    @functools.wraps(method)
    async def stream(self: HostBase, request: Any, caller: Caller = PROGRAM) -> AsyncGenerator[Any, None]:
        try:
            await _admit(self, operation, request, caller)
            async with aclosing(method(self, request, caller)) as items:
                async for item in items:
                    yield item
        except StoreError as error:
            raise host_error(error) from error

    return stream


async def _admit(host: HostBase, operation: Operation, request: Any, caller: Caller) -> str | None:
    """Raises ``HostError`` if the caller may not do this. Returns the ID of the session concerned."""
    if not allows(caller.scope, operation.scope):
        raise HostError(
            "forbidden",
            f"{operation.name} requires the scope {operation.scope}; {caller.name} has {caller.scope}.",
            needed=operation.scope,
        )
    if not caller.may_bypass and "bypassPermissions" in _modes(request):
        raise HostError("forbidden", f"{caller.name} is not allowed to use bypassPermissions.", field="permission_mode")
    if caller.via != "library" and _PATHS[operation.takes]:
        _check_paths(request)
    if not caller.folders and not operation.writes:
        return None
    session, cwd = await _about(host, request)
    if caller.folders:
        named = session is not None or isinstance(request, takes.OfApproval)
        if cwd is None and not named and operation.name not in FILTERED:
            raise HostError(
                "forbidden", f"{caller.name} is limited to certain folders, and {operation.name} covers all of them."
            )
        if cwd is not None and not sees(caller, cwd):
            if session is not None:  # as if it did not exist
                raise HostError("not_found", f"There is no session {session}.")
            raise HostError("folder_not_allowed", f"{caller.name} has no access to {cwd}.", field="cwd")
    return session


def _modes(request: Any) -> set[Any]:
    """All permission modes that a request sets."""
    options = getattr(request, "options", None) or {}
    decision = getattr(request, "decision", None)
    return {getattr(request, "permission_mode", None), options.get("permission_mode"), getattr(decision, "mode", None)}


async def _about(host: HostBase, request: Any) -> tuple[str | None, str | None]:
    """The session and folder that a request concerns."""
    session = getattr(request, "session_id", None) or getattr(request, "session", None)
    if isinstance(request, takes.OfApproval):
        approval = await host.store.approval(request.approval_id)
        session = None if approval is None else approval.session
    if session is not None:
        record = await host.find_session(session)
        return (session, None) if record is None else (record.id, record.cwd)
    folder = getattr(request, "cwd", None) or getattr(request, "path", None) or getattr(request, "prefix", None)
    return None, str(as_path(folder)) if folder else None


async def _note(host: HostBase, operation: Operation, request: Any, caller: Caller, session: str | None) -> None:
    fields = msgspec.to_builtins(request)
    entry = AuditRecord(
        at=host.now(),
        who=caller.name,
        operation=operation.name,
        via=caller.via,
        session=session,
        body=msgspec.json.encode({name: value for name, value in fields.items() if name in _NOTED}),
    )
    try:
        await host.store.commit(Commit(changes=[AddAudit(entry)]))
    except StorageFailed:
        if operation.name not in UNWRITTEN_TOO:
            raise
        logger.exception("%s succeeded but could not be written to the audit log", operation.name)
