"""Certificates of ``localhost`` that nobody trusts unless told to."""

from __future__ import annotations

import subprocess
from pathlib import Path

LIMIT_S = 60.0


def certificate(folder: Path, name: str = "cert") -> tuple[Path, Path]:
    """A new one in this folder, and its key."""
    made, key = folder / f"{name}.pem", folder / f"{name}.key.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    words += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    words += ["-keyout", str(key), "-out", str(made)]
    subprocess.run(words, check=True, capture_output=True, timeout=LIMIT_S)
    return made, key
