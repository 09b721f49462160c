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
from gateways.http.described import check_event
from gateways.http.kit import Served, served
from host.kit import ASKS, LIMIT_S
from host.test_hostile_git import made as make_repository
from quarterdeck.gateways.http import Settings
from quarterdeck.gateways.http.openapi import document
from quarterdeck.gateways.http.routes import ROUTES
from quarterdeck.host import Host, HostError
from quarterdeck.host.requests import CreateSession, ListApprovals, ListSessions, OfSession, Wait

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
SENSIBLE = {"send_prompt": {"content": PROMPT}, "decide": {"decision": "allow"}}
"""Bodies of most requests to what should work now and then."""
WORKS = ("create_session", "send_prompt", "decide")
"""Some of what must have succeeded."""
CONVERSATION = (
    *("create_session", "get_session", "list_sessions", "send_prompt", "list_prompts", "update_prompt"),
    *("withdraw_prompt", "list_approvals", "get_approval", "decide", "wait", "interrupt", "read_events", "fork"),
)
"""Without a soak, only these: of eighty operations, few would follow from each other in a few scenarios."""
IN_SOAK = ("fork", "create_worktree")
"""And, with so many requests, these."""
PRIVATE = {"agent", "account", "options", "worktree", "resume", "fork", "cli_version"}
"""What a new session is not given: that would start other programs, or use what is on this machine."""
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
STREAMS = {route.path for route in ROUTES if route.streams}
OF_SESSION = "/v1/sessions/{session_id}/stream"
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
        if operation.path in STREAMS:  # as a client begins: without a cursor
            bare = operation.Case(path_parameters={"session_id": session} if "{" in operation.path else {})
            looked_at = look_at_stream(bare, base_url=f"http://{host}:{port}", auth=authorized(one))
            assert looked_at == (2 if operation.path == OF_SESSION else 1)
            begun[operation.path] += 1
    print(f"{tried} requests")
    assert not refused, "what is not even read shows nothing"
    assert tried >= soak.cases(200, in_soak=13_000)
    assert +begun == begun, "a stream that never began shows nothing"
    assert set(begun) == STREAMS
    print(f"{dict(begun)} events of streams")


def authorized(one: Served) -> Callable[[requests.PreparedRequest], requests.PreparedRequest]:
    """The token, also where a case is about leaving headers out: every fourth request would end there."""

    def authorize(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {one.admin.secret}"
        return request

    return authorize


def look_at_stream(case: Any, base_url: str, auth: Any) -> int:
    """How many of its first events were looked at, if it began; then it is left. A refusal is any answer."""
    asked = case.as_transport_kwargs(base_url=base_url)
    with requests.request(**asked, auth=auth, stream=True, timeout=30) as answer:
        if answer.status_code != 200:
            case.validate_response(schemathesis.Response.from_requests(answer, verify=True), checks=CHECKS)
            return 0
        described = case.operation.definition.raw["responses"]["200"]["content"]
        assert answer.headers["content-type"].partition(";")[0] in described
        told = events_in(answer, case.path)
        kind, hello = next(told)
        assert kind == "hello"
        if something_follows(case, hello):
            kind, _ = next(told)
            assert (kind == "gap") == (hello["resume"] == "gap")
            return 2
        return 1


def something_follows(case: Any, hello: dict[str, Any]) -> bool:
    """At once: a gap, or what there was before the stream began."""
    if "resume" not in hello:
        return False
    given = (case.headers or {}).get("Last-Event-ID") or (case.query or {}).get("after")
    if hello["resume"] == "gap":
        return True
    if "pos" in hello:
        return bool(hello["pos"] < hello["last_pos"])
    return given is None and bool(hello["last_seq"])


def events_in(answer: requests.Response, path: str) -> Iterator[tuple[str, Any]]:
    """Each as the description has it."""
    kind = ""
    for line in answer.iter_lines(decode_unicode=True):
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            data = json.loads(value)
            check_event(path, kind, data)
            yield kind, data


def be_patient(case: Any) -> None:
    if case.operation.definition.raw["operationId"] == "wait":
        query = case.query if isinstance(case.query, dict) else {}
        given = query.get("timeout_s")
        if given is None or (isinstance(given, int | float) and given > PATIENCE_S):
            case.query = {**query, "timeout_s": PATIENCE_S}


def what_answers() -> Any:
    """The description without streams."""
    made_up = schemathesis.openapi.from_dict(json.loads(json.dumps(document())))
    for path in STREAMS | NOT_THERE_YET:
        made_up = made_up.exclude(path=path)
    return made_up if soak.ON else made_up.include(operation_id=[*CONVERSATION])


def test_what_follows_from_answers_is_answered_as_described(there: There) -> None:
    one = there.served
    sent: Counter[str] = Counter()
    followed: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    made = Made(str(one.place.cwd))
    wrong: list[Exception] = []
    played = 0

    class Workflow(what_answers().as_state_machine()):  # type: ignore[misc]
        """Sessions are started, asked, decided about and ended, in any order that links allow."""

        def setup(self) -> None:
            super().setup()
            there.do(made.ask)

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
            refused[name] += response.status_code == 401
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
    print(f"{sent.total()} requests in {played} scenarios: {dict(followed)} of {dict(sent)}")
    assert set(+refused) <= {"login"}, "what is not even read shows nothing"
    assert made.sessions
    assert followed.total() >= sent.total() // (50 if soak.ON else 4)
    assert not never(followed), "what never succeeds shows only how it is refused"


def never(followed: Counter[str]) -> set[str]:
    """What must have succeeded, and has not."""
    return {*WORKS, *(IN_SOAK if soak.SHARE >= 1 else ())} - set(+followed)


@dataclass
class Made:
    """What there is beside the first session."""

    cwd: str
    asked: int = 0
    sessions: set[str] = field(default_factory=set)
    approvals: list[str] = field(default_factory=list)
    """Those that wait in this scenario."""

    def note(self, name: str, response: Any, there: There) -> None:
        if response.status_code == 201 and name in ("create_session", "fork", "adopt_transcript"):
            self.sessions.add(response.json()["id"])
            if name == "create_session":
                there.do(self.look_at_approvals)

    async def ask(self, host: Host) -> None:
        """A session that waits for a decision, in every third scenario."""
        self.asked += 1
        if self.asked % 3:
            return
        session = await host.create_session(CreateSession(cwd=self.cwd, prompt=PROMPT))
        self.sessions.add(session.id)
        await self.look_at_approvals(host)

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
    if name in SENSIBLE and len(str(case.body)) % 4:
        case.body, case.query, case.media_type = SENSIBLE[name], {}, "application/json"
        case.headers.pop("Idempotency-Key", None)
        if name == "send_prompt":
            case.path_parameters["session_id"] = session
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
