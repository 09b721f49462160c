"""The core of the client on a host: the tests of local sessions (``tests/e2e/test_core.py``), on the newest CLI."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from e2e.kit import Running
from e2e.test_core import *  # noqa: F403
from e2e.test_core import add, broken
from quarterdeck import create_sdk_mcp_server
from remote.kit import running_elsewhere


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    options = {
        "include_partial_messages": True,
        "system_prompt": "Be terse.",
        "mcp_servers": {"calc": create_sdk_mcp_server("calc", tools=[add, broken])},
        "env": {"CLAUDE_CODE_MAX_RETRIES": "0"},
    }
    with running_elsewhere(tmp_path_factory.mktemp("core"), **options) as running:
        yield running
