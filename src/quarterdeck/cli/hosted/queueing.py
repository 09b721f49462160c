"""The prompts that wait in a session, on the command line."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from quarterdeck.cli.common import OK, USAGE_ERROR, Look, ReportedError, sanitize
from quarterdeck.cli.common.table import Column, one_line, short_ids, table
from quarterdeck.host.requests import OfPrompt, OfSession, UpdatePrompt

from .naming import by_id, find_session
from .showing import clock, print_json

if TYPE_CHECKING:
    from quarterdeck.host.resources import Prompt
    from quarterdeck.remote import RemoteHost


async def list_prompts(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck queue list``."""
    session = await find_session(host, given.session)
    prompts = (await host.list_prompts(OfSession(session_id=session.id))).prompts
    if given.json:
        print_json(prompts)
    elif not prompts:
        print("No queued prompts.")
    else:
        columns = [
            Column("", [str(number) for number, _ in enumerate(prompts, 1)], "dim", right=True),
            Column("ID", short_ids([one.id for one in prompts]), "cyan"),
            Column("STATE", [one.state for one in prompts]),
            Column("NOT BEFORE", [clock(one.not_before) if one.not_before else "" for one in prompts], "yellow"),
            Column("BY", [one_line(one.by, 16) for one in prompts], "dim"),
        ]
        texts = Column("PROMPT", [one_line(_text(one), 1_000) for one in prompts])
        print("\n".join(table(columns, texts, Look.of(sys.stdout))))
    return OK


async def edit_prompt(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck queue edit``."""
    return await _update(host, given, "changed", content=given.text)


async def move_prompt(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck queue move``."""
    if given.position < 1:
        raise ReportedError("positions are counted from 1", "Use 1 for the next to be sent.", code=USAGE_ERROR)
    return await _update(host, given, f"moved to {given.position}", position=given.position - 1)


async def schedule_prompt(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck queue schedule``."""
    done = "sent as soon as possible" if given.when is None else f"not sent before {clock(given.when)}"
    return await _update(host, given, done, not_before=given.when)


async def remove_prompts(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck queue remove``: all are found before one is removed."""
    session = await find_session(host, given.session)
    waiting = (await host.list_prompts(OfSession(session_id=session.id))).prompts
    for prompt in [_find(waiting, wanted) for wanted in given.prompts]:
        accepted = await host.withdraw_prompt(OfPrompt(session_id=session.id, prompt_id=prompt.id))
        if given.json:
            print_json(accepted)
        else:
            print(f"{prompt.id[:8]}  removed")
    return OK


async def _update(host: RemoteHost, given: argparse.Namespace, done: str, **changes: Any) -> int:
    session = await find_session(host, given.session)
    prompt = _find((await host.list_prompts(OfSession(session_id=session.id))).prompts, given.prompt)
    fields = {name: changes.get(name, UNSET) for name in ("content", "position", "not_before")}
    changed = await host.update_prompt(UpdatePrompt(session_id=session.id, prompt_id=prompt.id, **fields))
    if given.json:
        print_json(changed)
    else:
        print(f"{prompt.id[:8]}  {done}")
    return OK


def _find(prompts: list[Prompt], wanted: str) -> Prompt:
    return by_id(prompts, wanted, kind="prompt", command="queue list SESSION")


def _text(prompt: Prompt) -> str:
    if isinstance(prompt.content, str):
        return sanitize(prompt.content, one_line=True)
    parts = (str(block.get("text") or f"[{block.get('type')}]") for block in prompt.content)
    return sanitize(" ".join(parts), one_line=True)
