"""The permission prompt: what it shows, and the choices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from quarterdeck.cli.common import Look
from quarterdeck.cli.common.look import codes_of
from quarterdeck.timeline.items import Permission
from quarterdeck.timeline.parts import FileDiff

from .advice import PLACES, Advice
from .diff_view import diff_lines
from .file_changes import proposed_change
from .plain_diff import NOTE as LARGE_DIFF
from .plain_diff import PlainDiff, is_large
from .prompt import Draw, Subject
from .rows import Joined, LongText
from .text import exact, one_line, painted_wrap, relative_to, safe, wrapped
from .trust import ProjectRules
from .widgets import Menu, MenuOption

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
REASON_LINES = 6
LARGE_CHARS = 100_000
"""Longer inputs are shown as plain text, drawn only where one looks."""
LARGE_INPUT = "Long input: risky parts are not marked."


def permission_subject(
    asked: Permission, advice: Advice, *, note: str = "", folder: str | None = None, on_disk: bool = True
) -> Subject:
    """The question, the command or diff, the risk, and why we ask. ``on_disk``: the files are on this machine."""
    change, warning = proposed_change(asked.tool_name, asked.input) if on_disk else (None, "")
    diffs = [change] if change is not None else asked.diffs  # a tool that we do not know may change files, too
    if is_large(diffs):
        warnings, body, compact = [warning, LARGE_DIFF], _large_body(diffs, folder), None
    elif diffs:
        small = proposed_change(asked.tool_name, asked.input, context=0)[0] if on_disk else None
        warnings, body = [warning], _diff_body(diffs, folder)
        compact = _diff_body([small], folder) if small is not None else None
    else:
        text = _input_text(asked)
        warnings, body, compact = [LARGE_INPUT * (len(text) > LARGE_CHARS)], _input_body(asked, text), None

    def title(look: Look) -> list[str]:
        return [look.paint("bold yellow", f"? {one_line(_question(asked, folder), look.width - 2)}")]

    def notes(look: Look) -> list[str]:
        return [*_warnings(warnings, look), *_notes(asked, advice, look, note)]

    return Subject(title, body, compact, notes)


def _diff_body(diffs: Sequence[FileDiff], folder: str | None) -> Draw:
    def body(look: Look) -> list[str]:
        inner = Look(look.colour, look.width - 2, look.unicode)
        return [f"  {line}" for diff in diffs for line in diff_lines(diff, inner, folder=folder)]

    return body


def _large_body(diffs: Sequence[FileDiff], folder: str | None) -> Draw:
    plain = [PlainDiff(diff, folder=folder) for diff in diffs]
    return lambda look: Joined(*(diff.rows(look, "  ") for diff in plain))


def _input_body(asked: Permission, text: str) -> Draw:
    lines = exact(text).split("\n") if len(text) > LARGE_CHARS else []
    is_command = isinstance(asked.input.get("command"), str)

    def head(index: int) -> str:
        return "  " if index or not is_command else "  $ "

    def body(look: Look) -> Sequence[str]:
        inner = Look(look.colour, look.width - 2, look.unicode)
        if lines:
            return LongText(lines, inner.width - 2, head=head, indent="  ")
        drawn = command_lines(text, inner) if is_command else _json_lines(asked, text, inner)
        return [f"  {line}" for line in drawn]

    return body


def _question(asked: Permission, folder: str | None) -> str:
    form = _QUESTIONS.get(asked.tool_name)
    if form is not None and (asked.about or "{about}" not in form):
        return form.format(about=relative_to(asked.about, folder))
    name = asked.label or asked.tool_name
    if asked.mcp_server:
        return f"Allow {name.removeprefix(f'{asked.mcp_server}: ')} from {asked.mcp_server}?"
    return f"Allow {name}?"


def _input_text(asked: Permission) -> str:
    command = asked.input.get("command")
    return command if isinstance(command, str) else json.dumps(asked.input, indent=2, ensure_ascii=False)


def _json_lines(asked: Permission, text: str, look: Look) -> list[str]:
    lines = wrapped(exact(text), look.width)
    return wrapped(exact(asked.about), look.width) if asked.about and len(lines) <= 3 else lines


def command_lines(command: str, look: Look) -> list[str]:
    """The whole command with its risky parts marked. Nothing is omitted or hidden."""
    drawn = "".join(_marked(piece, risky, look) for piece, risky in _pieces(command))
    first, *rest = [part for line in drawn.split("\n") for part in painted_wrap(line, look.width - 2, words=True)]
    return [f"{look.paint('bold', '$')} {first}", *(f"  {line}" for line in rest)]


def _pieces(command: str) -> Iterator[tuple[str, bool]]:
    from quarterdeck.policy.risky_parts import risky_parts

    at = 0
    for begin, end in risky_parts(command):
        yield command[at:begin], False
        yield command[begin:end], True
        at = end
    yield command[at:], False


def _marked(text: str, risky: bool, look: Look) -> str:
    """Each line painted separately, so that it can be wrapped."""
    codes = codes_of("bold red underline" if risky else "bold")
    lines = exact(text).split("\n")
    return "\n".join(f"\x1b[{codes}m{line}\x1b[0m" if look.colour and line else line for line in lines)


def _warnings(warnings: Sequence[str], look: Look) -> list[str]:
    lines = [line for warning in warnings for line in wrapped(warning, look.width - 2) if line]
    return [look.paint("bold yellow", f"  {line}") for line in lines]


def _notes(asked: Permission, advice: Advice, look: Look, note: str) -> list[str]:
    lines = []
    if advice.risk != "none":
        reasons = ", ".join(advice.risk_reasons)
        risk = wrapped(safe(f"risk: {advice.risk}{f' ({reasons})' if reasons else ''}"), look.width - 2)
        lines += [look.paint(_RISK_STYLES.get(advice.risk, "dim"), f"  {line}") for line in risk]
    if asked.description and not asked.diffs:  # for an edit it only repeats the path
        lines.append(look.paint("dim", f"  {one_line(asked.description, look.width - 2)}"))
    why = note or asked.reason or advice.why
    if why:
        shown = wrapped(safe(f"reason: {why}"), look.width - 2)[:REASON_LINES]
        lines += [look.paint("dim", f"  {line}") for line in shown]
    return lines


def permission_menu(
    asked: Permission, advice: Advice, project: ProjectRules, *, places: Mapping[str, str] = PLACES
) -> Menu:
    """Offers only what will count. ``places`` says where a rule of each scope is kept."""
    rules = ", ".join(str(rule) for rule in advice.rules)
    in_project = "Always in this project" if project.status == "count" else "Trust this folder, then always in it"
    always = [
        MenuOption(scope, label, places[scope], key=key)
        for scope, label, key in (
            ("session", "Always in this session", "s"),
            ("project", in_project, "p"),
            ("user", "Always, everywhere", "u"),
        )
        if scope != "project" or project.status != "not saved"
    ]
    options = [
        MenuOption("once", "Allow once", key="y"),
        *(always if rules else ()),
        *([MenuOption("edit", "Edit, then allow", key="e")] if _is_editable(asked) else ()),
        MenuOption("note", "Deny with a note", key="n"),
        MenuOption("stop", "Deny and stop", key="x"),
    ]
    at = len(options) - 2 if asked.default_to_no else 0
    what = "command" if "command" in asked.input else "call"
    title = (
        f"“Always” adds the rule{'s' * (len(advice.rules) > 1)} {rules}"
        if rules
        else f"This {what} can't be saved as a rule."
    )
    if rules and project.why:
        title += f"\n{project.why}"
    return Menu(title, options, on_escape="deny", at=at)


def _is_editable(asked: Permission) -> bool:
    """A text field is drawn whole for every key."""
    return sum(len(value) if isinstance(value, str) else 100 for value in asked.input.values()) <= LARGE_CHARS


def trust_menu(folder: str) -> Menu:
    """Asks before a folder is trusted."""
    title = f"Trust {folder}? Its settings, hooks and MCP servers will also take effect."
    options = [MenuOption(True, "Yes, I trust this folder", key="y"), MenuOption(False, "No", key="n")]
    return Menu(title, options, on_escape=False, at=1)
