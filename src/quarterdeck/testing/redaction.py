"""Remove secrets from bytes before they are kept: keys, tokens, authorization headers, values of secret variables.

Works on the text as it is on the wire, inside JSON strings too, and leaves JSON valid: a secret never contains a quote
or a backslash, and neither does the mark that replaces it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

MARK = b"[redacted]"
SHORTEST_SECRET = 8
"""Shorter values of variables are left alone: ``true`` or ``1`` would be found everywhere."""

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|CREDENTIALS?|AUTH|PAT|COOKIE)$", re.IGNORECASE
)
_VALUE = rb"[^\s\"'\\,;&<>]"
_NAMES_SECRET = (
    rb"(?:(?:api|access|secret|private|signing|encryption)[_-]?key|_key|token|secret|passw(?:or)?d|passphrase"
    rb"|credentials?|authorization|auth|cookie)"
)
"""The end of a name whose value is secret: of a variable, a JSON key, a header, an option, a part of a query."""
_PATTERNS = (
    rb"sk-ant-[\w-]{8,}",
    rb"\bsk-[A-Za-z0-9_-]{20,}",
    rb"\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",
    rb"\bgh[opsur]_[A-Za-z0-9]{20,}",
    rb"\bgithub_pat_\w{20,}",
    rb"\bglpat-[\w-]{16,}",
    rb"\bnpm_[A-Za-z0-9]{30,}",
    rb"\bpypi-[\w-]{30,}",
    rb"\bhf_[A-Za-z0-9]{20,}",
    rb"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    rb"\bxapp-[A-Za-z0-9-]{10,}",
    rb"\bA(?:KI|SI)A[0-9A-Z]{16}\b",
    rb"\bAIza[\w-]{30,}",
    rb"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
    rb"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?P<v4>(?s:.{1,16384}?))-----END",
    rb"(?i:\b(?:bearer|basic) )(?P<v1>" + _VALUE + rb"{8,})",
    # https://user:password@host: up to the last @ before a slash or a space
    rb"://[^\s/@:\"'\\]{0,256}:(?P<v5>[^\s/\"'\\]{1,256})@",
    # An assignment, a header or a JSON member, in JSON inside JSON too: password=…, X-Api-Key: …, \"token\": \"…\"
    rb"(?i:"
    + _NAMES_SECRET
    + rb")[\\\"']{0,8}\s{0,8}[:=]\s{0,8}[\\\"']{0,8}(?i:basic |bearer )?(?P<v2>"
    + _VALUE
    + rb"{6,})",
    # An option and its value, as on a command line or as two items of a JSON list: --token …, \"--token\",\"…\"
    rb"(?i:--?[a-z0-9-]{0,64}?"
    + _NAMES_SECRET
    + rb")(?:[\\\"']{1,8},\s{0,8}[\\\"']{1,8}|\s{1,8}[\\\"']{0,8})(?P<v3>"
    + _VALUE
    + rb"{6,})",
)
_GROUPS = ("v1", "v2", "v3", "v4", "v5")
_OPTION = re.compile(rb"(?i:--?[a-z0-9_-]*" + _NAMES_SECRET + rb")\Z")
_ASSIGNED = re.compile(rb"((?i:[a-z0-9_.-]*" + _NAMES_SECRET + rb")=).+\Z", re.DOTALL)
"""A word of a command line that is one assignment: its value is a secret, however short."""


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds something that must not be shown."""
    return _SECRET_NAME.search(name) is not None


class Redactor:
    """Replaces what looks like a secret: only the secret itself, not its label."""

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

    def redact_words(self, words: Iterable[bytes]) -> tuple[list[bytes], int]:
        """A command line without secrets, including the word after ``--token``."""
        found, total, after_option = [], 0, False
        for word in words:
            assigned = _ASSIGNED.match(word)
            if after_option and not word.startswith(b"-"):
                redacted, count = MARK, 1
            elif assigned is not None:
                redacted, count = assigned[1] + MARK, 1
            else:
                redacted, count = self.redact(word)
            after_option = _OPTION.match(word) is not None
            found.append(redacted)
            total += count
        return found, total

    def safe_cut(self, data: bytes, at: int) -> int:
        """The last place up to ``at`` where ``data`` can be cut without cutting a secret."""
        for found in self._pattern.finditer(data):
            if found.start() < at < found.end():
                return found.start()
            if found.start() >= at:
                break
        return at


def _replacement(found: re.Match[bytes]) -> bytes:
    for name in _GROUPS:
        if found[name] is not None:
            start, end = found.span(name)
            return found[0][: start - found.start()] + MARK + found[0][end - found.start() :]
    return MARK
