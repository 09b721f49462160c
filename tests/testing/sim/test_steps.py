"""What each step of a scenario does, over the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from quarterdeck.testing.sim import (
    Agent,
    Compact,
    Emit,
    End,
    Error,
    Exit,
    Next,
    Plan,
    PromptRule,
    RateLimit,
    Reply,
    Scenario,
    Stop,
    Suggest,
    Text,
    Thinking,
    Tool,
    Usage,
    WaitFor,
)
from quarterdeck.testing.sim.steps import moves_of
from testing.sim.harness import Sim


def play(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def test_blocks_are_gathered_into_replies_and_a_text_after_a_tool_starts_another() -> None:
    moves = moves_of(["a", Tool("Read"), Tool("Bash"), "b", Usage(1, 2), Next(), "c", Stop("max_tokens")])

    assert moves == [
        Reply(blocks=(Text("a"), Tool("Read"), Tool("Bash"))),
        Reply(blocks=(Text("b"),), usage=Usage(1, 2)),
        Reply(blocks=(Text("c"),), stop_reason="max_tokens"),
    ]


def test_turns_answer_one_prompt_each_and_then_say_that_nothing_is_left(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[["one"], ["two"]])) as sim:
            results = [(await sim.turn(text))["result"] for text in "abc"]
        assert results == ["one", "two", "The scenario has no reply left for this."]

    play(work)


def test_rules_match_prompts_and_fill_in_what_they_found(tmp_path: Path) -> None:
    rule = PromptRule(
        r"greet (?P<who>\w+)", ["Hello {who}.", Tool("Write", {"file_path": "{who}.txt", "content": "x"}), "Done."]
    )

    async def work() -> None:
        async with Sim(tmp_path, Scenario(rules=[rule]), "--permission-mode", "acceptEdits") as sim:
            await sim.turn("please greet Ada")
        assert (sim.cwd / "Ada.txt").read_text() == "x"
        assert sim.said[1]["message"]["content"] == [{"type": "text", "text": "Hello Ada."}]

    play(work)


def test_thinking_and_text_stream_as_deltas_when_asked_for(tmp_path: Path) -> None:
    scenario = Scenario(turns=[[Thinking("hm, let me see"), "An answer."]], delta_size=5)

    async def work() -> None:
        async with Sim(tmp_path, scenario, "--include-partial-messages") as sim:
            await sim.turn("go")
        deltas = [m["event"]["delta"] for m in sim.said if m["type"] == "stream_event" and "delta" in m["event"]]
        assert "".join(delta.get("text", "") for delta in deltas) == "An answer."
        assert "".join(delta.get("thinking", "") for delta in deltas) == "hm, let me see"
        assert len({m["message"]["id"] for m in sim.said if m["type"] == "assistant"}) == 1

    play(work)


def test_a_tool_with_a_written_result_is_asked_for_but_not_run(tmp_path: Path) -> None:
    step = Tool("WebFetch", {"url": "http://example.test"}, result="<html/>")

    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[[step, "Fetched."]])) as sim:
            sim.user("fetch")
            asked = await sim.asked()
            sim.answer(asked, {"behavior": "allow"})
            tool_result = await sim.until_type("user")
            await sim.result()
        assert asked["request"]["tool_name"] == "WebFetch"
        assert tool_result["message"]["content"][0]["content"] == "<html/>"

    play(work)


def test_a_plan_is_shown_and_its_approval_leaves_plan_mode(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[[Plan.of("1. Sail"), "Aye."]]), "--permission-mode", "plan") as sim:
            sim.user("plan")
            asked = await sim.asked()
            sim.answer(asked, {"behavior": "allow", "updatedInput": asked["request"]["input"]})
            status = await sim.until_type("system", "status")
            await sim.result()
        assert asked["request"]["input"]["plan"] == "1. Sail"
        assert status["permissionMode"] == "default"

    play(work)


def test_a_sub_agent_speaks_inside_its_call_and_its_files_are_on_disk(tmp_path: Path) -> None:
    agent = Agent.of("look", Tool("Bash", {"command": "pwd"}), "I looked.", background=False)

    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[[agent, "Back."]])) as sim:
            result = await sim.turn("delegate")
        inside = [m for m in sim.said if m.get("parent_tool_use_id")]
        assert [m["type"] for m in inside] == ["user", "assistant", "user"]
        assert result["result"] == "Back."
        files = sorted(path.suffix for path in (sim.home / ".claude" / "projects").rglob("agent-*"))
        assert files == [".json", ".jsonl"]

    play(work)


def test_a_sub_agent_waits_while_the_turn_that_sent_it_ends(tmp_path: Path) -> None:
    agent = Agent.of("look", WaitFor("go"), "I looked.", background=True)

    async def work() -> None:
        async with Sim(tmp_path, Scenario(replies=[agent, "Sent.", Next(), "It is back."])) as sim:
            first = await sim.turn("delegate")
            assert not [m for m in sim.said if m.get("subtype") == "task_notification"]
            (sim.cwd / "go").touch()
            second = await sim.result()
        assert (first["result"], second["result"]) == ("Sent.", "It is back.")

    play(work)


def test_a_background_command_brings_a_turn_of_its_own(tmp_path: Path) -> None:
    step = Tool("Bash", {"command": "sleep 1; echo done", "run_in_background": True})
    scenario = Scenario(replies=[step, "Started.", Next(), "It ended."], time_scale=0.01)

    async def work() -> None:
        async with Sim(tmp_path, scenario) as sim:
            first = await sim.turn("go")
            second = await sim.result()
        assert (first["result"], second["result"]) == ("Started.", "It ended.")
        assert second["origin"]["kind"] == "task-notification"

    play(work)


def test_api_errors_are_retried_aloud_and_then_end_as_a_success_with_is_error(tmp_path: Path) -> None:
    scenario = Scenario(turns=[[Error(529), "Fine."], [Error(400, "bad")]], time_scale=0)

    async def work() -> None:
        async with Sim(tmp_path, scenario) as sim:
            first = await sim.turn("a")
            second = await sim.turn("b")
            code = await sim.end()
        retry = next(m for m in sim.said if m.get("subtype") == "api_retry")
        assert (retry["attempt"], retry["max_retries"], retry["error_status"], retry["error"]) == (
            1,
            10,
            529,
            "overloaded",
        )
        assert (first["is_error"], second["subtype"], second["is_error"]) == (False, "success", True)
        assert (second["api_error_status"], second["terminal_reason"], code) == (400, "api_error", 1)

    play(work)


def test_the_cli_s_own_events_come_where_the_scenario_has_them(tmp_path: Path) -> None:
    steps = [
        RateLimit({"status": "rejected"}),
        Compact("short"),
        Emit({"type": "tool_use_summary", "summary": "s"}),
        "Now.",
    ]

    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[[*steps, Suggest("more?")]]), "--prompt-suggestions") as sim:
            await sim.turn("go")
            suggestion = await sim.until_type("prompt_suggestion")
        assert sim.types() == [
            "system/init",
            "rate_limit_event",
            "system/status",
            "system/status",
            "system/compact_boundary",
            "user",
            "tool_use_summary",
            "assistant",
            "result/success",
            "prompt_suggestion",
        ]
        assert suggestion["suggestion"] == "more?"

    play(work)


def test_a_turn_can_be_ended_with_any_error_and_the_process_too(tmp_path: Path) -> None:
    scenario = Scenario(turns=[["Hm.", Next(), End("error_max_turns", ("enough",))], ["Bye.", Exit(7, "gone\n")]])

    async def work() -> None:
        async with Sim(tmp_path, scenario) as sim:
            sim.user("a")
            await sim.result()
            sim.user("b")
            code = await sim.exited()
        results = [m["subtype"] for m in sim.said if m["type"] == "result"]
        assert (results, code, sim.stderr) == (["error_max_turns", "success"], 7, "gone\n")

    play(work)


def test_a_turn_is_held_until_a_file_appears(tmp_path: Path) -> None:
    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[[WaitFor("go"), "Went."]])) as sim:
            sim.user("a")
            await sim.until_type("system", "init")
            async with asyncio.timeout(5):
                while not (sim.cwd / "go.reached").exists():  # noqa: ASYNC110  # made by the simulator, not by an event
                    await asyncio.sleep(0.01)
            assert "result/success" not in sim.types()
            (sim.cwd / "go").touch()
            assert (await sim.result())["result"] == "Went."

    play(work)


def test_slow_work_shows_signs_of_life(tmp_path: Path) -> None:
    step = Tool("WebSearch", {"query": "q"}, result="r", takes_s=70)

    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[[step, "Found."]], time_scale=0.002)) as sim:
            await sim.turn("search")
        beats = [m for m in sim.said if m["type"] == "tool_progress"]
        assert beats  # how many depends on how busy the machine is
        numbers = [beat["tool_use_id"].rpartition("-heartbeat-")[2] for beat in beats]
        assert numbers == [str(number) for number in range(len(beats))]
        assert all(beat["heartbeat"] and beat["elapsed_time_seconds"] >= 30 for beat in beats)

    play(work)


def test_an_elicitation_asks_the_host_and_its_answer_is_the_tool_s_result(tmp_path: Path) -> None:
    step = Tool(
        "mcp__desk__ask", {}, elicit={"message": "Name?", "schema": {"properties": {"name": {"type": "string"}}}}
    )

    async def work() -> None:
        async with Sim(tmp_path, Scenario(turns=[[step, "Thanks."]]), "--allowedTools", "mcp__desk__ask") as sim:
            sim.user("ask")
            asked = await sim.asked("elicitation")
            sim.answer(asked, {"action": "accept", "content": {"name": "Bob"}})
            told = await sim.until_type("user")
            await sim.result()
        assert (asked["request"]["mcp_server_name"], asked["request"]["property_order"]) == ("desk", ["name"])
        assert json.loads(told["message"]["content"][0]["content"][0]["text"])["content"] == {"name": "Bob"}

    play(work)
