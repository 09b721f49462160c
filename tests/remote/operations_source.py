"""Writes ``src/quarterdeck/remote/operations.py`` from the host's table of operations.

``PYTHONPATH=tests python -m remote.operations_source`` regenerates it.
"""

from __future__ import annotations

from pathlib import Path

from quarterdeck.host.operations import OPERATIONS, Operation

PAGE = Path(__file__).parents[2] / "src" / "quarterdeck" / "remote" / "operations.py"

HEAD = '''"""Every operation of a host that returns a single result, as a method. Streams are in ``remote_host``.

Written from ``quarterdeck.host.operations`` by ``tests/remote/operations_source.py``; do not edit.
"""

from __future__ import annotations

from typing import Any

from quarterdeck.host import requests as takes
from quarterdeck.host import resources as returns


class RemoteOperations:
    """The operations of a host. A write with your own ``key`` is applied once, however often you repeat it."""

    async def _call(self, name: str, request: takes.Request, key: str | None = None) -> Any:
        raise NotImplementedError
'''


def source() -> str:
    return HEAD + "".join(f"\n{_method(one)}" for one in OPERATIONS.values() if not one.streams)


def _method(operation: Operation) -> str:
    name, takes, returns = operation.name, operation.takes.__name__, operation.returns.__name__
    given = f"request: takes.{takes}" + (", *, key: str | None = None" if operation.writes else "")
    passed = "request, key" if operation.writes else "request"
    first = f"    async def {name}(self, {given}) -> returns.{returns}:"
    if len(first) > 120:
        first = f"    async def {name}(\n        self, {given}\n    ) -> returns.{returns}:"
    body = f'        result: returns.{returns} = await self._call("{name}", {passed})'
    return f'{first}\n        """{operation.about}"""\n{body}\n        return result\n'


if __name__ == "__main__":
    PAGE.write_text(source())
