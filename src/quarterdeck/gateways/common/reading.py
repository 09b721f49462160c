"""Error messages for unreadable requests, and a check for texts that nobody intends."""

from __future__ import annotations

import re

from quarterdeck.host.errors import HostError
from quarterdeck.host.requests import Request

_PLACE = re.compile(r" - at `(?:key in )?\$\.?(.*?)`$")
_UNKNOWN = re.compile(r"unknown field `(.*?)`")
_MISSING = re.compile(r"missing required field `(.*?)`")


def invalid(error: Exception, described_in: str = "/openapi.json") -> HostError:
    """An unreadable request: says which field is wrong."""
    text = str(error)
    place = _PLACE.search(text)
    named = _UNKNOWN.search(text) or _MISSING.search(text)
    parts = [found[1] for found in (place, named) if found is not None and found[1]]
    said = _PLACE.sub("", text)
    hint = f"The fields of each request are in {described_in}." if named else ""
    return HostError("invalid", f"The request cannot be read: {said}.", hint=hint, field=".".join(parts) or "body")


def check_texts(request: Request) -> None:
    """A NUL ends a path for the system and a text for the CLI: never intended."""
    for name in request.__struct_fields__:
        value = getattr(request, name)
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and "\0" in text:
                raise HostError("invalid", f"{name} contains a NUL character.", field=name)
