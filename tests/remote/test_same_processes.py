"""``query``, ``ClaudeSDKClient``, resume and fork on a host: the tests of local sessions (``test_processes.py``)."""

from __future__ import annotations

import pytest

from e2e.kit import Stage
from e2e.test_processes import *  # noqa: F403
from e2e.test_processes import UNKNOWN
from quarterdeck.host import HostError

# A process that does not start is the host's error, with the reason.
del test_resuming_an_unknown_conversation_says_so  # noqa: F821


async def test_resuming_an_unknown_conversation_is_an_error_of_the_host_with_the_reason(stage: Stage) -> None:
    with pytest.raises(HostError, match="No conversation found") as caught:
        async with stage.session(resume=UNKNOWN):
            pass
    assert caught.value.code == "cli_failed"
