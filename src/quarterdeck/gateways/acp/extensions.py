"""Methods of our own, beside the protocol's: what Claude Code can do and no method of ACP asks for.

Each takes ``sessionId`` and what it needs by name. Their names begin with ``_quarterdeck/``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from quarterdeck.client.session import Session
from quarterdeck.wire._base import plain

from . import jsonrpc
from .content import servers_of
from .conversation import Conversation
from .jsonrpc import RpcError
from .peer import decoded

PREFIX = "_quarterdeck/"


class _Session(msgspec.Struct, rename="camel"):
    session_id: str


class _Server(_Session):
    server: str


class _Toggle(_Server):
    enabled: bool


class _Servers(_Session):
    mcp_servers: list[Any]


class _Rewind(_Session):
    prompt_id: str
    dry_run: bool = False


class _Task(_Session):
    task_id: str


async def _account(session: Session, _: Any) -> Any:
    return session.server_info.account


async def _usage(session: Session, _: Any) -> Any:
    return await session.usage()


async def _context(session: Session, _: Any) -> Any:
    return await session.context_usage()


async def _mcp_status(session: Session, _: Any) -> Any:
    return await session.mcp_status()


async def _mcp_set(session: Session, given: _Servers) -> Any:
    return await session.set_mcp_servers(servers_of(given.mcp_servers))


async def _mcp_reconnect(session: Session, given: _Server) -> Any:
    return await session.reconnect_mcp_server(given.server)


async def _mcp_toggle(session: Session, given: _Toggle) -> Any:
    return await session.toggle_mcp_server(given.server, given.enabled)


async def _rewind(session: Session, given: _Rewind) -> Any:
    return await session.rewind_files(given.prompt_id, dry_run=given.dry_run)


async def _stop_task(session: Session, given: _Task) -> Any:
    return await session.stop_task(given.task_id)


async def _task_output(session: Session, given: _Task) -> Any:
    return await session.task_output(given.task_id)


Method = Callable[[Session, Any], Awaitable[Any]]
METHODS: dict[str, tuple[type[_Session], Method]] = {
    f"{PREFIX}account": (_Session, _account),
    f"{PREFIX}usage": (_Session, _usage),
    f"{PREFIX}context": (_Session, _context),
    f"{PREFIX}mcp/status": (_Session, _mcp_status),
    f"{PREFIX}mcp/set": (_Servers, _mcp_set),
    f"{PREFIX}mcp/reconnect": (_Server, _mcp_reconnect),
    f"{PREFIX}mcp/toggle": (_Toggle, _mcp_toggle),
    f"{PREFIX}rewind_files": (_Rewind, _rewind),
    f"{PREFIX}task/stop": (_Task, _stop_task),
    f"{PREFIX}task/output": (_Task, _task_output),
}


async def serve(method: str, params: bytes, find: Callable[[str], Conversation]) -> Any:
    known = METHODS.get(method)
    if known is None:
        raise RpcError(jsonrpc.METHOD_NOT_FOUND, f"there is no method {method}", {"method": method})
    kind, call = known
    given = decoded(params, kind)
    result = await call(await find(given.session_id).session(), given)
    return {} if result is None else plain(result)
