"""Which session of a host ``run`` and ``chat`` continue with ``--resume``, ``--continue`` and ``--fork``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import msgspec

from quarterdeck.cli.common import USAGE_ERROR, ReportedError
from quarterdeck.host.requests import Fork, UpdateSession

from .naming import all_sessions, find_session

if TYPE_CHECKING:
    from quarterdeck.cli.terminal.advice import SessionRules
    from quarterdeck.host.resources import Session
    from quarterdeck.remote import RemoteHost

FOR_NEW = ("preset", "host_tools", "max_turns", "max_budget", "system_prompt", "system_prompt_file", "mcp_config")
"""Arguments that a session takes only when it is created."""
BUSY = ("starting", "authenticating", "limited", "waiting", "compacting", "running")


def continues(given: argparse.Namespace) -> bool:
    return given.resume is not None or given.continue_


def check(given: argparse.Namespace, rules: SessionRules) -> None:
    """Raises ``ReportedError`` for arguments that a session of a host cannot be continued with."""
    if not continues(given):
        if given.fork:
            raise ReportedError("--fork needs a session", "Add --resume ID or --continue.", code=USAGE_ERROR)
        return
    if given.resume == "":
        hint = "List them with quarterdeck ps, then: --resume ID"
        raise ReportedError("--resume needs a session with --host", hint, code=USAGE_ERROR)
    refused = [f"--{name.replace('_', '-')}" for name in FOR_NEW if getattr(given, name) is not None]
    refused += ["--agent"] if given.agent != "claude" else []
    refused += ["--deny and ask rules"] if rules.narrowing() else []
    if refused:
        hint = "Omit it, or start a new session without --resume and --continue."
        raise ReportedError(f"with --host, only a new session takes {refused[0]}", hint, code=USAGE_ERROR)


async def continued(host: RemoteHost, given: argparse.Namespace, folder: str) -> Session | None:
    """The session that is meant, in the model and mode that are given; None if there is none to continue here."""
    session = await find_session(host, given.resume) if given.resume else await _latest(host, folder)
    if session is None:
        return None
    if given.fork:
        session = await host.fork(Fork(session_id=session.id))
    if given.model or given.mode:
        model, mode = given.model or msgspec.UNSET, given.mode or msgspec.UNSET
        session = await host.update_session(UpdateSession(session_id=session.id, model=model, permission_mode=mode))
    return session


async def _latest(host: RemoteHost, folder: str) -> Session | None:
    """As Claude Code's own ``--continue``: of those in this very folder, which no session has started."""
    found = [one async for one in all_sessions(host) if one.cwd == folder and one.parent_id is None]
    return max(found, key=lambda one: one.last_activity_at, default=None)


def check_free(session: Session) -> None:
    """``run`` follows one turn, which has to be its own."""
    if session.state in BUSY:
        name = session.name or session.id[:8]
        hint = f'Queue it with quarterdeck send {name} "…", or watch with quarterdeck attach {name}.'
        raise ReportedError(f"session {name} is {session.state}", hint)
