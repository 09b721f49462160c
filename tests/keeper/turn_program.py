"""A host at the level of the wire that takes one turn, and may be killed in it: the next one goes on where it was.

``python turn_program.py STATE STORE COMMAND [hold]``. What to do next follows from the two committed streams alone: the
CLI's lines in ``output``, ours in ``inputs``. With ``hold`` a permission request is not answered. Says ``asked`` when
one is open, and ``result TEXT`` at the end of the turn.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from quarterdeck.keeper import KeeperClient, KeeperSettings
from quarterdeck.transport import ChildCommand, ExitStatus

INITIALIZE = {"type": "control_request", "request_id": "host-1", "request": {"subtype": "initialize"}}
PROMPT = {"type": "user", "message": {"role": "user", "content": "make it"}, "parent_tool_use_id": None}


class Turn:
    def __init__(self, store: Path, *, hold: bool) -> None:
        store.mkdir(exist_ok=True)
        self._hold = hold
        self._done = store / "done"
        self._output = os.open(store / "output", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._inputs = os.open(store / "inputs", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        output = (store / "output").read_bytes()
        whole = output.rfind(b"\n") + 1  # lines are what is committed
        os.truncate(self._output, whole)
        self.committed = whole
        self._rest = b""
        self.past = output[:whole].splitlines()
        self.sent = (store / "inputs").read_bytes().splitlines()
        self.over = asyncio.Event()

    # As a receiver

    def bytes_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            os.write(self._output, line + b"\n")
            self.committed += len(line) + 1
            self.transport.acknowledge(self.committed)
            self.read(json.loads(line))

    def eof_received(self) -> None:
        pass

    def exited(self, status: ExitStatus) -> None:
        self.over.set()

    # As a host

    def read(self, message: dict[str, Any]) -> None:
        if message["type"] == "control_request" and message["request"]["subtype"] == "can_use_tool":
            self.asked(message)
        elif message["type"] == "result":
            say(f"result {message['result']}")
            self.transport.close_input()

    def asked(self, message: dict[str, Any]) -> None:
        identity = message["request_id"]
        if any(identity.encode() in line for line in self.sent):
            return
        say("asked")
        if not self._hold:
            allow = {"behavior": "allow", "updatedInput": message["request"]["input"]}
            response = {"subtype": "success", "request_id": identity, "response": allow}
            self.send({"type": "control_response", "response": response})

    def send(self, message: dict[str, Any]) -> None:
        line = json.dumps(message).encode()
        os.write(self._inputs, line + b"\n")
        self.sent.append(line)
        assert self.transport.send(line + b"\n") == len(self.sent)

    async def run(self, folder: str, command: ChildCommand) -> None:
        async with await KeeperClient.open(folder, settings=KeeperSettings(linger_s=20.0)) as client:
            if self._done.exists():
                return
            if await client.find("turn"):
                self.transport = client.attach("turn", 1, self.committed, durable=True)
            else:
                self.transport = client.start("turn", command, durable=True)
            say("up")
            await self.transport.start(self)
            for line in self.sent[self.transport.last_input :]:
                self.transport.write(line + b"\n")
            if not self.sent:
                self.send(INITIALIZE)
                self.send(PROMPT)
            for old in self.past:
                self.read(json.loads(old))
            await self.over.wait()
            self._done.touch()
            await client.drop("turn")


def say(text: str) -> None:
    os.write(1, text.encode() + b"\n")


if __name__ == "__main__":
    state, store, spelled, *more = sys.argv[1:]
    described = json.loads(Path(spelled).read_text())
    turn = Turn(Path(store), hold="hold" in more)
    asyncio.run(turn.run(state, ChildCommand(described["argv"], cwd=described["cwd"], env=described["env"])))
