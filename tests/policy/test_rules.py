"""Bad rules are refused with the place and the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quarterdeck.policy import BadRule, BadRulesError, Policy, Rule, RuleError, parse_rule
from quarterdeck.policy.lint import lint


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty, or surrounded by spaces"),
        (" Bash", "empty, or surrounded by spaces"),
        ("Bash(", "the ( is not closed at the end of the rule"),
        ("Bash(a", "the ( is not closed at the end of the rule"),
        ("Bash(a) b", "the ( is not closed at the end of the rule"),
        ("Bash)", "a ) without its ("),
        ("Bash(a))", "parentheses inside do not pair"),
        ("Bash((a)", "parentheses inside do not pair"),
        ("Bash()", "empty parentheses; write Bash alone"),
        ("Bash( a)", "a leading or trailing space inside the parentheses"),
        ("Bash (a)", "'Bash ' is not the name of a tool"),
        ("(a)", "'' is not the name of a tool"),
        ("bash(a)", "tools are written 'Bash', with a capital"),
        ("read", "tools are written 'Read', with a capital"),
        ("*", "'*' is not the name of a tool"),
        ("Bash(:*)", "nothing before :*"),
        ("Bash(a:*b)", ":* is allowed only at the end"),
        ("Bash(a:* b:*)", ":* is allowed only at the end"),
        ("Bash(a *:*)", "* and :* in one rule"),
        ("Bash(a \\* b)", "a * cannot be escaped"),
        ("Bash(**)", "only wildcards"),
        ("Bash(a\nb)", "control characters and line ends"),
        ("Bash(a\x00)", "control characters and line ends"),
        ("Foo(x)", "Foo does not support parentheses"),
        ("WebSearch(x)", "WebSearch does not support parentheses"),
        ("Monitor(x)", "Monitor does not support parentheses"),
        ("mcp__server__tool(x)", "rules for MCP tools take no parentheses"),
        ("mcp__", "write mcp__server, mcp__server__* or mcp__server__tool"),
        ("mcp__*", "write mcp__server, mcp__server__* or mcp__server__tool"),
        ("mcp__a__b*", "write mcp__server, mcp__server__* or mcp__server__tool"),
        ("WebFetch(example.com)", "write WebFetch(domain:example.com)"),
        ("WebFetch(domain:)", "'' is not a host name"),
        ("WebFetch(domain:*)", "'*' is not a host name"),
        ("WebFetch(domain:a.*.com)", "is not a host name"),
        ("WebFetch(domain:https://x)", "is not a host name"),
        ("Write(src/**)", "the CLI never matches a path under Write(…); write Edit(src/**)"),
        ("Grep(src/**)", "the CLI never matches a path under Grep(…); write Read(src/**)"),
        ("Read(!src)", "a negated pattern matches nothing"),
        ("Read(../x)", ".. in a pattern matches nothing"),
        ("Read(a/../b)", ".. in a pattern matches nothing"),
        ("Read(~bob/x)", "only ~/ is supported"),
        ("Read(/)", "names no file"),
        ("Read(//)", "names no file"),
        ("Read(.)", "names no file"),
        ("Read([a)", "the pattern is incomplete"),
        ("Read(a\\\\)", "the pattern is incomplete"),
        ("Edit(src/{a,b}.ts)", "braces are not expanded"),
        ("Skill(a*)", "only name or name:* is supported here"),
        ("Task(*)", "only name or name:* is supported here"),
    ],
)
def test_a_bad_rule_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text, "allow")

    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "tool", "content"),
    [
        ("Bash", "Bash", None),
        ("Bash(*)", "Bash", None),
        ("Bash(npm run test:*)", "Bash", "npm run test:*"),
        ("Bash(echo \\(x\\))", "Bash", "echo (x)"),
        ("Bash(echo (x))", "Bash", "echo (x)"),
        ("Bash(a\\\\b)", "Bash", "a\\b"),
        ("Read(//abs/**)", "Read", "//abs/**"),
        ("Read(~/x/**)", "Read", "~/x/**"),
        ("Edit(src/**/*.ts)", "Edit", "src/**/*.ts"),
        ("WebFetch(domain:Example.COM.)", "WebFetch", "example.com"),
        ("mcp__server", "mcp__server", None),
        ("mcp__server__*", "mcp__server__*", None),
        ("Task(Explore)", "Task", "Explore"),
        ("Skill(name:*)", "Skill", "name:*"),
        ("SomethingNew", "SomethingNew", None),
    ],
)
def test_a_rule_is_read(text: str, tool: str, content: str | None) -> None:
    assert parse_rule(text, "allow") == Rule(text, tool, content, "allow")


@pytest.mark.parametrize("behavior", ["deny", "ask"])
def test_a_path_under_write_is_taken_where_it_only_forbids(behavior: str) -> None:
    policy = Policy.from_rules(**{behavior: ["Write(src/**)"]}, allow=["Write"], cwd="/project")

    assert policy.decide("Write", {"file_path": "/project/src/a"}).behavior == behavior


def test_all_bad_rules_are_named_at_once() -> None:
    with pytest.raises(BadRulesError) as caught:
        Policy.from_rules(allow=["Bash(", "Read"], deny=["bash"], ask=[5], cwd="/")  # type: ignore[list-item]

    assert caught.value.rules == (
        BadRule("Bash(", "the ( is not closed at the end of the rule"),
        BadRule("bash", "tools are written 'Bash', with a capital; this would match nothing"),
        BadRule(5, "a rule must be a string"),  # type: ignore[arg-type]
    )


def test_a_settings_file_with_bad_rules_is_refused_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    lines = [
        "{",
        '  "permissions": {',
        '    "allow": ["Bash(ls)",',
        '      "Bash(a:*b)"],',
        '    "deny": [7]',
        "  }",
        "}",
    ]
    file.write_text("\n".join(lines))

    with pytest.raises(BadRulesError) as caught:
        Policy.from_settings(tmp_path, home=str(tmp_path / "home"))

    assert caught.value.rules == (
        BadRule("Bash(a:*b)", ":* is allowed only at the end", str(file), 4),
        BadRule("7", "a rule must be a string", str(file), 5),
    )
    assert str(caught.value).splitlines()[0] == f"{file}:4: 'Bash(a:*b)': :* is allowed only at the end"


def test_no_rule_of_a_refused_file_is_applied_by_halves(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "settings.local.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"permissions": {"allow": ["Bash(ok)"], "deny": ["Bash("]}}))

    with pytest.raises(BadRulesError):
        Policy.from_settings(tmp_path, home=str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("allow", "says"),
    [
        ("Bash", "allows every shell command"),
        ("Bash(sudo:*)", "does not name what sudo runs"),
        ("Bash(python3:*)", "python3 can run anything"),
        ("Bash(* --help)", "a rule cannot start with a wildcard"),
        ("Bash(eval:*)", "a pattern never allows eval"),
        ("Edit(//**)", "covers a whole disk or home"),
        ("Write", "allows changes to every file"),
    ],
)
def test_rules_that_are_probably_not_meant_so_are_remarked(allow: str, says: str) -> None:
    remarks = lint([parse_rule(allow, "allow")])

    assert [says in str(remark) for remark in remarks] == [True]


def test_duplicates_and_rules_that_never_decide_are_remarked() -> None:
    rules = [parse_rule("Read(a)", "deny"), parse_rule("Read(a)", "allow"), parse_rule("Read(a)", "allow")]

    assert [remark.says for remark in lint(rules)] == [
        "has no effect: the rule at session denies the same",
        "duplicates the rule at session",
        "has no effect: the rule at session denies the same",
    ]


def test_ordinary_rules_are_not_remarked() -> None:
    texts = ["Bash(npm run test:*)", "Bash(git log *)", "Read(~/notes/**)", "Edit(src/**)", "WebFetch(domain:x.org)"]

    assert lint([parse_rule(text, "allow") for text in texts]) == []
