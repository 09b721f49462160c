"""Rules that decide for you, with a person for the rest. Needs ``pip install 'quarterdeck[policy]'``.

Rules are written as in Claude Code's settings, and judge shell commands part by part: ``git status && rm -rf .`` is
not a ``git status``. ``policy.explain()`` says why something is decided as it is.
"""

import asyncio
from pathlib import Path
from typing import Any

from _where import HOST
from quarterdeck import ClaudeAgentOptions, PermissionResultDeny, connect
from quarterdeck.policy import Decision, Policy


def ask_a_person(decision: Decision, tool: str, tool_input: Any, context: Any) -> PermissionResultDeny:
    print("a person is asked about:", tool_input["command"])
    return PermissionResultDeny(message="The person is out for lunch.")


policy = Policy.from_rules(allow=["Bash(mkdir:*)"], deny=["Bash(rm:*)"], cwd=Path.cwd(), on_ask=ask_a_person)


async def main() -> None:
    async with connect(ClaudeAgentOptions(can_use_tool=policy), host=HOST) as session:
        for question in ("Make a folder.", "Remove it.", "Touch a file."):
            print((await session.prompt(question)).result)


asyncio.run(main())
