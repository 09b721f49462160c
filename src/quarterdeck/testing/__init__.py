"""The lab: test and debug a Claude Code program with no model and no network.

``sim``        a ``claude`` that is not a model            ``model``      a scripted model for the real CLI
``tap``        records any program and its ``claude``       ``trace``      shows a recording to a person
``replay``     acts as the CLI of a recording               ``faults``     delays, cuts, garbage, sudden deaths
``install``    any version of the real CLI                  ``kit``        all of it ready for tests; ``pytest_plugin``
                                                                        hands it out as fixtures

``run_session_store_conformance`` checks a session store, as in the official SDK's ``testing``.

Nothing is imported here before it is asked for: the tap must start in milliseconds.
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
