"""A tiny shell, in Python: nothing is started, and nothing outside the session's directories is written.

``;``, ``&&``, ``||``, ``|``, ``>`` and ``>>``; the commands of ``COMMANDS``. The rest is "not found".
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from . import Outcome

if TYPE_CHECKING:
    from quarterdeck.testing.sim.calls import SimulatedCall
    from quarterdeck.testing.sim.tasks import SimulatedTask

SLOW_S = 3.0
"""A foreground command that runs longer is announced as a task (2.1.325)."""
OUTPUT_LIMIT = 30_000
"""A longer output is cut for the model, as the CLI does."""


class Place(msgspec.Struct):
    """Where commands run, and what they may write."""

    cwd: Path
    may_write: Callable[[Path], bool]
    sleep: Callable[[float], object]

    def path(self, name: str) -> Path:
        return (self.cwd / name).resolve()


class CommandError(Exception):
    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code = code


async def run(call: SimulatedCall) -> Outcome:
    cli = call.cli
    command = str(call.input["command"])
    background = call.input.get("run_in_background") is True
    task = cli.tasks.new("local_bash", call.input.get("description") or command, call.id, background=background)
    task.work = work = asyncio.create_task(_execute(call, command, task))
    if background:
        cli.tasks.announce(task)
        cli.watch(_finish_background(call, task, work))
        return _moved(call, task, by_user=False)
    return await _foreground(call, task, work)


async def _foreground(call: SimulatedCall, task: SimulatedTask, work: asyncio.Task[tuple[str, int]]) -> Outcome:
    cli = call.cli
    moved = asyncio.create_task(task.to_background.wait())
    announced = False
    try:
        await asyncio.wait([work, moved], timeout=cli.scaled(SLOW_S), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            announced = True
            cli.tasks.announce(task)
            await asyncio.wait([work, moved], return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            cli.watch(_finish_background(call, task, work))
            return _moved(call, task, by_user=True)
    except asyncio.CancelledError:
        work.cancel()
        if announced and task.status == "running":
            cli.tasks.end(task, "stopped", task.description)
        raise
    finally:
        moved.cancel()
    task.output, code = work.result()
    if announced:
        cli.tasks.end(task, "completed" if code == 0 else "failed", task.description)
    task.status = "completed"
    return _outcome(task.output, code)


async def _finish_background(call: SimulatedCall, task: SimulatedTask, work: asyncio.Task[tuple[str, int]]) -> None:
    await asyncio.wait([work])
    if work.cancelled():
        return
    task.output, code = work.result()
    call.cli.tasks.store_output(task)
    status = "completed" if code == 0 else "failed"
    summary = f'Background command "{task.description}" {status} (exit code {code})'
    call.cli.tasks.end(task, status, summary)
    call.cli.continue_by_itself(summary, task)


def _moved(call: SimulatedCall, task: SimulatedTask, *, by_user: bool) -> Outcome:
    how = "was manually backgrounded by user with" if by_user else "running in background with"
    text = f"Command {how} ID: {task.id}. Output is being written to: {call.cli.tasks.output_file(task)}"
    result = _result("") | {"noOutputExpected": False, "backgroundTaskId": task.id}
    return Outcome(text, result | ({"backgroundedByUser": True} if by_user else {}), is_error=False)


def _outcome(output: str, code: int) -> Outcome:
    if code:
        return Outcome.failed(f"Exit code {code}" + (f"\n{output}" if output else ""))
    shown = output if len(output) <= OUTPUT_LIMIT else output[:OUTPUT_LIMIT] + "\n[output cut by the simulator]"
    return Outcome(shown or "(Bash completed with no output)", _result(shown), is_error=False)


def _result(stdout: str) -> dict[str, object]:
    return {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": not stdout}


async def _execute(call: SimulatedCall, command: str, task: SimulatedTask) -> tuple[str, int]:
    session = call.cli.session
    place = Place(session.cwd, session.inside, call.cli.sleep)
    output: list[str] = []
    code = 0
    for joiner, pipeline in _sequence(command):
        if (joiner == "&&" and code) or (joiner == "||" and not code):
            continue
        try:
            output.append(await _pipeline(place, pipeline, call))
            code = 0
        except CommandError as failure:
            code = failure.code
            output.append(str(failure))
            if pipeline.split()[:1] == ["exit"]:
                break
        task.output = "".join(output).rstrip("\n")  # so far: it can be asked for while the command runs
    return "".join(output).rstrip("\n"), code


def _sequence(command: str) -> list[tuple[str, str]]:
    parts, joiner = [], ";"
    lexer = shlex.shlex(command, posix=False, punctuation_chars=";&|")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        tokens = list(lexer)
    except ValueError:
        tokens = [command]
    for token in [*tokens, ";"]:
        if token in (";", "&&", "||"):
            if words:
                parts.append((joiner, " ".join(words)))
            words, joiner = [], token
        else:
            words.append(token)
    return parts


async def _pipeline(place: Place, text: str, call: SimulatedCall) -> str:
    stdin = ""
    for part in text.split(" | "):
        try:
            words = shlex.split(part)
        except ValueError as error:
            raise CommandError(2, f"bash: {error}\n") from None
        words, target, append = _redirection(words)
        if not words:
            continue
        name, *arguments = words
        if name == "sleep":
            await call.cli.sleep(float(arguments[0]) if arguments and arguments[0].replace(".", "").isdigit() else 0)
            stdin = ""
        else:
            stdin = _command(place, name, arguments, stdin)
        if target is not None:
            _write(place, target, stdin, append=append, call=call)
            stdin = ""
    return stdin


def _redirection(words: list[str]) -> tuple[list[str], str | None, bool]:
    for index, word in enumerate(words):
        if word in (">", ">>") and index + 1 < len(words):
            return words[:index], words[index + 1], word == ">>"
        if word.startswith(">") and len(word.lstrip(">")):
            return words[:index], word.lstrip(">"), word.startswith(">>")
    return words, None, False


def _write(place: Place, name: str, text: str, *, append: bool, call: SimulatedCall) -> None:
    path = place.path(name)
    if not place.may_write(path):
        raise CommandError(1, f"bash: {name}: Permission denied\n")
    call.cli.checkpoints.before_change(path)
    with path.open("a" if append else "w", encoding="utf-8") as file:
        file.write(text)


def _command(place: Place, name: str, arguments: list[str], stdin: str) -> str:
    run_command = COMMANDS.get(name)
    if run_command is None:
        raise CommandError(127, f"bash: {name}: command not found (the simulator has only a few commands)\n")
    try:
        return run_command(place, arguments, stdin)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise CommandError(1, f"{name}: {error}\n") from None


def _ls(place: Place, arguments: list[str], stdin: str) -> str:
    every = any(word.startswith("-") and "a" in word for word in arguments)
    names = [word for word in arguments if not word.startswith("-")] or ["."]
    shown: list[str] = []
    for name in names:
        path = place.path(name)
        if path.is_dir():
            shown += sorted(item.name for item in path.iterdir() if every or not item.name.startswith("."))
        elif path.exists():
            shown.append(name)
        else:
            raise CommandError(2, f"ls: cannot access '{name}': No such file or directory\n")
    return "".join(f"{item}\n" for item in shown)


def _cat(place: Place, arguments: list[str], stdin: str) -> str:
    return "".join(place.path(name).read_text() for name in arguments) if arguments else stdin


def _echo(place: Place, arguments: list[str], stdin: str) -> str:
    return " ".join(arguments) + "\n"


def _touch(place: Place, arguments: list[str], stdin: str) -> str:
    for name in arguments:
        if not place.may_write(place.path(name)):
            raise CommandError(1, f"touch: cannot touch '{name}': Permission denied\n")
        place.path(name).touch()
    return ""


def _mkdir(place: Place, arguments: list[str], stdin: str) -> str:
    for name in (word for word in arguments if not word.startswith("-")):
        if not place.may_write(place.path(name)):
            raise CommandError(1, f"mkdir: cannot create directory '{name}': Permission denied\n")
        place.path(name).mkdir(parents="-p" in arguments, exist_ok="-p" in arguments)
    return ""


def _head(place: Place, arguments: list[str], stdin: str) -> str:
    count, names = _count(arguments)
    return "".join(_cat(place, names, stdin).splitlines(keepends=True)[:count])


def _tail(place: Place, arguments: list[str], stdin: str) -> str:
    count, names = _count(arguments)
    return "".join(_cat(place, names, stdin).splitlines(keepends=True)[-count:])


def _count(arguments: list[str]) -> tuple[int, list[str]]:
    if arguments[:1] == ["-n"] and len(arguments) > 1:
        return int(arguments[1]), arguments[2:]
    return 10, arguments


def _wc(place: Place, arguments: list[str], stdin: str) -> str:
    text = _cat(place, [word for word in arguments if not word.startswith("-")], stdin)
    return (
        f"{text.count(chr(10))}\n" if "-l" in arguments else f"{text.count(chr(10))} {len(text.split())} {len(text)}\n"
    )


def _grep(place: Place, arguments: list[str], stdin: str) -> str:
    pattern, *names = [word for word in arguments if not word.startswith("-")]
    found = [line for line in _cat(place, names, stdin).splitlines() if pattern in line]
    if not found:
        raise CommandError(1)
    return "".join(f"{line}\n" for line in found)


def _exit(place: Place, arguments: list[str], stdin: str) -> str:
    raise CommandError(int(arguments[0]) if arguments else 0)


def _false(place: Place, arguments: list[str], stdin: str) -> str:
    raise CommandError(1)


COMMANDS: dict[str, Callable[[Place, list[str], str], str]] = {
    "ls": _ls,
    "cat": _cat,
    "echo": _echo,
    "pwd": lambda place, arguments, stdin: f"{place.cwd}\n",
    "touch": _touch,
    "mkdir": _mkdir,
    "head": _head,
    "tail": _tail,
    "wc": _wc,
    "grep": _grep,
    "true": lambda place, arguments, stdin: "",
    "false": _false,
    "exit": _exit,
    "whoami": lambda place, arguments, stdin: "simulator\n",
}
