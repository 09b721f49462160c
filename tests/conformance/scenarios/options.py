"""Options of a session, as far as the CLI shows that it has taken them."""

from __future__ import annotations

from typing import Any

from conformance.scenario import scenario
from conformance.stage import Differs, Stage, expect, expect_that, of_kind, told, tool_results
from quarterdeck.client import ProcessError
from quarterdeck.testing.model import ToolUse
from quarterdeck.wire import AgentDefinition, InitMessage

NO_SYSTEM_PROMPT = "the simulated model gets no system prompt"


SOME: dict[str, Any] = {
    "model": "claude-haiku-4-5",
    "tools": ["Read", "Bash"],
    "permission_mode": "plan",
    "agents": {"reviewer": AgentDefinition(description="Reviews code", prompt="You review.")},
    "system_prompt": "Answer like a pirate.",
}


def _others(stage: Stage) -> dict[str, Any]:
    other = stage.folder / "other"
    other.mkdir(exist_ok=True)
    (other / "o.txt").write_text("elsewhere\n")
    return {
        "disallowed_tools": ["Write"],
        "system_prompt": {"type": "preset", "preset": "claude_code", "append": "Mind the gap."},
        "add_dirs": [other],
        "settings": {"permissions": {"allow": ["Bash(touch:*)"]}},
        "can_use_tool": stage.allow,
    }


async def _init(stage: Stage, **options: Any) -> InitMessage:
    stage.reply("hi")
    async with stage.session(**options) as session:
        (init,) = of_kind(await told(session.prompt("hi")), InitMessage)
    return init


@scenario("options", "model selects the model", "000-flag-model", "003-flag-model", "002-flag-model")
async def option_model(stage: Stage) -> None:
    init = await _init(stage, **SOME)
    expect("the model", (init.model, stage.heard[-1].model), ("claude-haiku-4-5", "claude-haiku-4-5"))


@scenario("options", "tools limits the built-in tools", "000-flag-tools", "003-flag-tools")
async def option_tools(stage: Stage) -> None:
    tools = set((await _init(stage, **SOME)).tools or ())
    expect("the tools", (tools >= {"Bash", "Read"}, "Write" in tools, "Edit" in tools), (True, False, False))


@scenario(
    "options",
    "permission_mode sets the initial mode",
    "000-flag-permission-mode",
    "003-plan-flag",
    "002-flag-permission-mode",
)
async def option_permission_mode(stage: Stage) -> None:
    expect("the mode", (await _init(stage, **SOME)).permission_mode, "plan")


@scenario("options", "agents adds agents to the list", "003-subagent-custom")
async def option_agents(stage: Stage) -> None:
    expect_that("reviewer" in ((await _init(stage, **SOME)).agents or ()), "it is not listed")


@scenario(
    "options",
    "A custom system prompt reaches the model",
    "000-initialize-system-prompt-text",
    simulator=NO_SYSTEM_PROMPT,
)
async def option_system_prompt(stage: Stage) -> None:
    await _init(stage, **SOME)
    expect_that("Answer like a pirate." in stage.system_prompt, "the model was not told it")


@scenario("options", "Text can be appended to Claude Code's system prompt", simulator=NO_SYSTEM_PROMPT)
async def option_system_prompt_append(stage: Stage) -> None:
    await _init(stage, **_others(stage))
    prompt = stage.system_prompt
    expect_that("Mind the gap." in prompt and len(prompt) > 2000, "the model was not told both")


@scenario("options", "A tool in disallowedTools is unavailable", "000-flag-disallowedTools")
async def option_disallowed_tools(stage: Stage) -> None:
    expect_that("Write" not in ((await _init(stage, **_others(stage))).tools or ()), "Write is there")


@scenario("options", "Directories in add_dirs can be read without asking", "000-flag-add-dir")
async def option_add_dirs(stage: Stage) -> None:
    stage.reply(ToolUse("Read", {"file_path": str(stage.folder / "other" / "o.txt")}))
    stage.reply("Read.")
    async with stage.session(**_others(stage)) as session:
        messages = await told(session.prompt("read"))
    expect("asked about", stage.asked, [])
    expect("errors", [block.is_error or False for block in tool_results(messages)], [False])


@scenario("options", "A rule in settings allows a command")
async def option_settings(stage: Stage) -> None:
    stage.reply(ToolUse("Bash", {"command": "touch made.txt", "description": "x"}))
    stage.reply("Made.")
    async with stage.session(**_others(stage)) as session:
        await session.prompt("make it")
    expect("asked about", stage.asked, [])
    expect_that((stage.cwd / "made.txt").exists(), "the command did not run")


@scenario("options", "CLAUDE_CONFIG_DIR moves sessions and settings", "003-env-config-dir", alone=True)
async def option_config_dir(stage: Stage) -> None:
    await _init(stage, env={"CLAUDE_CONFIG_DIR": str(stage.folder / "config")})
    expect("transcripts", len(list((stage.folder / "config" / "projects").glob("*/*.jsonl"))), 1)


@scenario(
    "options", "An unknown flag makes the CLI exit with code 1", "002-flag-cwd", "000-error-exit-code", alone=True
)
async def option_unknown_flag(stage: Stage) -> None:
    try:
        async with stage.session(extra_args={"no-such-flag": None}):
            pass
    except ProcessError as error:
        expect("the exit code", error.exit_code, 1)
        expect_that("unknown option '--no-such-flag'" in str(error), f"the error says {error}")
    else:
        raise Differs("the flag was taken")
