"""One prompt and done, for programs without an event loop."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator
from typing import Any

from quarterdeck.client import oneshot
from quarterdeck.client.loop_thread import LOOP_THREAD
from quarterdeck.client.official_transport import Transport
from quarterdeck.client.offload import offload_options
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.session import Content
from quarterdeck.transport import ByteTransport
from quarterdeck.wire import Message, ResultMessage

from .facade import Facade
from .session import Session, connect
from .thread_runner import ThreadRunner


def query(
    *,
    prompt: str | Iterable[dict[str, Any]],
    options: ClaudeAgentOptions | None = None,
    transport: Transport | ByteTransport | None = None,
    host: str | os.PathLike[str] | None = None,
    token: str | None = None,
) -> Iterator[Message]:
    """Send one or more prompts and yield all messages until the CLI is done.

    An error result is yielded and then raised as ``ResultError``. Leaving the loop early ends the CLI.
    ``host`` and ``token`` are those of ``connect``.
    """
    runner = ThreadRunner()
    messages = oneshot.query(
        prompt=prompt if isinstance(prompt, str) else runner.prompts(prompt),
        options=offload_options(options or ClaudeAgentOptions(), runner),
        transport=transport,
        host=host,
        token=token,
    )
    yield from Facade(messages)._iterate(messages)


def prompt(
    content: Content,
    /,
    options: ClaudeAgentOptions | None = None,
    *,
    host: str | os.PathLike[str] | None = None,
    token: str | None = None,
    **changes: Any,
) -> ResultMessage:
    """Send one prompt and return its result. An error result is raised as ``ResultError``.

    ``changes`` are options by name: ``prompt("…", model="haiku")``. ``host`` and ``token`` are those of ``connect``.
    """
    chosen = offload_options(dataclasses.replace(options or ClaudeAgentOptions(), **changes), ThreadRunner())
    return LOOP_THREAD.call(lambda: oneshot.prompt(content, chosen, host=host, token=token))


def resume_session(
    session_id: str,
    /,
    options: ClaudeAgentOptions | None = None,
    *,
    fork: bool = False,
    host: str | os.PathLike[str] | None = None,
    token: str | None = None,
    **changes: Any,
) -> Session:
    """A session that continues an earlier conversation: ``with resume_session(id) as session:``.

    With ``fork`` it continues a copy under a new id, and the original conversation is unchanged. ``host`` and
    ``token`` are those of ``connect``.
    """
    chosen = dataclasses.replace(options or ClaudeAgentOptions(), resume=session_id, fork_session=fork, **changes)
    return connect(chosen, host=host, token=token)
