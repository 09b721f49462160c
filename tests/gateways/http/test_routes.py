"""The table of routes has every operation of the host and nothing else; every route answers as the contract says."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gateways.http.kit import served
from gateways.http.route_table import PAGE, with_tables
from host.kit import ASKS, pending
from host.test_operations import REST
from quarterdeck.gateways.http import Settings, examples
from quarterdeck.gateways.http.decoding import path_fields, shape_of
from quarterdeck.gateways.http.problems import STATUS, TITLES
from quarterdeck.gateways.http.routes import PREFIX, ROUTES, Route
from quarterdeck.gateways.http.routing import Paths
from quarterdeck.host.errors import CODES
from quarterdeck.host.operations import OPERATIONS
from quarterdeck.host.requests import AddEvent

SCOPES = ("read", "approve", "operate", "admin")


def test_every_operation_has_a_route_and_every_route_an_operation() -> None:
    assert {route.name for route in ROUTES} == set(OPERATIONS)
    counted = Counter(route.name for route in ROUTES)
    assert {name for name, count in counted.items() if count > 1} == {"get_health"}


def test_the_routes_are_those_of_the_contract() -> None:
    def bare(path: str) -> str:
        return re.sub(r"{\w+}", "{}", path.removeprefix(PREFIX))

    contract = {(route.split()[0], bare(route.split()[1])): name for route, name in REST.items()}
    ours = {(route.method, bare(route.path)): route.name for route in ROUTES if not route.streams}
    assert ours == contract
    streams = {route.path: route.name for route in ROUTES if route.streams}
    assert streams == {
        "/v1/sessions/{session_id}/stream": "watch_session",
        "/v1/sessions/{session_id}/callbacks": "attach_callbacks",
        "/v1/stream": "watch_host",
        "/v1/approvals/stream": "watch_approvals",
    }


def test_every_path_leads_to_its_routes_and_fixed_words_come_first() -> None:
    paths = Paths(ROUTES)
    for route in ROUTES:
        found = paths.find(route.path.format(**examples.PATHS))
        assert found is not None
        methods, in_path = found
        assert methods[route.method] is route
        assert in_path == {name: examples.PATHS[name] for name in path_fields(route)}
        assert paths.find(route.path.format(**examples.PATHS) + "/") is None
        assert "{" not in route.path or paths.find(re.sub(r"{\w+}", "", route.path)) is None, "an empty word is none"
    stream = paths.find("/v1/approvals/stream")
    assert stream is not None
    assert stream[0]["GET"].name == "watch_approvals"
    odd = paths.find("/v1/approvals/decisions/decision")
    assert odd is not None
    assert odd[1] == {"approval_id": "decisions"}
    assert paths.find("") is paths.find("/") is paths.find("v1/host") is paths.find("/v1") is None


def test_every_code_has_a_status_and_a_title() -> None:
    assert set(STATUS) == set(TITLES) == CODES


def path_of(route: Route) -> str:
    """The route's path with examples in it, and what its query must have."""
    path = route.path.format(**examples.PATHS) if "{" in route.path else route.path
    needed = {field.encode_name: "x" for field in shape_of(route).query if field.required}
    query = "&".join(f"{name}={value}" for name, value in needed.items())
    return f"{path}?{query}" if query else path


def body_of(route: Route) -> Any:
    if route.raw:
        return b"data"
    return examples.BODIES.get(route.name) if route.takes_body else None


async def test_every_route_needs_a_token_with_its_scope(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(attempts=10_000)) as there:  # so that no answer is held back
        nobody = there.client(None)
        secrets = {scope: (await there.token(scope)).secret for scope in SCOPES}
        for route in ROUTES:
            if route.public:
                continue
            refused = await nobody.ask(route.method, path_of(route), body_of(route))
            assert (refused.status, refused.code) == (401, "unauthenticated"), route
            assert refused.headers["www-authenticate"].startswith("Bearer")
            assert refused.headers["content-type"] == "application/problem+json"
            for scope in SCOPES[: SCOPES.index(route.operation.scope)]:
                client = there.client(secrets[scope])
                refused = await client.ask(route.method, path_of(route), body_of(route))
                assert (refused.status, refused.code) == (403, "forbidden"), (route, scope)
                assert refused.json["needed"] == route.operation.scope


ABOUT_NOTHING = {
    "get_usage",
    "list_sessions",
    "list_approvals",
    "list_grants",
    "list_tokens",
    "list_audit",
    "list_folders",
    "list_rules",
    "list_transcripts",
    "get_budgets",
    "get_alerts",
    "get_presets",
    "set_presets",
    "search",
    "get_limits",
    "get_host",
    "get_health",
    "get_metrics",
    "set_budgets",
    "set_alerts",
    "create_token",
    "decide_many",
}
"""Operations that need nothing to be there."""


async def test_every_route_answers_on_an_empty_host_and_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        for route in ROUTES:
            if route.name in ("watch_host", "watch_approvals"):
                continue
            reply = await client.ask(route.method, path_of(route), body_of(route))
            if route.name in ABOUT_NOTHING:
                assert reply.status == route.status, (route.name, reply.body)
            elif "{" in route.path:
                wanted = (503, "unavailable") if not hasattr(there.host, route.name) else (404, "not_found")
                assert (reply.status, reply.code) in (wanted, (404, "not_found")), (route.name, reply.body)
            else:  # folders of the examples
                assert (reply.status, reply.code) == (400, "invalid"), (route.name, reply.body)


async def test_a_session_is_started_prompted_approved_changed_and_ended_over_http(tmp_path: Path) -> None:
    async with served(tmp_path, turns=[ASKS, "Done."]) as there:
        client = there.client()
        made = await client.post(
            "/v1/sessions", {"cwd": str(there.place.cwd), "prompt": "go", "name": "first", "tags": ["a", "b"]}
        )
        assert made.status == 201
        session = f"/v1/sessions/{made.json['id']}"
        (asked,) = await pending(there.host)
        shown = (await client.get("/v1/approvals?kind=permission,questions&session=" + made.json["id"])).json
        assert [one["id"] for one in shown["approvals"]] == [asked.id]
        decided = await client.post(f"/v1/approvals/{asked.id}/decision", {"decision": "allow", "message": "fine"})
        assert (decided.status, decided.json["state"]) == (200, "decided")
        assert (decided.json["decided_by"], decided.json["via"]) == ({"kind": "token", "name": "admin"}, "http")
        late = await client.post(f"/v1/approvals/{asked.id}/decision", {"decision": "deny"})
        assert (late.status, late.code, late.json["decided_by"]) == (409, "already_decided", "admin")

        idle = await client.get(f"{session}/wait?for=idle&timeout_s=50")
        assert (idle.status, idle.json["state"]) == (200, "idle")
        renamed = await client.ask("PATCH", session, {"name": "second", "tags": [], "budget_usd": "12.5"})
        assert (renamed.json["name"], renamed.json.get("tags"), renamed.json["budget_usd"]) == ("second", None, "12.5")
        found = (await client.get("/v1/sessions?q=second&state=idle,running&limit=5")).json["sessions"]
        assert [one["id"] for one in found] == [made.json["id"]]

        prompted = await client.post(f"{session}/prompts", {"content": "more", "priority": "next"})
        assert prompted.status == 202
        assert prompted.json["seq"] > idle.json["seq"]
        assert (await client.get(f"{session}/wait")).json["state"] == "idle"
        log = (await client.get(f"{session}/events?limit=1000")).json
        assert [frame["seq"] for frame in log["frames"]] == list(range(1, log["last_seq"] + 1))
        half = (await client.get(f"{session}/events?after={log['epoch']}-5&limit=2")).json
        assert half["frames"] == log["frames"][5:7]
        raw = (await client.get(f"{session}/events?view=raw&limit=1000")).json["frames"]
        assert any(event["type"] == "raw_line" for frame in raw for event in frame["events"])
        assert (await client.get(f"{session}/timeline")).json["seq"] >= log["last_seq"]
        for look in ("info", "context", "mcp", "tasks", "stderr", "result", "prompts", "files?q=made"):
            assert (await client.get(f"{session}/{look}")).status == 200, look
        put = await client.post(f"{session}/uploads?name=a.png", b"\x89PNG", headers={"Content-Type": "image/png"})
        assert (put.status, put.json["media_type"], put.json["size_bytes"]) == (201, "image/png", 4)
        assert (await client.post(f"{session}/events", {"type": "ci", "data": {"ok": True}})).status == 202
        exported = await client.get(f"{session}/export?format=html")
        assert exported.headers["content-type"].startswith("text/html")
        assert exported.headers["content-security-policy"].startswith("sandbox")
        assert exported.headers["content-disposition"].startswith("attachment")

        assert (await client.post(f"{session}/stop")).status == 200
        assert (await client.get(session)).json["state"] == "stopped"
        audit = (await client.get(f"/v1/audit?session={made.json['id']}&who=admin")).json["audit"]
        assert {"create_session", "decide", "update_session", "stop"} <= {entry["operation"] for entry in audit}
        assert {entry["via"] for entry in audit} == {"http"}
        assert (await client.ask("DELETE", session)).status == 200
        assert (await client.get(session)).code == "not_found"


async def test_a_write_with_a_key_happens_once_and_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        body, key = {"cwd": str(there.place.cwd), "prompt": "go"}, {"Idempotency-Key": "k-1"}
        first = await client.post("/v1/sessions", body, headers=key)
        again = await client.post("/v1/sessions", body, headers=key)
        assert (first.status, again.status) == (201, 201)
        assert first.json == again.json
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
        other = await client.post("/v1/sessions", {**body, "prompt": "stop"}, headers=key)
        assert (other.status, other.code) == (409, "conflict")
        assert len((await client.get("/v1/sessions")).json["sessions"]) == 1


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"], ids=["empty", "long", "control"])
async def test_a_key_that_makes_no_sense_is_refused(tmp_path: Path, key: str) -> None:
    async with served(tmp_path) as there:
        reply = await there.client().ask("PUT", "/v1/budgets", {"day_usd": "1"}, headers={"Idempotency-Key": key})
        assert (reply.status, reply.json["field"]) == (400, "Idempotency-Key")


async def test_a_secret_is_never_kept_for_a_repeat(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        wanted = {"name": "x", "scope": "read"}
        first, again = [
            await there.client().post("/v1/tokens", wanted, headers={"Idempotency-Key": "k"}) for _ in range(2)
        ]
        assert first.json.pop("secret").startswith("qd_")
        assert first.json["id"] == again.json["id"]
        assert "secret" not in again.json


async def test_a_path_that_is_not_there_and_a_method_that_is_not_for_it_are_told_apart(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        assert (await client.get("/v1/nothing")).code == "not_found"
        assert (await client.get("/v1/sessions/a/b/c")).code == "not_found"
        wrong = await client.ask("DELETE", "/v1/sessions")
        assert (wrong.status, wrong.headers["allow"]) == (405, "GET, POST")
        assert (await client.post("/docs")).headers["allow"] == "GET"
        assert (await client.get("/v1/ws")).status == 426


async def test_health_is_for_everybody_but_its_reasons_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(tmp_path) as there:
        monkeypatch.setattr("quarterdeck.host.status_operations.LOW_DISK_BYTES", 2**62)
        anybody, known = there.client(None), there.client()
        alive, ready = await anybody.get("/healthz"), await anybody.get("/readyz")
        assert (alive.status, alive.json) == (200, {"ready": False})
        assert (ready.status, ready.json) == (503, {"ready": False})
        assert "bytes left" in (await known.get("/readyz")).json["problems"][0]


async def test_tcp_and_unix_socket_serve_the_same_host_at_once(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session(prompt=None)
        for unix in (False, True):
            assert (await there.client(unix=unix).get(f"/v1/sessions/{session}")).json["id"] == session
            assert (await there.client(None, unix=unix).get("/v1/host")).status == 401
        assert oct(there.unix.stat().st_mode & 0o777) == "0o600"
    assert not there.unix.exists()


async def test_large_answers_are_compressed_for_those_who_take_it(tmp_path: Path) -> None:
    import gzip
    import json

    async with served(tmp_path) as there:
        client = there.client()
        packed = await client.get("/openapi.json", headers={"Accept-Encoding": "br, gzip"})
        plain = await client.get("/openapi.json")
        assert packed.headers["content-encoding"] == "gzip"
        assert "content-encoding" not in plain.headers
        assert len(packed.body) < len(plain.body) / 4
        assert json.loads(gzip.decompress(packed.body)) == plain.json
        refused = await client.get("/openapi.json", headers={"Accept-Encoding": "gzip;q=0"})
        assert "content-encoding" not in refused.headers
        session = await there.session(prompt=None)
        await there.host.add_event(AddEvent(session_id=session, type="long", data={"text": "x" * 200_000}))
        events = f"/v1/sessions/{session}/events"
        long = await client.get(events, headers={"Accept-Encoding": "gzip"})
        assert json.loads(gzip.decompress(long.body)) == (await client.get(events)).json
        small = await client.get("/healthz", headers={"Accept-Encoding": "gzip"})
        assert "content-encoding" not in small.headers


def test_the_tables_of_the_page_are_fresh() -> None:
    page = PAGE.read_text("utf-8")
    assert page == with_tables(page), "write them anew: PYTHONPATH=tests python -m gateways.http.route_table"
