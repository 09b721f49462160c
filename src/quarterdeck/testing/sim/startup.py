"""What can go wrong before the first line is read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import facts
from .transcript import NotResumableError

if TYPE_CHECKING:
    from .simulator import SimulatedCli

AS_ROOT = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"


class StartupError(Exception):
    def __init__(self, message: str, *, says_result: bool = False, reason: str | None = None) -> None:
        super().__init__(message)
        self.exit_code = 1
        self._says_result = says_result
        self._reason = reason

    def tell(self, cli: SimulatedCli) -> None:
        if self._says_result:
            more = {"startup_failure_reason": self._reason} if self._reason else {}
            cli.results.startup_failure(str(self), **more)
        cli.write_stderr(f"{self}\n")


def check(cli: SimulatedCli) -> None:
    """The flags must make sense together, as the real CLI sees it."""
    flags = cli.flags
    if (url := flags.get("--sdk-url")) is not None:
        host = url.split("//")[-1].split("/")[0].rsplit(":", 1)[0]
        raise StartupError(f'Error: --sdk-url rejected: host "{host}" is not an approved Anthropic endpoint.')
    if flags.get("--output-format") == "stream-json" and "--verbose" not in flags:
        raise StartupError("Error: When using --print, --output-format=stream-json requires --verbose")
    mode = flags.get("--permission-mode")
    if mode is not None and mode not in (*facts.MODES, "manual"):
        choices = "acceptEdits, auto, bypassPermissions, manual, dontAsk, plan"
        raise StartupError(
            f"error: option '--permission-mode <mode>' argument '{mode}' is invalid. Allowed choices are {choices}."
        )
    bypass = mode == "bypassPermissions" or "--dangerously-skip-permissions" in flags
    if bypass and os.geteuid() == 0 and cli.env.get("IS_SANDBOX") != "1":
        told = cli.env.get("CLAUDE_CODE_STARTUP_FAILURE_RESULTS") == "1"
        raise StartupError(AS_ROOT, says_result=told, reason="bypass_root")


def open_session(cli: SimulatedCli) -> None:
    """Model, mode and settings from the flags; the transcript from disk."""
    session, flags = cli.session, cli.flags
    for settings in flags.objects("--settings"):
        session.settings |= settings
    session.model = facts.resolve_model(flags.get("--model") or session.settings.get("model"))
    mode = flags.get("--permission-mode") or "default"
    if "--dangerously-skip-permissions" in flags:
        mode = "bypassPermissions"
    session.mode = "default" if mode == "manual" else mode
    session.directories = [session.resolve(path) for path in flags.values.get("--add-dir", [])]
    session.title = flags.get("--name")
    session.forward_text = "--forward-subagent-text" in flags
    session.suggestions = "--prompt-suggestions" in flags
    session.schema = next(iter(flags.objects("--json-schema")), None)
    for agents in flags.objects("--agents"):
        session.agents |= agents
    try:
        cli.transcript.open()
    except NotResumableError as error:
        raise StartupError(str(error), says_result=error.says_result) from None
