"""A host that dies in the middle of a write: ``dying_writer.py WRITE FOLDER CWD CLI`` (env as JSON on stdin).

It is killed by SIGKILL right after what the write does was committed, before anybody heard of it. Prints the id of the
session before. ``writes`` has the requests, for the test to repeat.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from quarterdeck.host import Host
from quarterdeck.host.actor import SessionActor
from quarterdeck.host.events import CustomEvent, PolicyDecided, QueueChanged
from quarterdeck.host.prompt_sending import PromptSender
from quarterdeck.host.requests import (
    AddEvent,
    AnswerCallback,
    AttachCallbacks,
    Callbacks,
    CreateSession,
    Fork,
    OfPrompt,
    OfSession,
    SendPrompt,
    ToolCallback,
    Wait,
)
from quarterdeck.host.session_log import SessionLog
from quarterdeck.policy import Policy

KEY = "k"
PROMPT = "Do it once."
CALLBACKS = Callbacks(tools=[ToolCallback(server="sums", name="add")])
ANSWER = {"content": [{"type": "text", "text": "the answer"}]}
HOSTS_POLICY = Policy.from_rules(allow=["Bash(touch allowed.txt)"])
POLICY = {"deny": ["Bash(touch never.txt)"]}


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at_row(is_it: Callable[[Any, list[Any]], bool]) -> None:
    """When a row for which this holds has been committed."""
    written = SessionLog._written

    def check(self: SessionLog, done: Any, rows: Any, events: Any) -> None:
        if any(is_it(row, told) for row, told in zip(rows, events, strict=True)):
            die()
        written(self, done, rows, events)

    SessionLog._written = check  # type: ignore[method-assign]


def says(*parts: bytes) -> Callable[[Any, list[Any]], bool]:
    return lambda row, _: row.kind == "sent" and all(part in row.body for part in parts)


def tells(kind: type[Any]) -> Callable[[Any, list[Any]], bool]:
    return lambda _, told: any(isinstance(event, kind) for event in told)


def request_for(write: str, cwd: str, session: str, more: str = "") -> tuple[str, Any]:
    """The operation, and what it takes."""
    match write:
        case "create, before its process" | "create, before its prompt":
            return "create_session", CreateSession(cwd=cwd, prompt=PROMPT)
        case "send_prompt":
            return "send_prompt", SendPrompt(session_id=session, content=PROMPT)
        case "queue":
            return "send_prompt", SendPrompt(session_id=session, content=PROMPT, priority="later")
        case "withdraw_prompt":
            return "withdraw_prompt", OfPrompt(session_id=session, prompt_id=more)
        case "add_event":
            return "add_event", AddEvent(session_id=session, type="ci", data={"passed": False}, prompt=PROMPT)
        case "interrupt":
            return "interrupt", OfSession(session_id=session)
        case "fork":
            return "fork", Fork(session_id=session)
        case "answer_callback":
            return "answer_callback", AnswerCallback(session_id=session, call_id=more, result=ANSWER)
    raise ValueError(write)


async def prepare(host: Host, write: str, session: str) -> str:
    """Bring the session to where the write is made, and say where the host dies in it; what more its request needs."""
    more = ""
    match write:
        case "create, before its process":
            SessionActor.start = die  # type: ignore[assignment, method-assign]
        case "create, before its prompt":
            PromptSender.say = die  # type: ignore[assignment, method-assign]
        case "send_prompt":
            await host.wait(Wait(session_id=session))
            die_at_row(says(PROMPT.encode()))
        case "queue":
            die_at_row(tells(QueueChanged))
        case "withdraw_prompt":
            queued = await host.send_prompt(SendPrompt(session_id=session, content=PROMPT, priority="later"))
            more = queued.prompt_id
            die_at_row(tells(QueueChanged))
        case "add_event":
            die_at_row(tells(CustomEvent))
        case "interrupt":
            die_at_row(says(b'"interrupt"'))
        case "fork":
            await host.wait(Wait(session_id=session))
            SessionActor.start = die  # type: ignore[assignment, method-assign]
        case "answer_callback":
            async for call in host.attach_callbacks(AttachCallbacks(session_id=session)):
                more = call.call_id
                break
            die_at_row(says(b"the answer"))
    return more


async def main(write: str, folder: str, cwd: str, cli: str, env: dict[str, str]) -> None:
    async with Host(folder, agents={"claude": cli}, env=env, policy=HOSTS_POLICY) as host:
        session = ""
        if not write.startswith("create"):
            callbacks = CALLBACKS if write == "answer_callback" else None
            options = {"allowed_tools": ["mcp__sums__add"]}
            create = CreateSession(cwd=cwd, prompt="go", callbacks=callbacks, options=options, policy=POLICY)
            if write.startswith("policy"):
                asked_in = write.partition(" ")[2]
                die_at_row(lambda _, told: any(isinstance(e, PolicyDecided) and e.asked_in == asked_in for e in told))
            session = (await host.create_session(create)).id
            print(session, flush=True)
        more = await prepare(host, write, session)
        print(more, flush=True)
        if write.startswith("policy"):
            await asyncio.sleep(60)
        operation, request = request_for(write, cwd, session, more)
        await getattr(host, operation)(request, key=KEY)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5], env=json.load(sys.stdin)))
