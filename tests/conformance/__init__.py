"""One list of protocol scenarios, played through our client against several versions of the real CLI and the simulator.

``PYTHONPATH=tests python -m conformance`` runs it against the supported versions, or against a CLI of your own
(``--cli``). A scenario says what the newest CLI does; what other versions do is recorded in ``docs/compatibility.md``.
"""

from __future__ import annotations
