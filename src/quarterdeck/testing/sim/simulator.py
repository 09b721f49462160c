"""A Claude Code CLI that is not a model: it takes the CLI's flags and lines, and plays a scenario."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.protocol import (
    AnswerReceived,
    CancelReceived,
    Fatal,
    OutputEnded,
    RequestFailed,
    RequestReceived,
)
from quarterdeck.testing.simulated import config_dir
from quarterdeck.wire.messages import UserMessage

from . import facts, flags
from .bill import Bill
from .checkpoints import Checkpoints
from .control import Control
from .hooks import Hooks
from .host import HostChannel
from .mcp import Mcp
from .permissions import Permissions
from .prompts import Prompts, QueuedPrompt
from .results import ProcessEnds, Results
from .scenario import Brain, Scenario
from .startup import StartupError, check, open_session
from .state import SimulatedSession
from .tasks import SimulatedTask, Tasks
from .transcript import SimulatedTranscript
from .voice import Voice

if TYPE_CHECKING:
    from quarterdeck.testing.model.render import Ids
    from quarterdeck.transport import MemoryTransport

    from .turn import PlayedTurn

ENDED_BY = {signal.SIGTERM: 143, signal.SIGHUP: 129}


class SimulatedCli(Voice):
    """One simulated process. Call ``run`` with an output function and ``feed`` with the host's input.

    In a test, without a process: ``client_end, cli_end = memory_pair()``, then ``SimulatedCli(argv).attach(cli_end)``.
    """

    def __init__(
        self,
        argv: Sequence[str] = (),
        *,
        scenario: Scenario | None = None,
        brain: Brain | None = None,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.env = dict(os.environ if env is None else env)
        self.flags = flags.parse(argv)
        self.scenario = scenario or Scenario(otherwise="assistant")
        self._given_brain = brain
        self.clock = time.monotonic
        self.started = self.clock()
        here = Path(cwd or Path.cwd()).resolve()
        config = config_dir(self.env, self.flags)
        self.session = SimulatedSession(self.new_id(), here, config, self.flags, self.env)
        self.bill = Bill()
        self.checkpoints = Checkpoints()
        self.prompt_id = self.new_id()
        self.todos: Any = []
        self.exit_code: int | None = None
        self.switched_from: str | None = None
        """The model before the last switch, until hooks have been told."""
        self._turn: PlayedTurn | None = None
        self._ends_after_turn = False
        self._auth_told = False
        self._turns = 0
        self._watched: set[asyncio.Task[Any]] = set()

    # Made by the first prompt, with all that only a turn needs: the handshake does not wait for it

    @cached_property
    def brain(self) -> Brain:
        return self._given_brain or self.scenario.brain()

    @cached_property
    def ids(self) -> Ids:
        from quarterdeck.testing.model.render import Ids

        return Ids()

    # Running

    async def run(self, write: Callable[[bytes], None], write_stderr: Callable[[str], object]) -> int:
        """Run until the process would exit; returns its exit code."""
        self.host = HostChannel(write, new_id=self.new_id, clock=self.clock)
        self.write_stderr = write_stderr
        self._main: asyncio.Task[None] | None = None
        self.prompts = Prompts()
        self.results = Results(self)
        self.hooks = Hooks(self)
        self.tasks = Tasks(self)
        self.mcp = Mcp(self)
        self.control = Control(self)
        self.transcript = SimulatedTranscript(self.session, now=self.now, new_id=self.new_id, mirror=self.say_raw)
        try:
            check(self)
            open_session(self)
        except StartupError as failure:
            failure.tell(self)
            return failure.exit_code
        self.permissions = Permissions(self.session)
        self.mcp.configure()
        self._main = asyncio.create_task(self._serve())
        try:
            await asyncio.wait([self._main])
        finally:
            self._main.cancel()
            await self._clean_up()
        return self._final_code(self._main)

    def _final_code(self, main: asyncio.Task[None]) -> int:
        if self.exit_code is not None:
            return self.exit_code
        if not main.cancelled() and (error := main.exception()) is not None:
            if isinstance(error, ProcessEnds):
                self.write_stderr(error.step.stderr)
                return error.step.code
            raise error
        return self.host.side.exit_code

    async def _serve(self) -> None:
        while True:
            prompt = self.prompts.take()
            if prompt is not None:
                await self._answer(prompt)
                if self._ends_after_turn:
                    self.exit_code = 0
                    return
            elif self.prompts.closed and not self.tasks.in_background() and not self.control.busy:
                return
            else:
                await self.prompts.wait()

    async def _clean_up(self) -> None:
        await self.control.stop()
        await self.tasks.stop_all()
        watched = list(self._watched)
        for task in watched:
            task.cancel()
        await asyncio.gather(*watched, return_exceptions=True)
        await self.mcp.close()

    def exit(self, code: int) -> None:
        """Exit immediately."""
        self.exit_code = code
        self.host.muted = True
        if self._main is not None:
            self._main.cancel()

    # Input

    def feed(self, data: bytes) -> None:
        self.host.side.receive(data)
        self._take_events()

    def feed_eof(self) -> None:
        self.host.side.receive_eof()
        self._take_events()

    def signal(self, number: int) -> None:
        """Deliver a signal."""
        if number in ENDED_BY:
            self.exit(ENDED_BY[signal.Signals(number)])
        elif number == signal.SIGINT:
            self._ends_after_turn = True
            if self._turn is None or not (self._turn.interrupt() or self._turn.interrupted):
                self.exit(0)

    def _take_events(self) -> None:
        for event in self.host.side.events():
            match event:
                case UserMessage():
                    self._take_prompt(event.data)
                case RequestReceived():
                    self.control.take(event)
                case CancelReceived():
                    self.control.cancel(event.request_id)
                case AnswerReceived():
                    if self.session.replays:
                        self.host.side.say(event.message)
                    self.host.settle(event)
                case RequestFailed():
                    self.host.settle(event)
                case Fatal():
                    self.write_stderr(event.stderr + "\n")
                    self.exit(event.exit_code)
                case OutputEnded():
                    self.prompts.close()
        self.host.flush()

    def _take_prompt(self, message: dict[str, Any]) -> None:
        if "--await-initialize" in self.flags and not self.session.initialized:
            self.write_stderr(
                "Error: --await-initialize requires the initialize control request as the first stdin line.\n"
            )
            self.exit(1)
            return
        self.session.prompted = True
        prompt = QueuedPrompt.of(message)
        self.say_lifecycle(prompt, "queued")
        self.prompts.add(prompt)
        if prompt.priority == "now" and self._turn is not None:
            self._turn.give_way()

    # Turns

    async def _answer(self, prompt: QueuedPrompt) -> None:
        from . import commands
        from .turn import PlayedTurn

        self.prompt_id = self.new_id()
        self.say_lifecycle(prompt, "started")
        self.say_state("running")
        self.results.start_turn()
        command = None if prompt.origin else commands.find(prompt.text)
        turn = None if command else PlayedTurn(self, prompt)
        self._turn = turn
        try:
            if command is not None:
                await command(self)
            elif turn is not None and await self._open_turn(prompt):
                await turn.run()
        finally:
            self._turn = None
        self.say_state("idle")
        self.say_lifecycle(prompt, "cancelled" if turn is not None and turn.gives_way else "completed")
        if turn is not None:
            self._after_result(turn)

    def _after_result(self, turn: PlayedTurn) -> None:
        if self.session.suggestions:
            self.watch(self._suggest(turn.suggestion))
        if turn.exit is not None:
            raise ProcessEnds(turn.exit)

    async def _suggest(self, text: str | None) -> None:
        """What the person might say next; the model is asked from the second turn on (2.1.325)."""
        from .control.conversation import errand

        self._turns += 1
        text = text or (await errand(self, "suggestion", "") if self._turns > 1 else "")
        if text:
            self.say("prompt_suggestion", suggestion=text)

    async def _open_turn(self, prompt: QueuedPrompt) -> bool:
        """Hooks, tool servers, ``system/init``; False when there is nothing to ask the model."""
        verdict = None
        if self.hooks.has("UserPromptSubmit") and not prompt.origin:
            verdict = await self.hooks.fire("UserPromptSubmit", prompt=prompt.text)
        await self._expand(prompt)
        await self.mcp.ready()
        if "--enable-auth-status" in self.flags and not self._auth_told:
            self._auth_told = True
            self.say("auth_status", isAuthenticating=False, output=[])
        self.say_init(prompt)
        for text in verdict.messages if verdict else []:
            self.say("system", "informational", content=f"UserPromptSubmit says: {text}", level="notice")
        reason = verdict.blocked if verdict else None
        if reason is not None:
            self._refuse_prompt(prompt, reason)
            return False
        self.record_prompt(prompt)
        if not prompt.should_query:
            self.session.context.append(prompt.text)
            self.results.local("", **prompt.marks())
            return False
        return True

    async def _expand(self, prompt: QueuedPrompt) -> None:
        """A command of the project is a prompt in a file."""
        name, _, arguments = prompt.text.removeprefix("/").partition(" ")
        path = self.session.cwd / ".claude" / "commands" / f"{name}.md"
        if not prompt.text.startswith("/") or "/" in name or not path.is_file():
            return
        if self.hooks.has("UserPromptExpansion"):
            fields = {"expansion_type": "slash_command", "command_name": name, "command_args": arguments}
            source = {"command_source": "projectSettings", "prompt": prompt.text}
            await self.hooks.fire("UserPromptExpansion", matched=name, **fields, **source)
        prompt.content = path.read_text().replace("$ARGUMENTS", arguments)

    def _refuse_prompt(self, prompt: QueuedPrompt, reason: str) -> None:
        text = f"UserPromptSubmit operation blocked by hook:\n{reason}\n\nOriginal prompt: {prompt.text}"
        outcome = {"kind": "blocked_by_hook", "prompt_kept": False, "reason": reason}
        fields = {"content": text, "level": "warning", "prevent_continuation": True}
        self.say("system", "informational", **fields, prompt_submit_outcome=outcome)
        self.results.local(text)

    def record_prompt(self, prompt: QueuedPrompt) -> None:
        message = {"role": "user", "content": prompt.content}
        uuid_of_prompt = prompt.uuid or self.new_id()
        self.transcript.add("user", uuid=uuid_of_prompt, message=message, permissionMode=self.session.mode)
        self.transcript.note("last-prompt", lastPrompt=prompt.text, leafUuid=uuid_of_prompt)
        if self.session.checkpoints_files:
            self.checkpoints.begin(uuid_of_prompt)

    def interrupt(self) -> None:
        if self._turn is not None:
            self._turn.interrupt()

    def continue_by_itself(self, text: str, task: SimulatedTask) -> None:
        """Background work has ended: one more turn, without a prompt."""
        origin = {"kind": "task-notification", "producer": "session-task", "runId": task.run_id}
        self.prompts.add(QueuedPrompt(content=text, origin=origin))

    # Small things everyone needs

    def new_id(self) -> str:
        digits = os.urandom(16).hex()  # the module ``uuid`` takes longer to import than all ids to make
        variant = "89ab"[int(digits[16], 16) & 3]
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def now(self) -> str:
        seconds, rest = divmod(self.wall_ms(), 1000)
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03}Z"

    def scaled(self, seconds: float) -> float:
        return seconds * self.scenario.time_scale

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            await asyncio.sleep(self.scaled(seconds))

    def watch(self, work: Coroutine[Any, Any, None]) -> None:
        """Run it in parallel with the turn; if it fails, the simulator reports that and ends."""
        self.watch_task(asyncio.create_task(work))

    def watch_task(self, task: asyncio.Task[Any]) -> None:
        self._watched.add(task)
        task.add_done_callback(self._watched_ended)

    def _watched_ended(self, task: asyncio.Task[Any]) -> None:
        self._watched.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.write_stderr(f"simulator: {type(error).__name__}: {error}\n")
            self.exit(1)
        self.prompts.wake()

    @property
    def plan_file(self) -> Path:
        return self.session.config_dir / "plans" / f"plan-{self.session.id[:8]}.md"

    def swap_todos(self, todos: Any) -> Any:
        before, self.todos = self.todos, todos
        return before

    def knows_tool(self, name: str, scripted: Any) -> bool:
        if name in self.mcp.tool_names() or getattr(scripted, "result", None) is not None:
            return True
        if getattr(scripted, "elicit", None) is not None:
            return True
        if name == "StructuredOutput":
            return self.session.schema is not None
        return name in self.builtin_tools() or name in facts.UNLISTED_TOOLS

    def builtin_tools(self) -> list[str]:
        offered = [*facts.TOOLS]
        if "--tools" in self.flags:
            named = self.flags.names("--tools")
            offered = offered if "default" in named else [tool for tool in offered if tool in named]
        gone = self.permissions.removed_tools()
        return [tool for tool in offered if tool not in gone]

    # Without a process

    def attach(self, transport: MemoryTransport) -> asyncio.Task[int]:
        """Be the process behind this end of a ``memory_pair()``; the task's result is the exit code."""
        from .attached import serve

        return asyncio.create_task(serve(self, transport))
