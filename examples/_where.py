"""Where an example runs Claude Code: here, or with ``--host URL`` on a host (its token: ``QUARTERDECK_TOKEN``)."""

import sys

HOST: str | None = sys.argv[sys.argv.index("--host") + 1] if "--host" in sys.argv else None
