"""What tests of programs that drive Claude Code need: no model, no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quarterdeck.client.stores.conformance import run_session_store_conformance

__all__ = ["run_session_store_conformance"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from quarterdeck.client.stores import conformance

    return getattr(conformance, name)
