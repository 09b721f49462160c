"""Requests about tool servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quarterdeck.testing.sim.mcp_links import LinkError

from . import RefusedRequest

if TYPE_CHECKING:
    from quarterdeck.testing.sim.mcp import SimulatedServer
    from quarterdeck.testing.sim.simulator import SimulatedCli

Request = dict[str, Any]


def mcp_status(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {"mcpServers": [server.shown() for server in cli.mcp.servers.values()]}


async def mcp_set_servers(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    """Servers that a former call set and this one does not name are removed; those of the command line stay."""
    wanted = request.get("servers")
    wanted = wanted if isinstance(wanted, dict) else {}
    servers = cli.mcp.servers
    removed = [name for name in cli.mcp.set_by_host if name not in wanted]
    for name in removed:
        await servers.pop(name).close()
    added = [name for name in wanted if name not in servers]
    for name in added:
        await cli.mcp.add(name, wanted[name]).connect()
    cli.mcp.set_by_host = (cli.mcp.set_by_host - set(removed)) | set(added)
    errors = {name: servers[name].error for name in added if servers[name].error}
    return {"added": added, "removed": removed, "errors": errors}


async def mcp_reconnect(cli: SimulatedCli, request: Request) -> None:
    server = _server(cli, request)
    await server.close()
    await server.connect()
    if server.error is not None:
        raise RefusedRequest(server.error)


async def mcp_toggle(cli: SimulatedCli, request: Request) -> None:
    server = _server(cli, request)
    if request.get("enabled") is True:
        await server.connect()
    else:
        await server.close()
        server.status = "disabled"


async def mcp_call(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    tool = str(request.get("tool"))
    if not tool.startswith("mcp__") or tool.count("__") < 2:
        raise RefusedRequest(f"Not a fully-qualified MCP tool name: {tool}")
    server, name = cli.mcp.find(tool)
    if server is None:
        raise RefusedRequest(f"Server not found: {tool.split('__')[1]}")
    try:
        async with cli.heartbeat(lambda *_: cli.say_raw({"type": "keep_alive"})):
            return await server.call(name, request.get("arguments") or {}, None)
    except (LinkError, TimeoutError) as error:
        raise RefusedRequest(str(error)) from None


def mcp_read_resource(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    if not str(request.get("uri", "")).startswith("ui://"):
        raise RefusedRequest("mcp_read_resource: uri must use the ui:// scheme")
    raise RefusedRequest(f"Server not found: {request.get('serverName')}")


def mcp_message(cli: SimulatedCli, request: Request) -> None:
    """A message initiated by a server inside the host; a changed list of tools is fetched again."""
    server = cli.mcp.servers.get(str(request.get("server_name")))
    message = request.get("message")
    if server is not None and isinstance(message, dict) and message.get("method") == "notifications/tools/list_changed":
        cli.watch(server.refresh_tools())


def mcp_authenticate(cli: SimulatedCli, request: Request) -> None:
    server = _server(cli, request)
    raise RefusedRequest(f'Server type "{server.kind}" does not support OAuth authentication')


def set_mcp_permission_mode_override(cli: SimulatedCli, request: Request) -> None:
    _server(cli, request)


def _server(cli: SimulatedCli, request: Request) -> SimulatedServer:
    name = request.get("serverName")
    server = cli.mcp.servers.get(str(name))
    if server is None:
        raise RefusedRequest(f"Server not found: {name}")
    return server


HANDLERS = {
    "mcp_status": mcp_status,
    "mcp_set_servers": mcp_set_servers,
    "mcp_reconnect": mcp_reconnect,
    "mcp_toggle": mcp_toggle,
    "mcp_call": mcp_call,
    "mcp_read_resource": mcp_read_resource,
    "mcp_message": mcp_message,
    "mcp_authenticate": mcp_authenticate,
    "mcp_clear_auth": mcp_authenticate,
    "mcp_oauth_callback_url": mcp_authenticate,
    "set_mcp_permission_mode_override": set_mcp_permission_mode_override,
}
