"""Requests made up from ``/openapi.json``: no fault of ours, no status and no answer that it does not describe."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Flaky
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import soak
from gateways.http.kit import Served, served
from host.kit import ASKS, LIMIT_S
from host.test_hostile_git import made as make_repository
from quarterdeck.gateways.http import Settings
from quarterdeck.gateways.http.openapi import document
from quarterdeck.gateways.http.routes import ROUTES
from quarterdeck.host import Host, HostError
from quarterdeck.host.requests import ListApprovals, ListSessions, OfSession, Wait

EXAMPLES = soak.cases(5, in_soak=200)
"""For each of about eighty operations: with the scenarios, more than 20,000 requests in a soak."""
SCENARIOS = soak.cases(12, in_soak=900)
REQUESTS = soak.cases(50, in_soak=8_000)
"""In all of them together, at least."""
STEPS = soak.cases(15, in_soak=30)
"""Of each scenario, at most: requests that follow from the answers before them."""
RUNS_S = 4 * 3_600.0 if soak.ON else 300.0
"""For all of them: they share a host. A part of a soak may take as long as all of it, on a busy machine."""
FIRST = "the first"
PROMPT = "go"
WORKS = ("create_session", "fork", "send_prompt", "decide", "create_worktree")
"""Some of what must have succeeded in a soak."""
PRIVATE = {"agent", "account", "options", "worktree", "resume", "fork", "cli_version"}
"""What a new session is not given: that would start other programs, or use what is on this machine."""
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
STREAMS = {route.path for route in ROUTES if route.streams}
PATIENCE_S = 0.05
"""For ``wait``, which answers when something happens, or then."""
NOT_THERE_YET = {route.path for route in ROUTES if not hasattr(Host, route.name)}
SCHEMA = schemathesis.openapi.from_dict(json.loads(json.dumps(document())))


@dataclass
class There:
    """A host in a loop and a thread of its own."""

    served: Served
    session: str
    loop: asyncio.AbstractEventLoop

    def do(self, work: Callable[[Host], Coroutine[Any, Any, None]]) -> None:
        asyncio.run_coroutine_threadsafe(work(self.served.host), self.loop).result(LIMIT_S)


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[There]:
    ready, leave = threading.Event(), threading.Event()
    found: list[There] = []

    async def serve(root: Path) -> None:
        async with served(
            root, Settings(requests_per_s=1e6, attempts=1_000_000), limit_s=RUNS_S, turns=[ASKS, "Done."]
        ) as one:
            await asyncio.to_thread(make_repository, one.place.cwd)
            found.append(There(one, await one.session(prompt=None, name=FIRST), asyncio.get_running_loop()))
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
        if operation.path not in NOT_THERE_YET:
            yield operation


def test_what_is_made_up_from_the_description_is_answered_as_described(there: There) -> None:
    one, session = there.served, there.session
    host, port = one.tcp
    tried = refused = 0
    begun: Counter[str] = Counter()
    for operation in operations():

        @seed(soak.SEED)
        @settings(
            max_examples=EXAMPLES,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
            database=None,
        )
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            nonlocal tried, refused
            tried += 1
            if "session_id" in (case.path_parameters or {}) and case.method != "DELETE":
                case.path_parameters["session_id"] = session
            keep_at_home(case, str(one.place.cwd))
            be_patient(case)
            where: dict[str, Any] = {"base_url": f"http://{host}:{port}", "auth": authorized(one)}
            if case.operation.path in STREAMS:
                begun[case.operation.path] += look_at_stream(case, **where)
            else:
                answer = case.call(**where, timeout=30)
                case.validate_response(answer, checks=CHECKS)
                refused += answer.status_code == 401 and case.operation.definition.raw["operationId"] != "login"

        ask()
    print(f"{tried} requests")
    assert not refused, "what is not even read shows nothing"
    assert tried >= soak.cases(200, in_soak=13_000)
    assert +begun == begun, "a stream that never began shows nothing"
    assert set(begun) == STREAMS


def authorized(one: Served) -> Callable[[requests.PreparedRequest], requests.PreparedRequest]:
    """The token, also where a case is about leaving headers out: every fourth request would end there."""

    def authorize(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {one.admin.secret}"
        return request

    return authorize


def look_at_stream(case: Any, base_url: str, auth: Any) -> bool:
    """Whether it began, with what the description says; then it is left. A refusal is looked at as any answer."""
    asked = case.as_transport_kwargs(base_url=base_url)
    with requests.request(**asked, auth=auth, stream=True, timeout=30) as answer:
        if answer.status_code != 200:
            case.validate_response(schemathesis.Response.from_requests(answer, verify=True), checks=CHECKS)
            return False
        described = case.operation.definition.raw["responses"]["200"]["content"]
        assert answer.headers["content-type"].partition(";")[0] in described
        lines = answer.iter_lines(decode_unicode=True)
        assert "event: hello" in (next(lines), next(lines)), "its first line, or its second if it has an id"
        return True


def be_patient(case: Any) -> None:
    if case.operation.definition.raw["operationId"] == "wait":
        query = case.query if isinstance(case.query, dict) else {}
        given = query.get("timeout_s")
        if given is None or (isinstance(given, int | float) and given > PATIENCE_S):
            case.query = {**query, "timeout_s": PATIENCE_S}


def test_what_follows_from_answers_is_answered_as_described(there: There) -> None:
    one = there.served
    made_up = schemathesis.openapi.from_dict(json.loads(json.dumps(document())))
    for path in STREAMS | NOT_THERE_YET:
        made_up = made_up.exclude(path=path)
    sent: Counter[str] = Counter()
    followed: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    made = Made()
    wrong: list[Exception] = []
    played = 0

    class Workflow(made_up.as_state_machine()):  # type: ignore[misc]
        """Sessions are started, asked, decided about and ended, in any order that links allow."""

        def before_call(self, case: Any) -> None:
            make_sensible(case, str(one.place.cwd), there.session, made)
            if (case.path_parameters or {}).get("token_id") == one.admin.id:  # or nothing would follow from anything
                case.path_parameters["token_id"] = "another"

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"base_url": "http://{}:{}".format(*one.tcp), "timeout": 60, "auth": authorized(one)}

        def after_call(self, response: Any, case: Any) -> None:
            super().after_call(response, case)
            name = case.operation.definition.raw["operationId"]
            sent[name] += 1
            followed[name] += response.status_code < 400
            if response.status_code == 401:
                refused[name] += 1
            made.note(name, response, there)

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            try:
                case.validate_response(response, checks=CHECKS)
            except Exception as error:
                wrong.append(error)
                raise

        def teardown(self) -> None:
            nonlocal played
            played += 1
            there.do(end_sessions)
            made.approvals.clear()
            super().teardown()

    while played < SCENARIOS or sent.total() < REQUESTS:
        with contextlib.suppress(Flaky):  # the same requests may be answered otherwise: a turn ends when it ends
            seed(soak.SEED + played)(Workflow).run(
                settings=settings(
                    max_examples=max(SCENARIOS - played, 10),
                    stateful_step_count=STEPS,
                    suppress_health_check=list(HealthCheck),
                    phases=[Phase.generate],
                    deadline=None,
                    database=None,
                )
            )
        if wrong:
            raise wrong[0]
    print(f"{sent.total()} requests in {played} scenarios: {dict(followed)}")
    assert set(refused) <= {"login"}, "what is not even read shows nothing"
    assert made.sessions
    assert followed.total() >= sent.total() // 50
    assert soak.SHARE < 1 or +followed >= Counter(WORKS), "what never succeeds shows only how it is refused"


@dataclass
class Made:
    """What there is beside the first session."""

    sessions: set[str] = field(default_factory=set)
    approvals: list[str] = field(default_factory=list)
    """Those that wait in this scenario."""

    def note(self, name: str, response: Any, there: There) -> None:
        if response.status_code == 201 and name in ("create_session", "fork", "adopt_transcript"):
            self.sessions.add(response.json()["id"])
            if name == "create_session":
                there.do(self.look_at_approvals)

    async def look_at_approvals(self, host: Host) -> None:
        """When the sessions that were given a prompt have asked."""
        for session in (await host.list_sessions(ListSessions(limit=1_000))).sessions:
            if session.name != FIRST and session.state in ("starting", "running"):
                with contextlib.suppress(HostError):
                    await host.wait(Wait(session_id=session.id, for_=["waiting", "idle", "stopped"], timeout_s=10))
        self.approvals = [one.id for one in (await host.list_approvals(ListApprovals())).approvals]


def make_sensible(case: Any, cwd: str, session: str, made: Made) -> None:
    """Enough of what is made up is about something that exists, or nothing would follow from it."""
    name = case.operation.definition.raw["operationId"]
    asked = (case.path_parameters or {}).get("session_id")
    if asked is not None and asked not in made.sessions and len(asked) % 2 and name != "delete_session":
        case.path_parameters["session_id"] = session
    if made.approvals and name in ("get_approval", "decide"):
        case.path_parameters["approval_id"] = made.approvals[-1]
    if name == "create_session":
        if isinstance(case.body, dict) and len(case.body) % 4 == 3:
            case.body = {name: value for name, value in case.body.items() if name not in PRIVATE} | {"cwd": cwd}
        else:
            case.body = {"cwd": cwd, "prompt": PROMPT}
        case.headers.pop("Idempotency-Key", None)
    keep_at_home(case, cwd)
    be_patient(case)


def keep_at_home(case: Any, cwd: str) -> None:
    """Worktrees are those of the test's own repository, when they are any's."""
    if "worktree" not in case.operation.definition.raw["operationId"]:
        return
    for fields in (case.body, case.query):
        if isinstance(fields, dict) and isinstance(fields.get("cwd"), str) and len(fields["cwd"]) % 4:
            fields["cwd"] = cwd
        path = fields.get("path") if isinstance(fields, dict) else None
        if isinstance(path, str) and len(path) % 4 and not path.startswith(cwd):  # unless it is one that was made
            fields["path"] = f"{cwd}-{fields['path']}"


async def end_sessions(host: Host) -> None:
    """All but the first one."""
    for session in (await host.list_sessions(ListSessions(limit=1_000))).sessions:
        if session.name != FIRST:
            await host.delete_session(OfSession(session_id=session.id))
