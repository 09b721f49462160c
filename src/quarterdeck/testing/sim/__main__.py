"""``python -m quarterdeck.testing.sim``: the simulator as a process."""

import sys

from .process import main

sys.exit(main(sys.argv[1:]))
