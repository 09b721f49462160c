"""``quarterdeck acp``: Claude Code as the agent of an editor."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck._places import state_folder

from .common import FAILED, OK, USAGE_ERROR, Parser, ReportedError
from .hosted.connecting import HOST_VARIABLE, add_host_options

if TYPE_CHECKING:
    from quarterdeck.client.options import ClaudeAgentOptions
    from quarterdeck.gateways.acp.hosted import HostSessions
    from quarterdeck.gateways.acp.kept_sessions import FindHost

logger = logging.getLogger(__name__)

LOGOUT_LIMIT_S = 30.0
CHECK_LIMIT_S = 60.0


def parser() -> Parser:
    from .terminal.arguments import AGENTS, MODES, NOT_STARTED

    built = Parser(
        "quarterdeck acp",
        description="Use Claude Code in Zed, JetBrains, Neovim, Emacs or any other editor that supports the Agent "
        "Client Protocol. The editor starts this command and talks to it on standard input and output; "
        "docs/acp.md has the settings for each editor.",
        examples=[
            ("quarterdeck acp", "the agent's command in the editor's settings"),
            ("quarterdeck acp --check", "start Claude Code once and report what is missing"),
            ("quarterdeck acp --host http://build:8787", "with the sessions of a host on another machine"),
            ("quarterdeck acp --agent sim", "with the simulator: no model, no login"),
        ],
        exits={
            OK: "the editor closed the connection, or the check passed",
            FAILED: "the check failed",
            USAGE_ERROR: "invalid arguments",
            NOT_STARTED: "Claude Code was not found",
        },
    )
    built.add_argument("--agent", metavar="AGENT", default="claude", help=AGENTS)
    built.add_argument("--model", metavar="NAME", help="the model of new sessions")
    built.add_argument("--mode", choices=MODES, help="the permission mode of new sessions")
    built.add_argument("--allow-bypass", action="store_true", help="offer the bypassPermissions mode, which never asks")
    built.add_argument("--no-editor-tools", action="store_true", help="do not use the editor's files and terminals")
    built.add_argument(
        "--draft", action="store_true", help="offer the draft of ACP version 2 to editors that request it"
    )
    built.add_argument("--login", action="store_true", help="log in with Claude Code, in this terminal")
    built.add_argument("--check", action="store_true", help="start Claude Code once, report, and exit")
    built.add_argument("--verbose", action="store_true", help="log to standard error")
    add_host_options(built, json=None)
    built.add_argument(
        "--no-host", action="store_true", help="run sessions in this process, even if this user's host is running"
    )
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .terminal.agents import agent_command

    try:
        program = agent_command(given.agent)
    except ReportedError:
        if given.no_host or given.login or given.check or not (_names_host(given) or _own_socket().exists()):
            raise
        program = []  # the host has its own
    if given.login:
        os.execvp(program[0], [*program, "/login"])  # noqa: S606  # the user's own terminal
    logging.basicConfig(level=logging.INFO if given.verbose else logging.WARNING, stream=sys.stderr)
    make = _options(given, program)
    if given.check:
        return asyncio.run(_check(given, make))
    from quarterdeck.gateways.acp.front import Usual
    from quarterdeck.gateways.acp.jsonrpc import INTERNAL_ERROR, RpcError
    from quarterdeck.gateways.acp.run import serve

    async def logout() -> None:
        if not program:
            raise RpcError(INTERNAL_ERROR, "Claude Code is not on this machine: log out where the host is.")
        await _run(*program, "auth", "logout")

    bypass = given.allow_bypass or given.mode == "bypassPermissions"
    here = given.no_host or not (_names_host(given) or _own_socket().exists())
    serving = serve(
        make,
        bypass=bypass,
        logout=logout,
        editor_tools=not given.no_editor_tools,
        draft=given.draft,
        find_host=None if given.no_host else _host_finder(given),
        usual=Usual(given.mode, given.model, bypass) if here else None,
    )
    if given.agent == "sim":
        from .sessions.find import sessions_of

        with sessions_of(given.agent):
            asyncio.run(serving)
    else:
        asyncio.run(serving)
    return OK


def _options(given: Any, program: list[str]) -> Any:
    """Makes the options of each process: those of the command line, and what the session adds."""
    common: dict[str, Any] = {
        "cli_path": program or None,
        "model": given.model,
        "permission_mode": given.mode,
        "include_partial_messages": True,
        "include_hook_events": True,
        "forward_subagent_text": True,
        "agent_progress_summaries": True,
        "per_task_stop_affordance": True,
        "enable_file_checkpointing": True,
        "client_app": "quarterdeck-acp",
    }

    # While it serves the simulator, this process looks for sessions in the simulator's folder (``sessions_of``). The
    # simulator works that folder out by itself, from the one that counts for Claude Code.
    own = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")  # noqa: PTH111
    env = {"CLAUDE_CONFIG_DIR": own} if given.agent == "sim" else {}

    def make(**more: Any) -> ClaudeAgentOptions:
        from quarterdeck.client.options import ClaudeAgentOptions

        return ClaudeAgentOptions(**{**common, **more, "env": {**env, **more.get("env", {})}})

    return make


def _host_finder(given: Any) -> FindHost:
    """The host that was named, or the user's own while it runs. Looked for when a session needs it, and once."""
    named, socket = _names_host(given), _own_socket()
    found: HostSessions | None = None
    finding = asyncio.Lock()

    async def find() -> HostSessions | None:
        nonlocal found
        if found is None and (named or socket.exists()):
            async with finding:
                if found is None:
                    found = await _connected(given, required=named)
        return found

    return find


def _names_host(given: Any) -> bool:
    return bool(given.host or os.environ.get(HOST_VARIABLE))


def _own_socket() -> Path:
    """Of this user's host, while it runs."""
    return state_folder() / "host.sock"


async def _connected(given: Any, *, required: bool) -> HostSessions | None:
    from quarterdeck.gateways.acp.hosted import HostSessions
    from quarterdeck.gateways.acp.jsonrpc import INTERNAL_ERROR, RpcError
    from quarterdeck.host.errors import HostError

    from .hosted.connecting import address_of, opened

    try:
        address = address_of(given)
        host = await opened(address).open()
        from quarterdeck.remote.transport import RemoteTransport
    except (ReportedError, HostError) as error:
        if required:
            raise RpcError(INTERNAL_ERROR, f"The host does not answer: {error}") from error
        logger.warning("The host does not answer, so sessions run in this process: %s", error)
        return None
    agent = None if given.agent == "claude" else given.agent
    return HostSessions(host, RemoteTransport, agent=agent, here=address.is_here, required=required)


async def _run(*words: str) -> None:
    from quarterdeck.gateways.acp.jsonrpc import INTERNAL_ERROR, RpcError

    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(LOGOUT_LIMIT_S):
            said, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise RpcError(INTERNAL_ERROR, f"{words[0]} did not log out within {LOGOUT_LIMIT_S:.0f} s") from None
    if process.returncode:
        raise RpcError(INTERNAL_ERROR, f"could not log out: {said.decode('utf-8', 'replace').strip()[-500:]}")


async def _check(given: Any, make: Any) -> int:
    """Start it as an editor would, and say what an editor would find."""
    from quarterdeck.gateways.acp.agent import EditorAgent
    from quarterdeck.gateways.acp.jsonrpc import RpcError
    from quarterdeck.gateways.acp.trial import tried

    def options(**more: Any) -> ClaudeAgentOptions:
        made: ClaudeAgentOptions = make(**{"persist_session": False, **more})
        return made

    try:
        async with asyncio.timeout(CHECK_LIMIT_S):
            found = await tried(lambda peer: EditorAgent(peer, options), os.getcwd())  # noqa: PTH109  # as it is
    except (RpcError, TimeoutError) as error:
        why = str(error) or f"no answer within {CHECK_LIMIT_S:.0f} s"
        raise ReportedError(f"Claude Code did not start: {why}", "Run quarterdeck doctor.", code=FAILED) from error
    print(f"Claude Code answers: {found.commands} commands, models {', '.join(found.models) or 'unknown'}")
    print(f"Account: {_account(found.account) or 'none'}")
    try:
        import tree_sitter_bash  # noqa: F401
    except ImportError:
        print("For narrow rules for commands: pip install 'quarterdeck[policy]'")
    await _check_host(given)
    if not (found.authenticated or given.agent == "sim"):
        raise ReportedError("Claude Code is not logged in.", "Run quarterdeck acp --login.", code=FAILED)
    print("Ready. In the editor, set the agent's command to: quarterdeck acp")
    return OK


def _account(account: dict[str, Any]) -> str | None:
    """Whose, or what is known instead."""
    known = (account.get(name) for name in ("email", "apiKeySource", "tokenSource"))
    provider = account.get("apiProvider")
    return next((one for one in known if one not in (None, "none")), None if provider == "firstParty" else provider)


async def _check_host(given: Any) -> None:
    """Where sessions will live."""
    from quarterdeck.gateways.acp.jsonrpc import RpcError

    missing = "" if _has_remote() else " That needs pip install 'quarterdeck[remote]'."
    if given.no_host or not (_names_host(given) or _own_socket().exists()):
        where = "Sessions run in the agent and end with the editor; they outlive it in a host (quarterdeck serve)."
        print(where + missing)
        return
    try:
        host = await _connected(given, required=True)
    except RpcError as error:
        if _names_host(given):
            advice = missing.strip() or "Start the host, or leave out --host."
            raise ReportedError(str(error), advice, code=FAILED) from error
        print(f"Sessions run in the agent. {error}{missing}")
        return
    if host is not None:
        await host.close()
    print("Sessions live in the host and outlive the editor.")


def _has_remote() -> bool:
    try:
        import websockets  # noqa: F401
    except ImportError:
        return False
    return True
