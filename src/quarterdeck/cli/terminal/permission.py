"""The permission prompt: what it shows, and the choices."""

from __future__ import annotations

import json

from quarterdeck.cli.common import Look
from quarterdeck.timeline.items import Permission

from .advice import PLACES, Advice
from .text import exact, one_line, relative_to, safe, wrapped
from .tool_lines import diff_lines
from .widgets import Menu, MenuOption

SHOWN_LINES = 40
"""Lines of a command or input. The prompt says how many more there are, so that nothing is hidden unnoticed."""
_QUESTIONS = {
    "Bash": "Allow this command?",
    "Edit": "Allow this edit to {about}?",
    "MultiEdit": "Allow these edits to {about}?",
    "NotebookEdit": "Allow this edit to {about}?",
    "Read": "Allow reading {about}?",
    "WebFetch": "Allow fetching {about}?",
    "WebSearch": "Allow this web search?",
    "Write": "Allow writing {about}?",
}
_RISK_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan", "unknown": "yellow"}


def permission_lines(
    asked: Permission, advice: Advice, look: Look, *, note: str = "", folder: str | None = None
) -> list[str]:
    """The question, the command or diff, the risk, and why we ask."""
    lines = [look.paint("bold yellow", f"? {one_line(_question(asked, folder), look.width - 2)}")]
    lines += [f"  {line}" for line in _request_body(asked, Look(look.colour, look.width - 2, look.unicode), folder)]
    if asked.description and not asked.diffs:  # for an edit it only repeats the path
        lines.append(look.paint("dim", f"  {one_line(asked.description, look.width - 2)}"))
    if advice.risk != "none":
        reasons = ", ".join(advice.risk_reasons)
        risk = wrapped(safe(f"risk: {advice.risk}{f' ({reasons})' if reasons else ''}"), look.width - 2)
        lines += [look.paint(_RISK_STYLES.get(advice.risk, "dim"), f"  {line}") for line in risk]
    why = note or asked.reason or advice.why
    if why:
        lines += [look.paint("dim", f"  {line}") for line in wrapped(safe(f"reason: {why}"), look.width - 2)[:6]]
    return lines


def _question(asked: Permission, folder: str | None) -> str:
    form = _QUESTIONS.get(asked.tool_name)
    if form is not None and (asked.about or "{about}" not in form):
        return form.format(about=relative_to(asked.about, folder))
    name = asked.label or asked.tool_name
    if asked.mcp_server:
        return f"Allow {name.removeprefix(f'{asked.mcp_server}: ')} from {asked.mcp_server}?"
    return f"Allow {name}?"


def _request_body(asked: Permission, look: Look, folder: str | None) -> list[str]:
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
        lines = [*lines[:SHOWN_LINES], look.paint("bold yellow", f"… {hidden:,} more lines not shown")]
    return lines


def permission_menu(asked: Permission, advice: Advice) -> Menu:
    rules = ", ".join(str(rule) for rule in advice.rules)
    always = [
        MenuOption(scope, label, PLACES[scope], key=key)
        for scope, label, key in (
            ("session", "Always in this session", "s"),
            ("project", "Always in this project", "p"),
            ("user", "Always, everywhere", "u"),
        )
    ]
    options = [
        MenuOption("once", "Allow once", key="y"),
        *(always if rules else ()),
        MenuOption("edit", "Edit, then allow", key="e"),
        MenuOption("note", "Deny with a note", key="n"),
        MenuOption("stop", "Deny and stop", key="x"),
    ]
    at = len(options) - 2 if asked.default_to_no else 0
    what = "command" if "command" in asked.input else "call"
    title = f"“Always” adds the rule {rules}" if rules else f"This {what} can't be saved as a rule."
    return Menu(title, options, on_escape="deny", at=at)
