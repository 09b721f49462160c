"""Where the model is: Anthropic, Bedrock or Vertex behind another address, as an editor sets it.

There is one provider, ``main``. What is set counts for processes that are started from then on; it is kept in memory
and goes to them through their environment, never on a command line and never to disk.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from . import jsonrpc, schema
from .jsonrpc import RpcError

MAIN = "main"
_ADDRESSES = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "bedrock": "ANTHROPIC_BEDROCK_BASE_URL",
    "vertex": "ANTHROPIC_VERTEX_BASE_URL",
}
"""Protocol → the variable for its address."""
_SWITCHES = {"bedrock": "CLAUDE_CODE_USE_BEDROCK", "vertex": "CLAUDE_CODE_USE_VERTEX"}
_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"


class Providers:
    """What the editor has chosen."""

    def __init__(self) -> None:
        self._chosen: schema.SetProviderRequest | None = None

    def listed(self) -> list[schema.ProviderInfo]:
        chosen = self._chosen
        current = None
        if chosen is not None:
            current = schema.ProviderCurrentConfig(api_type=chosen.api_type, base_url=chosen.base_url)
        return [schema.ProviderInfo(provider_id=MAIN, supported=list(_ADDRESSES), required=False, current=current)]

    def set(self, wanted: schema.SetProviderRequest) -> None:
        _check_id(wanted.provider_id)
        if wanted.api_type not in _ADDRESSES:
            raise RpcError(jsonrpc.INVALID_PARAMS, f"{wanted.api_type} is not one of {', '.join(_ADDRESSES)}")
        address = urlsplit(wanted.base_url)
        if address.scheme not in ("http", "https") or not address.netloc:
            raise RpcError(jsonrpc.INVALID_PARAMS, "baseUrl is not an http or https URL")
        for name, value in (wanted.headers or {}).items():
            if not name or any(character in name + value for character in "\r\n\0") or ":" in name:
                raise RpcError(jsonrpc.INVALID_PARAMS, f"the header {name!r} cannot be sent")
        self._chosen = wanted

    def disable(self, provider_id: str) -> None:
        """Back to what Claude Code finds itself."""
        _check_id(provider_id)
        self._chosen = None

    def environment(self) -> dict[str, str]:
        """For a process that starts now."""
        chosen = self._chosen
        if chosen is None:
            return {}
        env = {_ADDRESSES[chosen.api_type]: chosen.base_url}
        if chosen.api_type in _SWITCHES:
            env[_SWITCHES[chosen.api_type]] = "1"
        if chosen.headers:
            env[_HEADERS] = "\n".join(f"{name}: {value}" for name, value in chosen.headers.items())
        return env


def _check_id(provider_id: str) -> None:
    if provider_id != MAIN:
        raise RpcError(jsonrpc.NOT_FOUND, f"there is no provider {provider_id}", {"providerId": provider_id})
