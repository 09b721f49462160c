"""Control requests of the host."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from conformance.scenario import scenario
from conformance.stage import Differs, Stage, expect, expect_that, of_kind, told
from quarterdeck.client import ControlError
from quarterdeck.testing.model import Stall, ToolUse
from quarterdeck.wire import AssistantMessage, InitMessage, SessionTitleChangedMessage, StreamEvent

UUID = "bbbbbbbb-0000-4000-8000-000000000002"


async def _refusal(call: Awaitable[Any]) -> ControlError:
    try:
        await call
    except ControlError as error:
        return error
    raise Differs("it was not refused")


@scenario(
    "control requests", "set_model changes the model for the next turn and answers with its name", "000-set-model"
)
async def set_model(stage: Stage) -> None:
    async with stage.session() as session:
        answer = await session.set_model("haiku")
        stage.reply("as haiku")
        await session.prompt("hi")
        expect_that("haiku" in stage.heard[-1].model, f"the model is {stage.heard[-1].model}")
        if answer.model is None:
            raise Differs("it works, but the answer does not name the model")
        expect_that("haiku" in answer.model, f"the answer names {answer.model}")
        await session.set_model(None)


@scenario("control requests", "An unknown mode is refused", "000-set-mode-delegate", "003-mode-delegate")
async def set_unknown_mode(stage: Stage) -> None:
    async with stage.session() as session:
        error = await _refusal(session.request("set_permission_mode", mode="delegate"))
        expect("the code", error.code, "invalid_mode")


@scenario("control requests", "bypassPermissions is refused unless allowed at startup", "003-mode-bypass")
async def set_bypass(stage: Stage) -> None:
    async with stage.session() as session:
        error = await _refusal(session.set_permission_mode("bypassPermissions"))
        expect("the code", error.code, "bypass_not_launched")


@scenario("control requests", "set_max_thinking_tokens is answered", "000-set-thinking")
async def set_thinking(stage: Stage) -> None:
    async with stage.session() as session:
        await session.set_max_thinking_tokens(4000)
        stage.reply("hi")
        expect("the next turn", (await session.prompt("hi")).result, "hi")
        await session.set_max_thinking_tokens(None)


@scenario("control requests", "A request of an unknown kind is refused immediately", "000-cli-answers")
async def unknown_request(stage: Stage) -> None:
    async with stage.session() as session:
        try:
            await session.request("ask_the_oracle", timeout_s=stage.patience_s)
        except ControlError as error:
            if type(error) is not ControlError:
                raise
            expect("the code", error.code, "unsupported_request")
            return
        raise Differs("it was not refused")


@scenario("control requests", "Requests are answered during a turn", "000-bidirectional")
async def request_in_turn(stage: Stage) -> None:
    gate = stage.gate()
    stage.reply("A long answer.", Stall(after=3, until=gate))
    async with stage.session() as session:
        turn = session.prompt("talk")
        await turn.send()
        await stage.reached(gate)
        expect("the mode", (await session.set_permission_mode("plan")).mode, "plan")
        expect("servers", (await session.mcp_status()).mcp_servers, [])
        gate.open()
        expect("the result", (await turn).result, "A long answer.")
        await session.set_permission_mode("default")


@scenario("control requests", "get_context_usage says how full the context is")
async def context_usage(stage: Stage) -> None:
    async with stage.session() as session:
        usage = await session.context_usage(detail="summary", timeout_s=stage.patience_s)
        expect_that((usage.max_tokens or 0) > 0 and usage.categories, "no size, or no categories")


@scenario("control requests", "get_session_cost returns the cost as text")
async def session_cost(stage: Stage) -> None:
    async with stage.session() as session:
        expect_that("Total cost" in (await session.cost()).text, "the text does not tell the total cost")


@scenario("control requests", "list_models returns the models of the handshake")
async def list_models(stage: Stage) -> None:
    async with stage.session() as session:
        models = [model.value for model in await session.models()]
        expect("the models", models, [model.value for model in session.server_info.models or ()])


@scenario("control requests", "get_binary_version returns the version")
async def binary_version(stage: Stage) -> None:
    async with stage.session() as session:
        expect("the version", (await session.binary_version()).version, stage.version)


@scenario("control requests", "read_file reads a file for the host, as text or base64")
async def read_file(stage: Stage) -> None:
    (stage.cwd / "f.txt").write_text("hello file\n")
    async with stage.session() as session:
        expect("the text", (await session.read_file("f.txt")).contents, "hello file\n")
        exact = await session.read_file("f.txt", encoding="base64")
        expect("base64", exact.contents, "aGVsbG8gZmlsZQo=")


@scenario("control requests", "side_question is answered outside the conversation")
async def side_question(stage: Stage) -> None:
    stage.reply_to("side_question", "It is noon.")
    stage.reply("hi")
    async with stage.session() as session:
        await session.prompt("hi")
        expect("the answer", (await session.side_question("what time is it?")).response, "It is noon.")
        expect("requests of the conversation", len(stage.heard), 1)


@scenario("control requests", "The conversation can be exported as text")
async def export_conversation(stage: Stage) -> None:
    stage.reply("An answer worth keeping.")
    async with stage.session() as session:
        await session.prompt("say something")
        expect_that("An answer worth keeping." in (await session.export()).text, "the answer is not in the export")


@scenario("control requests", "The conversation can go back to before a prompt")
async def rewind_conversation(stage: Stage) -> None:
    stage.reply("one")
    stage.reply("two")
    async with stage.session() as session:
        await session.prompt("a")
        await session.prompt("b", uuid=UUID)
        rewound = await session.rewind_conversation(UUID)
        expect("the answer", (rewound.rewound, rewound.prefill_text), (True, "b"))


@scenario("control requests", "update_environment_variables is accepted and not answered", "000-stdin-types")
async def environment(stage: Stage) -> None:
    stage.reply("Here.")
    stage.reply("Still there.")
    async with stage.session() as session:
        await session.prompt("here?")  # CLIs before 2.1.325 tell their version with the first turn
        session.update_environment({"FOO_BAR": "changed"})
        expect("the next turn", (await session.prompt("there?")).result, "Still there.")


@scenario("control requests", "A session can be renamed, and the new title is reported")
async def rename(stage: Stage) -> None:
    stage.reply("hi")
    async with stage.session() as session:
        await session.prompt("hi")
        await session.rename("My title")
        await stage.next_of(session, SessionTitleChangedMessage, title="My title")


@scenario("control requests", "The model can generate a title", simulator="the simulator generates no titles")
async def generate_title(stage: Stage) -> None:
    stage.reply_to("title", '{"title": "Refactor the parser"}')
    async with stage.session() as session:
        title = await session.generate_title("a chat about how to refactor the parser")
        expect("the title", title, "Refactor the parser")


@scenario("control requests", "set_permission_mode changes the mode", "000-set-mode", "003-plan-runtime", alone=True)
async def set_mode(stage: Stage) -> None:
    async with stage.session(can_use_tool=stage.allow) as session:
        expect("the answer", (await session.set_permission_mode("acceptEdits")).mode, "acceptEdits")
        stage.reply(ToolUse("Write", {"file_path": str(stage.cwd / "w.txt"), "content": "x"}))
        stage.reply("Written.")
        (init,) = of_kind(await told(session.prompt("write")), InitMessage)
    expect("the mode", init.permission_mode, "acceptEdits")
    expect("asked about", stage.asked, [])


@scenario("control requests", "get_settings returns the effective settings and their sources")
async def get_settings(stage: Stage) -> None:
    async with stage.session(settings={"outputStyle": "Explanatory"}) as session:
        answer = await session.settings()
        expect("the style", (answer.effective or {}).get("outputStyle"), "Explanatory")


@scenario(
    "control requests",
    "rewind_files counts edits, then reverts them",
    "000-rewind-files",
    "003-checkpointing",
    alone=True,
)
async def rewind_files(stage: Stage) -> None:
    stage.reply(ToolUse("Write", {"file_path": str(stage.cwd / "new.txt"), "content": "one\ntwo\n"}))
    stage.reply("Written.")
    async with stage.session(
        can_use_tool=stage.allow, enable_file_checkpointing=True, replay_user_messages=True
    ) as session:
        await session.prompt("write", uuid=UUID)
        expect_that((stage.cwd / "new.txt").exists(), "nothing was written")
        would = await session.rewind_files(UUID, dry_run=True)
        expect("a dry run", (would.can_rewind, would.files_changed), (True, [str(stage.cwd / "new.txt")]))
        await session.rewind_files(UUID)
        expect_that(not (stage.cwd / "new.txt").exists(), "the file is still there")


@scenario("control requests", "rewind_files to an unknown prompt is refused", "000-rewind-files-cannot")
async def rewind_files_unknown(stage: Stage) -> None:
    async with stage.session(enable_file_checkpointing=True) as session:
        would = await session.rewind_files(UUID, dry_run=True)
        expect("a dry run", (would.can_rewind, would.error), (False, "No file checkpoint found for this message."))
        error = await _refusal(session.rewind_files(UUID))
        expect("the refusal", error.error, "No file checkpoint found for this message.")


@scenario("control requests", "A control request does not delay a streaming answer", "000-matching")
async def requests_side_by_side(stage: Stage) -> None:
    stage.reply("A few words, in pieces.", delta_size=4)
    async with stage.session(include_partial_messages=True) as session:
        turn = asyncio.ensure_future(told(session.prompt("talk")))
        answers = await asyncio.gather(session.mcp_status(), session.set_permission_mode("plan"), session.mcp_status())
        messages = await turn
        await session.set_permission_mode("default")
    expect("answers", len(answers), 3)
    expect_that(of_kind(messages, StreamEvent) and of_kind(messages, AssistantMessage), "the turn was disturbed")
