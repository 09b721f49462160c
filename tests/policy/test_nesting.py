"""Code inside code, up to each limit and beyond: what is not followed is asked about, never let through."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

from quarterdeck.policy import Policy
from quarterdeck.policy.command_guard import MAX_READINGS
from quarterdeck.policy.nested import MAX_BUILT, MAX_DEPTH, MAX_SCRIPTS, MAX_SHELLS
from quarterdeck.policy.shell import MAX_LENGTH

DENY = ["Bash(touch:*)", "Read(.env)"]
POLICIES = {
    "default": Policy.from_rules(allow=["Bash"], deny=DENY, cwd="/project", home="/home/user"),
    "bypass": Policy.from_rules(deny=DENY, cwd="/project", home="/home/user", mode="bypassPermissions"),
}
DENIED = {
    "as it is": "touch x",
    "with empty quotes": "t''ouch x",
    "with an empty variable": 't"$Z"ouch x',
    "with escapes": r"to\uch x",
    "as numbers": r"$'\x74ouch' x",
    "in braces": "{touch,x}",
    "a path": "cat .e''nv",
    "a path with a variable": 'cat .e"$Z"nv',
    "a pattern for a path": "cat .en?",
}
NESTED: dict[str, Callable[[str], str]] = {
    "bash -c": lambda code: f"bash -c {shlex.quote(code)}",
    "eval": lambda code: f"eval {shlex.quote(code)}",
    "$(…)": lambda code: f'echo "$({code})"',
    "<(…)": lambda code: f"cat <({code})",
    "(…)": lambda code: f"({code})",
    "a function": lambda code: f"f() {{ {code}; }}; f",
    "a pipe": lambda code: f"echo {shlex.quote(code)} | sh",
    "<<<": lambda code: f"sh <<< {shlex.quote(code)}",
    "<<": lambda code: f"bash <<'E{len(code)}'\n{code}\nE{len(code)}",
    "find": lambda code: rf"find . -exec sh -c {shlex.quote(code)} \;",
    "xargs": lambda code: f"echo a | xargs sh -c {shlex.quote(code)}",
    "env -S": lambda code: f"env -S {shlex.quote(f'bash -c {shlex.quote(code)}')}",
    "sudo": lambda code: f"sudo sh -c {shlex.quote(code)}",
    "trap": lambda code: f"trap {shlex.quote(code)} EXIT",
    "an alias": lambda code: f"alias z={shlex.quote(code)}; z",
    "an alias of git": lambda code: f"git -c alias.z={shlex.quote('!' + code)} z",
    "a variable that git runs": lambda code: f"GIT_SSH_COMMAND={shlex.quote(code)} git fetch",
    "arithmetic": lambda code: f"test -v {shlex.quote(f'a[$({code})]')}",
    "ssh": lambda code: f"ssh h {shlex.quote(code)}",
    "script": lambda code: f"script -qc {shlex.quote(code)}",
    "if": lambda code: f"if true; then {code}; fi",
    "case": lambda code: f"case x in x) {code};; esac",
}
"""What a command may be put into, again and again."""


def said(command: str) -> set[str]:
    return {policy.decide("Bash", {"command": command}).behavior for policy in POLICIES.values()}


def into(name: str, code: str, depth: int) -> str:
    for _ in range(depth):
        code = NESTED[name](code)
    return code


@pytest.mark.parametrize("name", NESTED)
def test_at_no_depth_is_what_is_denied_let_through(name: str) -> None:
    through = {
        f"{what}, {depth} deep": said(into(name, code, depth))
        for what, code in DENIED.items()
        for depth in (1, MAX_DEPTH, MAX_DEPTH + 1, MAX_DEPTH + 2)
    }
    assert {what: words for what, words in through.items() if "allow" in words} == {}


@pytest.mark.parametrize("name", ["bash -c", "eval", "sudo", "ssh", "script", "<<", "a pipe", "an alias of git"])
def test_what_is_denied_is_found_down_to_the_depth_that_is_followed(name: str) -> None:
    assert [said(into(name, "touch x", depth)) for depth in range(1, MAX_DEPTH + 1)] == [{"deny"}] * MAX_DEPTH


@pytest.mark.parametrize("name", ["bash -c", "sudo", "script"])
def test_nothing_is_asked_about_that_is_nested_no_deeper(name: str) -> None:
    assert [said(into(name, "echo hi", depth)) for depth in (1, MAX_DEPTH, MAX_DEPTH + 2)] == [
        {"allow"},
        {"allow"},
        {"ask"},
    ]


def many(count: int, one: Callable[[int], str], last: str) -> str:
    return "; ".join([*map(one, range(count)), last])


LIMITS: dict[str, tuple[Callable[[str], str], str]] = {
    "many scripts": (
        lambda code: many(MAX_SCRIPTS + 1, lambda n: f"eval :{n}", f"eval {shlex.quote(code)}"),
        "too much nested code",
    ),
    "many shells in a command": (
        lambda code: f"sudo {'sh ' * (MAX_SHELLS + 1)}-c {shlex.quote(code)}",
        "what sudo reads from its input",
    ),
    "many that find runs": (
        lambda code: many(MAX_BUILT + 1, lambda n: rf"find . -exec echo {n} \;", rf"find . -exec {code} \;"),
        "too much nested code",
    ),
    "long code": (
        lambda code: into("bash -c", f": {'x' * (MAX_LENGTH // 4)}; {code}", MAX_DEPTH),
        "too much nested code",
    ),
    "many words in what find runs": (
        lambda code: rf"find . -exec env {'A=1 ' * MAX_BUILT * 10}sh -c {shlex.quote(code)} \;",
        "too many variants",
    ),
    "many readings": (lambda code: f"env {'A=1 ' * MAX_READINGS}{code}", "too many variants"),
    "many commands": (lambda code: many(MAX_READINGS, lambda n: f"echo {n}", code), "too many operators"),
    "a long command": (lambda code: f"echo {'x' * MAX_LENGTH}; {code}", "more than 5000 characters"),
}
"""Commands beyond each limit, and why even harmless ones are asked about."""


@pytest.mark.parametrize("limit", LIMITS)
def test_what_is_beyond_a_limit_is_asked_about_and_nothing_denied_is_let_through(limit: str) -> None:
    make, why = LIMITS[limit]
    for policy in POLICIES.values():
        decision = policy.decide("Bash", {"command": make("true")})
        assert (decision.behavior, why in decision.explanation) == ("ask", True), decision.explanation
    through = {what: said(make(code)) for what, code in DENIED.items()}
    assert {what: words for what, words in through.items() if "allow" in words} == {}
