"""``quarterdeck policy explain | check | test``.

Exit codes: ``explain`` 0 allow, 1 deny, 3 ask; ``check`` 0 fine, 1 rules were refused (with ``--strict`` also on
warnings); ``test`` 0 all as expected, 1 not; 2 everywhere for what cannot be done at all.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .common import Look, Parser

if TYPE_CHECKING:
    from quarterdeck.policy import Explanation, Policy

ALLOWED, DENIED, FAILED, ASKED = 0, 1, 2, 3
_EXIT = {"allow": ALLOWED, "deny": DENIED, "ask": ASKED}
_COLOURS = {"allow": "green", "deny": "red", "ask": "yellow", "bold": "bold", "dim": "dim"}


DESCRIPTION = "Says what permission rules do: before they are written into settings, and when a tool call surprises."


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``policy`` to the commands of another program."""
    joined = subparsers.add_parser("policy", help="see what permission rules do", description=DESCRIPTION)
    _add_commands(joined.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser))


def parser() -> Parser:
    built = Parser(
        "quarterdeck policy",
        description=DESCRIPTION,
        examples=[
            ("quarterdeck policy explain 'git push --force'", "what would happen in this folder, and why"),
            ("quarterdeck policy check .claude/settings.json", "rules that are wrong or do nothing"),
            ("quarterdeck policy test rules.toml", "a table of expectations, for continuous integration"),
        ],
        exits={0: "allow, or all is fine", 1: "deny, or something is not", 2: "it cannot be done at all", 3: "ask"},
    )
    _add_commands(built.add_commands())
    return built


def main(argv: list[str] | None = None) -> int:
    """The commands of ``quarterdeck policy`` on their own."""
    args = parser().parse_args(argv)
    run: int = args.run(args)
    return run


def _add_commands(commands: argparse._SubParsersAction[Parser]) -> None:
    for add in (_add_explain, _add_check, _add_test):
        add(commands).add_argument("--json", action="store_true", help="write JSON")


def _add_explain(commands: argparse._SubParsersAction[Parser]) -> Parser:
    purpose = "why a tool call is allowed, denied or asked about"
    explain = commands.add_parser(
        "explain",
        help=purpose,
        description=f"Says {purpose}: the rule that decided, those that nearly matched, the risk, and which rule would "
        "allow it.",
        examples=[
            ("quarterdeck policy explain 'rm -rf build && git status'", "a shell command"),
            ("quarterdeck policy explain 'Read(~/.ssh/id_rsa)' --deny 'Read(~/.ssh/**)'", "with a rule to try"),
        ],
        exits={0: "allow", 1: "deny", 2: "it cannot be judged", 3: "ask"},
    )
    explain.add_argument("request", metavar="REQUEST", help="a tool call such as 'Bash(rm -rf build)', or a command")
    explain.add_argument("--cwd", metavar="DIR", default=".", help="judge as in this folder (default: here)")
    explain.add_argument("--mode", metavar="MODE", help="judge in this permission mode (default: as the settings say)")
    for behavior in ("allow", "deny", "ask"):
        explain.add_argument(
            f"--{behavior}", action="append", default=[], metavar="RULE", help=f"one more {behavior} rule"
        )
    explain.add_argument("--no-settings", action="store_true", help="use only the rules given here")
    explain.set_defaults(run=_guarded(_explain))
    return explain


def _add_check(commands: argparse._SubParsersAction[Parser]) -> Parser:
    check = commands.add_parser(
        "check",
        help="find bad rules in a settings file",
        description="Reads the permission rules of a settings file and names those that are refused or do nothing.",
        examples=[("quarterdeck policy check --strict .claude/settings.json", "warnings fail, too")],
        exits={0: "fine", 1: "rules were refused (with --strict also: warnings)", 2: "the file cannot be read"},
    )
    check.add_argument("file", metavar="FILE", type=Path, help="a settings.json")
    check.add_argument("--strict", action="store_true", help="warnings fail, too")
    check.set_defaults(run=_guarded(_check))
    return check


def _add_test(commands: argparse._SubParsersAction[Parser]) -> Parser:
    test = commands.add_parser(
        "test",
        help="run a table of expectations (TOML)",
        description="Runs tables of expectations: rules, requests, and what should be decided.",
        examples=[("quarterdeck policy test policy/*.toml", "every table of a folder")],
        exits={0: "all as expected", 1: "not all", 2: "a table cannot be read"},
    )
    test.add_argument("cases", metavar="FILE", type=Path, nargs="+", help="a table of expectations")
    test.set_defaults(run=_guarded(_test))
    return test


def _guarded(run: Any) -> Any:
    def guarded(args: argparse.Namespace) -> int:
        from quarterdeck.policy import PolicyError

        try:
            code: int = run(args)
        except (PolicyError, OSError, ValueError, ImportError) as error:
            told = (
                f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.strerror else str(error)
            )
            for line in told.splitlines():
                print(f"quarterdeck policy: {line}", file=sys.stderr)
            print("  quarterdeck policy COMMAND --help shows what it takes.", file=sys.stderr)
            return FAILED
        return code

    return guarded


def _explain(args: argparse.Namespace) -> int:
    from quarterdeck.policy.requests import parse_request

    policy = _policy(args)
    explanation = policy.explain(*parse_request(args.request))
    if args.json:
        print(json.dumps(_as_json(explanation), ensure_ascii=False, indent=2))
    else:
        _print_explanation(explanation, policy)
    return _EXIT[explanation.decision.behavior]


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
    print(f"{_coloured(label.upper(), label)}  {why}")
    for line in rest:
        label, _, text = line.partition(": ")
        print(f"  {_coloured(label + ':', 'bold')} {text}")
    for note in policy.notes:
        print(f"  {_coloured('note:', 'bold')} {note}")
    if decision.behavior != "allow" and not explanation.would_allow:
        print(f"  {_coloured('no rule can allow exactly this', 'dim')}")


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
        raise BadSettingsError(str(args.file), None, "there is no such file, or it is empty")
    warnings = lint(file.rules)
    if args.json:
        shown = {
            "rules": len(file.rules),
            "refused": [{"rule": one.text, "line": one.line, "reason": one.reason} for one in bad],
            "warnings": [{"rule": one.rule.text, "line": one.rule.line, "says": one.says} for one in warnings],
        }
        print(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        for refused in bad:
            print(f"{_coloured('refused', 'deny')}  {refused}")
        for warning in warnings:
            print(f"{_coloured('warning', 'ask')}  {warning}")
        print(f"{len(file.rules)} rules read, {len(bad)} refused, {len(warnings)} warnings")
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
        print(json.dumps({"cases": count, "failed": failed}, ensure_ascii=False, indent=2))
    else:
        for one in failed:
            print(f"{_coloured('FAILED', 'deny')}  {one['about']}: {one['request']!r}")
            print(f"        expected {one['expected']}, got {one['got']}: {one['explanation']}")
        print(f"{count} cases, {_coloured(f'{len(failed)} failed', 'deny' if failed else 'allow')}")
    return 1 if failed else 0


def _coloured(text: str, name: str) -> str:
    return Look.of(sys.stdout).paint(_COLOURS[name], text)


if __name__ == "__main__":
    sys.exit(main())
