"""What a CLI inherits, and what it does not."""

from __future__ import annotations

import os

import pytest

from quarterdeck.transport import child_environment
from quarterdeck.transport.environment import NESTING_VARIABLES

ALWAYS = {"CLAUDE_CODE_ENTRYPOINT": "sdk-py", "CLAUDE_AGENT_SDK_VERSION": "1.2.3"}


def build(overlay: dict[str, str | None] | None = None, **options: object) -> dict[str, str]:
    options.setdefault("inherited", {})
    return child_environment(overlay, sdk_version="1.2.3", **options)  # type: ignore[arg-type]


def test_the_environment_is_inherited_with_the_entry_point_set() -> None:
    inherited = {"PATH": "/bin", "ANTHROPIC_API_KEY": "k", "CLAUDE_CONFIG_DIR": "/c", "TRACEPARENT": "00-a-b-01"}
    assert build(inherited=inherited) == {**inherited, **ALWAYS}


def test_marks_of_an_outer_session_and_switches_of_ours_are_not_inherited() -> None:
    outer = dict.fromkeys(NESTING_VARIABLES, "1") | {"NODE_OPTIONS": "--inspect-brk", "DEBUG": "*"}
    outer |= {"CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_AGENT_SDK_VERSION": "0.0.1"}
    assert build(inherited=outer) == ALWAYS


def test_what_the_caller_sets_stands_and_none_removes() -> None:
    overlay: dict[str, str | None] = {
        "NODE_OPTIONS": "--x",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "mine",
        "A": None,
    }
    expected = {"NODE_OPTIONS": "--x", "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "mine", "B": "2"}
    assert build(overlay, inherited={"A": "1", "B": "2"}) == {**expected, "CLAUDE_AGENT_SDK_VERSION": "1.2.3"}


def test_an_allow_list_limits_what_is_inherited_but_not_what_is_set() -> None:
    inherited = {"PATH": "/bin", "LC_ALL": "C", "LC_TIME": "C", "SECRET": "s", "SYSTEMROOT": "C:\\Windows"}
    expected = {"PATH": "/bin", "LC_ALL": "C", "LC_TIME": "C", "SYSTEMROOT": "C:\\Windows", "MINE": "1", **ALWAYS}
    assert build({"MINE": "1"}, inherited=inherited, allow=["PATH", "LC_*", "CLAUDECODE"]) == expected


@pytest.mark.parametrize(
    ("inherited", "overlay", "debug"),
    [
        ({"DEBUG_CLAUDE_AGENT_SDK": "1", "DEBUG": "express:*"}, {}, "1"),
        ({"DEBUG_CLAUDE_AGENT_SDK": "0"}, {}, None),
        ({}, {"DEBUG_CLAUDE_AGENT_SDK": "true"}, "1"),
        ({"DEBUG_CLAUDE_AGENT_SDK": "1"}, {"DEBUG": "mine"}, "mine"),
    ],
)
def test_debug_is_on_only_by_its_own_switch(
    inherited: dict[str, str], overlay: dict[str, str | None], debug: str | None
) -> None:
    assert build(overlay, inherited=inherited).get("DEBUG") == debug


def test_pwd_names_the_working_directory_absolutely() -> None:
    assert build(inherited={"PWD": "/elsewhere"}, cwd="some/../dir")["PWD"] == os.path.join(os.getcwd(), "dir")  # noqa: PTH109, PTH118
    assert build(inherited={"PWD": "/elsewhere"})["PWD"] == "/elsewhere"


def test_without_an_explicit_source_our_own_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_TEST", "yes")
    monkeypatch.setenv("CLAUDECODE", "1")
    built = child_environment(sdk_version="1.2.3")
    assert (built["QUARTERDECK_TEST"], "CLAUDECODE" in built) == ("yes", False)
