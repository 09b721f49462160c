"""Settings of the whole host, as callers give them."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from .errors import HostError

T = TypeVar("T")


def converted(settings: dict[str, Any], kind: type[T]) -> T:
    """Raises ``HostError`` for values of another kind."""
    try:
        return msgspec.convert(settings, kind)
    except msgspec.ValidationError as error:
        raise HostError("invalid", f"These settings are not valid: {error}.", field="settings") from error
