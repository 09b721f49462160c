"""Spans of requests, where the program collects spans: from the client's own span to the turn that Claude Code does.

What is written to a session within the span belongs to it, so a prompt's turn (``client.tracing``) is its child.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from quarterdeck.host import Caller, HostError
from quarterdeck.host.operations import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.context import Context


NAMES = ("traceparent", "tracestate", "baggage")
"""As W3C Trace Context calls them: headers, metadata, or fields of a message."""


def parent_of(headers: Mapping[bytes, bytes]) -> Any:
    """What the headers of a request say about the trace that it is part of."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    return parent_in({name: headers[name.encode()].decode("latin-1") for name in NAMES if name.encode() in headers})


def parent_in(carrier: Mapping[str, str]) -> Any:
    """The same for what is text already."""
    if not carrier or "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import propagate

    return propagate.extract(carrier)


def current_trace() -> dict[str, str]:
    """What a client sends with its request, so that the host's span is a child of its own."""
    if "opentelemetry.trace" not in sys.modules:
        return {}
    from opentelemetry import propagate

    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return {name: carrier[name] for name in NAMES if name in carrier}


def span_of(operation: Operation, caller: Caller, parent: Any = None) -> AbstractContextManager[None]:
    """A span for one call of the host. Free unless ``opentelemetry`` was imported."""
    return _span(operation, caller, parent) if "opentelemetry.trace" in sys.modules else _NO_SPAN


_NO_SPAN = nullcontext()


@contextmanager
def _span(operation: Operation, caller: Caller, parent: Context | None) -> Iterator[None]:
    from opentelemetry import trace
    from opentelemetry.trace import SpanKind, Status, StatusCode

    from quarterdeck import _version

    tracer = trace.get_tracer("quarterdeck", _version.__version__)
    attributes = {"quarterdeck.operation": operation.name, "quarterdeck.caller": caller.name}
    with tracer.start_as_current_span(
        f"quarterdeck.{operation.name}",
        parent,
        SpanKind.SERVER,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except HostError as error:
            span.set_attribute("error.type", error.code)
            span.set_status(Status(StatusCode.ERROR, error.code))
            raise
