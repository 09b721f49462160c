"""Prompts, MCP servers and options as an editor sends them, as the CLI takes them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from . import jsonrpc, schema
from .jsonrpc import RpcError

if TYPE_CHECKING:
    from quarterdeck.client.options_types import SystemPrompt

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def blocks_of(prompt: Sequence[schema.ContentBlock]) -> list[dict[str, Any]]:
    """The content of a prompt. Content that cannot be sent to the model is refused, never dropped."""
    blocks = [block for one in prompt for block in _blocks(one)]
    if not blocks:
        raise RpcError(jsonrpc.INVALID_PARAMS, "the prompt is empty")
    return blocks


def steers(meta: Mapping[str, Any] | None) -> bool:
    """Whether a prompt is to go into the turn that runs."""
    given = (meta or {}).get("quarterdeck")
    return isinstance(given, Mapping) and given.get("steer") is True


def _blocks(block: schema.ContentBlock) -> list[dict[str, Any]]:
    match block:
        case schema.ContentBlockText(text=text):
            return [_text(text)] if text else []
        case schema.ContentBlockImage(mime_type=kind, data=data):
            return [_image(kind, data)]
        case schema.ContentBlockResourceLink(uri=uri, name=name):
            return [_text(f"[@{name}]({uri})")]
        case schema.ContentBlockResource(resource=resource):
            return _resource(resource)
    raise RpcError(jsonrpc.INVALID_PARAMS, "audio is not supported: the model takes text, images and documents")


def _resource(given: Any) -> list[dict[str, Any]]:
    """A text is quoted with the place it comes from; an image or a PDF goes to the model as it is."""
    match given:
        case {"uri": str(uri), "text": str(text)}:
            name = uri.rstrip("/").rsplit("/", 1)[-1] or uri
            return [_text(f"[@{name}]({uri})"), _text(f'\n<context ref="{uri}">\n{text}\n</context>')]
        case {"uri": str(), "blob": str(data), "mimeType": str(kind)} if kind in IMAGE_TYPES:
            return [_image(kind, data)]
        case {"uri": str(), "blob": str(data), "mimeType": "application/pdf"}:
            source = {"type": "base64", "media_type": "application/pdf", "data": data}
            return [{"type": "document", "source": source}]
        case {"uri": str(uri), "blob": str()}:
            return [_text(f"[@{uri}]({uri})")]
    raise RpcError(jsonrpc.INVALID_PARAMS, "invalid parameters: an embedded resource needs a uri and a text or a blob")


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(kind: str, data: str) -> dict[str, Any]:
    if kind not in IMAGE_TYPES:
        raise RpcError(jsonrpc.INVALID_PARAMS, f"{kind} is not supported; use one of {', '.join(sorted(IMAGE_TYPES))}")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def folder_of(cwd: str) -> str:
    """Where a session works: a folder that exists."""
    if not Path(cwd).is_absolute():
        raise RpcError(jsonrpc.INVALID_PARAMS, f"cwd is not absolute: {cwd}")
    if not Path(cwd).is_dir():
        raise RpcError(jsonrpc.INVALID_PARAMS, f"no such folder: {cwd}")
    return os.path.normpath(cwd)


def servers_of(given: Sequence[Any] | None) -> dict[str, Any]:
    """MCP servers by name. One without a type is a program."""
    servers: dict[str, Any] = {}
    for one in given or ():
        kind = one.get("type") if isinstance(one, Mapping) else None
        shape: Any = {"http": schema.McpServerHttp, "sse": schema.McpServerSse, "acp": schema.McpServerAcp}.get(
            kind or "", schema.McpServerStdio
        )
        try:
            server = msgspec.convert(one, shape)
        except msgspec.ValidationError as error:
            raise RpcError(jsonrpc.INVALID_PARAMS, f"invalid parameters: {error} - at `$.mcpServers`") from error
        servers[server.name] = _server(server)
    return servers


def _server(server: Any) -> dict[str, Any]:
    match server:
        case schema.McpServerStdio():
            env = {one.name: one.value for one in server.env or ()}
            return {"type": "stdio", "command": server.command, "args": list(server.args or ()), "env": env}
        case schema.McpServerHttp() | schema.McpServerSse():
            kind = "http" if isinstance(server, schema.McpServerHttp) else "sse"
            headers = {one.name: one.value for one in server.headers or ()}
            return {"type": kind, "url": server.url, "headers": headers}
    raise RpcError(jsonrpc.INVALID_PARAMS, "MCP servers over the editor's own connection are not supported")


def system_prompt_of(given: schema.SystemPrompt | None) -> SystemPrompt:
    """Claude Code's own prompt, with additions or another one in its place."""
    if given is None:
        return {"type": "preset", "preset": "claude_code"}
    if any(not isinstance(block, schema.ContentBlockText) for block in given.content):
        raise RpcError(jsonrpc.INVALID_PARAMS, "the system prompt must be text")
    text = "\n\n".join(block.text for block in given.content if isinstance(block, schema.ContentBlockText))
    if given.mode == "override":
        return text
    return {"type": "preset", "preset": "claude_code", "append": text}


_SETTABLE = """agent agents allowed_tools betas disallowed_tools effort extra_args fallback_model max_budget_usd
    max_thinking_tokens max_turns model output_format permission_mode plugins sandbox setting_sources settings skills
    thinking title tools verbatim_prompts"""
FROM_EDITOR = frozenset(_SETTABLE.split())
"""Options that an editor may set in ``_meta.claudeCode.options``, by the names of either SDK."""


def options_of(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options among what an editor adds to a request; one that it may not set is an error that names it."""
    given = ((meta or {}).get("claudeCode") or {}).get("options") or {}
    if not isinstance(given, Mapping):
        raise RpcError(jsonrpc.INVALID_PARAMS, "_meta.claudeCode.options is not an object")
    options: dict[str, Any] = {}
    for key, value in given.items():
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()
        if name not in FROM_EDITOR:
            raise RpcError(jsonrpc.INVALID_PARAMS, f"_meta.claudeCode.options.{key} cannot be set by an editor")
        options[name] = value
    return options
