"""How a process ends: stdin closed, signals."""

from __future__ import annotations

from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM, Signals
from typing import Any

from conversations.driver import Run
from conversations.scenarios._registry import every, newest, register
from conversations.stage import Stage
from quarterdeck.testing.model import Stall, ToolUse


@newest
def stdin_closed_at_once(stage: Stage) -> None:
    with stage.claude() as run:
        run.close_stdin()
        run.exited()


@every
def stdin_closed_after_initialize(stage: Stage) -> None:
    with stage.claude() as run:
        run.initialize()
        run.close_stdin()
        run.exited()


@every
def stdin_closed_mid_stream(stage: Stage) -> None:
    gate = stage.model.gate()
    stage.model.reply("The whole answer still comes.", Stall(after=4, until=gate))
    with stage.claude("--include-partial-messages") as run:
        run.initialize()
        run.user("talk")
        gate.wait_reached(10)
        run.close_stdin()
        gate.open()
        run.result()


@newest
def stdin_closed_while_permission_pending(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch x"}))
    stage.model.reply("Nobody answered.")
    with stage.claude() as run:
        run.initialize()
        run.user("touch")
        run.asked()
        run.close_stdin()
        run.result()


@newest
def stdin_closed_with_background_bash(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "sleep 3; echo bg", "run_in_background": True}))
    stage.model.reply("It runs.")
    stage.model.reply("It ended.")
    with stage.claude("--allowedTools", "Bash") as run:
        run.initialize()
        run.turn("background")
        run.close_stdin()
        run.result()


def _idle(stage: Stage, run: Run) -> None:
    stage.model.reply("hi")
    run.turn("hi")


def _stream(stage: Stage, run: Run) -> None:
    stage.model.reply("A long answer that is cut off.", Stall(after=4, until=stage.model.gate()))
    run.user("talk")
    run.wait(lambda m: m.get("type") == "stream_event" and m["event"]["type"] == "content_block_delta")


def _permission(stage: Stage, run: Run) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "touch x"}))
    run.user("touch")
    run.asked()


def _bash(stage: Stage, run: Run) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo started > started.txt; sleep 30"}))
    run.allow_tools()
    run.user("sleep")
    run.message("system", "task_started", timeout_s=10)


MOMENTS: dict[str, Any] = {"idle": _idle, "stream": _stream, "permission": _permission, "bash": _bash}


def _signalled(number: Signals, moment: str, times: int = 1) -> Any:
    def play(stage: Stage) -> None:
        with stage.claude("--include-partial-messages") as run:
            MOMENTS[moment](stage, run)
            for _ in range(times):
                run.signal(number)
            run.exited()

    return play


for _number in (SIGTERM, SIGINT, SIGHUP, SIGKILL):
    for _moment in MOMENTS:
        if _number in (SIGTERM, SIGINT) or _moment in ("idle", "stream"):
            _old_too = _number == SIGTERM and _moment in ("idle", "stream")
            register(f"signal_{_number.name}_{_moment}", _signalled(_number, _moment), every_version=_old_too)
register("signal_SIGINT_twice_stream", _signalled(SIGINT, "stream", times=2))
