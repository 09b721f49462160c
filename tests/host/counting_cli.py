"""The simulator, writing down every byte it is told: one file for each process in the folder of the first argument."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from quarterdeck.testing.sim.process import main
from quarterdeck.testing.sim.simulator import SimulatedCli

feed = SimulatedCli.feed


def counted(self: SimulatedCli, data: bytes) -> Any:
    with (Path(sys.argv[1]) / str(os.getpid())).open("ab") as told:
        told.write(data)
    return feed(self, data)


SimulatedCli.feed = counted  # type: ignore[method-assign]
if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
