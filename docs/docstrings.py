"""For the site: tables and lists that are drawn with signs and blanks in docstrings become tables and lists.

Docstrings are read in editors first, where columns are easy on the eye; Markdown would make one paragraph of them.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

DRAWN = re.compile(r"^(=+(?: +=+)+)\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)

LISTED = re.compile(r"^(``[^`]+``) {2,}(?=\S)", re.MULTILINE)


class Drawn(griffe.Extension):
    """Found by mkdocstrings through ``mkdocs.yml``."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = LISTED.sub(r"- \1: ", DRAWN.sub(_table, obj.docstring.value))

    def on_alias_instance(self, *, alias: griffe.Alias, **_: Any) -> None:
        """A star brings names that are imported on first use too, although only type checkers see them imported."""
        alias.runtime = True


def _table(drawn: re.Match[str]) -> str:
    starts = [column.start() for column in re.finditer("=+", drawn[1])]
    cuts = list(zip(starts, [*starts[1:], None], strict=True))
    rows = [[line[start:end].strip() for start, end in cuts] for line in drawn[2].splitlines()]
    head = ["| " * len(cuts) + "|", "|---" * len(cuts) + "|"]
    return "\n".join([*head, *("| " + " | ".join(row) + " |" for row in rows)])
