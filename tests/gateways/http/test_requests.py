"""What is sent is read strictly, and what is wrong with it is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateways.http.kit import served
from looping import for_each
from quarterdeck.gateways.http.decoding import shape_of
from quarterdeck.gateways.http.routes import BY_OPERATION
from quarterdeck.host import HostError, requests


def read(name: str, *, path: dict[str, str] | None = None, query: str = "", body: bytes = b"") -> Any:
    return shape_of(BY_OPERATION[name]).request(path or {}, query.encode(), body, "text/plain")


def test_a_query_is_read_into_the_types_of_its_fields() -> None:
    assert read("list_sessions", query="state=idle,running&tag=a&tag=b&archived=true&limit=7&q=%C3%A4") == (
        requests.ListSessions(state=["idle", "running"], tag=["a", "b"], archived=True, limit=7, q="ä")
    )
    wait = read("wait", path={"session_id": "s"}, query="for=idle,stopped&timeout_s=1.5")
    assert wait == requests.Wait(session_id="s", for_=["idle", "stopped"], timeout_s=1.5)
    usage = read("get_usage", query="by=day,model&from=2026-01-01T00:00:00Z")
    assert (usage.by, usage.since.year) == (["day", "model"], 2026)


def test_a_body_is_merged_with_the_path() -> None:
    decided = read("decide", path={"approval_id": "a"}, body=b'{"decision":"deny","message":"no"}')
    assert decided == requests.Decide(approval_id="a", decision=requests.Decision(decision="deny", message="no"))
    assert read("set_budgets", body=b'{"day_usd":"3"}') == requests.Settings(settings={"day_usd": "3"})
    changed = read("update_session", path={"session_id": "s"}, body=b'{"model":null}')
    assert changed == requests.UpdateSession(session_id="s", model=None)
    put = read("upload", path={"session_id": "s"}, query="name=a.txt", body=b"\0\1")
    assert put == requests.Upload(session_id="s", name="a.txt", media_type="text/plain", body=b"\0\1")
    assert read("stop", path={"session_id": "s"}) == read("stop", path={"session_id": "s"}, body=b"{}")


@for_each(
    ("name", "query", "field"),
    [
        ("list_sessions", "surprise=1", "surprise"),
        ("list_sessions", "limit=1&limit=2", "limit"),
        ("list_sessions", "limit=1e3", "limit"),
        ("list_sessions", "limit=%EF%BC%91", "limit"),
        ("list_sessions", "limit=99999999999999999999999", "limit"),
        ("list_sessions", "archived=1", "archived"),
        ("list_sessions", "archived=True", "archived"),
        ("list_sessions", "state=sleeping", "state[0]"),
        ("list_sessions", "q=a%00b", "q"),
        ("list_sessions", "q=%ff", "query"),
        ("get_usage", "from=yesterday", "from"),
        ("watch_host", "after=nan", "after"),
    ],
)
def test_a_query_that_makes_no_sense_names_its_field(name: str, query: str, field: str) -> None:
    with pytest.raises(HostError) as refused:
        read(name, query=query)
    assert (refused.value.code, refused.value.details.get("field")) == ("invalid", field)


@for_each(
    ("name", "body", "field"),
    [
        ("create_session", b'{"cwd":"/x","surprise":1}', "surprise"),
        ("create_session", b"{}", "cwd"),
        ("create_session", b'{"cwd":1}', "cwd"),
        ("create_session", b'{"cwd":"/x","tags":["a",2]}', "tags[1]"),
        ("create_session", b'{"cwd":"/x","fork":0}', "fork"),
        ("create_session", b'{"cwd":"/x\\u0000"}', "cwd"),
        ("create_session", b'{"cwd":"/x","lifecycle":{"surprise":1}}', "lifecycle.surprise"),
        ("create_session", b"", "body"),
        ("create_session", b"[", "body"),
        ("create_session", b'{"cwd":"\xff"}', "body"),
        ("decide_many", b'{"filter":{},"decision":{"decision":"maybe"}}', "decision.decision"),
    ],
)
def test_a_body_that_makes_no_sense_names_its_field(name: str, body: bytes, field: str) -> None:
    with pytest.raises(HostError) as refused:
        read(name, body=body)
    assert (refused.value.code, refused.value.details.get("field")) == ("invalid", field)


def test_nesting_without_end_is_refused_and_not_followed() -> None:
    for body in (b'{"cwd":"/x","options":' + b'{"a":' * 200_000, b'{"cwd":"/x","prompt":' + b"[" * 200_000):
        with pytest.raises(HostError) as refused:
            read("create_session", body=body)
        assert refused.value.code == "invalid"


async def test_errors_are_problem_documents_with_everything_that_helps(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        reply = await there.client().post("/v1/sessions", {"cwd": "/nowhere/at/all"})
        assert reply.status == 400
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.json == {
            "type": "urn:quarterdeck:error:invalid",
            "title": "The request is invalid",
            "status": 400,
            "detail": "There is no folder /nowhere/at/all.",
            "code": "invalid",
            "field": "cwd",
        }


async def test_a_body_must_be_json_and_say_so(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            reply = await client.post("/v1/policy/explain", b"{}", headers={"Content-Type": kind})
            assert (reply.status, reply.json["field"]) == (415, "Content-Type")
        fine = await client.post(
            "/v1/policy/explain", b"{}", headers={"Content-Type": "application/json; charset=utf-8"}
        )
        assert fine.json["field"] == "tool"
