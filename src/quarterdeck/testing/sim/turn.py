"""One turn: from a prompt to its result."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from . import facts, failures
from .actions import perform
from .calls import Round
from .failures import Failure
from .prompts import QueuedPrompt
from .results import Notes, TurnFailed, TurnInterrupted
from .scenario import Ask
from .steps import Error, Exit, Reply, Usage
from .stream import MAIN, Stream, StreamBrokenError

if TYPE_CHECKING:
    from .simulator import SimulatedCli

CUT_OFF_LIMIT = 3
"""How often a reply that hit the output limit is continued."""
CONTINUE = "Output token limit hit. Resume directly."
TIMINGS = ("ttft_ms", "ttft_stream_ms", "time_to_request_ms", "first_content_frame_ms")
INVISIBLE = "[Your previous response had no visible output. Please continue and produce a user-visible response.]"
REFUSED = "Your response above was stopped by a safety classifier. Do not produce that content again, even reworded."


class ApiFailedError(Exception):
    """The API failed for good."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure


class PlayedTurn:
    def __init__(self, cli: SimulatedCli, prompt: QueuedPrompt) -> None:
        self._cli = cli
        self._prompt = prompt
        self._notes = Notes()
        self._stream: Stream | None = None
        self._tools = Round(cli, MAIN, self._notes)
        self._requests = 0
        self._stop_reason: str | None = None
        self._said = ""
        self._folded: list[QueuedPrompt] = []
        self._used: list[str] = []
        self._timings: dict[str, int] = {}
        self._first_usage: Usage | None = None
        self._marks = prompt.marks()
        self._cut_off = self._invisible = self._refusals = 0
        self._work: asyncio.Task[None] | None = None
        self._result: tuple[str, dict[str, Any]] = ("", {})
        self.interrupted = False
        self.gives_way = False
        """To a prompt to answer now."""
        self.suggestion: str | None = None
        self.exit: Exit | None = None
        """An ``Exit`` step that waits for the result."""

    async def run(self) -> None:
        """Play it. Cancelling this task is the end of the process; an interrupt is ``interrupt()``."""
        if self.interrupted:  # while hooks were asked about the prompt
            self._say_interrupted()
            return
        self._work = asyncio.create_task(self._converse())
        try:
            await asyncio.wait([self._work])
        except asyncio.CancelledError:
            self._work.cancel()
            await asyncio.wait([self._work])
            await self._tools.abandon()
            raise
        await self._conclude(self._work)

    def interrupt(self) -> bool:
        """End it now; its open questions to the host are withdrawn. False if it is already over or ending."""
        if self.interrupted or (self._work is not None and self._work.done()):
            return False
        self.interrupted = True
        self._cli.host.withdraw_personal()
        if self._work is not None:
            self._work.cancel()
        return True

    def give_way(self) -> None:
        """End it for a prompt to answer now: cut the model off, wait for running tools."""
        self.gives_way = True
        if not self._tools.calls:
            self.interrupt()

    async def _conclude(self, work: asyncio.Task[None]) -> None:
        error = None if work.cancelled() else work.exception()
        if work.cancelled() or isinstance(error, TurnInterrupted):
            await self._tools.abandon()
            self._say_interrupted()
        elif isinstance(error, ApiFailedError):
            await self._say_failed(error.failure)
        elif isinstance(error, TurnFailed):
            await self._tools.abandon()
            more = {"terminal_reason": error.terminal_reason} if error.terminal_reason else {}
            results = self._cli.results
            results.error(error.subtype, error.errors, notes=self._notes, stop_reason=self._stop_reason, **more)
        elif error is not None:
            raise error
        else:
            self._say_success()

    # The conversation

    async def _converse(self) -> None:
        cli = self._cli
        text, first = "\n".join([*cli.session.context, self._prompt.text]), True
        errors: tuple[bool, ...] = ()
        cli.session.context.clear()
        if cli.session.mode == "plan":
            text += f"\n[The plan file is {cli.plan_file}]"
        self._check_budget(None)
        while True:
            reply = await self._request(
                Ask(
                    "main", self._prompt.text, text, first, cli.session.model, cli.session.mode, cli.session.cwd, errors
                )
            )
            first, errors = False, ()
            self._stop_reason = reply.final_stop_reason
            if self._tools.calls:
                await self._tools.finish()
                text, errors = self._tools.text, self._tools.errors
                if self.gives_way:
                    raise TurnInterrupted
                if self._after_tools():
                    return
                text = "\n".join([text, *self._fold_prompts()])
                continue
            again = await self._after_text(reply)
            if again is None:
                return
            text = again

    async def _request(self, ask: Ask) -> Reply:
        """Ask until there is a reply and it has come whole."""
        cli, attempt, overloads, quiet = self._cli, 0, 0, False
        self._say_status()
        while True:
            move = await self._next_move(ask)
            ask = replace(ask, first=False)
            try:
                if isinstance(move, Reply):
                    await self._play(move, quiet=quiet)
                    return move
                error = move
            except StreamBrokenError as broken:
                if broken.error is None:
                    quiet = True
                    continue
                error = broken.error
            finally:
                self._stream = None if not self.interrupted else self._stream
            attempt += 1
            overloads += error.status == 529
            if overloads >= failures.FALLBACK_AFTER and self._fall_back():
                attempt = overloads = 0
                ask = replace(ask, model=cli.session.model)
                continue
            await self._retry_or_fail(error, attempt)

    async def _next_move(self, ask: Ask) -> Reply | Error:
        """What the model says; what the scenario does before that is done."""
        move = self._cli.brain.next(ask)
        while not isinstance(move, Reply | Error):
            await perform(self._cli, move, self)
            move = self._cli.brain.next(replace(ask, first=False))
        return move

    async def _retry_or_fail(self, error: Error, attempt: int) -> None:
        cli = self._cli
        word, most = failures.retry_word(error), cli.session.max_retries
        if word is None or attempt > most:
            raise ApiFailedError(failures.give_up(error, cli.session.model))
        wait_ms = failures.delay_ms(error, attempt)
        fields = {"attempt": attempt, "max_retries": most, "retry_delay_ms": wait_ms}
        cli.say("system", "api_retry", **fields, error_status=error.status or None, error=word)
        await cli.sleep(wait_ms / 1000)

    def _fall_back(self) -> bool:
        session = self._cli.session
        other = session.flags.get("--fallback-model")
        if not other or facts.resolve_model(other) == session.model:
            return False
        before, session.model = session.model, facts.resolve_model(other)
        shown = f"Switched to {facts.display_name(session.model)} due to high demand for {facts.display_name(before)}"
        fields = {"trigger": "overloaded", "original_model": before, "fallback_model": session.model}
        self._cli.say("system", "model_fallback", **fields, content=shown)
        return True

    async def _play(self, reply: Reply, *, quiet: bool) -> None:
        cli = self._cli
        self._requests += 1
        if self._requests == 1:
            self._first_usage = reply.usage
            self._timings = dict.fromkeys(TIMINGS, cli.results.elapsed_ms())
            cli.echo_prompt(self._prompt)
        over = self._over_budget(reply)
        tools = Round(cli, MAIN, self._notes)
        marks, self._marks = self._marks, {}
        stream = Stream(cli, reply, tools, model=cli.session.model, marks=marks, quiet=quiet)
        self._tools, self._stream = tools, stream
        started = cli.clock()
        await stream.play(with_tools=not over)
        cli.bill.api_ms += int((cli.clock() - started) * 1000)
        cli.bill.add(stream.model, reply.usage)
        self._said = stream.text or ("" if tools.calls else self._said)
        cli.say_rate_limit(reply.headers)
        self._stop_reason = reply.final_stop_reason
        self._check_budget(reply)
        self._visible = stream.visible
        self._message_id = stream.message_id

    def _over_budget(self, reply: Reply) -> bool:
        most = self._cli.session.flags.number("--max-budget-usd")
        return (
            most is not None and self._cli.bill.cost_with(reply.model or self._cli.session.model, reply.usage) >= most
        )

    def _check_budget(self, reply: Reply | None) -> None:
        """A spent budget ends the turn: after the reply that spent it, and each later one at its start."""
        most = self._cli.session.flags.number("--max-budget-usd")
        spent = self._cli.bill.total_cost_usd
        wants_more = reply is None or reply.final_stop_reason == "tool_use"
        if most is not None and spent >= most and wants_more:
            raise TurnFailed("error_max_budget_usd", [f"Reached maximum budget (${most:g})"], "budget_exhausted")

    def _say_status(self) -> None:
        if self._cli.session.partial:
            self._cli.say("system", "status", status="requesting")

    # Between replies

    def _after_tools(self) -> bool:
        """True when the turn is over after this round of tools."""
        cli, notes = self._cli, self._notes
        self._used += [call.id for call in self._tools.calls]
        for call in self._tools.calls:
            if call.name == "StructuredOutput" and call.outcome is not None:
                if call.outcome.is_error:
                    notes.structured_failures.append(str(call.outcome.content))
                else:
                    notes.structured = call.input
        if notes.structured is not None:
            self._succeed(json.dumps(notes.structured, separators=(",", ":")), structured_output=notes.structured)
            return True
        from .tools.structured import MAX_TRIES

        if len(notes.structured_failures) >= MAX_TRIES:
            message = f"Failed to provide valid structured output after {MAX_TRIES} attempts — last error: "
            subtype, reason = "error_max_structured_output_retries", "structured_output_retry_exhausted"
            raise TurnFailed(subtype, [message + notes.structured_failures[-1]], reason)
        if notes.hook_stopped:
            self._succeed("", terminal_reason="hook_stopped")
            return True
        most = cli.session.flags.number("--max-turns")
        if most is not None and self._requests >= most:
            raise TurnFailed("error_max_turns", [f"Reached maximum number of turns ({most:g})"], "max_turns")
        return False

    def _fold_prompts(self) -> list[str]:
        """Prompts that came meanwhile join the turn, unless they are for later."""
        taken = self._cli.prompts.take_for_running_turn()
        for prompt in taken:
            self._cli.say_lifecycle(prompt, "started")
            self._cli.record_prompt(prompt)
        if taken:
            uuids = [prompt.uuid for prompt in taken if prompt.uuid]
            self._marks = {"user_message_uuid": uuids[0], "user_message_uuids": uuids} if uuids else {}
        self._folded += taken
        return [prompt.text for prompt in taken]

    async def _after_text(self, reply: Reply) -> str | None:
        """What the model gets next, or None if the turn has its result."""
        match reply.final_stop_reason:
            case "max_tokens":
                self._cut_off += 1
                if self._cut_off > CUT_OFF_LIMIT:
                    raise ApiFailedError(failures.OUTPUT_LIMIT)
                return self._say_synthetic(CONTINUE)
            case "refusal":
                return self._after_refusal()
        if not self._visible and not self._invisible:
            self._invisible += 1
            return self._say_synthetic(INVISIBLE)
        blocked = await self._stop_hooks()
        if blocked is not None:
            text = self._say_synthetic(f"Stop hook feedback:\n{blocked}")
            self._cli.say(
                "system", "notification", key="stop-hook-error", text="Stop hook error occurred", priority="immediate"
            )
            return text
        for move in self._cli.brain.rest():
            if isinstance(move, Exit):
                self.exit = move
            else:
                await perform(self._cli, move, self)
        self._succeed(self._said)
        return None

    def _after_refusal(self) -> str:
        cli = self._cli
        shown = facts.display_name(cli.session.model)
        self._refusals += 1
        if self._refusals == 1:
            cli.say(
                "system", "informational", content=f"{shown}'s safeguards stopped the response above", level="notice"
            )
            return self._say_synthetic(REFUSED, refused_message_id=self._message_id)
        fields = {"original_model": cli.session.model, "request_id": None, "content": ""}
        cli.say(
            "system", "model_refusal_no_fallback", **fields, api_refusal_category=None, api_refusal_explanation=None
        )
        raise ApiFailedError(failures.refusal(shown))

    def _say_synthetic(self, text: str, **more: Any) -> str:
        self._notes.user_messages += 1
        self._cli.say_user([{"type": "text", "text": text}], MAIN, isSynthetic=True, **more)
        return text

    async def _stop_hooks(self) -> str | None:
        cli = self._cli
        if not cli.hooks.has("Stop"):
            return None
        active = self._notes.user_messages > 0 and self._stopped_before
        fields: dict[str, Any] = {"stop_hook_active": active, "last_assistant_message": self._said}
        verdict = await cli.hooks.fire("Stop", **fields, background_tasks=[], session_crons=[])
        self._stopped_before = True
        return verdict.blocked

    _stopped_before = False

    # Ends

    def _succeed(self, text: str, **more: Any) -> None:
        """The turn succeeded; its result is sent when nothing of it runs any more."""
        self._result = text, more

    def _say_success(self) -> None:
        text, more = self._result
        for prompt in self._folded:
            self._cli.say_lifecycle(prompt, "completed")
        if self._used and self._cli.env.get("CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES") == "1":
            self._cli.say(
                "tool_use_summary", summary=f"Used {len(self._used)} tools", preceding_tool_use_ids=self._used
            )
        fields = self._answered() | ({"origin": self._prompt.origin} if self._prompt.origin else {}) | self._timings
        self._cli.results.success(text, notes=self._notes, stop_reason=self._stop_reason, **fields, **more)

    def _answered(self) -> dict[str, Any]:
        """The prompts this answered, if they have ids; then the result also mentions the first request."""
        uuids = [prompt.uuid for prompt in (self._prompt, *self._folded) if prompt.uuid]
        if not uuids:
            return {}
        usage = self._first_usage or Usage()
        return {
            "user_message_uuid": uuids[0],
            "user_message_uuids": uuids,
            "request_sent_wall_ms": self._cli.wall_ms(),
            "first_request_input_tokens": usage.input_tokens,
            "first_request_cache_read_input_tokens": usage.cache_read_input_tokens,
        }

    async def _say_failed(self, failure: Failure) -> None:
        cli = self._cli
        asked = {"request_id": cli.ids.next("req")} if failure.from_api else {}
        cli.say_synthetic_assistant(failure.text, stop_reason="stop_sequence", **failure.on_message(), **asked)
        if cli.hooks.has("StopFailure"):
            await cli.hooks.fire("StopFailure", error=failure.word, last_assistant_message=failure.text)
        cli.results.success(
            failure.text,
            notes=self._notes,
            stop_reason=failure.stop_reason,
            is_error=True,
            terminal_reason=failure.terminal_reason,
            **failure.on_result(),
        )

    def _say_interrupted(self) -> None:
        streaming = not self._tools.calls
        stop = None if streaming else "tool_use"
        if self.gives_way:
            pass  # nobody stopped it: the model only gets the new prompt
        elif streaming:
            if self._stream is not None:
                self._stream.say_aborted()
            self._say_note("[Request interrupted by user]")
            if self._stream is not None:
                self._stream.say_closing()
        else:
            self._tools.report_abandoned()
            self._say_note("[Request interrupted by user for tool use]")
        diagnostic = f"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop or 'null'}"
        reason = "aborted_streaming" if streaming else "aborted_tools"
        results = self._cli.results
        results.error(
            "error_during_execution", [diagnostic], notes=self._notes, stop_reason=stop, terminal_reason=reason
        )

    def _say_note(self, text: str) -> None:
        self._notes.user_messages += 1
        self._cli.say_user([{"type": "text", "text": text}], MAIN)
