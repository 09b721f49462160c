"""Work in parallel with the turn: background commands and sub-agents, and how they are reported to the host."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from .simulator import SimulatedCli


class SimulatedTask(msgspec.Struct):
    id: str
    run_id: str
    kind: str
    """``local_bash`` or ``local_agent``."""
    description: str
    tool_use_id: str
    background: bool
    agent_type: str | None = None
    prompt: str | None = None
    output: str = ""
    work: asyncio.Task[Any] | None = None
    status: str = "running"
    to_background: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    """Set when the host asks to move a foreground command to the background."""

    def listed(self) -> dict[str, Any]:
        entry = {"task_id": self.id, "run_id": self.run_id, "task_type": self.kind, "description": self.description}
        return entry | ({"subagent_type": self.agent_type} if self.agent_type else {})


class Tasks:
    def __init__(self, cli: SimulatedCli) -> None:
        self._cli = cli
        self._all: dict[str, SimulatedTask] = {}

    def new(self, kind: str, description: str, tool_use_id: str, *, background: bool, **more: Any) -> SimulatedTask:
        letter = "b" if kind == "local_bash" else "a"
        digits = self._cli.new_id().replace("-", "")
        task = SimulatedTask(
            letter + digits[:8], f"0{digits[8:16]}-{digits[16:24]}", kind, description, tool_use_id, background, **more
        )
        self._all[task.id] = task
        return task

    def announce(self, task: SimulatedTask) -> None:
        if task.background:
            self.say_changed()
        fields: dict[str, Any] = {"task_id": task.id, "run_id": task.run_id, "tool_use_id": task.tool_use_id}
        fields |= {"description": task.description, "is_backgrounded": task.background, "task_type": task.kind}
        if task.kind == "local_agent":
            fields |= {"subagent_type": task.agent_type, "spawn_depth": 1, "prompt": task.prompt}
        self._cli.say("system", "task_started", **fields)

    def say_changed(self) -> None:
        self._cli.say("system", "background_tasks_changed", tasks=[task.listed() for task in self.in_background()])

    def say_updated(self, task: SimulatedTask, **patch: Any) -> None:
        self._cli.say("system", "task_updated", task_id=task.id, run_id=task.run_id, patch=patch)

    def end(self, task: SimulatedTask, status: str, summary: str, usage: dict[str, Any] | None = None) -> None:
        """The work is over: tell the host, as a background or foreground task."""
        task.status = status
        agent = task.kind == "local_agent"
        if task.background or agent:
            word = {"stopped": "killed"}.get(status, status)
            self.say_updated(task, status=word, end_time=self._cli.wall_ms())
        fields = {"task_id": task.id, "run_id": task.run_id, "tool_use_id": task.tool_use_id, "status": status}
        output = str(self.output_file(task)) if task.background or agent else ""
        self._cli.say(
            "system",
            "task_notification",
            **fields,
            output_file=output,
            summary=summary,
            **({"usage": usage} if usage else {}),
        )
        if task.background:
            self.say_changed()

    def output_file(self, task: SimulatedTask) -> Path:
        session = self._cli.session
        return session.project_dir / session.id / "tasks" / f"{task.id}.output"

    def store_output(self, task: SimulatedTask) -> None:
        if task.background and "--no-session-persistence" not in self._cli.session.flags:
            path = self.output_file(task)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(task.output)

    def get(self, task_id: str) -> SimulatedTask | None:
        return self._all.get(task_id)

    def of_tool(self, tool_use_id: str) -> SimulatedTask | None:
        return next((task for task in self._all.values() if task.tool_use_id == tool_use_id), None)

    def in_background(self) -> list[SimulatedTask]:
        return [task for task in self._all.values() if task.background and task.status == "running"]

    async def stop(self, task: SimulatedTask) -> None:
        if task.status == "running" and task.work is not None:
            self.end(task, "stopped", task.description)
            task.work.cancel()
            await asyncio.wait([task.work])

    async def stop_all(self) -> None:
        """The process ends: all work stops, and nobody is told."""
        works = [task.work for task in self._all.values() if task.work is not None and not task.work.done()]
        for work in works:
            work.cancel()
        if works:
            await asyncio.wait(works)
