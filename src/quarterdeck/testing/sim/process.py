"""The simulator as a process: stdin, stdout, signals, exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from . import facts, flags
from .flags import FlagError, Flags

if TYPE_CHECKING:
    import asyncio

    from .simulator import SimulatedCli

SCENARIO_VARIABLE = "QUARTERDECK_SIM_SCENARIO"
READ_SIZE = 64 * 1024
CHUNKS_AHEAD = 16
"""How many reads stdin may be ahead of the simulator."""


def main(argv: Sequence[str], env: Mapping[str, str] = os.environ) -> int:
    """Be the CLI with this command line and environment; the exit code."""
    try:
        parsed = flags.parse(argv)
        if "--version" in parsed:
            print(f"{facts.VERSION} (Claude Code)")  # noqa: T201  # this is a command
            return 0
        if "--help" in parsed:
            print(flags.help_text(), end="")  # noqa: T201
            return 0
        return _start(list(argv), parsed, env)
    except FlagError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _printable(text: str) -> str:
    """The content of someone else's file must not control the terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _start(argv: list[str], parsed: Flags, env: Mapping[str, str]) -> int:
    gc.disable()  # all that is imported stays: to look for garbage in it is a twentieth of the whole start
    import asyncio

    from .scenario import Scenario
    from .simulator import SimulatedCli

    gc.freeze()
    gc.enable()
    path = parsed.get("--scenario") or env.get(SCENARIO_VARIABLE)
    scenario: Scenario | None = None
    if path:
        from .positions import ScenarioFileError
        from .scenario_file import load

        try:
            scenario = load(path)
        except ScenarioFileError as error:
            sys.stderr.write(f"{_printable(str(error))}\n")
            return 2
    cli = SimulatedCli(argv, scenario=scenario, env=env)
    if parsed.get("--input-format") == "stream-json":
        return asyncio.run(serve(cli))
    from .print_mode import print_once

    return asyncio.run(print_once(cli))


async def serve(cli: SimulatedCli) -> int:
    """Be this CLI on stdin and stdout until it ends; the exit code."""
    import asyncio

    loop = asyncio.get_running_loop()
    running = asyncio.create_task(cli.run(lambda data: write_all(cli, data), sys.stderr.write))
    await asyncio.sleep(0)  # it has its ends now and can be fed
    if not running.done():
        catch_signals(cli, loop)
        _pump_stdin(cli, loop)
    return await running


def write_all(cli: SimulatedCli, data: bytes) -> None:
    """To stdout, as a pipe takes it: a host that does not read holds the simulator, as it holds the CLI."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except BrokenPipeError:
        cli.exit(1)


def catch_signals(cli: SimulatedCli, loop: asyncio.AbstractEventLoop) -> None:
    """SIGTERM and SIGHUP end it even while it is held in a write; SIGINT lets the turn end first."""
    import signal

    from .simulator import ENDED_BY

    for number, code in ENDED_BY.items():
        signal.signal(number, lambda *_, code=code: os._exit(code))
    loop.add_signal_handler(signal.SIGINT, cli.signal, signal.SIGINT)


def _pump_stdin(cli: SimulatedCli, loop: asyncio.AbstractEventLoop) -> None:
    import threading

    ahead = threading.Semaphore(CHUNKS_AHEAD)

    def feed(data: bytes) -> None:
        ahead.release()
        if data:
            cli.feed(data)
        else:
            cli.feed_eof()

    def pump() -> None:
        data = b"first"
        while data:
            ahead.acquire()
            data = os.read(0, READ_SIZE)
            try:
                loop.call_soon_threadsafe(feed, data)
            except RuntimeError:  # the loop is closed: the simulator has ended
                return

    threading.Thread(target=pump, name="stdin", daemon=True).start()
