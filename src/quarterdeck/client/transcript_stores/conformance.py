"""What every session store must do, as checks that a store's author can run in any test.

>>> async def test_my_store() -> None:                                   # doctest: +SKIP
...     await run_session_store_conformance(MyStore)
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, cast

from .protocol import SessionKey, SessionStore, SessionStoreEntry, implements, key_for
from .summary import fold_session_summary

OPTIONAL = frozenset({"list_sessions", "list_session_summaries", "delete", "list_subkeys"})
_YEAR_2001_MS = 10**12

MakeStore = Callable[[], SessionStore | Awaitable[SessionStore]]


async def run_session_store_conformance(make_store: MakeStore, *, skip_optional: frozenset[str] = frozenset()) -> None:
    """Raise an ``AssertionError`` that says what a store does wrong.

    ``make_store`` makes an empty store for each check. Optional methods are checked if the store has them and
    ``skip_optional`` does not name them.
    """
    _check(skip_optional <= OPTIONAL, f"skip_optional has unknown methods: {sorted(skip_optional - OPTIONAL)}")
    probe = await _made(make_store)
    has = {name for name in OPTIONAL - skip_optional if implements(probe, name)}
    checks: list[tuple[set[str], Callable[[SessionStore, set[str]], Awaitable[None]]]] = [
        (set(), _keeps_order),
        (set(), _knows_what_it_has_not),
        (set(), _takes_nothing_for_nothing),
        (set(), _keeps_unknown_fields),
        (set(), _keeps_keys_apart),
        ({"list_sessions"}, _lists_sessions),
        ({"list_session_summaries"}, _keeps_summaries),
        ({"delete"}, _deletes_all_of_a_session),
        ({"delete"}, _deletes_one_sub_agent),
        ({"list_subkeys"}, _lists_sub_agents),
    ]
    for needs, check in checks:
        if needs <= has:
            await check(await _made(make_store), has)


async def _made(make_store: MakeStore) -> SessionStore:
    made = make_store()
    return await made if inspect.isawaitable(made) else made


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def _same(got: Any, wanted: Any, what: str) -> None:
    _check(got == wanted, f"{what}: got {got!r} instead of {wanted!r}")


def _entry(**fields: Any) -> SessionStoreEntry:
    return cast("SessionStoreEntry", {"type": "x", **fields})


KEY = key_for("project", "session")
AGENT_1, AGENT_2 = (key_for("project", "session", f"subagents/agent-{number}") for number in (1, 2))
OTHER_SESSION, OTHER_PROJECT = key_for("project", "session2"), key_for("project2", "session")


async def _keeps_order(store: SessionStore, has: set[str]) -> None:
    first, second, third = _entry(uuid="z", n=1), _entry(uuid="a", n=2), _entry(uuid="m", n=3)
    await store.append(KEY, [first])
    await store.append(KEY, [second, third])
    await store.append(KEY, [_entry(n=4)])
    _same(await store.load(KEY), [first, second, third, _entry(n=4)], "load() gives what was appended, in order")


async def _knows_what_it_has_not(store: SessionStore, has: set[str]) -> None:
    _same(await store.load(KEY), None, "load() of a key that was never written")
    await store.append(KEY, [_entry(n=1)])
    _same(await store.load(AGENT_1), None, "load() of a sub-agent that was never written")


async def _takes_nothing_for_nothing(store: SessionStore, has: set[str]) -> None:
    await store.append(KEY, [_entry(n=1)])
    await store.append(KEY, [])
    _same(await store.load(KEY), [_entry(n=1)], "append() of an empty list changes nothing")


async def _keeps_unknown_fields(store: SessionStore, has: set[str]) -> None:
    odd = _entry(deep={"list": [1, 2.5, None, True, "ünï 🎉"], "": {}}, big=2**53)
    await store.append(KEY, [odd])
    _same(await store.load(KEY), [odd], "fields that the store knows nothing of")


async def _keeps_keys_apart(store: SessionStore, has: set[str]) -> None:
    keys: list[SessionKey] = [KEY, AGENT_1, AGENT_2, OTHER_SESSION, OTHER_PROJECT]
    for number, key in enumerate(keys):
        await store.append(key, [_entry(uuid="same", n=number)])
    for number, key in enumerate(keys):
        _same(await store.load(key), [_entry(uuid="same", n=number)], f"load() of {key} beside others")


async def _lists_sessions(store: SessionStore, has: set[str]) -> None:
    for key in (KEY, AGENT_1, OTHER_SESSION, OTHER_PROJECT):
        await store.append(key, [_entry(n=1)])
    listed = await store.list_sessions("project")
    names = sorted(one["session_id"] for one in listed)
    _same(names, ["session", "session2"], "list_sessions() has the project's sessions, without sub-agents")
    _check(all(one["mtime"] > _YEAR_2001_MS for one in listed), "mtime must be in milliseconds since 1970")
    _same(await store.list_sessions("nothing"), [], "list_sessions() of an unknown project")


async def _keeps_summaries(store: SessionStore, has: set[str]) -> None:
    await store.append(KEY, [_entry(timestamp="2026-01-01T00:00:00.000Z", customTitle="first")])
    await store.append(KEY, [_entry(timestamp="2026-01-01T00:00:02.000Z", customTitle="second")])
    await store.append(OTHER_PROJECT, [_entry(timestamp="2026-01-01T00:00:00.000Z")])
    [summary] = await store.list_session_summaries("project")
    _same(summary["session_id"], "session", "list_session_summaries() has the project's sessions")
    _same(summary["data"].get("custom_title"), "second", "the summary is folded from every append")
    _check(summary["mtime"] > _YEAR_2001_MS, "a summary's mtime must be in milliseconds since 1970")
    if "list_sessions" in has:
        [listed] = await store.list_sessions("project")
        _check(summary["mtime"] >= listed["mtime"], "a summary's mtime must be by the clock of list_sessions()")
    again = fold_session_summary(summary, KEY, [_entry(timestamp="2026-01-01T00:00:03.000Z")])
    _same((again["session_id"], again["mtime"]), ("session", summary["mtime"]), "a summary can be folded on")
    await store.append(AGENT_1, [_entry(customTitle="of a sub-agent")])
    [after] = await store.list_session_summaries("project")
    _same(after["data"], summary["data"], "a sub-agent's records do not change the session's summary")
    _same(await store.list_session_summaries("nothing"), [], "list_session_summaries() of an unknown project")
    if "delete" in has:
        await store.delete(KEY)
        _same(await store.list_session_summaries("project"), [], "delete() removes the summary")


async def _deletes_all_of_a_session(store: SessionStore, has: set[str]) -> None:
    await store.delete(KEY)  # missing: no error
    for key in (KEY, AGENT_1, AGENT_2, OTHER_SESSION, OTHER_PROJECT):
        await store.append(key, [_entry(n=1)])
    await store.delete(KEY)
    for key in (KEY, AGENT_1, AGENT_2):
        _same(await store.load(key), None, f"load() of {key} after delete() of the session")
    for key in (OTHER_SESSION, OTHER_PROJECT):
        _same(await store.load(key), [_entry(n=1)], f"load() of {key} after delete() of another session")
    if "list_subkeys" in has:
        left = await store.list_subkeys({"project_key": "project", "session_id": "session"})
        _same(left, [], "list_subkeys() after delete()")
    if "list_sessions" in has:
        names = [one["session_id"] for one in await store.list_sessions("project")]
        _same(names, ["session2"], "list_sessions() after delete()")


async def _deletes_one_sub_agent(store: SessionStore, has: set[str]) -> None:
    for key in (KEY, AGENT_1, AGENT_2):
        await store.append(key, [_entry(n=1)])
    await store.delete(AGENT_1)
    _same(await store.load(AGENT_1), None, "load() of a deleted sub-agent")
    _same(await store.load(AGENT_2), [_entry(n=1)], "load() of the other sub-agent")
    _same(await store.load(KEY), [_entry(n=1)], "load() of the session itself")


async def _lists_sub_agents(store: SessionStore, has: set[str]) -> None:
    for key in (KEY, AGENT_1, AGENT_2, key_for("project", "session2", "subagents/agent-x")):
        await store.append(key, [_entry(n=1)])
    found = await store.list_subkeys({"project_key": "project", "session_id": "session"})
    _same(sorted(found), ["subagents/agent-1", "subagents/agent-2"], "list_subkeys() has the session's sub-agents")
    nothing = await store.list_subkeys({"project_key": "project", "session_id": "nothing"})
    _same(nothing, [], "list_subkeys() of an unknown session")
