"""A stored conversation as Markdown: what was said as it was said, tool calls folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from quarterdeck.cli.common import cut, plain
from quarterdeck.client.transcripts import SDKSessionInfo
from quarterdeck.client.transcripts.export import fenced
from quarterdeck.timeline.items import Item, Notice, Prompt, Text, Thinking, ToolCall

from .find import title
from .page import facts
from .patch import diff_text, input_text

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
    """A heading for each change of who speaks; a sub-agent speaks within its call."""
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
            said = plain(str(item.text)) or f"*[{', '.join(map(plain, item.attachments))}]*"
            return f"**To the sub-agent:** {said}" if item.source == "agent" else said
        case Text():
            return plain(str(item))
        case Thinking():
            return _folded("<i>Thinking</i>", plain(str(item)) or "*It is not to be read.*")
        case ToolCall():
            return _call(item)
        case Notice() if item.text:
            return fenced(plain(item.text))
        case Notice():
            return f"*[{plain(item.kind)}]*"
    return ""


def _call(item: ToolCall) -> str:
    parts = []
    if item.diffs:
        parts += [fenced(plain(diff_text(diff)), "diff") for diff in item.diffs]
    else:
        given, language = input_text(item)
        parts.append(fenced(plain(given), language))
    if item.output is not None and str(item.output):
        parts.append(fenced(plain(str(item.output)), "text"))
    failed = " <b>failed</b>" if item.status == "failed" else ""
    about = escape(cut(plain(item.about, one_line=True), ABOUT_WIDTH))
    counts = "".join(f" +{diff.added} −{diff.removed}" for diff in item.diffs)
    name = escape(plain(item.label, one_line=True))
    return _folded(f"<b>{name}</b> <code>{about}</code>{counts}{failed}", "\n\n".join(parts))


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"
