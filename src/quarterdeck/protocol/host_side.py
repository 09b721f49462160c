"""``HostSide``: the end of the conversation that drives the CLI."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from quarterdeck.wire._base import Message, WireObject
from quarterdeck.wire.answers.base import parse_answer
from quarterdeck.wire.answers.session import InitializeAnswer
from quarterdeck.wire.codec import DEFAULT_LIMIT_BYTES, decode
from quarterdeck.wire.control import ControlCancelRequest, ControlRequest, ControlResponse, ControlSuccess
from quarterdeck.wire.messages import CommandLifecycleMessage, UserMessage
from quarterdeck.wire.notices import ControlRequestProgressMessage
from quarterdeck.wire.requests import OutgoingRequest
from quarterdeck.wire.requests.session import InitializeRequest
from quarterdeck.wire.result import ResultMessage
from quarterdeck.wire.system import InitMessage, SessionStateChangedMessage
from quarterdeck.wire.tasks import BackgroundTasksChangedMessage, TaskNotificationMessage
from quarterdeck.wire.versions import TAKES_CANCELS, TAKES_ENVIRONMENT, is_at_least

from .events import Exited, TurnClosed, TurnOpened
from .ledger import TrackedRequest
from .prompts import OpenPrompts, user_line
from .side import Side, sooner
from .states import (
    HANDSHAKE,
    IDLE_WAIT_S,
    INITIALIZE_TIMEOUT_S,
    REQUEST_TIMEOUT_S,
    SETTLE_S,
    TURN,
    Flow,
    Handshake,
    LocalProtocolError,
    StateMachine,
    TurnState,
)

SERVED = frozenset({"can_use_tool", "hook_callback", "mcp_message", "elicitation", "request_user_dialog"})
"""The requests the CLI is known to send. Pass another set to serve more."""

_NO_TASKS: frozenset[str] = frozenset()


class HostSide(Side):
    """The conversation as the host sees it."""

    _peer = "the CLI"

    def __init__(
        self,
        *,
        new_id: Callable[[], str],
        clock: Callable[[], float],
        serves: Container[str] = SERVED,
        limit_bytes: int = DEFAULT_LIMIT_BYTES,
        idle_wait_s: float | None = IDLE_WAIT_S,
    ) -> None:
        super().__init__(new_id=new_id, clock=clock, serves=serves, limit_bytes=limit_bytes)
        self._idle_wait_s = idle_wait_s
        self._idle_deadline: float | None = None
        self._handshake = StateMachine(HANDSHAKE, Handshake.NOT_ASKED)
        self._turn = StateMachine(TURN, TurnState.IDLE)
        self._prompts = OpenPrompts()
        self._turns = 0
        self._tasks = _NO_TASKS
        self._cli_state: str | None = None
        self._settle_deadline: float | None = None
        self._turn_expected = False
        self._last_result: ResultMessage | None = None
        self._exited: Exited | None = None
        self.session_id: str | None = None
        self.init: InitMessage | None = None
        self._handshake_line: bytes | None = None

    # Known facts

    @property
    def handshake(self) -> Handshake:
        return self._handshake.state

    @property
    def turn(self) -> TurnState:
        return self._turn.state

    @property
    def turn_number(self) -> int:
        """How many turns have started."""
        return self._turns

    @property
    def initialize_answer(self) -> InitializeAnswer | None:
        """The CLI's handshake answer. Stored as bytes: as objects it would dominate an idle session's memory."""
        if self._handshake_line is None:
            return None
        message = decode(self._handshake_line)
        response = message.response if isinstance(message, ControlResponse) else None
        payload = response.response if isinstance(response, ControlSuccess) else None
        answer = parse_answer(InitializeRequest, payload)
        return answer if isinstance(answer, InitializeAnswer) else None

    @property
    def capabilities(self) -> frozenset[str]:
        """Capabilities reported by the CLI in ``init`` or the handshake; empty for old CLIs."""
        told: set[str] = set()
        for source in (self.init, self.initialize_answer):
            told.update((source and source.capabilities) or ())
        return frozenset(told)

    @property
    def version(self) -> str | None:
        for source in (self.init, self.initialize_answer):
            if source is not None and source.claude_code_version is not None:
                return source.claude_code_version
        return None

    @property
    def background_tasks(self) -> frozenset[str]:
        """The ids of the background tasks running now."""
        return self._tasks

    @property
    def open_prompts(self) -> Mapping[str, str]:
        """The prompts that are not finished, by uuid: sent, queued or started."""
        return self._prompts.states

    @property
    def last_result(self) -> ResultMessage | None:
        return self._last_result

    # Intents

    def initialize(
        self, request: InitializeRequest | None = None, /, *, timeout_s: float | None = INITIALIZE_TIMEOUT_S
    ) -> str:
        """Start the handshake. Optional and repeatable; you can send prompts before the answer arrives."""
        request_id = self.request(request or InitializeRequest(), timeout_s=timeout_s)
        self._handshake.fire("ask")
        return request_id

    def send_user(self, content: str | Sequence[Any], /, *, uuid: str | None = None, **fields: Any) -> str:
        """Send a prompt and return its uuid. ``fields`` are further fields of the line by their wire names."""
        return self.send_user_line(user_line(content, uuid=uuid, **fields))

    def send_user_line(self, line: Mapping[str, Any], /) -> str:
        """Send a prompt as a whole line and return its uuid.

        A line without a ``uuid`` gets one, so that the prompt can be followed and cancelled.
        """
        self._refuse_when_finishing()
        uuid = line.get("uuid") or self._new_id()
        self._send({**line, "uuid": uuid})
        self._prompt_sent(str(uuid))
        return str(uuid)

    def _prompt_sent(self, uuid: str) -> None:
        self._prompts.sent(uuid)
        self._turn.fire("prompt")
        self._settle_deadline = None

    def interrupt(self, *, timeout_s: float | None = REQUEST_TIMEOUT_S, **fields: Any) -> str:
        """Stop the running turn. The answer lists the prompts that stay queued (2.1.325; empty on older CLIs)."""
        return self.request("interrupt", timeout_s=timeout_s, **fields)

    def keep_alive(self) -> None:
        self._send({"type": "keep_alive"})

    def update_environment(self, variables: Mapping[str, str]) -> None:
        """Change environment variables of the running CLI. It does not answer."""
        if not is_at_least(self.version, TAKES_ENVIRONMENT):
            raise LocalProtocolError(
                "this CLI is too old to change its environment, or has not reported its version yet"
            )
        self._send({"type": "update_environment_variables", "variables": dict(variables)})

    def finish_input(self) -> None:
        """Accept no more prompts, and close the input once nothing needs it.

        Once its input is closed, the CLI finishes its work but can't ask for anything: a background task's permission
        request would fail. So the input stays open until the turn has ended and no prompt, task or request remains.
        """
        self._input.fire("finish")
        self._close_when_quiet()

    def exited(self, code: int | None, *, signal: int | None = None, stderr: str = "") -> None:
        """Report that the process has exited. Call this after ``receive_eof``."""
        if self._exited is not None:
            return
        self.receive_eof()
        self._end_deadline = None
        self._input.fire("close")
        how = f"signal {signal}" if signal is not None else f"exit code {code}"
        tail = stderr.strip()
        self._lose_open_requests(f"the CLI ended ({how}){f'; it said: {tail[-2000:]}' if tail else ''}")
        after_error = self._last_result is not None and self._last_result.failed
        done = signal is None and (code == 0 or (code == 1 and after_error))
        expected = done and not self._owes_result
        self._exited = Exited(code=code, signal=signal, stderr=stderr, expected=expected)
        self._emit(self._exited)

    @property
    def _owes_result(self) -> bool:
        """Whether a prompt is unanswered. A prompt still open after a result may have been folded into that turn."""
        if not len(self._prompts) or self._turn.state is TurnState.IDLE:
            return False
        return self._turn.state is TurnState.RUNNING or self._settle_deadline is None

    def _refuse_when_finishing(self) -> None:
        if self._input.state is Flow.FINISHING:
            raise LocalProtocolError("finish_input was called: no further prompt can be sent")

    # Turns

    def _turn_started(self, message: InitMessage) -> None:
        self.init = message
        self.session_id = message.session_id or self.session_id
        self._settle_deadline = None
        self._turn_expected = False
        autonomous = not len(self._prompts)
        self._prompts.turn_started()
        if self._turn.state is not TurnState.RUNNING:
            self._turns += 1
            self._turn.fire("init")
            self._emit(TurnOpened(number=self._turns, autonomous=autonomous, init=message))
        self._emit(message)

    def _turn_ended(self, message: ResultMessage) -> None:
        self._emit(message)
        self._last_result = message
        self.session_id = message.session_id or self.session_id
        if self._turn.state is not TurnState.RUNNING:
            self._turns += 1  # a turn without init: nothing was asked of the model
            self._prompts.first_done()
        self._turn.fire("result")
        self._prompts.turn_ended()
        if self._prompts.waiting:
            self._turn.fire("prompt")
        self._emit(TurnClosed(number=self._turns, result=message))
        if len(self._prompts):
            self._settle_soon()
        self._close_when_quiet()

    def _prompt_changed(self, message: CommandLifecycleMessage) -> None:
        self._emit(message)
        self._prompts.lifecycle(message.command_uuid, message.state)
        if not len(self._prompts):
            self._turn.fire("nothing queued")
        self._close_when_quiet()

    def _cli_state_changed(self, message: SessionStateChangedMessage) -> None:
        self._emit(message)
        self._cli_state = message.state
        self._idle_deadline = None
        self._close_when_quiet()

    def _tasks_changed(self, message: BackgroundTasksChangedMessage) -> None:
        self._emit(message)
        self._tasks = frozenset(task.task_id for task in message.tasks)
        self._close_when_quiet()

    def _task_ended(self, message: TaskNotificationMessage) -> None:
        self._emit(message)
        self._tasks -= {message.task_id}
        if self._turn.state is TurnState.IDLE:
            self._turn_expected = True  # the CLI usually starts a turn on its own now, 50 to 120 ms later (2.1.325)
            self._settle_soon()

    def _progress(self, message: ControlRequestProgressMessage) -> None:
        """Restart the timeout of a request the CLI is still working on."""
        self._emit(message)
        for entry in self._ours.open():
            if entry.request_id == message.request_id and entry.deadline is not None:
                entry.deadline = max(entry.deadline, self._now() + REQUEST_TIMEOUT_S)

    def _peer_takes_cancels(self) -> bool:
        """If it doesn't, a late answer is reported as ``Unexpected``."""
        return is_at_least(self.version, TAKES_CANCELS)

    # Handshake

    def _typed_answer(self, request: WireObject, payload: Any) -> Any:
        return parse_answer(request, payload) if isinstance(request, OutgoingRequest) else payload

    def _answered(self, entry: TrackedRequest, answer: Any, message: ControlResponse) -> None:
        if message.ok and isinstance(entry.request, InitializeRequest):
            self._handshake.fire("answer")
        if isinstance(answer, InitializeAnswer):
            self._handshake_line = message.raw
        for pending in message.response.pending_requests():
            self._dispatch_pending(pending.request_id, pending.request)
        self._close_when_quiet()

    def _dispatch_pending(self, request_id: str, request: WireObject) -> None:
        """Report a pending request that the answer to a second handshake repeats (2.1.325)."""
        if request_id in self._theirs:
            return
        self._theirs.add(request_id, request)
        if self._replayed_at is None:
            self._tell_request(request_id, request, None)

    def _fail(self, entry: TrackedRequest, kind: Any, error: str, **more: Any) -> None:
        if isinstance(entry.request, InitializeRequest):
            self._handshake.fire("fail")  # otherwise a lost handshake would keep the conversation busy forever
        super()._fail(entry, kind, error, **more)

    # Replaying a record of the conversation

    def received(self, message: Message, at: float) -> None:
        """Replay what the CLI sent at ``at`` (recorded time). Updates the state; reports and sends nothing."""
        if type(message) in self._handlers:
            self._advance(at)
            self.take([message])
            self._say_nothing()
        elif self._settle_deadline is not None or self._replayed_at is None:
            self._advance(at)
        elif at > self._replayed_at:
            self._replayed_at = at

    def sent(self, line: Message | bytes, at: float) -> None:
        """Replay what we sent at ``at``. Never raises: the record may contain late answers.

        Our own requests stay open until their answers arrive, even if no caller is waiting for them.
        """
        self._advance(at)
        message = decode(line) if isinstance(line, bytes) else line
        match message:
            case UserMessage():
                self._prompt_sent(message.uuid or self._new_id())
            case ControlRequest():
                self._ours.add(message.request_id, message.request)
                if isinstance(message.request, InitializeRequest):
                    self._handshake.fire("ask")
            case ControlResponse():
                self._theirs.close(message.request_id, "answer" if message.ok else "refuse")
            case ControlCancelRequest():
                entry = self._ours.close(message.request_id, "cancel")
                if entry is not None:
                    self._fail(entry, "cancelled", "")
        self._say_nothing()

    def rebase(self) -> None:
        """End the replay and switch to the real clock.

        Requests the CLI is still waiting on are reported again as ``RequestReceived``. Our requests get new deadlines.
        """
        if self._replayed_at is None:
            return
        passed, self._replayed_at = self._replayed_at, None
        if self._settle_deadline is not None:
            self._settle_deadline += self._now() - passed
        for entry in self._ours.open():
            entry.deadline = self._now() + REQUEST_TIMEOUT_S
        for entry in self._theirs.open():
            self._tell_request(entry.request_id, entry.request, None)

    def _advance(self, at: float) -> None:
        """Apply deadlines in recorded time, except those of requests: the record shows how they ended."""
        self._replayed_at = at if self._replayed_at is None else max(at, self._replayed_at)
        self._settle(self._replayed_at)

    def _say_nothing(self) -> None:
        self._events.clear()
        self._outgoing.clear()

    # Rest

    def next_deadline(self) -> float | None:
        deadline = super().next_deadline()
        if self._idle_deadline is not None:
            deadline = sooner(deadline, self._idle_deadline)
        return deadline if self._settle_deadline is None else sooner(deadline, self._settle_deadline)

    def tick(self, now: float | None = None) -> None:
        now = self._now() if now is None else now
        super().tick(now)
        self._settle(now)
        if self._idle_deadline is not None and self._idle_deadline <= now:
            self._idle_deadline, self._cli_state = None, None
        self._close_when_quiet()

    def _settle(self, now: float) -> None:
        if self._settle_deadline is None or self._settle_deadline > now:
            return
        self._settle_deadline = None
        self._turn_expected = False
        if self._turn.state is not TurnState.RUNNING:
            self._prompts.settle()
            self._turn.fire("nothing queued")

    def _settle_soon(self) -> None:
        self._settle_deadline = self._now() + SETTLE_S

    @property
    def quiet(self) -> bool:
        """Whether the CLI is idle and no request is pending."""
        return self._seems_quiet and self._cli_state in (None, "idle")

    @property
    def _seems_quiet(self) -> bool:
        """Like ``quiet``, but ignores the state the CLI reports."""
        if self._handshake.state is Handshake.ASKED or self._turn.state is not TurnState.IDLE:
            return False
        if len(self._prompts) or self._tasks or self._ours or self._theirs:
            return False
        return not self._turn_expected

    def _close_when_quiet(self) -> None:
        """Close the input when quiet. The wait is bounded, because a CLI may never report idle again."""
        if self._input.state is not Flow.FINISHING:
            return
        if self.quiet:
            self.close_input()
        elif not self._seems_quiet or self._idle_wait_s is None:
            self._idle_deadline = None
        elif self._idle_deadline is None:
            self._idle_deadline = self._now() + self._idle_wait_s

    _handlers = Side._handlers | {
        InitMessage: _turn_started,
        ResultMessage: _turn_ended,
        CommandLifecycleMessage: _prompt_changed,
        SessionStateChangedMessage: _cli_state_changed,
        BackgroundTasksChangedMessage: _tasks_changed,
        TaskNotificationMessage: _task_ended,
        ControlRequestProgressMessage: _progress,
    }
