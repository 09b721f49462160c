"""Text and thinking: each block once, whether it is streamed, told whole, or both; and what is said to the model."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.timeline import Event
from quarterdeck.timeline.events import (
    BlockStarted,
    NoticeShown,
    PromptChanged,
    PromptSent,
    Retracted,
    TextAdded,
    TextCompleted,
    ThinkingAdded,
    ThinkingCompleted,
    ThinkingCounted,
)
from quarterdeck.timeline.items import Prompt, Text, Thinking

from .talk import (
    Talk,
    assistant,
    block_start,
    delta,
    init,
    kinds,
    message_start,
    only,
    prompt,
    stream,
    system,
    text,
    turn_end,
)


def printed(events: list[Event]) -> str:
    """What a face prints that knows only this: pieces, and the rest of a completed block."""
    words = [
        event.text if isinstance(event, TextAdded) else event.rest
        for event in events
        if isinstance(event, TextAdded | TextCompleted)
    ]
    return "".join(words)


WHOLE = [assistant(text("Hello, world."))]
STREAMED = [message_start(), block_start(text("")), delta("text", "Hello, "), delta("text", "world.")]


@pytest.mark.parametrize("lines", [WHOLE, [*STREAMED, *WHOLE], [*STREAMED[:3], *WHOLE]], ids=["whole", "both", "lost"])
def test_a_text_is_printed_once_however_it_comes(lines: list[dict[str, object]]) -> None:
    talk = Talk()
    talk.hear(*lines)
    assert printed(talk.events) == "Hello, world."
    assert [event.id for event in talk.events if isinstance(event, BlockStarted)] == ["msg_1:0"]
    assert only(TextCompleted, talk.events).text == "Hello, world."
    assert talk.item(Text, "msg_1:0").text.text == "Hello, world."


def test_pieces_are_told_as_they_come_and_the_state_has_them_too() -> None:
    talk = Talk()
    talk.hear(*STREAMED)
    added = [event for event in talk.events if isinstance(event, TextAdded)]
    assert added == [TextAdded(3.0, "msg_1:0", "Hello, "), TextAdded(4.0, "msg_1:0", "world.")]
    item = talk.item(Text, "msg_1:0")
    assert (str(item), item.done) == ("Hello, world.", False)


def test_each_line_of_one_message_is_its_next_block() -> None:
    talk = Talk()
    talk.hear(assistant({"type": "thinking", "thinking": "Hm.", "signature": ""}), assistant(text("Yes.")))
    assert [item.id for item in talk.state.items.values()] == ["msg_1:0", "msg_1:1"]
    assert str(talk.item(Thinking, "msg_1:0")) == "Hm."
    assert str(talk.item(Text, "msg_1:1")) == "Yes."


def test_thinking_is_streamed_counted_and_completed() -> None:
    talk = Talk()
    talk.hear(
        message_start(),
        block_start({"type": "thinking", "thinking": "", "signature": ""}),
        system("thinking_tokens", estimated_tokens=6, estimated_tokens_delta=6),
        delta("thinking", "Hm"),
        stream({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "x"}}),
    )
    assert talk.state.thinking_tokens == 6
    talk.hear(assistant({"type": "thinking", "thinking": "Hm", "signature": "x"}, thinking_duration_ms=1200))
    assert only(ThinkingCounted, talk.events) == ThinkingCounted(3.0, 6)
    assert only(ThinkingAdded, talk.events) == ThinkingAdded(4.0, "msg_1:0", "Hm")
    assert only(ThinkingCompleted, talk.events) == ThinkingCompleted(6.0, "msg_1:0", "Hm", "", duration_s=1.2)
    assert talk.state.thinking_tokens == 0


def test_redacted_thinking_is_there_but_hidden() -> None:
    talk = Talk()
    talk.hear(assistant({"type": "redacted_thinking", "data": "zzz"}))
    assert only(ThinkingCompleted, talk.events) == ThinkingCompleted(1.0, "msg_1:0", "", "", hidden=True)
    assert talk.item(Thinking, "msg_1:0").hidden


def test_a_message_said_anew_after_a_broken_stream_takes_back_the_first() -> None:
    talk = Talk()
    talk.hear(*STREAMED[:3], assistant(text("Again."), message="msg_2"))
    assert only(Retracted, talk.events).ids == ["msg_1:0"]
    first, second = talk.item(Text, "msg_1:0"), talk.item(Text, "msg_2:0")
    assert (str(first), first.done, first.retracted) == ("Hello, ", True, True)
    assert (str(second), second.retracted) == ("Again.", False)


def test_messages_that_another_one_supersedes_are_taken_back() -> None:
    talk = Talk()
    talk.hear(assistant(text("Wrong.")), assistant(text("Right."), message="msg_2", supersedes=["u-msg_1"]))
    assert only(Retracted, talk.events).ids == ["msg_1:0"]


def test_an_interrupted_text_is_complete_with_the_turn() -> None:
    talk = Talk()
    talk.hear(*STREAMED, turn_end("error_during_execution", terminal_reason="aborted_streaming"))
    assert only(TextCompleted, talk.events) == TextCompleted(5.0, "msg_1:0", "Hello, world.", "", stopped=True)


def test_an_api_error_is_a_text_of_the_cli_itself() -> None:
    talk = Talk()
    line = assistant(text("Overloaded."), error="overloaded")
    line["message"]["model"] = "<synthetic>"
    talk.hear(line)
    done = only(TextCompleted, talk.events)
    assert (done.error, done.synthetic) == ("overloaded", True)


def test_a_sub_agent_that_streams_is_not_mixed_up_with_the_main_one() -> None:
    talk = Talk()
    sub: dict[str, Any] = {"parent_tool_use_id": "tool_1"}
    talk.hear(message_start(), block_start(text("")))
    talk.hear(message_start("msg_2", **sub), block_start(text(""), **sub))
    talk.hear(delta("text", "main"), delta("text", "sub", **sub), stream({"type": "message_stop"}, **sub))
    talk.hear(delta("text", " still main"))
    assert str(talk.item(Text, "msg_1:0")) == "main still main"
    assert str(talk.item(Text, "msg_2:0")) == "sub"
    assert talk.item(Text, "msg_2:0").parent_id == "tool_1"


def test_pieces_of_a_message_whose_beginning_was_not_seen_wait_for_the_whole() -> None:
    talk = Talk()
    assert talk.hear(delta("text", "lo")) == []
    talk.hear(assistant(text("Hello")))
    assert printed(talk.events) == "Hello"


# What is said to the model


def test_a_prompt_with_an_id_is_followed_through_the_queue() -> None:
    talk = Talk()
    talk.say(prompt("first", uuid="p"))
    states = ["queued", "started", "completed"]
    talk.hear(*({"type": "command_lifecycle", "command_uuid": "p", "state": state} for state in states))
    assert only(PromptSent, talk.events) == PromptSent(1.0, "p", "first")
    assert [event.status for event in talk.events if isinstance(event, PromptChanged)] == states
    assert talk.item(Prompt, "p").status == "completed"


def test_a_prompt_tells_its_pictures_by_type() -> None:
    talk = Talk()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    talk.say({"type": "user", "message": {"role": "user", "content": [image, text("What is it?")]}})
    assert only(PromptSent, talk.events) == PromptSent(1.0, "prompt-1", "What is it?", attachments=["image/png"])


@pytest.mark.parametrize("sent", [{}, {"uuid": "p"}])
def test_the_echo_of_our_own_prompt_is_not_a_second_one(sent: dict[str, str]) -> None:
    talk = Talk()
    talk.say(prompt("hi", **sent))
    assert talk.hear(prompt("hi", isReplay=True, uuid="p")) == []


def test_a_prompt_of_another_client_is_told_with_where_it_came_from() -> None:
    talk = Talk()
    talk.hear(prompt("news", uuid="n", origin={"kind": "task-notification"}))
    talk.hear(prompt("hello", uuid="o", isReplay=True))
    told = [(event.text, event.source) for event in talk.events if isinstance(event, PromptSent)]
    assert told == [("news", "task-notification"), ("hello", "us")]


def test_what_the_agent_tells_a_sub_agent_is_a_prompt_of_its() -> None:
    talk = Talk()
    talk.hear(prompt("Look.", parent_tool_use_id="tool_1", uuid="q"))
    assert only(PromptSent, talk.events) == PromptSent(1.0, "q", "Look.", "agent", [], "tool_1")


@pytest.mark.parametrize(
    ("line", "kind", "shown"),
    [
        (prompt("<local-command-stdout>Set model</local-command-stdout>"), "command_output", "Set model"),
        (prompt("[Request interrupted by user]"), "interrupted", "Request interrupted by user"),
        (prompt("Go on.", isSynthetic=True), "told_model", "Go on."),
        (
            prompt("This session is being continued from a previous conversation …"),
            "compaction_summary",
            "This session is being continued from a previous conversation …",
        ),
    ],
)
def test_remarks_of_the_cli_are_notices(line: dict[str, object], kind: str, shown: str) -> None:
    talk = Talk()
    talk.hear(line)
    notice = only(NoticeShown, talk.events)
    assert (notice.kind, notice.text) == (kind, shown)


def test_a_turn_in_order() -> None:
    talk = Talk()
    talk.say(prompt())
    talk.hear(init(), *STREAMED, *WHOLE, turn_end())
    assert kinds(talk.events) == [
        "prompt_sent",
        "session_changed",
        "model_changed",
        "mode_changed",
        "turn_started",
        "block_started",
        "text_added",
        "text_added",
        "text_completed",
        "turn_ended",
    ]
