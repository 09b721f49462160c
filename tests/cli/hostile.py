"""Text that would control a terminal, and how to see that it could."""

from __future__ import annotations

import re

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\x08\u202eevil\u2066\x7f"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""What a terminal obeys instead of showing it."""
