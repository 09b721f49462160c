"""The policy and the real CLI decide about the same calls under the same settings.

``differential.toml`` lists every difference with its reason. The policy may be stricter, never looser, and a listed
difference that is none any more fails as well. ``make test`` compares half of the groups, ``make soak`` all.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import soak
from policy.real_cli import decisions
from quarterdeck.policy import Policy
from quarterdeck.policy.requests import parse_request

STRICTNESS = ("allow", "ask", "deny")
PLACES = ("project", "outside", "home/user", "vault", "shared", "beside", "var/log", "srv")
GROUPS: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "differential.toml").read_text())["group"]
EXTRA_INPUT = {
    "Bash": {"description": "a test"},
    "Write": {"content": "text"},
    "WebFetch": {"prompt": "read it"},
}


@dataclass(frozen=True)
class Scratch:
    """The folders of one group, moved below a folder that is thrown away."""

    root: Path

    def move(self, text: str) -> str:
        """``text`` with the paths of the table led into the scratch folder; rules write them with two slashes."""
        for place in PLACES:
            text = re.sub(rf"(?<![\w/])(/?)/{place}(?![\w.-])", rf"\1{self.root}/{place}", text)
        return text

    def build(self, links: dict[str, str]) -> None:
        for place in (*PLACES, "project/src"):
            (self.root / place).mkdir(parents=True, exist_ok=True)
        for link, target in links.items():
            path = Path(self.move(link))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(self.move(target))

    def call(self, request: str) -> tuple[str, dict[str, Any]]:
        tool, given = parse_request(self.move(request))
        path = given.get("file_path")
        if path is not None and not path.startswith(("/", "~")):
            given["file_path"] = f"{self.root}/project/{path}"
        return tool, {**given, **EXTRA_INPUT.get(tool, {})}


@pytest.mark.real
@pytest.mark.parametrize("group", soak.part(GROUPS, 21), ids=lambda group: group["about"])
def test_the_policy_agrees_with_the_real_cli_or_is_stricter_for_a_stated_reason(
    group: dict[str, Any], tmp_path: Path
) -> None:
    scratch = Scratch(tmp_path.resolve())
    scratch.build(group.get("links", {}))
    expected = dict.fromkeys(group["agree"], (None, None))
    for stated in group.get("stricter", ()):
        assert STRICTNESS.index(stated["ours"]) > STRICTNESS.index(stated["cli"]), stated
        expected |= dict.fromkeys(stated["requests"], (stated["ours"], stated["cli"]))
    requests = list(expected)
    calls = [scratch.call(request) for request in requests]
    rules = {behavior: [scratch.move(rule) for rule in listed] for behavior, listed in group.get("rules", {}).items()}
    directories = [scratch.move(folder) for folder in group.get("directories", ())]
    cwd, home, mode = scratch.root / "project", scratch.root / "home/user", group.get("mode", "default")
    policy = Policy.from_rules(**rules, cwd=cwd, home=str(home), mode=mode, directories=directories)

    ours = [policy.decide(*call).behavior for call in calls]
    permissions = {**rules, "additionalDirectories": directories}
    cli = decisions(calls, cwd=cwd, home=home, permissions=permissions, mode=mode)

    found = {
        request: (mine, theirs) for request, mine, theirs in zip(requests, ours, cli, strict=True) if mine != theirs
    }
    assert found == {request: pair for request, pair in expected.items() if pair != (None, None)}


@pytest.mark.real
def test_a_call_that_the_cli_allows_changes_nothing_outside_of_the_scratch_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path.resolve() / "elsewhere"
    elsewhere.write_text("untouched")
    inside = tmp_path.resolve() / "scratch"
    calls = [("Write", {"file_path": str(path), "content": "new"}) for path in (elsewhere, inside / "cwd/a")]

    decisions(calls, cwd=inside / "cwd", home=inside / "home", permissions={"allow": ["Write", "Edit"]})

    assert (inside / "cwd/a").read_text() == "new"
    assert elsewhere.read_text() == "untouched"


def test_enough_is_compared() -> None:
    agreeing = sum(len(group["agree"]) for group in GROUPS)
    differing = sum(len(stated["requests"]) for group in GROUPS for stated in group.get("stricter", ()))
    assert agreeing + differing > 900
    assert differing < agreeing / 5
