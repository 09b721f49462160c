"""The editor's terminals: a tool that runs a command where the user can see it, type into it and stop it.

It exists next to Claude Code's own ``Bash``, and the rules for ``Bash`` apply to it too: the policy engine checks each
command before anyone is asked and again before the command runs. A ``PreToolUse`` hook enforces deny and ask rules
where Claude Code itself would ask nobody: in ``bypassPermissions``, or if its settings allow the tool.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from quarterdeck.client.options_types import HookMatcher
from quarterdeck.client.tools.context import ToolContext
from quarterdeck.client.tools.decorator import SdkMcpTool, tool
from quarterdeck.policy import Decision, Policy, PolicyError

from . import schema
from .jsonrpc import RpcError
from .peer import Peer, decoded
from .tool_calls import EDITOR_TERMINAL

OUTPUT_LIMIT_BYTES = 200_000
"""Of the end of the output; the editor keeps no more."""
ABOUT = (
    "Run a shell command in a terminal of the editor. The user sees it run, can type into it and can stop it. Use it "
    "for commands that need the user, such as a login or a development server; otherwise use Bash. Returns when the "
    "command has ended, or stops it after timeout_s (default 600)."
)
TAKES = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "timeout_s": {"type": "number", "minimum": 1, "maximum": 3600}},
    "required": ["command"],
}
DEFAULT_LIMIT_S = 600.0

Show = Callable[[str, str], None]
"""Call, terminal: show the terminal in the call."""


class EditorTerminals:
    """The terminals of one session."""

    def __init__(self, peer: Peer, session_id: str, *, cwd: str, show: Show) -> None:
        self._peer = peer
        self.session_id = session_id
        self._cwd = cwd
        self._show = show

    def judge(self, tool_input: dict[str, Any]) -> Decision:
        """What the rules for ``Bash`` say. They are read each time because they can change during the session."""
        return self._policy().decide("Bash", tool_input)

    def hooks(self) -> list[HookMatcher]:
        return [HookMatcher(matcher=EDITOR_TERMINAL, hooks=[self._guard])]

    async def _guard(self, hook_input: Mapping[str, Any], *_: Any) -> dict[str, Any]:
        """Refuses, asks, or has no opinion. If it fails, the call is denied."""
        said = self._policy().restrain("Bash", hook_input["tool_input"])
        if said.behavior == "allow":
            return {}
        decided = {"permissionDecision": said.behavior, "permissionDecisionReason": said.explanation}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decided}}

    def _policy(self) -> Policy:
        return Policy.from_settings(self._cwd, mode="default")

    def tools(self) -> list[SdkMcpTool[Any]]:
        """None without the policy engine's grammar: what cannot be judged is not offered."""
        try:
            Policy((), cwd=self._cwd)
        except PolicyError:
            return []

        @tool("terminal", ABOUT, TAKES)
        async def terminal(given: dict[str, Any], context: ToolContext) -> dict[str, Any]:
            if (judged := self.judge(given)).behavior == "deny":  # even in modes that never ask
                return _told(f"A rule denies this command. {judged.explanation}", failed=True)
            limit_s = float(given.get("timeout_s") or DEFAULT_LIMIT_S)
            try:
                return await self._run(given["command"], limit_s, context.tool_use_id)
            except RpcError as error:
                return _told(f"The editor could not run it: {error}", failed=True)

        return [terminal]

    async def _run(self, command: str, limit_s: float, call_id: str | None) -> dict[str, Any]:
        asked = schema.CreateTerminalRequest(
            session_id=self.session_id,
            command="/bin/sh",
            args=["-c", command],
            cwd=self._cwd,
            output_byte_limit=OUTPUT_LIMIT_BYTES,
        )
        made = decoded(await self._peer.call("terminal/create", asked), schema.CreateTerminalResponse).terminal_id
        which: dict[str, Any] = {"session_id": self.session_id, "terminal_id": made}
        try:
            if call_id is not None:
                self._show(call_id, made)
            late = not await self._ended(which, limit_s)
            if late:
                await self._peer.call("terminal/kill", schema.KillTerminalRequest(**which))
            answer = await self._peer.call("terminal/output", schema.TerminalOutputRequest(**which))
            return _result(decoded(answer, schema.TerminalOutputResponse), limit_s if late else None)
        except asyncio.CancelledError:
            self._peer.call("terminal/kill", schema.KillTerminalRequest(**which)).add_done_callback(_look)
            raise
        finally:
            self._peer.call("terminal/release", schema.ReleaseTerminalRequest(**which)).add_done_callback(_look)

    async def _ended(self, which: dict[str, Any], limit_s: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._peer.call("terminal/wait_for_exit", schema.WaitForTerminalExitRequest(**which))
                return True
        return False


def _result(output: schema.TerminalOutputResponse, limit_s: float | None) -> dict[str, Any]:
    cut = "[the beginning is cut off]\n" if output.truncated else ""
    words = f"{cut}{output.output}".rstrip()
    if limit_s is not None:
        return _told(f"{words}\nIt was stopped after {limit_s:g} s.".lstrip(), failed=True)
    ended = output.exit_status
    code = ended.exit_code if ended is not None else None
    if ended is not None and ended.signal:
        return _told(f"{words}\nIt was terminated by {ended.signal}.".lstrip(), failed=True)
    if code:
        return _told(f"Exit code {code}\n{words}".rstrip(), failed=True)
    return _told(words or "(no output)")


def _told(words: str, *, failed: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **({"is_error": True} if failed else {})}


def _look(call: asyncio.Future[bytes]) -> None:
    """Nobody waits for these; it does not matter if the editor refuses one."""
    if not call.cancelled():
        call.exception()
