"""Tools to test and debug a Claude Code program with no model and no network.

``sim``        a ``claude`` without a model                ``model``      a scripted model for the real CLI
``tap``        records a program and its ``claude``         ``trace``      shows a recording
``replay``     plays a recorded CLI                         ``faults``     delays, cuts, garbage, crashes
``install``    any version of the real CLI                  ``kit``        ready-made for tests, with or without pytest

``run_session_store_conformance`` checks a session store, as in the official SDK's ``testing``.

Names are imported on first use, because the tap must start in milliseconds.
"""

from __future__ import annotations

from quarterdeck._lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from quarterdeck.client.transcript_stores import conformance
    from quarterdeck.client.transcript_stores.conformance import run_session_store_conformance

__all__: list[str] = []
_names = LazyNames(globals())
_names.of("quarterdeck.client.transcript_stores.conformance")
__all__ += ["run_session_store_conformance"]
_names.of("quarterdeck.client.transcript_stores")
__all__ += ["conformance"]
