"""From options to a CLI ready to start: finds the CLI, plans the launch, writes the private files."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

from quarterdeck.transport import (
    ByteTransport,
    ChildCommand,
    CLINotFoundError,
    PrivateFiles,
    ProcessTransport,
    child_environment,
    find_cli,
)

from .launch import LaunchPlan, plan_launch
from .options import ClaudeAgentOptions

logger = logging.getLogger("quarterdeck")


class Launch:
    """A CLI ready to start, and the private files it reads; ``discard`` removes them, if there are any."""

    def __init__(self, plan: LaunchPlan, transport: ByteTransport, files: PrivateFiles) -> None:
        self.plan = plan
        self.transport = transport
        self.discard = files.remove if files.exist else None


def prepare(options: ClaudeAgentOptions) -> Launch:
    """Check the options, find the CLI, write the private files. Nothing is started."""
    cli = find_cli(options.cli_path) if options.spawn_claude_code_process is None else _cli_elsewhere(options.cli_path)
    plan = plan_launch(options, cli=cli, version=version_on_disk(cli))
    for name in plan.ignored:
        logger.warning("This version of Claude Code ignores the option %s", name)
    files = PrivateFiles()
    try:
        command = ChildCommand(
            argv=plan.command(files.write if options.spawn_claude_code_process is None else _inline),
            cwd=plan.cwd,
            env=child_environment(plan.env, sdk_version=plan.sdk_version, allow=plan.env_allow, cwd=plan.cwd),
            user=plan.user,
        )
    except BaseException:
        files.remove()
        raise
    return Launch(plan, _transport(options, command), files)


def _transport(options: ClaudeAgentOptions, command: ChildCommand) -> ByteTransport:
    if options.spawn_claude_code_process is None:
        return ProcessTransport(command, on_stderr_line=options.stderr)
    from quarterdeck.transport.spawned import SpawnedTransport

    return SpawnedTransport(options.spawn_claude_code_process, command, on_stderr_line=options.stderr)


def _cli_elsewhere(cli_path: str | Path | list[str] | None) -> list[str]:
    """The CLI for a process that the program starts: it may be on another machine, so it need not exist here."""
    if isinstance(cli_path, list):
        return cli_path
    if cli_path is not None:
        return ["node", str(cli_path)] if str(cli_path).endswith((".js", ".mjs")) else [str(cli_path)]
    try:
        return find_cli(None)
    except CLINotFoundError:
        return ["claude"]


def _inline(_: str, content: bytes) -> str:
    """Where our files may be unavailable, their content goes on the command line, as in the official SDKs."""
    return content.decode()


def version_on_disk(cli: Sequence[str]) -> str | None:
    """The CLI's version from its npm package; None where it was installed otherwise. Does not start it."""
    program = Path(cli[-1])
    try:
        folder = program.resolve().parent
        for candidate in (folder, folder.parent):
            manifest = candidate / "package.json"
            if not manifest.is_file():
                continue
            package = json.loads(manifest.read_bytes())
            if str(package.get("name", "")).startswith("@anthropic-ai/claude-code"):
                return str(package["version"])
    except (OSError, ValueError, KeyError):
        return None
    return None
