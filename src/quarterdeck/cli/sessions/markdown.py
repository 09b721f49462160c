"""A stored conversation as Markdown, with tool calls folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from quarterdeck.cli.common import cut, sanitize
from quarterdeck.client.transcripts import SDKSessionInfo
from quarterdeck.client.transcripts.export import fenced
from quarterdeck.timeline.items import Item, Notice, Prompt, Text, Thinking, ToolCall

from .conversation import diff_text, input_text
from .find import title
from .html_page import facts

ABOUT_WIDTH = 80


def markdown(info: SDKSessionInfo, items: Iterable[Item]) -> Iterator[str]:
    """The document, piece by piece."""
    yield f"# {title(info)}\n\n"
    yield "".join(f"- {name}: {_code(value)}\n" for name, value in facts(info))
    speaker = ""
    for item in items:
        now = _speaker(item) or speaker
        if now != speaker:
            speaker = now
            yield f"\n## {speaker}\n"
        yield f"\n{_piece(item)}\n"


def _speaker(item: Item) -> str:
    """A heading for each change of speaker; sub-agents speak within their call."""
    if item.parent_id is not None:
        return ""
    return "You" if isinstance(item, Prompt) else "Claude"


def _piece(item: Item) -> str:
    text = _drawn(item)
    if item.parent_id is None:
        return text
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _drawn(item: Item) -> str:
    match item:
        case Prompt():
            said = sanitize(str(item.text)) or f"*[{', '.join(map(sanitize, item.attachments))}]*"
            return f"**To the sub-agent:** {said}" if item.source == "agent" else said
        case Text():
            return sanitize(str(item))
        case Thinking():
            return _folded("<i>Thinking</i>", sanitize(str(item)) or "*Not available.*")
        case ToolCall():
            return _call(item)
        case Notice() if item.text:
            return fenced(sanitize(item.text))
        case Notice():
            return f"*[{sanitize(item.kind)}]*"
    return ""


def _call(item: ToolCall) -> str:
    parts = []
    if item.diffs:
        parts += [fenced(sanitize(diff_text(diff)), "diff") for diff in item.diffs]
    else:
        given, language = input_text(item)
        parts.append(fenced(sanitize(given), language))
    if item.output is not None and str(item.output):
        parts.append(fenced(sanitize(str(item.output)), "text"))
    failed = " <b>failed</b>" if item.status == "failed" else ""
    about = escape(cut(sanitize(item.about, one_line=True), ABOUT_WIDTH))
    counts = "".join(f" +{diff.added} −{diff.removed}" for diff in item.diffs)
    name = escape(sanitize(item.label, one_line=True))
    return _folded(f"<b>{name}</b> <code>{about}</code>{counts}{failed}", "\n\n".join(parts))


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"
