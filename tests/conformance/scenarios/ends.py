"""How the process ends: end of input, signals, by request."""

from __future__ import annotations

import asyncio
import os
import signal

from conformance.scenario import scenario
from conformance.stage import Stage, bash, expect
from quarterdeck.client import ProcessExited, Session
from quarterdeck.testing.model import Stall
from quarterdeck.transport import ExitStatus
from quarterdeck.wire import ResultMessage


async def _rest(stage: Stage, session: Session) -> list[object]:
    """What the CLI still says until its end."""
    messages: list[object] = []
    try:
        async with asyncio.timeout(stage.patience_s):
            async for message in session.messages():
                messages.append(message)  # noqa: PERF401  # kept when the process dies in the middle
    except ProcessExited:
        pass
    return messages


async def _ended_by(stage: Stage, number: signal.Signals) -> ExitStatus | None:
    """An idle CLI gets a signal; how it ends."""
    stage.reply("hi")
    async with stage.session() as session:
        await session.prompt("hi")
        os.kill(stage.pid(session), number)
        await _rest(stage, session)
        return session.exit_status


@scenario(
    "ends and signals", "End of input makes an idle CLI exit with code 0", "000-stdin-close-cli-exits", "003-close-exit"
)
async def eof_idle(stage: Stage) -> None:
    stage.reply("hi")
    async with stage.session() as session:
        await session.prompt("hi")
        session.finish()
        await _rest(stage, session)
        expect("the exit status", session.exit_status, ExitStatus(code=0))


@scenario("ends and signals", "On end of input the running turn finishes first", "000-stdin-close-cli-exits")
async def eof_in_turn(stage: Stage) -> None:
    gate = stage.gate()
    stage.reply("The whole answer still comes.", Stall(after=3, until=gate))
    async with stage.session() as session:
        await session.send("talk")
        await stage.reached(gate)
        stage.close_input(session)
        gate.open()
        results = [message for message in await _rest(stage, session) if isinstance(message, ResultMessage)]
        expect("the results", [result.result for result in results], ["The whole answer still comes."])
        expect("the exit status", session.exit_status, ExitStatus(code=0))


@scenario("ends and signals", "SIGTERM makes it exit with code 143", "000-shutdown", "000-abort")
async def sigterm(stage: Stage) -> None:
    expect("the exit status", await _ended_by(stage, signal.SIGTERM), ExitStatus(code=143))


@scenario("ends and signals", "SIGINT makes an idle CLI exit with code 0")
async def sigint(stage: Stage) -> None:
    expect("the exit status", await _ended_by(stage, signal.SIGINT), ExitStatus(code=0))


@scenario("ends and signals", "SIGHUP makes it exit with code 129")
async def sighup(stage: Stage) -> None:
    expect("the exit status", await _ended_by(stage, signal.SIGHUP), ExitStatus(code=129))


@scenario("ends and signals", "SIGKILL is reported as the signal", "000-error-signal")
async def sigkill(stage: Stage) -> None:
    expect("the exit status", await _ended_by(stage, signal.SIGKILL), ExitStatus(signal=signal.SIGKILL))


@scenario("ends and signals", "end_session makes it exit with code 0")
async def end_session(stage: Stage) -> None:
    stage.reply("hi")
    async with stage.session() as session:
        await session.prompt("hi")
        await session.end("enough")
        await _rest(stage, session)
        expect("the exit status", session.exit_status, ExitStatus(code=0))


@scenario("ends and signals", "End of input during a permission request denies the tool and ends the turn")
async def eof_permission(stage: Stage) -> None:
    asked = asyncio.Event()

    async def decide(*_: object) -> None:
        asked.set()
        await asyncio.Event().wait()

    stage.reply(bash("touch never.txt"))
    stage.reply("Nobody answered.")
    async with stage.session(can_use_tool=decide) as session:
        await session.send("touch")
        async with asyncio.timeout(stage.patience_s):
            await asked.wait()
        stage.close_input(session)
        await _rest(stage, session)
        expect("made", (stage.cwd / "never.txt").exists(), False)
        expect("ended", session.exit_status is not None, True)
