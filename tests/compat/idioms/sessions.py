"""Sessions on disk and in stores."""

from __future__ import annotations

import dataclasses
from typing import Any

from ._setup import Recite, ask, attempt, chat, offline, program, sdk, show

KNOWS = Recite(("the number 7", "the number 8"))


@program("Noted.", KNOWS)
async def resume() -> None:
    first = await ask("Remember the number 7.")
    again = await ask("Which?", resume=first[-1].session_id)
    print(again[-1].result, again[-1].session_id == first[-1].session_id)


@program("Noted.", KNOWS)
async def continue_conversation() -> None:
    first = await ask("Remember the number 7.")
    again = await ask("Which?", continue_conversation=True)
    print(again[-1].result, again[-1].session_id == first[-1].session_id)


@program("Noted.", KNOWS, KNOWS)
async def fork() -> None:
    first = await ask("Remember the number 7.")
    forked = await ask("And the number 8.", resume=first[-1].session_id, fork_session=True)
    original = await ask("Which?", resume=first[-1].session_id)
    print(forked[-1].result, original[-1].result, forked[-1].session_id != first[-1].session_id)


@chat
async def listed() -> None:
    await ask("What is the time?")
    sessions = sdk.list_sessions()
    print(
        len(sessions),
        type(sessions[0]).__name__,
        sessions[0].summary,
        sessions[0].first_prompt,
        sessions[0].cwd,
        sessions[0].custom_title,
        sessions[0].tag,
    )
    print(
        [field.name for field in dataclasses.fields(sessions[0])],
        sdk.list_sessions(directory="/nowhere"),
        len(sdk.list_sessions(limit=0)),
    )


@chat
async def looked_up() -> None:
    session_id = (await ask("What is the time?"))[-1].session_id
    info = sdk.get_session_info(session_id)
    print(
        info.summary,
        info.session_id == session_id,
        sdk.get_session_info("00000000-0000-4000-8000-000000000000"),
        sdk.get_session_info("nonsense"),
    )


@chat
async def messages_of_a_session() -> None:
    session_id = (await ask("What is the time?"))[-1].session_id
    for message in sdk.get_session_messages(session_id):
        print(
            type(message).__name__,
            message.type,
            message.message["role"],
            message.message["content"],
            message.parent_tool_use_id,
            message.session_id == session_id,
        )
    print(sdk.get_session_messages(session_id, limit=1, offset=1)[0].type, sdk.get_session_messages("nonsense"))


@chat
async def renamed_tagged_deleted() -> None:
    session_id = (await ask("What is the time?"))[-1].session_id
    print(sdk.rename_session(session_id, "  About time "), sdk.tag_session(session_id, "todo"))
    info = sdk.get_session_info(session_id)
    print(info.custom_title, info.summary, info.tag)
    sdk.tag_session(session_id, None)
    print(sdk.get_session_info(session_id).tag)
    print(sdk.delete_session(session_id), sdk.list_sessions(), sdk.get_session_info(session_id))


@offline
def mistakes_with_sessions() -> None:
    missing = "00000000-0000-4000-8000-000000000000"
    for call in (
        lambda: sdk.rename_session(missing, "x"),
        lambda: sdk.rename_session(missing, "  "),
        lambda: sdk.rename_session("nonsense", "x"),
        lambda: sdk.tag_session(missing, "x"),
        lambda: sdk.tag_session(missing, " "),
        lambda: sdk.delete_session(missing),
        lambda: sdk.delete_session("nonsense"),
        lambda: sdk.fork_session(missing),
        lambda: sdk.fork_session("nonsense"),
    ):
        try:
            print(call())
        except (FileNotFoundError, ValueError) as error:
            print("missing" if isinstance(error, FileNotFoundError) else "wrong", " ".join(str(error).split()[:3]))


@chat
async def forked_on_disk() -> None:
    session_id = (await ask("What is the time?"))[-1].session_id
    forked = sdk.fork_session(session_id, title="A copy")
    print(
        type(forked).__name__,
        forked.session_id != session_id,
        sdk.get_session_info(forked.session_id).custom_title,
        len(sdk.get_session_messages(forked.session_id)),
    )


@chat
async def a_store_is_filled() -> None:
    store = sdk.InMemorySessionStore()
    session_id = (await ask("What is the time?", session_store=store))[-1].session_id
    key = sdk.project_key_for_directory()
    entries = await store.load({"project_key": key, "session_id": session_id})
    print(
        sorted({entry["type"] for entry in entries}),
        [entry["session_id"] == session_id for entry in await store.list_sessions(key)],
    )
    listed = await sdk.list_sessions_from_store(store)
    print(
        len(listed),
        listed[0].summary,
        [message.type for message in await sdk.get_session_messages_from_store(store, session_id)],
    )


@program("Noted.", KNOWS)
async def resumed_from_a_store() -> None:
    store = sdk.InMemorySessionStore()
    first = await ask("Remember the number 7.", session_store=store)
    again = await ask("Which?", session_store=store, resume=first[-1].session_id)
    print(again[-1].result, again[-1].session_id == first[-1].session_id)


@program("Noted.", KNOWS)
async def continued_from_a_store() -> None:
    store = sdk.InMemorySessionStore()
    await ask("Remember the number 7.", session_store=store)
    print((await ask("Which?", session_store=store, continue_conversation=True))[-1].result)


@chat
async def a_store_that_fails() -> None:
    class Broken(sdk.InMemorySessionStore):  # type: ignore[misc]
        async def append(self, key: Any, entries: Any) -> None:
            raise OSError("the disk is full")

    messages = await ask("Hello?", session_store=Broken())
    print(sorted({type(message).__name__ for message in messages}))  # how many, and after which: the disk's business
    for message in messages:
        if isinstance(message, sdk.MirrorErrorMessage):
            print(message.subtype, message.error, sorted(message.key), sorted(message.data))
            break


@chat
async def a_store_edited() -> None:
    store = sdk.InMemorySessionStore()
    session_id = (await ask("Hello?", session_store=store))[-1].session_id
    await sdk.rename_session_via_store(store, session_id, "New name")
    await sdk.tag_session_via_store(store, session_id, "todo")
    info = await sdk.get_session_info_from_store(store, session_id)
    print(info.custom_title, info.tag)
    forked = await sdk.fork_session_via_store(store, session_id)
    print(forked.session_id != session_id, len(await sdk.list_sessions_from_store(store)))
    await sdk.delete_session_via_store(store, session_id)
    print(await sdk.get_session_info_from_store(store, session_id))


@offline
async def mistakes_with_stores() -> None:
    store = sdk.InMemorySessionStore()
    await attempt(sdk.rename_session_via_store(store, "nonsense", "x"))
    try:
        await sdk.fork_session_via_store(store, "00000000-0000-4000-8000-000000000000")
    except FileNotFoundError as error:
        print("missing", " ".join(str(error).split()[:3]))
    try:
        await ask("x", session_store=store, enable_file_checkpointing=True)
    except ValueError as error:
        print(" ".join(str(error).split()[:5]))
    print(await sdk.get_session_messages_from_store(store, "nonsense"), await sdk.list_sessions_from_store(store))


@program("Named.")
async def a_chosen_session_id() -> None:
    show(await ask("Hello?", session_id="11111111-2222-4333-8444-555555555555"))
    print(sdk.get_session_info("11111111-2222-4333-8444-555555555555") is not None)
