"""What goes wrong: the API, limits, and answers that do not fit."""

from __future__ import annotations

from typing import Any

from conformance.scenario import scenario
from conformance.stage import NotThere, Stage, bash, expect, expect_that, of_kind, result_of, told
from quarterdeck.testing.model import Cut, Error, ToolUse, Usage
from quarterdeck.wire import ApiRetryMessage, AssistantMessage

NO_RETRIES = {"CLAUDE_CODE_MAX_RETRIES": "0"}
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["name", "n"],
}


async def _failed(stage: Stage, error: Error) -> Any:
    stage.reply_to("main", error)
    async with stage.session(env=NO_RETRIES) as session:
        return await session.prompt("hi")


@scenario("errors", "A call to an overloaded API is retried, and api_retry reports it")
async def api_overloaded(stage: Stage) -> None:
    stage.reply(Error(529, "Overloaded"))
    stage.reply("The second try worked.")
    async with stage.session() as session:
        messages = await told(session.prompt("hi"))
    expect("the result", result_of(messages).result, "The second try worked.")
    retries = of_kind(messages, ApiRetryMessage)
    if not retries:
        raise NotThere("the call is retried, but there is no api_retry")
    expect("the retry", [(retry.attempt, retry.error_status) for retry in retries], [(1, 529)])


@scenario("errors", "A broken stream is retried")
async def api_stream_cut(stage: Stage) -> None:
    stage.reply("This stream breaks in the middle of its text.", Cut(after=4))
    stage.reply("The second try is whole.")
    async with stage.session() as session:
        expect("the result", (await session.prompt("hi")).result, "The second try is whole.")


@scenario("errors", "A refusal by the model is reported as an error result")
async def refusal(stage: Stage) -> None:
    stage.reply_to("main", stop_reason="refusal")
    async with stage.session() as session:
        result = await session.prompt("hi")
    expect("is_error", result.is_error, True)
    expect("the reason", result.stop_reason, "refusal")


@scenario(
    "errors",
    "An API error gives a result with subtype success and is_error",
    "000-result-error-execution",
    "004-error-line",
    "001-result-error",
)
async def api_error(stage: Stage) -> None:
    result = await _failed(stage, Error(400, "the scripted model did not like this"))
    expect("the result", (result.subtype, result.is_error), ("success", True))
    expect_that("did not like this" in (result.result or ""), "the text does not tell the error")


@scenario("errors", "The result has the status of the API error")
async def api_error_status(stage: Stage) -> None:
    result = await _failed(stage, Error(400, "no"))
    if result.api_error_status is None:
        raise NotThere("no api_error_status")
    expect("the status", result.api_error_status, 400)


@scenario("errors", "A rejected key gives an error result, and the assistant message names the kind")
async def api_unauthorized(stage: Stage) -> None:
    stage.reply_to("main", Error(401, "invalid x-api-key"))
    async with stage.session(env=NO_RETRIES) as session:
        messages = await told(session.prompt("hi"))
    expect("the result", result_of(messages).is_error, True)
    kinds = [message.error for message in of_kind(messages, AssistantMessage)]
    expect("the kind", kinds, ["authentication_failed"])


@scenario("errors", "After an API error the session is still usable")
async def after_api_error(stage: Stage) -> None:
    stage.reply_to("main", Error(400, "no"))
    async with stage.session(env=NO_RETRIES) as session:
        first = await session.prompt("hi")
        stage.reply_to("main", "Now it works.")
        second = await session.prompt("again")
    expect("the results", (first.is_error, second.result), (True, "Now it works."))


@scenario(
    "errors",
    "Reaching the turn limit ends a turn with error_max_turns and is_error",
    "000-result-error-max-turns",
    "004-result-max-turns",
    "002-flag-max-turns",
    alone=True,
)
async def max_turns(stage: Stage) -> None:
    stage.reply(bash("echo 1"))
    stage.reply("Never said.")
    async with stage.session(max_turns=1, allowed_tools=["Bash"]) as session:
        result = await session.prompt("loop")
    expect("the result", (result.subtype, result.is_error, bool(result.errors)), ("error_max_turns", True, True))


@scenario(
    "errors",
    "Reaching the budget ends a turn with error_max_budget_usd",
    "000-result-error-budget",
    "002-flag-max-budget",
    alone=True,
)
async def max_budget(stage: Stage) -> None:
    stage.reply(bash("echo 1"), usage=Usage(input_tokens=900_000, output_tokens=9000))
    stage.reply("Too expensive.")
    async with stage.session(max_budget_usd=0.01, allowed_tools=["Bash"]) as session:
        expect("the result", (await session.prompt("spend")).subtype, "error_max_budget_usd")


@scenario("errors", "A failing tool is an error for the model, not for the turn")
async def failing_command(stage: Stage) -> None:
    stage.reply(bash("exit 3"))
    stage.reply("It failed.")
    async with stage.session(allowed_tools=["Bash"]) as session:
        result = await session.prompt("run")
    expect("the result", (result.result, result.is_error), ("It failed.", False))
    expect_that("3" in stage.heard[-1].text, "the model was not told the exit code")


@scenario("structured output", "A schema produces structured_output", "003-structured-output", "000-flag-json-schema")
async def structured(stage: Stage) -> None:
    stage.reply(ToolUse("StructuredOutput", {"name": "Bob", "n": 3}))
    stage.reply("Here it is.")
    async with stage.session(output_format={"type": "json_schema", "schema": SCHEMA}) as session:
        expect("the output", (await session.prompt("structured")).structured_output, {"name": "Bob", "n": 3})


@scenario("structured output", "Output that does not match the schema is returned to the model")
async def structured_retry(stage: Stage) -> None:
    stage.reply(ToolUse("StructuredOutput", {"name": 7}))
    stage.reply(ToolUse("StructuredOutput", {"name": "Bob", "n": 3}))
    stage.reply("Here it is.")
    async with stage.session(output_format={"type": "json_schema", "schema": SCHEMA}) as session:
        expect("the output", (await session.prompt("structured")).structured_output, {"name": "Bob", "n": 3})


@scenario(
    "structured output",
    "Output that never matches ends with error_max_structured_output_retries",
    "000-result-error-structured",
)
async def structured_never(stage: Stage) -> None:
    stage.reply_to("main", ToolUse("StructuredOutput", {"name": 7}))
    async with stage.session(output_format={"type": "json_schema", "schema": SCHEMA}) as session:
        expect("the result", (await session.prompt("structured")).subtype, "error_max_structured_output_retries")
