"""For the site: tables that are drawn with signs in docstrings stay as they are drawn.

Docstrings are read in editors first. A table between lines of ``====`` is for them; Markdown would make one paragraph
of it, so it is shown as text.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

DRAWN = re.compile(r"^=+( +=+)+\n.*^=+( +=+)+$", re.DOTALL | re.MULTILINE)


class DrawnTables(griffe.Extension):
    """Found by mkdocstrings through ``mkdocs.yml``."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and "===" in obj.docstring.value:
            obj.docstring.value = DRAWN.sub(lambda table: f"```text\n{_plain(table[0])}\n```", obj.docstring.value)


def _plain(table: str) -> str:
    return "\n".join(line for line in table.splitlines() if not line.startswith("==="))
