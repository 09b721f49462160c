"""No input, however long or nested, makes much work or breaks anything; `benchmarks/policy.py` has the seconds."""

from __future__ import annotations

import statistics

import pytest
from benchmarks.policy import TYPICAL, hostile_inputs, make_policy

import soak
from looping import for_each
from quarterdeck.policy import Policy
from quarterdeck.policy.shell import MAX_LENGTH
from quarterdeck.policy.wildcards import compile_segments, match_pieces, match_segments
from work import steps

STEPS = 1000
"""A decision about a short command takes 250: a hundred rules are looked at."""
TYPICAL_STEPS = 440
"""It takes 422, of which 70 are spent on looking for links to what is protected."""
STEPS_PER_CHARACTER = 220
"""The worst command (``xargs xargs …``) takes 195 for each of its characters, however many they are."""


@pytest.fixture(scope="module")
def policy() -> Policy:
    rules = [f"Bash(tool{number} *a*b*c*d)" for number in range(100)] + ["Bash(a*a*a*a*b)", "Bash(*a*a*b)"]
    return Policy.from_rules(
        allow=[*rules, "Bash(a:*)", "Edit(**/a/**/a/**/b)"],
        deny=["Bash(danger:*)", "Bash(a*a*a*a*a*z)", "Read(**/x/**/x/*a*a*a*b)"],
        ask=["Bash(careful:*)"],
        cwd="/",
    )


def steps_to_decide(policy: Policy, tool: str, **given: str) -> int:
    """After a first decision, which imports what is needed."""
    policy.decide(tool, given)
    return steps(lambda: policy.decide(tool, given))


@for_each(
    "command", soak.part(hostile_inputs(), 150), ids=lambda command: f"{command[:30]!r}, {len(command)} characters"
)
def test_the_work_grows_as_the_command_and_no_faster(policy: Policy, command: str) -> None:
    most = STEPS + STEPS_PER_CHARACTER * min(len(command), MAX_LENGTH)

    assert steps_to_decide(policy, "Bash", command=command) <= most


def test_a_typical_command_is_decided_in_few_steps_beside_five_hundred_rules() -> None:
    policy = make_policy()

    assert statistics.median(steps_to_decide(policy, "Bash", command=command) for command in TYPICAL) <= TYPICAL_STEPS


@pytest.mark.parametrize("command", ["x" * 5_000_000, "(" * 100_000, "a " * 100_000, "a|" * 2500])
def test_over_the_stated_size_it_is_asked_unread(policy: Policy, command: str) -> None:
    decision = policy.decide("Bash", {"command": command})

    assert (decision.behavior, decision.source) == ("ask", "limit")
    assert steps_to_decide(policy, "Bash", command=command) <= STEPS


def test_over_the_stated_number_of_commands_it_is_asked(policy: Policy) -> None:
    decision = policy.decide("Bash", {"command": "a; " * 80})

    assert (decision.behavior, decision.source) == ("ask", "limit")


@pytest.mark.parametrize("tool", ["Read", "Write"])
@pytest.mark.parametrize("path", ["/x/" * 1300 + "aaaa", "/" + "a" * 4000, "a" * 100_000, "../" * 1300, "/a/b" * 1000])
def test_long_paths_and_patterns_do_not_explode(policy: Policy, tool: str, path: str) -> None:
    assert steps_to_decide(policy, tool, file_path=path) <= STEPS + STEPS_PER_CHARACTER * len(path)


@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "*a" * 30 + "*b*"])
def test_a_pattern_of_commands_looks_for_each_piece_once(pattern: str) -> None:
    pieces = pattern.split("*")

    assert match_pieces(pieces, "a" * 5000) is False
    assert steps(lambda: match_pieces(pieces, "a" * 5000)) <= 4 * len(pieces) + 20


@pytest.mark.parametrize("segment", ["a*a*a*a*b", "*a" * 30 + "b"])
def test_a_pattern_of_paths_does_not_backtrack(segment: str) -> None:
    """With backtracking, the second would not end in the life of the machine."""
    pattern = compile_segments("/".join(["**", segment] * 10))
    names = ["a" * 200] * 200

    assert match_segments(pattern, names) is False
    assert steps(lambda: match_segments(pattern, names)) <= 4 * len(pattern) * len(names)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a", "a", True),
        ("a", "a/b", True),
        ("a", "b/a", False),
        ("**/a", "b/c/a", True),
        ("**/a", "a", True),
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b/z", True),
        ("a/**/b", "a/x", False),
        ("*.c", "x.c", True),
        ("*.c", "x.cc", False),
        ("*a*b", "xaxb", True),
        ("*a*b", "xbxa", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("[a-c]", "b", True),
        ("[!a]", "b", True),
        ("[!a]", "a", False),
        ("[]]", "]", True),
        ("\\*", "*", True),
        ("\\*", "a", False),
        ("\\[a\\]", "[a]", True),
        ("a\nb*", "a\nbc", True),
    ],
)
def test_path_patterns_follow_gitignore(pattern: str, path: str, expected: bool) -> None:
    assert match_segments(compile_segments(pattern), path.split("/")) is expected
