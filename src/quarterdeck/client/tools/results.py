"""What a handler returned → the result of ``tools/call``.

=====================================================  ======================================================
returned                                               becomes
=====================================================  ======================================================
``None``, ``{}``                                       no content
a string                                               one text block
a block made by ``text``, ``image``, ``audio``,        that block
``resource`` or ``resource_link``
a list of blocks and strings                           those blocks
a dict with ``content``, ``is_error``, ``isError`` or  what the official SDK makes of it, see ``_render_official``
``structuredContent``
any other dict, a dataclass, struct or Pydantic model  ``structuredContent``, and the same as JSON text
anything else that JSON can say                        JSON text
=====================================================  ======================================================

Of a result with ``structuredContent`` the model is shown that, as JSON, and not the text (CLI 2.0.77 to 2.1.325);
images beside it reach the model from 2.1.325 at the latest, and are dropped up to 2.1.52.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import logging
from typing import Any

import msgspec

logger = logging.getLogger(__name__)

_BLOCK_TYPES = {"text", "image", "audio", "resource", "resource_link"}
_FLATTENED = {"resource", "resource_link"}
_RESULT_KEYS = {"content", "is_error", "isError", "structuredContent"}
_encode = msgspec.json.Encoder().encode


class McpBlock(dict[str, Any]):
    """A block of a tool's result. Its class distinguishes it from a plain dict of data."""


def text(value: str) -> McpBlock:
    """A block of text."""
    return McpBlock(type="text", text=value)


def image(data: bytes | str, mime_type: str = "image/png") -> McpBlock:
    """An image: its bytes, or base64 text."""
    return McpBlock(type="image", data=_base64(data), mimeType=mime_type)


def audio(data: bytes | str, mime_type: str = "audio/wav") -> McpBlock:
    """A sound: its bytes, or base64 text."""
    return McpBlock(type="audio", data=_base64(data), mimeType=mime_type)


def resource(uri: str, content: str | bytes, mime_type: str | None = None) -> McpBlock:
    """A resource given in full: its text, or its bytes."""
    body: dict[str, Any] = {"uri": uri}
    if mime_type is not None:
        body["mimeType"] = mime_type
    if isinstance(content, str):
        body["text"] = content
    else:
        body["blob"] = _base64(content)
    return McpBlock(type="resource", resource=body)


def resource_link(uri: str, name: str, description: str | None = None, mime_type: str | None = None) -> McpBlock:
    """A resource the model may ask for."""
    optional = {"description": description, "mimeType": mime_type}
    return McpBlock(type="resource_link", uri=uri, name=name, **{k: v for k, v in optional.items() if v is not None})


def error_result(message: str) -> dict[str, Any]:
    """An error that the model sees and can correct, unlike a JSON-RPC error."""
    return {"content": [{"type": "text", "text": message}], "isError": True}


def render(value: Any, *, structured: bool = False) -> dict[str, Any]:
    """The result for what a handler returned. Raises ``TypeError`` or ``ValueError`` for values that can't be
    represented.

    ``structured``: the tool has an ``output_schema``, so a ``structuredContent`` it returns is meant for the client.
    """
    if value is None:
        return {"content": []}
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}]}
    if isinstance(value, McpBlock):
        return {"content": [_checked(value)]}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return _render_list(value)
    fields = _as_dict(value)
    if fields is None:
        return {"content": [_json_text(value)]}
    if isinstance(fields.get("content"), list) or not _RESULT_KEYS.isdisjoint(fields.keys() - {"content"}):
        return _render_official(fields, structured=structured or not isinstance(value, dict))
    if not isinstance(value, dict) and fields.get("type") in _BLOCK_TYPES:
        return {"content": [_checked(fields)]}  # a content block of the mcp package
    if not fields:
        return {"content": []}
    plain = msgspec.to_builtins(fields, str_keys=True)
    return {"content": [_json_text(plain)], "structuredContent": plain}


def _render_list(values: list[Any] | tuple[Any, ...]) -> dict[str, Any]:
    blocks = [_as_block(value) for value in values]
    if None in blocks:
        plain = [value if (data := _as_dict(value)) is None else data for value in values]
        return {"content": [_json_text(plain)]}
    return {"content": blocks}


def _render_official(form: dict[str, Any], *, structured: bool) -> dict[str, Any]:
    """The official form, read as the official SDK does, which has no ``output_schema``.

    It shows the model links and text resources as text, skips blocks of an unknown type with a warning, and leaves
    ``structuredContent`` out: the model would be shown that and not the text.
    """
    blocks = []
    for item in form.get("content") or ():
        block = _as_block(item, flatten=True)
        if block is not None:
            blocks.append(block)
        else:  # the CLI would refuse the whole result for it
            kind = item.get("type") if isinstance(item, dict) else type(item).__name__
            logger.warning("Unsupported content type %r in tool result, skipping", kind)
    result: dict[str, Any] = {"content": blocks}
    if form.get("is_error") or form.get("isError"):
        result["isError"] = True
    for key in ("structuredContent", "_meta") if structured else ("_meta",):
        if form.get(key) is not None:
            result[key] = msgspec.to_builtins(form[key], str_keys=True)
    return result


def _flattened(fields: dict[str, Any]) -> dict[str, Any] | None:
    """A link, or a resource that is text, as the text that the official SDK shows; None for any other block."""
    if fields["type"] == "resource_link":
        parts = (fields.get(key) for key in ("name", "uri", "description"))
        return {"type": "text", "text": "\n".join(str(part) for part in parts if part) or "Resource link"}
    body = fields.get("resource")
    if isinstance(body, dict) and isinstance(body.get("text"), str):
        return {"type": "text", "text": body["text"]}
    return None


def _as_dict(value: Any) -> dict[str, Any] | None:
    """A record as a dict; None for any other value."""
    if isinstance(value, dict):
        return value
    if hasattr(value, "model_dump"):
        dumped: dict[str, Any] = value.model_dump(mode="json", by_alias=True)
        if dumped.get("type") in _BLOCK_TYPES or isinstance(dumped.get("content"), list):
            dumped = value.model_dump(mode="json", by_alias=True, exclude_none=True)  # MCP has no null there
        return dumped
    if isinstance(value, msgspec.Struct) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        built = msgspec.to_builtins(value, str_keys=True)
        return built if isinstance(built, dict) else None
    return None


def _as_block(item: Any, *, flatten: bool = False) -> dict[str, Any] | None:
    """None for what is no block. ``flatten`` turns plain dicts of links and resources into text."""
    if isinstance(item, str):
        return {"type": "text", "text": item}
    fields = _as_dict(item)
    if fields is None or (kind := fields.get("type")) not in _BLOCK_TYPES:
        return None
    if flatten and kind in _FLATTENED and type(item) is dict and (text := _flattened(fields)) is not None:
        return text
    return _checked(fields)


def _checked(block: dict[str, Any]) -> dict[str, Any]:
    """The block as sent on the wire. An incomplete one fails here rather than in the CLI, which explains less."""
    kind = block["type"]
    if kind == "text":
        if not isinstance(block.get("text"), str):
            raise ValueError("a text block needs 'text', a string")
    elif kind in ("image", "audio"):
        if not isinstance(block.get("data"), str | bytes) or not isinstance(block.get("mimeType"), str):
            raise ValueError(f"an {kind} block needs 'data' (base64 text or bytes) and 'mimeType', a string")
    elif kind == "resource":
        body = block.get("resource")
        if not isinstance(body, dict) or "uri" not in body or not ("text" in body or "blob" in body):
            raise ValueError("a resource block needs 'resource' with 'uri' and either 'text' or 'blob'")
    elif not isinstance(block.get("uri"), str) or not isinstance(block.get("name"), str):
        raise ValueError("a resource_link block needs 'uri' and 'name', strings")
    plain: dict[str, Any] = msgspec.to_builtins(block)  # bytes become base64; what JSON cannot say is refused
    return plain


def _json_text(value: Any) -> dict[str, Any]:
    try:
        encoded = _encode(value).decode()
    except UnicodeEncodeError:  # a lone surrogate, as in file names that are not UTF-8; the codec can send it
        encoded = json.dumps(msgspec.to_builtins(value, str_keys=True), ensure_ascii=False, separators=(",", ":"))
    return {"type": "text", "text": encoded}


def _base64(data: bytes | str) -> str:
    return data if isinstance(data, str) else base64.b64encode(data).decode("ascii")
