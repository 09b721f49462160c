"""The same calls, answered by the official SDK in its own interpreter, and by ours."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from compat.peer import peer_python

LIMIT_S = 120.0

Call = tuple[Any, ...]
"""A function's name, then its arguments; a dict at the end for those by name."""

_ANSWERS = """
import dataclasses, json, sys
def plain(value):
    if isinstance(value, list): return [plain(one) for one in value]
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value
def answer(module, name, *arguments):
    named = arguments[-1] if arguments and isinstance(arguments[-1], dict) else {}
    try:
        return plain(getattr(module, name)(*arguments[:len(arguments) - bool(named)], **named))
    except Exception as error:
        kinds = [one.__name__ for one in (ValueError, FileNotFoundError, OSError) if isinstance(error, one)]
        return {"raised": kinds or [type(error).__name__]}
"""
_PROGRAM = (
    _ANSWERS
    + """
import claude_agent_sdk
print(json.dumps([answer(claude_agent_sdk, *call) for call in json.load(sys.stdin)]))
"""
)


def official_answers(calls: list[Call], config: Path) -> list[Any]:
    python = peer_python()
    assert python is not None
    env = {**os.environ, "CLAUDE_CONFIG_DIR": str(config)}
    done = subprocess.run(
        [python, "-c", _PROGRAM], input=json.dumps(calls), capture_output=True, text=True, timeout=LIMIT_S, env=env
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def our_answers(calls: list[Call]) -> list[Any]:
    import quarterdeck

    space: dict[str, Any] = {}
    exec(_ANSWERS, space)  # noqa: S102  # the very same lines for both
    return json.loads(json.dumps([space["answer"](quarterdeck, *call) for call in calls]))  # type: ignore[no-any-return]
