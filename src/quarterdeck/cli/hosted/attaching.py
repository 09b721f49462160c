"""A session of a host in the terminal of ``quarterdeck chat``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from quarterdeck.cli.common import Look, sanitize
from quarterdeck.cli.terminal.advice import SessionRules
from quarterdeck.cli.terminal.chat import Chat
from quarterdeck.host.resources import Session

from .chat_session import HostedSession
from .connecting import address_of, opened, reporting
from .naming import find_session

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost


def attach(given: argparse.Namespace) -> int:
    """``quarterdeck attach``; the exit code."""

    async def find(host: RemoteHost) -> Session:
        return await find_session(host, given.session)

    return talk(given, find, SessionRules(None, cwd=".", mode=None))


def talk(
    given: argparse.Namespace,
    find: Callable[[RemoteHost], Awaitable[Session]],
    rules: SessionRules,
    *,
    first: str = "",
    attended: bool = True,
) -> int:
    """Chat with the session that ``find`` finds or makes, until the user leaves; it goes on."""
    address = address_of(given)

    async def talking() -> int:
        async with opened(address) as host:
            session = await find(host)
            chat = Chat(
                lambda screen: HostedSession(host, session, screen, rules, is_here=address.is_here, attended=attended)
            )
            code = await chat.run(first)
            name = sanitize(session.name or session.id[:8], one_line=True)
            print(Look.of(sys.stdout).paint("dim", f"It goes on. Come back with: quarterdeck attach {name}"))
            return code

    return asyncio.run(reporting(talking()))
