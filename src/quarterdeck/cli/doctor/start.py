"""The start check: a real process, a real handshake, a real end. No prompt is sent, so no model is asked."""

from __future__ import annotations

import asyncio
import shlex
import tempfile
import time
from collections.abc import Sequence

from quarterdeck.cli.common import cut, plain

from .finding import Finding

START_LIMIT_S = 60.0
"""From the start to the end of the process; a cold CLI takes a few seconds."""


def start_check(words: Sequence[str]) -> Finding:
    from quarterdeck import QuarterdeckError

    begun = time.monotonic()
    advice = f"see what it says: quarterdeck tap --out talk.ndjson -- {shlex.join(words)} -p hello"
    try:
        details = asyncio.run(_start(words))
    except TimeoutError:
        what = f"it was not ready within {START_LIMIT_S:.0f} s, and was ended"
        return Finding("Claude Code", "cli-start", "problem", what, advice)
    except (QuarterdeckError, OSError) as error:
        what = f"it does not start: {cut(plain(str(error), one_line=True), 400)}"
        return Finding("Claude Code", "cli-start", "problem", what, advice)
    took = time.monotonic() - begun
    what = f"started, answered the handshake and ended, in {took:.1f} s"
    return Finding("Claude Code", "cli-start", "ok", what, details={"seconds": round(took, 3), **details})


async def _start(words: Sequence[str]) -> dict[str, int]:
    """In an empty folder and without anybody's settings: hooks and servers of a project have no part in this."""
    from quarterdeck import ClaudeAgentOptions, connect

    with tempfile.TemporaryDirectory(prefix="quarterdeck-doctor-") as folder:
        options = ClaudeAgentOptions(cli_path=list(words), cwd=folder, setting_sources=[])
        async with asyncio.timeout(START_LIMIT_S), connect(options) as session:
            told = session.server_info
        return {"commands": len(told.commands or ()), "models": len(told.models or ())}
