"""Who is told when something waits, crashes, finishes or costs too much; and that telling never disturbs a session."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, LIMIT_S, Place, decide, frames_until, next_turn, pending
from quarterdeck.host import Host, HostError, alert_operations, name_lookup
from quarterdeck.host.alert_delivery import SECRET_FILE
from quarterdeck.host.alerts import may_reach
from quarterdeck.host.requests import CreateSession, ListAudit, Nothing, SendPrompt, Settings


class Receiver:
    """A web server that keeps what it is sent, and answers as it is told."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        """Statuses to give first; 200 after them. 0: never answer."""
        self.closing = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((dict(self.headers), body))
                status = receiver.answers.pop(0) if receiver.answers else 200
                if status == 0:
                    receiver.closing.wait()
                    return
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", f"{receiver.url}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def notices(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]

    async def until(self, count: int) -> list[dict[str, Any]]:
        while len(self.got) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return self.notices


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    one = Receiver()
    yield one
    one.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alert_operations, "RETRIES_S", (0.01, 0.01, 0.02))


async def alert(host: Host, target: str | list[str], *on: str, **more: Any) -> None:
    to = {"url": target} if isinstance(target, str) else {"command": target}
    settings = {"alerts": [{"on": list(on), **to, **more}], "private_hosts": ["127.0.0.0/8"]}
    await host.set_alerts(Settings(settings=settings))


async def failures(host: Host) -> list[str]:
    entries = (await host.list_audit(ListAudit())).audit
    return [str(entry.details) for entry in entries if entry.operation == "alert_failed"]


async def test_a_waiting_approval_a_finished_turn_and_a_crash_are_told_once_each_and_signed(
    place: Place, receiver: Receiver
) -> None:
    place.claude.play([ASKS, "Made."], [{"exit": 3}])
    async with place.opened() as host:
        await alert(host, receiver.url, "approval", "finished", "crashed")
        session = await place.created(host, name="The checkout")
        (asked,) = await pending(host)
        (waits,) = await receiver.until(1)
        assert (waits["kind"], waits["name"], waits["approval"]["id"]) == ("approval", "The checkout", asked.id)
        assert waits["approval"]["tool"] == "Bash"
        await decide(host, asked)
        assert (await receiver.until(2))[1]["kind"] == "finished"
        await frames_until(host, session.id, "idle")
        await host.send_prompt(SendPrompt(session_id=session.id, content="again"))
        assert [notice["kind"] for notice in await receiver.until(3)] == ["approval", "finished", "crashed"]
    secret = (place.folder / SECRET_FILE).read_bytes()
    assert (place.folder / SECRET_FILE).stat().st_mode & 0o777 == 0o600
    for headers, body in receiver.got:
        moment, _, signed = headers["Quarterdeck-Signature"].removeprefix("t=").partition(",v1=")
        assert signed == hmac.new(secret, f"{moment}.".encode() + body, hashlib.sha256).hexdigest()


async def test_an_approval_is_told_when_it_has_waited_long_enough(place: Place, receiver: Receiver) -> None:
    place.claude.play([ASKS, "Made."])
    now = [time.time()]
    async with place.opened(clock=lambda: now[0]) as host:
        await alert(host, receiver.url, "approval", after_s=60)
        await place.created(host)
        (asked,) = await pending(host)
        now[0] += 59
        for _ in range(3):
            host.bell.ring()
            await asyncio.sleep(2 * alert_operations.PACE_S)
        assert receiver.got == []
        now[0] += 2
        (notice,) = await receiver.until(1)
        assert 60 <= notice["approval"]["waited_s"] < 70
        await decide(host, asked)


async def test_a_decided_approval_is_not_told(place: Place, receiver: Receiver) -> None:
    place.claude.play([ASKS, "Made."])
    now = [time.time()]
    async with place.opened(clock=lambda: now[0]) as host:
        await alert(host, receiver.url, "approval", "finished", after_s=60)
        await place.created(host)
        await decide(host, (await pending(host))[0])
        await receiver.until(1)
        now[0] += 120
        host.bell.ring()
        await asyncio.sleep(2 * alert_operations.PACE_S)
        assert [notice["kind"] for notice in receiver.notices] == ["finished"]


async def test_a_receiver_that_fails_is_tried_again_with_the_same_id(
    place: Place, receiver: Receiver, quick: None
) -> None:
    receiver.answers = [500, 503]
    place.claude.play(["Done."])
    async with place.opened() as host:
        await alert(host, receiver.url, "finished")
        await place.created(host)
        await receiver.until(3)
        assert len({headers["Quarterdeck-Delivery"] for headers, _ in receiver.got}) == 1
        while await host.store.effects():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert await failures(host) == []


@pytest.mark.parametrize("status", [302, 404, 500])
async def test_what_cannot_be_delivered_is_given_up_and_audited(
    place: Place, receiver: Receiver, quick: None, status: int
) -> None:
    receiver.answers = [status] * 10
    place.claude.play(["Done."])
    async with place.opened() as host:
        await alert(host, receiver.url, "finished")
        await place.created(host)
        while not (failed := await failures(host)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert str(status) in failed[0]
        assert await host.store.effects() == []
        assert all("elsewhere" not in body.decode() for _, body in receiver.got)
        assert len(receiver.got) == (1 if status == 404 else 4)


async def test_a_private_address_is_refused_unless_it_is_listed(place: Place, receiver: Receiver) -> None:
    place.claude.play(["Done."])
    async with place.opened() as host:
        await host.set_alerts(Settings(settings={"alerts": [{"on": ["finished"], "url": receiver.url}]}))
        await place.created(host)
        while not (failed := await failures(host)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert "private address" in failed[0]
        assert receiver.got == []


@pytest.mark.parametrize(
    ("name", "address", "listed", "may"),
    [
        ("example.com", "93.184.216.34", [], True),
        ("inside.example", "10.1.2.3", [], False),
        ("inside.example", "10.1.2.3", ["10.0.0.0/8"], True),
        ("inside.example", "10.1.2.3", ["INSIDE.example"], True),
        ("inside.example", "10.1.2.3", ["other.example", "192.168.0.0/16"], False),
        ("localhost", "127.0.0.1", [], False),
        ("localhost", "::1", [], False),
        ("mapped", "::ffff:127.0.0.1", [], False),
        ("metadata", "169.254.169.254", [], False),
        ("link", "fe80::1%eth0", [], False),
        ("all", "0.0.0.0", [], False),  # noqa: S104 (an address that must be refused)
        ("many", "224.0.0.1", [], False),
        ("translated", "64:ff9b::a9fe:a9fe", [], False),
        ("translated", "64:ff9b::a01:203", ["10.0.0.0/8"], True),
        ("translated", "64:ff9b::5db8:d822", [], True),
        ("local translation", "64:ff9b:1::1", [], False),
        ("6to4", "2002:7f00:1::1", [], False),
        ("teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2", [], False),
        ("compatible", "::127.0.0.1", [], False),
        ("translated for siit", "::ffff:0:10.0.0.1", [], False),
        ("site", "fec0::1", [], False),
        ("public", "2606:4700::1111", [], True),
    ],
)
def test_which_addresses_may_be_told(name: str, address: str, listed: list[str], may: bool) -> None:
    assert may_reach(name, address, listed) is may


async def test_a_receiver_that_never_answers_delays_no_session_and_no_other_alert(
    place: Place, receiver: Receiver, tmp_path: Path
) -> None:
    receiver.answers = [0] * 50
    heard = tmp_path / "heard"
    heard.mkdir()
    keep = f"cat > {heard}/$$.part && mv {heard}/$$.part {heard}/$$.json"
    place.claude.play(*[[f"Turn {number}."] for number in range(6)])
    async with place.opened() as host:
        settings = {
            "alerts": [
                {"on": ["finished"], "url": receiver.url},
                {"on": ["finished"], "command": ["/bin/sh", "-c", keep]},
            ],
            "private_hosts": ["127.0.0.1"],
        }
        await host.set_alerts(Settings(settings=settings))
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        for _ in range(5):
            await next_turn(host, session.id)
        while len(list(heard.glob("*.json"))) < 6:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert {json.loads(file.read_text())["kind"] for file in heard.glob("*.json")} == {"finished"}


async def test_name_servers_that_hang_delay_no_other_alert_and_are_given_up(
    place: Place, receiver: Receiver, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    hang, asked, resolve = threading.Event(), list[str](), socket.getaddrinfo

    def resolver(name: str, *more: Any, **options: Any) -> Any:
        if name.endswith(".example"):
            asked.append(name)
            hang.wait()
            raise socket.gaierror("it has given up")
        return resolve(name, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    monkeypatch.setattr(name_lookup, "LOOKUP_S", 0.2)
    names = [f"hook-{number}.example" for number in range(20)]
    url = receiver.url.replace("127.0.0.1", "localhost")
    targets = [*(f"https://{name}/" for name in names), url]
    place.claude.play(["One."], ["Two."])
    try:
        async with place.opened() as host:
            alerts = [{"on": ["finished"], "url": target} for target in targets]
            await host.set_alerts(Settings(settings={"alerts": alerts, "private_hosts": ["localhost"]}))
            session = await place.created(host)
            await receiver.until(1)
            await next_turn(host, session.id)
            await receiver.until(2)
            while len(await failures(host)) < 2 * len(names):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            assert sorted(asked) == sorted(names)  # the tries of one name share its lookup
            assert {"cannot resolve" in one for one in await failures(host)} == {True}
            assert await host.store.effects() == []
    finally:
        hang.set()


async def test_what_was_not_delivered_when_the_host_ended_is_delivered_by_the_next(
    place: Place, receiver: Receiver
) -> None:
    receiver.answers = [500]
    place.claude.play(["Done."])
    async with asyncio.timeout(LIMIT_S), place.host() as host:
        await alert(host, receiver.url, "finished")
        await place.created(host)
        await receiver.until(1)
    async with place.opened() as host:
        first, second = await receiver.until(2)
        assert first == second
        while await host.store.effects():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert len(receiver.got) == 2


async def test_a_host_that_starts_again_tells_nothing_twice(place: Place, receiver: Receiver) -> None:
    place.claude.play([ASKS, "Made."], ["Again."])
    async with asyncio.timeout(LIMIT_S), place.host() as host:
        await alert(host, receiver.url, "approval", "finished", "crashed")
        await place.created(host)
        await receiver.until(1)
        while await host.store.effects():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    async with place.opened() as host:
        session = await place.created(host, "another")
        await frames_until(host, session.id, "waiting", "idle")
        await asyncio.sleep(2 * alert_operations.PACE_S)
        kinds = [notice["kind"] for notice in receiver.notices if notice["session_id"] != session.id]
        assert kinds[0] == "approval"
        assert kinds.count("approval") == 1


async def test_a_budget_of_a_session_and_of_the_host_is_told(place: Place, receiver: Receiver) -> None:
    place.claude.play(["Dear."])
    async with place.opened() as host:
        await host.set_budgets(Settings(settings={"day_usd": "0.000001"}))
        await alert(host, receiver.url, "budget")
        await place.created(host, budget_usd=Decimal("0.000001"))
        told = {"session_id" in notice: notice["budget"]["state"] for notice in await receiver.until(2)}
        assert told == {True: "reached", False: "reached"}


async def test_an_alert_is_about_its_folder_alone(place: Place, receiver: Receiver) -> None:
    place.claude.play(["Done."])
    (place.cwd / "below").mkdir()
    async with place.opened() as host:
        await alert(host, receiver.url, "finished", cwd=str(place.cwd / "below"))
        session = await place.created(host)
        await frames_until(host, session.id, "idle")
        below = await host.create_session(CreateSession(cwd=str(place.cwd / "below"), prompt="go"))
        (notice,) = await receiver.until(1)
        assert notice["session_id"] == below.id


@pytest.mark.parametrize(
    "bad",
    [
        {"alerts": [{"on": ["approval"]}]},
        {"alerts": [{"on": [], "url": "https://example.com"}]},
        {"alerts": [{"on": ["sneeze"], "url": "https://example.com"}]},
        {"alerts": [{"on": ["crashed"], "url": "ftp://example.com"}]},
        {"alerts": [{"on": ["crashed"], "url": "https://"}]},
        {"alerts": [{"on": ["crashed"], "url": "https://a:b@example.com"}]},
        {"alerts": [{"on": ["crashed"], "url": "https://example.com:99999"}]},
        {"alerts": [{"on": ["crashed"], "url": "https://example.com/\r\nX: y"}]},
        {"alerts": [{"on": ["crashed"], "url": "https://example.com", "command": ["/bin/true"]}]},
        {"alerts": [{"on": ["crashed"], "command": []}]},
        {"alerts": [{"on": ["crashed"], "command": ["true"]}]},
        {"alerts": [{"on": ["crashed"], "command": ["/bin/true", "a\0b"]}]},
        {"alerts": [{"on": ["approval"], "command": ["/bin/true"], "after_s": -1}]},
        {"alerts": [{"on": ["approval"], "command": ["/bin/true"]}] * 101},
        {"private_hosts": ["10.0.0.0/99"]},
        {"alarm": []},
    ],
    ids=str,
)
async def test_alerts_that_could_never_be_delivered_are_refused(place: Place, bad: dict[str, Any]) -> None:
    async with place.opened() as host:
        with pytest.raises(HostError) as refused:
            await host.set_alerts(Settings(settings=bad))
        assert refused.value.code == "invalid"
        assert (await host.get_alerts(Nothing())).details == {"alerts": []}


async def test_alerts_are_kept(place: Place) -> None:
    alerts = {"alerts": [{"on": ["approval"], "url": "https://example.com/hook"}]}
    async with place.host() as host:
        assert (await host.get_alerts(Nothing())).details == {"alerts": []}
        assert (await host.set_alerts(Settings(settings=alerts))).details == alerts
    async with place.host() as host:
        assert (await host.get_alerts(Nothing())).details == alerts


async def test_an_empty_key_signs_nothing(place: Place, receiver: Receiver) -> None:
    """A host that died while it made the key, say."""
    place.claude.play(["Done."])
    place.folder.mkdir(parents=True)
    (place.folder / SECRET_FILE).touch()
    async with place.opened() as host:
        await alert(host, receiver.url, "finished")
        await place.created(host)
        await receiver.until(1)
    assert len((place.folder / SECRET_FILE).read_bytes()) == 64
