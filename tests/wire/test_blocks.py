from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from quarterdeck.wire import blocks as b
from quarterdeck.wire._shapes import UNKNOWN_TAG

TEXT = {"type": "text", "text": "yes"}
PNG = {"type": "base64", "media_type": "image/png", "data": "aGk="}

BLOCKS: list[tuple[type, dict[str, Any]]] = [
    (b.TextBlock, {"type": "text", "text": "see [1]", "citations": [{"type": "char_location", "cited_text": "a"}]}),
    (b.ThinkingBlock, {"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
    (b.RedactedThinkingBlock, {"type": "redacted_thinking", "data": "eA=="}),
    (b.ToolUseBlock, {"type": "tool_use", "id": "tu", "name": "Read", "input": {"p": 1}, "caller": {"type": "direct"}}),
    (b.ToolResultBlock, {"type": "tool_result", "tool_use_id": "tu", "content": [TEXT], "is_error": True}),
    (b.ImageBlock, {"type": "image", "source": PNG, "cache_control": {"type": "ephemeral"}}),
    (b.ImageBlock, {"type": "image", "source": {"type": "url", "url": "http://x/y.png"}}),
    (b.DocumentBlock, {"type": "document", "source": {"type": "file", "file_id": "f"}, "citations": {"enabled": True}}),
    (
        b.DocumentBlock,
        {"type": "document", "source": {"type": "text", "data": "t", "media_type": "text/plain"}, "title": "T"},
    ),
    (b.DocumentBlock, {"type": "document", "source": {"type": "content", "content": [TEXT]}, "context": "c"}),
    (b.SearchResultBlock, {"type": "search_result", "source": "wiki", "title": "T", "content": [TEXT]}),
    (b.ToolReferenceBlock, {"type": "tool_reference", "tool_name": "WebFetch"}),
    (b.ToolAdditionBlock, {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "X"}}),
    (b.ToolRemovalBlock, {"type": "tool_removal", "tool": {"type": "mcp_toolset_reference", "server_name": "s"}}),
    (b.ServerToolUseBlock, {"type": "server_tool_use", "id": "st", "name": "web_search", "input": {"query": "q"}}),
    (
        b.ServerToolResultBlock,
        {"type": "advisor_tool_result", "tool_use_id": "st", "content": {"type": "advisor_result", "text": "do"}},
    ),
    (
        b.WebSearchToolResultBlock,
        {"type": "web_search_tool_result", "tool_use_id": "st", "content": [{"type": "web_search_result", "url": "u"}]},
    ),
    (
        b.WebFetchToolResultBlock,
        {"type": "web_fetch_tool_result", "tool_use_id": "st", "content": {"type": "web_fetch_result", "url": "u"}},
    ),
    (
        b.CodeExecutionToolResultBlock,
        {"type": "code_execution_tool_result", "tool_use_id": "st", "content": {"return_code": 0}},
    ),
    (
        b.BashCodeExecutionToolResultBlock,
        {"type": "bash_code_execution_tool_result", "tool_use_id": "st", "content": {"stdout": "x"}},
    ),
    (
        b.TextEditorCodeExecutionToolResultBlock,
        {"type": "text_editor_code_execution_tool_result", "tool_use_id": "st", "content": {"is_file_update": False}},
    ),
    (
        b.ToolSearchToolResultBlock,
        {"type": "tool_search_tool_result", "tool_use_id": "st", "content": {"tool_references": []}},
    ),
    (b.McpToolUseBlock, {"type": "mcp_tool_use", "id": "m", "name": "find", "server_name": "s", "input": {}}),
    (b.McpToolResultBlock, {"type": "mcp_tool_result", "tool_use_id": "m", "content": [TEXT], "is_error": False}),
    (b.McpToolListingBlock, {"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": [{"name": "find"}]}),
    (b.ContainerUploadBlock, {"type": "container_upload", "file_id": "f"}),
    (b.CompactionBlock, {"type": "compaction", "content": "so far", "tool_changes": [{"type": "tool_addition"}]}),
    (b.FallbackBlock, {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "r"}}),
]


def decoded(block: dict[str, Any]) -> Any:
    return msgspec.convert(block, b.ContentBlock)


@pytest.mark.parametrize(("cls", "block"), BLOCKS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_block_becomes_its_class_and_keeps_every_key(cls: type, block: dict[str, Any]) -> None:
    typed = decoded(block)
    assert type(typed) is cls
    assert typed.type == block["type"]
    assert typed.to_dict() == block
    assert typed == block


def test_every_block_class_has_an_example() -> None:
    assert {cls for cls, _ in BLOCKS} | {b.UnknownBlock} == set(get_args(b.ContentBlock))


def test_blocks_are_built_in_the_order_of_the_official_sdk() -> None:
    assert b.TextBlock("x").to_dict() == {"type": "text", "text": "x"}
    assert b.ThinkingBlock("t", "s").to_dict() == {"type": "thinking", "thinking": "t", "signature": "s"}
    assert b.ToolUseBlock("i", "n", {"a": 1}) == {"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1}}
    assert b.ToolResultBlock("i", "out", False).is_error is False
    assert b.ServerToolUseBlock("i", "advisor", {}).name == "advisor"
    assert b.ServerToolResultBlock("i", {"type": "advisor_result"}).type == "advisor_tool_result"


def test_results_of_all_server_tools_are_server_tool_results() -> None:
    results = [cls for cls, block in BLOCKS if block["type"].endswith("_tool_result") and block["type"][:3] != "mcp"]
    assert len(results) == 7
    assert all(issubclass(cls, b.ServerToolResultBlock) for cls in results)


def test_blocks_can_be_matched_by_class_and_as_dicts() -> None:
    match decoded({"type": "tool_use", "id": "i", "name": "Bash", "input": {"command": "ls"}}):
        case b.ToolUseBlock(name="Bash", input={"command": command}):
            assert command == "ls"
        case other:
            pytest.fail(f"not matched: {other}")
    match decoded(TEXT):
        case {"type": "text", "text": text}:
            assert text == "yes"
        case other:
            pytest.fail(f"not matched: {other}")


def test_tool_result_content_may_be_text_blocks_or_nothing() -> None:
    assert decoded({"type": "tool_result", "tool_use_id": "t", "content": "plain"}).content == "plain"
    assert decoded({"type": "tool_result", "tool_use_id": "t"}).content is None
    nested = decoded({"type": "tool_result", "tool_use_id": "t", "content": [TEXT, {"type": "image", "source": PNG}]})
    assert [item["type"] for item in nested.content] == ["text", "image"]
    assert b.typed_block(nested.content[0]).text == "yes"
    assert b.typed_block(nested.content[1]).source.media_type == "image/png"


def test_an_unknown_block_reads_like_the_dict_it_was() -> None:
    data = {"type": "hologram", "beam": 3}
    block = decoded({"type": UNKNOWN_TAG, "data": data, "reason": "unknown type"})
    assert type(block) is b.UnknownBlock
    assert (block.type, block.reason) == ("hologram", "unknown type")
    assert block["beam"] == 3
    assert block.get("absent", "no") == "no"
    assert "beam" in block
    assert "data" not in block
    assert dict(block.items()) == data
    assert block == data


@pytest.mark.parametrize("block", [{"type": "hologram"}, {"type": "text"}, {"text": "no type"}])
def test_what_is_no_known_block_is_refused_so_that_the_codec_can_wrap_it(block: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        decoded(block)
