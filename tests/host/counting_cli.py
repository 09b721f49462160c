"""The simulator, writing down every byte it is told: one file for each process in the folder of the first argument.

While a turn of the process is open, a file with ``.turn`` after its number is there as well.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from quarterdeck.testing.sim.process import main
from quarterdeck.testing.sim.prompts import QueuedPrompt
from quarterdeck.testing.sim.simulator import SimulatedCli

feed, answer = SimulatedCli.feed, SimulatedCli._answer


def counted(self: SimulatedCli, data: bytes) -> Any:
    with (Path(sys.argv[1]) / str(os.getpid())).open("ab") as told:
        told.write(data)
    return feed(self, data)


async def marked(self: SimulatedCli, prompt: QueuedPrompt) -> None:
    turn = Path(sys.argv[1]) / f"{os.getpid()}.turn"
    turn.touch()
    await answer(self, prompt)
    turn.unlink()


SimulatedCli.feed = counted  # type: ignore[method-assign]
SimulatedCli._answer = marked  # type: ignore[method-assign]
if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
