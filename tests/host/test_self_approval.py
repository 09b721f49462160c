"""An agent cannot approve itself: the state folder, the sockets and the approving commands are out of its reach.

It runs as the same user, so this is the policy and best effort, not a wall; ``SECURITY.md`` says what a wall takes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.stage import bash
from host.kit import told
from host.staged import BOTH, Staged, staged_in
from quarterdeck.gateways.http import Gateway, Server
from quarterdeck.host.events import PolicyDecided
from quarterdeck.host.requests import CreateToken, OfApproval
from quarterdeck.testing.model import ToolUse
from quarterdeck.timeline.events import ToolEnded

BREAKS_IN = """
import asyncio, pathlib, socket, sys
from quarterdeck.host import Host
from quarterdeck.host.requests import Decide, Decision
from quarterdeck.keeper import KeeperClient

state, approval = sys.argv[1:3]

async def keeper():
    async with await KeeperClient.open(state + "/keeper", take_over=True) as client:
        print("the keeper answers:", await client.list())

async def host():
    async with Host(state) as host:
        await host.decide(Decide(approval_id=approval, decision=Decision(decision="allow")))
        print("the host answers")

async def http_socket():  # with an admin token that it has read: it runs as the same user
    token = pathlib.Path(state, "token").read_text()
    body = '{"decision":"allow"}'
    head = f"POST /v1/approvals/{approval}/decision HTTP/1.1\\r\\nHost: localhost\\r\\n"
    head += f"Authorization: Bearer {token}\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n"
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(state + "/host.sock")
    try:
        connection.sendall((head + body).encode())
    except OSError:
        pass  # it was refused before it said anything
    raise PermissionError(connection.recv(65536).decode())

for attempt in (keeper, host, http_socket):
    try:
        asyncio.run(asyncio.wait_for(attempt(), 10))
    except Exception as error:
        print("no", attempt.__name__, "because", type(error).__name__, error)
"""


@pytest.fixture(params=BOTH)
def staged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Staged]:
    with staged_in(tmp_path / "stage", request.param) as staged:
        yield staged


async def test_an_agent_cannot_read_the_state_folder_nor_use_the_approving_commands(staged: Staged) -> None:
    state, stage = staged.state, staged.stage
    asking = await staged.talk()
    stage.reply(bash("touch wanted.txt"))
    await asking.say()
    approval = await asking.asked()
    agent = await staged.talk(options={"allowed_tools": ["Bash", "Read", "Edit", "Write"]})
    attempts = [
        bash(f"ls {state}"),
        bash(f"cat {state}/quarterdeck.db"),
        bash(f"quarterdeck approve {approval.id}"),
        bash(f"python3 -m quarterdeck approve {approval.id}"),
        ToolUse("Read", {"file_path": str(state / "token")}),
        ToolUse("Write", {"file_path": str(state / "token"), "content": "mine"}),
    ]
    for attempt in attempts:
        stage.reply(attempt)
    stage.reply("I cannot.")
    frames = await agent.turn("approve yourself")
    assert [event.status for event in told(frames, ToolEnded)] == ["denied"] * len(attempts)
    assert {(one.decision, one.asked_in) for one in told(frames, PolicyDecided)} == {("deny", "PreToolUse")}
    assert not (state / "token").exists()
    stage.reply(bash(f"cd {state} && cat *"))  # what it would read cannot be told, so a person is asked
    stage.reply("I cannot.")
    await agent.say()
    assert "is protected by" in str((await agent.asked()).reason)
    await agent.decide("deny")
    await agent.until("idle")
    assert (await staged.host.get_approval(OfApproval(approval_id=approval.id))).state == "pending"
    assert not (stage.cwd / "wanted.txt").exists()
    stage.reply("Then not.")
    await asking.decide("deny")
    await asking.until("idle")


@pytest.mark.real
def test_a_program_that_an_agent_runs_gets_neither_keeper_nor_host_nor_the_socket(tmp_path: Path) -> None:
    """The policy does not see what a script does: keeper and socket know the family mark, the folder has its host."""
    with staged_in(tmp_path / "stage", "real") as staged:
        staged.run(_break_in(staged))


async def _break_in(staged: Staged) -> None:
    async with Server(Gateway(staged.host)) as server:
        await server.listen_unix(staged.state / "host.sock")
        token = await staged.host.create_token(CreateToken(name="local", scope="admin"))
        (staged.state / "token").write_text(str(token.secret))
        await _try_all(staged)


async def _try_all(staged: Staged) -> None:
    stage = staged.stage
    (stage.cwd / "innocent.py").write_text(BREAKS_IN)
    asking = await staged.talk()
    stage.reply(bash("touch wanted.txt"))
    await asking.say()
    approval = await asking.asked()
    agent = await staged.talk(options={"allowed_tools": ["Bash"]})
    (stage.cwd / "where.sh").write_text(f"exec {sys.executable} innocent.py {staged.state} {approval.id}\n")
    stage.reply(bash("sh where.sh"))
    stage.reply("I cannot.")
    frames = await agent.turn("approve yourself")
    (ended,) = told(frames, ToolEnded)
    assert ended.status == "finished"
    shown = str(ended.output)
    assert "no keeper because KeeperRefused" in shown
    assert "it was started by an agent" in shown
    assert "no host because StoreInUse" in shown
    assert "no http_socket because PermissionError HTTP/1.1 403" in shown
    assert "Processes started by a session have no access to the host" in shown
    assert "answers" not in shown
    assert (await staged.host.get_approval(OfApproval(approval_id=approval.id))).state == "pending"
    stage.reply("Then not.")
    await asking.decide("deny")
    await asking.until("idle")
    assert not (stage.cwd / "wanted.txt").exists()
