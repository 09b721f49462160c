"""The table of events: the timeline's and the host's, each once, readable as JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import get_args

import msgspec

from looping import for_each
from quarterdeck.host import events
from quarterdeck.host.resources import Approval, Prompt, TokenCounts
from quarterdeck.timeline import EventBase
from quarterdeck.timeline.events import Event

HOSTS_OWN = [
    "StatusChange",
    "UsageReport",
    "ApprovalChanged",
    "PolicyDecided",
    "QueueChanged",
    "ProcessChanged",
    "HangNoticed",
    "DriftNoticed",
    "TranscriptNoticed",
    "BudgetChanged",
    "CustomEvent",
    "Gap",
    "RawLine",
]
WHEN = datetime(2026, 11, 16, 12, tzinfo=UTC)
EXAMPLES = [
    events.StatusChange(at=1.0, state="limited", since=WHEN, before="running", reason="five hours", until=WHEN),
    events.UsageReport(at=1.0, turn=3, cost_usd=Decimal("0.012"), tokens=TokenCounts(input=5, output=7)),
    events.ApprovalChanged(
        at=1.0,
        approval=Approval(
            id="a", request_id="r", session_id="s", kind="permission", state="pending", asked_at=WHEN, tool="Bash"
        ),
    ),
    events.PolicyDecided(at=1.0, tool_use_id="t", tool="Bash", decision="deny", reason="it deletes", rule="Bash(rm:*)"),
    events.QueueChanged(at=1.0, prompts=[Prompt(id="p", content="hello", state="queued")]),
    events.ProcessChanged(at=1.0, generation=2, state="exited", exit_code=1, stderr="no", unfinished=["toolu_1"]),
    events.HangNoticed(at=1.0, generation=2, silent_s=600.0, action="interrupt"),
    events.DriftNoticed(at=1.0, what="field", name="result.new_field", cli_version="2.1.325"),
    events.TranscriptNoticed(at=1.0, what="continued", transcript_id="5e0e4b1e-9a77-4f5a-b7c4-8b9d6f0a1c22", records=4),
    events.BudgetChanged(at=1.0, state="near", budget_usd=Decimal(5), spent_usd=Decimal("4.5")),
    events.CustomEvent(at=1.0, name="ci", data={"passed": True}, by="github"),
    events.Gap(at=1.0, reason="retention", epoch="e", first_seq=10, seq=20),
    events.RawLine(at=1.0, direction="received", line="{}"),
]


def test_the_hosts_own_events_are_those_of_the_contract() -> None:
    assert [cls.__name__ for cls in get_args(events.HostEvent)] == HOSTS_OWN


def test_the_table_has_every_event_of_the_timeline_and_of_the_host_once() -> None:
    classes = [*get_args(Event), *get_args(events.HostEvent)]
    assert list(events.EVENTS.values()) == classes
    assert len({cls.__name__ for cls in classes}) == len(classes)


def test_no_event_has_the_name_that_grpc_uses_for_another() -> None:
    assert "text_delta" not in events.EVENTS  # what gRPC calls ``TextAdded``


@for_each("event", EXAMPLES, ids=lambda event: type(event).__name__)
def test_an_event_of_the_host_is_read_back_as_it_was(event: EventBase) -> None:
    decoded = msgspec.json.decode(msgspec.json.encode(event), type=events.AnyEvent)
    assert decoded == event
    assert type(event).__doc__


def test_every_event_of_the_host_has_an_example_here() -> None:
    assert [type(event).__name__ for event in EXAMPLES] == HOSTS_OWN
