"""Prompts, text, steering and settings on a host: the tests of local sessions (``tests/e2e/test_conversation.py``)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from e2e.kit import Running
from e2e.test_conversation import *  # noqa: F403
from remote.kit import running_elsewhere


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_elsewhere(tmp_path_factory.mktemp("conversation"), include_partial_messages=True) as running:
        yield running
