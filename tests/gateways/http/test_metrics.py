"""``/metrics``: what is counted, and whether Prometheus would take it as it is written."""

from __future__ import annotations

import asyncio
import contextlib
import re
from datetime import datetime
from pathlib import Path

import grpc

from gateways.grpc.kit import Client as CallClient
from gateways.grpc.kit import serving
from gateways.http.kit import served
from host.kit import ASKS, Clock, decide, pending
from quarterdeck._histograms import Histogram
from quarterdeck.gateways.grpc import Settings as CallSettings
from quarterdeck.gateways.grpc.messages import MESSAGES
from quarterdeck.gateways.http import Settings
from quarterdeck.host.requests import AddEvent, OfSession, Wait

_NAME = re.compile(r"quarterdeck(_[a-z0-9]+)+")
_SAMPLE = re.compile(r'([a-z0-9_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)')
_NOT_BASE_UNITS = ("_ms", "_milliseconds", "_minutes", "_kb", "_mb", "_percent", "_count", "_sum", "_bucket", "_info")


def checked(text: str) -> dict[str, dict[str, float]]:
    """Samples by name and labels. Asserts what ``promtool check metrics`` and the text format ask for."""
    assert text.endswith("\n")
    kinds: dict[str, str] = {}
    found: dict[str, dict[str, float]] = {}
    helped = ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped, _, about = line.removeprefix("# HELP ").partition(" ")
            assert about.endswith("."), line
            assert _NAME.fullmatch(helped), line
        elif line.startswith("# TYPE "):
            name, kind = line.removeprefix("# TYPE ").split(" ")
            assert name == helped, f"{name} has no help"
            assert name not in kinds, f"{name} is there twice"
            kinds[name] = kind
            assert (kind == "counter") == name.endswith("_total"), line
            assert not name.removesuffix("_total").endswith(_NOT_BASE_UNITS), line
        else:
            parts = _SAMPLE.fullmatch(line)
            assert parts is not None, line
            name, labels, value = parts[1], parts[2] or "", float(parts[3])
            family = name if name in kinds else re.sub("_(bucket|sum|count)$", "", name)
            assert family == helped, f"{line} stands apart from its family"
            assert labels not in found.setdefault(name, {}), f"{line} is there twice"
            found[name][labels] = value
    for name, kind in kinds.items():
        if kind == "histogram":
            assert name.endswith("_seconds")
            _check_buckets(found, name)
    return found


def _check_buckets(found: dict[str, dict[str, float]], name: str) -> None:
    for labels, count in found.get(f"{name}_count", {}).items():
        head = f"{labels}," if labels else ""
        own = [
            (label, value)
            for label, value in found[f"{name}_bucket"].items()
            if label.removeprefix(head).startswith("le=") and label.startswith(head)
        ]
        assert [value for _, value in own] == sorted(value for _, value in own), name
        assert own[-1] == (f'{head}le="+Inf"', count), name


async def test_everything_that_is_counted_has_a_name_by_convention(tmp_path: Path) -> None:
    clock = Clock()
    async with served(tmp_path, turns=[ASKS, "Done."], clock=clock) as there:
        session = await there.place.created(there.host)
        [approval] = await pending(there.host, session.id)
        clock.now = datetime.fromisoformat(str(approval.asked_at)).timestamp() + 90
        before = checked((await there.client().get("/metrics")).body.decode())
        assert before["quarterdeck_approvals_pending"] == {"": 1}
        assert before["quarterdeck_approval_oldest_pending_seconds"] == {"": 90}
        assert before["quarterdeck_sessions"] == {'state="waiting"': 1}
        assert before["quarterdeck_approval_wait_seconds_count"] == {"": 0}
        await decide(there.host, approval)
        await there.host.wait(Wait(session_id=session.id))
        await there.host.stop(OfSession(session_id=session.id))
        after = checked((await there.client().get("/metrics")).body.decode())
    assert after["quarterdeck_approval_wait_seconds_count"] == {"": 1}
    assert after["quarterdeck_cli_starts_total"] == {"": 1}
    assert after["quarterdeck_cli_ready_seconds_count"] == {"": 1}
    assert after["quarterdeck_cli_crashes_total"] == {"": 0}
    assert after["quarterdeck_approval_oldest_pending_seconds"] == {"": 0}
    assert after["quarterdeck_processes"] == {"": 0}
    assert after["quarterdeck_store_commit_seconds_count"][""] > 0
    assert after["quarterdeck_store_bytes"][""] > after["quarterdeck_log_bytes"][""] > 0
    [(model, cost)] = after["quarterdeck_cost_usd_total"].items()
    assert cost > 0
    assert after["quarterdeck_tokens_total"][f'{model},kind="output"'] > 0
    assert after["quarterdeck_http_requests_total"]['method="GET",route="/metrics",status="200"'] == 1
    assert {
        "quarterdeck_log_rows_total",
        "quarterdeck_stream_items_total",
        "quarterdeck_stream_lag_bytes",
        "quarterdeck_prompts_waiting",
        "quarterdeck_store_commits_waiting",
        "quarterdeck_http_request_duration_seconds_bucket",
    } <= after.keys()


async def test_what_waits_for_a_client_that_takes_nothing_is_the_lag(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(outbox_bytes=10_000, requests_per_s=1e6)) as there:
        session = await there.session(prompt=None)
        stalled = there.client()
        _reader, writer = await stalled.open()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(stalled.head("GET", f"/v1/sessions/{session}/stream", {}, None))
        found: dict[str, dict[str, float]] = {}
        while not found.get("quarterdeck_stream_lag_bytes", {}).get(""):
            await there.host.add_event(AddEvent(session_id=session, type="ci", data={"text": "x" * 100_000}))
            found = checked((await there.client().get("/metrics")).body.decode())
        assert found["quarterdeck_streams"]['kind="sse"'] == 1
        writer.close()


async def test_calls_and_streams_of_grpc_are_shown_beside_those_of_http(tmp_path: Path) -> None:
    async with (
        served(tmp_path) as there,
        serving(there.host, tmp_path, CallSettings(outbox_bytes=10_000)) as (calls, at),
    ):
        there.gateway.other_meters.append(calls.gateway.meter)
        session = await there.session(prompt=None)
        async with grpc.aio.insecure_channel(at) as channel:
            client = CallClient(channel, there.admin.secret)
            await client.ask("get_host")
            with contextlib.suppress(grpc.aio.AioRpcError):
                await client.ask("get_session", session_id="nobody")
            with contextlib.suppress(grpc.aio.AioRpcError):
                await CallClient(channel, None).ask("get_host")
            stalled, talk = client.watch(session), client.converse()
            await talk.write(MESSAGES["ConverseRequest"](open={"session_id": session}))
            assert (await talk.read()).HasField("opened")
            found: dict[str, dict[str, float]] = {}
            while not found.get("quarterdeck_grpc_stream_lag_bytes", {}).get(""):
                await there.host.add_event(AddEvent(session_id=session, type="ci", data={"text": "x" * 100_000}))
                found = checked((await there.client().get("/metrics")).body.decode())
            stalled.cancel()
            talk.cancel()
            while calls.gateway.meter.under_way:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        after = checked((await there.client().get("/metrics")).body.decode())
    assert found["quarterdeck_grpc_streams"] == {'method="Converse"': 1, 'method="WatchSession"': 1}
    assert found["quarterdeck_grpc_calls_in_progress"] == {"": 2}
    assert found["quarterdeck_grpc_failed_attempts_total"] == {"": 1}
    assert found["quarterdeck_grpc_call_duration_seconds_count"] == {'method="GetHost"': 2, 'method="GetSession"': 1}
    assert after["quarterdeck_grpc_calls_total"] == {
        'method="Converse",code="CANCELLED"': 1,
        'method="GetHost",code="OK"': 1,
        'method="GetHost",code="UNAUTHENTICATED"': 1,
        'method="GetSession",code="NOT_FOUND"': 1,
        'method="WatchSession",code="CANCELLED"': 1,
    }
    assert after["quarterdeck_grpc_stream_lag_bytes"] == {"": 0}


async def test_a_process_that_is_killed_is_a_crash(tmp_path: Path) -> None:
    async with served(tmp_path, turns=["Bye.", {"exit": 3}]) as there:
        session = await there.place.created(there.host)
        await there.host.wait(Wait(session_id=session.id, for_=["stopped"]))
        found = checked((await there.client().get("/metrics")).body.decode())
    assert found["quarterdeck_cli_crashes_total"] == {"": 1}


def test_a_histogram_counts_what_is_at_most_its_bound() -> None:
    histogram = Histogram((1.0, 5.0))
    for value in (0.5, 1.0, 1.1, 9.0):
        histogram.observe(value)
    assert [*histogram.buckets()] == [(1.0, 2), (5.0, 3), (float("inf"), 4)]
    assert (histogram.count, histogram.sum) == (4, 11.6)
