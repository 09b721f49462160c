"""Every request of the host to the CLI; ``tables`` has all of them, and those of the CLI, by subtype.

Only what they share is here: a program needs few of these classes. ``quarterdeck.wire`` has them all by name.
"""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import UNSET

from quarterdeck.wire._base import WireObject


class OutgoingRequest(WireObject, tag_field="subtype"):
    """A request to the CLI.

    Every request needs a deadline: some CLIs never answer a subtype they do not know
    (``versions.REFUSES_UNKNOWN_REQUESTS``).
    """

    Answer: ClassVar[Any] = None
    """The type of the answer's payload; None if there is none, ``dict`` if it has no fixed shape."""

    def get(self, key: str, default: Any = None) -> Any:
        """A field left unset is not on the wire, so it is absent here too."""
        value = super().get(key, default)
        return default if value is UNSET else value
