"""Each error class, in an except clause of its own."""

import asyncio
import json
from typing import Any

from _setup import options, sdk


async def run(name: str, wanted: Any) -> None:
    try:
        async for message in sdk.query(prompt="Fail, please.", options=wanted):
            if isinstance(message, sdk.ResultMessage):
                print(name, "result:", message.subtype, message.is_error, message.api_error_status)
    except sdk.CLINotFoundError:
        print(name, "CLINotFoundError")
    except sdk.CLIConnectionError:
        print(name, "CLIConnectionError")
    except sdk.ResultError as error:
        print(name, "ResultError", error.subtype, error.api_error_status, error.terminal_reason, error.result)
    except sdk.ProcessError as error:
        print(name, "ProcessError", error.exit_code)
    except sdk.ClaudeSDKError as error:
        print(name, "ClaudeSDKError", type(error).__name__)


async def not_connected() -> None:
    client = sdk.ClaudeSDKClient(options())
    for call in (client.query("hello"), client.interrupt(), client.get_server_info()):
        try:
            await call
        except sdk.CLIConnectionError as error:
            print(type(error).__name__, error)
    await client.disconnect()


def built_by_hand() -> None:
    try:
        raise sdk.CLIJSONDecodeError('{"broken', json.JSONDecodeError("bad", "{", 0))
    except sdk.CLIJSONDecodeError as error:
        print(error, error.line, type(error.original_error).__name__)
    print(sdk.ProcessError("it failed", exit_code=3, stderr="why"))
    print(sdk.CLINotFoundError("not here", cli_path="/nowhere"))
    print(sdk.ResultError("it failed", {"subtype": "error_max_turns", "errors": ["too many"]}, 1).errors)


async def main() -> None:
    await run("missing", sdk.ClaudeAgentOptions(cli_path="/nowhere/claude"))
    await run("bad folder", options(cwd="/nowhere/at/all"))
    await run("refused by the API", options())
    await run("unknown flag", options(extra_args={"no-such-flag": None}))
    await run("unknown session", options(resume="00000000-0000-4000-8000-000000000000"))
    await not_connected()
    built_by_hand()


asyncio.run(main())
