"""Who gets in: tokens, names, origins, proxies, limits. And the attacks that must not."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from certificates import certificate
from gateways.http.kit import Client, Messages, Served, read_reply, served
from host.kit import Clock
from looping import for_each
from quarterdeck.gateways.common.streams import opened
from quarterdeck.gateways.http import Settings
from quarterdeck.gateways.http.admission import Admission, headers_of
from quarterdeck.gateways.http.problems import HttpError
from quarterdeck.host.requests import AddEvent, ListAudit, OfToken
from quarterdeck.transport import marks

# Tokens


async def test_no_token_a_wrong_one_and_another_scheme_are_refused_in_the_same_words(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        secret = there.admin.secret or ""
        for given in ("Bearer qd_wrong", f"Bearer {secret[:-1]}", f"Bearer {secret}x"):
            reply = await there.client(None).get("/v1/host", headers={"Authorization": given})
            assert (reply.status, reply.json["detail"]) == (401, "This token is not valid.")
        for given in (f"Basic {secret}", secret, "Bearer", ""):
            reply = await there.client(None).get("/v1/host", headers={"Authorization": given})
            assert (reply.status, reply.code) == (401, "unauthenticated")


async def test_a_cookie_is_not_a_token(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        cookie = {"Cookie": f"token={there.admin.secret}; Authorization=Bearer {there.admin.secret}"}
        assert (await there.client(None).get("/v1/host", headers=cookie)).status == 401
        query = await there.client(None).get(f"/v1/host?token={there.admin.secret}&access_token={there.admin.secret}")
        assert query.status == 401


async def test_an_expired_and_a_revoked_token_are_refused_although_they_were_just_used(tmp_path: Path) -> None:
    clock = Clock()
    async with served(tmp_path, clock=clock) as there:
        short, gone = await there.token(expires_s=60), await there.token()
        for token in (short, gone):
            assert (await there.client(token.secret).get("/v1/host")).status == 200
        assert (await there.client().ask("DELETE", f"/v1/tokens/{gone.id}")).status == 200
        assert (await there.client(gone.secret).get("/v1/host")).status == 401
        clock.now += 61
        assert (await there.client(short.secret).get("/v1/host")).status == 401


async def test_a_token_with_folders_sees_only_them(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        inside, outside = there.place.cwd / "in", there.place.cwd / "out"
        inside.mkdir()
        outside.mkdir()
        (inside / "link").symlink_to(outside)
        other = await there.session(prompt=None)
        client = there.client((await there.token("operate", folders=[str(inside)])).secret)
        assert (await client.get("/v1/sessions")).json["sessions"] == []
        assert (await client.get(f"/v1/sessions/{other}")).code == "not_found"
        assert (await client.get(f"/v1/sessions/{other}/stream")).code == "not_found"
        for cwd in (outside, f"{inside}/../out", f"{inside}/link", "/"):
            assert (await client.post("/v1/sessions", {"cwd": str(cwd)})).code == "folder_not_allowed"
        assert (await client.get("/v1/stream")).code == "forbidden"


async def test_bypassing_needs_the_flag_of_the_token(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client((await there.token("operate")).secret)
        body = {"cwd": str(there.place.cwd), "permission_mode": "bypassPermissions"}
        assert (await client.post("/v1/sessions", body)).code == "forbidden"


async def test_failed_attempts_are_slowed_more_and_more_and_are_in_the_audit(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(attempts=2, slowest_s=1.0)) as there:
        held: list[float] = []

        async def sleep(seconds: float) -> None:
            held.append(seconds)

        there.gateway.authentication.sleep = sleep
        for _ in range(8):
            assert (await there.client("qd_wrong").get("/v1/host")).status == 401
        assert held == [0.25, 0.5, 1.0, 1.0, 1.0, 1.0]
        assert (await there.client().get("/v1/host")).status == 200, "whoever has a token does not wait"
        entries = [one for one in (await there.host.list_audit(ListAudit())).audit if one.operation == "authenticate"]
        assert [(one.via, one.details["address"], one.details["attempts"]) for one in entries] == [
            ("http", "127.0.0.1", 1)
        ], "one row a minute, not one for each"


async def test_beyond_so_many_held_back_attempts_the_rest_is_refused_at_once(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(attempts=0, delayed=1)) as there:
        release, entered = asyncio.Event(), asyncio.Event()

        async def sleep(_: float) -> None:
            entered.set()
            await release.wait()

        there.gateway.authentication.sleep = sleep
        first = asyncio.ensure_future(there.client("qd_wrong").get("/v1/host"))
        await entered.wait()
        assert (await there.client("qd_wrong").get("/v1/host")).status == 429
        release.set()
        assert (await first).status == 401


async def test_a_token_that_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    clock = Clock()
    async with served(tmp_path, Settings(requests_per_s=1.0), clock=clock) as there:
        client = there.client((await there.token()).secret)
        assert [(await client.get("/v1/host")).status for _ in range(5)] == [200] * 4 + [429]
        late = await client.get("/v1/host")
        assert (late.code, late.headers["retry-after"]) == ("rate_limited", "1")
        clock.now += 1
        assert (await client.get("/v1/host")).status == 200


async def test_a_token_that_says_too_much_over_a_websocket_is_read_more_slowly(tmp_path: Path) -> None:
    clock, waited = Clock(), []
    async with served(tmp_path, Settings(requests_per_s=1.0), clock=clock) as there:

        async def sleep(seconds: float) -> None:
            waited.append(seconds)
            clock.now += seconds

        there.gateway.authentication.sleep = sleep
        token = await there.token()
        async with there.client(token.secret).socket() as socket:
            messages = Messages(socket)
            for _ in range(6):
                assert (await messages.ask(op="ping"))["op"] == "ok"
            assert waited == [1.0, 1.0, 1.0], "the handshake and three messages cost nothing"
            assert (await there.client(token.secret).get("/v1/host")).status == 429, "requests are counted with them"


# Names, pages, proxies


async def test_a_name_that_was_made_to_point_here_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(hosts=("deck.example",))) as there:
        client, port = there.client(), there.tcp[1]
        for name in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "", "localhost.evil.example"):
            reply = await client.get("/v1/host", headers={"Host": name})
            assert (reply.status, reply.code) == (421, "forbidden"), name
        for name in (f"localhost:{port}", "127.0.0.1", f"[::1]:{port}", "deck.example", "DECK.example:443"):
            assert (await client.get("/v1/host", headers={"Host": name})).status == 200, name
        assert (await client.get("/docs", headers={"Host": "evil.example"})).status == 421


async def test_pages_of_other_sites_and_ports_are_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        other = "http://localhost:3000"  # an agent's own server
        for origin in ("https://evil.example", "null", other, f"https://{client.name}"):
            reply = await client.post("/v1/policy/explain", {}, headers={"Origin": origin})
            assert (reply.status, reply.json["field"]) == (403, "Origin"), origin
            with pytest.raises(InvalidStatus) as refused:
                async with client.socket(origin=origin):
                    pass
            assert refused.value.response.status_code == 403
        assert (await client.get("/v1/host", headers={"Origin": f"http://{client.name}"})).status == 200


def admitted(settings: Settings, client: str | None, **headers: str) -> Any:
    scope = {"path": headers.pop("path", "/v1/host"), "scheme": "http", "client": (client, 1) if client else None}
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    visitor = Admission(settings).admit(scope, headers_of(raw))
    return visitor.address, visitor.scheme, visitor.host, scope["path"]


def test_forwarded_headers_count_only_from_named_proxies() -> None:
    told = {"host": "localhost", "x_forwarded_for": "6.6.6.6, 203.0.113.9, 10.0.0.2", "x_forwarded_proto": "https"}
    told["x_forwarded_host"] = "deck.example"
    settings = Settings(hosts=("deck.example",), proxies=("10.0.0.0/8", "unix"))
    assert admitted(settings, "10.0.0.1", **told)[:3] == ("203.0.113.9", "https", "deck.example")
    assert admitted(settings, None, **told)[:3] == ("203.0.113.9", "https", "deck.example")
    assert admitted(settings, "192.0.2.1", **told)[:3] == ("192.0.2.1", "http", "localhost")
    assert admitted(Settings(), None, **told)[:3] == ("unix", "http", "localhost")


def test_behind_a_proxy_the_origin_is_the_one_people_see() -> None:
    settings = Settings(hosts=("deck.example",), proxies=("10.0.0.1",), base_path="/qd")
    told = {"host": "localhost", "x_forwarded_host": "deck.example", "x_forwarded_proto": "https"}
    shown = admitted(settings, "10.0.0.1", origin="https://deck.example", path="/qd/v1/host", **told)
    assert shown[3] == "/v1/host"
    with pytest.raises(HttpError):
        admitted(settings, "10.0.0.1", origin="http://localhost", **told)
    assert admitted(settings, "10.0.0.1", path="/qdx", **told)[3] == "/qdx"


async def test_behind_a_base_path_all_routes_are_there(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(base_path="/qd")) as there:
        assert (await there.client().get("/qd/v1/host")).status == 200
        assert b'src="/qd/app/joined/main.js"' in (await there.client().get("/qd/")).body
        async with there.client().socket("/qd/v1/ws") as socket:
            assert (await Messages(socket).next())["op"] == "hello"


async def test_every_answer_has_the_usual_headers(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        for path in ("/v1/host", "/v1/nothing", "/docs", "/healthz"):
            headers = (await there.client().get(path)).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert "server" not in headers
            assert headers["date"]
            assert "access-control-allow-origin" not in headers
        page = (await there.client(None).get("/")).headers
        assert (page["referrer-policy"], page["cross-origin-opener-policy"]) == ("no-referrer", "same-origin")


async def test_tls_serves_the_same_and_says_so(tmp_path: Path) -> None:
    import ssl

    from quarterdeck.gateways.http.server import tls_context

    cert, key = await asyncio.to_thread(certificate, tmp_path)
    async with served(tmp_path) as there:
        address = await there.server.listen_tcp("127.0.0.1", 0, tls_context(cert, key))
        trusted = ssl.create_default_context(cafile=cert)
        reply = await Client(address, there.admin.secret, trusted).get("/v1/host")
        assert (reply.status, reply.headers["strict-transport-security"]) == (200, "max-age=31536000")
        assert "strict-transport-security" not in (await there.client().get("/v1/host")).headers


async def test_what_a_session_started_may_not_use_the_unix_socket(tmp_path: Path) -> None:
    program = (
        "import contextlib,socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
        "with contextlib.suppress(BrokenPipeError):\n"
        "    s.sendall(b'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n')\n"
        "print(s.recv(999).split()[1].decode())"
    )
    async with served(tmp_path) as there:
        said = {}
        for name, env in (("agent", {marks.MARK: marks.this_program().mark().text}), ("person", {})):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", program, str(there.unix)),
                env={**os.environ, **env},
                stdout=asyncio.subprocess.PIPE,
            )
            said[name] = (await process.communicate())[0].decode().strip()
        assert said == {"agent": "403", "person": "200"}


async def test_one_client_cannot_take_all_connections(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(connections_per_client=3)) as there:
        client, other = there.client(), Client(there.unix, there.admin.secret)
        held = [await client.open() for _ in range(3)]
        while there.gateway.meter.connections < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        refused = await client.get("/v1/host")
        assert (refused.status, refused.code) == (503, "busy")
        assert (await other.get("/v1/host")).status == 200
        held[0][1].close()
        while (await client.get("/v1/host")).status != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        for _, writer in held:
            writer.close()


# Attacks


async def test_a_body_of_a_gigabyte_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        told = client.head("POST", "/v1/sessions", {"Content-Type": "application/json"}, 1 << 30)
        reply = await client.raw(told + b'{"cwd":"')
        assert (reply.status, reply.code, reply.headers["connection"]) == (413, "too_large", "close")


async def test_a_body_without_a_length_is_cut_where_it_is_too_long(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(body_bytes=100_000)) as there:
        client = there.client()
        headers = {"Transfer-Encoding": "chunked", "Content-Type": "application/json"}
        chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
        reply = await client.raw(client.head("POST", "/v1/sessions", headers, None) + chunk * 4)
        assert (reply.status, reply.code) == (413, "too_large")


async def test_a_bomb_of_gzip_is_not_unpacked(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        bomb = gzip.compress(b" " * 50_000_000)
        reply = await there.client().post("/v1/sessions", bomb, headers={"Content-Encoding": "gzip"})
        assert (reply.status, reply.json["field"]) == (415, "Content-Encoding")


async def test_headers_that_come_drop_by_drop_end_the_connection(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(header_s=0.05)) as there:
        for begun in (b"", b"GET /v1/host HTT", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "):
            reader, writer = await there.client().open()
            writer.write(begun)
            assert (await read_reply(reader)).status == 408
            assert await reader.read() == b""
            writer.close()


async def test_the_second_request_of_a_connection_may_not_come_drop_by_drop_either(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(header_s=0.2)) as there:
        client = there.client()
        reader, writer = await client.open()
        writer.write(client.head("GET", "/healthz", {"Connection": "keep-alive"}, None))
        assert (await read_reply(reader)).status == 200
        writer.write(b"GET /healthz HTT")
        assert (await read_reply(reader)).status == 408
        assert await reader.read() == b""
        writer.close()


async def test_a_body_that_comes_drop_by_drop_is_given_up(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(body_s=0.05)) as there:
        client = there.client()
        head = client.head("POST", "/v1/policy/explain", {"Content-Type": "application/json"}, 100)
        assert (await client.raw(head + b"{")).status == 408


async def test_whoever_has_no_token_cannot_hold_a_connection_with_a_body(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client(None)
        head = client.head("POST", "/v1/sessions", {"Connection": "keep-alive"}, 1_000)
        reader, writer = await client.open()
        writer.write(head + b"{")
        reply = await read_reply(reader)
        assert (reply.status, reply.headers["connection"]) == (401, "close")
        assert await reader.read() == b""
        writer.close()


async def test_headers_without_end_are_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        many = "".join(f"X-{number}: {'y' * 100}\r\n" for number in range(2_000)).encode()
        for flood in (many, b"X: " + b"y" * 300_000):
            reply = await client.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + flood)
            assert reply.status in (400, 431)


SMUGGLED = {
    "length and encoding": b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n",
    "two lengths": b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
    "a length that is none": b"Content-Length: +2\r\n\r\n{}",
    "a chunk that is none": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "two encodings": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a space before the colon": b"Content-Length : 2\r\n\r\n{}",
    "a bare line feed": b"X: a\nContent-Length: 2\r\n\r\n{}",
}


@for_each(("name", "rest"), SMUGGLED.items(), ids=list(SMUGGLED))
async def test_a_request_that_two_readers_would_read_differently_is_refused(
    tmp_path: Path, name: str, rest: bytes
) -> None:
    async with served(tmp_path / str(list(SMUGGLED).index(name))) as there:  # the path of a socket is short
        start = f"POST /v1/policy/explain HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {there.admin.secret}\r\n"
        reader, writer = await there.client().open()
        writer.write(start.encode() + b"Content-Type: application/json\r\n" + rest)
        try:
            answer = await reader.read()
        except ConnectionResetError:  # closed before it had read the rest: the answer may be lost, and nothing was done
            answer = b"HTTP/1.1 400"
        writer.close()
        assert answer.startswith(b"HTTP/1.1 400"), answer
        assert answer.count(b"HTTP/1.1 ") == 1, "nothing after it was read as a request"


async def test_a_header_that_must_be_one_is_refused_twice(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        head = there.client().head("GET", "/v1/host", {}, None).replace(b"\r\n\r\n", b"\r\nHost: localhost\r\n\r\n")
        assert (await there.client().raw(head)).status == 400


async def test_nothing_a_client_says_becomes_a_header(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client()
        name = "x\r\nSet-Cookie: a=b"
        session = await there.session(prompt=None, name=name)
        for path, status in (
            (f"/v1/sessions/{session}/export?format=md", 200),
            ("/v1/x%0d%0aSet-Cookie:%20a=b", 404),
            ("/v1/audit?who=%0d%0aX:y", 200),
            ("/v1/audit?%0d%0aX:y=1", 400),
        ):
            reply = await client.get(path)
            assert reply.status == status, path
            assert "set-cookie" not in reply.headers
            assert "x" not in reply.headers


@pytest.mark.parametrize(
    "path",
    [
        "/v1/sessions/..%2f..%2f..%2fetc%2fpasswd",
        "/v1/sessions/../../../../etc/passwd",
        "/docs/../../../../etc/passwd",
        "/docs.js/..%2f..%2fapp.py",
        "//etc/passwd",
        "/v1/transcripts/..%2f..%2fx/adopt",
    ],
)
async def test_a_path_leads_nowhere_else(tmp_path: Path, path: str) -> None:
    async with served(tmp_path) as there:
        for method in ("GET", "POST"):
            assert (await there.client().ask(method, path)).status in (404, 405)


async def test_names_of_worktrees_and_uploads_lead_nowhere_else(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client, cwd = there.client(), str(there.place.cwd)
        for name in ("../x", "/tmp/x", "..", "a/../../x", "-b"):
            assert (await client.post("/v1/worktrees", {"cwd": cwd, "name": name})).code == "invalid"
        session = await there.session(prompt=None)
        kept = await client.post(f"/v1/sessions/{session}/uploads?name=..%2F..%2Fevil.txt", b"x")
        assert Path(kept.json["path"]).parent.name == session
        for name in ("..", "x" * 300, "%C3%A9" * 101):
            assert (await client.post(f"/v1/sessions/{session}/uploads?name={name}", b"x")).code == "invalid"
        assert (await client.post("/v1/sessions", {"cwd": cwd, "agent": "/" + "x" * 300})).code == "invalid"


async def test_json_nested_without_end_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        deep = b'{"cwd":"/x","options":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001
        reply = await there.client().post("/v1/sessions", deep)
        assert (reply.status, reply.code) == (400, "invalid")
        async with there.client().socket() as socket:
            messages = Messages(socket)
            await messages.next()
            await socket.send('{"op":"create_session","ref":1,"cwd":"/x","options":' + '{"a":' * 100_000)
            assert (await messages.next())["code"] == "invalid"
            assert (await messages.ask(op="ping"))["op"] == "ok"


async def test_fragments_of_a_message_without_end_close_the_websocket(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(message_bytes=100_000)) as there, there.client().socket() as socket:

        async def pieces() -> Any:
            while True:
                yield "x" * 10_000

        with pytest.raises(ConnectionClosed):
            await socket.send(pieces())
            await socket.wait_closed()
        assert socket.close_code == 1009


async def test_connections_beyond_the_limit_are_refused_and_the_others_go_on(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(connections=4)) as there:
        held = [await there.client().open() for _ in range(4)]
        while there.gateway.meter.connections < 4:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        assert (await there.client().get("/healthz")).status == 503
        held[0][1].write(there.client().head("GET", "/v1/host", {}, None))
        assert (await read_reply(held[0][0])).status == 200
        for _, writer in held:
            writer.close()


async def gone(there: Served) -> None:
    while there.gateway.meter.connections:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def test_an_answer_that_nobody_takes_is_not_kept(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(stalled_s=0.2)) as there:
        session = await there.session(prompt=None)
        for _ in range(20):
            await there.host.add_event(AddEvent(session_id=session, type="long", data={"text": "x" * 1_000_000}))
        client = there.client()
        for more in ({}, {"Connection": "keep-alive"}):
            _reader, writer = await client.open()
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(client.head("GET", f"/v1/sessions/{session}/events", more, None))
            while not there.gateway.meter.connections:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            await gone(there)
            writer.close()


async def test_pings_whose_answers_nobody_takes_pile_up_nowhere(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(stalled_s=0.5)) as there:
        client = there.client()
        reader, writer = await client.open()
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        upgrade["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
        writer.write(client.head("GET", "/v1/ws", upgrade, None))
        assert (await reader.readline()).split()[1] == b"101"
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        pings = (bytes([0x89, 0x80 | 125, 0, 0, 0, 0]) + b"x" * 125) * 10_000
        longest = 0
        with contextlib.suppress(OSError):
            while there.gateway.meter.connections:
                writer.write(pings)
                await writer.drain()
                waiting = [one.transport.get_write_buffer_size() for one in there.server.connections]
                longest = max(longest, *waiting, 0)
        assert longest < 1_000_000
        await gone(there)
        writer.close()


async def test_a_websocket_needs_a_token_of_its_header_or_its_subprotocol(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        nobody = there.client(None)
        for more in ({}, {"subprotocols": ["quarterdeck.v1", "bearer.qd_wrong"]}):
            with pytest.raises(InvalidStatus) as refused:
                async with nobody.socket(**more):
                    pass
            assert refused.value.response.status_code == 401
        offered = ["quarterdeck.v1", f"bearer.{there.admin.secret}"]
        async with nobody.socket(subprotocols=offered) as socket:
            assert socket.subprotocol == "quarterdeck.v1"
            assert (await Messages(socket).next())["name"] == "admin"


async def revoke(there: Served, token: Any) -> None:
    await there.host.revoke_token(OfToken(token_id=token.id))


async def test_streams_end_when_their_token_is_revoked_or_expires(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        session = await there.session()
        token, other = await there.token(), await there.token(name="other")
        client = there.client(token.secret)
        async with client.events(f"/v1/sessions/{session}/stream") as events, client.socket() as socket:
            messages = Messages(socket)
            await messages.say(op="subscribe", ref=1, session=session)
            await messages.until("frame")
            await events.until("frame")
            async with there.client(other.secret).events("/v1/stream") as kept:
                await kept.until("hello")
                await revoke(there, token)
                assert (await events.until("error")).data["code"] == "unauthenticated"
                assert await events.rest() == []
                assert (await messages.until("error"))["code"] == "unauthenticated"
                await socket.wait_closed()
                assert socket.close_code == 1008
                await there.session(prompt=None)
                assert (await kept.until("session")).data["id"]
        short = await there.token(expires_s=0.3)
        async with there.client(short.secret).events("/v1/stream") as events:
            assert (await events.until("error")).data["code"] == "unauthenticated"


async def test_a_token_that_is_revoked_while_its_stream_opens_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as there:
        token = await there.token()
        client = there.client(token.secret)
        opening, go_on = asyncio.Event(), asyncio.Event()
        async with client.events("/v1/stream") as noticed:
            await noticed.until("hello")

            async def slowly(*given: Any) -> Any:
                opening.set()
                await go_on.wait()
                return await opened(*given)

            monkeypatch.setattr("quarterdeck.gateways.http.sse.opened", slowly)
            asking = asyncio.ensure_future(client.get("/v1/stream"))
            await opening.wait()
            await revoke(there, token)
            assert (await noticed.until("error")).data["code"] == "unauthenticated"
            go_on.set()
            assert (await asking).status == 401
        while there.gateway.authentication.streams:  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def test_a_token_that_is_revoked_before_the_body_has_arrived_does_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        token = await there.token("operate")
        client, body = there.client(token.secret), json.dumps({"cwd": str(there.place.cwd)}).encode()
        async with client.events("/v1/stream") as noticed:
            await noticed.until("hello")
            reader, writer = await client.open()
            head = client.head("POST", "/v1/sessions", {"Content-Type": "application/json"}, len(body))
            writer.write(head + body[:5])
            while there.gateway.meter.under_way == 0:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            waiting = asyncio.ensure_future(client.get(f"/v1/sessions/{await there.session(None)}/wait?for=stopped"))
            while there.gateway.meter.under_way == 1:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            await revoke(there, token)
            assert (await noticed.until("error")).data["code"] == "unauthenticated"
            writer.write(body[5:])
            assert (await read_reply(reader)).status == 401
            assert (await waiting).status == 401
            writer.close()
        assert len((await there.client().get("/v1/sessions")).json["sessions"]) == 1


async def test_a_token_that_is_revoked_while_it_is_looked_up_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as there:
        token, other = await there.token(), await there.token(name="other")
        async with there.client(other.secret).events("/v1/stream") as noticed:
            await noticed.until("hello")
            look_up = there.host.authenticate

            async def too_early(secret: str, *, via: str = "") -> Any:
                found = await look_up(secret, via=via)
                await revoke(there, token)
                await revoke(there, other)
                await noticed.until("error")
                monkeypatch.setattr(there.host, "authenticate", look_up)
                return found

            monkeypatch.setattr(there.host, "authenticate", too_early)
            assert (await there.client(token.secret).get("/v1/host")).status == 401


async def test_a_token_that_is_revoked_while_revoked_ones_are_looked_up_ends_its_streams_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as there:
        first, second = await there.token(name="first"), await there.token(name="second")
        read, reads = there.host.store.tokens, 0

        async def then_another_one() -> Any:
            nonlocal reads
            reads += 1
            found = await read()
            if reads == 2:  # the first one is of whoever revokes
                await revoke(there, second)
            return found

        async with (
            there.client(first.secret).events("/v1/stream") as one,
            there.client(second.secret).events("/v1/stream") as two,
        ):
            await one.until("hello")
            await two.until("hello")
            monkeypatch.setattr(there.host.store, "tokens", then_another_one)
            await revoke(there, first)
            for events in (one, two):
                assert (await events.until("error")).data["code"] == "unauthenticated"


async def test_when_tokens_cannot_be_read_streams_end_and_attempts_are_refused_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as there:
        other = await there.token(name="other")
        async with there.client().socket() as socket:
            messages = Messages(socket)
            assert (await messages.next())["op"] == "hello"

            async def broken(*_: object, **__: object) -> Any:
                raise OSError("the disk is gone")

            with monkeypatch.context() as patched:
                patched.setattr(there.host, "note_attempt", broken)
                assert (await there.client("qd_wrong").get("/v1/host")).status == 401
                revoked = there.host.revoke_token(OfToken(token_id=other.id))
                patched.setattr(there.host.store, "tokens", broken)
                with contextlib.suppress(Exception):
                    await revoked
                there.host.tokens_bell.ring()
                assert (await messages.until("error"))["code"] == "unauthenticated"
        assert (await there.client().get("/v1/host")).status == 200
        await revoke(there, await there.token(name="another"))
        async with there.client().socket() as socket:  # revocations are still watched
            assert (await Messages(socket).next())["op"] == "hello"
            await revoke(there, there.admin)
            await socket.wait_closed()
            assert socket.close_code == 1008
