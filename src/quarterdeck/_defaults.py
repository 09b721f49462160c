"""Limits and timeouts shared by an option and a lower layer, kept here so that options import no layer."""

from __future__ import annotations

LIMIT_BYTES = 64 * 1024 * 1024
"""Maximum line length. The CLI has no limit: files and images travel inside lines, and we have seen a 5 MB text block
in one line (2.1.325)."""

INITIALIZE_TIMEOUT_S = 60.0
"""For the handshake. The CLI (2.1.325) needs 0.3 to 1.2 s; many MCP servers or a cold disk take longer. The official
SDK uses the same value."""

REQUEST_TIMEOUT_S = 60.0
"""For other requests: some CLIs never answer requests they do not know (``wire.versions.REFUSES_UNKNOWN_REQUESTS``)."""

CLOSE_GRACE_S = 3.0
"""From end of input to the first signal. The CLI (2.1.325) leaves in about 0.1 s when idle, and finishes a running turn
first."""
