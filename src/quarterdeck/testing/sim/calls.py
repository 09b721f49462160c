"""One tool call from the model's wish to its result: hooks, permission, the tool itself, hooks again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from . import tools
from .asking import ToolRefused, ask_permission
from .permissions import PermissionDecision
from .tools import Outcome

if TYPE_CHECKING:
    from .results import Notes
    from .simulator import SimulatedCli
    from .steps import ToolUse
    from .voice import Speaker

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. "
    "STOP what you are doing and wait for the user to tell you how to proceed."
)
STOPPED = f"{REJECTED} This call was stopped while running: what it did so far may have been done."


class SimulatedCall:
    def __init__(
        self, cli: SimulatedCli, speaker: Speaker, notes: Notes, block: dict[str, Any], scripted: ToolUse | None
    ) -> None:
        self.cli = cli
        self.speaker = speaker
        self.notes = notes
        self.id: str = block["id"]
        self.name: str = block["name"]
        self.input: dict[str, Any] = dict(block["input"])
        self.scripted = scripted
        self.phase = "waiting"
        """``waiting``, ``asking`` the host, ``running``, ``done``."""
        self.settled = asyncio.Event()
        """It asks the host, runs, waits for its turn or is done: nothing more happens at once."""
        self.outcome: Outcome | None = None
        self.meta: dict[str, Any] | None = None

    async def run(self, lock: asyncio.Lock, streamed: asyncio.Event) -> None:
        try:
            if self.name in tools.CONCURRENT:
                await self._flow(streamed)
                return
            if lock.locked():
                self.settled.set()
            async with lock:
                await self._flow(streamed)
        finally:
            self.settled.set()

    async def _flow(self, streamed: asyncio.Event) -> None:
        started = self.cli.clock()
        try:
            self._check()
            await self._permit()
            self._enter("running")
            async with self.cli.heartbeat(self._beat):
                self.outcome = await tools.run(self)
        except ToolRefused as refusal:
            self.outcome, self.meta = refusal.outcome, refusal.meta
            if refusal.denied:
                self.deny()
        else:
            await self._after_hooks(int((self.cli.clock() - started) * 1000))
        self.settled.set()
        await streamed.wait()
        self.phase = "done"
        self.report(self.outcome)

    def _beat(self, number: int, elapsed_s: float) -> None:
        """A tool takes long. The ids are what the real CLI sends (2.1.325): the parent is the tool call itself."""
        self.cli.say(
            "tool_progress",
            tool_use_id=f"{self.id}-heartbeat-{number}",
            tool_name=self.name,
            parent_tool_use_id=self.id,
            elapsed_time_seconds=elapsed_s,
            heartbeat=True,
        )

    def _enter(self, phase: str) -> None:
        self.phase = phase
        self.settled.set()

    def _check(self) -> None:
        """The model may call an unknown tool, or call one incorrectly."""
        if not self.cli.knows_tool(self.name, self.scripted):
            message = f"Error: No such tool available: {self.name}"
            raise ToolRefused(Outcome(f"<tool_use_error>{message}</tool_use_error>", message, is_error=True))
        problems = tools.missing_parameters(self.name, self.input)
        if self.name == "AskUserQuestion":
            from .tools import requests

            problems = problems or requests.question_problems(self.input)
        if problems:
            text = f"InputValidationError: {self.name} failed due to the following issues:\n" + "\n".join(problems)
            raise ToolRefused(Outcome(f"<tool_use_error>{text}</tool_use_error>", text, is_error=True))
        if self.name == "ExitPlanMode":
            from .tools import requests

            self.input = requests.plan_input(self)

    async def _permit(self) -> None:
        decision = self.cli.permissions.decide(self.name, self.input)
        if self.cli.hooks.has("PreToolUse"):
            self._enter("asking")
            decision = await self._before_hooks(decision)
        if decision.behavior == "ask":
            self._enter("asking")
            self.input, self.meta = await ask_permission(self, decision)
            return
        source = "hook" if decision.reason_type == "hook" else "config"
        reason = {"reason_type": decision.reason_type} if decision.reason_type else {}
        if decision.behavior == "deny":
            message = decision.reason if source == "hook" else f"Permission to use {self.name} has been denied."
            meta = {"decision": "reject", "source": source, **reason}
            raise ToolRefused(Outcome.failed(message), meta=meta, kind="permission-rule", denied=True)
        self.meta = {"permission_decision": {"decision": "accept", "source": source, **reason}}

    async def _before_hooks(self, decision: PermissionDecision) -> PermissionDecision:
        fields: dict[str, Any] = {"tool_name": self.name, "tool_input": self.input, "tool_use_id": self.id}
        verdict = await self.cli.hooks.fire("PreToolUse", matched=self.name, **fields)
        if verdict.timed_out:
            raise ToolRefused(
                Outcome.failed("PreToolUse hook did not respond before its timeout. The tool call was not executed.")
            )
        word, reason = verdict.permission
        if word != "deny" and isinstance(changed := verdict.specific.get("updatedInput"), dict):
            self.input = changed
        if word is None:
            return decision
        reason = f"PreToolUse:{self.name} hook error: {reason}" if word == "deny" else reason
        return PermissionDecision(word, "hook", reason)

    async def _after_hooks(self, duration_ms: int) -> None:
        outcome = self.outcome
        if outcome is None:
            return
        event = "PostToolUseFailure" if outcome.is_error else "PostToolUse"
        if not self.cli.hooks.has(event):
            return
        fields: dict[str, Any] = {"tool_name": self.name, "tool_input": self.input, "tool_use_id": self.id}
        if outcome.is_error:
            fields |= {"error": str(outcome.content), "is_interrupt": False}
        else:
            fields["tool_response"] = outcome.result
        verdict = await self.cli.hooks.fire(event, matched=self.name, **fields, duration_ms=duration_ms)
        self.notes.hook_stopped = self.notes.hook_stopped or verdict.stops

    # Reports to the host

    def deny(self) -> None:
        self.notes.denials.append({"tool_name": self.name, "tool_use_id": self.id, "tool_input": self.input})

    def report(self, outcome: Outcome) -> None:
        block: dict[str, Any] = {"tool_use_id": self.id, "type": "tool_result", "content": outcome.content}
        if outcome.is_error is not None:
            block["is_error"] = outcome.is_error
        main = self.speaker.agent_id is None
        fields: dict[str, Any] = {"tool_use_result": outcome.result} if main else {}
        if self.meta is not None:
            fields["tool_result_meta"] = [{"id": self.id, **self.meta}]
        if main:
            self.notes.user_messages += 1
        self.cli.say_user([block], self.speaker, **fields)

    def report_abandoned(self) -> None:
        """The turn was interrupted before this call was done."""
        if self.phase == "asking":
            self.deny()
        self.meta = {"non_execution_kind": "user-rejected"}
        text = STOPPED if self.phase == "running" else REJECTED
        self.report(Outcome(text, "User rejected tool use", is_error=True))


class Round:
    """The calls of one reply. They start as their blocks are complete and report once the reply is."""

    def __init__(self, cli: SimulatedCli, speaker: Speaker, notes: Notes) -> None:
        self._cli = cli
        self._speaker = speaker
        self._notes = notes
        self._lock = asyncio.Lock()
        self._streamed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.calls: list[SimulatedCall] = []

    async def start(self, block: dict[str, Any], scripted: ToolUse | None) -> None:
        call = SimulatedCall(self._cli, self._speaker, self._notes, block, scripted)
        self.calls.append(call)
        self._tasks.append(asyncio.create_task(call.run(self._lock, self._streamed)))
        try:
            await call.settled.wait()
        except BaseException:
            await self.abandon()
            raise

    async def finish(self) -> None:
        """The reply is complete: let the results out and wait for all of them."""
        self._streamed.set()
        try:
            await asyncio.gather(*self._tasks)
        except BaseException:
            await self.abandon()
            raise
        if self.calls and self._cli.hooks.has("PostToolBatch") and self._speaker.agent_id is None:
            listed = [
                {
                    "tool_name": call.name,
                    "tool_input": call.input,
                    "tool_use_id": call.id,
                    "tool_response": _content(call),
                }
                for call in self.calls
            ]
            await self._cli.hooks.fire("PostToolBatch", tool_calls=listed)

    async def abandon(self) -> None:
        running = [task for task in self._tasks if not task.done()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    def report_abandoned(self) -> None:
        for call in self.calls:
            if call.phase != "done":
                call.report_abandoned()

    @property
    def errors(self) -> tuple[bool, ...]:
        return tuple(bool(call.outcome and call.outcome.is_error) for call in self.calls)

    @property
    def text(self) -> str:
        """All results as one text, for the model."""
        return "\n".join(str(_content(call)) for call in self.calls)


def _content(call: SimulatedCall) -> Any:
    return None if call.outcome is None else call.outcome.content
