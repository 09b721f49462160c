"""A headless Chromium for tests and benchmarks of the page: the machine's own, found by its name."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "Chromium is not installed (.ci/browser installs it where that is possible)"
START_S = 60.0
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    "--hide-scrollbars",
]


@contextmanager
def chromium(*flags: str) -> Iterator[str]:
    """Runs a browser; yields the address of its DevTools."""
    assert CHROMIUM is not None, MISSING
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [CHROMIUM, *FLAGS, *flags, f"--user-data-dir={profile}", "about:blank"]
        env = {**os.environ, "HOME": profile}
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        try:
            yield _address(process, Path(profile) / "DevToolsActivePort")
        finally:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], told: Path) -> str:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        assert process.poll() is None, "Chromium has ended"
        if told.exists() and (lines := told.read_text().splitlines()):
            return f"http://127.0.0.1:{lines[0]}"
        time.sleep(0.02)
    raise AssertionError("Chromium does not say where it listens")
