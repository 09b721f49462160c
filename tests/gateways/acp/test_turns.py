"""A turn as an editor sees it: what is said, which tools run, what is asked, how it ends. On the simulator."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from gateways.acp.editor import EVERYTHING, Editor, RefusedError, editor
from quarterdeck.gateways.acp.prompts import stop_reason
from quarterdeck.timeline.items import TurnSummary
from simulated import Simulated, until

BASH = {"tool": "Bash", "input": {"command": "touch made.txt", "description": "Make a file"}}


def start(fake: Simulated, checker: Any, *arguments: str) -> Any:
    return editor("--agent", str(fake.path), *arguments, env=fake.env, checker=checker)


async def begun(ed: Editor, fake: Simulated, **capabilities: Any) -> str:
    await ed.initialize(**(capabilities or EVERYTHING))
    return await ed.new(fake.cwd)


async def test_text_and_thinking_are_streamed_and_each_character_comes_once(fake: Simulated, checker: Any) -> None:
    fake.play([{"thinking": "Let me see."}, "The answer is forty-two."], delta_size=4)
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        answer = await ed.prompt(session, "What is it?")
        assert answer["stopReason"] == "end_turn"
        assert answer["usage"]["outputTokens"] > 0
        assert ed.text() == "The answer is forty-two."
        assert ed.text("agent_thought_chunk") == "Let me see."
        assert len(ed.updates("agent_message_chunk")) > 3
        assert ed.updates("user_message_chunk") == []
        (usage,) = ed.updates("usage_update")[-1:]
        assert usage["size"] > usage["used"] > 0
        assert usage["cost"]["currency"] == "USD"
        assert await ed.leave() == 0


async def test_a_tool_call_is_announced_asked_about_and_completed_in_this_order(fake: Simulated, checker: Any) -> None:
    fake.play(["I need a tool.", BASH, "Done."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow()
        await ed.prompt(session, "go")
        assert (fake.cwd / "made.txt").exists()
        call = ed.call_of("Bash")
        assert (call["kind"], call["title"], call["status"]) == ("execute", "touch made.txt", "completed")
        assert call["rawInput"]["command"] == "touch made.txt"
        said = next(i for i, f in enumerate(ed.frames) if "I need a tool." in str(f))
        asked = next(i for i, f in enumerate(ed.frames) if f.get("method") == "session/request_permission")
        assert said < asked
        options = [one["kind"] for one in ed.asked[0]["params"]["options"]]
        assert options[0] == "allow_once"
        assert options[-2:] == ["reject_once", "reject_always"]
        assert "allow_always" in options


async def test_an_edit_is_shown_as_a_diff_before_and_after(fake: Simulated, checker: Any) -> None:
    path = fake.cwd / "notes.txt"
    path.write_text("one\ntwo\nthree\n")
    edit = {"file_path": str(path), "old_string": "two", "new_string": "2"}
    fake.play([{"tool": "Read", "input": {"file_path": str(path)}}, {"tool": "Edit", "input": edit}, "Changed."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow()
        await ed.prompt(session, "change it")
        read = ed.call_of("Read")
        assert (read["kind"], read["title"], read["locations"]) == ("read", "Read notes.txt", [{"path": str(path)}])
        asked = ed.asked[0]["params"]["toolCall"]
        assert asked["content"][0] == {"type": "diff", "path": str(path), "oldText": "two\n", "newText": "2\n"}
        done = ed.call_of("Edit")
        assert (done["kind"], done["status"]) == ("edit", "completed")
        (diff,) = done["content"]
        assert diff["type"] == "diff"
        assert (diff["oldText"], diff["newText"]) == ("one\ntwo\nthree\n", "one\n2\nthree\n")
        assert done["locations"][0]["line"] == 1


async def test_a_new_file_has_no_old_text(fake: Simulated, checker: Any) -> None:
    path = fake.cwd / "new.txt"
    fake.play([{"tool": "Write", "input": {"file_path": str(path), "content": "hello\n"}}, "Made."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow()
        await ed.prompt(session, "make it")
        (diff,) = ed.call_of("Write")["content"]
        assert (diff.get("oldText"), diff["newText"]) == (None, "hello\n")


async def test_a_rejected_call_fails_and_the_turn_goes_on(fake: Simulated, checker: Any) -> None:
    fake.play([BASH, "Then not."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow("reject")
        answer = await ed.prompt(session, "go")
        assert answer["stopReason"] == "end_turn"
        assert ed.call_of("Bash")["status"] == "failed"
        assert ed.call_of("Bash")["_meta"]["quarterdeck"]["status"] == "denied"
        assert ed.text() == "Then not."
        assert not (fake.cwd / "made.txt").exists()


async def test_what_is_always_rejected_is_not_asked_again(fake: Simulated, checker: Any) -> None:
    fake.play([BASH, "No."], [BASH, "No again."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow("reject-always")
        await ed.prompt(session, "go")
        await ed.prompt(session, "go")
        assert len(ed.asked) == 1
        assert ed.text() == "No.No again."


async def test_always_allow_names_a_rule_for_this_call_alone_and_is_not_asked_again(
    fake: Simulated, checker: Any
) -> None:
    fake.play([BASH, "Made."], [BASH, "Again."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow("always-0")
        await ed.prompt(session, "go")
        await ed.prompt(session, "go")
        names = [one["name"] for one in ed.asked[0]["params"]["options"]]
        assert names[1] == "Always allow Bash(touch made.txt) in this session"
        assert len(ed.asked) == 1
        assert ed.text() == "Made.Again."


async def test_an_editor_that_fails_to_ask_means_no(fake: Simulated, checker: Any) -> None:
    fake.play([BASH, "Then not."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        running = ed.say(session, "go")
        asked = await ed.until(lambda: ed.asked and ed.asked[0])
        ed.send({"id": asked["id"], "error": {"code": -32603, "message": "no window"}})
        async with asyncio.timeout(30):
            assert (await running)["stopReason"] == "end_turn"
        assert "no window" in str(ed.call_of("Bash"))


async def test_todos_are_the_plan_and_no_tool_call(fake: Simulated, checker: Any) -> None:
    todos = [
        {"content": "Look", "status": "completed", "activeForm": "Looking"},
        {"content": "Leap", "status": "in_progress", "activeForm": "Leaping"},
    ]
    fake.play([{"tool": "TodoWrite", "input": {"todos": todos}}, "Planned."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        await ed.prompt(session, "plan")
        (plan,) = ed.updates("plan")
        assert [(one["content"], one["status"]) for one in plan["entries"]] == [
            ("Look", "completed"),
            ("Leap", "in_progress"),
        ]
        assert ed.updates("tool_call") == []


async def test_a_plan_is_reviewed_and_the_mode_follows_the_answer(fake: Simulated, checker: Any) -> None:
    fake.play([{"plan": "1. Look\n2. Leap"}, "On my way."])
    async with start(fake, checker, "--mode", "plan") as ed:
        session = await begun(ed, fake)
        ed.allow("acceptEdits")
        await ed.prompt(session, "plan it")
        asked = ed.asked[0]["params"]
        assert asked["toolCall"]["kind"] == "switch_mode"
        assert [one["optionId"] for one in asked["options"]] == ["acceptEdits", "default", "plan"]
        assert "2. Leap" in str(asked["toolCall"])
        assert ed.updates("current_mode_update")[-1]["currentModeId"] == "acceptEdits"
        assert ed.text() == "On my way."


async def test_a_plan_that_is_not_approved_keeps_the_mode(fake: Simulated, checker: Any) -> None:
    fake.play([{"plan": "1. Leap"}, "I think again."])
    async with start(fake, checker, "--mode", "plan") as ed:
        session = await begun(ed, fake)
        ed.allow("plan")
        assert (await ed.prompt(session, "plan it"))["stopReason"] == "end_turn"
        assert {one["currentModeId"] for one in ed.updates("current_mode_update")} == {"plan"}


QUESTION = {"ask": "Which colour?", "header": "Colour", "options": ["red", "blue"]}


async def test_a_question_is_a_form_where_the_editor_has_forms(fake: Simulated, checker: Any) -> None:
    fake.play([QUESTION, "Noted."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.replies["elicitation/create"] = lambda _: {"action": "accept", "content": {"question_0": "blue"}}
        await ed.prompt(session, "ask me")
        asked = ed.asked[0]["params"]
        assert asked["message"] == "Which colour?"
        offered = asked["requestedSchema"]["properties"]["question_0"]["oneOf"]
        assert [one["const"] for one in offered] == ["red", "blue"]
        assert "blue" in str(ed.call_of("AskUserQuestion")["rawOutput"])


async def test_an_answer_of_ones_own_counts(fake: Simulated, checker: Any) -> None:
    fake.play([QUESTION, "Noted."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        content = {"question_0": "blue", "question_0_other": "mauve"}
        ed.replies["elicitation/create"] = lambda _: {"action": "accept", "content": content}
        await ed.prompt(session, "ask me")
        assert "mauve" in str(ed.call_of("AskUserQuestion")["rawOutput"])


async def test_a_question_is_a_choice_where_the_editor_has_no_forms(fake: Simulated, checker: Any) -> None:
    fake.play([QUESTION, "Noted."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        ed.allow("answer-0")
        await ed.prompt(session, "ask me")
        asked = ed.asked[0]["params"]
        assert asked["toolCall"]["title"] == "Which colour?"
        assert [one["name"] for one in asked["options"]] == ["red", "blue", "Skip"]
        assert "red" in str(ed.call_of("AskUserQuestion")["rawOutput"])


async def test_several_answers_are_chosen_until_done(fake: Simulated, checker: Any) -> None:
    fake.play([{**QUESTION, "multi": True}, "Noted."])
    async with start(fake, checker) as ed:
        await ed.initialize()
        session = await ed.new(fake.cwd)
        picks = iter(["answer-0", "answer-1", "done"])
        ed.replies["session/request_permission"] = lambda _: {
            "outcome": {"outcome": "selected", "optionId": next(picks)}
        }
        await ed.prompt(session, "ask me")
        assert [one["name"] for one in ed.asked[1]["params"]["options"]] == ["✓ red", "blue", "Done", "Skip"]
        assert "red, blue" in str(ed.call_of("AskUserQuestion")["rawOutput"])


async def test_a_question_that_is_skipped_does_not_end_the_turn(fake: Simulated, checker: Any) -> None:
    fake.play([QUESTION, "Never mind."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.replies["elicitation/create"] = lambda _: {"action": "decline"}
        assert (await ed.prompt(session, "ask me"))["stopReason"] == "end_turn"
        assert ed.text() == "Never mind."


async def test_a_sub_agents_words_are_shown_in_its_call(fake: Simulated, checker: Any) -> None:
    steps = [{"thinking": "hm"}, "I looked everywhere."]
    agent = {"agent": "Look around", "description": "Explore", "type": "Explore", "background": False, "steps": steps}
    fake.play([agent, "It is done."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow()
        await ed.prompt(session, "send someone")
        assert ed.text() == "It is done."
        call = ed.call_of("Task")
        assert (call["kind"], call["title"], call["status"]) == ("think", "Explore", "completed")
        said = [one for one in ed.updates("tool_call_update") if "I looked everywhere." in str(one.get("content"))]
        assert said


async def test_a_background_agent_goes_on_after_the_turn_and_its_end_is_told(fake: Simulated, checker: Any) -> None:
    agent = {"agent": "Look", "description": "Explore", "background": True, "steps": [fake.held, "Found it."]}
    fake.play([agent, "It runs."], otherwise="assistant")
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow()
        assert (await ed.prompt(session, "send someone"))["stopReason"] == "end_turn"
        await asyncio.to_thread(until, fake.is_held)
        assert ed.call_of("Task")["status"] == "in_progress"
        fake.release()
        await ed.until(lambda: ed.call_of("Task")["status"] == "completed")


async def test_a_follow_up_prompt_leaves_a_background_agent_alone_and_it_may_ask_after_the_turn(
    fake: Simulated, checker: Any
) -> None:
    steps = [fake.held, BASH, "Found it."]
    agent = {"agent": "Look", "description": "Explore", "background": True, "steps": steps}
    fake.play([agent, "It runs."], ["Hello to you."], otherwise="assistant")
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        assert (await ed.prompt(session, "send someone"))["stopReason"] == "end_turn"
        await asyncio.to_thread(until, fake.is_held)
        assert (await ed.prompt(session, "hello"))["stopReason"] == "end_turn"
        assert ed.text() == "It runs.Hello to you."
        assert ed.call_of("Task")["status"] == "in_progress"
        assert ed.asked == []
        fake.release()  # no turn runs, and the agent wants a tool
        asked = await ed.until(lambda: ed.asked and ed.asked[0])
        assert asked["params"]["toolCall"]["title"] == "touch made.txt"
        ed.send({"id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "allow"}}})
        await ed.until(lambda: ed.call_of("Task")["status"] == "completed")
        assert (fake.cwd / "made.txt").exists()


def in_background(command: str) -> dict[str, Any]:
    return {"tool": "Bash", "input": {"command": command, "description": "Wait", "run_in_background": True}}


async def test_a_command_in_the_background_keeps_its_call_open(fake: Simulated, checker: Any) -> None:
    fake.play([in_background("sleep 1000"), "It runs."], otherwise="assistant")
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow()
        await ed.prompt(session, "go")
        call = ed.call_of("Bash")
        assert (call["status"], call["_meta"]["quarterdeck"]["background"]) == ("in_progress", True)
        await ed.call("_quarterdeck/task/stop", sessionId=session, taskId=call["_meta"]["quarterdeck"]["taskId"])
        await ed.until(lambda: ed.call_of("Bash")["status"] == "failed")


async def test_a_command_in_the_background_completes_its_call_when_it_has_ended(fake: Simulated, checker: Any) -> None:
    fake.play([in_background("echo hi"), "It runs."], otherwise="assistant")
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow()
        await ed.prompt(session, "go")
        await ed.until(lambda: ed.call_of("Bash")["status"] == "completed")
        assert any((one.get("_meta") or {}).get("quarterdeck", {}).get("background") for one in ed.updates())


def terminal_frames(ed: Editor, what: str) -> list[dict[str, Any]]:
    return [told for one in ed.updates("tool_call_update") if (told := (one.get("_meta") or {}).get(what)) is not None]


async def test_a_terminal_shows_where_a_command_runs_what_it_prints_and_its_own_exit_code(
    fake: Simulated, checker: Any
) -> None:
    commands = [
        {"command": "echo out; exit 3", "description": "Fail"},
        {"command": "echo hi", "description": "Say hi"},
        {"command": "echo a | grep -c b; true", "description": "Search"},
        {"command": "touch no.txt", "description": "Not allowed"},
        {"command": "exit 4", "description": "Fail later", "run_in_background": True},
    ]
    fake.play([*({"tool": "Bash", "input": one} for one in commands), "Done."], otherwise="assistant")
    async with start(fake, checker) as ed:
        session = await begun(ed, fake, **EVERYTHING, _meta={"terminal_output": True})
        ed.replies["session/request_permission"] = lambda asked: {
            "outcome": {
                "outcome": "selected",
                "optionId": "reject" if "no.txt" in asked["toolCall"]["title"] else "allow",
            }
        }
        await ed.prompt(session, "go")
        await ed.until(lambda: len(terminal_frames(ed, "terminal_exit")) == 5)
        shown = terminal_frames(ed, "terminal_info")
        assert [one["cwd"] for one in shown] == [str(fake.cwd)] * 5
        ids = [one["terminal_id"] for one in shown]
        exits = {one["terminal_id"]: one for one in terminal_frames(ed, "terminal_exit")}
        assert [exits[each]["exit_code"] for each in ids] == [3, 0, None, None, 4]
        assert {one["signal"] for one in exits.values()} == {None}
        printed = {one["terminal_id"]: one["data"] for one in terminal_frames(ed, "terminal_output")}
        assert "out" in printed[ids[0]]
        assert printed[ids[1]] == "hi"
        assert ed.call_of("Bash")["status"] == "failed"


async def test_retries_and_rate_limits_are_shown_in_every_editor(fake: Simulated, checker: Any) -> None:
    limit = {"rate_limit": {"status": "allowed_warning", "utilization": 0.9, "rateLimitType": "five_hour"}}
    fake.play([{"error": 529, "message": "overloaded", "times": 1}, limit, "At last."], time_scale=0)
    for capabilities in ({}, EVERYTHING):
        async with start(fake, checker) as ed:
            await ed.initialize(**capabilities)
            session = await ed.new(fake.cwd)
            await ed.prompt(session, "go")
            told = str(ed.updates("notice")) if capabilities else ed.text("agent_thought_chunk")
            assert "retry 1" in told
            assert "Rate limit five_hour: allowed_warning" in told
            assert "At last." in ed.text()


async def test_a_compaction_is_told(fake: Simulated, checker: Any) -> None:
    fake.play([{"compact": "auto"}, "Where was I?"])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        await ed.prompt(session, "go")
        statuses = [one["status"] for one in ed.updates("compaction_update")]
        assert statuses[-1] == "completed"
        assert len({one["compactionId"] for one in ed.updates("compaction_update")}) == 1


async def test_a_prompt_with_a_picture_and_files_is_replayed_with_its_words(fake: Simulated, checker: Any) -> None:
    fake.play(["Seen."])
    pixel = base64.b64encode(b"\x89PNG").decode()
    blocks = [
        {"type": "text", "text": "look"},
        {"type": "image", "mimeType": "image/png", "data": pixel},
        {"type": "resource_link", "name": "a.py", "uri": "file:///a.py"},
        {"type": "resource", "resource": {"uri": "file:///b.py", "text": "print(1)", "mimeType": "text/x-python"}},
    ]
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        await ed.call("session/prompt", sessionId=session, prompt=blocks)
        ed.frames.clear()
        await ed.call("session/load", sessionId=session, cwd=str(fake.cwd), mcpServers=[])
        prompt = ed.text("user_message_chunk")
        assert "look" in prompt
        assert "[@a.py](file:///a.py)" in prompt
        assert '<context ref="file:///b.py">\nprint(1)\n</context>' in prompt


async def test_audio_is_refused_and_not_dropped(fake: Simulated, checker: Any) -> None:
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        with pytest.raises(RefusedError, match="audio") as caught:
            audio = [{"type": "audio", "mimeType": "audio/wav", "data": ""}]
            await ed.call("session/prompt", sessionId=session, prompt=audio)
        assert caught.value.code == -32602


async def test_a_turn_that_reaches_a_limit_says_so(fake: Simulated, checker: Any) -> None:
    fake.play(["That is all.", {"end": "error_max_turns"}])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        assert (await ed.prompt(session, "go"))["stopReason"] == "max_turn_requests"


@pytest.mark.parametrize(
    ("outcome", "said", "reason"),
    [
        ("done", "end_turn", "end_turn"),
        ("done", "max_tokens", "max_tokens"),
        ("done", "refusal", "refusal"),
        ("limit", None, "max_turn_requests"),
    ],
)
def test_the_models_reason_is_the_prompts(outcome: Any, said: str | None, reason: str) -> None:
    assert stop_reason(TurnSummary(id="t", number=1, outcome=outcome, stop_reason=said)) == reason


async def test_a_turn_that_fails_is_an_error_with_the_apis_word(fake: Simulated, checker: Any) -> None:
    fake.play([{"error": 400, "message": "prompt is too long"}])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        with pytest.raises(RefusedError, match=r"(?i)prompt is too long"):
            await ed.prompt(session, "go")


async def test_a_login_that_is_missing_is_the_protocols_error_for_it(fake: Simulated, checker: Any) -> None:
    fake.play([{"error": 401, "message": "invalid x-api-key", "times": 99}], time_scale=0)
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        with pytest.raises(RefusedError) as caught:
            await ed.prompt(session, "go")
        assert caught.value.code == -32000


async def test_what_an_mcp_server_asks_is_a_form(fake: Simulated, checker: Any) -> None:
    asks = {"message": "How many?", "schema": {"type": "object", "properties": {"guests": {"type": "integer"}}}}
    fake.play([{"tool": "mcp__tables__book", "input": {}, "elicit": asks}, "Booked."])
    async with start(fake, checker) as ed:
        session = await begun(ed, fake)
        ed.allow()
        ed.replies["elicitation/create"] = lambda _: {"action": "accept", "content": {"guests": 4}}
        await ed.prompt(session, "book")
        form = next(one["params"] for one in ed.asked if one["method"] == "elicitation/create")
        assert form["message"] == "tables: How many?"
        assert form["requestedSchema"]["properties"] == {"guests": {"type": "integer"}}
