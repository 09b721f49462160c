"""One list of protocol scenarios, played through our client against real CLIs of several versions and the simulator.

``python -m quarterdeck.testing.conformance`` runs it: against the supported versions, or against a CLI of your own. A
scenario says what the newest CLI does; what another version does is recorded as it is (``docs/compatibility.md``).
"""

from __future__ import annotations
