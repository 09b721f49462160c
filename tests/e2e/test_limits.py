"""Runs that end badly, and results of a given shape, on the newest CLI."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from e2e.kit import Stage
from quarterdeck import ApiRetryMessage, ResultError, prompt
from quarterdeck.testing.model import Error, ToolUse, Usage

pytestmark = pytest.mark.real

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["name", "n"],
}


async def test_api_failures_are_errors_with_their_status(stage: Stage) -> None:
    statuses = {401: "authentication", 429: "rate", 500: "", 529: "overloaded"}
    options = stage.options(env={"CLAUDE_CODE_MAX_RETRIES": "1"})

    async def failure(status: int) -> ResultError:
        with pytest.raises(ResultError) as caught:
            await prompt(f"fail with {status}", options, **stage.at)
        return caught.value

    for status in statuses:
        error = Error(status, f"scripted {status}", headers={"retry-after": "0"})
        stage.model.on(lambda request, status=status: f"fail with {status}" in request.text, error)
    errors = await asyncio.gather(*map(failure, statuses))
    assert [error.api_error_status for error in errors] == list(statuses)
    for error in errors:
        assert error.subtype == "success"
        assert error.terminal_reason == "api_error"
        assert error.data["is_error"] is True
        assert error.session_id
        assert error.result


async def test_a_retry_is_announced_and_the_turn_succeeds(stage: Stage) -> None:
    async with stage.session() as session:
        stage.model.reply(Error(529, "Overloaded", headers={"retry-after": "0"}))
        stage.model.reply("at the second try")
        messages = [message async for message in session.prompt("hi")]
        retries = [message.error_status for message in messages if isinstance(message, ApiRetryMessage)]
        assert retries == [529]
        assert session.last_result is not None
        assert session.last_result.result == "at the second try"


@pytest.mark.parametrize(
    ("options", "subtype"),
    [({"max_turns": 1}, "error_max_turns"), ({"max_budget_usd": 0.01}, "error_max_budget_usd")],
)
async def test_a_limit_is_an_error_with_its_own_subtype(stage: Stage, options: Any, subtype: str) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo 1"}), usage=Usage(900_000, 9000))
    stage.model.reply("never said")
    with pytest.raises(ResultError) as caught:
        await prompt("loop", stage.options(allowed_tools=["Bash"], **options), **stage.at)
    assert caught.value.subtype == subtype
    assert caught.value.errors


async def test_a_result_has_the_shape_that_was_asked_for(stage: Stage) -> None:
    stage.model.reply(ToolUse("StructuredOutput", {"name": "Bob", "n": 3}))
    stage.model.reply("Here it is.")
    options = stage.options(output_format={"type": "json_schema", "schema": SCHEMA})
    result = await prompt("structured", options, **stage.at)
    assert result.structured_output == {"name": "Bob", "n": 3}


async def test_a_shape_that_the_model_never_finds_is_an_error(stage: Stage) -> None:
    stage.model.on(lambda request: request.kind == "main", ToolUse("StructuredOutput", {"name": 7}), times=20)
    options = stage.options(output_format={"type": "json_schema", "schema": SCHEMA})
    with pytest.raises(ResultError) as caught:
        await prompt("structured", options, **stage.at)
    assert caught.value.subtype == "error_max_structured_output_retries"
