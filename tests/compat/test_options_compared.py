"""Options in the ways people write them have the effect they have with the official SDK.

``options-0.2.182.json`` is what the official package makes of each setting in ``option_cases.py``, recorded by
``record_options.py``. Ours must have the same command line, ``initialize`` request and environment, or fail with the
same error, but for the tables below. ``docs/migration.md`` has their reasons.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from compat.option_cases import CASES, U
from compat.peer import VERSION, peer_python
from looping import for_each
from needs import real_cli
from quarterdeck.client.guard import DEFAULT_TIMEOUT_S

HERE = Path(__file__).parent
RECORDED: dict[str, dict[str, Any]] = json.loads((HERE / f"options-{VERSION}.json").read_text())
RECORD_LIMIT_S = 120.0
EXIT_LIMIT_S = 30.0

MEANT: dict[str, str] = {
    "tools='Bash'": "tools=['Bash']",
    "tools=('Bash', 'Read')": "tools=['Bash', 'Read']",
    "tools={'Bash'}": "tools=['Bash']",
    "tools=(name for name in ['Bash', 'Read'])": "tools=['Bash', 'Read']",
    "allowed_tools='Read'": "allowed_tools=['Read']",
    "allowed_tools=None": "allowed_tools=[]",
    "disallowed_tools='Bash'": "disallowed_tools=['Bash']",
    "betas='context-1m-2025-08-07'": "betas=['context-1m-2025-08-07']",
    "add_dirs='/a'": "add_dirs=(Path('/a'),)",
    "add_dirs=Path('/a')": "add_dirs=(Path('/a'),)",
    "setting_sources='project'": "setting_sources=['project']",
    "settings={'model': 'x'}": 'settings=\'{"model": "x"}\'',
    "extra_args=None": "",
    "agents={'a': {'description': 'd', 'prompt': 'p'}}": "agents={'a': AgentDefinition(description='d', prompt='p')}",
    "can_use_tool=callback, permission_prompt_tool_name='stdio'": "can_use_tool=callback",
    f"continue_conversation=True, resume='{U}'": f"resume='{U}'",
    "hooks={'PreToolUse': [{'matcher': 'Bash', 'hooks': [callback]}]}": (
        "hooks={'PreToolUse': [HookMatcher(matcher='Bash', hooks=[callback])]}"
    ),
}
"""What the official package fails on, or reads in a way nobody means → the setting whose effect it has here."""

OPEN_GUARDS = (
    "hooks={'PreToolUse': [callback]}",
    "hooks={'PreToolUsed': [HookMatcher(hooks=[callback])]}",
    "hooks={'Stop': [HookMatcher(hooks=['callback'])]}",
)
"""Started by the official package with a hook that is never called; an error here."""

REFUSED_BY_THE_CLI = (
    "max_turns='many'",
    "max_turns=True",
    "max_budget_usd=0",
    "max_budget_usd=-1",
    "task_budget={'total': 0}",
    "permission_mode='yolo'",
    "thinking={'type': 'adaptive', 'display': 'loud'}",
    "setting_sources=['projects']",
    "sandbox=True",
    "mcp_servers=['a']",
    "extra_args={'--name': 'x'}",
    "session_id='abc'",
    f"session_id='{U}', resume='{U}'",
    f"session_id='{U}', continue_conversation=True",
    f"resume_session_at='{U}'",
    f"resume='{U}', resume_session_at='{U}', resume_drops_turn=''",
)
"""Passed on by the official package to a CLI that exits; an error that names the option here."""

OTHER_ERROR = (
    "allowed_tools=['Read', 3]",
    "model=3",
    "effort=3",
    "env=None",
    "env={'A': 1}",
    "env={'A': None}",
    "system_prompt=3",
    "system_prompt={'type': 'file'}",
    "thinking={}",
    "thinking={'type': 'enabled'}",
    "task_budget={}",
    "plugins=['/p']",
    "plugins=[{'path': '/p'}]",
    "mcp_servers={'a': {'command': Path('/x')}}",
    "hooks={'PreToolUse': HookMatcher(hooks=[callback])}",
)
"""Fails with both, by accident there (``KeyError``, "expected str, bytes or …"): a ``TypeError`` or ``ValueError`` that
names the option here."""


@pytest.fixture(scope="module")
def ours() -> dict[str, dict[str, Any]]:
    """Made by another process, as the recording was, so that both have the same surroundings."""
    recorded = recorded_by(Path(sys.executable), "quarterdeck")
    for case, effect in recorded.items():
        if "on_failure" not in case:
            _without_guard(effect.get("initialize", {}).get("hooks") or {})
    return recorded


def _without_guard(hooks: dict[str, list[dict[str, Any]]]) -> None:
    """Take off what makes a hook hold when it fails, a listed difference: ``onFailure`` and an explicit timeout."""
    for matcher in hooks.get("PreToolUse", ()):
        assert matcher.pop("onFailure") == "block"
        if matcher["timeout"] == DEFAULT_TIMEOUT_S:
            del matcher["timeout"]


def recorded_by(python: Path, package: str) -> dict[str, dict[str, Any]]:
    done = subprocess.run(
        [python, HERE / "record_options.py", package], capture_output=True, timeout=RECORD_LIMIT_S, check=True
    )
    recorded: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return recorded


def test_the_recording_has_every_case_and_every_case_is_there_once() -> None:
    assert list(RECORDED) == sorted(CASES)
    assert len(RECORDED) == len(CASES)
    guide = (HERE.parents[1] / "docs" / "migration.md").read_text()
    promised = re.search(r"for (\d+) option settings", guide)
    assert promised is not None
    assert int(promised[1]) <= len(CASES)


def test_each_difference_is_that_of_a_case() -> None:
    listed = [*MEANT, *OPEN_GUARDS, *REFUSED_BY_THE_CLI, *OTHER_ERROR]
    assert [case for case in [*listed, *MEANT.values()] if case not in RECORDED] == []
    assert len(set(listed)) == len(listed)


def test_a_setting_has_the_official_effect(ours: dict[str, dict[str, Any]]) -> None:
    apart = {*MEANT, *OPEN_GUARDS, *REFUSED_BY_THE_CLI, *OTHER_ERROR}
    different = [case for case in CASES if case not in apart and not is_same(RECORDED[case], ours[case])]
    assert different == []


def is_same(official: dict[str, Any], mine: dict[str, Any]) -> bool:
    """An error is the same when the same ``except`` catches it and its text begins alike."""
    if "error" not in official or "error" not in mine:
        return official == mine
    same_type = official["types"][0] in mine["types"]
    return same_type and official["error"].split()[:3] == mine["error"].split()[:3]


def test_what_is_meant_is_what_happens(ours: dict[str, dict[str, Any]]) -> None:
    assert {case: ours[case] for case in MEANT} == {case: RECORDED[meant] for case, meant in MEANT.items()}
    assert [case for case in MEANT if is_same(RECORDED[case], ours[case])] == []


def test_what_cannot_work_is_an_error_that_names_the_option(ours: dict[str, dict[str, Any]]) -> None:
    for case in [*OPEN_GUARDS, *REFUSED_BY_THE_CLI, *OTHER_ERROR]:
        assert {"TypeError", "ValueError"} & set(ours[case].get("types", ())), case
        named = {part.partition("=")[0] for part in case.split(", ")}
        assert any(name in ours[case]["error"] for name in named), case
    assert [case for case in [*OPEN_GUARDS, *REFUSED_BY_THE_CLI] if "error" in RECORDED[case]] == []
    assert [case for case in OTHER_ERROR if "error" not in RECORDED[case]] == []


@pytest.mark.real
def test_the_real_cli_refuses_what_is_said_to_be_refused(tmp_path: Path) -> None:
    argv = [*real_cli().argv, "--output-format=stream-json", "--verbose", "--input-format=stream-json"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}

    def refused(case: str) -> bool:
        flags = [
            flag if value is True else f"{flag}={value if isinstance(value, str) else json.dumps(value)}"
            for flag, values in RECORDED[case]["flags"].items()
            for value in values
        ]
        done = subprocess.run(
            [*argv, *flags], cwd=tmp_path, env=env, input=b"", capture_output=True, timeout=EXIT_LIMIT_S, check=False
        )
        return done.returncode != 0 and bool(done.stderr)

    with ThreadPoolExecutor(2) as runner:
        taken = [
            case for case, no in zip(REFUSED_BY_THE_CLI, runner.map(refused, REFUSED_BY_THE_CLI), strict=True) if not no
        ]
        assert taken == []
        assert not refused("")


@for_each("word", ["MEANT", "OPEN_GUARDS", "REFUSED_BY_THE_CLI", "OTHER_ERROR"])
def test_the_guide_for_moving_over_gives_the_reason(word: str) -> None:
    reasons = {
        "MEANT": "taken as intended",
        "OPEN_GUARDS": "a hook that would never be called",
        "REFUSED_BY_THE_CLI": "an option that the CLI refuses",
        "OTHER_ERROR": "names the option",
    }
    assert reasons[word] in (HERE.parents[1] / "docs" / "migration.md").read_text()


def test_the_recording_is_what_the_installed_official_package_does() -> None:
    python = peer_python()
    if python is None:
        pytest.skip("the official SDK is not installed here; QUARTERDECK_INSTALL_PEER=1 installs it")
    assert recorded_by(python, "claude_agent_sdk") == RECORDED
