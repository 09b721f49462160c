"""What the specifications claim and ``conversations`` has no recording of, played on the real CLI of every version."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

from conversations.driver import Run, ScenarioError
from conversations.scenarios.mcp import sdk_server, stdio_config
from conversations.stage import Stage
from quarterdeck.testing.model import Error, Stall, ToolUse

CLAIMS: dict[str, Callable[[Stage], None]] = {}
UNANSWERED_S = 2.0
"""How long an answer is waited for that some versions never give; the others need 0.1 s."""


def claim(play: Callable[[Stage], None]) -> Callable[[Stage], None]:
    CLAIMS[str(getattr(play, "__name__"))] = play  # noqa: B009 - a Callable has no __name__ for the type checker
    return play


def _try(run: Run, subtype: str, **fields: Any) -> None:
    """Ask; whether there is an answer is what the recording shows."""
    with contextlib.suppress(ScenarioError):
        run.control(subtype, timeout_s=UNANSWERED_S, **fields)


@claim
def option_without_description(stage: Stage) -> None:
    options = [{"label": "Tea", "description": "Hot"}, {"label": "Water"}]
    question = {"question": "Which drink?", "header": "Drink", "options": options, "multiSelect": False}
    stage.model.reply(ToolUse("AskUserQuestion", {"questions": [question]}))
    stage.model.reply("Thank you.")
    answered = {"questions": [question], "answers": {"Which drink?": "Water"}}
    with stage.claude() as run:
        run.on("can_use_tool", lambda _: {"behavior": "allow", "updatedInput": answered})
        run.turn("Ask me")


@claim
def answers_only_and_array(stage: Stage) -> None:
    options = [{"label": label, "description": label} for label in ("Olives", "Corn")]
    question = {"question": "Which topping?", "header": "Topping", "options": options, "multiSelect": True}
    for _ in range(2):
        stage.model.reply(ToolUse("AskUserQuestion", {"questions": [question]}))
        stage.model.reply("Thank you.")
    answers = {"Which topping?": ["Olives", "Corn"]}
    inputs = iter([{"answers": answers}, {"questions": [question], "answers": answers}])
    with stage.claude() as run:
        run.on("can_use_tool", lambda _: {"behavior": "allow", "updatedInput": next(inputs)})
        run.turn("Ask me")
        run.turn("Ask me again")


@claim
def modes_and_model_reset(stage: Stage) -> None:
    with stage.claude() as run:
        run.initialize()
        for mode in ("default", "acceptEdits", "plan", "dontAsk", "delegate", "bypassPermissions", "no-such-mode"):
            _try(run, "set_permission_mode", mode=mode)
        _try(run, "set_model")


@claim
def thinking_limit_cleared(stage: Stage) -> None:
    with stage.claude() as run:
        run.initialize()
        _try(run, "set_max_thinking_tokens", max_thinking_tokens=50000)
        _try(run, "set_max_thinking_tokens", max_thinking_tokens=None)


@claim
def mcp_reconnect_and_toggle(stage: Stage) -> None:
    with stage.claude("--mcp-config", stdio_config(stage)) as run:
        run.initialize()
        _try(run, "mcp_reconnect", serverName="st")
        _try(run, "mcp_toggle", serverName="st", enabled=False)


@claim
def sdk_server_by_initialize_alone(stage: Stage) -> None:
    stage.model.reply(ToolUse("mcp__calc__add", {"a": 2, "b": 3}))
    stage.model.reply("It is 5.")
    with stage.claude("--allowedTools", "mcp__calc__add") as run:
        run.on("mcp_message", sdk_server)
        run.allow_tools()
        run.initialize(sdkMcpServers=["calc"])
        run.turn("Add 2 and 3")


@claim
def interrupt_while_permission_pending(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch x"}))
    with stage.claude() as run:
        run.initialize()
        run.user("touch")
        run.asked()
        run.request("interrupt")
        run.result()


@claim
def background_bash(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "sleep 1; echo done", "run_in_background": True}))
    stage.model.reply("It runs.")
    stage.model.reply("It has ended.")
    with stage.claude("--allowedTools", "Bash") as run:
        run.allow_tools()
        run.initialize()
        run.turn("Background")
        run.close_stdin()
        run.exited()


@claim
def background_bash_stdin_open(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "sleep 1; echo done", "run_in_background": True}))
    stage.model.reply("It runs.")
    stage.model.reply("It has ended.")
    with stage.claude("--allowedTools", "Bash") as run:
        run.allow_tools()
        run.initialize()
        run.turn("Background")
        with contextlib.suppress(ScenarioError):  # nothing more is a finding too
            run.message("system", "task_notification", timeout_s=5)
            run.result(timeout_s=5)


@claim
def rules_with_null_content(stage: Stage) -> None:
    for name in ("one", "two"):
        stage.model.reply(ToolUse("Bash", {"command": f"touch {name}"}))
    stage.model.reply("Done.")
    rules = [{"toolName": "Bash", "ruleContent": None}]
    update = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}

    def allow(request: dict[str, Any]) -> Any:
        return {"behavior": "allow", "updatedInput": request["input"], "updatedPermissions": [update]}

    with stage.claude() as run:
        run.on("can_use_tool", allow)
        run.initialize()
        run.turn("Twice")


@claim
def api_error_400(stage: Stage) -> None:
    stage.model.on(lambda request: request.kind == "main", Error(400, "the scripted model did not like this"))
    with stage.claude(env={"CLAUDE_CODE_MAX_RETRIES": "1"}) as run:
        run.initialize()
        run.turn("hi", timeout_s=45)


@claim
def resume_unknown(stage: Stage) -> None:
    with stage.claude("--resume", "99999999-2222-4333-8444-555555555555") as run:
        run.exited()


@claim
def rewind_without_checkpoint(stage: Stage) -> None:
    with stage.claude(env={"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true"}) as run:
        run.initialize()
        _try(run, "rewind_files", user_message_id="aaaaaaaa-0000-4000-8000-000000000001", dry_run=True)
        _try(run, "rewind_files", user_message_id="aaaaaaaa-0000-4000-8000-000000000001")


@claim
def config_dir_variables(stage: Stage) -> None:
    """A hook's input names the transcript, and so the folder of the configuration."""
    stage.model.reply("hi")
    folders = {"CLAUDE": str(stage.folder / "by_claude"), "CLAUDE_CONFIG_DIR": str(stage.folder / "by_config_dir")}
    for name, folder in folders.items():
        stage.model.reply("hi")
        with stage.claude(env={name: folder}, part=f"0_{name.lower()}") as run:
            run.on("hook_callback", lambda _: {})
            run.initialize(hooks={"UserPromptSubmit": [{"hookCallbackIds": ["hook_0"]}]})
            run.turn("hi")


@claim
def two_prompts_at_once(stage: Stage) -> None:
    """A prompt in mid turn, without a uuid."""
    gate = stage.model.gate()
    stage.model.reply("First answer.", Stall(after=3, until=gate))
    stage.model.reply("Second answer.")
    with stage.claude() as run:
        run.initialize()
        run.user("first")
        gate.wait_reached(10)
        run.user("second")
        gate.open()
        run.result()
        run.result()


@claim
def system_prompt_text(stage: Stage) -> None:
    """``systemPrompt`` as a string, as three specifications have it; the model tells whether it is there."""
    stage.model.on(lambda request: "PARROT-WORD" in request.system, "The prompt arrived.")
    with stage.claude() as run:
        run.initialize(systemPrompt="Say PARROT-WORD.")
        run.turn("hi")


FLAGS = (
    *("--model", "sonnet", "--max-thinking-tokens", "1024", "--max-turns", "5", "--max-budget-usd", "5"),
    *("--betas", "context-1m-2025-08-07", "--permission-mode", "default", "--allow-dangerously-skip-permissions"),
    *("--allowedTools", "Read,Glob", "--disallowedTools", "WebSearch", "--tools", "Bash,Read,WebSearch"),
    *("--mcp-config", '{"mcpServers":{}}', "--setting-sources", "user,project", "--strict-mcp-config"),
    *("--fallback-model", "haiku", "--include-partial-messages", "--add-dir", "/tmp", "--agent", "general-purpose"),
    "--no-session-persistence",
)
"""Most flags of the specifications' tables at once; the rest needs processes of its own."""


@claim
def flags(stage: Stage) -> None:
    plugin = stage.folder / "plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "sample", "version": "0.1.0"}')
    for text in ("many", "tools", "one", "two", "at"):
        stage.model.reply(text)
    with stage.claude(*FLAGS, "--plugin-dir", str(plugin), env={"IS_SANDBOX": "1"}, part="0_many") as run:
        run.turn("hi")
    with stage.claude("--tools", "default", "--setting-sources", "", "--debug-to-stderr", part="1_tools") as run:
        run.turn("hi")
    with stage.claude(part="2_original") as run:
        run.user("one")
        at = str(run.message("assistant")["uuid"])
        run.result()
    with stage.claude("--continue", part="3_continue") as run:
        run.turn("two")
    with stage.claude("--resume", run.session_id, "--fork-session", "--resume-session-at", at, part="4_fork_at") as run:
        run.turn("three")


@claim
def structured_output(stage: Stage) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    stage.model.reply(ToolUse("StructuredOutput", {"n": 3}))
    stage.model.reply("Here it is.")
    with stage.claude("--json-schema", json.dumps(schema)) as run:
        run.allow_tools()
        run.turn("structured")
