"""Rules that the official test kit (acp-tck) checks, by its names; other tests show the rest of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gateways.acp.editor import Editor, RefusedError, editor
from simulated import Simulated, until


def start(fake: Simulated, checker: Any = None) -> Any:
    return editor("--agent", str(fake.path), env=fake.env, checker=checker)


async def answered(ed: Editor, id_: Any) -> dict[str, Any]:
    frame: dict[str, Any] = await ed.until(
        lambda: next((one for one in ed.frames if one.get("id") == id_ and "method" not in one), None)
    )
    return frame


async def test_jsonrpc_001_an_answer_has_the_id_of_its_request_be_it_a_number_or_a_text(fake: Simulated) -> None:
    async with start(fake) as ed:
        await ed.initialize()
        for id_ in ("a text", 9_007_199_254_740_991, -1):
            ed.send({"id": id_, "method": "auth/status", "params": {}})
            assert "result" in await answered(ed, id_)


async def test_init_003_a_version_that_does_not_exist_is_answered_with_the_newest_there_is(
    fake: Simulated, checker: Any
) -> None:
    async with start(fake, checker) as ed:
        answer = await ed.call("initialize", protocolVersion=65535, clientCapabilities={}, info={"name": "x"})
        assert answer["protocolVersion"] == 1
        assert {"name", "version"} <= set(answer["agentInfo"])


async def test_auth_001_and_002_login_methods_are_unique_and_none_needs_a_terminal_that_is_not_offered(
    fake: Simulated, checker: Any
) -> None:
    async with start(fake, checker) as ed:
        methods = (await ed.initialize())["authMethods"]
        assert len({one["id"] for one in methods}) == len(methods)
        assert all(one.get("type") != "terminal" for one in methods)
    async with start(fake, checker) as ed:
        methods = (await ed.initialize(auth={"terminal": True}))["authMethods"]
        assert [one.get("type") for one in methods] == ["terminal"]


async def test_config_001_to_003_each_option_is_whole_and_an_answer_has_all_of_them(
    fake: Simulated, checker: Any
) -> None:
    async with start(fake, checker) as ed:
        await ed.initialize()
        made = await ed.call("session/new", cwd=str(fake.cwd), mcpServers=[])
        told = await ed.until(lambda: ed.updates("config_option_update"))  # with what the process has said
        for one in (*made["configOptions"], *told[-1]["configOptions"]):
            assert one["type"] == "select"
            assert one["currentValue"] in [each["value"] for each in one["options"]]
        known = [one["id"] for one in told[-1]["configOptions"]]
        assert known[:2] == [one["id"] for one in made["configOptions"]]
        answer = await ed.call("session/set_config_option", sessionId=made["sessionId"], configId="mode", value="plan")
        assert [one["id"] for one in answer["configOptions"]] == known
        assert {one["id"]: one["currentValue"] for one in answer["configOptions"]}["mode"] == "plan"


async def test_cancel_002_and_close_002_nothing_follows_the_answer_of_a_prompt_that_was_cancelled(
    fake: Simulated, checker: Any
) -> None:
    fake.play(["Before. ", fake.held, "Never."])
    for how in ("cancel", "close"):
        async with start(fake, checker) as ed:
            await ed.initialize()
            session = await ed.new(fake.cwd)
            turn = ed.say(session, "go")
            number = ed.last_id
            await asyncio.to_thread(until, fake.is_held)
            if how == "cancel":
                ed.notify("session/cancel", sessionId=session)
            else:
                assert await ed.call("session/close", sessionId=session) == {}
            async with asyncio.timeout(60):
                assert (await turn)["stopReason"] == "cancelled"
            await ed.leave()
            place = next(i for i, one in enumerate(ed.frames) if one.get("id") == number and "method" not in one)
            assert [one for one in ed.frames[place:] if one.get("method") == "session/update"] == []
        fake.gate.with_name("gate.reached").unlink()


async def test_load_002_a_replay_is_complete_when_it_is_answered(fake: Simulated, checker: Any) -> None:
    fake.play(["Said."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "hello")
        before = len(ed.frames)
        await ed.call("session/load", sessionId=session, cwd=str(fake.cwd), mcpServers=[])
        number = ed.last_id
        place = next(i for i, one in enumerate(ed.frames) if one.get("id") == number and "method" not in one)
        assert "Said." in str(ed.frames[before:place])
        await ed.leave()
        assert [one for one in ed.frames[place:] if one.get("method") == "session/update"] == []


async def test_delete_002_and_ext_001_what_is_gone_is_deleted_and_every_custom_request_is_answered(
    fake: Simulated,
) -> None:
    async with start(fake) as ed:
        await ed.initialize()
        assert await ed.call("session/delete", sessionId="never-made") == {}
        with pytest.raises(RefusedError) as caught:
            await ed.call("_somebody.else/ping", x=1)
        assert caught.value.code == -32601


async def test_error_001_messages_of_errors_are_one_line_whatever_a_process_wrote(fake: Simulated) -> None:
    async with editor("--agent", "/bin/cat", env=fake.env) as ed:
        await ed.initialize()
        try:
            await ed.prompt(await ed.new(fake.cwd), "go")
        except RefusedError as error:
            assert error.message
            assert "\n" not in error.message
        else:
            raise AssertionError("cat answered")
