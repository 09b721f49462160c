"""How versions of the CLI differ on the wire, as measured on 2.0.77, 2.1.17, 2.1.25, 2.1.52 and 2.1.325.

For each ability: the oldest measured version that has it. A version in between is taken to lack it, and so is one that
does not say its version. Differences at launch (flags, fields of ``initialize``) are in ``client.launch_versions``;
everything that was measured is in ``docs/compatibility.md``.
"""

from __future__ import annotations

import re

Version = tuple[int, int, int]

MEASURED: frozenset[Version] = frozenset({(2, 0, 77), (2, 1, 17), (2, 1, 25), (2, 1, 52), (2, 1, 325)})
"""What this version of Quarterdeck was tried with."""

REFUSES_UNKNOWN_REQUESTS: Version = (2, 1, 52)
"""It refuses a control request of an unknown subtype (2.1.325 with the code ``unsupported_request``, 2.1.52 without a
code). 2.0.77, 2.1.17 and 2.1.25 never answer one, so every request needs a deadline."""

TAKES_CANCELS: Version = (2, 1, 52)
"""Accepts ``control_cancel_request``. 2.0.77, 2.1.17 and 2.1.25 exit with code 1 on one."""

TAKES_ENVIRONMENT: Version = (2, 1, 25)
"""It takes ``update_environment_variables``. 2.0.77 exits with code 1 on it."""

HAS_AUTH_STATUS: Version = (2, 1, 52)
"""It has the command ``auth status``. 2.0.77 and 2.1.17 take these words as a prompt."""

ASKS_FOR_HOOKS: Version = (2, 1, 325)
"""It asks where a ``PreToolUse`` hook says "ask", whatever its rules and its mode allow. 2.0.77, 2.1.17, 2.1.25 and
2.1.52 ask only about what they would have asked about without the hook, and run the rest."""


def parse_version(version: str | None) -> Version | None:
    """``2.1.325 (Claude Code)`` → ``(2, 1, 325)``; None for anything else."""
    found = re.match(r"\s*v?(\d+)\.(\d+)\.(\d+)", version or "")
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def is_at_least(version: str | None, needed: Version) -> bool:
    """Whether the CLI is known to be that new."""
    known = parse_version(version)
    return known is not None and known >= needed
