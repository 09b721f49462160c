"""Content blocks: the parts of messages from the model and the user.

``ContentBlock`` is the union of all of them. Which class a block on the wire becomes is decided by its ``type`` alone;
an unlisted type, or a block without a required field, becomes ``UnknownBlock`` and loses nothing.

========================  ==============================================================================
from the model            ``TextBlock`` ``ThinkingBlock`` ``RedactedThinkingBlock`` ``ToolUseBlock``
from the user             ``TextBlock`` ``ImageBlock`` ``DocumentBlock`` ``ToolResultBlock`` ``SearchResultBlock``
                          ``ToolReferenceBlock`` ``ToolAdditionBlock`` ``ToolRemovalBlock``
tools run by the API      ``ServerToolUseBlock``, its results (all are ``ServerToolResultBlock``), ``McpToolUseBlock``
                          ``McpToolResultBlock`` ``McpToolListingBlock`` ``ContainerUploadBlock``
API notices               ``CompactionBlock`` ``FallbackBlock``
========================  ==============================================================================

Values whose shape only their tool knows (inputs, results, citations) stay plain dicts; ``typed_block`` converts one
that is a block.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ._base import DOES_NOT_FIT
from ._official import official
from ._shapes import UNKNOWN_TAG, Tagged, Unknown, Word, constant, converter

ServerToolName = Literal[
    "advisor",
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
]


class Base64Source(Tagged, tag="base64"):
    """The bytes themselves: an image, or a PDF document."""

    data: str
    media_type: str


class UrlSource(Tagged, tag="url"):
    """An image or a PDF document that the API fetches."""

    url: str


class FileSource(Tagged, tag="file"):
    """A file that was uploaded to the API."""

    file_id: str


class PlainTextSource(Tagged, tag="text"):
    """A document as text."""

    data: str
    media_type: str = constant("text/plain")


class ContentSource(Tagged, tag="content"):
    """A document as content blocks."""

    content: str | list[ContentBlock]


Source = Base64Source | UrlSource | FileSource | PlainTextSource | ContentSource


@official("text")
class TextBlock(Tagged, tag="text"):
    text: str
    citations: list[dict[str, Any]] | None = None
    cache_control: dict[str, Any] | None = None


@official("thinking signature")
class ThinkingBlock(Tagged, tag="thinking"):
    thinking: str
    signature: str = constant("")


class RedactedThinkingBlock(Tagged, tag="redacted_thinking"):
    """Thinking that only the API can read."""

    data: str


@official("id name input")
class ToolUseBlock(Tagged, tag="tool_use"):
    """A call of a tool that the CLI runs. In a ``content_block_start`` event ``input`` is still empty."""

    id: str
    name: str
    input: dict[str, Any]
    caller: dict[str, Any] | None = None
    toolset_name: str | None = None
    cache_control: dict[str, Any] | None = None


@official("tool_use_id", "content is_error")
class ToolResultBlock(Tagged, tag="tool_result"):
    tool_use_id: str
    content: str | list[dict[str, Any]] | None = None
    is_error: bool | None = None
    toolset_name: str | None = None
    cache_control: dict[str, Any] | None = None


class ImageBlock(Tagged, tag="image"):
    source: Source
    transformations: dict[str, Any] | None = None
    cache_control: dict[str, Any] | None = None


class DocumentBlock(Tagged, tag="document"):
    source: Source
    title: str | None = None
    context: str | None = None
    citations: dict[str, Any] | None = None
    cache_control: dict[str, Any] | None = None


class SearchResultBlock(Tagged, tag="search_result"):
    source: str
    title: str
    content: list[ContentBlock]
    citations: dict[str, Any] | None = None
    cache_control: dict[str, Any] | None = None


class ToolReferenceBlock(Tagged, tag="tool_reference"):
    """A tool found by tool search; the CLI loads its schema."""

    tool_name: str
    cache_control: dict[str, Any] | None = None


class ToolAdditionBlock(Tagged, tag="tool_addition"):
    """From here on the model has this tool as well."""

    tool: dict[str, Any]
    cache_control: dict[str, Any] | None = None


class ToolRemovalBlock(Tagged, tag="tool_removal"):
    """From here on the model no longer has this tool."""

    tool: dict[str, Any]
    cache_control: dict[str, Any] | None = None


@official("id name input")
class ServerToolUseBlock(Tagged, tag="server_tool_use"):
    """A call of a tool that the API runs itself; see ``ServerToolName``. Its result follows in the same message."""

    id: str
    name: Word[ServerToolName]
    input: dict[str, Any]
    caller: dict[str, Any] | None = None
    cache_control: dict[str, Any] | None = None


@official("tool_use_id content")
class ServerToolResultBlock(Tagged, tag="advisor_tool_result"):
    """The result of a ``ServerToolUseBlock``: of the advisor, or a subclass for each other tool.

    ``content`` is the tool's own: mostly a dict with a ``type``, a list of such for a web search.
    """

    tool_use_id: str
    content: dict[str, Any] | list[dict[str, Any]]
    caller: dict[str, Any] | None = None
    cache_control: dict[str, Any] | None = None


class WebSearchToolResultBlock(ServerToolResultBlock, tag="web_search_tool_result"):
    pass


class WebFetchToolResultBlock(ServerToolResultBlock, tag="web_fetch_tool_result"):
    pass


class CodeExecutionToolResultBlock(ServerToolResultBlock, tag="code_execution_tool_result"):
    pass


class BashCodeExecutionToolResultBlock(ServerToolResultBlock, tag="bash_code_execution_tool_result"):
    pass


class TextEditorCodeExecutionToolResultBlock(ServerToolResultBlock, tag="text_editor_code_execution_tool_result"):
    pass


class ToolSearchToolResultBlock(ServerToolResultBlock, tag="tool_search_tool_result"):
    pass


class McpToolUseBlock(Tagged, tag="mcp_tool_use"):
    """A call of a tool on an MCP server that the API itself is connected to."""

    id: str
    name: str
    server_name: str
    input: dict[str, Any]
    cache_control: dict[str, Any] | None = None


class McpToolResultBlock(Tagged, tag="mcp_tool_result"):
    tool_use_id: str
    content: str | list[ContentBlock] | None = None
    is_error: bool | None = None
    cache_control: dict[str, Any] | None = None


class McpToolListingBlock(Tagged, tag="mcp_tool_listing"):
    """The tools of an MCP server that the API itself is connected to."""

    mcp_server_name: str
    tools: list[dict[str, Any]]


class ContainerUploadBlock(Tagged, tag="container_upload"):
    """A file put into the API's code execution container."""

    file_id: str
    cache_control: dict[str, Any] | None = None


class CompactionBlock(Tagged, tag="compaction"):
    """The API has replaced everything before this with a summary."""

    content: str | None = None
    encrypted_content: str | None = None
    signature: str | None = None
    tool_changes: list[dict[str, Any]] | None = None
    cache_control: dict[str, Any] | None = None


class FallbackBlock(Tagged, tag="fallback"):
    """Another model takes over, because the first one refused."""

    from_: dict[str, Any] = msgspec.field(name="from")
    to: dict[str, Any]
    trigger: Any = None


class UnknownBlock(Unknown, tag=UNKNOWN_TAG):
    """A block this version cannot type."""


ContentBlock = (
    TextBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolUseBlock
    | ToolResultBlock
    | ImageBlock
    | DocumentBlock
    | SearchResultBlock
    | ToolReferenceBlock
    | ToolAdditionBlock
    | ToolRemovalBlock
    | ServerToolUseBlock
    | ServerToolResultBlock
    | WebSearchToolResultBlock
    | WebFetchToolResultBlock
    | CodeExecutionToolResultBlock
    | BashCodeExecutionToolResultBlock
    | TextEditorCodeExecutionToolResultBlock
    | ToolSearchToolResultBlock
    | McpToolUseBlock
    | McpToolResultBlock
    | McpToolListingBlock
    | ContainerUploadBlock
    | CompactionBlock
    | FallbackBlock
    | UnknownBlock
)


to_block = converter("block", ContentBlock)


def typed_block(data: dict[str, Any]) -> ContentBlock:
    """A dict, such as those in ``ToolResultBlock.content``, as a typed block. Never raises."""
    try:
        return to_block(data)  # type: ignore[no-any-return]
    except DOES_NOT_FIT as error:
        return UnknownBlock(data, str(error))
