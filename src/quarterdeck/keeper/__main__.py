"""``python -m quarterdeck.keeper KEEPERS_FOLDER``: starts a keeper that outlives its parent.

It prints ``ready NAME`` once it accepts connections, or why it can't start. Everything else goes to its log. It imports
as little as possible, because it runs for days on every machine that runs a host.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from pathlib import Path

if not __package__:  # run by path, in an interpreter with no other module search path
    sys.path.append(str(Path(__file__).parents[2]))

from quarterdeck.keeper.places import LOG, Claim
from quarterdeck.keeper.service import Keeper
from quarterdeck.keeper.settings import KeeperSettings


def main(arguments: list[str]) -> int:
    folder, *numbers = arguments
    settings = _settings(numbers)
    if os.fork():  # nothing waits for this thread
        return 0
    with contextlib.suppress(OSError):
        os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        claim = Claim(Path(folder))
        keeper = Keeper(claim, settings)
    except Exception as error:  # noqa: BLE001  # told to whoever waits for it
        os.write(1, f"failed {type(error).__name__}: {error}\n".encode())
        return 1
    os.write(1, f"ready {claim.folder.name}\n".encode())
    _let_go(claim.folder / LOG)
    try:
        keeper.run()
    except BaseException:
        # A clean exit would say goodbye to the watchdog, and our processes would stay.
        logging.getLogger(__name__).exception("the keeper cannot continue")
        os.kill(os.getpid(), signal.SIGKILL)
    return 0


def _settings(numbers: list[str]) -> KeeperSettings:
    """All fields of ``KeeperSettings`` in order, or none."""
    if not numbers:
        return KeeperSettings()
    linger_s, look_s, *sizes = numbers
    return KeeperSettings(float(linger_s), float(look_s), *map(int, sizes))


def _let_go(log: Path) -> None:
    """Release what we inherited: the terminal, pipes, and the working folder, which couldn't be unmounted."""
    nothing = os.open(os.devnull, os.O_RDWR)
    words = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.dup2(words, 2)
    os.close(nothing)
    os.close(words)
    os.chdir("/")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
