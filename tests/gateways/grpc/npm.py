"""The gRPC library for node, installed once per machine into the cache."""

from __future__ import annotations

import os

import pytest
from benchmarks._npm import package

GRPC_JS = "1.14.7"


def node_env() -> dict[str, str]:
    """The environment in which node finds it. Skips the test where it cannot be had."""
    folder = package("@grpc/grpc-js", GRPC_JS)
    if folder is None:
        pytest.skip("node or npm is missing, or cannot fetch @grpc/grpc-js")
    return {"PATH": os.environ["PATH"], "NODE_PATH": str(folder / "node_modules")}
