"""What a turn says: blocks, deltas, usage, echoes."""

from __future__ import annotations

from conformance.scenario import scenario
from conformance.stage import (
    NotThere,
    Stage,
    bash,
    expect,
    expect_that,
    of_kind,
    result_of,
    text_of,
    told,
    tool_results,
)
from quarterdeck.client import TextAccumulator
from quarterdeck.testing.model import RedactedThinking, Thinking, ToolUse, Usage
from quarterdeck.wire import (
    AssistantMessage,
    ContentBlockDelta,
    PromptSuggestionMessage,
    RedactedThinkingBlock,
    SessionStateChangedMessage,
    StatusMessage,
    StreamEvent,
    TextBlock,
    ThinkingBlock,
    ThinkingDelta,
    ToolUseBlock,
    UserMessage,
)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABDQottAAAAABJRU5ErkJggg=="
UUID = "aaaaaaaa-0000-4000-8000-000000000001"


@scenario(
    "turns",
    "A turn is init, assistant, result",
    "000-single-turn",
    "002-flow-standard",
    "000-result-ends-turn",
    "004-query-until-result",
)
async def plain_turn(stage: Stage) -> None:
    stage.reply("Hello.")
    async with stage.session() as session:
        messages = await told(session.prompt("hello"))
    kinds = [message.data["type"] for message in messages if message.data["type"] in ("assistant", "user", "result")]
    expect("the order", kinds, ["assistant", "result"])
    result = result_of(messages)
    expect(
        "the result",
        (result.subtype, result.is_error, result.num_turns, result.result),
        ("success", False, 1, "Hello."),
    )
    expect_that("hello" in stage.heard[-1].text, "the model was not told the prompt")


@scenario("turns", "A result says why the model stopped and why the turn ended")
async def result_reasons(stage: Stage) -> None:
    stage.reply("Hello.")
    async with stage.session() as session:
        result = await session.prompt("hello")
    if result.stop_reason is None and result.terminal_reason is None:
        raise NotThere("no stop_reason, no terminal_reason")
    expect("the reasons", (result.stop_reason, result.terminal_reason), ("end_turn", "completed"))


@scenario("turns", "A result names the prompts it answers")
async def result_prompts(stage: Stage) -> None:
    stage.reply("Hello.")
    async with stage.session() as session:
        result = await session.prompt("hello", uuid=UUID)
    if result.user_message_uuids is None:
        raise NotThere("no user_message_uuids")
    expect("the prompts", result.user_message_uuids, [UUID])


@scenario(
    "turns",
    "usage counts the turn; cost and modelUsage add up over the turns",
    "000-result-cost",
    "003-result-keys",
    alone=True,
)
async def usage_and_cost(stage: Stage) -> None:
    async with stage.session() as session:
        totals = []
        for number in (1, 2):
            stage.reply("Hello.", usage=Usage(input_tokens=1000, output_tokens=100, cache_read_input_tokens=50))
            result = await session.prompt(f"prompt {number}")
            usage = result.typed_usage
            expect_that(usage is not None, "no usage")
            counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens) if usage else ()
            expect("the turn's tokens", counts, (1000, 100, 50))
            models = list(result.typed_model_usage.values())
            expect("total tokens", [model.output_tokens for model in models], [100 * number])
            totals.append(float(result.total_cost_usd or 0))
    expect("the cost of two turns", round(totals[1], 6), round(2 * totals[0], 6))


@scenario("turns", "No stream events unless requested", "000-stream-only-when-asked")
async def no_deltas(stage: Stage) -> None:
    stage.reply("A first sentence.")
    async with stage.session() as session:
        expect("stream events", len(of_kind(await told(session.prompt("talk")), StreamEvent)), 0)


@scenario("turns", "Redacted thinking is a separate kind of block")
async def redacted_thinking(stage: Stage) -> None:
    stage.reply(RedactedThinking(), "The answer.")
    async with stage.session() as session:
        messages = await told(session.prompt("think"))
    blocks = [block for message in of_kind(messages, AssistantMessage) for block in message.content]
    expect("the blocks", [type(block) for block in blocks], [RedactedThinkingBlock, TextBlock])


@scenario("turns", "A prompt can contain text and images", "004-user-content-blocks")
async def image_prompt(stage: Stage) -> None:
    stage.reply("A very small picture.")
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    async with stage.session() as session:
        turn = session.prompt([{"type": "text", "text": "What is this?"}, {"type": "image", "source": source}])
        expect("the result", (await turn).result, "A very small picture.")
    expect_that("What is this?" in stage.heard[-1].text, "the model was not told the text")


@scenario("turns", "Prompts are not echoed by default", "000-echo")
async def prompt_not_echoed(stage: Stage) -> None:
    stage.reply("Not echoed.")
    async with stage.session() as session:
        messages = await told(session.prompt("do not echo me"))
    expect("user messages", len(of_kind(messages, UserMessage)), 0)


@scenario("turns", "A prompt with shouldQuery false waits for the next prompt", alone=True)
async def prompt_without_query(stage: Stage) -> None:
    stage.reply("Now I answer both.")
    async with stage.session() as session:
        first = await session.prompt("context only", uuid=UUID, shouldQuery=False)
        if stage.heard:
            raise NotThere("shouldQuery has no effect: the model was asked")
        expect("the first result", first.num_turns, 0)
        expect("the second", (await session.prompt("now")).result, "Now I answer both.")


@scenario("turns", "An unknown tool is an error for the model, not for the turn")
async def unknown_tool(stage: Stage) -> None:
    stage.reply(ToolUse("NoSuchTool", {"x": 1}))
    stage.reply("There is no such tool.")
    async with stage.session() as session:
        messages = await told(session.prompt("use it"))
    (result,) = tool_results(messages)
    expect_that("No such tool available: NoSuchTool" in text_of(result), "the model was told something else")
    expect("the result", (result.is_error, result_of(messages).is_error), (True, False))


@scenario(
    "turns",
    "One message per block; blocks of one answer share its id",
    "000-assistant-all-blocks",
    "001-assistant-complete",
)
async def block_per_message(stage: Stage) -> None:
    stage.reply(Thinking("hm"), "I run it.", bash("echo one"))
    stage.reply("Done.")
    async with stage.session(allowed_tools=["Bash"]) as session:
        messages = await told(session.prompt("run"))
    first = of_kind(messages, AssistantMessage)[:3]
    kinds = [[type(block) for block in message.content] for message in first]
    expect("the blocks", kinds, [[ThinkingBlock], [TextBlock], [ToolUseBlock]])
    expect("ids of one answer", len({message.message_id for message in first}), 1)
    expect("stop reasons", {message.stop_reason for message in first}, {None})


@scenario(
    "turns",
    "A tool's result comes as a user message with its typed output",
    "000-tool-results-as-user",
    "001-user-tool-results",
    "002-tool-result",
)
async def tool_result(stage: Stage) -> None:
    stage.reply(bash("echo one"))
    stage.reply("Done.")
    async with stage.session(allowed_tools=["Bash"]) as session:
        messages = await told(session.prompt("run"))
    results = tool_results(messages)
    expect("the results", [text_of(block) for block in results], ["one"])
    (user,) = of_kind(messages, UserMessage)
    output = user.tool_use_result
    expect_that(isinstance(output, dict) and output.get("stdout") == "one", "no typed output")
    expect("model rounds", result_of(messages).num_turns, 2)


@scenario(
    "turns",
    "Text streams as deltas when requested",
    "000-stream-only-when-asked",
    "001-stream-types",
    "001-flag-partial",
)
async def text_deltas(stage: Stage) -> None:
    stage.reply("A first sentence, cut into pieces.", delta_size=7)
    accumulator = TextAccumulator()
    async with stage.session(include_partial_messages=True) as session:
        messages = await told(session.prompt("talk"))
    for message in messages:
        accumulator.add(message)
    kinds = {str(event.event["type"]) for event in of_kind(messages, StreamEvent)}
    wanted = {"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"}
    expect("missing events", wanted - kinds, set())
    expect("the text", accumulator.text, "A first sentence, cut into pieces.")
    deltas = [event for event in of_kind(messages, StreamEvent) if isinstance(event.typed_event, ContentBlockDelta)]
    expect_that(len(deltas) > 3, "the text came in too few pieces")


@scenario("turns", "With deltas, a status reports the request to the model", "000-status-words")
async def status_requesting(stage: Stage) -> None:
    stage.reply("hi")
    async with stage.session(include_partial_messages=True) as session:
        messages = await told(session.prompt("hi"))
    if not of_kind(messages, StatusMessage):
        raise NotThere("no status message")
    expect("the status", {message.status for message in of_kind(messages, StatusMessage)}, {"requesting"})


@scenario(
    "turns", "Thinking streams as deltas and also comes as a block", "003-thinking-streaming", "000-assistant-blocks"
)
async def thinking_deltas(stage: Stage) -> None:
    stage.reply(Thinking("First I think about it, then I answer."), "The answer.")
    async with stage.session(include_partial_messages=True, max_thinking_tokens=2000) as session:
        messages = await told(session.prompt("think"))
    events = [event.typed_event for event in of_kind(messages, StreamEvent)]
    thoughts = [event.delta for event in events if isinstance(event, ContentBlockDelta)]
    expect_that(any(isinstance(delta, ThinkingDelta) for delta in thoughts), "no thinking deltas")
    blocks = [block for message in of_kind(messages, AssistantMessage) for block in message.content]
    expect("the blocks", [type(block) for block in blocks], [ThinkingBlock, TextBlock])


@scenario("turns", "With --replay-user-messages prompts are echoed, marked isReplay", "000-echo", "004-user-echo")
async def echoed_prompt(stage: Stage) -> None:
    stage.reply("Echoed.")
    async with stage.session(replay_user_messages=True) as session:
        messages = await told(session.prompt("echo me", uuid=UUID))
    echoes = [message for message in of_kind(messages, UserMessage) if message.uuid == UUID]
    expect("echoes", [message.is_replay for message in echoes], [True])


@scenario("turns", "Session states are reported when requested: running, requires_action, idle", alone=True)
async def session_states(stage: Stage) -> None:
    stage.reply(bash("touch a"))
    stage.reply("Touched.")
    async with stage.session(can_use_tool=stage.allow, session_state_events=True) as session:
        await session.send("touch it")
        first = await stage.next_of(session, SessionStateChangedMessage)
        states = [first.state]
        while states[-1] != "idle":
            states.append((await stage.next_of(session, SessionStateChangedMessage)).state)
    expect("the states", states, ["running", "requires_action", "running", "idle"])


@scenario("turns", "A suggested next prompt follows the result when requested", alone=True)
async def prompt_suggestion(stage: Stage) -> None:
    stage.reply("First answer.")
    stage.reply("Second answer.")
    stage.reply_to("suggestion", "run the tests")
    async with stage.session(prompt_suggestions=True) as session:
        await session.prompt("one")
        await session.prompt("two")
        suggestion = await stage.next_of(session, PromptSuggestionMessage)
    expect("the suggestion", suggestion.suggestion, "run the tests")
