"""``quarterdeck demo --serve``: a host in a scratch folder with two sessions, one of which waits for you."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from quarterdeck.cli.common import FAILED, OK, Look, ReportedError
from quarterdeck.cli.terminal.demo import NOTES, SIMULATED_PROMPTS

from .connecting import HostAddress, opened, reporting

if TYPE_CHECKING:
    from quarterdeck.host.resources import Approval, Session
    from quarterdeck.remote import RemoteHost

LIMIT_S = 60.0
"""Per wait, when nobody is at the terminal."""
SAY_EVERY_S = 3.0
T = TypeVar("T")


def demonstrate(agent: str, *, ask: bool) -> int:
    """``ask``: someone is at the terminal to answer."""
    say("dim", "Starting a host in a scratch folder …")
    try:
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ReportedError(f"{error.name} is not installed", "Run pip install 'quarterdeck[host]'.") from error
    with tempfile.TemporaryDirectory(prefix="quarterdeck-demo-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch).resolve()
        project = folder / "project"
        project.mkdir()
        (project / "notes.txt").write_text(NOTES)
        try:
            code = asyncio.run(reporting(_demonstrate(folder, agent, ask=ask)))
        except TimeoutError:
            raise ReportedError("the demo took too long", "Try again: quarterdeck demo --serve", code=FAILED) from None
        say("dim", f"notes.txt is now: {' '.join((project / 'notes.txt').read_text().split())}")
    # Here, not in the Makefile: a Ctrl-C, which is one way out, also ends make.
    say("bold", f"\n{next_step()}")
    return code


def _venv() -> Path | None:
    """The environment we run in, if it is not active: ``quarterdeck`` alone is not found then."""
    if sys.prefix == sys.base_prefix or shutil.which("quarterdeck") is not None:
        return None
    venv, here = Path(sys.prefix), Path.cwd()
    return venv.relative_to(here) if venv.is_relative_to(here) else venv


def _command() -> str:
    """How to call us in a terminal that is opened in this folder."""
    venv = _venv()
    return "quarterdeck" if venv is None else str(venv / "bin" / "quarterdeck")


def next_step() -> str:
    """What to try after the demo, as lines to copy."""
    guide, venv = Path("docs/guide/index.md"), _venv()
    lines = ["Next:", "  quarterdeck chat --agent sim     (in any folder)"]
    if venv is not None:
        lines.insert(1, f"  . {venv / 'bin' / 'activate'}")
    return "\n".join([*lines, f"More: {guide}"] if guide.exists() else lines)


async def _demonstrate(folder: Path, agent: str, *, ask: bool) -> int:
    async with _served(folder, agent) as (address, page):
        async with opened(address) as host:
            await _start_sessions(host, folder / "project", agent)
        say("", f"\nA host is running with two sessions. Its web page (this link works once, for a minute):\n  {page}")
        where = Look.of(sys.stdout).paint("bold", f"{_command()} ps --host {folder / 'state'}")
        say("", f"In another terminal:\n  {where}\n")
        if ask:
            return await _with_somebody(address)
        async with opened(address) as host:
            return await _by_itself(host)


@contextlib.asynccontextmanager
async def _served(folder: Path, agent: str) -> AsyncIterator[tuple[HostAddress, str]]:
    """A host on a free port and a socket; where it is, and the URL of its page."""
    from quarterdeck.cli.serve import agents_for, own_token, page_of
    from quarterdeck.gateways.http import Gateway, Server
    from quarterdeck.host import Host

    state = folder / "state"
    env = {"HOME": str(folder)} if agent == "sim" else {}  # the simulator keeps its transcripts there
    async with Host(state, keeper=False, agents=agents_for(agent), env=env) as host, Server(Gateway(host)) as server:
        name, port = await server.listen_tcp("127.0.0.1", 0)
        await server.listen_unix(state / "host.sock")
        secret = await own_token(host, state)
        page = await page_of(server.gateway, f"http://{name}:{port}", secret)
        yield HostAddress(f"unix:{state / 'host.sock'}", secret, is_here=True), page


async def _start_sessions(host: RemoteHost, project: Path, agent: str) -> None:
    from quarterdeck.host.requests import CreateSession

    hello, _, edit = SIMULATED_PROMPTS
    for name, prompt in (("greeter", hello), ("gardener", edit)):
        say("dim", f"{name}: {prompt}")
        await host.create_session(CreateSession(cwd=str(project), name=name, prompt=prompt, agent=agent))


async def _with_somebody(address: HostAddress) -> int:
    from .triage import watch

    say("dim", "This is quarterdeck approvals --watch. Press Esc or Ctrl-C to exit.\n")
    return await watch(address)


async def _by_itself(host: RemoteHost) -> int:
    """Without a user: show what waits, allow it, and show the outcome."""
    from quarterdeck.host.requests import Decide, Decision, ListApprovals, Wait

    from .naming import all_sessions
    from .showing import approvals_table, sessions_table

    look = Look.of(sys.stdout)

    async def first_waiting() -> Approval:
        async with contextlib.aclosing(host.watch_approvals(ListApprovals())) as watched:
            async for approval in watched:
                if approval.state == "pending":
                    return approval
        raise TimeoutError

    approval = await _told(first_waiting(), "waiting for a session's request")
    sessions = [one async for one in all_sessions(host)]
    print("\n".join(sessions_table(sessions, look)), end="\n\n")
    names = {one.id: one.name for one in sessions}
    print("\n".join(approvals_table([approval], look, names)), end="\n\n", flush=True)
    say("yellow", "allowed automatically: no terminal, and this is a scratch folder")
    await host.decide(Decide(approval_id=approval.id, decision=Decision(decision="allow")))
    for session in sessions:
        await _told(host.wait(Wait(session_id=session.id)), f"waiting for {session.name}")
    await _show_end(host, [one async for one in all_sessions(host)], look)
    return OK


async def _show_end(host: RemoteHost, sessions: list[Session], look: Look) -> None:
    from .session_log import show_log
    from .showing import sessions_table

    gardener = next(one for one in sessions if one.name == "gardener")
    await show_log(host, argparse.Namespace(session=gardener.id, raw=False, json=False, follow=False))
    print()
    print("\n".join(sessions_table(sessions, look)), end="\n\n", flush=True)


async def _told(work: Awaitable[T], what: str) -> T:
    """Wait for it, printing a line every few seconds. Raises ``TimeoutError``."""
    doing = asyncio.ensure_future(work)
    for _ in range(int(LIMIT_S / SAY_EVERY_S)):
        done, _pending = await asyncio.wait([doing], timeout=SAY_EVERY_S)
        if done:
            return doing.result()
        say("dim", f"{what} …")
    doing.cancel()
    raise TimeoutError


def say(style: str, text: str) -> None:
    print(Look.of(sys.stdout).paint(style, text) if style else text, flush=True)
