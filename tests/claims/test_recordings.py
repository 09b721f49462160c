"""The recordings of the claims are those of the scenarios, are typed to the last key, and tell nothing of a machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import conversations
from claims.reading import OWN, VERSIONS
from claims.scenarios import CLAIMS
from conversations.test_recordings import HOME_PATHS
from looping import for_each
from quarterdeck.wire import BadLine, SystemMessage, UnknownMessage, decode
from quarterdeck.wire.untyped import untyped_keys

PATHS = sorted(OWN.glob("*/*.ndjson"))


@pytest.mark.parametrize("version", VERSIONS)
def test_exactly_the_scenarios_are_recorded(version: str) -> None:
    recorded = {re.sub(r"_\d_[a-z_]+$", "", path.stem) for path in PATHS if path.parent.name == version}
    assert recorded == set(CLAIMS)


@for_each("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recording_is_typed_to_the_last_key_and_neutral(path: Path) -> None:
    recording = conversations.load(path)
    for line in recording.lines("out"):
        message = decode(line)
        assert not isinstance(message, (UnknownMessage, BadLine)), message
        assert type(message) is not SystemMessage, message
        assert list(untyped_keys(message)) == []
    said = recording.stream("in") + recording.stream("out") + recording.header.stderr.encode()
    assert HOME_PATHS.search(said) is None
