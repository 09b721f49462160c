"""A command for the keeper from the options of a session: what the client would start itself."""

from __future__ import annotations

from quarterdeck import ClaudeAgentOptions
from quarterdeck.client.launch import plan_launch
from quarterdeck.client.opening import version_on_disk
from quarterdeck.keeper import PrivateFile
from quarterdeck.transport import ChildCommand, child_environment, find_cli


def cli_command(options: ClaudeAgentOptions) -> tuple[ChildCommand, list[PrivateFile]]:
    cli = find_cli(options.cli_path)
    plan = plan_launch(options, cli=cli, version=version_on_disk(cli))
    env = child_environment(plan.env, sdk_version=plan.sdk_version, allow=plan.env_allow, cwd=plan.cwd)
    command = ChildCommand(list(plan.argv), cwd=plan.cwd, env=env, user=plan.user)
    return command, [PrivateFile(file.flag, file.name, file.content) for file in plan.files]
