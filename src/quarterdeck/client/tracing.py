"""OpenTelemetry spans of a session: session, turns, tools, waits for permission; and the context for the CLI.

Names and attributes are those of the GenAI semantic conventions (1.41): a turn is ``invoke_agent``, a tool call
``execute_tool``. What the conventions do not know (the session, the wait for a permission) is named ``quarterdeck.…``.
Prompts, answers and tool inputs are never recorded.

This module is imported only when a session traces, and needs the package ``opentelemetry-api`` (extra ``otel``).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry import propagate, trace
from opentelemetry.context import Context, get_current
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from quarterdeck import _version
from quarterdeck.protocol import Exited
from quarterdeck.wire import (
    AssistantMessage,
    CanUseToolRequest,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    ControlSuccess,
    InitMessage,
    Message,
    ResultMessage,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from .journal import JournalEntry, JournalReader
from .options import ClaudeAgentOptions

AGENT = "claude-code"
PROVIDER = "anthropic"
TRACE_VARIABLES = ("TRACEPARENT", "TRACESTATE")
Attributes = dict[str, Any]


class SessionTracer(JournalReader):
    """The spans of one session, for the tracer provider that is set when the session is opened."""

    def __init__(self, options: ClaudeAgentOptions) -> None:
        self._tracer = trace.get_tracer("quarterdeck", _version.__version__)
        self._model = options.model
        self._session = self._tracer.start_span("quarterdeck.session", attributes=_common())
        self._context = trace.set_span_in_context(self._session)
        self._over = False
        self._sender: Context | None = None
        self._turn: Span | None = None
        self._turn_context = self._context
        self._tools: dict[str, tuple[Span, Context]] = {}
        self._waits: dict[str, tuple[CanUseToolRequest, int]] = {}

    @property
    def recording(self) -> bool:
        """False when nothing is collected: there is no SDK, or the trace is not sampled."""
        return self._session.is_recording()

    def propagated(self, options: ClaudeAgentOptions) -> ClaudeAgentOptions:
        """The options with the trace's context in the CLI's environment; the program's own variables win."""
        carrier: dict[str, str] = {}
        propagate.inject(carrier, context=self._context)
        found = {name.upper(): value for name, value in carrier.items() if name.upper() in TRACE_VARIABLES}
        if "TRACEPARENT" not in found:
            return options
        if "TRACESTATE" in os.environ:
            found.setdefault("TRACESTATE", "")  # an inherited one would belong to another trace
        return dataclasses.replace(options, env={**found, **options.env})

    # From the session

    def read(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            (self._sent if entry.direction == "in" else self._received)(entry.message, entry.at)

    def _sent(self, message: Message, at: float) -> None:
        if isinstance(message, UserMessage):
            # The turn belongs to the caller: a web request, say, in a session that outlives it.
            context = get_current()
            self._sender = context if trace.get_current_span(context).get_span_context().is_valid else None
        elif isinstance(message, ControlResponse):
            answer = message.response
            payload = answer.response if isinstance(answer, ControlSuccess) else None
            self._end_wait(message.request_id, str(payload.get("behavior")) if isinstance(payload, dict) else "error")

    def _received(self, message: Message, at: float) -> None:
        match message:
            case InitMessage():
                self._start_turn(message)
            case AssistantMessage():
                self._start_tools(message)
            case UserMessage():
                self._end_tools(message)
            case ResultMessage():
                self._end_turn(message)
            case ControlRequest(request=CanUseToolRequest() as request):
                self._waits[message.request_id] = (request, int(at * 1e9))
            case ControlCancelRequest():
                self._end_wait(message.request_id, "cancelled")

    def exited(self, exited: Exited, at: float) -> None:
        if not exited.expected and (exited.code or exited.signal is not None):
            self._break_off("process_exited")  # with 0 we may have closed it: see ``closed``

    def closed(self) -> None:
        if not self._over:
            self._over = True
            self._break_off("session_closed")
            self._session.end()

    # Turns

    def _start_turn(self, message: InitMessage) -> None:
        if message.session_id:
            self._session.set_attribute("gen_ai.conversation.id", message.session_id)
        if self._turn is not None:
            return  # an init in the middle of a turn, as after a compaction
        attributes: Attributes = {
            **_common(),
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": AGENT,
            "gen_ai.agent.version": message.claude_code_version,
            "gen_ai.conversation.id": message.session_id,
            "gen_ai.request.model": message.model or self._model,
        }
        links = [] if self._sender is None else [trace.Link(self._session.get_span_context())]
        parent = self._context if self._sender is None else self._sender
        self._turn = self._tracer.start_span(
            f"invoke_agent {AGENT}", parent, SpanKind.CLIENT, attributes=_known(attributes), links=links
        )
        self._turn_context = trace.set_span_in_context(self._turn)

    def _end_turn(self, result: ResultMessage) -> None:
        turn = self._turn
        if turn is None:
            return  # a command that asked nothing of the model
        turn.set_attributes(_known(_outcome(result)))
        if result.failed:
            turn.set_status(Status(StatusCode.ERROR, result.subtype))
        self._end_open_tools("no_result")
        turn.end()
        self._turn, self._turn_context, self._sender = None, self._context, None

    def _break_off(self, why: str) -> None:
        for request_id in list(self._waits):
            self._end_wait(request_id, why)
        self._end_open_tools(why)
        if self._turn is not None:
            _fail(self._turn, why)
            self._turn.end()
            self._turn, self._turn_context = None, self._context

    # Tools

    def _start_tools(self, message: AssistantMessage) -> None:
        above = self._tools.get(message.parent_tool_use_id or "")
        parent = self._turn_context if above is None else above[1]
        for block in message.content:
            if isinstance(block, ToolUseBlock) and block.id not in self._tools:
                attributes = {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": block.name,
                    "gen_ai.tool.call.id": block.id,
                    "gen_ai.tool.type": "extension" if block.name.startswith("mcp__") else "function",
                }
                span = self._tracer.start_span(f"execute_tool {block.name}", parent, attributes=attributes)
                self._tools[block.id] = (span, trace.set_span_in_context(span))

    def _end_tools(self, message: UserMessage) -> None:
        if isinstance(message.content, str):
            return
        for block in message.content:
            if isinstance(block, ToolResultBlock) and (known := self._tools.pop(block.tool_use_id, None)) is not None:
                if block.is_error:
                    _fail(known[0], "tool_error")
                known[0].end()

    def _end_open_tools(self, why: str) -> None:
        while self._tools:
            _, (span, _) = self._tools.popitem()
            _fail(span, why)
            span.end()

    def _end_wait(self, request_id: str, decision: str) -> None:
        wait = self._waits.pop(request_id, None)
        if wait is None:
            return
        request, started_ns = wait
        above = self._tools.get(request.tool_use_id or "")
        attributes = {
            "gen_ai.tool.name": request.tool_name,
            "gen_ai.tool.call.id": request.tool_use_id,
            "quarterdeck.permission.decision": decision,
        }
        parent = self._turn_context if above is None else above[1]
        name = f"quarterdeck.permission_wait {request.tool_name}"
        self._tracer.start_span(name, parent, attributes=_known(attributes), start_time=started_ns).end()


def _common() -> Attributes:
    return {"gen_ai.provider.name": PROVIDER}


def _known(attributes: Mapping[str, Any]) -> Attributes:
    return {name: value for name, value in attributes.items() if value is not None}


def _fail(span: Span, kind: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, kind))


def _outcome(result: ResultMessage) -> Attributes:
    """A result in the conventions' terms. Their input tokens include cached ones."""
    usage = result.typed_usage
    outcome: Attributes = {
        "gen_ai.response.finish_reasons": None if result.stop_reason is None else [result.stop_reason],
        "quarterdeck.cost_usd": result.total_cost_usd,
    }
    if result.failed:
        status = result.api_error_status
        outcome["error.type"] = result.subtype if status is None else str(status)
    if usage is not None:
        fresh, read, made = usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens
        outcome |= {
            "gen_ai.usage.input_tokens": (fresh or 0) + (read or 0) + (made or 0),
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": read,
            "gen_ai.usage.cache_creation.input_tokens": made,
        }
    return outcome
