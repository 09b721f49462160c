"""Take secrets out of bytes that are to be kept: keys, tokens, authorization headers, values of secret variables.

Works on the text as it is on the wire, inside JSON strings too, and leaves JSON valid: a secret never contains a quote
or a backslash, and neither does the mark that replaces it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

MARK = b"[redacted]"
SHORTEST_SECRET = 8
"""Values of variables shorter than this are left alone: ``true`` or ``1`` would be found everywhere."""

_SECRET_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_VALUE = rb"[^\s\"'\\,;&<>]"
_PATTERNS = (
    rb"sk-ant-[\w-]{8,}",
    rb"\bsk-[A-Za-z0-9_-]{20,}",
    rb"\bgh[opsur]_[A-Za-z0-9]{20,}",
    rb"\bgithub_pat_\w{20,}",
    rb"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    rb"\bAKIA[0-9A-Z]{16}\b",
    rb"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
    rb"(?i:\bbearer )(?P<v1>" + _VALUE + rb"{8,})",
    # A header or a JSON key: authorization: …, \"x-api-key\": \"…\"
    rb"(?i:\b(?:proxy-)?authorization|\bx-api-key|\bapi[_-]?key)[\\\"']*\s*[:=]\s*[\\\"']*(?i:basic |bearer )?(?P<v2>"
    + _VALUE
    + rb"{8,})",
    # An assignment or a JSON member whose name says that its value is secret
    rb"\b[A-Za-z0-9_]*_(?i:KEY|TOKEN|SECRET|PASSWORD)[\\\"']*\s*[:=]\s*[\\\"']*(?P<v3>" + _VALUE + rb"{8,})",
)


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds something that must not be shown."""
    return _SECRET_NAME.search(name) is not None


class Redactor:
    """Replaces what looks like a secret; only the secret, not the words that announce it."""

    def __init__(self, *, patterns: Iterable[str] = (), environment: Mapping[str, str] | None = None) -> None:
        secrets = {value for name, value in (environment or {}).items() if is_secret_name(name)}
        # Also as it is spelled inside a JSON string
        spelled = {
            form for value in secrets if len(value) >= SHORTEST_SECRET for form in (value, json.dumps(value)[1:-1])
        }
        literal = [
            re.escape(form.encode("utf-8", "surrogateescape")) for form in sorted(spelled, key=len, reverse=True)
        ]
        given = [b"(?:" + pattern.encode() + b")" for pattern in patterns]
        self._pattern = re.compile(b"|".join([*literal, *given, *_PATTERNS]))

    def redact(self, data: bytes) -> tuple[bytes, int]:
        """The bytes without secrets, and how many there were."""
        return self._pattern.subn(_replacement, data)

    def safe_cut(self, data: bytes, at: int) -> int:
        """The last place up to ``at`` where ``data`` can be cut without cutting a secret."""
        for found in self._pattern.finditer(data):
            if found.start() < at < found.end():
                return found.start()
            if found.start() >= at:
                break
        return at


def _replacement(found: re.Match[bytes]) -> bytes:
    for name in ("v1", "v2", "v3"):
        if found[name] is not None:
            start, end = found.span(name)
            return found[0][: start - found.start()] + MARK + found[0][end - found.start() :]
    return MARK
