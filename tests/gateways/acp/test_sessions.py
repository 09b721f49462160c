"""Sessions over ACP: made, loaded, forked, listed, closed; prompts in a queue; cancel; processes that die; bad input.

On the simulator.
"""

from __future__ import annotations

import asyncio
import signal
import uuid
from pathlib import Path
from typing import Any

import pytest

from chaos.kit import MARK
from gateways.acp.editor import Editor, RefusedError, editor
from quarterdeck.gateways.acp import agent, drawing, extensions, identity, schema
from quarterdeck.timeline import events
from simulated import Simulated, until

NOWHERE = str(uuid.uuid4())


def start(fake: Simulated, checker: Any, *arguments: str) -> Any:
    return editor("--agent", str(fake.path), *arguments, env=fake.env, checker=checker)


def test_every_method_of_the_schema_is_served_or_says_why_not() -> None:
    assert set(schema.AGENT_METHODS) == (set(agent.METHODS) - {"session/set_model"}) | set(agent.NOT_SERVED)
    assert not set(agent.METHODS) & set(agent.NOT_SERVED)


def test_the_agent_names_its_own_methods() -> None:
    assert list(identity.EXTENSIONS) == sorted(extensions.METHODS)


def test_every_event_is_drawn_or_says_why_not() -> None:
    every = set(events.Event.__args__)  # type: ignore[attr-defined]
    assert set(drawing.DRAWN) | set(drawing.NOT_DRAWN) == every
    assert not set(drawing.DRAWN) & set(drawing.NOT_DRAWN)


async def test_initialize_says_what_the_agent_can(fake: Simulated, checker: Any) -> None:
    async with start(fake, checker) as ed:
        answer = await ed.call("initialize", protocolVersion=7, clientCapabilities={"auth": {"terminal": True}})
        assert answer["protocolVersion"] == 1
        assert answer["agentInfo"]["name"] == "quarterdeck"
        assert answer["authMethods"][0]["args"] == ["--login"]
        assert await ed.call("authenticate", methodId="claude-login") == {}
        with pytest.raises(RefusedError):
            await ed.call("authenticate", methodId="another")
        assert (await ed.call("auth/status"))["state"] == "unknown"


async def test_a_session_is_loaded_with_everything_that_was_said(fake: Simulated, checker: Any) -> None:
    tool = {"tool": "Bash", "input": {"command": "echo hi", "description": "Say hi"}}
    fake.play(["First.", tool, "Second."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        ed.allow()
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "tell me")
    async with start(fake, checker) as ed:
        await ed.initialize()
        answer = await ed.call("session/load", sessionId=session, cwd=str(fake.cwd), mcpServers=[])
        assert answer["modes"]["currentModeId"] == "default"
        loaded = next(i for i, f in enumerate(ed.frames) if f.get("result") == answer)
        replayed = [f["params"]["update"] for f in ed.frames[:loaded] if f.get("method") == "session/update"]
        kinds = [one["sessionUpdate"] for one in replayed if "Commands" not in str(one)]
        assert kinds[0] == "user_message_chunk"
        assert ed.text("user_message_chunk") == "tell me"
        assert ed.text() == "First.Second."
        assert ed.call_of("Bash")["status"] == "completed"


async def test_a_loaded_session_goes_on(fake: Simulated, checker: Any) -> None:
    fake.play(rules=[{"when": "one", "steps": ["Once."]}, {"when": "two", "steps": ["Twice."]}])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "one")
    async with start(fake, checker) as ed:
        await ed.initialize()
        assert (await ed.call("session/resume", sessionId=session, cwd=str(fake.cwd)))["modes"]
        assert ed.text("user_message_chunk") == ""
        assert (await ed.prompt(session, "two"))["stopReason"] == "end_turn"
        assert ed.text() == "Twice."
        listed = (await ed.call("session/list", cwd=str(fake.cwd)))["sessions"]
        assert [one["sessionId"] for one in listed] == [session]
        ed.frames.clear()
        await ed.call("session/load", sessionId=session, cwd=str(fake.cwd), mcpServers=[])
        assert (ed.text("user_message_chunk"), ed.text()) == ("onetwo", "Once.Twice.")


async def test_a_fork_goes_its_own_way(fake: Simulated, checker: Any) -> None:
    fake.play(["Once."], ["Elsewhere."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "one")
        forked = (await ed.call("session/fork", sessionId=session, cwd=str(fake.cwd)))["sessionId"]
        assert forked != session
        await ed.prompt(forked, "two")
        ids = {one["sessionId"] for one in (await ed.call("session/list", cwd=str(fake.cwd)))["sessions"]}
        assert ids == {session, forked}
        for each, said in ((session, "one"), (forked, "onetwo")):
            ed.frames.clear()
            await ed.call("session/load", sessionId=each, cwd=str(fake.cwd), mcpServers=[])
            assert ed.text("user_message_chunk") == said


async def test_a_session_is_renamed_archived_closed_and_deleted(fake: Simulated, checker: Any) -> None:
    fake.play(["Once."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "one")
        assert (await ed.call("session/status", sessionId=session)) == {"status": "open"}
        assert (await ed.call("session/set_title", sessionId=session, title=" Mine "))["title"] == "Mine"
        assert await ed.call("session/close", sessionId=session) == {}
        assert (await ed.call("session/status", sessionId=session)) == {"status": "saved"}
        (listed,) = (await ed.call("session/list"))["sessions"]
        assert (listed["title"], listed["cwd"]) == ("Mine", str(fake.cwd))
        await ed.call("session/archive", sessionId=session)
        assert (await ed.call("session/list"))["sessions"] == []
        assert len((await ed.call("session/list", archived="only"))["sessions"]) == 1
        await ed.call("session/unarchive", sessionId=session)
        await ed.call("session/delete", sessionId=session)
        assert (await ed.call("session/list", archived="include"))["sessions"] == []
        assert await ed.call("session/delete", sessionId=session) == {}  # gone already, which was the point
        for method in ("session/close", "session/status", "session/archive"):
            with pytest.raises(RefusedError) as caught:
                await ed.call(method, sessionId=session)
            assert caught.value.code == -32002


def chosen(options: list[dict[str, Any]]) -> dict[str, Any]:
    return {one["id"]: one["currentValue"] for one in options}


async def test_mode_model_and_effort_can_be_chosen(fake: Simulated, checker: Any) -> None:
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        await ed.call("session/set_mode", sessionId=session, modeId="acceptEdits")
        assert ed.updates("current_mode_update")[-1]["currentModeId"] == "acceptEdits"
        answer = await ed.call("session/set_config_option", sessionId=session, configId="model", value="sonnet")
        now = chosen(answer["configOptions"])
        assert (now["mode"], now["model"]) == ("acceptEdits", "sonnet")
        levels = next(one for one in answer["configOptions"] if one["id"] == "effort")["options"]
        assert [one["value"] for one in levels] == ["default", "low", "medium", "high", "xhigh", "max"]
        await ed.call("session/set_config_option", sessionId=session, configId="effort", value="high")
        await ed.call("session/set_model", sessionId=session, modelId="default")
        for wrong in (
            {"configId": "colour", "value": "red"},
            {"configId": "mode", "value": "bypassPermissions"},
            {"configId": "effort", "value": "heroic"},
            {"configId": "fast", "value": True, "type": "boolean"},  # the simulator's models have none
            {"configId": "agent", "value": "nobody"},
        ):
            with pytest.raises(RefusedError) as caught:
                await ed.call("session/set_config_option", sessionId=session, **wrong)
            assert caught.value.code == -32602
        await ed.call("session/set_config_option", sessionId=session, configId="agent", value="Explore")
        await ed.prompt(session, "hello")
        assert chosen(ed.updates("config_option_update")[-1]["configOptions"])["agent"] == "Explore"
        with pytest.raises(RefusedError, match="a conversation keeps its agent"):
            await ed.call("session/set_config_option", sessionId=session, configId="agent", value="default")


async def test_prompts_wait_for_their_turn_and_each_has_one_stop_reason(fake: Simulated, checker: Any) -> None:
    fake.play([fake.held, "One."], ["Two."], ["Three."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        turns = [ed.say(session, word) for word in ("a", "b", "c")]
        await asyncio.to_thread(until, fake.is_held)
        fake.release()
        async with asyncio.timeout(60):
            assert [one["stopReason"] for one in await asyncio.gather(*turns)] == ["end_turn"] * 3
        assert ed.text() == "One.Two.Three."


STEERS = {"quarterdeck": {"steer": True}}


async def steered(ed: Editor, fake: Simulated) -> tuple[str, asyncio.Future[Any], asyncio.Future[Any]]:
    """A session whose turn is held, the prompt of that turn, and one that steers it and has arrived."""
    await ed.initialize()
    session = await ed.new(fake.cwd)
    first = ed.say(session, "go")
    await asyncio.to_thread(until, fake.is_held)
    second = ed.say(session, "and mind the step", _meta=STEERS)
    await ed.call("_quarterdeck/usage", sessionId=session)  # answered after what was written before it
    return session, first, second


async def test_a_prompt_can_steer_the_turn_that_runs(fake: Simulated, checker: Any) -> None:
    fake.play([fake.held, {"tool": "Read", "input": {"file_path": "x"}}, "Both heard."], ["A turn of its own."])
    async with start(fake, checker) as ed:
        session, first, second = await steered(ed, fake)
        fake.release()
        async with asyncio.timeout(60):
            answers = await asyncio.gather(first, second)
        assert [one["stopReason"] for one in answers] == ["end_turn"] * 2
        assert answers[0]["usage"] == answers[1]["usage"]
        assert ed.text() == "Both heard."
        await ed.prompt(session, "next")
        assert ed.text() == "Both heard.A turn of its own."


async def test_a_prompt_that_comes_too_late_to_steer_ends_with_a_turn_of_its_own(fake: Simulated, checker: Any) -> None:
    later = fake.root / "later"
    fake.play([fake.held, "Alone."], [{"wait_for": str(later)}, "Late."])
    async with start(fake, checker) as ed:
        session, first, second = await steered(ed, fake)
        fake.release()
        async with asyncio.timeout(60):
            assert (await first)["stopReason"] == "end_turn"
            await asyncio.to_thread(until, Path(f"{later}.reached").exists)
            assert (ed.text(), second.done()) == ("Alone.", False)
            later.touch()
            assert (await second)["stopReason"] == "end_turn"
        assert ed.text() == "Alone.Late."
        assert ed.updates("user_message_chunk", session=session) == []  # nobody else's


async def test_a_steering_prompt_that_is_cancelled_is_withdrawn_and_the_turn_goes_on(
    fake: Simulated, checker: Any
) -> None:
    fake.play([fake.held, {"tool": "Read", "input": {"file_path": "x"}}, "Alone."], ["Next."])
    async with start(fake, checker) as ed:
        session, first, second = await steered(ed, fake)
        ed.notify("$/cancel_request", requestId=ed.last_id - 1)
        with pytest.raises(RefusedError) as caught:
            async with asyncio.timeout(60):
                await second
        assert caught.value.code == -32800
        await ed.call("_quarterdeck/usage", sessionId=session)
        fake.release()
        async with asyncio.timeout(60):
            assert (await first)["stopReason"] == "end_turn"
        await ed.prompt(session, "next")
        assert ed.text() == "Alone.Next."
        ed.frames.clear()
        await ed.call("session/load", sessionId=session, cwd=str(fake.cwd), mcpServers=[])
        assert ed.text("user_message_chunk") == "gonext"


async def test_cancel_ends_a_steering_prompt_with_the_turn_it_steers(fake: Simulated, checker: Any) -> None:
    fake.play([fake.held, "Never."], ["After."])
    async with start(fake, checker) as ed:
        session, first, second = await steered(ed, fake)
        ed.notify("session/cancel", sessionId=session)
        async with asyncio.timeout(60):
            assert [one["stopReason"] for one in await asyncio.gather(first, second)] == ["cancelled"] * 2
        await ed.prompt(session, "again")
        assert ed.text() == "After."


async def test_cancel_ends_what_runs_and_what_waits_and_twice_is_once(fake: Simulated, checker: Any) -> None:
    fake.play([fake.held, "Never."], ["After."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        ed.notify("session/cancel", sessionId=session)  # with nothing running
        ed.notify("session/cancel", sessionId=NOWHERE)
        running, waiting = ed.say(session, "go"), ed.say(session, "then")
        await asyncio.to_thread(until, fake.is_held)
        ed.notify("session/cancel", sessionId=session)
        ed.notify("session/cancel", sessionId=session)
        async with asyncio.timeout(30):
            both = await asyncio.gather(running, waiting)
        assert [one["stopReason"] for one in both] == ["cancelled", "cancelled"]
        assert (await ed.prompt(session, "again"))["stopReason"] == "end_turn"


async def test_a_prompt_that_is_cancelled_in_the_same_breath_is_cancelled(fake: Simulated, checker: Any) -> None:
    """Written in one piece: the agent, not yet imported, reads initialize, session, prompt and cancel one by one."""
    fake.play(*[[fake.held, "Never."]] * 3)
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        for _ in range(3):
            turn = ed.say(session, "go")
            ed.notify("session/cancel", sessionId=session)
            async with asyncio.timeout(30):
                assert (await turn)["stopReason"] == "cancelled"


async def test_cancel_takes_back_an_open_permission_request(fake: Simulated, checker: Any) -> None:
    fake.play([{"tool": "Bash", "input": {"command": "touch made.txt"}}, "Never."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        running = ed.say(session, "go")
        asked = await ed.until(lambda: ed.asked and ed.asked[0])  # and it is never answered
        ed.notify("session/cancel", sessionId=session)
        async with asyncio.timeout(30):
            assert (await running)["stopReason"] == "cancelled"
        await ed.until(lambda: ed.cancelled == [asked["id"]])
        assert not (fake.cwd / "made.txt").exists()


async def test_a_request_that_is_cancelled_is_answered_and_the_turn_stops(fake: Simulated, checker: Any) -> None:
    fake.play([fake.held, "Never."], ["After."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        running = ed.say(session, "go")
        number = ed.last_id
        await asyncio.to_thread(until, fake.is_held)
        ed.notify("$/cancel_request", requestId=number)
        with pytest.raises(RefusedError) as caught:
            async with asyncio.timeout(30):
                await running
        assert caught.value.code == -32800
        assert (await ed.prompt(session, "again"))["stopReason"] == "end_turn"


async def test_a_process_that_dies_is_told_and_the_next_prompt_goes_on(fake: Simulated, checker: Any) -> None:
    dies = [{"exit": 3, "stderr": "out of luck"}, "Never."]
    words = {"one": ["Once."], "two": dies, "three": ["Back again."]}
    fake.play(rules=[{"when": word, "steps": steps} for word, steps in words.items()])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "one")
        with pytest.raises(RefusedError, match="continues with the next prompt"):
            await ed.prompt(session, "two")
        assert (await ed.prompt(session, "three"))["stopReason"] == "end_turn"
        assert ed.text() == "Once.Back again."
        ed.frames.clear()
        await ed.call("session/load", sessionId=session, cwd=str(fake.cwd), mcpServers=[])
        assert ed.text("user_message_chunk").startswith("one")
        assert ed.text("user_message_chunk").endswith("three")


async def test_an_editor_that_goes_leaves_no_process_behind(fake: Simulated, checker: Any) -> None:
    fake.play([fake.held, "Never."])
    env = {**fake.env, MARK: fake.mark}
    async with editor("--agent", str(fake.path), env=env, checker=checker) as ed:
        await ed.initialize()
        ed.say(await ed.new(fake.cwd), "go")
        await asyncio.to_thread(until, fake.is_held)
        ed.process.send_signal(signal.SIGTERM)
        await ed.process.wait()
    await asyncio.to_thread(until, lambda: fake.left_running() == [])


async def test_many_sessions_run_side_by_side_and_none_blocks_another(fake: Simulated, checker: Any) -> None:
    fake.play(rules=[{"when": "plan", "steps": [{"plan": "1. Leap"}, "Going."]}, {"when": "hello", "steps": ["Hi."]}])
    async with start(fake, checker) as ed:
        await ed.initialize()
        stuck = await ed.new(fake.cwd)
        await ed.call("session/set_mode", sessionId=stuck, modeId="plan")
        waiting = ed.say(stuck, "plan")  # its review is never answered
        await ed.until(lambda: ed.asked)
        others = await asyncio.gather(*(ed.new(fake.cwd) for _ in range(4)))
        done = await asyncio.gather(*(ed.prompt(one, "hello") for one in others))
        assert [one["stopReason"] for one in done] == ["end_turn"] * 4
        assert not waiting.done()


REFUSED: list[tuple[str, dict[str, Any], int]] = [
    ("session/prompt", {"sessionId": NOWHERE, "prompt": [{"type": "text", "text": "x"}]}, -32002),
    ("session/prompt", {"sessionId": 5, "prompt": []}, -32602),
    ("session/prompt", {}, -32602),
    ("session/new", {"cwd": "relative", "mcpServers": []}, -32602),
    ("session/new", {"cwd": "/does/not/exist", "mcpServers": []}, -32602),
    ("session/new", {"cwd": "/", "mcpServers": [{"name": "x"}]}, -32602),
    (
        "session/new",
        {"cwd": "/", "mcpServers": [], "_meta": {"claudeCode": {"options": {"cliPath": "/bin/sh"}}}},
        -32602,
    ),
    ("session/load", {"sessionId": NOWHERE, "cwd": "/", "mcpServers": []}, -32002),
    ("session/load", {"sessionId": "../../etc/passwd", "cwd": "/", "mcpServers": []}, -32002),
    ("session/list", {"cursor": "x"}, -32602),
    ("session/nothing", {}, -32601),
    ("_unknown/extension", {}, -32601),
    ("_quarterdeck/usage", {"sessionId": NOWHERE}, -32002),
    ("session/set_title", {"sessionId": NOWHERE, "title": " "}, -32602),
]


async def test_what_is_wrong_gets_the_right_error_and_the_agent_goes_on(fake: Simulated, checker: Any) -> None:
    fake.play(["Still here."])
    async with start(fake, checker) as ed:
        with pytest.raises(RefusedError, match="call initialize first"):
            await ed.call("session/list")
        await ed.initialize()
        ed.raw(b'{"jsonrpc":\n[1]\nnull\n' + b"\xff\n")
        for method, params, code in REFUSED:
            with pytest.raises(RefusedError) as caught:
                await ed.call(method, **params)
            assert (method, caught.value.code) == (method, code)
        session = await ed.new(fake.cwd)
        assert (await ed.prompt(session, "hello?"))["stopReason"] == "end_turn"


async def test_extension_methods_reach_what_the_protocol_has_no_word_for(fake: Simulated, checker: Any) -> None:
    fake.play(["Once."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        await ed.prompt(session, "one")
        usage = await ed.call("_quarterdeck/usage", sessionId=session)
        cost = ed.updates("usage_update")[-1]["cost"]["amount"]
        assert usage["session"]["total_cost_usd"] == pytest.approx(cost, abs=1e-6)
        context = await ed.call("_quarterdeck/context", sessionId=session)
        assert context["totalTokens"] > 0
        assert await ed.call("_quarterdeck/mcp/status", sessionId=session) == {"mcpServers": []}
        account = await ed.call("_quarterdeck/account", sessionId=session)
        assert (account["apiKeySource"], account["apiProvider"]) == ("none", "firstParty")


async def test_the_simulators_sessions_are_listed_and_loaded_from_its_own_folder(fake: Simulated, checker: Any) -> None:
    for _ in range(2):
        async with editor("--agent", "sim", env=fake.env, checker=checker) as ed:
            await ed.initialize()
            listed = (await ed.call("session/list", cwd=str(fake.cwd)))["sessions"]
            if listed:
                (known,) = listed
                await ed.call("session/load", sessionId=known["sessionId"], cwd=str(fake.cwd), mcpServers=[])
                assert ed.text("user_message_chunk") == "hello"
                return
            await ed.prompt(await ed.new(fake.cwd), "hello")
    pytest.fail("the second agent did not find the first one's session")
