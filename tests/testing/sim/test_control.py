"""Control requests: each that our wire knows is served, and a few in detail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.testing.model.script import Stall
from quarterdeck.testing.sim import Next, Scenario, Tool, WaitFor
from quarterdeck.testing.sim.control import MODULES
from quarterdeck.wire import OUTGOING_REQUESTS
from testing.sim.harness import Sim


def play(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def test_every_request_of_the_wire_has_one_handler_and_nothing_else_has() -> None:
    modules = [import_module(f"quarterdeck.testing.sim.control.{name}") for name in MODULES]
    assert sorted(subtype for module in modules for subtype in module.HANDLERS) == sorted(OUTGOING_REQUESTS)


@pytest.mark.parametrize("subtype", sorted(OUTGOING_REQUESTS))
def test_every_request_is_answered_even_without_arguments(tmp_path: Path, subtype: str) -> None:
    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[["hi"]])) as sim:
            answer = await sim.control(subtype)
        assert answer["subtype"] in ("success", "error")
        assert answer["request_id"] == "r"
        assert sim.stderr == ""

    play(work)


def test_an_interrupt_ends_the_turn_and_leaves_the_session_usable(tmp_path: Path) -> None:
    async def work() -> None:
        held = [Stall(after=4), "A long answer that nobody hears to its end"]
        scenario = Scenario(replies=["a", Next(), *held, Next(), "c"])
        async with Sim(tmp_path, scenario, "--include-partial-messages") as sim:
            await sim.turn("one")
            sim.user("two")
            await sim.until(lambda m: m.get("event", {}).get("type") == "content_block_delta")
            interrupted = await sim.control("interrupt")
            second = await sim.result()
            third = await sim.turn("three")
        assert interrupted["response"] == {"still_queued": []}
        assert (second["subtype"], second["terminal_reason"]) == ("error_during_execution", "aborted_streaming")
        assert third["result"] == "c"
        assert [m["message"]["content"][0]["text"] for m in sim.said if m.get("aborted")] == [
            "A long answer that nobod"
        ]

    play(work)


def test_an_interrupt_takes_a_pending_permission_request_back(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[[Tool("Bash", {"command": "touch x"}), "Done."]])) as sim:
            sim.user("go")
            asked = await sim.asked()
            sim.request("interrupt")
            cancelled = await sim.until_type("control_cancel_request")
            sim.answer(asked, {"behavior": "allow"})
            result = await sim.result()
        assert cancelled["request_id"] == asked["request_id"]
        assert (result["terminal_reason"], len(result["permission_denials"])) == ("aborted_tools", 1)
        assert not (sim.cwd / "x").exists()

    play(work)


def test_an_interrupt_while_a_prompt_waits_for_its_hook_ends_the_turn_too(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[["Never said."]])) as sim:
            await sim.control("initialize", hooks={"UserPromptSubmit": [{"hookCallbackIds": ["h"]}]})
            sim.user("go")
            await sim.asked("hook_callback")
            sim.request("interrupt")
            result = await sim.result()
        assert (result["subtype"], result["terminal_reason"]) == ("error_during_execution", "aborted_streaming")

    play(work)


def test_a_queued_prompt_can_be_cancelled_and_the_rest_joins_the_turn(tmp_path: Path) -> None:
    steps = [WaitFor("go"), Tool("Bash", {"command": "pwd"}), "Done."]
    first, second = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"

    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[steps])) as sim:
            sim.user("one")
            await sim.until_type("system", "init")
            sim.user("two", uuid=first)
            sim.user("three", uuid=second)
            answer = await sim.control("cancel_async_message", message_uuid=first)
            (sim.cwd / "go").touch()
            await sim.result()
        life = [(m["command_uuid"], m["state"]) for m in sim.said if m["type"] == "command_lifecycle"]
        assert answer["response"] == {"cancelled": True}
        assert life == [
            (first, "queued"),
            (second, "queued"),
            (first, "cancelled"),
            (second, "started"),
            (second, "completed"),
        ]

    play(work)


def test_files_can_be_read_and_suggested_but_only_inside(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "secret.txt").write_text("secret")
        async with Sim(tmp_path, Scenario(turns=[["hi"]])) as sim:
            (sim.cwd / "notes.txt").write_text("hello")
            inside = await sim.control("read_file", path="notes.txt")
            outside = await sim.control("read_file", path="../secret.txt")
            found = await sim.control("file_suggestions", query="NOTE")
        assert inside["response"]["contents"] == "hello"
        assert outside["error"] == "read denied: ../secret.txt"
        assert found["response"]["suggestions"] == [{"path": "notes.txt"}]

    play(work)


def test_usage_and_cost_add_up_over_turns(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[["a"], ["b"]])) as sim:
            first, second = await sim.turn("1"), await sim.turn("2")
            usage = (await sim.control("get_usage"))["response"]["session"]
        assert (first["usage"]["input_tokens"], second["usage"]["input_tokens"]) == (100, 100)
        assert second["modelUsage"]["claude-opus-5-5"]["inputTokens"] == 200
        assert usage["total_cost_usd"] == second["total_cost_usd"] == pytest.approx(0.0016)

    play(work)


def test_the_session_s_state_is_reported_when_the_host_reads_it(tmp_path: Path) -> None:
    scenario = Scenario(turns=[[Tool("Bash", {"command": "touch x"}), "Done."]])

    async def work() -> None:
        async with Sim(tmp_path, scenario, env={"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}) as sim:
            await sim.turn("go")
            await sim.until(lambda m: m.get("state") == "idle")
        states = [m["state"] for m in sim.said if m.get("subtype") == "session_state_changed"]
        assert states == ["running", "requires_action", "running", "idle"]

    play(work)
