"""The exit codes of every command; what a command adds to them stands in its help."""

from __future__ import annotations

OK = 0
FAILED = 1
"""The command was understood, and what it should do did not succeed."""
USAGE_ERROR = 2
"""The command line was wrong; nothing was done."""
INTERRUPTED = 130
"""By Ctrl-C: 128 + SIGINT, as shells say it."""
BROKEN_PIPE = 141
"""Whoever read the output went away, as ``head`` does: 128 + SIGPIPE."""

COMMON: dict[int, str] = {
    OK: "all is well",
    FAILED: "it did not succeed; stderr says why",
    USAGE_ERROR: "the command line is wrong",
    INTERRUPTED: "interrupted by Ctrl-C",
    BROKEN_PIPE: "the reader of the output went away",
}
