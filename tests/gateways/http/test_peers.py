"""Whose process is at the other end of a TCP connection within this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from quarterdeck.gateways.common.peers import Pair, local_pair, pairs_of_agents
from quarterdeck.transport.marks import MARK

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no /proc/net/tcp")

CONNECTS = "import socket, sys; held = socket.create_connection((sys.argv[1], int(sys.argv[2]))); sys.stdin.read()"


@contextmanager
def _connected(name: str, mark: str, *, dual: bool = False) -> Iterator[tuple[Pair, subprocess.Popen[bytes]]]:
    """A connection from another process, which carries this mark, and that process; it stays until its input ends."""
    family = socket.AF_INET6 if dual or ":" in name else socket.AF_INET
    with socket.create_server(("::" if dual else name, 0), family=family, dualstack_ipv6=dual) as server:
        port = server.getsockname()[1]
        env = {key: value for key, value in os.environ.items() if key != MARK} | ({MARK: mark} if mark else {})
        with subprocess.Popen(
            [sys.executable, "-c", CONNECTS, name, str(port)], stdin=subprocess.PIPE, env=env
        ) as child:
            try:
                server.settimeout(30)
                connection, _ = server.accept()
                with connection:
                    pair = local_pair(connection)
                    assert pair is not None
                    yield pair, child
            finally:
                assert child.stdin is not None
                child.stdin.close()
                child.wait(30)


@pytest.mark.parametrize(("name", "dual"), [("127.0.0.1", False), ("::1", False), ("127.0.0.1", True)])
def test_a_process_with_a_mark_is_found_by_its_connection_and_one_without_is_not(name: str, dual: bool) -> None:
    with _connected(name, "1.2.3.abc", dual=dual) as (agents, _), _connected(name, "", dual=dual) as (others, _):
        assert pairs_of_agents({agents, others}) == {agents}


def test_who_has_gone_before_it_was_looked_for_is_not_trusted() -> None:
    with _connected("127.0.0.1", "") as (pair, child):
        child.kill()
        child.wait(30)
        assert pairs_of_agents({pair}) == {pair}


def test_a_connection_that_the_tables_do_not_know_is_nobodys() -> None:
    assert pairs_of_agents({(("127.0.0.1", 1), ("127.0.0.1", 2))}) == set()


def test_other_machines_and_unix_sockets_are_not_looked_for() -> None:
    left, right = socket.socketpair()
    with left, right:
        assert local_pair(left) is None
    assert local_pair(None) is None
