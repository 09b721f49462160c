"""List approvals, allow, deny and answer them by commands."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from quarterdeck.cli.common import OK, USAGE_ERROR, Look, ReportedError, sanitize
from quarterdeck.host.requests import ApprovalFilter, Decide, DecideMany, Decision, ExplainPolicy, OfSession, Remember
from quarterdeck.host.resources import Approval
from quarterdeck.timeline.parts import Question

from .naming import all_approvals, all_sessions, find_approval, find_session
from .showing import approvals_table, print_json

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost


async def list_them(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck approvals``."""
    filters: dict[str, Any] = {"kind": given.kind}
    if given.state:
        filters["state"] = given.state
    if given.session:
        filters["session"] = (await find_session(host, given.session)).id
    found = [one async for one in all_approvals(host, **filters)]
    if given.json:
        print_json(found)
    elif given.quiet:
        print("".join(f"{one.id}\n" for one in found), end="")
    elif not found:
        print("No pending requests.")
    else:
        names = {one.id: one.name async for one in all_sessions(host, archived=True)}
        print("\n".join(approvals_table(found, Look.of(sys.stdout), names)))
    return OK


async def approve(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck approve``."""
    if not given.approvals:
        remember = Remember(rule=given.rule, scope=given.always) if given.always else None
        return await _decide_many(host, Decision(decision="allow", remember=remember, mode=given.mode), given)
    found = [await find_approval(host, wanted) for wanted in given.approvals]
    for approval in found:
        if approval.kind == "questions":
            raise ReportedError(f"{approval.id[:8]} asks a question", f"Run quarterdeck answer {approval.id[:8]}.")
        decision = Decision(
            decision="allow",
            updated_input=_object(given.input, "--input") if given.input else None,
            remember=await remembered(host, approval, given.always, given.rule) if given.always else None,
            mode=given.mode,
        )
        await _decide(host, approval, decision, given)
    return OK


async def deny(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck deny``."""
    decision = Decision(decision="deny", message=given.message, interrupt=given.stop)
    if not given.approvals:
        return await _decide_many(host, decision, given)
    for approval in [await find_approval(host, wanted) for wanted in given.approvals]:
        await _decide(host, approval, decision, given)
    return OK


async def _decide_many(host: RemoteHost, decision: Decision, given: argparse.Namespace) -> int:
    session = None if given.session is None else (await find_session(host, given.session)).id
    chosen = ApprovalFilter(session=session, kind=given.kind, tool=given.tool, cwd=given.cwd)
    decided = await host.decide_many(DecideMany(filter=chosen, decision=decision, dry_run=given.dry_run))
    if given.json:
        print_json(decided.approvals)
        return OK
    if not decided.approvals:
        print("No pending request matches.")
    for approval in decided.approvals:
        _show_decided(approval, decision, dry_run=given.dry_run)
    return OK


async def answer(host: RemoteHost, given: argparse.Namespace) -> int:
    """``quarterdeck answer``."""
    approval = await find_approval(host, given.approval)
    if not given.answers:
        _show_questions(approval, given)
        return OK
    match approval.kind:
        case "questions":
            decision = Decision(decision="allow", answers=_answers(approval, given.answers))
        case "plan_review":
            decision = Decision(decision="deny", plan="revise", message=" ".join(given.answers))
        case "elicitation" | "dialog":
            decision = Decision(decision="allow", answers=_fields(given.answers))
        case _:
            advice = f"Run quarterdeck approve {approval.id[:8]}, or quarterdeck deny."
            raise ReportedError(f"{approval.id[:8]} is a permission request", advice, code=USAGE_ERROR)
    await _decide(host, approval, decision, given)
    return OK


async def remembered(host: RemoteHost, approval: Approval, scope: str, rule: str | None = None) -> Remember:
    """The rule to save: the given one, or the narrowest one that would have allowed the call."""
    if rule is None:
        rules = await rules_for(host, approval.session_id, approval.tool or "", approval.input)
        if not rules:
            raise ReportedError("this call can't be saved as a rule", "Leave out --always.")
        rule = rules[0]
    return Remember(rule=rule, scope=scope)  # type: ignore[arg-type]  # one of its words


async def rules_for(host: RemoteHost, session_id: str, tool: str, tool_input: dict[str, Any]) -> list[str]:
    """The rules that would allow this call, as the host sees it."""
    session = await host.get_session(OfSession(session_id=session_id))
    told = await host.explain_policy(ExplainPolicy(tool=tool, input=tool_input, cwd=session.cwd))
    return [str(rule) for rule in told.details.get("would_allow", ())]


async def _decide(host: RemoteHost, approval: Approval, decision: Decision, given: argparse.Namespace) -> None:
    decided = await host.decide(Decide(approval_id=approval.id, decision=decision))
    if given.json:
        print_json(decided)
        return
    _show_decided(approval, decision)


def _show_decided(approval: Approval, decision: Decision, *, dry_run: bool = False) -> None:
    look = Look.of(sys.stdout)
    word = look.paint("green", "allowed") if decision.decision == "allow" else look.paint("red", "denied")
    word = f"would be {word}" if dry_run else word
    print(f"{look.paint('cyan', approval.id[:8])}  {word}  {sanitize(approval.summary, one_line=True)}")


def _answers(approval: Approval, given: list[str]) -> dict[str, Any]:
    questions = _questions(approval)
    if len(given) != len(questions):
        what = f"{len(questions)} question{'s' * (len(questions) != 1)}, {len(given)} answer{'s' * (len(given) != 1)}"
        raise ReportedError(what, f"Run quarterdeck answer {approval.id[:8]} to see them.", code=USAGE_ERROR)
    return {question.text: _answer(question, text) for question, text in zip(questions, given, strict=True)}


def _answer(question: Question, text: str) -> str | list[str]:
    """Numbers mean choices; anything else is the answer itself."""
    labels = [choice.label for choice in question.choices]
    numbers = text.replace(" ", "").split(",")
    if not all(one.isdecimal() and 1 <= int(one) <= len(labels) for one in numbers):
        return text
    chosen = [labels[int(one) - 1] for one in numbers]
    if len(chosen) > 1 and not question.several:
        raise ReportedError(f"only one choice for {question.text!r}", "Give one number.", code=USAGE_ERROR)
    return chosen if question.several else chosen[0]


def _questions(approval: Approval) -> list[Question]:
    return msgspec.convert(approval.questions, list[Question])


def _show_questions(approval: Approval, given: argparse.Namespace) -> None:
    if given.json:
        print_json(approval)
        return
    look = Look.of(sys.stdout)
    if approval.kind != "questions":
        print(sanitize(approval.plan or approval.summary))
        if approval.kind == "elicitation":
            print(look.paint("dim", sanitize(json.dumps(approval.input.get("form") or {}, ensure_ascii=False))))
    for question in _questions(approval):
        several = look.paint("dim", " (several)") if question.several else ""
        print(look.paint("bold", sanitize(question.text, one_line=True)) + several)
        for number, choice in enumerate(question.choices, 1):
            about = f"  {look.paint('dim', sanitize(choice.description, one_line=True))}" if choice.description else ""
            print(f"  {number} {sanitize(choice.label, one_line=True)}{about}")


def _fields(given: list[str]) -> dict[str, Any]:
    """``NAME=VALUE``; a value that is JSON is that, anything else is text."""
    fields: dict[str, Any] = {}
    for one in given:
        name, mark, value = one.partition("=")
        if not mark or not name:
            raise ReportedError(f"{one!r} is not NAME=VALUE", "Give a value for each field.", code=USAGE_ERROR)
        try:
            fields[name] = json.loads(value)
        except ValueError:
            fields[name] = value
    return fields


def _object(text: str, option: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ReportedError(
            f"{option} is not valid JSON: {error}", "Quote it for the shell.", code=USAGE_ERROR
        ) from error
    if not isinstance(found, dict):
        raise ReportedError(f"{option} is not a JSON object", 'Example: {"command": "ls"}', code=USAGE_ERROR)
    return found
