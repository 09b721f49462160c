"""The gRPC library for node, installed once per machine into the cache."""

from __future__ import annotations

import os

from needs import from_npm

GRPC_JS = "1.14.7"


def node_env() -> dict[str, str]:
    """The environment in which node finds it."""
    folder = from_npm("@grpc/grpc-js", GRPC_JS)
    return {"PATH": os.environ["PATH"], "NODE_PATH": str(folder / "node_modules")}
