"""Permissions, questions and plans on a host: the tests of local sessions (``tests/e2e/test_permissions.py``)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from e2e.kit import Running
from e2e.test_permissions import *  # noqa: F403
from remote.kit import running_elsewhere

# A rule is remembered by the host, as a grant that people can revoke, and not by Claude Code: host/test_conversations.
del test_a_rule_that_is_added_is_one_of_the_clis_own  # noqa: F821


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_elsewhere(tmp_path_factory.mktemp("permissions")) as running:
        yield running
