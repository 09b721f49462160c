"""A host over https: whom a program trusts, and what it says of others."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from certificates import certificate
from gateways.http.kit import Served, served
from gateways.http.test_serve import serving
from host.kit import LIMIT_S
from quarterdeck import ResultMessage, connect
from quarterdeck.gateways.http.server import tls_context
from quarterdeck.host import HostError
from quarterdeck.host.requests import Nothing
from quarterdeck.remote import Address, HostUnreachable, Patience, RemoteHost
from quarterdeck.remote.link import State
from remote.proxy import proxied

PATIENT = Patience(first_wait_s=0.01, longest_wait_s=0.1, give_up_s=LIMIT_S)


@asynccontextmanager
async def secured(root: Path) -> AsyncIterator[tuple[Served, str, Path]]:
    """A host on https, its URL, and the certificate to trust."""
    cert, key = await asyncio.to_thread(certificate, root)
    async with served(root, turns=["Done."]) as there:
        _, port = await there.server.listen_tcp("127.0.0.1", 0, tls_context(cert, key))
        yield there, f"https://localhost:{port}", cert


@pytest.mark.parametrize("how", ["ca_file", "environment"])
async def test_a_program_trusts_the_certificate_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    async with secured(tmp_path) as (there, url, cert):
        if how == "environment":
            monkeypatch.setenv("QUARTERDECK_CA_FILE", str(cert))
        ca_file = cert if how == "ca_file" else None
        async with RemoteHost(url, token=there.admin.secret, ca_file=ca_file) as host:
            assert (await host.get_host(Nothing())).version
            options = there.place.claude.options(cli_path=None, env={}, env_allow=None)
            where = {"host": host} if how == "ca_file" else {"host": url, "token": there.admin.secret}
            async with connect(options, **where) as session:  # type: ignore[arg-type]
                assert isinstance(await session.prompt("go"), ResultMessage)


async def test_a_certificate_that_is_not_trusted_is_refused_at_once(tmp_path: Path) -> None:
    async with secured(tmp_path) as (there, url, _):
        others, _ = await asyncio.to_thread(certificate, tmp_path, "others")
        states: list[State] = []
        for ca_file in (None, others):
            host = RemoteHost(url, token=there.admin.secret, ca_file=ca_file, patience=PATIENT, on_state=states.append)
            with pytest.raises(HostUnreachable, match="its certificate is not accepted") as refused:
                await host.open()
            assert "QUARTERDECK_CA_FILE" in refused.value.hint
        assert states == ["connecting", "lost", "closed"] * 2


async def test_a_name_that_is_not_in_the_certificate_is_refused(tmp_path: Path) -> None:
    async with secured(tmp_path) as (there, url, cert):
        host = RemoteHost(url.replace("localhost", "127.0.0.1"), token=there.admin.secret, ca_file=cert)
        with pytest.raises(HostUnreachable, match=r"its certificate is not accepted: .*127\.0\.0\.1"):
            await host.open()


async def test_a_host_without_tls_is_named_as_such(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        with pytest.raises(HostUnreachable, match="TLS failed") as refused:
            await RemoteHost(f"https://localhost:{there.tcp[1]}", token=there.admin.secret, patience=PATIENT).open()
        assert refused.value.hint == "Does it serve https?"


async def test_a_connection_that_is_cut_is_made_again(tmp_path: Path) -> None:
    async with secured(tmp_path) as (there, url, cert):
        port = int(url.rpartition(":")[2])
        async with proxied(("127.0.0.1", port)) as proxy:
            behind = f"https://localhost:{proxy.port}"
            async with RemoteHost(behind, token=there.admin.secret, ca_file=cert, patience=PATIENT) as host:
                for _ in range(3):
                    await host.get_host(Nothing())
                    proxy.cut()
                await host.get_host(Nothing())


def test_a_file_without_certificates_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing")
    for file, why in (("none.pem", "No such file"), ("empty.pem", "it contains no certificate")):
        with pytest.raises(HostError, match=f"{file} cannot be read: {why}"):
            Address.find("https://deck.example", "token", tmp_path / file)
    assert Address.find("http://deck.example", "token", tmp_path / "none.pem").tls is None


async def test_the_program_serves_https_to_commands(tmp_path: Path) -> None:
    cert, key = await asyncio.to_thread(certificate, tmp_path)
    state = tmp_path / "state"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("QUARTERDECK_", "SSL_CERT_"))}

    async def ps(*words: str, **more: str) -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "quarterdeck", "ps", *words),
            env={**env, **more},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await asyncio.wait_for(process.communicate(), LIMIT_S)
        return process.returncode, " ".join(out.decode().split())

    async with serving(state, "--tls-cert", str(cert), "--tls-key", str(key)) as (_, ready, _):
        assert ready["ready"].startswith("https://127.0.0.1:")
        there = ("--host", ready["ready"].replace("127.0.0.1", "localhost"), "--token-file", str(state / "token"))
        code, said = await ps(*there, "--ca-file", str(cert))
        assert (code, said.startswith("No sessions.")) == (0, True), said
        assert await ps(*there, QUARTERDECK_CA_FILE=str(cert)) == (0, said)
        code, said = await ps(*there)
        assert (code, "its certificate is not accepted" in said, "--ca-file" in said) == (3, True, True), said
        code, said = await ps(*there, "--ca-file", str(tmp_path / "none.pem"))
        assert (code, "none.pem cannot be read" in said) == (1, True), said
