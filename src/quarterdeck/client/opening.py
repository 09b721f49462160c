"""From options to a CLI ready to start: finds the CLI, plans the launch, writes the private files."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

from quarterdeck.transport import ChildCommand, PrivateFiles, ProcessTransport, child_environment, find_cli

from .launch import LaunchPlan, plan_launch
from .options import ClaudeAgentOptions

logger = logging.getLogger("quarterdeck")


class Launch:
    """A CLI ready to start, and the private files it reads; ``discard`` removes them, if there are any."""

    def __init__(self, plan: LaunchPlan, transport: ProcessTransport, files: PrivateFiles) -> None:
        self.plan = plan
        self.transport = transport
        self.discard = files.remove if files.exist else None


def prepare(options: ClaudeAgentOptions) -> Launch:
    """Check the options, find the CLI, write the private files. Nothing is started."""
    cli = find_cli(options.cli_path)
    plan = plan_launch(options, cli=cli, version=version_on_disk(cli))
    for name in plan.ignored:
        logger.warning("This version of Claude Code ignores the option %s", name)
    files = PrivateFiles()
    try:
        command = ChildCommand(
            argv=plan.command(files.write),
            cwd=plan.cwd,
            env=child_environment(plan.env, sdk_version=plan.sdk_version, allow=plan.env_allow, cwd=plan.cwd),
            user=plan.user,
        )
    except BaseException:
        files.remove()
        raise
    return Launch(plan, ProcessTransport(command, on_stderr_line=options.stderr), files)


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
