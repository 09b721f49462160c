"""One prompt and done: ``query`` as in the official SDK, ``prompt`` for the result alone."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import Any

from quarterdeck.transport import ByteTransport
from quarterdeck.wire import Message, ResultMessage

from .errors import ResultError
from .official_messages import official_messages
from .official_transport import Transport, as_byte_transport
from .options import ClaudeAgentOptions
from .session import Content, Place, Session, connect

Prompt = str | AsyncIterable[Mapping[str, Any]]


async def query(
    *,
    prompt: str | AsyncIterable[dict[str, Any]],
    options: ClaudeAgentOptions | None = None,
    transport: Transport | ByteTransport | None = None,
    host: Place | None = None,
    token: str | None = None,
) -> AsyncIterator[Message]:
    """Send one prompt, or a stream of prompts, and yield the messages that the official SDK yields, from ``init``
    to the result. ``Session`` yields every message.

    An error result is yielded and then raised as ``ResultError``. Leaving the loop early ends the CLI.
    ``host`` and ``token`` are those of ``connect``.
    """
    session = connect(options, transport=as_byte_transport(transport), host=host, token=token)
    await session.open()
    try:
        if isinstance(prompt, str):
            await session.send(prompt)
            session.finish()
        else:
            session.stream_in_background(prompt)
        async for message in official_messages(session):
            yield message
        raise_error_result(session)
    finally:
        await session.close()


def raise_error_result(session: Session) -> None:
    """After the end: raise if the exit code of the CLI says that the last result was an error."""
    result, status = session.last_result, session.exit_status
    if result is not None and result.failed and status is not None and status.returncode:
        raise ResultError.of(result, status.returncode)


async def prompt(
    content: Content,
    /,
    options: ClaudeAgentOptions | None = None,
    *,
    host: Place | None = None,
    token: str | None = None,
    **changes: Any,
) -> ResultMessage:
    """Send one prompt and return its result. Raises ``ResultError`` for an error result.

    ``changes`` are options by name: ``await prompt("…", model="haiku")``. ``host`` and ``token`` are those of
    ``connect``.
    """
    chosen = dataclasses.replace(options or ClaudeAgentOptions(), **changes)
    async with connect(chosen, host=host, token=token) as session:
        return await session.prompt(content).checked()


def resume_session(
    session_id: str,
    /,
    options: ClaudeAgentOptions | None = None,
    *,
    fork: bool = False,
    host: Place | None = None,
    token: str | None = None,
    **changes: Any,
) -> Session:
    """A session that continues an earlier conversation: ``async with resume_session(id) as session:``.

    With ``fork`` it continues a copy under a new id, and the original conversation is unchanged. ``host`` and
    ``token`` are those of ``connect``.
    """
    chosen = dataclasses.replace(options or ClaudeAgentOptions(), resume=session_id, fork_session=fork, **changes)
    return connect(chosen, host=host, token=token)
