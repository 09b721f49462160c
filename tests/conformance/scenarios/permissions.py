"""can_use_tool: what is asked, every answer that can be given, and what is decided without asking."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from conformance.scenario import scenario
from conformance.stage import (
    NotThere,
    Stage,
    bash,
    expect,
    expect_that,
    result_of,
    text_of,
    told,
    tool_results,
)
from quarterdeck.client import LATER
from quarterdeck.testing.model import ToolUse
from quarterdeck.wire import (
    PermissionDeniedMessage,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionRuleValue,
    PermissionUpdate,
    ToolPermissionContext,
)

TOUCH = bash("touch made.txt")


def _made(stage: Stage) -> set[str]:
    return {path.name for path in stage.cwd.iterdir() if not path.name.startswith(".")}


async def _answered(stage: Stage, answer: Any, tool: ToolUse = TOUCH, **options: Any) -> tuple[list[Any], str]:
    """One tool call, answered so; the turn's messages and what the model was told of the tool."""
    stage.reply(tool)
    stage.reply("Done.")

    async def decide(name: str, tool_input: dict[str, Any], context: ToolPermissionContext) -> Any:
        stage.asked.append((name, tool_input))
        return answer(context) if callable(answer) else answer

    async with stage.session(can_use_tool=decide, **options) as session:
        messages = await told(session.prompt("make it"))
    results = tool_results(messages)
    return messages, text_of(results[0]) if results else ""


async def _answered_raw(stage: Stage, answer: dict[str, Any]) -> str:
    """As above, but with an answer that the client would not write."""
    stage.reply(TOUCH)
    stage.reply("Done.")
    async with stage.session(can_use_tool=lambda *_: LATER) as session:
        turn = asyncio.ensure_future(told(session.prompt("make it")))
        async with asyncio.timeout(stage.patience_s):
            while not session.pending():  # noqa: ASYNC110  # nothing reports it
                await asyncio.sleep(0.01)
        (request_id,) = session.pending()
        session.answer(request_id, answer)
        results = tool_results(await turn)
    return text_of(results[0]) if results else ""


@scenario("permissions", "Without a permission callback, calls that need approval are denied")
async def nobody_to_ask(stage: Stage) -> None:
    stage.reply(TOUCH)
    stage.reply("It was denied.")
    async with stage.session() as session:
        messages = await told(session.prompt("make it"))
    expect("made", _made(stage), set())
    expect("refused", [block.is_error for block in tool_results(messages)], [True])


@scenario(
    "permissions",
    "A tool that needs permission asks; allow runs it",
    "000-allow",
    "000-flag-permission-prompt-tool-stdio",
)
async def allow(stage: Stage) -> None:
    await _answered(stage, PermissionResultAllow())
    expect("asked about", stage.asked, [("Bash", dict(TOUCH.input))])
    expect("made", _made(stage), {"made.txt"})


@scenario(
    "permissions",
    "A request has the tool call's id and a display name",
    "000-can-use-tool-fields",
    "002-permission-fields",
)
async def request_fields(stage: Stage) -> None:
    contexts: list[ToolPermissionContext] = []

    def keep(context: ToolPermissionContext) -> PermissionResultAllow:
        contexts.append(context)
        return PermissionResultAllow()

    await _answered(stage, keep)
    (context,) = contexts
    expect_that(context.tool_use_id, "no tool_use_id")
    expect_that(context.suggestions, "no suggestions")
    if context.display_name is None:
        raise NotThere("no display_name")
    expect("the name to show", context.display_name, "Bash")


@scenario(
    "permissions",
    "deny gives the model the reason, and the result lists it",
    "000-deny",
    "003-result-denials",
    "001-deny",
    "002-deny",
)
async def deny(stage: Stage) -> None:
    messages, said = await _answered(stage, PermissionResultDeny(message="Not on a Sunday"))
    expect("told to the model", said, "Not on a Sunday")
    expect("made", _made(stage), set())
    denials = result_of(messages).permission_denials or []
    expect("denials", [denial["tool_name"] for denial in denials], ["Bash"])


@scenario("permissions", "allow can change the input", "000-allow", "004-allow", "001-allow-input-changes")
async def updated_input(stage: Stage) -> None:
    await _answered(stage, PermissionResultAllow(updated_input={"command": "touch other.txt", "description": "x"}))
    expect("made", _made(stage), {"other.txt"})


@scenario("permissions", "An error answer denies, with its text as the reason", "004-success-envelope")
async def error_answer(stage: Stage) -> None:
    def explode(_: Any) -> Any:
        raise RuntimeError("host exploded")

    _, said = await _answered(stage, explode)
    expect("made", _made(stage), set())
    expect_that("host exploded" in said, "the model was not told the error")


@scenario("permissions", "A session rule stops further requests", "000-allow-permissions")
async def session_rule(stage: Stage) -> None:
    rule = PermissionRuleValue(tool_name="Bash", rule_content="mkdir:*")
    update = PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination="session")
    stage.reply(bash("mkdir one"))
    await _answered(stage, PermissionResultAllow(updated_permissions=[update]), bash("mkdir two"))
    expect("asked about", [given["command"] for _, given in stage.asked], ["mkdir one"])
    expect("made", _made(stage), {"one", "two"})


@scenario("permissions", "A rule for localSettings is written to the file", "000-allow-permissions", alone=True)
async def local_rule(stage: Stage) -> None:
    rule = PermissionRuleValue(tool_name="Bash", rule_content="touch:*")
    update = PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination="localSettings")
    await _answered(stage, PermissionResultAllow(updated_permissions=[update]))
    written = json.loads((stage.cwd / ".claude" / "settings.local.json").read_text())
    expect("the file", written["permissions"]["allow"], ["Bash(touch:*)"])


@scenario(
    "permissions",
    "Accepting the suggestion for an edit sets the mode acceptEdits",
    "000-can-use-tool-suggestions",
    "002-allow-suggestions",
    alone=True,
)
async def taken_suggestion(stage: Stage) -> None:
    files = [ToolUse("Write", {"file_path": str(stage.cwd / name), "content": "x"}) for name in ("a", "b")]
    stage.reply(files[0])

    def take(context: ToolPermissionContext) -> PermissionResultAllow:
        return PermissionResultAllow(updated_permissions=context.suggestions)

    await _answered(stage, take, files[1])
    expect("asked about", len(stage.asked), 1)
    expect("made", _made(stage), {"a", "b"})


@scenario("permissions", "Reading in the working directory needs no permission", "003-mode-default")
async def reading(stage: Stage) -> None:
    (stage.cwd / "a.txt").write_text("alpha\n")
    _, said = await _answered(stage, PermissionResultAllow(), ToolUse("Read", {"file_path": str(stage.cwd / "a.txt")}))
    expect("asked about", stage.asked, [])
    expect_that("alpha" in said, "the file was not read")


@scenario(
    "permissions", "deny with interrupt ends the turn, not the session", "000-deny-interrupt", "004-deny-interrupt"
)
async def deny_interrupt(stage: Stage) -> None:
    stage.reply(TOUCH)
    async with stage.session(can_use_tool=lambda *_: PermissionResultDeny(message="Stop", interrupt=True)) as session:
        expect("the result", (await session.prompt("make it")).subtype, "error_during_execution")
        stage.reply("Still here.")
        expect("the next turn", (await session.prompt("there?")).result, "Still here.")


@scenario(
    "permissions",
    "allow needs no updatedInput",
    "000-allow-input-optional",
    "004-allow-input-required",
    "001-allow-input-optional",
    "002-allow-input-optional",
)
async def allow_without_input(stage: Stage) -> None:
    said = await _answered_raw(stage, {"behavior": "allow"})
    expect("made", (_made(stage), "Error" in said), ({"made.txt"}, False))


@scenario(
    "permissions", "An answer {allowed: true} is invalid and denies", "003-permission-allowed", "003-permission-answer"
)
async def allowed_true(stage: Stage) -> None:
    said = await _answered_raw(stage, {"allowed": True})
    expect("made", (_made(stage), bool(said)), (set(), True))


@scenario(
    "permissions",
    "An answer with the wrong toolUseID is accepted",
    "000-tool-use-id-echo",
    "002-tool-use-id-must-match",
)
async def wrong_tool_use_id(stage: Stage) -> None:
    await _answered_raw(stage, {"behavior": "allow", "updatedInput": dict(TOUCH.input), "toolUseID": "toolu_wrong"})
    expect("made", _made(stage), {"made.txt"})


@scenario("permissions", "Read-only tools ask in parallel; answers come in any order", "001-multiplexing")
async def parallel_requests(stage: Stage) -> None:
    outside = [stage.folder / name for name in ("one.txt", "two.txt")]
    for path in outside:
        path.write_text("outside\n")
    stage.reply(*(ToolUse("Read", {"file_path": str(path)}) for path in outside))
    stage.reply("Read both.")
    open_at_once: list[int] = []
    both = asyncio.Event()

    async def decide(name: str, tool_input: dict[str, Any], _: Any) -> PermissionResultAllow:
        stage.asked.append((name, tool_input))
        if len(stage.asked) == 2:
            both.set()
        try:
            async with asyncio.timeout(stage.patience_s / 2):
                await both.wait()
        except TimeoutError:
            open_at_once.append(1)
        return PermissionResultAllow()

    async with stage.session(can_use_tool=decide) as session:
        messages = await told(session.prompt("read both"))
    expect("asked one at a time", len(open_at_once), 0)
    expect("results", len(tool_results(messages)), 2)


@scenario("permissions", "Tools that change something ask one at a time")
async def serial_requests(stage: Stage) -> None:
    most, now = 0, 0
    stage.reply(bash("touch a"), bash("touch b"))
    stage.reply("Both.")

    async def decide(*_: Any) -> PermissionResultAllow:
        nonlocal most, now
        now += 1
        most = max(most, now)
        for _turn in range(20):
            await asyncio.sleep(0)
        now -= 1
        return PermissionResultAllow()

    async with stage.session(can_use_tool=decide) as session:
        await session.prompt("both")
    expect("open at once", most, 1)
    expect("made", _made(stage), {"a", "b"})


@scenario("permissions", "Tools in allowedTools need no permission", "000-flag-allowedTools")
async def allowed_tools(stage: Stage) -> None:
    await _answered(stage, PermissionResultAllow(), allowed_tools=["Bash"])
    expect("asked about", stage.asked, [])
    expect("made", _made(stage), {"made.txt"})


@scenario("permissions", "A rule in disallowedTools denies without asking", "000-flag-disallowedTools")
async def disallowed_rule(stage: Stage) -> None:
    _, said = await _answered(stage, PermissionResultAllow(), disallowed_tools=["Bash(touch:*)"])
    expect("asked about", stage.asked, [])
    expect("made", (_made(stage), "denied" in said), (set(), True))


@scenario("permissions", "acceptEdits allows edits and asks for everything else", "003-mode-acceptEdits", alone=True)
async def accept_edits(stage: Stage) -> None:
    stage.reply(ToolUse("Write", {"file_path": str(stage.cwd / "w.txt"), "content": "x"}))
    await _answered(stage, PermissionResultAllow(), bash("python3 -c pass"), permission_mode="acceptEdits")
    expect("asked about", [name for name, _ in stage.asked], ["Bash"])
    expect("made", _made(stage), {"w.txt"})


@scenario("permissions", "dontAsk denies what is not already allowed, and reports it", "003-mode-dontAsk")
async def dont_ask(stage: Stage) -> None:
    messages, said = await _answered(stage, PermissionResultAllow(), permission_mode="dontAsk")
    expect("asked and made", (stage.asked, _made(stage)), ([], set()))
    expect_that(said, "the model was told nothing")
    if not any(isinstance(message, PermissionDeniedMessage) for message in messages):
        raise NotThere("no permission_denied message")


@scenario("permissions", "bypassPermissions never asks", "003-mode-bypass", alone=True)
async def bypass(stage: Stage) -> None:
    options: dict[str, Any] = {"permission_mode": "bypassPermissions", "allow_dangerously_skip_permissions": True}
    await _answered(stage, PermissionResultAllow(), env={"IS_SANDBOX": "1"}, **options)
    expect("asked about", stage.asked, [])
    expect("made", _made(stage), {"made.txt"})


@scenario("permissions", "--permission-prompts none denies what would ask")
async def prompts_none(stage: Stage) -> None:
    stage.reply(TOUCH)
    stage.reply("It was denied.")
    async with stage.session(permission_prompts="none") as session:
        messages = await told(session.prompt("make it"))
    expect("made", _made(stage), set())
    expect("refused", [block.is_error for block in tool_results(messages)], [True])
