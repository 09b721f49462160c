"""Lines and the handshake: what the CLI takes, what it says before the first turn."""

from __future__ import annotations

import json

from conformance.scenario import scenario
from conformance.stage import (
    Differs,
    NotThere,
    Stage,
    expect,
    expect_that,
    of_kind,
    result_of,
    told,
)
from quarterdeck.client import ProcessExited
from quarterdeck.wire import AssistantMessage, InitMessage, TextBlock

ODD_TEXT = "line\u2028separator\u2029paragraph\u0085next\u001bescape\ufeffbom\U0001f6a2 日本語"


async def _lives_after(stage: Stage, line: bytes) -> None:
    """The CLI passes over the line and answers the next prompt."""
    stage.reply("Still there.")
    async with stage.session() as session:
        stage.write(session, line + b"\n")
        expect("the next turn", (await session.prompt("still there?")).result, "Still there.")


async def _dies_of(stage: Stage, line: bytes) -> None:
    async with stage.session() as session:
        stage.write(session, line + b"\n")
        try:
            while await session.next_message() is not None:
                pass
        except ProcessExited as error:
            expect("the exit code", error.exit_code, 1)
            return
        raise Differs("the CLI ended as if nothing were wrong")


def _user(content: object, **more: object) -> bytes:
    return json.dumps({"type": "user", "message": {"role": "user", "content": content}, **more}).encode()


@scenario("framing", "Unicode text passes unchanged, one line per message", "000-ndjson", "004-utf8")
async def unicode_text(stage: Stage) -> None:
    stage.reply(ODD_TEXT)
    async with stage.session() as session:
        messages = await told(session.prompt(f"say {ODD_TEXT}"))
    blocks = [block for message in of_kind(messages, AssistantMessage) for block in message.content]
    expect("the text", [block.text for block in blocks if isinstance(block, TextBlock)], [ODD_TEXT])
    expect_that(ODD_TEXT in stage.heard[-1].text, "the prompt was changed on its way")


@scenario("framing", "A line can be a megabyte long", "004-buffer")
async def megabyte_line(stage: Stage) -> None:
    stage.reply("0123456789abcdef" * 65_536, delta_size=65_536)
    async with stage.session() as session:
        result = await session.prompt("say much")
    expect("the length of the text", len(result.result or ""), 1_048_576)


@scenario("framing", "A line can end with CR LF; content can be a plain string", "000-user-content-blocks", alone=True)
async def crlf_line(stage: Stage) -> None:
    stage.reply("Read.")
    async with stage.session() as session:
        turn = session.prompt("second")
        stage.write(session, _user("first") + b"\r\n")
        message = await session.next_message()
        while message is not None and message.data["type"] != "result":
            message = await session.next_message()
        stage.reply("Also read.")
        expect("the next turn", (await turn).result, "Also read.")


@scenario(
    "framing",
    "A prompt's session_id and unknown fields are ignored",
    "000-user-session-id-empty",
    "001-user-session-id",
    "002-user-session-id",
)
async def unknown_prompt_fields(stage: Stage) -> None:
    stage.reply("Read.")
    async with stage.session() as session:
        turn = session.prompt("hi", session_id="00000000-0000-4000-8000-000000000000", x_unknown={"deep": [1, 2.5]})
        expect("the turn", (await turn).result, "Read.")


@scenario("framing", "A blank line is ignored")
async def blank_line(stage: Stage) -> None:
    await _lives_after(stage, b"  \t ")


@scenario("framing", "A line of an unknown type is ignored", "000-stdin-types")
async def unknown_type(stage: Stage) -> None:
    await _lives_after(stage, b'{"type": "no_such_type", "x": 1}')


@scenario("framing", "A line without a type is ignored")
async def line_without_type(stage: Stage) -> None:
    await _lives_after(stage, b'{"hello": "world"}')


@scenario("framing", "keep_alive is accepted and not answered", "003-keep-alive")
async def keep_alive(stage: Stage) -> None:
    await _lives_after(stage, b'{"type": "keep_alive"}')


@scenario("framing", "An answer to an unknown request is ignored")
async def stray_answer(stage: Stage) -> None:
    answer = {"subtype": "success", "request_id": "nobody", "response": {}}
    await _lives_after(stage, json.dumps({"type": "control_response", "response": answer}).encode())


@scenario("framing", "Cancelling an unknown request is ignored", "003-cancel-to-cli")
async def stray_cancel(stage: Stage) -> None:
    await _lives_after(stage, b'{"type": "control_cancel_request", "request_id": "nobody"}')


@scenario("framing", "A line that is not JSON makes the CLI exit with code 1", alone=True)
async def malformed_line(stage: Stage) -> None:
    await _dies_of(stage, b"this is not JSON")


@scenario("framing", "A user line without a message makes the CLI exit with code 1", alone=True)
async def user_without_message(stage: Stage) -> None:
    await _dies_of(stage, b'{"type": "user"}')


@scenario(
    "handshake",
    "The answer to initialize has commands, models and account",
    "000-initialize-answer",
    "002-initialize-answer",
)
async def initialize_answer(stage: Stage) -> None:
    async with stage.session() as session:
        expect_that("compact" in {command.name for command in session.commands()}, "no /compact among the commands")
        expect_that(session.server_info.models, "no models")
        account = session.account()
        expect_that(account is not None and account.api_key_source, "the account does not tell where the key is from")


@scenario("handshake", "The answer to initialize has the agents", "003-subagent-builtin")
async def initialize_agents(stage: Stage) -> None:
    async with stage.session() as session:
        if not session.agents():
            raise NotThere("no agents in the answer")
        expect_that("general-purpose" in {agent.name for agent in session.agents()}, "general-purpose is not listed")


@scenario("handshake", "The answer to initialize has version and process id")
async def initialize_version(stage: Stage) -> None:
    async with stage.session() as session:
        info = session.server_info
        if info.claude_code_version is None:
            raise NotThere("no version in the answer")
        expect("the version", info.claude_code_version, stage.version)
        expect("the process id", info.pid, stage.pid(session))


@scenario("handshake", "initialize can be repeated", "000-initialize-first", alone=True)
async def initialize_again(stage: Stage) -> None:
    async with stage.session() as session:
        first = [command.name for command in session.commands()]
        again = await session.reinitialize()
        expect("the commands", [command.name for command in again.commands or ()], first)


@scenario(
    "handshake",
    "init is the first message of each turn, after the prompt",
    "000-init-first",
    "001-init-once",
    "002-init-after-answer",
)
async def init_every_turn(stage: Stage) -> None:
    async with stage.session() as session:
        for number in (1, 2):
            stage.reply(f"answer {number}")
            messages = await told(session.prompt(f"prompt {number}"))
            kinds = [
                message.data["type"]
                for message in messages
                if message.data["type"] in ("system", "assistant", "result")
            ]
            expect("the inits of a turn", len(of_kind(messages, InitMessage)), 1)
            expect("the first of a turn", kinds[0], "system")


@scenario(
    "handshake",
    "init has session, model, folder, mode, tool names and version",
    "000-init-keys",
    "001-init-session-model-cwd",
    "001-init-tool-schemas",
    "002-init-keys",
)
async def init_keys(stage: Stage) -> None:
    stage.reply("hi")
    async with stage.session() as session:
        messages = await told(session.prompt("hi"))
        (init,) = of_kind(messages, InitMessage)
        expect("the session", init.session_id, result_of(messages).session_id)
        expect("the folder", init.cwd, str(stage.cwd))
        expect("the mode", init.permission_mode, "default")
        expect("the version", init.claude_code_version, stage.version)
        expect("tools that are missing", {"Read", "Write", "Edit", "Bash"} - set(init.tools or ()), set())
        expect("the source of the key", init.api_key_source, "ANTHROPIC_API_KEY")


@scenario("handshake", "init has agents and capabilities", "003-init-keys")
async def init_capabilities(stage: Stage) -> None:
    stage.reply("hi")
    async with stage.session() as session:
        messages = await told(session.prompt("hi"))
        (init,) = of_kind(messages, InitMessage)
        expect_that("general-purpose" in (init.agents or ()), "no general-purpose among the agents")
        if not session.capabilities:
            raise NotThere("no capabilities")
