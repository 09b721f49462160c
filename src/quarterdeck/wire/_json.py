"""JSON text ⇄ Python values, including what ``msgspec`` refuses.

JavaScript writes lone surrogates as ``"\\ud800"`` and numbers beyond a double as large exponents; ``json.loads``
takes both and so do we. ``NaN`` and ``Infinity`` are not JSON and no JavaScript writes them: they stay errors.
"""

from __future__ import annotations

from typing import Any

import msgspec

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def loads(text: bytes) -> Any:
    """The value of a JSON text. Raises ``ValueError`` (also for bad UTF-8) or ``RecursionError``."""
    try:
        return _decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        import json

        return json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)


def dumps(value: Any) -> bytes:
    """The value as JSON on one line, always valid UTF-8: a lone surrogate is written as an escape."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        import json

        return json.dumps(value, separators=(",", ":")).encode("ascii")
