"""Requests about the conversation and running work: queue, tasks, side questions, export, rewinding."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from quarterdeck.testing.sim.scenario import Ask
from quarterdeck.testing.sim.steps import Error, Reply, Text
from quarterdeck.testing.sim.transcript import text_of

from . import RefusedRequest

if TYPE_CHECKING:
    from quarterdeck.testing.sim.simulator import SimulatedCli

Request = dict[str, Any]


def cancel_async_message(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    prompt = cli.prompts.cancel(str(request.get("message_uuid")))
    if prompt is not None:
        cli.say_lifecycle(prompt, "cancelled")
    return {"cancelled": prompt is not None}


async def stop_task(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    task = cli.tasks.get(str(request.get("task_id")))
    if task is not None:
        await cli.tasks.stop(task)
    return {}


def background_tasks(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    """Without a tool it has no effect on a command that was not announced yet (2.1.325)."""
    task = cli.tasks.of_tool(str(request.get("tool_use_id")))
    if task is None or task.background or task.status != "running":
        return {}
    task.background = True
    cli.tasks.say_changed()
    cli.tasks.say_updated(task, is_backgrounded=True)
    task.to_background.set()
    return {"backgrounded": True}


def get_task_output(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    task = cli.tasks.get(str(request.get("task_id")))
    if task is None:
        raise RefusedRequest("get_task_output: no shell or Monitor task with that task_id in this session")
    return {"output": task.output, "total_bytes": len(task.output.encode()), "truncated": False}


async def side_question(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    cli.say("system", "control_request_progress", request_id=request["request_id"], status="started")
    text = await errand(cli, "side_question", str(request.get("question", "")))
    return {"response": text, "synthetic": False}


async def errand(cli: SimulatedCli, kind: str, prompt: str) -> str:
    """A question to the model outside the conversation."""
    from quarterdeck.testing.sim.stream import hold

    session = cli.session
    move = cli.brain.next(Ask(kind, prompt, prompt, True, session.model, session.mode, session.cwd))
    if isinstance(move, Error):
        raise RefusedRequest(f"API Error: {move.status} {move.message}")
    if not isinstance(move, Reply):
        return ""
    await hold(cli, move)
    return "".join(block.text for block in move.blocks if isinstance(block, Text))


async def generate_session_title(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {"title": None}


def export_conversation(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    spoken = [record for record in cli.transcript.records if record["type"] in ("user", "assistant")]
    texts = [(record["type"], text_of(record["message"]["content"])) for record in spoken]
    parts = [f"\n{'❯' if kind == 'user' else '●'} {text}" for kind, text in texts if text]
    first = next((part[3:] for part in parts if part.startswith("\n❯")), "conversation")
    words = "-".join("".join(char if char.isalnum() else " " for char in first.lower()).split()[:6])
    stamp = time.strftime("%Y-%m-%d-%H%M%S", time.gmtime())
    return {"text": "\n".join(parts), "default_filename": f"{stamp}-{words}.txt"}


def rewind_conversation(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    target = request.get("target_message_uuid")
    if not isinstance(target, str):
        raise RefusedRequest("rewind_conversation: target_message_uuid must be a string")
    before, text = cli.transcript.rewind(target)
    if before is None:
        raise RefusedRequest("rewind_conversation: no such message")
    return {"rewound": True, "targetMessageUuid": target, "prefillText": text, "precedingAssistantUuid": before or None}


def fork_conversation(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {"forked": False, "error": "unsupported", "reason": "unsupported"}


def message_rated(cli: SimulatedCli, request: Request) -> None:
    good = (
        isinstance(request.get("messageUuid"), str)
        and request.get("sentiment") in ("positive", "negative")
        and request.get("surface") in ("tool_use", "assistant_text")
        and isinstance(request.get("cleared"), bool)
    )
    if not good:
        raise RefusedRequest(
            'message_rated: messageUuid must be a string, sentiment "positive" or "negative", surface "tool_use" or '
            '"assistant_text", and cleared a boolean'
        )


HANDLERS = {
    "cancel_async_message": cancel_async_message,
    "stop_task": stop_task,
    "background_tasks": background_tasks,
    "get_task_output": get_task_output,
    "side_question": side_question,
    "generate_session_title": generate_session_title,
    "export_conversation": export_conversation,
    "rewind_conversation": rewind_conversation,
    "fork_conversation": fork_conversation,
    "message_rated": message_rated,
}
