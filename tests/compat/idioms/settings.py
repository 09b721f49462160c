"""Options that change what the CLI and the model do."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from ._setup import Agent, Recite, Think, ask, attempt, chat, echo, options, program, sdk, show, use

PROMPT = Recite(
    ("You are a pirate", "End with a joke", "interactive", "Claude Agent SDK", "always say please", "local word")
)
MODEL = Recite(("claude-haiku", "claude-sonnet", "claude-opus", "Bash", "Read", "WebSearch"))


@program(PROMPT)
async def no_system_prompt() -> None:
    print((await ask())[-1].result)


@program(PROMPT)
async def a_system_prompt() -> None:
    print((await ask(system_prompt="You are a pirate"))[-1].result)


@program(PROMPT)
async def the_preset_with_more() -> None:
    print(
        (await ask(system_prompt={"type": "preset", "preset": "claude_code", "append": "End with a joke"}))[-1].result
    )


@program(PROMPT)
async def a_prompt_file() -> None:
    Path("prompt.md").write_text("You are a pirate")
    print((await ask(system_prompt={"type": "file", "path": "prompt.md"}))[-1].result)


@program(PROMPT, PROMPT)
async def project_settings() -> None:
    Path("CLAUDE.md").write_text("always say please")
    print((await ask(setting_sources=["project"]))[-1].result, (await ask(setting_sources=[]))[-1].result)


@program(MODEL)
async def another_model() -> None:
    messages = await ask(model="claude-sonnet-4-5")
    print(messages[0].data["model"], messages[-1].result)


@program(MODEL)
async def only_some_tools() -> None:
    messages = await ask(tools=["Read"])
    print(messages[0].data["tools"], messages[-1].result)


@program(MODEL)
async def no_tools() -> None:
    print((await ask(tools=[]))[0].data["tools"])


@program(
    (use("Agent", description="Review", prompt="Review.", subagent_type="reviewer", run_in_background=False),),
    "Finished.",
    Agent("Fine."),
)
async def an_agent() -> None:
    agents = {"reviewer": sdk.AgentDefinition(description="Reviews code", prompt="You review.", tools=["Read"])}
    messages = await ask("Review.", agents=agents)
    print("reviewer" in messages[0].data["agents"])
    for message in messages:
        print(
            type(message).__name__,
            getattr(message, "parent_tool_use_id", None) is not None,
            getattr(message, "subtype", None),
        )


@program((use("StructuredOutput", city="Tokyo"),), "Done.")
async def structured_output() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    result = (await ask(output_format={"type": "json_schema", "schema": schema}))[-1]
    print(result.structured_output, type(result.structured_output).__name__, result.subtype, result.result)


@program((Think("Deep."), "Yes."))
async def thinking_enabled() -> None:
    show(await ask(thinking={"type": "enabled", "budget_tokens": 2000}))


@program("Yes.")
async def thinking_disabled() -> None:
    show(await ask(thinking={"type": "disabled"}, effort="low"))


@program((use("Bash", command="echo $MY_WORD", description="Say"),), "Done.")
async def environment() -> None:
    show(await ask(env={"MY_WORD": "swordfish"}, allowed_tools=["Bash"]))


@program((use("Bash", command="basename $PWD", description="Where"),), "Done.")
async def another_folder() -> None:
    Path("inside").mkdir()
    show(await ask(cwd=Path("inside"), allowed_tools=["Bash(basename:*)"]))
    show((await ask(cwd=str(Path("inside").absolute())))[-1])


@chat
async def settings_as_json() -> None:
    print((await ask(settings='{"model": "claude-haiku-4-5"}'))[0].data["model"])


@chat
async def settings_as_a_file() -> None:
    Path("mine.json").write_text('{"model": "claude-haiku-4-5"}')
    print((await ask(settings="mine.json"))[0].data["model"])


@chat
async def extra_flags() -> None:
    lines: list[str] = []
    await ask(extra_args={"debug-to-stderr": None}, stderr=lines.append)
    print(bool(lines), all(isinstance(line, str) and not line.endswith("\n") for line in lines))


@chat
async def user_messages_replayed() -> None:
    messages = await ask("Say it again.", extra_args={"replay-user-messages": None})
    for message in messages:
        if isinstance(message, sdk.UserMessage):
            print(message.content, message.uuid is not None, message.parent_tool_use_id)


@chat
async def default_options() -> None:
    os.environ["CLAUDE_CODE_ENTRYPOINT"] = "mine"
    try:
        show([message async for message in sdk.query(prompt="Hello?", options=options())])
    finally:
        del os.environ["CLAUDE_CODE_ENTRYPOINT"]


@program(echo("one"), "Done.")
async def bypassed_permissions() -> None:
    messages = await attempt(
        ask(
            permission_mode="bypassPermissions",
            extra_args={"allow-dangerously-skip-permissions": None},
            env={"IS_SANDBOX": "1"},
        )
    )
    print(messages[0].data["permissionMode"])
    show(messages)


@chat
async def an_external_server_that_fails() -> None:
    messages = await ask(mcp_servers={"gone": {"command": "/nowhere/server", "args": []}})
    print([server["name"] for server in messages[0].data["mcp_servers"]], messages[-1].result)


@chat
async def options_used_twice() -> None:
    chosen: Any = options(max_turns=3)
    for _ in range(2):
        show([message async for message in sdk.query(prompt="Hello?", options=chosen)])
    print(chosen.max_turns, chosen.mcp_servers)


@chat
async def a_debug_stream() -> None:
    stream = io.StringIO()
    show(await ask(debug_stderr=stream))
    print(stream.getvalue() == "")
