"""Background processes of the kinds that tools leave behind, and a look at which of them still live."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path

from quarterdeck.transport.process_table import stats


class StrayCommands:
    """Shell commands that each leave one process running. All follow a file that no other process follows."""

    def __init__(self) -> None:
        self._command = f"tail -F /nonexistent/{uuid.uuid4().hex}"
        tail, quiet = self._command, "</dev/null >/dev/null 2>&1"
        self.kinds = {
            "in the background": f"{tail} {quiet} &",
            "in a session of its own": f"setsid {tail} {quiet} &",
            "without hang-ups": f"nohup {tail} {quiet} &",
            "forked twice": f"(({tail} {quiet} &) &)",
            "disowned": f"{tail} {quiet} & disown",
            "without an environment": f"env -i {tail} {quiet} &",
            "without an environment, in a session of its own": f"env -i setsid {tail} {quiet} &",
            "forked twice without an environment": f"(env -i setsid sh -c '{tail} & :' {quiet} &)",
            "deaf to SIGTERM": f"(trap '' TERM; exec {tail} {quiet}) &",
            "stopped": f"sh -c 'kill -STOP $$; exec {tail}' {quiet} &",
        }

    @property
    def script(self) -> str:
        """One of each."""
        kinds = [command for name, command in self.kinds.items() if name != "disowned"]
        return "\n".join([*kinds, self.kinds["disowned"]])

    def alive(self) -> list[str]:
        """The command lines of those that live; zombies do not."""
        living = {one.pid for one in stats() if one.state not in {"Z", "X"}}
        found = []
        for pid in living:
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                if words in (self._command, f"sh -c kill -STOP $$; exec {self._command}"):
                    found.append(words)
        return found

    def all_started(self) -> bool:
        return len(self.alive()) == len(self.kinds)
