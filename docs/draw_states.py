"""Draw the state diagrams of protocol.md anew from quarterdeck.protocol.states: ``python docs/draw_states.py``."""

from __future__ import annotations

import re
from pathlib import Path

from quarterdeck.protocol import states

DOCUMENT = Path(__file__).parent / "protocol.md"
BLOCK = re.compile(r"<!-- states:(\w+) -->\n.*?<!-- /states -->", re.DOTALL)


def drawn(text: str) -> str:
    """The document with every diagram as its table is now."""
    return BLOCK.sub(lambda block: _block(block[1]), text)


def _block(name: str) -> str:
    diagram = states.mermaid(getattr(states, name))
    return f"<!-- states:{name} -->\n```mermaid\n{diagram}\n```\n<!-- /states -->"


if __name__ == "__main__":
    DOCUMENT.write_text(drawn(DOCUMENT.read_text("utf-8")), "utf-8")
