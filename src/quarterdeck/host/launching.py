"""Launches a session's process: its options, and the transport to it."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from quarterdeck.client.errors import CLINotFoundError
from quarterdeck.client.launch import plan_launch
from quarterdeck.client.opening import version_on_disk
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.serving import LATER
from quarterdeck.keeper import KeeperClient, PrivateFile
from quarterdeck.keeper.transport import KeeperTransport
from quarterdeck.transport import (
    ByteTransport,
    ChildCommand,
    ExitStatus,
    PrivateFiles,
    ProcessTransport,
    Receiver,
    child_environment,
    find_cli,
)

from .bodies import SessionBody
from .errors import HostError

SIMULATED = "sim"
"""The simulator's agent name, also as a value, as in ``Host(agents={"claude": "sim"})``."""
SIMULATOR = (sys.executable, "-m", "quarterdeck.testing.sim")

TAKEN_OPTIONS = frozenset(
    {
        *(
            "allowed_tools",
            "disallowed_tools",
            "tools",
            "system_prompt",
            "max_turns",
            "max_budget_usd",
            "fallback_model",
        ),
        *("max_thinking_tokens", "thinking", "effort", "include_partial_messages", "output_format", "betas", "agent"),
        *("include_hook_events", "enable_file_checkpointing", "title", "prompt_suggestions", "auth_status"),
    }
)
"""Options allowed with ``operate``. All others start a program, open a folder or change who decides."""

TOLD_BYTES = 256 * 1024
TOLD_S = 0.1
"""Acknowledge output to the keeper after this many bytes, or after this time."""

SPACE = 0x20
"""Bytes above it aren't whitespace."""

_KNOWN = frozenset(field.name for field in fields(ClaudeAgentOptions))

DEFAULTS: dict[str, Any] = {
    "include_partial_messages": True,
    "system_prompt": {"type": "preset", "preset": "claude_code"},
}
"""Sessions of a host use Claude Code's own system prompt; a program's own session has none by default."""

HOSTS_OWN = frozenset(
    {
        *("cli_path", "cwd", "model", "permission_mode", "resume", "fork_session", "resume_session_at"),
        *("on_elicitation", "on_user_dialog", "can_use_tool", "session_state_events"),
    }
)
"""Options that the host sets itself."""


def leave_open(*_: Any) -> Any:
    """Leave a request open: it becomes an approval, answered once someone decides."""
    return LATER


def check_options(options: dict[str, Any], *, admin: bool) -> None:
    for name in options:
        if name not in _KNOWN:
            raise HostError("invalid", f"There is no option {name}.", field=f"options.{name}")
        if name in HOSTS_OWN:
            raise HostError("invalid", f"The option {name} is set by the host.", field=f"options.{name}")
        if name not in TAKEN_OPTIONS and not admin:
            raise HostError(
                "option_not_allowed", f"The option {name} requires the scope admin.", field=f"options.{name}"
            )


def split_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into those that may be logged and those that may contain secrets."""
    public = {name: value for name, value in options.items() if name in TAKEN_OPTIONS}
    return public, {name: value for name, value in options.items() if name not in TAKEN_OPTIONS}


def options_for(
    body: SessionBody, cwd: str, *, agents: dict[str, Sequence[str] | str], private: Mapping[str, Any]
) -> ClaudeAgentOptions:
    """Return the options of the session's next process."""
    given: dict[str, Any] = {**DEFAULTS, **body.options, **private}
    cli = agents.get(body.agent) if body.cli_pin is None else agents.get(f"{body.agent}@{body.cli_pin}")
    if cli is None and body.cli_pin is not None:
        cli = _of_version(body.cli_pin, agents.get(body.agent))
    if cli == SIMULATED or (cli is None and body.agent == SIMULATED):
        cli = agents.get(SIMULATED, SIMULATOR)
    if cli is None and body.agent != "claude":
        cli = body.agent
    return ClaudeAgentOptions(
        cli_path=list(cli) if cli is not None and not isinstance(cli, str) else cli,
        cwd=cwd,
        model=body.chosen.get("model", body.model),
        permission_mode=body.chosen.get("permission_mode", body.permission_mode),
        resume=body.resume,
        fork_session=body.fork,
        resume_session_at=body.resume_at,
        on_elicitation=leave_open,
        on_user_dialog=leave_open,
        session_state_events=True,
        **given,
    )


def _of_version(wanted: str, cli: Sequence[str] | str | None) -> list[str]:
    """Return the installed CLI if it has this version. Raises ``HostError`` otherwise."""
    try:
        words = find_cli(cli)
    except CLINotFoundError as error:
        raise HostError("cli_missing", str(error)) from error
    found = version_on_disk(words)
    if found != wanted:
        raise HostError(
            "cli_missing",
            f"Claude Code {wanted} is not available; the version of {words[-1]} is {found or 'unknown'}.",
            hint=f'Add it with Host(agents={{"claude@{wanted}": …}}).',
            field="cli_version",
        )
    return words


class LineEnds:
    """Tracks where the CLI's lines end, so that a row can record how far the spool is committed."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.complete = offset
        """One past the last complete line."""
        self._blank = True
        """Whether the incomplete line is only whitespace so far."""
        self.ends: deque[int] = deque()

    def take(self, data: bytes) -> None:
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            if not self._blank or data[start] > SPACE or data[start:end].strip():
                self.ends.append(self.offset + end + 1)
            self._blank = True
            start = end + 1
            self.complete = self.offset + start
        if start < len(data) and (data[start] > SPACE or data[start:].strip()):
            self._blank = False
        self.offset += len(data)

    def next(self) -> int:
        """Return the end of the next line; for an incomplete last line, the end of the output."""
        return self.ends.popleft() if self.ends else self.offset


class CommittedOffset:
    """Tells the keeper from time to time how much output is committed, so that it can trim the spool.

    Not at every commit: that would be most of the traffic to the keeper. If the host crashes before reporting a commit,
    the next one reads that output again and skips what it has.
    """

    def __init__(self, transport: KeeperTransport, offset: int) -> None:
        self._transport = transport
        self._told = self._reached = offset
        self._timer: asyncio.TimerHandle | None = None

    def reached(self, offset: int) -> None:
        """Everything before this is committed. Rows are reported as they are written, previews a little later."""
        self._reached = max(offset, self._reached)
        if offset - self._told >= TOLD_BYTES:
            self._tell()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TOLD_S, self._tell)

    def _tell(self) -> None:
        self.stop()
        if self._reached > self._told:
            self._told = self._reached
            self._transport.acknowledge(self._reached)

    def stop(self) -> None:
        """Stop reporting: the process is gone, or another host has it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Wire:
    """A transport to a session's process that counts lines in both directions."""

    def __init__(
        self,
        inner: ByteTransport,
        *,
        offset: int = 0,
        again: Sequence[bytes] = (),
        discard: Callable[[], None] = lambda: None,
    ) -> None:
        """``again``: our lines that the process may not have, when attaching to a running one. ``discard`` is called
        when the process has ended or didn't start."""
        self._inner = inner
        self._again = again
        self._discard = discard
        self.lines = LineEnds(offset)
        self.committed = CommittedOffset(inner, offset) if isinstance(inner, KeeperTransport) else None
        """Reports to the keeper how far its output is committed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        try:
            await self._inner.start(self)
        except BaseException:
            self._discard()
            raise
        for line in self._again:
            self._inner.write(line)

    def bytes_received(self, data: bytes) -> None:
        self.lines.take(data)
        self._receiver.bytes_received(data)

    def eof_received(self) -> None:
        self._receiver.eof_received()

    def exited(self, status: ExitStatus) -> None:
        self._discard()
        self._receiver.exited(status)


def new_process(
    options: ClaudeAgentOptions, keeper: KeeperClient | None, session: str, generation: int, **hooks: Any
) -> Wire:
    """Create a transport for a new process, in the keeper or our own. Raises ``HostError``."""
    try:
        cli = find_cli(options.cli_path)
    except CLINotFoundError as error:
        raise HostError("cli_missing", str(error)) from error
    try:
        plan = plan_launch(options, cli=cli, version=version_on_disk(cli))
    except (TypeError, ValueError) as error:
        raise HostError("invalid", f"These options are not valid: {error}.", field="options") from error
    env = child_environment(plan.env, sdk_version=plan.sdk_version, allow=plan.env_allow, cwd=plan.cwd)
    if plan.cwd is not None and not Path(plan.cwd).is_dir():
        raise HostError(
            "invalid",
            f"There is no folder {plan.cwd}.",
            hint="Put it back, or start a session in another folder.",
            field="cwd",
        )
    if keeper is not None:
        command = ChildCommand(argv=list(plan.argv), cwd=plan.cwd, env=env, user=plan.user)
        files = [PrivateFile(file.flag, file.name, file.content) for file in plan.files]
        return Wire(keeper.start(session, command, generation=generation, files=files, durable=True, **hooks))
    private = PrivateFiles()
    try:
        command = ChildCommand(argv=plan.command(private.write), cwd=plan.cwd, env=env, user=plan.user)
    except BaseException:
        private.remove()
        raise
    return Wire(ProcessTransport(command), discard=private.remove)
