"""Work beside the turn: sub-agents and background commands."""

from __future__ import annotations

from typing import Any

from conversations.scenarios._registry import every, newest
from conversations.stage import Stage
from quarterdeck.testing.model import ApiRequest, ToolUse


def _helper(prompt: str, **extra: Any) -> ToolUse:
    task = {"description": "a small errand", "prompt": prompt, "subagent_type": "general-purpose"}
    return ToolUse("Task", task | extra)


def _from_helper(word: str) -> Any:
    """Requests of the sub-agent whose prompt has that word; 2.0.77 has no mark of its own on them."""

    def match(request: ApiRequest) -> bool:
        return request.kind == "subagent" and word in request.text

    return match


@every
def subagent_foreground(stage: Stage) -> None:
    stage.model.on(_from_helper("ERRAND"), "I do it.", ToolUse("Bash", {"command": "touch errand.txt"}), times=1)
    stage.model.on(_from_helper("ERRAND"), "The errand is done.")
    stage.model.reply("I send a helper.", _helper("ERRAND please", run_in_background=False))
    stage.model.reply("The helper is back.")
    with stage.claude("--include-partial-messages") as run:
        run.allow_tools()
        run.initialize()
        run.turn("Delegate")


@newest
def subagent_foreground_forward_text(stage: Stage) -> None:
    stage.model.on(_from_helper("ERRAND"), "The errand is done.")
    stage.model.reply(_helper("ERRAND please", run_in_background=False))
    stage.model.reply("The helper is back.")
    with stage.claude() as run:
        run.allow_tools()
        run.initialize(forwardSubagentText=True, agentProgressSummaries=True)
        run.turn("Delegate")


@newest
def subagent_background(stage: Stage) -> None:
    stage.model.on(_from_helper("ERRAND"), ToolUse("Bash", {"command": "touch errand.txt"}), times=1)
    stage.model.on(_from_helper("ERRAND"), "The errand is done.")
    stage.model.reply(_helper("ERRAND please"))
    stage.model.reply("It is under way.")
    stage.model.reply("It came back.")
    with stage.claude() as run:
        run.allow_tools()
        run.initialize()
        run.turn("Delegate")
        run.result()


@newest
def perm_parallel_two_subagents_in_flight(stage: Stage) -> None:
    for word in ("ALPHA", "BETA"):
        stage.model.on(_from_helper(word), ToolUse("Bash", {"command": f"touch {word}"}), times=1)
        stage.model.on(_from_helper(word), f"{word} is done.")
    stage.model.reply(*(_helper(f"{word} please", run_in_background=False) for word in ("ALPHA", "BETA")))
    stage.model.reply("Both are back.")
    with stage.claude() as run:
        run.initialize()
        run.user("Delegate twice")
        first, second = run.asked(), run.asked()
        for request in (second, first):
            run.answer(request, {"behavior": "allow", "updatedInput": request["request"]["input"]})
        run.result()


@newest
def background_bash_task_notification(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "sleep 2; echo bgdone", "run_in_background": True}))
    stage.model.reply("It runs in the background.")
    stage.model.reply("It has ended.")
    with stage.claude("--allowedTools", "Bash") as run:
        run.initialize()
        run.turn("Background")
        run.result()


@newest
def background_bash_stop_task(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "sleep 60", "run_in_background": True}))
    stage.model.reply("It runs in the background.")
    stage.model.reply("It was stopped.")
    with stage.claude("--allowedTools", "Bash") as run:
        run.initialize()
        run.user("Background")
        task = run.message("system", "task_started")["task_id"]
        run.result()
        run.control("get_task_output", task_id=task)
        run.control("stop_task", task_id=task)


@newest
def background_tasks_control(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "sleep 6; echo late"}, id="toolu_01backgroundable"))
    stage.model.reply("Moved to the background.")
    stage.model.reply("It has ended.")
    with stage.claude("--allowedTools", "Bash") as run:
        run.initialize()
        run.user("Run it")
        run.message("system", "task_started", timeout_s=10)
        run.control("background_tasks", tool_use_id="toolu_01backgroundable")
        run.result()
        run.result()


@newest
def foreground_bash_over_three_seconds(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "sleep 4; echo slow"}))
    stage.model.reply("Slow but done.")
    with stage.claude("--allowedTools", "Bash") as run:
        run.initialize()
        run.turn("Run it")


@newest
def big_bash_output(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "head -c 300000 /dev/zero | tr '\\0' x"}))
    stage.model.reply("Much output.")
    with stage.claude("--allowedTools", "Bash") as run:
        run.initialize()
        run.turn("Run it")
