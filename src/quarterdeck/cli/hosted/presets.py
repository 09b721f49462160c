"""Named sets of options of a host."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.cli.common import OK, USAGE_ERROR, ReportedError
from quarterdeck.host.requests import Nothing, Settings

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost


async def show_presets(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck preset show``."""
    return _shown((await host.get_presets(Nothing())).details)


async def set_presets(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck preset set``."""
    return _shown((await host.set_presets(Settings(settings=_read(given.file)))).details)


def _read(file: str) -> dict[str, Any]:
    try:
        read = json.loads(sys.stdin.read() if file == "-" else Path(file).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ReportedError(f"cannot read {file}: {error}", "It must be a JSON file.", code=USAGE_ERROR) from error
    if not isinstance(read, dict):
        raise ReportedError(
            f"{file} is not a JSON object", "Start from the output of quarterdeck preset show.", code=USAGE_ERROR
        )
    return read


def _shown(details: dict[str, Any]) -> int:
    print(json.dumps(details, indent=2, ensure_ascii=False))
    return OK
