"""Our own process ends without closing: by its last line, by os._exit, by SIGKILL; or it forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from transport.support import group_is_gone, process_is_gone, until_blocking

PROGRAM = """
import asyncio, os, signal, sys, time
from quarterdeck.transport import ProcessTransport, PrivateFiles, detect, watchdog

CLI = '''
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "600"])
os.write(1, b"ready")
while True:
    time.sleep(60)
'''

class Quiet:
    ready = False
    def bytes_received(self, data): self.ready = True
    def eof_received(self): pass
    def exited(self, status): pass

async def open_one():
    capabilities = detect(asyncio.get_running_loop())._replace(**eval(sys.argv[1]))
    transport = ProcessTransport([sys.executable, "-S", "-c", CLI], capabilities=capabilities)
    quiet = Quiet()
    await transport.start(quiet)
    while not quiet.ready:
        await asyncio.sleep(0.005)
    return transport

async def main():
    transport = await open_one()
    files = PrivateFiles()
    secret = files.write("settings.json", "{}")
    print(transport.pid, watchdog._watchdog.pid, secret.parent, flush=True)
    END

asyncio.run(main())
"""

ENDINGS = {
    "by its last line": "pass",
    "by an exception": "raise RuntimeError('a bug')",
    "by sys.exit": "sys.exit(0)",
    "by os._exit": "os._exit(0)",
    "by a signal nobody can catch": "os.kill(os.getpid(), signal.SIGKILL)",
    "by SIGKILL in the middle of close": "asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), 9)\n"
    "    await transport.close()",
}
VARIANTS = {"fast": "{}", "threads": "{'add_reader': False}", "no-pidfd": "{'pidfd': False}"}


def run(ending: str, variant: str) -> tuple[int, int, str]:
    program = PROGRAM.replace("END", ending)
    done = subprocess.run(
        [sys.executable, "-c", program, variant], capture_output=True, text=True, timeout=60, check=False
    )
    assert "ResourceWarning" not in done.stderr
    group, dog, directory = done.stdout.split()
    return int(group), int(dog), directory


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_when_we_end_the_group_the_watchdog_and_the_private_files_are_gone(ending: str, variant: str) -> None:
    group, dog, directory = run(ENDINGS[ending], VARIANTS[variant])
    until_blocking(lambda: group_is_gone(group), "the group to be gone")
    until_blocking(lambda: process_is_gone(dog), "the watchdog to be gone")
    until_blocking(lambda: not os.path.exists(directory), "the private files to be removed")  # noqa: PTH110


def test_without_a_shell_the_parent_death_signal_ends_the_process() -> None:
    group, _, _ = run(ENDINGS["by a signal nobody can catch"], "{'posix_shell': False}")
    until_blocking(lambda: process_is_gone(group), "the process to be gone")
    os.killpg(group, signal.SIGKILL)  # its child: more than this signal reaches, which is why there is a watchdog
    until_blocking(lambda: group_is_gone(group), "the group to be gone")


FORK = textwrap.dedent("""
import asyncio, os, signal, sys
from quarterdeck.transport import Grace, PrivateFiles, ProcessTransport, detect, watchdog

class Collect:
    data = b""
    status = None
    def bytes_received(self, data): self.data += data
    def eof_received(self): pass
    def exited(self, status): self.status = status

async def main():
    capabilities = detect(asyncio.get_running_loop())._replace(**eval(sys.argv[1]))
    transport, collect, files = ProcessTransport(["cat"], capabilities=capabilities), Collect(), PrivateFiles()
    secret = files.write("a", "b")
    await transport.start(collect)
    dog = watchdog._watchdog.pid
    waits, release = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(release)
        try:
            transport.write(b"from the child")
        except Exception as error:
            refused = type(error).__name__
        os.read(waits, 1)
        print(refused, watchdog._watchdog.pid, flush=True)
        sys.exit(0)  # runs the exit handlers of both, in the child
    os.close(waits)
    transport.write(b"still here")
    while collect.data != b"still here":
        await asyncio.sleep(0.005)
    # The child is alive and must not keep the input open.
    status = await transport.close(Grace(eof_s=20))
    os.kill(dog, 0)
    assert secret.exists()
    os.close(release)
    _, code = os.waitpid(child, 0)
    assert secret.exists()
    os.kill(dog, 0)
    files.remove()
    print(status.code, code, watchdog._watchdog.pid == dog, flush=True)

asyncio.run(main())
""")


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_forked_child_touches_nothing_of_the_parents(variant: str) -> None:
    command = [sys.executable, "-W", "error", "-c", FORK, VARIANTS[variant]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("TransportClosed None\n0 0 True\n", 0), done.stderr
