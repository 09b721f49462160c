"""A typed view on a JSON object that is already decoded.

Hook inputs and tool inputs travel inside other messages and are typed only when someone asks. The official SDK hands
them out as plain dicts, so each view and every object inside it keeps its dict: keys newer than this version can be
read at any depth.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ._base import OpenObject, wire_names


class View(OpenObject, kw_only=True):
    """Attributes are typed; keys are those of the dict, so a default of ours never looks as if it had been sent."""

    def get(self, key: str, default: Any = None) -> Any:
        source = self.origin_
        return source.get(key, default) if isinstance(source, dict) else super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        source = self.origin_
        return source[key] if isinstance(source, dict) else super().__getitem__(key)


def typed_view(data: Any, shape: Any) -> Any:
    """``data`` as a ``shape`` (a struct, a union of structs, a list of them), or ``msgspec.ValidationError``."""
    view = msgspec.convert(data, shape)
    _remember(view, data)
    return view


def _remember(view: Any, data: Any) -> None:
    """Give every ``OpenObject`` in ``view`` the dict it was made from."""
    if isinstance(view, OpenObject):
        view.origin_ = data
        for key, name in wire_names(type(view)).items():
            _remember(getattr(view, name), data.get(key))
    elif isinstance(view, list):
        for item, source in zip(view, data, strict=True):
            if isinstance(item, OpenObject):
                _remember(item, source)
    elif isinstance(view, dict):
        for key, item in view.items():
            if isinstance(item, OpenObject):
                _remember(item, data[key])
