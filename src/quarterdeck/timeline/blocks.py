"""The blocks of a completed message that are neither text nor thinking."""

from __future__ import annotations

from quarterdeck.wire import (
    AssistantMessage,
    CompactionBlock,
    ContainerUploadBlock,
    ContentBlock,
    FallbackBlock,
    McpToolListingBlock,
    McpToolResultBlock,
    ServerToolResultBlock,
    encode,
)

from .events import Event
from .notices import show, unknown
from .state import State
from .toolcalls import CALLS, call_completed, fold_result

__all__ = ["CALLS", "fold_other_block"]


def fold_other_block(state: State, message: AssistantMessage, block: ContentBlock, at: float, out: list[Event]) -> None:
    parent_id = message.parent_tool_use_id
    if isinstance(block, CALLS):
        names = {meta.id: meta.display_name for meta in message.tool_use_meta} if message.tool_use_meta else {}
        call_completed(state, block, parent_id, names.get(block.id), at, out)
        return
    match block:
        case ServerToolResultBlock() | McpToolResultBlock():
            fold_result(state, block, None, None, parent_id, at, out)
        case CompactionBlock():
            show(state, at, out, kind="compaction_summary", text=block.content or "", parent_id=parent_id)
        case FallbackBlock():
            text = f"{block.from_.get('model')} was replaced by {block.to.get('model')}"
            show(state, at, out, kind="model_fallback", text=text, level="warning", parent_id=parent_id)
        case McpToolListingBlock():
            text = f"{block.mcp_server_name} has {len(block.tools)} tools"
            show(state, at, out, kind="mcp_tools", text=text, parent_id=parent_id)
        case ContainerUploadBlock():
            show(state, at, out, kind="upload", text=block.file_id, parent_id=parent_id)
        case _:
            unknown(state, at, out, what=f"block {block.type}", raw=encode(block).rstrip(b"\n"))
