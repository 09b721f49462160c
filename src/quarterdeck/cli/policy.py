"""``quarterdeck policy explain | check | test``: try and check permission rules."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .common import Look, Parser
from .common.text import sanitize

if TYPE_CHECKING:
    from quarterdeck.policy import Explanation, Policy

EXPLAIN_EXITS = {"allow": 0, "deny": 1, "ask": 3}
CANNOT = 2
"""The exit code of every command for what it cannot read or judge."""
_COLOURS = {"allow": "green", "deny": "red", "ask": "yellow", "bold": "bold", "dim": "dim"}
DESCRIPTION = (
    "Try permission rules before you save them, and find out why a tool call was allowed, denied or asked about."
)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``policy`` to the commands of another program."""
    joined = subparsers.add_parser("policy", help="try and check permission rules", description=DESCRIPTION)
    _add_commands(joined.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser))


def parser() -> Parser:
    built = Parser(
        "quarterdeck policy",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck policy explain 'git push --force'", "what would happen in this folder, and why"),
            ("quarterdeck policy check .claude/settings.json", "rules that are invalid or have no effect"),
            ("quarterdeck policy test rules.toml", "a table of test cases, for CI"),
        ],
        exits={0: "allow, or no errors", 1: "deny, or errors found", CANNOT: "invalid arguments or file", 3: "ask"},
    )
    _add_commands(built.add_commands())
    return built


def main(argv: list[str] | None = None) -> int:
    """The commands of ``quarterdeck policy`` on their own."""
    args = parser().parse_args(argv)
    code: int = args.run(args)
    return code


def _add_commands(commands: argparse._SubParsersAction[Parser]) -> None:
    explain = commands.add_parser(
        "explain",
        help="why a tool call is allowed, denied or asked about",
        description="Explain why a tool call is allowed, denied or asked about: the deciding rule, near misses, the "
        "risk, and which rule would allow it.",
        examples=[
            ("quarterdeck policy explain 'rm -rf build && git status'", "a shell command"),
            ("quarterdeck policy explain 'Read(~/.ssh/id_rsa)' --deny 'Read(~/.ssh/**)'", "with a rule to try"),
        ],
        exits={0: "allow", 1: "deny", CANNOT: "invalid request or rules", 3: "ask"},
    )
    explain.add_argument("request", metavar="REQUEST", help="a tool call such as 'Bash(rm -rf build)', or a command")
    explain.add_argument("--cwd", metavar="DIR", default=".", help="the folder to work in (default: this one)")
    explain.add_argument("--mode", metavar="MODE", help="the permission mode (default: from the settings)")
    for behavior in EXPLAIN_EXITS:
        explain.add_argument(
            f"--{behavior}",
            action="append",
            default=[],
            metavar="RULE",
            help=f"additional {behavior} rule (repeatable)",
        )
    explain.add_argument("--no-settings", action="store_true", help="ignore settings; use only the rules given here")
    check = commands.add_parser(
        "check",
        help="find bad rules in a settings file",
        description="Check the permission rules of a settings file: which are invalid, and which have no effect.",
        examples=[("quarterdeck policy check --strict .claude/settings.json", "also fail on warnings")],
        exits={0: "no errors", 1: "invalid rules (with --strict, also warnings)", CANNOT: "the file cannot be read"},
    )
    check.add_argument("file", metavar="FILE", type=Path, help="a settings.json")
    check.add_argument("--strict", action="store_true", help="also fail on warnings")
    test = commands.add_parser(
        "test",
        help="run test cases for rules (TOML)",
        description="Run test cases: rules, requests and the expected decisions.",
        examples=[("quarterdeck policy test policy/*.toml", "every file in a folder")],
        exits={0: "all passed", 1: "some failed", CANNOT: "a file cannot be read"},
    )
    test.add_argument("cases", metavar="FILE", type=Path, nargs="+", help="a TOML file of test cases")
    for command, run in ((explain, _explain), (check, _check), (test, _test)):
        command.add_argument("--json", action="store_true", help="print JSON")
        command.set_defaults(run=_reporting_errors(run))


def _reporting_errors(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    def reporting(args: argparse.Namespace) -> int:
        from quarterdeck.policy import PolicyError

        try:
            return run(args)
        except (PolicyError, OSError, ValueError, ImportError) as error:
            message = str(error)
            if isinstance(error, OSError) and error.strerror:
                message = f"{error.filename}: {error.strerror}"
            for line in message.splitlines():
                print(f"quarterdeck policy: {sanitize(line)}", file=sys.stderr)
            print("  Run quarterdeck policy COMMAND --help for usage.", file=sys.stderr)
            return CANNOT

    return reporting


def _explain(args: argparse.Namespace) -> int:
    from quarterdeck.policy.requests import parse_request

    policy = _policy(args)
    explanation = policy.explain(*parse_request(args.request))
    if args.json:
        print(json.dumps(_as_json(explanation), indent=2))
    else:
        _print_explanation(explanation, policy)
    return EXPLAIN_EXITS[explanation.decision.behavior]


def _policy(args: argparse.Namespace) -> Policy:
    from quarterdeck.policy import Policy

    given = {"allow": args.allow, "deny": args.deny, "ask": args.ask}
    mode = {"mode": args.mode} if args.mode else {}
    extra = Policy.from_rules(**given, cwd=args.cwd, source="cliArg", **mode)
    return extra if args.no_settings else Policy.from_settings(args.cwd, rules=extra.rules, **mode)


def _print_explanation(explanation: Explanation, policy: Policy) -> None:
    decision = explanation.decision
    first, *rest = explanation.lines()
    label, _, why = first.partition(": ")
    print(f"{_coloured(label.upper(), label)}  {sanitize(why)}")
    for line in rest:
        label, _, text = line.partition(": ")
        print(f"  {_coloured(label + ':', 'bold')} {sanitize(text)}")
    for note in policy.notes:
        print(f"  {_coloured('note:', 'bold')} {sanitize(note)}")
    if decision.behavior != "allow" and not explanation.would_allow:
        print(f"  {_coloured('No rule can allow exactly this.', 'dim')}")


def _as_json(explanation: Explanation) -> dict[str, Any]:
    decision = explanation.decision
    return {
        "behavior": decision.behavior,
        "tool": explanation.tool,
        "input": dict(explanation.tool_input),
        "explanation": decision.explanation,
        "source": decision.source,
        "rule": None if decision.rule is None else {"text": decision.rule.text, "place": decision.rule.place},
        "risk": {"level": decision.risk.level, "reasons": list(decision.risk.reasons)},
        "parts": [
            {"text": part.text, "behavior": part.verdict.behavior, "why": part.verdict.why}
            for part in explanation.parts
        ],
        "near": [
            {"rule": near.rule.text, "place": near.rule.place, "why_not": near.why_not} for near in explanation.near
        ],
        "would_allow": [rule.text for rule in explanation.would_allow],
    }


def _check(args: argparse.Namespace) -> int:
    from quarterdeck.policy.errors import BadRule, BadSettingsError
    from quarterdeck.policy.lint import lint
    from quarterdeck.policy.settings import read_file

    bad: list[BadRule] = []
    file = read_file(str(args.file), "projectSettings", bad)
    if file is None:
        raise BadSettingsError(str(args.file), None, "No such file, or it is empty.")
    warnings = lint(file.rules)
    if args.json:
        shown = {
            "rules": len(file.rules),
            "refused": [{"rule": one.text, "line": one.line, "reason": one.reason} for one in bad],
            "warnings": [{"rule": one.rule.text, "line": one.rule.line, "says": one.says} for one in warnings],
        }
        print(json.dumps(shown, indent=2))
    else:
        for rule in bad:
            print(f"{_coloured('invalid', 'deny')}  {sanitize(str(rule))}")
        for warning in warnings:
            print(f"{_coloured('warning', 'ask')}  {sanitize(str(warning))}")
        print(f"{len(file.rules)} rules, {len(bad)} invalid, {len(warnings)} warnings")
    return 1 if bad or (args.strict and warnings) else 0


def _test(args: argparse.Namespace) -> int:
    from quarterdeck.policy.cases import read_cases

    failed: list[dict[str, str]] = []
    count = 0
    for path in args.cases:
        for case in read_cases(path.read_text(encoding="utf-8"), file=str(path)):
            count += 1
            decision = case.decide()
            if decision.behavior != case.expected:
                failed.append(
                    {
                        "file": str(path),
                        "about": case.about,
                        "request": case.request,
                        "expected": case.expected,
                        "got": decision.behavior,
                        "explanation": decision.explanation,
                    }
                )
    if args.json:
        print(json.dumps({"cases": count, "failed": failed}, indent=2))
    else:
        for one in failed:
            print(f"{_coloured('FAILED', 'deny')}  {sanitize(one['about'])}: {one['request']!r}")
            print(f"        expected {one['expected']}, got {one['got']}: {sanitize(one['explanation'])}")
        print(f"{count} cases, {_coloured(f'{len(failed)} failed', 'deny' if failed else 'allow')}")
    return 1 if failed else 0


def _coloured(text: str, name: str) -> str:
    return Look.of(sys.stdout).paint(_COLOURS[name], text)


if __name__ == "__main__":
    sys.exit(main())
