"""Requests made up from ``/openapi.json``: no fault of ours, no status and no answer that it does not describe."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import soak
from gateways.http.kit import Served, served
from quarterdeck.gateways.http import Settings
from quarterdeck.gateways.http.openapi import document
from quarterdeck.gateways.http.routes import ROUTES, SOCKET
from quarterdeck.host import Host

EXAMPLES = soak.cases(5, in_soak=330)
"""For each of about sixty operations."""
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ANSWERED_LATER = {route.path for route in ROUTES if route.streams or route.name == "wait"} | {SOCKET}
NOT_THERE_YET = {route.path for route in ROUTES if not hasattr(Host, route.name)}
SCHEMA = schemathesis.openapi.from_dict(json.loads(json.dumps(document())))


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A host in a loop of its own, with one session."""
    ready, leave = threading.Event(), threading.Event()
    found: list[tuple[Served, str]] = []

    async def serve(root: Path) -> None:
        async with served(root, Settings(requests_per_s=1e6, attempts=1_000_000)) as one:
            found.append((one, await one.session(prompt=None)))
            ready.set()
            await asyncio.to_thread(leave.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve(tmp_path_factory.mktemp("schema"))))
    thread.start()
    assert ready.wait(60)
    yield found[0]
    leave.set()
    thread.join()


def operations() -> Iterator[Any]:
    for found in SCHEMA.get_all_operations():
        operation = found.ok()
        if operation.path not in ANSWERED_LATER | NOT_THERE_YET:
            yield operation


def test_what_is_made_up_from_the_description_is_answered_as_described(there: tuple[Served, str]) -> None:
    one, session = there
    host, port = one.tcp
    tried = 0
    for operation in operations():

        @settings(
            max_examples=EXAMPLES,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
            database=None,
        )
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            nonlocal tried
            tried += 1
            if "session_id" in (case.path_parameters or {}) and case.method != "DELETE":
                case.path_parameters["session_id"] = session
            case.call_and_validate(
                base_url=f"http://{host}:{port}",
                headers={"Authorization": f"Bearer {one.admin.secret}"},
                checks=CHECKS,
                timeout=30,
            )

        ask()
    assert tried >= 200
