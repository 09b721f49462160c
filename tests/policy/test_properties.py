"""What holds for every set of rules and every request."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.policy import MODES, Policy, Rule, parse_rule
from quarterdeck.policy.cases import LinkTable
from quarterdeck.policy.shell import parse_tree, read_script, read_with_grammar
from quarterdeck.policy.words import read_word

RESOLVER = LinkTable({"/project/link": "/outside", "/project/alias": "src"})
HEADS = st.sampled_from(
    ["foo", "bar", "git", "sudo", "rm", "npm", "cat", "env", "timeout 5", "sh -c", "ls", "cd src", "eval"]
)
ARGUMENTS = st.sampled_from(
    [
        "a",
        "-x",
        "push",
        "log",
        "run test",
        "'a b'",
        '"$X"',
        "$(foo)",
        "*",
        "../a",
        "/etc/passwd",
        "foo",
        ".env",
        "--",
        "-c",
        "x=y",
    ]
)
SIMPLE = st.builds(lambda head, rest: " ".join([head, *rest]), HEADS, st.lists(ARGUMENTS, max_size=3))
JOINS = st.sampled_from(["; ", " && ", " || ", " | ", "\n", " & "])
REDIRECTS = st.sampled_from(["", "", " > src/a", " > /etc/x", " 2>&1", " < .env", " >> $X"])
COMPOUND = st.builds(
    lambda first, rest, redirect: first + "".join(join + part for join, part in rest) + redirect,
    SIMPLE,
    st.lists(st.tuples(JOINS, SIMPLE), max_size=3),
    REDIRECTS,
)
PATHS = st.sampled_from(["a", "src/a", "src/../a", "link/a", "alias/a", "/etc/passwd", "~/x", ".git/config", ".env"])
REQUESTS: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.one_of(
    st.builds(lambda command: ("Bash", {"command": command}), COMPOUND),
    st.builds(lambda tool, path: (tool, {"file_path": path}), st.sampled_from(["Read", "Write", "Edit"]), PATHS),
    st.builds(lambda host: ("WebFetch", {"url": f"https://{host}/"}), st.sampled_from(["a.org", "b.a.org", "c.org"])),
    st.sampled_from([("mcp__s__t", {}), ("Skill", {"skill": "x"}), ("TodoWrite", {}), ("Unknown", {})]),
)
LISTED = """
    Bash Bash(foo:*) Bash(bar) Bash(git*) Bash(rm:*) Bash(npm*test) Bash(sudo:*) Bash(cat:*) Bash(ls) Read Write Edit
    Edit(src/**) Read(.env) Edit(*) Read(//etc/**) Read(~/**) Edit(link/**) WebFetch WebFetch(domain:a.org)
    WebFetch(domain:*.a.org) mcp__s mcp__s__t Skill(x) Unknown
"""
RULE_TEXTS = st.sampled_from(LISTED.split())
RULES = st.lists(st.builds(parse_rule, RULE_TEXTS, st.sampled_from(["allow", "allow", "deny", "ask"])), max_size=8)
STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


def make(rules: list[Rule], mode: str = "default") -> Policy:
    return Policy(rules, cwd="/project", home="/home/user", mode=mode, resolver=RESOLVER)  # type: ignore[arg-type]


def strictness(rules: list[Rule], request: tuple[str, dict[str, Any]], mode: str) -> int:
    return STRICTNESS[make(rules, mode).decide(*request).behavior]


@given(RULES, RULE_TEXTS, REQUESTS, st.sampled_from(MODES))
def test_adding_a_deny_never_allows_more(
    rules: list[Rule], text: str, request: tuple[str, dict[str, Any]], mode: str
) -> None:
    more = [*rules, parse_rule(text, "deny")]

    assert strictness(more, request, mode) >= strictness(rules, request, mode)


@given(RULES, RULE_TEXTS, REQUESTS, st.sampled_from(MODES))
def test_adding_an_ask_never_allows_more(
    rules: list[Rule], text: str, request: tuple[str, dict[str, Any]], mode: str
) -> None:
    more = [*rules, parse_rule(text, "ask")]

    assert strictness(more, request, mode) >= strictness(rules, request, mode)


@given(RULES, REQUESTS, st.sampled_from(MODES), st.data())
def test_removing_an_allow_never_allows_more(
    rules: list[Rule], request: tuple[str, dict[str, Any]], mode: str, data: st.DataObject
) -> None:
    allows = [number for number, rule in enumerate(rules) if rule.behavior == "allow"]
    if not allows:
        return
    gone = data.draw(st.sampled_from(allows))
    fewer = [rule for number, rule in enumerate(rules) if number != gone]

    assert strictness(fewer, request, mode) >= strictness(rules, request, mode)


@given(RULES, st.lists(SIMPLE, min_size=2, max_size=4), JOINS)
def test_a_compound_is_allowed_only_if_each_part_is(rules: list[Rule], parts: list[str], join: str) -> None:
    policy = make(rules)
    whole = policy.decide("Bash", {"command": join.join(parts)})

    if whole.behavior == "allow":
        assert [policy.decide("Bash", {"command": part}).behavior for part in parts] == ["allow"] * len(parts)


@given(RULES, st.lists(SIMPLE, min_size=2, max_size=4), JOINS)
def test_a_compound_is_denied_if_any_part_is(rules: list[Rule], parts: list[str], join: str) -> None:
    policy = make(rules)

    if any(policy.decide("Bash", {"command": part}).behavior == "deny" for part in parts):
        assert policy.decide("Bash", {"command": join.join(parts)}).behavior == "deny"


@given(RULES, REQUESTS, st.sampled_from(MODES))
def test_explanation_and_decision_agree(rules: list[Rule], request: tuple[str, dict[str, Any]], mode: str) -> None:
    policy = make(rules, mode)
    explanation = policy.explain(*request)
    decision = explanation.decision

    assert decision == policy.decide(*request)
    assert decision.explanation
    assert str(explanation).startswith(f"{decision.behavior}: ")
    if decision.rule is not None and decision.behavior == "allow":
        assert decision.rule.behavior == "allow"
    if decision.rule is not None and decision.behavior == "deny" and decision.source != "mode":
        assert decision.rule.behavior == "deny"
    if explanation.would_allow:
        assert make([*rules, *explanation.would_allow], mode).decide(*request).behavior == "allow"


@given(RULES, REQUESTS)
def test_the_order_of_rules_changes_nothing(rules: list[Rule], request: tuple[str, dict[str, Any]]) -> None:
    backwards = make(rules[::-1]).decide(*request)

    assert backwards.behavior == make(rules).decide(*request).behavior


@given(RULES, st.text(max_size=60), st.sampled_from(MODES))
def test_no_text_makes_it_fail(rules: list[Rule], text: str, mode: str) -> None:
    policy = make(rules, mode)

    for tool, key in (("Bash", "command"), ("Read", "file_path"), ("Write", "file_path"), ("WebFetch", "url")):
        assert policy.decide(tool, {key: text}).behavior in STRICTNESS


@given(st.text(alphabet="ab ;&|<>(){}$`'\"\\\n*?~#!=[]-/", max_size=40))
def test_shell_text_of_any_shape_is_read_without_failing(text: str) -> None:
    policy = make([parse_rule("Bash(a:*)", "allow"), parse_rule("Bash(b:*)", "deny")])

    assert policy.decide("Bash", {"command": text}).behavior in STRICTNESS


@given(st.text(alphabet="ab {}$-[<\n'\".1é😀漢🂡", max_size=40), st.sampled_from(["", "[ -", "cat <<E\nx $"]))
def test_all_letters_beyond_ascii_are_one_to_the_grammar(text: str, before: str) -> None:
    """Its scanner read out of bounds for ``{😀``, which could crash the program."""
    tree = parse_tree((before + text).encode())
    plain = parse_tree((before + re.sub(r"[^\x00-\x7f]", "é", text)).encode())

    if not (tree.has_error and plain.has_error):  # what it makes of errors depends on their length
        assert str(tree) == str(plain)


@given(
    st.from_regex(
        r"[A-Za-z0-9_./@%+,][A-Za-z0-9_./:@%+,-]{0,8}( {1,2}[A-Za-z0-9_./:=@%+,~^-]{1,8}){0,4} ?", fullmatch=True
    )
)
def test_the_short_way_for_plain_words_reads_what_the_grammar_reads(text: str) -> None:
    short, long = read_script(text), read_with_grammar(text)

    if not short.doubts and not long.doubts:
        assert [[word.value for word in command.words] for command in short.commands] == [
            [word.value for word in command.words] for command in long.commands
        ]


@given(st.text(alphabet="ab $'\"\\`*~{}!", max_size=12))
def test_a_word_is_known_only_if_it_is_closed_and_has_no_expansion(text: str) -> None:
    word = read_word(text)

    if word.value is not None:
        assert word.value == word.hint
        unquoted = text.replace("\\$", "").replace("\\`", "")
        assert "$" not in unquoted or "'" in text
        assert "`" not in unquoted or "'" in text
