"""What goes wrong, and what a program sees of it."""

from __future__ import annotations

import os
from typing import Any

from ._setup import Fail, ask, attempt, client, echo, offline, options, program, prompts, sdk, show, tell, use

NO_RETRY = {"env": {"CLAUDE_CODE_MAX_RETRIES": "0"}}


async def _failing(prompt: Any = "Fail.", **more: Any) -> None:
    """Every message, then the exception."""
    try:
        async for message in sdk.query(prompt=prompt, options=options(**more)):
            show(message)
    except Exception as error:  # noqa: BLE001
        tell(error)
        if isinstance(error, sdk.ResultError):
            print(
                error.subtype,
                error.errors,
                error.result,
                error.api_error_status,
                error.terminal_reason,
                error.exit_code,
                sorted(error.data),
            )
        if isinstance(error, sdk.ProcessError):
            print(error.exit_code, error.stderr)


@offline
async def the_cli_is_not_there() -> None:
    await attempt(_all(sdk.query(prompt="x", options=sdk.ClaudeAgentOptions(cli_path="/nowhere/claude"))))


async def _all(stream: Any) -> list[Any]:
    return [message async for message in stream]


@offline
async def the_cli_is_not_on_the_path() -> None:
    before, os.environ["PATH"] = os.environ["PATH"], "/nowhere"
    try:
        await attempt(sdk.ClaudeSDKClient(sdk.ClaudeAgentOptions(cli_path="claude-that-is-not-there")).connect())
    finally:
        os.environ["PATH"] = before


@offline
async def the_folder_is_not_there() -> None:
    await attempt(ask(cwd="/nowhere/at/all"))
    await attempt(client(cwd="/nowhere/at/all").connect())


@program(Fail(400, "the model does not want to"), again=True)
async def a_bad_request() -> None:
    await _failing(**NO_RETRY)


@program(Fail(401, "invalid x-api-key"), again=True)
async def a_bad_key() -> None:
    await _failing(**NO_RETRY)


@program(Fail(403, "not you"), again=True)
async def forbidden() -> None:
    await _failing(**NO_RETRY)


@program(Fail(404, "model: no-such-model"), again=True)
async def an_unknown_model() -> None:
    await _failing(model="no-such-model", **NO_RETRY)


@program(Fail(429, "slow down"), again=True)
async def a_rate_limit() -> None:
    await _failing(**NO_RETRY)


@program(Fail(500, "broken"), again=True)
async def a_server_error() -> None:
    await _failing(**NO_RETRY)


@program(Fail(529, "overloaded"), again=True)
async def overloaded() -> None:
    await _failing(**NO_RETRY)


@program(Fail(413, "too large"), again=True)
async def too_large() -> None:
    await _failing(**NO_RETRY)


@program(echo("one"), echo("two"), "Finished.")
async def max_turns() -> None:
    await _failing(max_turns=1, allowed_tools=["Bash"])


@program(echo("one"), echo("two"), "Finished.")
async def max_budget() -> None:
    await _failing(max_budget_usd=0.000001, allowed_tools=["Bash"])


@program("Hello.", again=True)
async def an_unknown_flag() -> None:
    await _failing(extra_args={"no-such-flag": None})


@program("Hello.", again=True)
async def an_unknown_session() -> None:
    await _failing(resume="00000000-0000-4000-8000-000000000000")


@program(Fail(400, "no"), again=True)
async def a_client_sees_an_error_result() -> None:
    async with client(**NO_RETRY) as session:
        await session.query("Fail.")
        async for message in session.receive_response():
            show(message)
        await session.query("Again.")
        async for message in session.receive_response():
            show(message)


@program(echo("one"), echo("two"), "Finished.")
async def a_client_hits_max_turns() -> None:
    async with client(max_turns=1, allowed_tools=["Bash"]) as session:
        await session.query("Go.")
        await attempt(_shown(session.receive_response()))


async def _shown(stream: Any) -> None:
    async for message in stream:
        show(message)


@program("Hello.", again=True)
async def a_program_error_in_the_loop() -> None:
    try:
        async for message in sdk.query(prompt="Hello?", options=options()):
            if isinstance(message, sdk.AssistantMessage):
                raise KeyError("mine")
    except KeyError as error:
        print("mine again", error)


@program("Hello.", again=True)
async def a_prompt_stream_that_raises() -> None:
    async def broken() -> Any:
        async for line in prompts("First."):
            yield line
        raise ValueError("no more prompts")

    await _failing(broken())


@program("Hello.", again=True)
async def a_prompt_stream_that_raises_at_once() -> None:
    async def broken() -> Any:
        raise ValueError("no prompts at all")
        yield {}

    await _failing(broken())


@program("Hello.", again=True)
async def an_empty_prompt_stream() -> None:
    await _failing(prompts())


@program("Hello.", again=True)
async def an_empty_prompt() -> None:
    await _failing("")


@program("Hello.", again=True)
async def no_prompt_at_all() -> None:
    try:
        print(sdk.query())
    except TypeError as error:
        print(error)


@program("Hello.", again=True)
async def a_positional_prompt() -> None:
    try:
        print(sdk.query("hi"))
    except TypeError as error:
        print(error)


@program("Hello.", again=True)
async def options_as_a_dict() -> None:
    try:
        async for message in sdk.query(prompt="x", options={"max_turns": 1}):
            show(message)
    except Exception as error:  # noqa: BLE001
        print(type(error).__name__)


@program(use("NoSuchTool", a=1), "Finished.")
async def a_tool_that_does_not_exist() -> None:
    await _failing()


@program(use("Read"), "Finished.")
async def a_call_without_arguments() -> None:
    await _failing()
