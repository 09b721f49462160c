"""Runs programs of ``idioms`` one after the other, for the package that ``SDK`` names: a JSON line in, a JSON line out.

Uses the standard library only: the interpreter with the official SDK runs it, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import io
import json
import logging
import os
import sys
import traceback
from typing import Any


def run(job: dict[str, Any]) -> dict[str, Any]:
    os.environ.update(job["env"])
    os.chdir(job["cwd"])
    function = getattr(importlib.import_module(f"idioms.{job['module']}"), job["name"])
    said = io.StringIO()
    trace = ""
    with contextlib.redirect_stdout(said):
        try:
            if inspect.iscoroutinefunction(function):
                asyncio.run(function())
            else:
                function()
        except Exception as error:  # noqa: BLE001  # part of what the program does
            print("ended with", type(error).__name__, str(error))
            trace = traceback.format_exc()
    return {"said": said.getvalue(), "trace": trace}


def main() -> None:
    logging.getLogger().addHandler(logging.NullHandler())
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
