"""``quarterdeck send``: say something to a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .common import OK, Parser
from .hosted.connecting import EXITS, add_host_options, on_host
from .hosted.moments import upcoming

if TYPE_CHECKING:
    from argparse import Namespace

    from quarterdeck.remote import RemoteHost


def parser() -> Parser:
    built = Parser(
        "quarterdeck send",
        description="Send a prompt to a session of a host without waiting for the answer. A stopped session starts "
        "again. SESSION is an id, a unique prefix of it, or a name.",
        examples=[
            ("quarterdeck send 3f2a 'and now the tests'", "for the turn's next step"),
            ("git diff | quarterdeck send review - 'what about this?'", "append standard input"),
            ("quarterdeck send review 'no edits, look only' --priority now", "interrupt the turn first"),
            ("quarterdeck send review 'run the tests' && quarterdeck wait review", "then wait until it is done"),
            ("quarterdeck send review 'run the tests' --at 22:00", "send it at ten in the evening"),
        ],
        exits=EXITS,
    )
    built.add_argument("session", metavar="SESSION", help="the session")
    built.add_argument("prompt", nargs="*", metavar="PROMPT", help="the prompt; - or nothing reads standard input")
    built.add_argument("--prompt-file", metavar="FILE", help="read the prompt from a file")
    built.add_argument("--image", action="append", default=[], metavar="FILE", help="attach an image (repeatable)")
    built.add_argument(
        "--priority",
        choices=("now", "next", "later"),
        default="next",
        help="next: at the turn's next step (default); now: interrupt the turn; later: when everything else is done",
    )
    built.add_argument(
        "--at",
        metavar="WHEN",
        type=upcoming,
        help="send no earlier than this: 22:00, a date or 2h; starts the session if needed",
    )
    add_host_options(built)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_intermixed_args(argv)
    from .terminal.session_setup import prompt_of

    given.resume = None
    prompt = prompt_of(given, example="quarterdeck send SESSION")

    async def send(host: RemoteHost) -> int:
        return await _send(host, given, prompt)

    return on_host(given, send)


async def _send(host: RemoteHost, given: Namespace, prompt: str | list[dict[str, object]]) -> int:
    from quarterdeck.host.requests import SendPrompt

    from .hosted.naming import find_session
    from .hosted.showing import print_json

    session = await find_session(host, given.session)
    request = SendPrompt(session_id=session.id, content=prompt, priority=given.priority, not_before=given.at)
    accepted = await host.send_prompt(request)
    if given.json:
        print_json(accepted)
    return OK
