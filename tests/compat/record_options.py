"""What a package makes of each setting in ``option_cases.py``: the command line and ``initialize``, or the error.

    python record_options.py claude_agent_sdk > options-0.2.182.json

Run by the interpreter that has the package; uses the standard library only. The CLI is a stand-in that writes down what
it is given. What both packages say in different places, or in two forms of the same flag, is brought to one form here.
"""

from __future__ import annotations

import asyncio
import decimal
import importlib
import json
import logging
import os
import sys
import tempfile
import types
import uuid
import warnings
from enum import Enum
from pathlib import Path
from typing import Any

from option_cases import CASES

STAND_IN = r"""#!/bin/sh
cd_=$(pwd -P)
{{ for word; do printf '%s\0' "$word"; done; }} > {folder}/argv
{{ printf '%s\0' "$cd_"; env -0; }} > {folder}/env
for word; do case "$word" in
  --mcp-config=*) cat "${{word#*=}}" > {folder}/mcp-config 2>/dev/null;;
  --settings=*) cat "${{word#*=}}" > {folder}/settings 2>/dev/null;;
esac; done
IFS= read -r line
printf '%s\n' "$line" > {folder}/initialize
id=${{line#*\"request_id\"}}; id=${{id#*\"}}; id=${{id%%\"*}}
printf '{{"type":"control_response","response":{{"subtype":"success","request_id":"%s",' "$id"
printf '"response":{{"hook_on_failure_supported":true}}}}}}\n'
IFS= read -r line
printf '{{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,'
printf '"session_id":"{session}","result":"done","total_cost_usd":0,"usage":{{}},"uuid":"{session}"}}\n'
cat > /dev/null
"""
BASE = {"--output-format", "--input-format", "--verbose"}
SWITCHES = {
    "--verbose", "--continue", "--fork-session", "--include-partial-messages", "--include-hook-events",
    "--strict-mcp-config", "--session-mirror", "--debug-to-stderr",
}  # fmt: skip
SAID_IN_INITIALIZE = {
    "systemPrompt": "--system-prompt",
    "appendSystemPrompt": "--append-system-prompt",
    "jsonSchema": "--json-schema",
}
"""Field of ``initialize`` → the flag that says the same: Quarterdeck keeps what is large or private off argv."""
ADDED = ("subtype", "sdkMcpServerManifests")
"""Fields of ``initialize`` that say nothing about options: Quarterdeck saves the CLI a question about each server."""
VARIABLES = (
    "A", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "CLAUDE_AGENT_SDK_CLIENT_APP",
    "CLAUDE_CODE_SDK_READS_SESSION_STATE", "PWD",
)  # fmt: skip
BEGINNING = 8
"""Words of an error's text that are recorded."""
AT_ONCE = 4
LIMIT_S = 60.0


def record(package: str, cases: tuple[str, ...] = CASES) -> dict[str, Any]:
    """Case → what happened."""
    logging.disable()  # mistakes are logged, and mistakes are the point
    # A stand-in that its SDK has left alone may still be starting when its case is over, and writes into its folder.
    with tempfile.TemporaryDirectory(prefix="options-", ignore_cleanup_errors=True) as place:
        return asyncio.run(_record(importlib.import_module(package), cases, Path(place).resolve()))


async def _record(sdk: types.ModuleType, cases: tuple[str, ...], place: Path) -> dict[str, Any]:
    free = asyncio.Semaphore(AT_ONCE)

    async def one(case: str) -> dict[str, Any]:
        async with free:
            folder = Path(tempfile.mkdtemp(dir=place))
            said = await asyncio.wait_for(_run(sdk, case, folder), LIMIT_S)
            return json.loads(json.dumps(said).replace(str(folder), "<folder>"))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(zip(cases, await asyncio.gather(*map(one, cases)), strict=True))


async def _run(sdk: types.ModuleType, case: str, folder: Path) -> dict[str, Any]:
    cli = folder / "claude"
    cli.write_text(STAND_IN.format(folder=folder, session=uuid.UUID(int=1)))
    cli.chmod(0o700)
    own = "" if "cli_path" in case else "cli_path=cli"
    separator = ", " if case and own else ""
    try:
        options = eval(f"ClaudeAgentOptions({case}{separator}{own})", _namespace(sdk, folder))  # noqa: S307
        async for _ in sdk.query(prompt="hello", options=options):
            pass
    except Exception as error:  # noqa: BLE001  # which one it is, is the question
        types = [one.__name__ for one in type(error).__mro__ if issubclass(one, Exception)]
        return {"error": " ".join(str(error).split()[:BEGINNING]), "types": types}
    return _observed(folder)


def _namespace(sdk: types.ModuleType, folder: Path) -> dict[str, Any]:
    """What a case may name."""

    async def callback(*_: Any) -> dict[str, Any]:
        return {}

    class Store:
        async def append(self, key: Any, entries: list[Any]) -> None: ...

        async def load(self, key: Any) -> None: ...

    class Model(str, Enum):  # noqa: UP042  # as people write it
        HAIKU = "haiku"

    class Mode(str, Enum):  # noqa: UP042
        PLAN = "plan"

    own = ("ClaudeAgentOptions", "AgentDefinition", "HookMatcher", "create_sdk_mcp_server")
    standard = {"Path": Path, "uuid": uuid, "os": os, "decimal": decimal, "types": types}
    ours = {
        "callback": callback,
        "Store": Store,
        "Model": Model,
        "Mode": Mode,
        "folder": str(folder),
        "cli": str(folder / "claude"),
    }
    return {**{name: getattr(sdk, name) for name in own}, **standard, **ours}


def _observed(folder: Path) -> dict[str, Any]:
    flags = _flags((folder / "argv").read_text().split("\0")[:-1], folder)
    initialize = json.loads((folder / "initialize").read_text())["request"]
    for field, flag in SAID_IN_INITIALIZE.items():
        if field in initialize:
            flags[flag] = [initialize.pop(field)]
    servers = flags.get("--mcp-config", [{}])[0]
    in_process = initialize.pop("sdkMcpServers", [])
    if isinstance(servers, dict) and "mcpServers" in servers:
        external = {name: one for name, one in servers["mcpServers"].items() if one.get("type") != "sdk"}
        in_process = in_process or [name for name in servers["mcpServers"] if name not in external]
        flags["--mcp-config"] = [{"mcpServers": external}]
        if in_process and not external:
            del flags["--mcp-config"]
    cwd, *pairs = (folder / "env").read_text().split("\0")[:-1]
    env = dict(pair.partition("=")[::2] for pair in pairs)
    return {
        "flags": flags,
        "in_process_servers": in_process,
        "initialize": _without_nulls({key: initialize[key] for key in initialize if key not in ADDED}),
        "env": {name: env[name] for name in VARIABLES if name in env and env[name] != os.environ.get(name)},
        "cwd": cwd if cwd != os.path.realpath(".") else ".",
    }


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _without_nulls(item) for key, item in value.items() if item is not None}


def _flags(argv: list[str], folder: Path) -> dict[str, list[Any]]:
    """Flag → its values, however they are written; of a flag that is given twice the CLI takes the last."""
    flags: dict[str, list[Any]] = {}
    words = iter(argv)
    for word in words:
        flag, joined, value = word.partition("=")
        if joined:
            said: Any = value
        else:
            said = True if flag in SWITCHES else next(words, True)
        if flag not in BASE:
            repeated = flags.get(flag, []) if flag in ("--add-dir", "--plugin-dir") else []
            flags[flag] = [*repeated, _as_data(flag, said, folder)]
    return flags


def _as_data(flag: str, value: Any, folder: Path) -> Any:
    """The contents of what may be a private file here and JSON on the command line there."""
    if flag not in ("--mcp-config", "--settings", "--json-schema"):
        return value
    copy = folder / flag.lstrip("-")
    text = copy.read_text() if copy.exists() else value
    try:
        return json.loads(text)
    except ValueError:
        return text or value


if __name__ == "__main__":
    json.dump(record(sys.argv[1]), sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")
