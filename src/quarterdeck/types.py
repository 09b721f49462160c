"""The same names under the module that programs written for the official SDK import them from."""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from quarterdeck import *  # noqa: F403

_names = LazyNames(globals(), rooms=("quarterdeck.client", "quarterdeck.wire"))
