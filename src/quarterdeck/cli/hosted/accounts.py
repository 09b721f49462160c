"""Usage, the audit log and permissions."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from quarterdeck.cli.common import OK, Look, ReportedError, sanitize
from quarterdeck.cli.common.table import Column, one_line, path_end, short_ids, table
from quarterdeck.host.requests import CreateToken, GetUsage, ListAudit, Nothing, OfToken
from quarterdeck.host.resources import AuditEntry, Session, Token, UsageRow

from .naming import PAGE, all_sessions, by_id, find_session
from .showing import clock, is_simulated, money, print_json, since

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost

BARS, SIMPLE_BARS = " ▏▎▍▌▋▊▉█", " ####"
LONGEST_BAR = 40


async def show_usage(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck usage``."""
    by = list(dict.fromkeys(given.by or ["day"]))
    found = (await host.get_usage(GetUsage(by=by, since=given.since, to=given.to))).usage
    if given.json:
        print_json(found)
        return OK
    if not found:
        print("No usage.")
        return OK
    look = Look.of(sys.stdout)
    sessions = [one async for one in all_sessions(host, archived=True)]
    simulated = await _simulated(host, GetUsage(by=by, since=given.since, to=given.to), sessions)
    print("\n".join(_usage_table(found, by, {one.id: one.name for one in sessions}, simulated, look)))
    for line in await budget_lines(host, (await host.get_budgets(Nothing())).details, look):
        print(line)
    return OK


async def _simulated(host: RemoteHost, asked: GetUsage, sessions: Iterable[Session]) -> dict[tuple[str, ...], Decimal]:
    """The simulated part of the cost, per group that has one; a deleted session counts as a real one."""
    simulators = {one.id for one in sessions if is_simulated(one)}
    parts: dict[tuple[str, ...], Decimal] = {}
    if simulators:
        finer = msgspec.structs.replace(asked, by=list(dict.fromkeys([*asked.by, "session"])))
        for row in (await host.get_usage(finer)).usage:
            if row.by["session"] in simulators and row.cost_usd:
                group = tuple(row.by[word] for word in asked.by)
                parts[group] = parts.get(group, Decimal(0)) + row.cost_usd
    return parts


def _usage_table(
    rows: Sequence[UsageRow],
    by: list[str],
    names: dict[str, str],
    simulated: dict[tuple[str, ...], Decimal],
    look: Look,
) -> list[str]:
    total = _sum(rows)
    shown = [*rows, total] if len(rows) > 1 else [*rows]
    parts = [simulated.get(tuple(row.by[word] for word in by)) for row in rows]
    parts += [sum(simulated.values(), Decimal(0))] * (len(rows) > 1)
    columns = [Column(word.upper(), [_group(row, word, names, look) for row in shown], "cyan") for word in by]
    most = max((row.cost_usd for row in rows), default=Decimal(0)) or Decimal(1)
    columns += [
        Column("COST", [money(row.cost_usd) for row in shown], "bold", right=True),
        Column("SIMULATED", [money(part) if part else "" for part in parts], right=True),
        Column("IN", [_tokens(row.tokens.input + row.tokens.cache_write) for row in shown], right=True),
        Column("CACHED", [_tokens(row.tokens.cache_read) for row in shown], "dim", right=True),
        Column("OUT", [_tokens(row.tokens.output) for row in shown], right=True),
    ]
    bars = ["" if row is total else bar(float(row.cost_usd / most), LONGEST_BAR, look) for row in shown]
    return table(columns, Column("", bars, "blue"), look)


def _sum(rows: Sequence[UsageRow]) -> UsageRow:
    from quarterdeck.host.resources import TokenCounts

    tokens = TokenCounts(
        **{name: sum(getattr(row.tokens, name) for row in rows) for name in TokenCounts.__struct_fields__}
    )
    return UsageRow(cost_usd=sum((row.cost_usd for row in rows), Decimal(0)), tokens=tokens, by={})


def _group(row: UsageRow, word: str, names: dict[str, str], look: Look) -> str:
    value = row.by.get(word, "")
    if word == "session" and value:
        return one_line(names.get(value) or value[:8], 24)
    if word == "cwd":
        return path_end(value, max(look.width // 3, 12), home=str(Path.home()))
    return one_line(value, 32)


def bar(share: float, width: int, look: Look) -> str:
    """Of ``width`` cells, in eighths."""
    signs = BARS if look.unicode else SIMPLE_BARS
    parts = len(signs) - 1
    whole, rest = divmod(round(max(min(share, 1.0), 0.0) * width * parts), parts)
    return (signs[-1] * whole + (signs[rest] if rest else "")).rstrip()


def _tokens(count: int) -> str:
    for length, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if count >= length:
            return f"{count / length:.1f}{unit}"
    return str(count)


async def budget_lines(host: RemoteHost, details: dict[str, Any], look: Look) -> list[str]:
    """A line per budget of the host that is set: what is spent of it, and how much of that was simulated."""
    lines = []
    for word in ("day", "month"):
        limit, spent = details.get(f"{word}_usd"), details.get("spent", {}).get(f"{word}_usd")
        if limit is not None and Decimal(limit) > 0:
            share = float(Decimal(spent or 0) / Decimal(limit))
            style = "red" if share >= 1 else "yellow" if share >= 0.8 else "green"
            shown = look.paint(style, bar(share, 20, look) or look.sign("▏", "|"))
            part = await _simulated_this(host, word) if share else Decimal(0)
            mark = f" ({money(part)} simulated)" if part else ""
            lines.append(
                f"this {word}: {money(Decimal(spent or 0))}{mark} of {money(Decimal(limit))}  {shown} {share:.0%}"
            )
    return lines


async def _simulated_this(host: RemoteHost, period: str) -> Decimal:
    """In this day or month, which are those of UTC."""
    now = datetime.now(UTC)
    since = now.replace(day=1) if period == "month" else now
    sessions = [one async for one in all_sessions(host, archived=True)]
    return sum((await _simulated(host, GetUsage(by=["day"], since=since), sessions)).values(), Decimal(0))


async def show_audit(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck audit``."""
    session = None if given.session is None else (await find_session(host, given.session)).id
    entries: list[AuditEntry] = []
    cursor: str | None = None
    while True:
        left = given.limit - len(entries) if given.limit else PAGE
        request = ListAudit(session=session, who=given.who, since=given.since, limit=min(left, PAGE), cursor=cursor)
        page = await host.list_audit(request)
        entries += page.audit
        cursor = page.next_cursor
        if cursor is None or (given.limit and len(entries) >= given.limit):
            break
    if given.json:
        print_json(entries)
    elif not entries:
        print("No entries.")
    else:
        look = Look.of(sys.stdout)
        columns = [
            Column("WHEN", [clock(one.at) for one in entries], "dim"),
            Column("WHO", [one_line(one.who, 20) for one in entries], "bold"),
            Column("WHAT", [one.operation for one in entries]),
            Column("SESSION", [(one.session_id or "")[:8] for one in entries], "cyan"),
            Column("VIA", [one_line(one.via, 12) for one in entries], "dim"),
        ]
        print("\n".join(table(columns, Column("DETAILS", [_details(one) for one in entries], "dim"), look)))
        if cursor is not None:
            print(look.paint("dim", "… more; show all with --limit 0"))
    return OK


def _details(entry: AuditEntry) -> str:
    parts = (
        f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in entry.details.items()
    )
    return sanitize(" ".join(parts), one_line=True)


# Tokens


async def create_token(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck token create``: the secret alone on stdout, so that a script can take it."""
    made = await host.create_token(
        CreateToken(
            name=given.name,
            scope=given.scope,
            expires_s=given.expires,
            folders=given.folder,
            may_bypass=given.may_bypass,
        )
    )
    if given.json:
        print_json(made)
        return OK
    if sys.stdout.isatty():
        look = Look.of(sys.stdout)
        print(look.paint("dim", "Save it now: it is not shown again. Anyone who has it can use it."), file=sys.stderr)
    print(made.secret)
    return OK


async def list_tokens(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck token list``."""
    tokens = sorted((await host.list_tokens(Nothing())).tokens, key=lambda one: (one.created_at, one.id))
    shown = [one for one in tokens if given.all or one.revoked_at is None]
    if given.json:
        print_json(shown)
    elif given.quiet:
        print("".join(f"{one.id}\n" for one in shown), end="")
    elif not shown:
        print("No tokens.")
    else:
        look = Look.of(sys.stdout)
        columns = [
            Column("ID", short_ids([one.id for one in shown]), "cyan"),
            Column("NAME", [one_line(one.name, 24) for one in shown], "bold"),
            Column("SCOPE", [f"{one.scope}{' +bypass' * one.may_bypass}" for one in shown]),
            Column("MADE", [since(one.created_at) for one in shown], "dim", right=True),
            Column("USED", [since(one.last_used_at) if one.last_used_at else "" for one in shown], "dim", right=True),
            Column("ENDS", [_end(one) for one in shown], "dim"),
        ]
        folders = Column("FOLDERS", [one_line(", ".join(one.folders), 1_000) for one in shown], "dim")
        print("\n".join(table(columns, folders, look)))
    return OK


def _end(token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "" if token.expires_at is None else token.expires_at.astimezone().strftime("%Y-%m-%d %H:%M")


async def revoke_tokens(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck token revoke``: by id or name; all are found before one is revoked."""
    tokens = [one for one in (await host.list_tokens(Nothing())).tokens if one.revoked_at is None]
    for token in [_named(tokens, wanted) for wanted in given.tokens]:
        revoked = await host.revoke_token(OfToken(token_id=token.id))
        if given.json:
            print_json(revoked)
        else:
            print(f"{token.id[:8]} {sanitize(token.name, one_line=True)}  revoked")
    return OK


def _named(tokens: list[Token], wanted: str) -> Token:
    named = [one for one in tokens if one.name == wanted]
    if len(named) > 1:
        raise ReportedError(f"{wanted!r} could be several tokens", "Run quarterdeck token list, and use an id.")
    return named[0] if named else by_id(tokens, wanted, kind="token", command="token list")
