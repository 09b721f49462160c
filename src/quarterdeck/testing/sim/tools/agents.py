"""Task: a sub-agent with its own conversation, in the foreground or in the background."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from quarterdeck.testing.sim.actions import wait
from quarterdeck.testing.sim.calls import Round
from quarterdeck.testing.sim.results import Notes
from quarterdeck.testing.sim.scenario import Ask
from quarterdeck.testing.sim.steps import Agent, Error, Pause, Reply, WaitFor
from quarterdeck.testing.sim.voice import Speaker

from . import Outcome

if TYPE_CHECKING:
    from quarterdeck.testing.sim.calls import SimulatedCall
    from quarterdeck.testing.sim.tasks import SimulatedTask

LATENCY_S = 0.02
"""A model takes its time: what else starts now is announced first."""
MAX_ROUNDS = 50
"""A sub-agent whose scenario never ends its tools is stopped here."""


async def run(call: SimulatedCall) -> Outcome:
    cli = call.cli
    background = call.input.get("run_in_background") is not False  # in the background by default (2.1.325)
    kind = str(call.input.get("subagent_type", "general-purpose"))
    task = cli.tasks.new(
        "local_agent",
        str(call.input["description"]),
        call.id,
        background=background,
        agent_type=kind,
        prompt=str(call.input["prompt"]),
    )
    meta = {"agentType": kind, "description": task.description, "toolUseId": call.id, "spawnDepth": 1}
    cli.transcript.describe_sidechain(task.id, **meta)
    cli.tasks.announce(task)
    if cli.hooks.has("SubagentStart"):
        await cli.hooks.fire("SubagentStart", matched=kind, agent_id=task.id, agent_type=kind)
    agent = SubAgent(call, task)
    if not background:
        text = await agent.converse()
        await agent.end(text)
        return agent.handed_back(text)
    task.work = asyncio.create_task(agent.in_background())
    cli.watch_task(task.work)
    result = {
        "isAsync": True,
        "status": "async_launched",
        "agentId": task.id,
        "description": task.description,
        "resolvedModel": cli.session.model,
        "prompt": task.prompt,
        "outputFile": str(cli.tasks.output_file(task)),
    }
    return Outcome([{"type": "text", "text": f"The agent works in the background. agentId: {task.id}"}], result)


class SubAgent:
    def __init__(self, call: SimulatedCall, task: SimulatedTask) -> None:
        self._call = call
        self._cli = call.cli
        self._task = task
        self._speaker = Speaker(call.id, task.id, task.agent_type, task.description)
        self._notes = Notes() if task.background else call.notes
        self._tools: list[str] = []
        self._tokens = 0

    async def in_background(self) -> None:
        text = await self.converse()
        self._task.output = text
        self._cli.tasks.store_output(self._task)
        await self.end(text)
        self._cli.continue_by_itself(text, self._task)

    async def converse(self) -> str:
        """Until it stops calling tools; the last text it said."""
        prompt = str(self._task.prompt)
        if not self._task.background:
            self._cli.say_user([{"type": "text", "text": prompt}], self._speaker)
        text, said = prompt, ""
        errors: tuple[bool, ...] = ()
        for number in range(MAX_ROUNDS):
            await self._cli.sleep(LATENCY_S)
            reply = await self._reply(text, first=number == 0, errors=errors)
            self._cli.bill.add(reply.model or self._cli.session.model, reply.usage, beside=True)
            self._tokens += reply.usage.input_tokens + reply.usage.output_tokens
            tools, spoken = await self._play(reply)
            said = spoken or said
            if not tools.calls:
                break
            await tools.finish()
            text, errors = tools.text, tools.errors
        return said

    async def _reply(self, text: str, *, first: bool, errors: tuple[bool, ...]) -> Reply:
        session = self._cli.session
        scripted = self._call.scripted
        ask = Ask(
            "subagent",
            str(self._task.prompt),
            text,
            first,
            session.model,
            session.mode,
            session.cwd,
            errors,
            scripted if isinstance(scripted, Agent) else None,
        )
        move = self._cli.brain.next(ask)
        while not isinstance(move, Reply | Error):
            if isinstance(move, Pause | WaitFor):  # steps that only a turn can do are skipped
                await wait(self._cli, move)
            move = self._cli.brain.next(ask)
        if isinstance(move, Error):
            from quarterdeck.testing.sim.steps import Text

            return Reply(blocks=(Text(f"API Error: {move.status} {move.message}"),))
        return move

    async def _play(self, reply: Reply) -> tuple[Round, str]:
        from quarterdeck.testing.model import render

        tools, spoken = Round(self._cli, self._speaker, self._notes), ""
        message = render.message(reply, model=self._cli.session.model, ids=self._cli.ids)
        for block, scripted in zip(message["content"], reply.blocks, strict=True):
            envelope = message | {"content": [block], "stop_reason": None, "usage": message["usage"]}
            if block["type"] == "tool_use":
                self._tools.append(block["name"])
                self._say_tool(envelope, block)
                await tools.start(block, scripted)  # type: ignore[arg-type]  # a tool_use block comes from a ToolUse
                continue
            spoken = block.get("text", spoken)
            if self._task.background or self._cli.session.forward_text:
                self._cli.say_assistant(envelope, self._speaker)
        return tools, spoken

    def _say_tool(self, envelope: dict[str, Any], block: dict[str, Any]) -> None:
        """The call and its progress; a background agent reports them in the opposite order (2.1.325)."""
        if self._task.background:
            self._cli.say_assistant(envelope, self._speaker)
            self._say_progress(block)
        else:
            self._say_progress(block)
            self._cli.say_assistant(envelope, self._speaker)

    def _say_progress(self, block: dict[str, Any]) -> None:
        what = block["input"].get("command") or block["name"]
        self._cli.say(
            "system",
            "task_progress",
            task_id=self._task.id,
            run_id=self._task.run_id,
            tool_use_id=self._call.id,
            description=f"Running {what}",
            subagent_type=self._task.agent_type,
            usage=self._usage(),
            last_tool_name=block["name"],
        )

    def _usage(self) -> dict[str, int]:
        return {"total_tokens": self._tokens, "tool_uses": len(self._tools), "duration_ms": 0}

    async def end(self, text: str) -> None:
        cli, task = self._cli, self._task
        if cli.hooks.has("SubagentStop"):
            session = cli.session
            path = session.project_dir / session.id / "subagents" / f"agent-{task.id}.jsonl"
            fields: dict[str, Any] = {"agent_id": task.id, "agent_type": task.agent_type, "stop_hook_active": False}
            fields |= {"agent_transcript_path": str(path), "last_assistant_message": text}
            await cli.hooks.fire("SubagentStop", matched=task.agent_type, **fields)
        cli.tasks.end(task, "completed", text, self._usage())

    def handed_back(self, text: str) -> Outcome:
        content = [{"type": "text", "text": text}]
        result = {
            "status": "completed",
            "prompt": self._task.prompt,
            "agentId": self._task.id,
            "agentType": self._task.agent_type,
            "content": content,
            "resolvedModel": self._cli.session.model,
            "totalTokens": self._tokens,
            "totalToolUseCount": len(self._tools),
        }
        return Outcome(content, result)
