"""``ModelServer``: a Messages API on this machine that follows a script."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeAlias

from ._http import HttpServer
from .kinds import SCRIPTED_KINDS, errand_reply
from .render import Ids
from .request import ApiRequest, read_request
from .script import Error, Gate, Part, Reply, Usage, turn

KEPT_REQUESTS = 2_000
"""The newest ones are kept; a coding agent sends its whole history each time, so they are large."""

UNSCRIPTED_TEXT = "The scripted model has no turn queued for this request."

Turn: TypeAlias = Reply | Error
Match: TypeAlias = Callable[[ApiRequest], bool]


class ReplyRule:
    """Answers the requests that ``match``, before the queue."""

    def __init__(self, match: Match, answer: Callable[[ApiRequest], Turn], times: int | None) -> None:
        self.match = match
        self.answer = answer
        self.times = times
        """How often it may still answer; ``None``: always."""
        self.requests: deque[ApiRequest] = deque(maxlen=KEPT_REQUESTS)


class ModelServer:
    """A scripted Anthropic Messages API on 127.0.0.1, for driving the real CLI without a model.

    ::

        with ModelServer() as model:
            model.reply(Thinking("hm"), "I look", ToolUse("Bash", {"command": "ls"}))
            model.reply("done")
            subprocess.run([...], env=model.env() | {...})
            assert model.requests[0].last_user_text == "hello"

    A request is answered by the first matching rule (``on``). Otherwise, the conversation and its sub-agents get the
    next queued turn (``reply``), or a text that says that nothing was queued. The CLI's side requests (``kinds``:
    titles, summaries, warm-ups, token counts …) get a suitable answer and do not use the queue.

    If a function of the script raises, its request gets a 500, and leaving the ``with`` block raises the error.
    """

    def __init__(self, *, seed: str | None = None) -> None:
        self.ids = Ids(seed)
        self.closing = threading.Event()
        self._changed = threading.Condition()
        self._queue: deque[Callable[[ApiRequest], Turn]] = deque()
        self._rules: list[ReplyRule] = []
        self._gates: list[Gate] = []
        self._requests: deque[ApiRequest] = deque(maxlen=KEPT_REQUESTS)
        self._count = 0
        self._script_error: Exception | None = None
        self._http: HttpServer | None = None
        self._port = 0

    # Life

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if error is None and self._script_error is not None:
            raise self._script_error

    def start(self) -> None:
        if self._http is not None or self.closing.is_set():
            raise RuntimeError("a ModelServer can be started only once; create a new one")
        self._http = HttpServer(self)
        self._port = self._http.server_address[1]
        self._http.start()

    def close(self) -> None:
        """Break open connections and end all threads. Can be called twice."""
        if self._http is None or self.closing.is_set():
            return
        self.closing.set()
        for gate in self._gates:
            gate.open()
        self._http.close()

    @property
    def base_url(self) -> str:
        if self._http is None:
            raise RuntimeError("the ModelServer has no address before start()")
        return f"http://127.0.0.1:{self._port}"

    def env(self) -> dict[str, str]:
        """The environment that makes a child process talk to this server, and to nothing else."""
        return {
            "ANTHROPIC_BASE_URL": self.base_url,
            "ANTHROPIC_API_KEY": "scripted-model-needs-no-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "NO_PROXY": "127.0.0.1,localhost",
        }

    # The script

    def reply(
        self,
        *parts: Part,
        stop_reason: str | None = None,
        usage: Usage | None = None,
        **options: Any,
    ) -> None:
        """Queue one turn: strings, blocks and faults, or one ``Error``. ``options``: the other fields of ``Reply``."""
        made = turn(*parts, **_given(stop_reason, usage, options))
        with self._changed:
            self._queue.append(lambda _: made)

    def reply_with(self, answer: Callable[[ApiRequest], Turn]) -> None:
        """Queue a function that makes the turn when the request arrives."""
        with self._changed:
            self._queue.append(answer)

    def on(
        self,
        match: Match,
        *parts: Part,
        times: int | None = None,
        stop_reason: str | None = None,
        usage: Usage | None = None,
        **options: Any,
    ) -> ReplyRule:
        """Answer every request that matches (at most ``times``) with this turn, before the queue."""
        made = turn(*parts, **_given(stop_reason, usage, options))
        return self.on_with(match, lambda _: made, times=times)

    def on_with(self, match: Match, answer: Callable[[ApiRequest], Turn], *, times: int | None = None) -> ReplyRule:
        rule = ReplyRule(match, answer, times)
        with self._changed:
            self._rules.append(rule)
        return rule

    def gate(self) -> Gate:
        """A gate that holds a stream: ``Stall(after=3, until=gate)``. Closing the server opens it."""
        gate = Gate()
        self._gates.append(gate)
        return gate

    @property
    def queued(self) -> int:
        """Turns not used yet; assert 0 to check that the whole script was used."""
        with self._changed:
            return len(self._queue)

    # Requests received

    @property
    def requests(self) -> list[ApiRequest]:
        """All requests so far, including side requests and probes, oldest first."""
        with self._changed:
            return list(self._requests)

    @property
    def conversation(self) -> list[ApiRequest]:
        """The requests of the conversation and its sub-agents, oldest first."""
        return [request for request in self.requests if request.kind in SCRIPTED_KINDS]

    def wait_for(self, condition: Callable[[list[ApiRequest]], bool], *, timeout_s: float = 10.0) -> None:
        """Wait until ``condition(requests)`` holds; checked whenever a request arrives or is done."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while not condition(list(self._requests)):
                if not self._changed.wait(deadline - time.monotonic()) and time.monotonic() >= deadline:
                    seen = [f"{r.method} {r.path} {r.answered_by} {r.outcome}" for r in self._requests]
                    raise TimeoutError(f"the condition was not met within {timeout_s} s; requests so far: {seen}")

    # Called by the HTTP side

    def admit(self, method: str, path: str, headers: dict[str, str], body: bytes) -> ApiRequest:
        with self._changed:
            self._count += 1
            request = read_request(self._count, method, path, headers, body)
            self._requests.append(request)
            self._changed.notify_all()
        return request

    def decide(self, request: ApiRequest) -> Turn | dict[str, Any]:
        try:
            request.answered_by, answer = self._choose(request)
            return answer(request) if callable(answer) else answer
        except Exception as error:  # noqa: BLE001 - the test's own functions; told to the child now, raised at the end
            self._script_error = self._script_error or error
            return Error(500, f"the script failed: {error!r}")

    def finished(self, request: ApiRequest, outcome: str) -> None:
        with self._changed:
            request.outcome = outcome
            self._changed.notify_all()

    def _choose(self, request: ApiRequest) -> tuple[str, Turn | dict[str, Any] | Callable[[ApiRequest], Turn]]:
        if request.kind == "probe":
            return "errand", {} if request.method in {"GET", "HEAD"} else Error(404, f"no such path: {request.path}")
        if not request.json:
            return "errand", Error(400, "the body is not a JSON object")
        with self._changed:
            for rule in self._rules:
                if rule.times != 0 and rule.match(request):
                    rule.times = None if rule.times is None else rule.times - 1
                    rule.requests.append(request)
                    return "rule", rule.answer
            if request.kind == "count_tokens":
                return "errand", {"input_tokens": max(1, len(request.body) // 4)}
            if request.kind not in SCRIPTED_KINDS:
                return "errand", errand_reply(request)
            if self._queue:
                return "queue", self._queue.popleft()
        return "unscripted", turn(UNSCRIPTED_TEXT)


def _given(stop_reason: str | None, usage: Usage | None, options: dict[str, Any]) -> dict[str, Any]:
    named = {"stop_reason": stop_reason, "usage": usage}
    return {name: value for name, value in named.items() if value is not None} | options
