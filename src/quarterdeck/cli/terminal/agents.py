"""The program that ``--agent`` means."""

from __future__ import annotations

from quarterdeck.cli.common import USAGE_ERROR, ReportedError
from quarterdeck.transport.errors import CLINotFoundError
from quarterdeck.transport.find import INSTALL_COMMAND, find_cli

from .arguments import AGENTS, NOT_STARTED


def agent_command(name: str) -> list[str]:
    """The command that ``--agent NAME`` means. Raises ``ReportedError``."""
    explicit = None if name == "claude" else name
    if name == "sim":
        from quarterdeck.testing.sim import executable

        explicit = str(executable())
    try:
        return find_cli(explicit)
    except CLINotFoundError as error:
        if explicit is None and error.cli_path is None:
            raise ReportedError(
                "Claude Code not found",
                f"Install it with {INSTALL_COMMAND}, or set CLAUDE_BIN to its path.\n"
                "  Or use --agent sim, which needs no claude. quarterdeck doctor lists where it looked.",
                code=NOT_STARTED,
            ) from error
        if explicit is None:
            raise ReportedError(str(error), "Run quarterdeck doctor to check the setup.", code=NOT_STARTED) from error
        advice = f"--agent takes {AGENTS}."
        if "/" in name:
            raise ReportedError(f"no such program: {name}", advice, code=NOT_STARTED) from error
        raise ReportedError(f"unknown agent {name!r}", advice, code=USAGE_ERROR) from error
