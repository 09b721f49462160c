"""What the programs here share: the package under test, what the model says, and one conversation to read.

Uses the standard library only: the programs run in the interpreter that has the official SDK, too.
"""

from __future__ import annotations

import copy
import importlib
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

Program = Callable[[], Any]


class _Package:
    """The package named by ``SDK``, imported at first use: the process that collects the programs has none."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(os.environ["SDK"]), name)


sdk: Any = _Package()


def submodule(name: str) -> Any:
    return importlib.import_module(f"{os.environ['SDK']}.{name}")


# What the model says: plain data, made into turns of the scripted model by ``idiom_running``


@dataclass(frozen=True)
class Use:
    tool: str
    input: dict[str, Any]


@dataclass(frozen=True)
class Think:
    text: str


@dataclass(frozen=True)
class Fail:
    status: int
    message: str = ""


@dataclass(frozen=True)
class Hang:
    """The stream stops after so many events until the other side hangs up."""

    after: int = 4


@dataclass(frozen=True)
class Recite:
    """The model says which of these words it finds in its system prompt and the conversation."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Agent:
    """What the model says as a sub-agent."""

    text: str


Part = str | Use | Think | Hang
Turn = Part | tuple[Part, ...] | Fail | Recite | Agent


@dataclass(frozen=True)
class Script:
    turns: tuple[Turn, ...]
    again: bool
    """The last turn answers everything that comes after it, too."""
    delta_size: int | None = None


def use(tool: str, **arguments: Any) -> Use:
    return Use(tool, arguments)


def echo(word: str) -> Use:
    return use("Bash", command=f"echo {word}", description="Say a word")


def write(path: str, content: str = "Hello!\n") -> Use:
    return use("Write", file_path=path, content=content)


def program(*turns: Turn, again: bool = False, delta_size: int | None = None) -> Callable[[Program], Program]:
    """Declares a function to be a program, and what the model says to it."""

    def declare(function: Program) -> Program:
        function.script = Script(turns, again, delta_size)  # type: ignore[attr-defined]
        return function

    return declare


def chat(function: Program) -> Program:
    """A program whose model says ``Hello.`` to everything."""
    return program("Hello.", again=True)(function)


def offline(function: Program) -> Program:
    """A program that starts no CLI."""
    return program()(function)


# What the programs do


def options(**more: Any) -> Any:
    return sdk.ClaudeAgentOptions(cli_path=os.environ["CLAUDE_BIN"], **more)


async def ask(prompt: Any = "Hello?", **more: Any) -> list[Any]:
    return [message async for message in sdk.query(prompt=prompt, options=options(**more))]


def client(**more: Any) -> Any:
    return sdk.ClaudeSDKClient(options=options(**more))


async def answers(open_client: Any, prompt: Any) -> list[Any]:
    await open_client.query(prompt)
    return [message async for message in open_client.receive_response()]


def show(messages: Any) -> None:
    """One line for each message: its class, and what a person wants to see of it."""
    for message in messages if isinstance(messages, list) else [messages]:
        print(type(message).__name__, _gist(message))


def _gist(message: Any) -> Any:
    if isinstance(message, sdk.ResultMessage):
        fields = (message.subtype, message.is_error, message.num_turns, message.result, message.errors)
        return (*fields, message.stop_reason, message.terminal_reason, message.permission_denials)
    if isinstance(message, sdk.StreamEvent):
        return message.event["type"]
    if isinstance(message, sdk.AssistantMessage):
        return message.error, message.content
    return getattr(message, "content", None) or getattr(message, "subtype", message)


async def attempt(awaitable: Any) -> Any:
    """What comes of it; an exception is told."""
    try:
        return await awaitable
    except Exception as error:  # noqa: BLE001  # whatever a program would see
        tell(error)
        return None


def tell(error: BaseException) -> None:
    """By its official class, which an error may be a subclass of, and the first line of its text."""
    known = ("ResultError", "ProcessError", "CLINotFoundError", "CLIConnectionError")
    names = [name for name in known if _is(error, name)]
    other = next(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")
    print("raised", names[0] if names else other, str(error).partition("\n")[0])


def _is(error: BaseException, name: str) -> bool:
    return isinstance(error, getattr(sdk, name))


async def prompts(*texts: str) -> AsyncIterator[dict[str, Any]]:
    for text in texts:
        yield user(text)


def user(text: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None}


# One conversation that many programs read: thoughts, text, calls, results of three kinds, a refusal

STORY = (
    (Think("I look around."), "I run a command.", echo("one")),
    ("Now a file that is not there.", use("Read", file_path="/nowhere/at-all.txt")),
    # one call a turn: the CLI orders calls that run side by side by which ends first
    use("mcp__lab__picture", name="cat"),
    use("mcp__lab__broken"),
    (write("forbidden.txt"),),
    "All done.",
)
_told: list[Any] = []


def reads(function: Program) -> Program:
    """A program that looks at the story's messages; it is told once for all of them."""
    return program(*STORY)(function)


async def story() -> list[Any]:
    if not _told:
        _told.extend(await tell_story())
    return list(_told)


async def tell_story() -> list[Any]:
    @sdk.tool("picture", "Draw a picture", {"name": str})
    async def picture(arguments: dict[str, Any]) -> dict[str, Any]:
        image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        text = {"type": "text", "text": f"A {arguments['name']}."}
        return {"content": [text, {"type": "image", "data": image, "mimeType": "image/png"}]}

    @sdk.tool("broken", "Always fails", {})
    async def broken(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "It broke."}], "is_error": True}

    async def no_writing(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        return sdk.PermissionResultDeny(message="No writing here.")

    server = sdk.create_sdk_mcp_server("lab", tools=[picture, broken])
    return await ask(
        prompts("Do all of it."),
        mcp_servers={"lab": server},
        can_use_tool=no_writing,
        allowed_tools=["mcp__lab__picture", "mcp__lab__broken"],
        max_thinking_tokens=2000,
    )


def a_result(**more: Any) -> Any:
    fields = {"duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1, "session_id": "s"}
    return sdk.ResultMessage(subtype="success", **{**fields, **more})


async def a_copy_of_the_story() -> list[Any]:
    return copy.deepcopy(await story())
