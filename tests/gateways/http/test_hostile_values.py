"""Every field of every route with texts that nobody means: each is answered as described, none is a fault of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

import soak
from gateways.http.kit import served
from quarterdeck.gateways.http import Settings, examples
from quarterdeck.gateways.http.decoding import path_fields, shape_of
from quarterdeck.gateways.http.openapi import document
from quarterdeck.gateways.http.routes import ROUTES, Route

PATHS = (
    "/",
    "//",
    "~",
    "~root",
    ".",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    "/dev/zero",
    "/proc/self/mem",
    "x/" * 3_000,
)
LONG = ("x" * 300, "x" * 5_000, "a" * 30_000, "é" * 130, "9" * 40)
ODD = ("", " ", "\n", "a\tb", "a\rb", "a\x7fb", "\x1b[31m", "\u202e", "%", "%s", "%00", "*", "[", "(", "\\", "'", '"')
SHELL = ("-", "--help", "${HOME}", "$(id)", "`id`", "'; drop table session", "@{-1}", "HEAD", "refs/heads/x", "a:b")
VALUES = (
    "null",
    "true",
    "0",
    "-1",
    "1e400",
    "NaN",
    "2020-13-45",
    "0-0",
    "x-1",
    "-".join("1" * 50),
    "http://127.0.0.1:1/",
)
TEXTS = (*PATHS, *LONG, *ODD, *SHELL, *VALUES)
ASKED = [route for route in ROUTES if not route.streams and route.name not in ("wait", "get_metrics")]
Case = tuple[Route, str, Any]
"""A route, its path with what is in its query, and its body."""


def url(route: Route, in_path: dict[str, str], query: dict[str, str]) -> str:
    needed = {field.encode_name: "x" for field in shape_of(route).query if field.required}
    path = route.path.format(**{name: quote(value, safe="") for name, value in in_path.items()})
    return f"{path}?{urlencode(needed | query)}" if needed | query else path


def cases(session: str, cwd: str) -> Iterator[Case]:
    """Each text in the place of each field, with the rest as it may be."""
    known = {**examples.PATHS, "session_id": session}
    for route in ASKED:
        body = shape_of(route).body
        fields = msgspec.structs.fields(body) if isinstance(body, type) and issubclass(body, msgspec.Struct) else ()
        whole = {field.encode_name: cwd if field.name == "cwd" else "x" for field in fields if field.required}
        for text in TEXTS:
            for name in path_fields(route):
                yield route, url(route, known | {name: text}, {}), whole or None
            for field in shape_of(route).query:
                yield route, url(route, known, {field.encode_name: text}), None
            for field in fields:
                yield route, url(route, known, {}), whole | {field.encode_name: text}


async def test_no_text_in_any_field_is_a_fault_or_answered_otherwise_than_described(tmp_path: Path) -> None:
    described = document()["paths"]
    wrong: list[Any] = []
    async with served(tmp_path, Settings(requests_per_s=1e6), limit_s=4 * 3_600.0 if soak.ON else 300.0) as there:
        client, session = there.client(), await there.session(prompt=None)
        for route, path, body in soak.part(list(cases(session, str(there.place.cwd))), 300):
            reply = await client.ask(route.method, path, body)
            documented = described[route.path][route.method.lower()]["responses"]
            elsewhere = reply.status in (404, 405)  # a path with an empty word in it is another one
            if reply.status >= 500 or (str(reply.status) not in documented and not elsewhere):
                wrong.append((route.name, path[:200], str(body)[:200], reply.status, reply.body[:200]))
    assert not wrong
