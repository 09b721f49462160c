"""What can be kept as text and number in every database: valid Unicode without NUL, integers of 64 bits."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from .errors import InvalidCommit

_LARGEST = 2**63 - 1


def check_text(record: msgspec.Struct) -> None:
    """Raise ``InvalidCommit`` for a field that a database would refuse or change."""
    for name in record.__struct_fields__:
        reason = _unkeepable(getattr(record, name))
        if reason is not None:
            raise InvalidCommit(
                f"{type(record).__name__}.{name} {reason}. Clean it, or keep it in the body, which takes any bytes."
            )


def keepable(text: str) -> str:
    """The text, with a mark for each character that no database keeps."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def is_keepable(text: str) -> bool:
    return _unkeepable(text) is None


def _unkeepable(value: Any) -> str | None:
    if isinstance(value, str):
        if "\0" in value:
            return "contains a NUL character"
        return None if _is_unicode(value) else "contains a lone surrogate"
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return None if -_LARGEST <= value <= _LARGEST else "is a number of more than 64 bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else "is not a finite number"
    if isinstance(value, tuple):
        return next((reason for one in value if (reason := _unkeepable(one))), None)
    return None


def _is_unicode(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
