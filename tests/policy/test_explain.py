"""Why: the rule that decided, those that came near, and what would allow exactly this; and what is to be feared."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.policy import Decision, Policy, Risk, Rule
from quarterdeck.policy.cases import LinkTable
from quarterdeck.policy.requests import parse_request


def make(**rules: Any) -> Policy:
    resolver = LinkTable({"/project/link": "/outside"})
    return Policy.from_rules(**rules, cwd="/project", home="/home/user", resolver=resolver)


def test_a_decision_names_the_rule_its_source_and_the_reason() -> None:
    policy = make(deny=["Bash(rm:*)"])

    assert policy.decide("Bash", {"command": "ls; rm -rf x"}) == Decision(
        behavior="deny",
        rule=Rule("Bash(rm:*)", "Bash", "rm:*", "deny", "session"),
        source="session",
        explanation="Bash(rm:*) matches 'rm -rf x'.",
        risk=Risk("high", ("delete",)),
    )


def test_an_explanation_has_parts_near_rules_and_the_narrowest_rule() -> None:
    policy = make(allow=["Bash(npm run test:*)", "Bash(npm run lint)", "Bash(cargo:*)"])

    text = str(policy.explain("Bash", {"command": "npm run test && npm run build > out"}))

    assert text.splitlines() == [
        "ask: No rule allows it.",
        "part: allow 'npm run test': Bash(npm run test:*) allows it.",
        "part: ask   'npm run build': No rule allows it.",
        "part: ask   '> out': No rule allows changing /project/out.",
        "near: Bash(npm run lint) (session): allows, but does not cover all of this",
        "would allow exactly this: Bash(npm run build), Edit(//project/out)",
    ]


@pytest.mark.parametrize(
    ("request_text", "source", "words"),
    [
        ("foo", "default", "No rule allows it."),
        ("sudo -u x bar", "default", "does not include"),
        ("foo $X", "safety", "the value of $X is known only at run time"),
        ("(foo)", "safety", "It contains a subshell"),
        ("foo (", "safety", "not valid shell"),
        ("PATH=. foo", "safety", "the variable PATH can change what a program does"),
        ("eval foo", "safety", "eval runs text as code"),
        ("foo > /dev/tcp/a/1", "safety", "opens a network connection"),
        ("x" * 6000, "limit", "more than 5000 characters"),
        ("foo \u200b", "limit", "invisible, control or unusual white-space"),
        ("Read(link/x)", "default", "/project/link/x (a link to /outside/x) is outside the working folders"),
        ("Write(.git/config)", "safety", "can make other programs run commands"),
        ("Read(a)", "mode", "is in the working folders"),
        ("AskUserQuestion", "safety", "asks the user a question"),
        ("Unknown", "default", "No rule mentions Unknown."),
    ],
)
def test_the_reason_says_what_is_the_matter(request_text: str, source: str, words: str) -> None:
    decision = make(allow=["Bash(sudo:*)"]).decide(*parse_request(request_text))

    assert decision.source == source
    assert words in decision.explanation


def test_calls_without_what_they_need_are_asked_about() -> None:
    policy = make(allow=["Bash", "Read"])
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Bash", {}),
        ("Bash", {"command": 5}),
        ("Read", {}),
        ("Read", {"file_path": []}),
    ]

    assert [policy.decide(*call).behavior for call in calls] == ["ask"] * 4


def test_leaving_the_sandbox_is_asked_about() -> None:
    given = {"command": "foo", "dangerouslyDisableSandbox": True}

    assert make(allow=["Bash(foo)"]).decide("Bash", given).behavior == "ask"


def test_a_search_pattern_that_leads_out_is_asked_about() -> None:
    policy = make()

    patterns = {
        pattern: policy.decide("Glob", {"pattern": pattern}).behavior for pattern in ("**/*.c", "../*", "/etc/*", "~/x")
    }

    assert patterns == {"**/*.c": "allow", "../*": "ask", "/etc/*": "ask", "~/x": "ask"}


@pytest.mark.parametrize(
    ("request_text", "risk"),
    [
        ("ls", Risk()),
        ("rm a", Risk("medium", ("delete",))),
        ("rm -rf a", Risk("high", ("delete",))),
        ("find . -delete", Risk("high", ("delete",))),
        ("find . -exec rm {} +", Risk("medium", ("delete",))),
        ("find . -exec ls {} \\; -exec sudo rm -rf {} \\;", Risk("high", ("privilege", "delete"))),
        ("fd x --exec-batch curl", Risk("medium", ("network",))),
        ("git clean -fd", Risk("high", ("delete",))),
        ("git reset --hard", Risk("high", ("delete",))),
        ("curl https://x.org", Risk("medium", ("network",))),
        ("foo > /dev/tcp/a/1", Risk("high", ("network",))),
        ("git push", Risk("medium", ("git push", "network"))),
        ("git push --force", Risk("high", ("git force push", "network"))),
        ("git push origin +main", Risk("high", ("git force push", "network"))),
        ("npm install x", Risk("medium", ("package install",))),
        ("pip install x", Risk("medium", ("package install",))),
        ("npx x", Risk("medium", ("package install",))),
        ("sudo ls", Risk("high", ("privilege",))),
        ("sudo rm -rf /", Risk("high", ("privilege", "delete"))),
        ("chmod 777 x", Risk("high", ("privilege",))),
        ("cat .env", Risk("high", ("secrets",))),
        ("cat ~/.ssh/id_rsa", Risk("high", ("secrets",))),
        ("cat certs/server.pem", Risk("high", ("secrets",))),
        ("python3 -c x", Risk("medium", ("runs code given as text",))),
        ("bash x.sh", Risk("medium", ("runs code given as text",))),
        ("ls; rm -r x | curl y", Risk("high", ("delete", "network"))),
        ("Read(.env)", Risk("high", ("secrets",))),
        ("Read(/etc/hosts)", Risk("low", ("read outside the project",))),
        ("Write(a)", Risk("low", ("changes a file",))),
        ("Write(/etc/hosts)", Risk("high", ("overwrite outside the project",))),
        ("Write(link/x)", Risk("high", ("overwrite outside the project",))),
        ("WebFetch(https://x.org)", Risk("medium", ("network",))),
        ("cat environment.md", Risk()),
    ],
)
def test_what_people_fear_is_named(request_text: str, risk: Risk) -> None:
    assert make().decide(*parse_request(request_text)).risk == risk


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="'yolo' is not a permission mode"):
        make(mode="yolo")
