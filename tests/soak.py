"""How long random and repeated tests go on: a seeded part in ``make test``, the whole campaign in ``make soak``.

``QUARTERDECK_SOAK=1`` is what ``make soak`` sets; ``0.1`` runs a tenth of it. Then the seed is chosen by chance and
printed at the end of the run; ``QUARTERDECK_SEED`` repeats one.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SHARE = float(os.environ.get("QUARTERDECK_SOAK", "0"))
ON = SHARE > 0
SEED = int(os.environ.setdefault("QUARTERDECK_SEED", str(random.SystemRandom().randrange(2**32) if ON else 20261115)))
"""Set in the environment too: the workers of one run share it."""


def cases(in_test: int, *, in_soak: int) -> int:
    """How many cases to run."""
    return max(round(in_soak * SHARE), in_test) if ON else in_test


def part(items: Sequence[T], size: int) -> list[T]:
    """All of ``items`` in a soak; else ``size`` of them in their order, always the same."""
    if ON:
        return list(items)
    chosen = set(random.Random(SEED).sample(range(len(items)), size))
    return [item for number, item in enumerate(items) if number in chosen]
