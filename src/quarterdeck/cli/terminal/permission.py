"""May this tool run? What a person is shown, and what there is to choose."""

from __future__ import annotations

import json

from quarterdeck.cli.common import Look
from quarterdeck.timeline.items import Permission

from .advice import PLACES, Advice
from .diff import diff_lines
from .text import exact, one_line, safe, wrapped
from .widgets import Menu, Option

SHOWN_LINES = 40
"""Of a command or an input that is asked about. What is not shown must not be allowed unseen: the rest is announced."""
_RISK_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan", "unknown": "yellow"}


def permission_lines(
    asked: Permission, advice: Advice, look: Look, *, note: str = "", folder: str | None = None
) -> list[str]:
    """What is asked, in full view: the command or the change, the risk, and why it is asked."""
    name = safe(asked.label or asked.tool_name)
    via = f" of {safe(asked.mcp_server)}" if asked.mcp_server else ""
    lines = [look.paint("bold yellow", f"? {one_line(f'May {name}{via} run?', look.width - 2)}")]
    lines += [f"  {line}" for line in _matter(asked, Look(look.colour, look.width - 2, look.unicode), folder)]
    if asked.description and not asked.diffs:  # of an edit it is the file again
        lines.append(look.paint("dim", f"  {one_line(asked.description, look.width - 2)}"))
    if advice.risk != "none":
        reasons = ", ".join(advice.risk_reasons)
        told = wrapped(safe(f"risk: {advice.risk}{f' ({reasons})' if reasons else ''}"), look.width - 2)
        lines += [look.paint(_RISK_STYLES.get(advice.risk, "dim"), f"  {line}") for line in told]
    why = note or asked.reason or advice.why
    if why:
        lines += [look.paint("dim", f"  {line}") for line in wrapped(safe(f"asked because: {why}"), look.width - 2)[:6]]
    return lines


def _matter(asked: Permission, look: Look, folder: str | None) -> list[str]:
    if asked.diffs:
        return [line for diff in asked.diffs for line in diff_lines(diff, look, folder=folder)]
    command = asked.input.get("command")
    if isinstance(command, str):
        shown = wrapped(exact(command), look.width - 2)
        first, rest = shown[0], shown[1:]
        lines = [look.paint("bold", f"$ {first}"), *(look.paint("bold", f"  {line}") for line in rest)]
    else:
        lines = wrapped(exact(json.dumps(asked.input, indent=2, ensure_ascii=False)), look.width)
        if asked.about and len(lines) <= 3:
            lines = [one_line(asked.about, look.width)]
    hidden = len(lines) - SHOWN_LINES
    if hidden > 0:
        lines = [*lines[:SHOWN_LINES], look.paint("bold yellow", f"… and {hidden:,} more lines that are not shown")]
    return lines


def permission_menu(asked: Permission, advice: Advice) -> Menu:
    rules = ", ".join(str(rule) for rule in advice.rules)
    always = [
        Option(scope, label, PLACES[scope], key=key)
        for scope, label, key in (
            ("session", "Always, this session", "s"),
            ("project", "Always, in this project", "p"),
            ("user", "Always, everywhere", "u"),
        )
    ]
    options = [
        Option("once", "Allow once", key="y"),
        *(always if rules else ()),
        Option("edit", "Edit, then allow", key="e"),
        Option("note", "Deny, with a note", key="n"),
        Option("stop", "Deny and stop", key="x"),
    ]
    at = len(options) - 2 if asked.default_to_no else 0
    title = f"“Always” adds the rule {rules}" if rules else "No rule can say exactly this, so there is no “always”."
    return Menu(title, options, on_escape="deny", at=at)
