"""``quarterdeck.protocol`` imports a name when it is first asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from quarterdeck import protocol


def test_every_public_name_is_there() -> None:
    assert sorted(set(protocol.__all__)) == sorted(protocol.__all__)
    assert [name for name in protocol.__all__ if getattr(protocol, name, None) is None] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'quarterdeck\.protocol' has no attribute 'Nobody'"):
        _ = protocol.Nobody


def test_the_side_of_the_cli_does_not_load_that_of_the_host() -> None:
    code = "import sys; from quarterdeck.protocol import CliSide; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)

    loaded = set(done.stdout.split())
    assert loaded & {
        "quarterdeck.protocol.cli_side",
        "quarterdeck.protocol.host_side",
        "quarterdeck.wire.requests",
    } == {"quarterdeck.protocol.cli_side"}
