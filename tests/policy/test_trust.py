"""What an untrusted folder says only narrows: ours and the real CLI read the same files, and ours allows no more."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import soak
from policy.real_cli import DECIDED, decisions
from quarterdeck.policy import Policy

pytestmark = pytest.mark.real

LAYERS = {"project": "project/.claude/settings.json", "local": "project/.claude/settings.local.json"}
LAYERS |= {"user": "home/.claude/settings.json"}
MODES = (None, None, "default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
RULES = (
    "Bash(touch:*)",
    "Bash(zfoo)",
    "WebFetch(domain:docs.example)",
    "Edit(src/**)",
    "Read(//{root}/outside/**)",
    "Write",
)
TRUSTED = (["{root}/project"], ["{root}/project"], [], ["{root}"], ["/"], ["{root}/project/sub"])


def settings(chance: random.Random) -> dict[str, Any]:
    """The permissions of one file, made up."""
    said: dict[str, Any] = {
        behavior: chance.sample(RULES, chance.randrange(4)) for behavior in ("allow", "allow", "deny", "ask")
    }
    said["deny"] = said["deny"][:1]
    said["additionalDirectories"] = chance.choice([[], ["{root}/outside"], ["/"], ["../outside"], ["../missing"]])
    mode = chance.choice(MODES)
    return {"permissions": said if mode is None else {**said, "defaultMode": mode}}


def calls(root: Path) -> list[tuple[str, dict[str, Any]]]:
    files = [root / "outside" / "f", root / "project" / "a", Path("/etc/hostname")]
    written = [root / "outside" / "w", root / "project" / "w", root / "project" / "src" / "w"]
    commands = ("touch x", "zfoo", "rm x", "ls")
    return [
        *[("Read", {"file_path": str(path)}) for path in files],
        *[("Write", {"file_path": str(path), "content": "x"}) for path in written],
        *[("Bash", {"command": command, "description": "try"}) for command in commands],
        ("WebFetch", {"url": "https://docs.example/", "prompt": "read"}),
    ]


@pytest.mark.parametrize("number", range(soak.cases(8, in_soak=120)))
def test_ours_allows_nothing_that_the_cli_does_not_whatever_the_files_say(number: int, tmp_path: Path) -> None:
    chance, root = random.Random(f"{soak.SEED} {number}"), tmp_path.resolve()
    for folder in ("project/.claude", "project/src", "home/.claude", "outside"):
        (root / folder).mkdir(parents=True)
    for name in ("outside/f", "project/a"):
        (root / name).write_text("text")
    for path in LAYERS.values():
        if chance.random() < 0.6:
            (root / path).write_text(
                json.dumps(settings(chance)).replace("/{root}", str(root)).replace("{root}", str(root))
            )
    trusted = [folder.replace("{root}", str(root)) for folder in chance.choice(TRUSTED)]
    cwd, home = root / "project", root / "home"

    theirs = decisions(calls(root), cwd=cwd, home=home, mode=None, trusted=trusted)
    policy = Policy.from_settings(cwd, home=str(home), managed=str(root / "none.json"))
    ours = [policy.decide(*call).behavior for call in calls(root)]

    answers = list(zip(calls(root), ours, theirs, strict=True))
    # denied as a whole, Write is no tool
    assert {tool for (tool, _), _, answer in answers if answer not in DECIDED} <= {"Write"}
    assert [one for one in answers if one[1] == "allow" != one[2] and one[2] in DECIDED] == []
