"""A stored conversation as a single HTML file: no scripts, nothing to load, no markup from the conversation."""

from __future__ import annotations

import re
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape

from quarterdeck.cli.common import cut, sanitize
from quarterdeck.client.transcripts import SDKSessionInfo
from quarterdeck.timeline.items import Item, Notice, Prompt, Text, Thinking, ToolCall
from quarterdeck.timeline.parts import FileDiff

from .conversation import diff_text, input_text
from .find import size, title

ABOUT_WIDTH = 100
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --add: #2a93; --del: #d333; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; opacity: .75; }
dd { margin: 0; overflow-wrap: anywhere; }
.prompt { background: var(--soft); border-left: 4px solid #48f; padding: .5rem 1rem; border-radius: 4px; }
.prompt, .text, .thinking { white-space: pre-wrap; overflow-wrap: anywhere; margin: 1rem 0; }
.agent { margin-left: 1.5rem; border-left: 2px solid var(--line); padding-left: 1rem; }
details { border: 1px solid var(--line); border-radius: 4px; padding: .3rem .7rem; margin: .5rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; } .failed summary { color: #d33; } .thinking { opacity: .7; }
pre { background: var(--soft); padding: .6rem; overflow: auto; max-height: 40rem; border-radius: 4px; margin: .5rem 0; }
code, pre { font: 13px/1.45 ui-monospace, monospace; } ins { background: var(--add); } del { background: var(--del); }
ins, del { text-decoration: none; display: block; } .notice { opacity: .7; }
"""
POLICY = f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'"
"""Allow only this style: browsers load and run nothing else, whatever the conversation contains."""

_FENCED = re.compile(r"^```[^\n]*\n(.*?)^```[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")


def html_page(info: SDKSessionInfo, items: Iterable[Item]) -> Iterator[str]:
    """The document, piece by piece."""
    name = escape(title(info))
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n<title>{name}</title>\n<style>{STYLE}</style>\n'
        f"</head>\n<body>\n<h1>{name}</h1>\n<dl>\n"
    )
    yield "".join(f"<dt>{key}</dt><dd>{escape(value)}</dd>\n" for key, value in facts(info))
    yield "</dl>\n"
    for item in items:
        drawn = _drawn(item)
        yield f'<div class="agent">{drawn}</div>\n' if item.parent_id is not None else f"{drawn}\n"
    yield "</body>\n</html>\n"


def facts(info: SDKSessionInfo) -> list[tuple[str, str]]:
    """The session's details, sanitized."""
    known = {
        "session": info.session_id,
        "folder": info.cwd,
        "branch": info.git_branch,
        "tag": info.tag,
        "created": _when(info.created_at),
        "changed": _when(info.last_modified),
        "size": size(info.file_size),
    }
    return [(name, sanitize(value, one_line=True)) for name, value in known.items() if value]


def _when(epoch_ms: int | None) -> str | None:
    return None if epoch_ms is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(epoch_ms / 1000))


def _drawn(item: Item) -> str:
    match item:
        case Prompt():
            return f'<div class="prompt">{_text(str(item.text) or ", ".join(item.attachments))}</div>'
        case Text():
            return f'<div class="text">{_text(str(item))}</div>'
        case Thinking():
            said = _text(str(item)) or "Not available."
            return f'<details><summary>Thinking</summary><div class="thinking">{said}</div></details>'
        case ToolCall():
            return _call(item)
        case Notice():
            return f'<pre class="notice">{_escaped(item.text or f"[{item.kind}]")}</pre>'
    return ""


def _call(item: ToolCall) -> str:
    about = escape(cut(sanitize(item.about, one_line=True), ABOUT_WIDTH))
    counts = "".join(f" +{diff.added} −{diff.removed}" for diff in item.diffs)
    inside = "".join(map(_diff, item.diffs)) or f"<pre>{_escaped(input_text(item)[0])}</pre>"
    if item.output is not None and str(item.output):
        inside += f"<pre>{_escaped(str(item.output))}</pre>"
    kind = ' class="failed"' if item.status == "failed" else ""
    summary = f"<b>{_escaped(item.label)}</b> <code>{about}</code>{counts}"
    return f"<details{kind}><summary>{summary}</summary>{inside}</details>"


def _diff(diff: FileDiff) -> str:
    tags = {"+": "ins", "-": "del"}
    lines = []
    for line in diff_text(diff).split("\n"):
        tag = tags.get(line[:1])
        lines.append(f"<{tag}>{_escaped(line)}</{tag}>" if tag else f"{_escaped(line)}\n")
    return f"<pre>{''.join(lines)}</pre>"


def _text(said: str) -> str:
    """Escaped first; of Markdown, only code is rendered."""
    pieces, at = [], 0
    safe = _escaped(said)
    for block in _FENCED.finditer(safe):
        pieces += [_INLINE.sub(r"<code>\1</code>", safe[at : block.start()]), f"<pre>{block[1]}</pre>"]
        at = block.end()
    return "".join([*pieces, _INLINE.sub(r"<code>\1</code>", safe[at:])]).strip("\n")


def _escaped(text: str) -> str:
    return escape(sanitize(text))
