"""Plain conversation: text, thinking, deltas, several turns, odd but valid user messages."""

from __future__ import annotations

import base64

from conversations.driver import STREAM_JSON
from conversations.scenarios._registry import every, newest
from conversations.stage import Stage
from quarterdeck.testing.model import RedactedThinking, Stall, Thinking, ToolUse, Usage

PARTIAL = "--include-partial-messages"
UUID_A = "aaaaaaaa-0000-4000-8000-000000000001"
UUID_B = "bbbbbbbb-0000-4000-8000-000000000002"
PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060"
        "0000000500010d0a2db40000000049454e44ae426082"
    )
).decode()


@every
def plain_turn(stage: Stage) -> None:
    stage.model.reply("Hello from the scripted model.")
    with stage.claude() as run:
        run.initialize()
        run.turn("Say hello")


@every
def partial_messages(stage: Stage) -> None:
    stage.model.reply("A first sentence, cut into pieces. Ünïcödé too: 日本語 🚢.", delta_size=7)
    with stage.claude(PARTIAL) as run:
        run.initialize()
        run.turn("Say something")


@every
def thinking_blocks(stage: Stage) -> None:
    stage.model.reply(Thinking("First I think about it, then I answer."), "The answer.")
    with stage.claude(PARTIAL, "--max-thinking-tokens", "2000") as run:
        run.initialize()
        run.turn("Think")


@every
def multi_turn(stage: Stage) -> None:
    for text in ("one", "two", "three"):
        stage.model.reply(text, usage=Usage(input_tokens=50, output_tokens=5, cache_read_input_tokens=1000))
    with stage.claude() as run:
        run.initialize()
        for text in ("first", "second", "third"):
            run.turn(text)


@every
def assistant_multi_block_split(stage: Stage) -> None:
    stage.model.reply(
        Thinking("hm"),
        "I read two files.",
        ToolUse("Read", {"file_path": str(stage.cwd / "a.txt")}),
        ToolUse("Read", {"file_path": str(stage.cwd / "b.txt")}),
    )
    stage.model.reply("Both read.")
    (stage.cwd / "a.txt").write_text("alpha\n")
    (stage.cwd / "b.txt").write_text("beta\n")
    with stage.claude(PARTIAL) as run:
        run.allow_tools()
        run.initialize()
        run.turn("Read them")


@newest
def redacted_thinking_and_tool_summary(stage: Stage) -> None:
    stage.model.reply(
        Thinking("A thought that is shown. " * 8), RedactedThinking(), "Now.", ToolUse("Bash", {"command": "touch x"})
    )
    stage.model.reply("Done.")
    with stage.claude(PARTIAL, "--thinking", "adaptive", env={"CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES": "1"}) as run:
        run.allow_tools()
        run.initialize()
        run.turn("Think hard")


@newest
def no_initialize(stage: Stage) -> None:
    stage.model.reply("No handshake was needed.")
    with stage.claude() as run:
        run.turn("Hello")


@newest
def no_permission_prompt_tool_flag(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch x"}))
    stage.model.reply("It was denied.")
    with stage.claude(base=STREAM_JSON) as run:
        run.initialize()
        run.turn("Touch it")


@newest
def session_state_events(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch a"}))
    stage.model.reply("Touched.")
    with stage.claude(env={"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}) as run:
        run.allow_tools()
        run.initialize()
        run.turn("Touch it")


@newest
def image_in_user_message(stage: Stage) -> None:
    stage.model.reply("A very small picture.")
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    with stage.claude() as run:
        run.user([{"type": "text", "text": "What is this?"}, {"type": "image", "source": source}])
        run.result()


@newest
def user_message_queued_mid_turn(stage: Stage) -> None:
    gate = stage.model.gate()
    stage.model.reply("I look.", ToolUse("Bash", {"command": "echo one"}), Stall(after=3, until=gate))
    stage.model.reply("Folded in.")
    stage.model.reply("The later one.")
    with stage.claude("--allowedTools", "Bash") as run:
        run.initialize()
        run.user("first")
        gate.wait_reached(10)
        run.user("second, while you work", uuid=UUID_A)
        run.user("third, for later", uuid=UUID_B, priority="later")
        run.wait(lambda m: m.get("type") == "command_lifecycle" and m["command_uuid"] == UUID_B, what="queued")
        gate.open()
        run.result()
        run.result()


@newest
def cancel_queued_message(stage: Stage) -> None:
    gate = stage.model.gate()
    stage.model.reply("A long answer.", Stall(after=3, until=gate))
    with stage.claude() as run:
        run.initialize()
        run.user("first")
        gate.wait_reached(10)
        run.user("second", uuid=UUID_A)
        run.message("command_lifecycle")
        run.control("cancel_async_message", message_uuid=UUID_A)
        run.control("cancel_async_message", message_uuid=UUID_B)
        gate.open()
        run.result()


@newest
def user_should_query_false(stage: Stage) -> None:
    stage.model.reply("Now I answer both.")
    with stage.claude() as run:
        run.initialize()
        run.user("context only", shouldQuery=False, uuid=UUID_A)
        run.result()
        run.turn("now")


@every
def replay_user_messages_echo(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch echo.txt"}))
    stage.model.reply("Echoed.")
    with stage.claude("--replay-user-messages") as run:
        run.allow_tools()
        run.initialize()
        run.user("echo me", uuid=UUID_A)
        run.result()


@newest
def slash_commands(stage: Stage) -> None:
    stage.model.reply("before")
    stage.model.reply("An unknown command is only text.")
    stage.model.reply("after the clear")
    with stage.claude() as run:
        run.initialize()
        run.turn("hello")
        for text in ("/cost", "/rename My title", "/no-such-command x", "/clear", "and now?"):
            run.turn(text)


@every
def compact_slash(stage: Stage) -> None:
    stage.model.reply("A conversation worth compacting.")
    stage.model.reply("After the compaction.")
    with stage.claude() as run:
        run.initialize()
        run.turn("Talk")
        run.turn("/compact")
        run.turn("Go on")


@newest
def goal_command(stage: Stage) -> None:
    for _ in range(3):
        stage.model.reply("Working on it.")
    with stage.claude() as run:
        run.initialize()
        run.turn("/goal tests pass")
        run.turn("/goal clear")


@newest
def prompt_suggestions(stage: Stage) -> None:
    stage.model.reply("First answer.")
    stage.model.reply("Second answer.")
    stage.model.on(lambda request: request.kind == "suggestion", "run the tests")
    with stage.claude() as run:
        run.initialize(promptSuggestions=True)
        run.turn("one")
        run.turn("two")
        run.message("prompt_suggestion")


@newest
def big_stdout_line(stage: Stage) -> None:
    stage.model.reply("0123456789abcdef" * 65_536, delta_size=65_536)
    with stage.claude() as run:
        run.turn("Say much")


@newest
def u2028_and_controls_in_text(stage: Stage) -> None:
    stage.model.reply("line\u2028separator\u2029paragraph\u0085next\u0000nul\u001bescape\ufeffbom\U0001f6a2")
    with stage.claude(PARTIAL) as run:
        run.turn("raw: \u2028 \u2029 \u0085")
