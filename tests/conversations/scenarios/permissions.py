"""can_use_tool: every answer the CLI takes, and those it refuses."""

from __future__ import annotations

from typing import Any

from conversations.driver import Run
from conversations.scenarios._registry import every, newest, register
from conversations.stage import Stage
from quarterdeck.testing.model import ToolUse

TOUCH = ToolUse("Bash", {"command": "touch made.txt", "description": "Make a file"})


def _one_tool(stage: Stage, tool: ToolUse = TOUCH, after: str = "Done.") -> None:
    stage.model.reply("I need a tool.", tool)
    stage.model.reply(after)


def _ask_and_answer(run: Run, response: Any) -> None:
    run.initialize()
    run.user("Make the file")
    run.answer(run.asked(), response)
    run.result()


@every
def perm_allow(stage: Stage) -> None:
    _one_tool(stage)
    with stage.claude("--include-partial-messages") as run:
        _ask_and_answer(run, {"behavior": "allow", "updatedInput": dict(TOUCH.input)})


@every
def perm_allow_no_updated_input(stage: Stage) -> None:
    _one_tool(stage)
    with stage.claude() as run:
        _ask_and_answer(run, {"behavior": "allow"})


@every
def perm_deny(stage: Stage) -> None:
    _one_tool(stage, after="I respect that.")
    with stage.claude() as run:
        _ask_and_answer(run, {"behavior": "deny", "message": "Not on a Sunday"})


@every
def perm_deny_interrupt(stage: Stage) -> None:
    _one_tool(stage)
    stage.model.reply("Still here.")
    with stage.claude() as run:
        _ask_and_answer(run, {"behavior": "deny", "message": "Stop", "interrupt": True})
        run.turn("Are you there?")


@every
def perm_updated_input(stage: Stage) -> None:
    _one_tool(stage)
    with stage.claude() as run:
        _ask_and_answer(run, {"behavior": "allow", "updatedInput": {"command": "touch other.txt"}})


@newest
def perm_updated_permissions_session(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch one"}))
    stage.model.reply(ToolUse("Bash", {"command": "touch two"}))
    stage.model.reply("No second question.")
    with stage.claude() as run:
        run.initialize()
        run.user("Twice")
        request = run.asked()
        rule = {"toolName": "Bash", "ruleContent": "touch:*"}
        update = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}
        allow = {"behavior": "allow", "updatedInput": request["request"]["input"], "updatedPermissions": [update]}
        run.answer(request, allow)
        run.result()
        run.control("list_permission_rules")


@newest
def perm_updated_permissions_suggestions(stage: Stage) -> None:
    _one_tool(stage, ToolUse("Write", {"file_path": str(stage.cwd / "w.txt"), "content": "x\n"}))
    with stage.claude() as run:
        run.initialize()
        run.user("Write it")
        asked = run.asked()
        body = asked["request"]
        suggested = body.get("permission_suggestions", [])
        run.answer(asked, {"behavior": "allow", "updatedInput": body["input"], "updatedPermissions": suggested})
        run.result()


@newest
def perm_parallel_reads_in_flight(stage: Stage) -> None:
    outside = [stage.folder / "one.txt", stage.folder / "two.txt"]
    for path in outside:
        path.write_text("outside\n")
    stage.model.reply(*(ToolUse("Read", {"file_path": str(path)}) for path in outside))
    stage.model.reply("Read both.")
    with stage.claude() as run:
        run.initialize()
        run.user("Read both")
        first, second = run.asked(), run.asked()
        for request in (second, first):
            run.answer(request, {"behavior": "allow", "updatedInput": request["request"]["input"]})
        run.result()


@every
def perm_three_tools_one_at_a_time(stage: Stage) -> None:
    stage.model.reply(
        ToolUse("Bash", {"command": "touch a"}),
        ToolUse("Bash", {"command": "touch b"}),
        ToolUse("Write", {"file_path": str(stage.cwd / "c"), "content": "c\n"}),
    )
    stage.model.reply("All three.")
    with stage.claude() as run:
        run.allow_tools()
        run.initialize()
        run.turn("Three")


@every
def perm_error_response(stage: Stage) -> None:
    _one_tool(stage)
    with stage.claude() as run:
        _ask_and_answer(run, RuntimeError("host exploded"))


BAD_SHAPES: dict[str, Any] = {
    "allowed_true": {"allowed": True},
    "deny_without_message": {"behavior": "deny"},
    "behavior_ask": {"behavior": "ask"},
    "updated_input_null": {"behavior": "allow", "updatedInput": None},
    "updated_input_string": {"behavior": "allow", "updatedInput": "touch"},
    "updated_input_fails_schema": {"behavior": "allow", "updatedInput": {"nonsense": 1}},
    "bogus_permission_update": {
        "behavior": "allow",
        "updatedInput": dict(TOUCH.input),
        "updatedPermissions": [{"type": "nonsense"}],
    },
    "wrong_tool_use_id": {"behavior": "allow", "updatedInput": dict(TOUCH.input), "toolUseID": "toolu_wrong"},
    "null": None,
}


def _bad_shape(response: Any) -> Any:
    def play(stage: Stage) -> None:
        _one_tool(stage)
        with stage.claude() as run:
            _ask_and_answer(run, response)

    return play


for _name, _response in BAD_SHAPES.items():
    register(f"perm_bad_shape_{_name}", _bad_shape(_response))


@newest
def perm_unknown_request_id_and_duplicate_response(stage: Stage) -> None:
    _one_tool(stage)
    allow = {"behavior": "allow", "updatedInput": dict(TOUCH.input)}
    with stage.claude() as run:
        run.initialize()
        run.user("Make the file")
        request = run.asked()
        run.answer({"request_id": "nobody-asked"}, allow)
        run.answer(request, allow)
        run.answer(request, {"behavior": "deny", "message": "too late"})
        run.result()


@newest
def perm_mode_dont_ask_denied(stage: Stage) -> None:
    _one_tool(stage, after="I was not allowed.")
    with stage.claude("--permission-mode", "dontAsk") as run:
        run.initialize()
        run.turn("Make the file")


@newest
def perm_prompts_none(stage: Stage) -> None:
    _one_tool(stage, after="Nobody to ask.")
    with stage.claude("--permission-prompts=none") as run:
        run.initialize()
        run.turn("Make the file")


@newest
def bypass_permissions_mode(stage: Stage) -> None:
    _one_tool(stage, after="Nobody asked.")
    with stage.claude("--permission-mode", "bypassPermissions", env={"IS_SANDBOX": "1"}) as run:
        run.initialize()
        run.turn("Make the file")


@newest
def bypass_permissions_as_root(stage: Stage) -> None:
    flags = ("--permission-mode", "bypassPermissions")
    with stage.claude(*flags, env={"CLAUDE_CODE_STARTUP_FAILURE_RESULTS": "1"}) as run:
        run.exited()


@every
def allowed_tools_no_prompt(stage: Stage) -> None:
    _one_tool(stage, after="It was allowed by flag.")
    with stage.claude("--allowedTools", "Bash(touch:*)") as run:
        run.allow_tools()  # 2.1.17 to 2.1.52 ask all the same
        run.initialize()
        run.turn("Make the file")


@newest
def accept_edits_mode(stage: Stage) -> None:
    _one_tool(stage, ToolUse("Write", {"file_path": str(stage.cwd / "w.txt"), "content": "x\n"}))
    with stage.claude("--permission-mode", "acceptEdits") as run:
        run.initialize()
        run.turn("Write it")


@newest
def perm_updated_permissions_local_settings(stage: Stage) -> None:
    _one_tool(stage)
    rule = {"toolName": "Bash", "ruleContent": "touch:*"}
    update = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}
    with stage.claude() as run:
        _ask_and_answer(run, {"behavior": "allow", "updatedInput": dict(TOUCH.input), "updatedPermissions": [update]})
        run.control("list_permission_rules")
