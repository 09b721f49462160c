"""A host that dies before it can note that a keyed write is done: ``dying_keyed.py OPERATION FOLDER CWD CLI``.

The environment of the CLI comes as JSON on stdin. What the write does outside the store has happened; what it does in
the store is part of the transaction that is lost. Prints the request, for the test to repeat.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from e2e.server import server_config
from quarterdeck.host import Host
from quarterdeck.host import requests as takes
from quarterdeck.host.requests import OfSession
from quarterdeck.store.sqlite.tables import SqliteTables
from quarterdeck.timeline.events import TaskStarted

KEY = "k"
FAR = datetime(2999, 1, 1, tzinfo=UTC)
ALLOW = takes.Decision(decision="allow")
CALLBACKS = takes.Callbacks(tools=[takes.ToolCallback(server="sums", name="add")])
TURNS: dict[str, list[Any]] = {
    "interrupt": [{"wait_for": "never"}, "Hello."],
    "decide": [{"tool": "Bash", "input": {"command": "touch made.txt"}}, "Done."],
    "decide_many": [{"tool": "Bash", "input": {"command": "touch made.txt"}}, "Done."],
    "revoke_grant": [{"tool": "Bash", "input": {"command": "touch made.txt"}}, "Done."],
    "answer_callback": [{"tool": "mcp__sums__add", "input": {}}, "Done."],
    "rewind": [{"tool": "Write", "input": {"file_path": "poem.txt", "content": "one"}}, "Written."],
    "stop_task": [{"tool": "Bash", "input": {"command": "sleep 50", "run_in_background": True}}, "It runs."],
}
"""What the CLI says in its first turn, if not a plain answer."""


class Writes:
    """What each operation is asked for, and what must be there before."""

    def __init__(self, host: Host, cwd: str) -> None:
        self.host = host
        self.cwd = cwd

    async def session(self, prompt: str | None = "go", *, until: str = "idle", **more: Any) -> str:
        made = await self.host.create_session(takes.CreateSession(cwd=self.cwd, prompt=prompt, **more))
        if prompt is not None:
            await self.host.wait(takes.Wait(session_id=made.id, for_=[until]))  # type: ignore[list-item]
        return made.id

    async def request(self, operation: str) -> takes.Request:
        prepare = getattr(self, operation, None)
        if prepare is not None:
            return await prepare()  # type: ignore[no-any-return]
        return OfSession(session_id=await self.session())  # stop, compact, delete_session

    async def create_session(self) -> takes.Request:
        return takes.CreateSession(cwd=self.cwd, prompt="go", worktree="side")

    async def import_session(self) -> takes.Request:
        exported = await self.host.export_session(takes.Export(session_id=await self.session()))
        return takes.ImportSession(body=exported.body)

    async def update_session(self) -> takes.Request:
        session = await self.session()
        return takes.UpdateSession(session_id=session, name="new", model="other", budget_usd=Decimal(5))

    async def send_prompt(self) -> takes.Request:
        return takes.SendPrompt(session_id=await self.session(), content="more")

    async def _queued(self) -> tuple[str, str]:
        session = await self.session()
        later = takes.SendPrompt(session_id=session, content="later", not_before=FAR)
        return session, (await self.host.send_prompt(later)).prompt_id

    async def update_prompt(self) -> takes.Request:
        session, prompt = await self._queued()
        return takes.UpdatePrompt(session_id=session, prompt_id=prompt, content="edited")

    async def withdraw_prompt(self) -> takes.Request:
        session, prompt = await self._queued()
        return takes.OfPrompt(session_id=session, prompt_id=prompt)

    async def send_control(self) -> takes.Request:
        return takes.SendControl(session_id=await self.session(), subtype="get_session_cost")

    async def interrupt(self) -> takes.Request:
        return OfSession(session_id=await self.session(until="running"))

    async def resume(self) -> takes.Request:
        session = await self.session()
        await self.host.stop(OfSession(session_id=session))
        return OfSession(session_id=session)

    async def fork(self) -> takes.Request:
        return takes.Fork(session_id=await self.session())

    async def rewind(self) -> takes.Request:
        session = await self.session(None, options={"enable_file_checkpointing": True}, permission_mode="acceptEdits")
        said = await self.host.send_prompt(takes.SendPrompt(session_id=session, content="write"))
        await self.host.wait(takes.Wait(session_id=session))
        return takes.Rewind(session_id=session, to=said.prompt_id)

    async def answer_callback(self) -> takes.Request:
        allowed = {"allowed_tools": ["mcp__sums__add"]}
        session = await self.session(until="running", callbacks=CALLBACKS, options=allowed)
        async for call in self.host.attach_callbacks(takes.AttachCallbacks(session_id=session)):
            result = {"content": [{"type": "text", "text": "the answer"}]}
            return takes.AnswerCallback(session_id=session, call_id=call.call_id, result=result)
        raise AssertionError("nobody called")

    async def add_event(self) -> takes.Request:
        return takes.AddEvent(session_id=await self.session(), type="ci", prompt="It failed.")

    async def upload(self) -> takes.Request:
        return takes.Upload(session_id=await self.session(), name="a.txt", media_type="text/plain", body=b"given")

    async def _mcp(self) -> takes.Request:
        servers = {"st": server_config(Path(self.cwd))}
        return takes.OfMcpServer(session_id=await self.session(options={"mcp_servers": servers}), server="st")

    reconnect_mcp_server = enable_mcp_server = disable_mcp_server = _mcp

    async def set_mcp_servers(self) -> takes.Request:
        return takes.SetMcpServers(session_id=await self.session(), servers={"st": server_config(Path(self.cwd))})

    async def stop_task(self) -> takes.Request:
        session = await self.session(options={"allowed_tools": ["Bash"]})
        frames = (await self.host.read_events(takes.ReadEvents(session_id=session, limit=1_000))).frames
        (task,) = [event for frame in frames for event in frame.events if isinstance(event, TaskStarted)]
        return takes.OfTask(session_id=session, task_id=task.id)

    async def _asked(self) -> str:
        await self.session(until="waiting")
        (approval,) = (await self.host.list_approvals(takes.ListApprovals())).approvals
        return approval.id

    async def decide(self) -> takes.Request:
        return takes.Decide(approval_id=await self._asked(), decision=ALLOW)

    async def decide_many(self) -> takes.Request:
        await self._asked()
        return takes.DecideMany(filter=takes.ApprovalFilter(kind="permission"), decision=ALLOW)

    async def revoke_grant(self) -> takes.Request:
        remember = takes.Remember(rule="Bash(touch made.txt)", scope="session")
        decision = takes.Decision(decision="allow", remember=remember)
        await self.host.decide(takes.Decide(approval_id=await self._asked(), decision=decision))
        (grant,) = (await self.host.list_grants(takes.Nothing())).grants
        return takes.OfGrant(grant_id=grant.id)

    async def set_budgets(self) -> takes.Request:
        return takes.Settings(settings={"day_usd": "5"})

    async def set_alerts(self) -> takes.Request:
        return takes.Settings(settings={"alerts": [{"on": ["crashed"], "command": ["/bin/true"]}]})

    async def set_presets(self) -> takes.Request:
        return takes.Settings(settings={"presets": {"work": {"tags": ["p"]}}})

    async def adopt_transcript(self) -> takes.Request:
        session = OfSession(session_id=await self.session())
        transcript = (await self.host.get_session(session)).transcript_id
        await self.host.delete_session(session)
        return takes.OfTranscript(transcript_id=str(transcript))

    async def create_worktree(self) -> takes.Request:
        return takes.CreateWorktree(cwd=self.cwd, name="side")

    async def delete_worktree(self) -> takes.Request:
        made = await self.host.create_worktree(takes.CreateWorktree(cwd=self.cwd, name="side"))
        return takes.DeleteWorktree(path=made.details["path"])

    async def create_token(self) -> takes.Request:
        return takes.CreateToken(name="phone", scope="approve")

    async def revoke_token(self) -> takes.Request:
        return takes.OfToken(token_id=(await self.host.create_token(takes.CreateToken(name="one", scope="read"))).id)


def die_before(operation: str) -> None:
    put_receipt = SqliteTables.put_receipt

    def die(self: SqliteTables, receipt: Any, committed: Any) -> None:
        if receipt.scope.split("\n")[1] == operation and not receipt.scope.endswith("\nbegun"):
            os.kill(os.getpid(), signal.SIGKILL)
        put_receipt(self, receipt, committed)

    SqliteTables.put_receipt = die  # type: ignore[method-assign]


async def main(operation: str, folder: str, cwd: str, cli: str, env: dict[str, str]) -> None:
    async with Host(folder, agents={"claude": cli}, env=env) as host:
        request = await Writes(host, cwd).request(operation)
        print(msgspec.json.encode(request).decode(), flush=True)
        die_before(operation)
        await getattr(host, operation)(request, key=KEY)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5], env=json.load(sys.stdin)))
