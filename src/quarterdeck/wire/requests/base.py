"""What every request to the CLI is made of."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import UNSET

from quarterdeck.wire._base import WireObject


class OutgoingRequest(WireObject, frozen=True, tag_field="subtype"):
    """A request to the CLI.

    2.1.325 answers an unknown subtype with the error code ``unsupported_request``; 2.0.77 and 2.1.25 do not answer it
    at all, so every request needs a deadline.
    """

    Answer: ClassVar[Any] = None
    """The type of a success's payload; None where a success says nothing more, ``dict`` where the payload is free."""

    def get(self, key: str, default: Any = None) -> Any:
        """A field left unset is not on the wire, so it is absent here too."""
        value = super().get(key, default)
        return default if value is UNSET else value
