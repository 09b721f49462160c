"""Sessions on disk, and slash commands."""

from __future__ import annotations

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
from quarterdeck.client import ProcessError, Session
from quarterdeck.wire import CompactBoundaryMessage, ConversationResetMessage, ResultMessage, StatusMessage, UserMessage

OWN_ID = "11111111-2222-4333-8444-555555555555"


async def _original(stage: Stage, *answers: str, **options: object) -> ResultMessage:
    """A session of some turns, ended; its last result."""
    async with stage.session(**options) as session:
        for number, answer in enumerate(answers):
            stage.reply(answer)
            result = await session.prompt(f"prompt {number}")
    return result


async def _says(stage: Stage, session: Session, text: str) -> ResultMessage:
    stage.reply(text)
    return await session.prompt("go on")


@scenario(
    "resume and fork",
    "A resumed session keeps its id and its history",
    "000-resume-same-id",
    "000-flag-resume",
    "002-flag-resume",
)
async def resume(stage: Stage) -> None:
    original = await _original(stage, "original answer")
    async with stage.session(resume=original.session_id) as session:
        resumed = await _says(stage, session, "resumed")
        export = resumed.session_id
    expect("the session", export, original.session_id)


@scenario("resume and fork", "Resuming does not replay the history", "000-resume-replay")
async def resume_replays_nothing(stage: Stage) -> None:
    original = await _original(stage, "original answer")
    stage.reply("resumed")
    async with stage.session(resume=original.session_id, replay_user_messages=True) as session:
        messages = await told(session.prompt("go on"))
    contents = [message.content for message in of_kind(messages, UserMessage)]
    expect_that("prompt 0" not in str(contents), "the old prompt was said again")
    expect_that("original answer" not in str([m.data for m in messages]), "the old answer was said again")


@scenario("resume and fork", "A fork has a new id", "000-fork-new-id", "000-flag-fork-session")
async def fork(stage: Stage) -> None:
    original = await _original(stage, "original answer")
    async with stage.session(resume=original.session_id, fork_session=True) as session:
        forked = await _says(stage, session, "forked")
    expect_that(forked.session_id != original.session_id, "the fork has the same id")


@scenario("resume and fork", "--continue resumes the newest session of the folder", "000-flag-continue")
async def continued(stage: Stage) -> None:
    original = await _original(stage, "original answer")
    async with stage.session(continue_conversation=True) as session:
        expect("the session", (await _says(stage, session, "continued")).session_id, original.session_id)


@scenario("resume and fork", "A new session can have a chosen id")
async def own_session_id(stage: Stage) -> None:
    result = await _original(stage, "hi", session_id=OWN_ID)
    expect("the session", result.session_id, OWN_ID)


@scenario("resume and fork", "The transcript is saved in the documented layout")
async def transcript(stage: Stage) -> None:
    result = await _original(stage, "An answer worth keeping.")
    files = list((stage.home / ".claude" / "projects").glob(f"*/{result.session_id}.jsonl"))
    expect("transcripts", len(files), 1)
    expect_that("An answer worth keeping." in files[0].read_text(), "the answer is not in it")


@scenario("resume and fork", "persist_session=False leaves nothing on disk", "000-flag-no-session-persistence")
async def not_persisted(stage: Stage) -> None:
    result = await _original(stage, "Not kept.", persist_session=False)
    expect("transcripts", list((stage.home / ".claude").glob(f"projects/*/{result.session_id}.jsonl")), [])


@scenario("resume and fork", "Resuming an unknown session gives an error result", "004-result-no-conversation")
async def resume_unknown(stage: Stage) -> None:
    try:
        async with stage.session(resume=OWN_ID) as session:
            await _says(stage, session, "never")
    except ProcessError as error:
        expect_that("No conversation found" in str(error), f"the error says {error}")
        expect("reported as", type(error).__name__, "ResultError")
    else:
        raise Differs("an unknown session was resumed")


@scenario(
    "slash commands",
    "/compact summarizes the conversation and reports the boundary",
    "000-compact-boundary",
    "004-compact-boundary",
    alone=True,
)
async def compact(stage: Stage) -> None:
    async with stage.session() as session:
        await _says(stage, session, "A conversation worth compacting.")
        messages = await told(session.prompt("/compact"))
        (boundary,) = of_kind(messages, CompactBoundaryMessage)
        expect("the trigger", boundary.compact_metadata.trigger if boundary.compact_metadata else None, "manual")
        words = [message.status for message in of_kind(messages, StatusMessage)]
        expect_that("compacting" in words, "no status tells the compaction")
        expect("the next turn", (await _says(stage, session, "After it.")).result, "After it.")


@scenario("slash commands", "/clear starts a conversation with a new id in the same process", alone=True)
async def clear(stage: Stage) -> None:
    async with stage.session() as session:
        before = (await _says(stage, session, "before")).session_id
        messages = await told(session.prompt("/clear"))
        after = (await _says(stage, session, "after")).session_id
        expect_that(after != before, "the id is the same")
        if not of_kind(messages, ConversationResetMessage):
            raise NotThere("a new id, but no conversation_reset message")


@scenario("slash commands", "An unknown command goes to the model as text")
async def unknown_command(stage: Stage) -> None:
    stage.reply("It is only text.")
    async with stage.session() as session:
        expect("the result", (await session.prompt("/no-such-command x")).result, "It is only text.")


@scenario("slash commands", "A local command is answered without the model", "003-slash-commands")
async def local_command(stage: Stage) -> None:
    async with stage.session() as session:
        result = await session.prompt("/cost")
    expect("requests to the model", len(stage.heard), 0)
    expect("rounds", result.num_turns, 0)


@scenario(
    "slash commands",
    "A project's command is listed and becomes a prompt",
    "003-slash-commands",
    simulator="the simulator treats a project's commands as text",
    alone=True,
)
async def project_command(stage: Stage) -> None:
    commands = stage.cwd / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "greet.md").write_text("Greet the user warmly.\n")
    stage.reply("Greetings.")
    async with stage.session() as session:
        expect_that("greet" in {command.name for command in session.commands()}, "/greet is not listed")
        messages = await told(session.prompt("/greet"))
    expect("the result", result_of(messages).result, "Greetings.")
    expect_that("Greet the user warmly." in stage.heard[-1].text, "the model was not told the command's text")
