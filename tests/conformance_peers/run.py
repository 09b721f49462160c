"""The official SDKs with our tools as their ``claude``: tap before the real CLI, simulator, replay of the recording.

``python -m conformance_peers.run OUT.json`` (in ``tests``) installs them into the cache, runs each of them three times
and writes the outcomes. Each time they must print what ``EXPECTED`` says.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compat import typescript
from compat.peer import VERSION, installed_peer
from quarterdeck.testing.install import install_cli
from quarterdeck.testing.launcher import write_launcher
from quarterdeck.testing.model import ModelServer, ToolUse

HERE = Path(__file__).parent
RUN_LIMIT_S = 60.0

INPUT = {"command": "touch made.txt", "description": "Make a file"}
SCENARIO = {"turns": [["I make it.", {"tool": "Bash", "input": INPUT}, "It is made."]]}
WORDS = {"python": ("True", "False"), "node": ("true", "false")}
EXPECTED = """\
init default {yes}
text I make it.
call Bash touch made.txt
result (Bash completed with no output) {no}
text It is made.
end success {no} 2 It is made.
asked Bash touch made.txt
"""


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    version: str
    program: tuple[str, ...]
    env: dict[str, str]

    @property
    def expected(self) -> str:
        yes, no = WORDS["node" if self.program[0].endswith("node") else "python"]
        return EXPECTED.format(yes=yes, no=no)


def python_sdk() -> Peer:
    return Peer("official Python SDK", VERSION, (str(installed_peer()), str(HERE / "turn.py")), {})


def typescript_sdk() -> Peer:
    program = (typescript.node(), str(HERE / "turn.mjs"))
    folder = typescript.installed_package()
    return Peer("official TypeScript SDK", typescript.VERSION, program, {"SDK_FOLDER": str(folder)})


def run(peer: Peer, claude: Path, folder: Path, env: dict[str, str]) -> tuple[str, str]:
    """What the peer prints with this executable as its ``claude``; and its errors, if it failed."""
    home, cwd = folder / "home", folder / "work"
    for place in (home, cwd):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
    own = {"HOME": str(home), "PATH": os.environ["PATH"], "CLAUDE_BIN": str(claude), "SHELL": "/bin/bash"}
    done = subprocess.run(
        peer.program,
        cwd=cwd,
        env={**own, **peer.env, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
        check=False,
    )
    return done.stdout, done.stderr if done.returncode else ""


def outcome(peer: Peer, play: Callable[[], tuple[str, str]]) -> dict[str, str]:
    try:
        printed, error = play()
    except subprocess.TimeoutExpired:
        return {"status": "differs", "detail": f"not done within {RUN_LIMIT_S:.0f} s"}
    if error:
        return {"status": "differs", "detail": error.strip().splitlines()[-1][:160]}
    if printed != peer.expected:
        lines = zip(printed.splitlines(), peer.expected.splitlines(), strict=False)
        wrong = next(
            (f"{found!r}, not {wanted!r}" for found, wanted in lines if found != wanted), "more or fewer lines"
        )
        return {"status": "differs", "detail": f"it prints {wrong}"}
    return {"status": "pass"}


def check(peer: Peer) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="quarterdeck-peers-") as place:
        folder = Path(place).resolve()
        recording, scenario = folder / "recording.ndjson", folder / "scenario.json"
        scenario.write_text(json.dumps(SCENARIO))
        binary = folder / "bin"
        tap_words = ["--out", str(recording), "--", *install_cli().argv]
        tap = write_launcher(binary / "tap", "quarterdeck.cli.tap", tap_words)
        sim = write_launcher(binary / "sim", "quarterdeck.cli.sim", ["--scenario", str(scenario)])
        replay = write_launcher(binary / "replay", "quarterdeck.cli.replay", [str(recording)])
        with ModelServer() as model:
            model.reply("I make it.", ToolUse("Bash", INPUT))
            model.reply("It is made.")
            outcomes = {
                "`quarterdeck tap` before the real CLI": outcome(peer, lambda: run(peer, tap, folder, model.env()))
            }
        outcomes["`quarterdeck sim`"] = outcome(peer, lambda: run(peer, sim, folder, {}))
        outcomes["`quarterdeck replay` of the recording"] = outcome(peer, lambda: run(peer, replay, folder, {}))
    return {"name": peer.name, "version": peer.version, "outcomes": outcomes}


def main() -> None:
    started = time.monotonic()
    found = [check(python_sdk()), check(typescript_sdk())]
    for peer in found:
        for way, result in peer["outcomes"].items():
            print(f"{peer['name']:25} {way:40} {result['status']} {result.get('detail', '')}", file=sys.stderr)
    print(f"official SDKs: {time.monotonic() - started:.0f} s", file=sys.stderr)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
