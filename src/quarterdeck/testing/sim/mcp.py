"""Tool servers: those inside the host, over ``mcp_message``, and those started as child processes."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from . import facts
from .mcp_links import LinkError, SdkLink, StdioLink
from .tools import Outcome

if TYPE_CHECKING:
    from .calls import SimulatedCall
    from .simulator import SimulatedCli

PROTOCOL = "2025-11-25"
CONNECT_LIMIT_S = 30.0
CALL_LIMIT_S = 120.0
CLIENT = {"name": "claude-code", "title": "Claude Code", "version": facts.VERSION}


class SimulatedServer:
    """One configured server and what it said of itself."""

    def __init__(self, cli: SimulatedCli, name: str, config: dict[str, Any], *, source: str) -> None:
        self._cli = cli
        self.name = name
        self.config = config
        self.source = source
        self.kind = str(config.get("type") or "stdio")
        self.status = "pending"
        self.error: str | None = None
        self.info: dict[str, Any] | None = None
        self.tools: list[dict[str, Any]] = []
        self._link: SdkLink | StdioLink | None = None
        self._shaken = False
        self._connecting = asyncio.Lock()

    def park(self, manifest: dict[str, Any]) -> None:
        """The host declared the server's answers in advance: no need to ask until a tool is called."""
        self.info = manifest.get("initializeResult", {}).get("serverInfo")
        self.tools = manifest.get("toolsListResult", {}).get("tools", [])
        self.status = "connected"

    async def connect(self) -> None:
        """One at a time: a host may ask to reconnect while the first connection is being made."""
        async with self._connecting:
            self.error = None
            try:
                async with asyncio.timeout(CONNECT_LIMIT_S):
                    await self._shake_hands()
                    await self.refresh_tools()
                self.status = "connected"
            except (LinkError, TimeoutError, OSError) as error:
                self.status, self.error = "failed", str(error) or "connection timed out"
                await self.close()

    async def _shake_hands(self) -> None:
        link: SdkLink | StdioLink
        if self.kind == "sdk":
            self._link = link = SdkLink(self._cli.host, self.name)
        elif self.kind == "stdio":
            self._link = link = StdioLink(
                self.config, cwd=self._cli.session.cwd, env=self._cli.env, on_request=self._asked
            )
            await link.start()
        else:
            raise LinkError(f"the simulator does not connect to {self.kind} servers")
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": CLIENT}
        answer = await link.request("initialize", hello)
        self.info = answer.get("serverInfo")
        await link.notify("notifications/initialized")
        if self._link is not link:
            if isinstance(link, StdioLink):
                await link.close()
            raise LinkError("the connection was closed while it was being made")
        self._shaken = True

    async def refresh_tools(self) -> None:
        if self._link is not None:
            self.tools = (await self._link.request("tools/list")).get("tools", [])

    async def call(self, tool: str, arguments: dict[str, Any], tool_use_id: str | None) -> dict[str, Any]:
        async with self._connecting:  # it may be connecting right now
            if not self._shaken:
                await self._shake_hands()
        if self._link is None:
            raise LinkError(f"{self.name} is not connected")
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if tool_use_id is not None:
            params["_meta"] = {"claudecode/toolUseId": tool_use_id, "progressToken": self._link.next_id}
        async with asyncio.timeout(CALL_LIMIT_S):
            return await self._link.request("tools/call", params)

    async def _asked(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """A request of the server: only elicitation means something to us."""
        if method != "elicitation/create":
            return None
        return await self._cli.mcp.elicit(
            self.name, str(params.get("message", "")), params.get("requestedSchema") or {}
        )

    async def close(self) -> None:
        link, self._link, self._shaken = self._link, None, False
        if isinstance(link, StdioLink):
            await link.close()

    def shown(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"name": self.name, "status": self.status}
        connected = self.status == "connected"
        if connected and self.info is not None:
            entry["serverInfo"] = self.info
        if self.error is not None:
            entry["error"] = self.error
        if self.kind != "sdk":
            entry["config"] = {"type": self.kind} | self.config
        entry |= {"transport": self.kind, "scope": "dynamic", "source": self.source}
        if connected:
            entry["tools"] = [{"name": tool["name"], "annotations": tool.get("annotations", {})} for tool in self.tools]
        return entry


class Mcp:
    def __init__(self, cli: SimulatedCli) -> None:
        self._cli = cli
        self.servers: dict[str, SimulatedServer] = {}
        self.set_by_host: set[str] = set()
        """Servers that came by ``mcp_set_servers``."""
        self._connecting: list[asyncio.Task[None]] = []

    def configure(self) -> None:
        """From the command line. SDK servers wait for the handshake: without a host there is nobody to ask."""
        for config in self._cli.session.flags.objects("--mcp-config"):
            for name, server in config.get("mcpServers", {}).items():
                self.add(name, server)

    def add(self, name: str, config: dict[str, Any]) -> SimulatedServer:
        source = "sdk" if config.get("type") == "sdk" else "dynamic"
        self.servers[name] = server = SimulatedServer(self._cli, name, config, source=source)
        return server

    def shake_hands(self, names: list[str], manifests: dict[str, Any]) -> None:
        """The host's ``initialize``: its own servers, with or without manifests."""
        for name in names:
            if name not in self.servers:
                self.add(name, {"type": "sdk", "name": name})
        for name, manifest in manifests.items():
            if name in self.servers and isinstance(manifest, dict):
                self.servers[name].park(manifest)
        self.connect_pending()

    def connect_pending(self) -> None:
        for server in self.servers.values():
            if server.status == "pending":
                server.status = "connecting"
                self._connecting.append(asyncio.create_task(server.connect()))

    @property
    def connecting(self) -> bool:
        return bool(self._connecting)

    async def ready(self) -> None:
        """A turn begins when every server has answered or failed."""
        self.connect_pending()
        if self._connecting:
            await asyncio.gather(*self._connecting)
            self._connecting.clear()

    async def close(self) -> None:
        for task in self._connecting:
            task.cancel()
        await asyncio.gather(*self._connecting, return_exceptions=True)
        for server in self.servers.values():
            await server.close()

    # What the rest asks

    def tool_names(self) -> list[str]:
        found = [server for server in self.servers.values() if server.status == "connected"]
        return [f"mcp__{server.name}__{tool['name']}" for server in found for tool in server.tools]

    def listed(self) -> list[dict[str, Any]]:
        return [
            {"name": server.name, "status": server.status, "source": server.source} for server in self.servers.values()
        ]

    def find(self, tool: str) -> tuple[SimulatedServer | None, str]:
        """The server of ``mcp__server__tool``, and the tool's own name."""
        _, _, rest = tool.partition("__")
        for name, server in self.servers.items():
            if rest.startswith(f"{name}__"):
                return server, rest.removeprefix(f"{name}__")
        return None, rest.partition("__")[2]

    def provenance(self, tool: str) -> dict[str, str] | None:
        if not tool.startswith("mcp__"):
            return None
        server, _ = self.find(tool)
        name = server.name if server else tool.split("__")[1]
        return {"name": name, "source": server.source if server else "dynamic"}

    def display_name(self, tool: str) -> str:
        return self.find(tool)[1].replace("_", " ").capitalize()

    def tool_use_meta(self, block: dict[str, Any]) -> dict[str, Any]:
        server, tool = self.find(block["name"])
        info = (server.info if server else None) or {}
        shown = {"id": block["id"], "display_name": self.display_name(block["name"])}
        return shown | {"server_display_name": info.get("name", server.name if server else ""), "tool_name": tool}

    async def call_tool(self, call: SimulatedCall) -> Outcome:
        server, tool = self.find(call.name)
        elicit = getattr(call.scripted, "elicit", None)
        if elicit is not None:
            name = server.name if server else call.name.split("__")[1]
            answer = await self.elicit(name, str(elicit.get("message", "")), elicit.get("schema") or {})
            content = [{"type": "text", "text": json.dumps(answer)}]
            return Outcome(content, content)
        if server is None or server.status != "connected":
            return Outcome.failed(f"The MCP server of {call.name} is not connected")
        try:
            result = await server.call(tool, call.input, call.id)
        except (LinkError, TimeoutError) as error:
            return Outcome.failed(str(error) or f"{call.name} timed out")
        content = result.get("content", [])
        if result.get("isError"):
            text = "\n".join(str(part.get("text", "")) for part in content)
            return Outcome(content, f"Error: {text}", is_error=True)
        return Outcome(content, content)

    async def elicit(self, server: str, message: str, schema: dict[str, Any]) -> dict[str, Any]:
        """Ask the person behind the host; hooks may answer first, and they get the answer."""
        hooks, host = self._cli.hooks, self._cli.host
        body: dict[str, Any] = {"mcp_server_name": server, "message": message, "mode": "form"}
        body["requested_schema"] = schema
        if hooks.has("Elicitation"):
            verdict = await hooks.fire("Elicitation", matched=server, **body)
            if verdict.specific.get("action"):
                return {key: verdict.specific[key] for key in ("action", "content") if key in verdict.specific}
        answer = await host.ask("elicitation", **body, property_order=list(schema.get("properties", {})))
        result = answer.payload if answer.ok and isinstance(answer.payload, dict) else {"action": "cancel"}
        if hooks.has("ElicitationResult"):
            await hooks.fire("ElicitationResult", matched=server, mcp_server_name=server, mode="form", **result)
        if hooks.has("Notification"):
            self._cli.watch(self._notify(server, str(result.get("action"))))
        return result

    async def _notify(self, server: str, action: str) -> None:
        kind, message = "elicitation_response", f'Elicitation response for server "{server}": {action}'
        await self._cli.hooks.fire("Notification", matched=kind, message=message, notification_type=kind)
