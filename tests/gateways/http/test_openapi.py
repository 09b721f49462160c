"""``/openapi.json`` says what is read and written, with an example of everything; its page loads nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gateways.http.kit import served
from looping import for_each
from quarterdeck.gateways.http import documents, examples, messages, stream_schemas
from quarterdeck.gateways.http.decoding import shape_of
from quarterdeck.gateways.http.openapi import document
from quarterdeck.gateways.http.problems import STATUS
from quarterdeck.gateways.http.routes import BY_OPERATION, ROUTES, SOCKET, Route
from quarterdeck.host import resources
from quarterdeck.host.errors import CODES
from quarterdeck.host.events import EVENTS
from quarterdeck.host.resources import Details, Exported

DOCUMENT = document()


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def parts(value: Any) -> Iterator[Any]:
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(inner)


def test_every_route_is_described_once_with_its_answers_and_errors() -> None:
    described = {(method.upper(), path) for path, method, _ in operations()}
    assert described == {(route.method, route.path) for route in ROUTES} | {("POST", "/v1/login"), ("GET", "/v1/ws")}
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(names)) == len(names)
    for route in ROUTES:
        operation = DOCUMENT["paths"][route.path][route.method.lower()]
        assert {"400", "401", "403", "429", "503", str(route.status)} <= set(operation["responses"])
        assert operation["summary"] == route.operation.about
        named = {one["name"] for one in operation["parameters"] if one["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", route.path))


def test_references_lead_somewhere() -> None:
    for part in parts(DOCUMENT):
        if isinstance(part, dict) and isinstance(ref := part.get("$ref"), str):
            found = DOCUMENT
            for word in ref.removeprefix("#/").split("/"):
                found = found[word]


def test_links_give_operations_that_exist_parameters_that_they_have() -> None:
    by_name = {operation["operationId"]: operation for _, _, operation in operations()}
    linked = {
        name: DOCUMENT["components"]["links"].get(name) if "$ref" in link else link
        for _, _, operation in operations()
        for response in operation["responses"].values()
        for name, link in response.get("links", {}).items()
    }
    assert {"get_session", "withdraw_prompt", "decide", "revoke_token"} <= linked.keys()
    for name, link in linked.items():
        assert link["operationId"] == name
        parameters = by_name[name]["parameters"]
        assert set(link["parameters"]) <= {one["name"] for one in parameters}
        assert {one["name"] for one in parameters if one["in"] == "path"} <= set(link["parameters"])


def test_every_code_is_an_example_of_its_status() -> None:
    shown = {
        (code, int(status))
        for status, response in DOCUMENT["components"]["responses"].items()
        for code in response["content"]["application/problem+json"]["examples"]
    }
    assert {(code, STATUS[code]) for code in CODES} <= shown


def test_every_event_a_frame_may_carry_is_described() -> None:
    mapping = DOCUMENT["components"]["schemas"]["Event"]["discriminator"]["mapping"]
    assert set(mapping) == set(EVENTS)


def test_every_message_of_the_websocket_is_described() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    client, server = schemas["ClientMessage"], schemas["ServerMessage"]
    assert set(client["discriminator"]["mapping"]) == {"subscribe", "unsubscribe", "ping", *messages.COMMANDS}
    assert set(messages.COMMANDS) == set(BY_OPERATION)
    for message in (client, server):
        mapping = message["discriminator"]["mapping"]
        assert [one["$ref"] for one in message["oneOf"]] == list(mapping.values())
        for op, ref in mapping.items():
            assert op in words(schemas[ref.rpartition("/")[2]]), ref
    asked = DOCUMENT["paths"][SOCKET]["get"]["x-websocket"]
    assert asked["subprotocols"] == ["quarterdeck.v1", "bearer.{token}"]


def words(schema: dict[str, Any]) -> set[str]:
    """What ``op`` may be."""
    op = schema.get("properties", {}).get("op", {})
    forms = [*schema.get("anyOf", []), *schema.get("allOf", [])]
    return {
        *op.get("enum", []),
        *([op["const"]] if "const" in op else []),
        *(one for form in forms for one in words(form)),
    }


def test_every_event_of_a_stream_is_described() -> None:
    assert set(stream_schemas.EVENTS) == {route.name for route in ROUTES if route.streams}


WITH_BODY = [route for route in ROUTES if shape_of(route).body is not None]


@for_each("route", WITH_BODY, ids=lambda route: route.name)
def test_the_example_of_a_body_can_be_read(route: Route) -> None:
    shape = shape_of(route)
    example = examples.BODIES.get(route.name, {})
    shape.request({field.encode_name: "x" for field in shape.in_path}, b"", json.dumps(example).encode())


@for_each("route", ROUTES, ids=lambda route: route.name)
def test_the_example_of_an_answer_is_one(route: Route) -> None:
    returns = route.operation.returns
    if route.streams or returns is Exported or route.name == "get_metrics":
        return
    if returns is Details:
        assert examples.DETAILS[route.name]
        return
    example = examples.RETURNED[returns.__name__]
    read = msgspec.convert(example, getattr(resources, returns.__name__))
    assert msgspec.to_builtins(read) == example


@for_each("route", [route for route in ROUTES if route.name in examples.QUERIES], ids=lambda route: route.name)
def test_the_example_of_a_query_can_be_read(route: Route) -> None:
    shape = shape_of(route)
    query = "&".join(f"{name}={value}" for name, value in examples.QUERIES[route.name].items())
    shape.request({field.encode_name: "x" for field in shape.in_path}, query.encode(), b"")


async def test_the_documents_are_served_without_a_token_and_load_nothing_from_elsewhere(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client(None)
        page = await client.get("/docs")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        loaded = re.findall(r'(?:src|href)="([^"]+)"', page.body.decode())
        assert sorted(loaded) == ["docs.css", "docs.js"]
        for name in loaded:
            text = (await client.get(f"/{name}")).body.decode()
            assert "://" not in text
            assert "innerHTML" not in text
        assert (await client.get("/openapi.json")).json == DOCUMENT


async def test_a_code_from_the_terminal_logs_the_page_in_once(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        nobody = there.client(None)
        admin = await there.host.authenticate(there.admin.secret or "", via="http")
        code = there.gateway.codes.issue(admin)
        token = await nobody.post("/v1/login", {"code": code})
        assert (token.status, token.json["scope"], token.json["name"]) == (201, "admin", "page of admin")
        assert token.json["expires_at"]
        assert (await there.client(token.json["secret"]).get("/v1/tokens")).status == 200
        again = await nobody.post("/v1/login", {"code": code})
        assert (again.status, again.code) == (401, "unauthenticated")
        assert (await nobody.post("/v1/login", {"code": 1})).code == "invalid"


async def test_a_code_is_good_for_a_minute(tmp_path: Path) -> None:
    from host.kit import Clock

    clock = Clock()
    async with served(tmp_path, clock=clock) as there:
        code = there.gateway.codes.issue(await there.host.authenticate(there.admin.secret or ""))
        clock.now += 61
        assert (await there.client(None).post("/v1/login", {"code": code})).status == 401


def test_behind_a_base_path_the_document_names_it() -> None:
    assert document("/quarterdeck")["servers"] == [{"url": "/quarterdeck"}]
    home = documents.page("/", "/quarterdeck")
    assert home is not None
    assert b'href="/quarterdeck/app/' in home.body
