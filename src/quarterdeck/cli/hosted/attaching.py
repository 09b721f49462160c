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
    from quarterdeck.cli.terminal.screen import Screen
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
    """Chat with the session that ``find`` finds or creates until the user leaves; the session keeps running."""
    address = address_of(given)

    chats: list[Chat] = []

    def say(style: str, text: str) -> None:
        for chat in chats:
            chat.screen.say(style, text)

    async def talking() -> int:
        async with opened(address, say) as host:
            session = await find(host)
            made: list[HostedSession] = []

            def hosted(screen: Screen) -> HostedSession:
                here = address.is_here
                made.append(HostedSession(host, session, screen, rules, is_here=here, attended=attended))
                return made[0]

            chat = Chat(hosted)
            chats.append(chat)
            code = await chat.run(first)
            chats.clear()
            name = sanitize(made[0].name, one_line=True)
            print(Look.of(sys.stdout).paint("dim", f"Still running. Attach again with: quarterdeck attach {name}"))
            return code

    return asyncio.run(reporting(talking()))
