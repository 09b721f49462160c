"""What all benchmarks take on their command line."""

from __future__ import annotations

import argparse
from typing import NamedTuple


class Size(NamedTuple):
    """How much of something: for numbers to publish, and for a look in passing."""

    full: int
    quick: int

    def of(self, quick: bool) -> int:
        return self.quick if quick else self.full


def parse(about: str | None, *, names: bool = False) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--quick", action="store_true", help="less work, noisier numbers")
    if names:
        parser.add_argument(
            "--only", nargs="+", default=[], metavar="NAME", help="measure only these, e.g. client host"
        )
    return parser.parse_args()
