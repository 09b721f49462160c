"""A session as a document to read: Markdown, or one HTML page without scripts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from quarterdeck.client.transcripts.export import fenced
from quarterdeck.store.records import SessionRecord
from quarterdeck.timeline.items import (
    Item,
    Notice,
    PlanReview,
    Prompt,
    Questions,
    Text,
    Thinking,
    ToolCall,
    TurnSummary,
)
from quarterdeck.timeline.state import State

from .resources import Exported
from .times import moment

_STYLE = (
    "body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}"
    "pre{background:#f4f4f5;padding:.75rem;overflow:auto;white-space:pre-wrap}"
    "section{border-top:1px solid #ddd;padding:.5rem 0}h2{font-size:1rem;color:#555}"
)


class Part(msgspec.Struct, frozen=True):
    """Something said or done: a heading, and a text that is prose or not."""

    heading: str
    text: str
    verbatim: bool = False


def exported(record: SessionRecord, state: State, form: Literal["md", "html"]) -> Exported:
    """The whole conversation, sub-agents' parts where they began."""
    title = record.name or state.session.title or f"Session {record.id}"
    about = f"{record.cwd} · {moment(record.created_at):%Y-%m-%d %H:%M} UTC"
    if state.dropped_items:
        about += f" · the first {state.dropped_items} items are no longer available"
    parts = [part for item in state.items.values() for part in _parts(item)]
    if form == "md":
        return Exported(media_type="text/markdown; charset=utf-8", body=_markdown(title, about, parts).encode())
    return Exported(media_type="text/html; charset=utf-8", body=_page(title, about, parts).encode())


def _parts(item: Item) -> Iterator[Part]:
    inside = " (sub-agent)" if item.parent_id else ""
    match item:
        case Prompt():
            yield Part(
                f"Prompt{inside}" if item.source == "us" else f"Prompt from {item.source}{inside}", str(item.text)
            )
        case Text() if not item.retracted:
            yield Part(f"Claude{inside}", str(item))
        case Thinking() if not item.retracted and str(item):
            yield Part(f"Thinking{inside}", str(item))
        case ToolCall():
            yield from _tool(item, inside)
        case Questions():
            yield Part("Questions", "\n".join(f"{asked}: {said}" for asked, said in item.answers.items()))
        case PlanReview():
            yield Part("Plan", item.plan or "")
        case Notice():
            yield Part(f"Notice{inside}", item.text)
        case TurnSummary() if item.error:
            yield Part("Turn failed", item.error)


def _tool(call: ToolCall, inside: str) -> Iterator[Part]:
    yield Part(f"{call.label or call.name}{inside} · {call.status}", call.about, verbatim=True)
    for one in call.diffs:
        lines = [line for hunk in one.hunks for line in hunk.lines]
        yield Part(f"Change of {one.path}", "\n".join(lines), verbatim=True)
    output = call.output or call.live_output
    if output is not None and str(output):
        yield Part("Output", str(output), verbatim=True)
    if call.reason:
        yield Part("Reason", call.reason)


def _markdown(title: str, about: str, parts: list[Part]) -> str:
    body = "\n\n".join(
        f"## {_line(part.heading)}\n\n{fenced(part.text) if part.verbatim else part.text}" for part in parts
    )
    return f"# {_line(title)}\n\n{about}\n\n{body}\n"


def _page(title: str, about: str, parts: list[Part]) -> str:
    sections = "\n".join(f"<section><h2>{html.escape(part.heading)}</h2>{_shown(part)}</section>" for part in parts)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{html.escape(title)}</h1><p>{html.escape(about)}</p>\n"
        f"{sections}\n</body></html>\n"
    )


def _shown(part: Part) -> str:
    text = html.escape(part.text)
    if part.verbatim:
        return f"<pre>{text}</pre>"
    return "".join(f"<p>{one}</p>" for one in re.split(r"\n{2,}", text)).replace("\n", "<br>")


def _line(text: str) -> str:
    return " ".join(text.split())
