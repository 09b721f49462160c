"""Whole programs: Ctrl-C, fork, the end of the interpreter. None hangs, none leaves a CLI behind."""

from __future__ import annotations

from chaos.kit import Chaos
from simulated import ASKS, Simulated, finished, interrupted, until


def test_ctrl_c_while_waiting_ends_the_wait_and_the_session(fake: Simulated) -> None:
    fake.play(["hello", fake.held, "never"])
    program = fake.program("""
        session = sync.connect(options())
        try:
            with session:
                for message in session.prompt("hi"):
                    print(type(message).__name__)
        except KeyboardInterrupt:
            print("interrupted", session.closed, session.exit_status is not None)
    """)
    code, printed, complained = interrupted(fake, program)
    assert (code, printed.splitlines()[-1], complained) == (0, "interrupted True True", "")


def test_ctrl_c_that_nobody_catches_ends_a_query(fake: Simulated) -> None:
    fake.play(["hello", fake.held, "never"])
    program = fake.program("""
        for message in sync.query(prompt="hi", options=options()):
            print(type(message).__name__)
    """)
    code, _, complained = interrupted(fake, program)
    assert code != 0
    assert complained.splitlines()[-1] == "KeyboardInterrupt"
    until(lambda: fake.left_running() == [])


def test_ctrl_c_in_a_callbacks_wait_for_input_ends_everything(fake: Simulated) -> None:
    fake.play([ASKS, "never"])
    program = fake.program(f"""
        from pathlib import Path
        def ask(*_):
            Path({str(fake.gate)!r} + ".reached").touch()
            return input("May it? ")
        with sync.connect(options(can_use_tool=ask)) as session:
            session.prompt("hi").wait()
    """)
    code, _, complained = interrupted(fake, program)
    assert code != 0
    assert "KeyboardInterrupt" in complained


def test_a_second_ctrl_c_does_not_wait_for_a_cli_that_will_not_end(fake: Simulated) -> None:
    stubborn = Chaos(fake.root).program(f"""
        for prompt in prompts():
            pass
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open({str(fake.gate)!r} + ".reached", "w").close()
        time.sleep(600)
    """)
    program = fake.program(f"""
        import dataclasses
        session = sync.connect(dataclasses.replace(options(), cli_path={stubborn!r}, close_grace_s=600.0)).open()
        try:
            session.close()
        except KeyboardInterrupt:
            print("interrupted", session.exit_status is not None)
    """)
    assert interrupted(fake, program) == (0, "interrupted True\n", "")


def test_ctrl_c_under_trio_ends_the_wait_and_the_session(fake: Simulated) -> None:
    fake.play(["hello", fake.held, "never"])
    program = fake.program("""
        import trio
        async def main():
            async with connect(options()) as session:
                try:
                    await session.prompt("hi")
                finally:
                    print("left")
        try:
            trio.run(main)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert interrupted(fake, program) == (0, "left\ninterrupted\n", "")


def test_the_end_of_the_interpreter_closes_what_is_open(fake: Simulated) -> None:
    fake.play(["hello"])
    program = fake.program("""
        session = sync.connect(options()).open()
        print(session.prompt("hi").wait().result)
        import builtins
        builtins.kept = session
    """)
    assert finished(program) == (0, "hello\n", "")


def test_a_forked_child_has_sessions_of_its_own(fake: Simulated) -> None:
    fake.play(["hello"], ["again"])
    program = fake.program("""
        import os
        with sync.connect(options()) as session:
            print(session.prompt("hi").wait().result, flush=True)
            child = os.fork()
            if child == 0:
                try:
                    session.context_usage()
                except CLIConnectionError as error:
                    print("child:", error)
                print("child:", sync.prompt("hi", options()).result, flush=True)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            print("parent:", session.prompt("hi").wait().result)
    """)
    assert finished(program) == (
        0,
        "hello\n"
        "child: this session belongs to the parent process: create a new one in this process\n"
        "child: hello\n"
        "parent: again\n",
        "",
    )


def test_importing_it_starts_nothing_and_trio_is_not_imported(fake: Simulated) -> None:
    program = fake.program("""
        import threading
        import quarterdeck.sync
        print(threading.active_count(), "trio" in sys.modules)
    """)
    assert finished(program) == (0, "1 False\n", "")
