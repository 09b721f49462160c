"""A store that fails, and one that a session is resumed from."""

import asyncio
import logging
from typing import Any

from _setup import options, sdk, show

logging.disable(logging.ERROR)


class Failing(sdk.InMemorySessionStore):  # type: ignore[misc]
    async def append(self, key: Any, entries: list[Any]) -> None:
        raise ConnectionError("the store is away")


class Minimal:
    """Only what a store must have."""

    def __init__(self, store: Any) -> None:
        self.append = store.append
        self.load = store.load


SAID: list[str] = []


def told(message: Any) -> None:
    """What was lost is said once: how often depends on when the CLI writes the last of it."""
    if isinstance(message, sdk.MirrorErrorMessage):
        if SAID[-1:] == [message.key["session_id"]]:
            return
        SAID.append(message.key["session_id"])
        print("  lost:", message.subtype, message.error, sorted(message.key), message.data["error"])
    else:
        show(message)


async def main() -> None:
    print("a failing store, with query()")
    async for message in sdk.query(prompt="Are you there?", options=options(session_store=Failing())):
        told(message)

    print("a failing store, with the client")
    async with sdk.ClaudeSDKClient(options=options(session_store=Failing())) as client:
        await client.query("And now?")
        async for message in client.receive_response():
            told(message)

    print("a store that works")
    store, session_id = sdk.InMemorySessionStore(), ""
    async for message in sdk.query(prompt="Store this.", options=options(session_store=store)):
        told(message)
        session_id = getattr(message, "session_id", session_id)
    for title, more in (
        ("resume", {"resume": session_id, "session_store": store}),
        ("resume and continue", {"resume": session_id, "continue_conversation": True, "session_store": Minimal(store)}),
        ("continue and fork", {"continue_conversation": True, "fork_session": True, "session_store": store}),
    ):
        print(title)
        async for message in sdk.query(prompt=f"Please {title}.", options=options(**more)):
            told(message)
            if isinstance(message, sdk.ResultMessage):
                print("  the same session:", message.session_id == session_id)
    messages = await sdk.get_session_messages_from_store(store, session_id)
    print([(message.type, message.uuid != "") for message in messages])
    print(len(await sdk.list_sessions_from_store(store)))

    try:
        async for message in sdk.query(
            prompt="No.", options=options(continue_conversation=True, session_store=Minimal(store))
        ):
            told(message)
    except ValueError as error:
        print("ValueError:", "list_sessions()" in str(error))


asyncio.run(main())
