"""The policy answers before anybody is asked: rules of the host, the settings and the session, and what was granted."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, Clock, Place, decide, frames_until, next_turn, pending, states_of, told
from inside import in_memory
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.events import PolicyDecided
from quarterdeck.host.requests import (
    CreateSession,
    Decide,
    Decision,
    ExplainPolicy,
    InFolder,
    ListApprovals,
    Nothing,
    OfGrant,
    OfSession,
    Remember,
    TryRule,
)
from quarterdeck.policy import Policy
from quarterdeck.timeline.events import ToolEnded

ALL = ["Bash", "Read", "Write", "Task"]
TOUCH = Remember(rule="Bash(touch made.txt)")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


def bash(command: str) -> dict[str, Any]:
    return {"tool": "Bash", "input": {"command": command, "description": "Do it"}}


async def statuses(host: Host, session: str) -> list[str]:
    return [event.status for event in told(await frames_until(host, session, "idle"), ToolEnded)]


@pytest.mark.parametrize("keeper", [True, False], ids=["keeper", "no keeper"])
async def test_a_rule_of_the_host_allows_without_asking_anybody(tmp_path: Path, keeper: bool) -> None:
    place = Place(tmp_path, keeper=keeper)
    place.claude.play([ASKS, "Done."])
    async with place.opened(policy=Policy.from_rules(allow=["Bash(touch:*)"])) as host:
        session = await place.created(host)
        frames = await frames_until(host, session.id, "idle")
        (decided,) = told(frames, PolicyDecided)
        assert (decided.decision, decided.rule, decided.asked_in) == ("allow", "Bash(touch:*)", "can_use_tool")
        assert decided.tool_use_id == told(frames, ToolEnded)[0].id
        assert states_of(frames) == []
        assert (place.cwd / "made.txt").exists()


@pytest.mark.parametrize("reason", ["mode", "hook", "rule", "safetyCheck"])
async def test_no_rule_of_the_host_answers_where_the_cli_asks_in_spite_of_rules(tmp_path: Path, reason: str) -> None:
    """Plan mode, a hook that says ask, an ask rule of the settings."""
    place = Place(tmp_path, keeper=False)
    asking = [sys.executable, str(Path(__file__).parent / "asking_cli.py"), "1", str(tmp_path)]
    agents = {"claude": ["env", "ASKED_ABOUT=touch", f"ASKED_BECAUSE={reason}", *asking]}
    async with place.opened(policy=Policy.from_rules(allow=["Bash(touch:*)"]), agents=agents) as host:
        session = await place.created(host)
        (approval,) = await pending(host, session.id)
        assert (approval.tool, approval.reason_kind) == ("Bash", reason)
        await decide(host, approval, "deny")
        frames = await frames_until(host, session.id, "idle")
        assert told(frames, PolicyDecided) == []


@pytest.mark.parametrize("allowed", [[], ALL], ids=["asked by the CLI", "allowed by the CLI"])
async def test_a_rule_of_the_host_denies_also_what_the_cli_allows(place: Place, allowed: list[str]) -> None:
    place.claude.play([ASKS, "Then not."])
    async with place.opened(policy=Policy.from_rules(deny=["Bash(touch:*)"])) as host:
        session = await place.created(host, options={"allowed_tools": allowed})
        frames = await frames_until(host, session.id, "idle")
        (decided,) = told(frames, PolicyDecided)
        assert (decided.decision, decided.rule, decided.asked_in) == ("deny", "Bash(touch:*)", "PreToolUse")
        assert not (place.cwd / "made.txt").exists()


async def test_a_sub_agent_is_judged_like_everybody_else(place: Place) -> None:
    errand = {"agent": "make a file", "background": False, "steps": [ASKS, "I could not."]}
    place.claude.play([errand, "Then not."])
    async with place.opened(policy=Policy.from_rules(deny=["Bash(touch:*)"])) as host:
        session = await place.created(host, options={"allowed_tools": ALL})
        frames = await frames_until(host, session.id, "idle")
        assert [(one.decision, one.tool) for one in told(frames, PolicyDecided)] == [("deny", "Bash")]
        assert not (place.cwd / "made.txt").exists()


async def test_an_ask_rule_has_a_person_asked_about_what_the_cli_allows(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened(policy=Policy.from_rules(ask=["Bash(touch:*)"])) as host:
        session = await place.created(host, options={"allowed_tools": ALL})
        (approval,) = await pending(host)
        await decide(host, approval)
        frames = await frames_until(host, session.id, "idle")
        assert [(one.decision, one.asked_in) for one in told(frames, PolicyDecided)] == [("ask", "PreToolUse")]
        assert states_of(frames)[0] == "pending"
        assert (place.cwd / "made.txt").exists()


async def test_the_settings_of_the_project_hold_against_a_rule_of_the_host(place: Place) -> None:
    settings = place.cwd / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"deny": ["Bash(touch:*)"]}}))
    place.claude.play([ASKS, "Then not."])
    async with place.opened(policy=Policy.from_rules(allow=["Bash(touch:*)"])) as host:
        session = await place.created(host)
        assert await statuses(host, session.id) != ["finished"]
        assert not (place.cwd / "made.txt").exists()


async def test_where_settings_cannot_be_read_a_person_is_asked(place: Place) -> None:
    settings = place.cwd / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"deny": ["Bash("]}}))
    place.claude.play([ASKS, "Done."])
    async with place.opened(policy=Policy.from_rules(allow=["Bash(touch:*)"])) as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        assert (await host.list_rules(InFolder(cwd=str(place.cwd)))).details["notes"] != []
        await decide(host, approval)
        await frames_until(host, session.id, "idle")


async def test_a_session_narrows_the_policy_and_cannot_widen_it(place: Place) -> None:
    place.claude.play([ASKS, "Then not."])
    async with place.opened(policy=Policy.from_rules(allow=["Bash(touch:*)"])) as host:
        with pytest.raises(HostError, match="can only restrict") as refused:
            await place.created(host, policy={"allow": ["Bash"]})
        assert refused.value.code == "invalid"
        for bad in ({"deny": ["Bash("]}, {"surprise": 1}, {"unattended_s": -1}):
            with pytest.raises(HostError) as refused:
                await place.created(host, policy=bad)
            assert refused.value.code == "invalid"
        session = await place.created(host, policy={"deny": ["Bash(touch:*)"]})
        frames = await frames_until(host, session.id, "idle")
        assert [one.decision for one in told(frames, PolicyDecided)] == ["deny"]


async def test_a_policy_that_fails_denies(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("out of order")

    place.claude.play([ASKS, "Then not."])
    async with place.opened() as host:
        session = await place.created(host, prompt=None, options={"allowed_tools": ALL})
        policy = in_memory(host)[session.id].log.approvals.policy
        assert policy is not None
        monkeypatch.setattr(policy, "_against", broken)
        frames = await next_turn(host, session.id)
        assert [one.decision for one in told(frames, PolicyDecided)] == ["deny"]
        assert "out of order" in told(frames, PolicyDecided)[0].reason
        assert not (place.cwd / "made.txt").exists()


async def test_an_agent_may_not_read_the_state_folder_nor_approve_itself(place: Place) -> None:
    secret = place.folder / "token"
    calls = [
        {"tool": "Read", "input": {"file_path": str(secret)}},
        bash(f"cat {secret}"),
        bash("quarterdeck approve abc"),
        bash("quarterdeck token create --scope admin"),
        {"tool": "Write", "input": {"file_path": str(secret), "content": "mine"}},
    ]
    place.claude.play([*calls, "Then not."])
    async with place.opened() as host:
        secret.write_text("qd_secret")
        session = await place.created(host, options={"allowed_tools": ALL})
        frames = await frames_until(host, session.id, "idle")
        assert [one.decision for one in told(frames, PolicyDecided)] == ["deny"] * len(calls)
        assert secret.read_text() == "qd_secret"
        assert all("qd_secret" not in repr(frame) for frame in frames)


# What is remembered


@pytest.mark.parametrize("keeper", [True, False], ids=["keeper", "no keeper"])
async def test_a_remembered_call_is_not_asked_about_again_until_it_is_revoked(tmp_path: Path, keeper: bool) -> None:
    place = Place(tmp_path, keeper=keeper)
    place.claude.play([ASKS, "Done."], [ASKS, "Again."], [ASKS, "And again."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await decide(host, approval, remember=TOUCH)
        await frames_until(host, session.id, "idle")
        (grant,) = (await host.list_grants(Nothing())).grants
        assert (grant.rule, grant.scope, grant.by, grant.session_id) == (
            "Bash(touch made.txt)",
            "session",
            "program",
            session.id,
        )
        frames = await next_turn(host, session.id)
        assert [(one.decision, one.grant_id) for one in told(frames, PolicyDecided)] == [("allow", grant.id)]
        revoked = await host.revoke_grant(OfGrant(grant_id=grant.id))
        assert revoked.revoked_at is not None
        await host.send_prompt(_prompt(session.id))
        (approval,) = await pending(host)
        await decide(host, approval, "deny")


def _prompt(session: str) -> Any:
    from quarterdeck.host.requests import SendPrompt

    return SendPrompt(session_id=session, content="go on")


async def test_a_grant_for_a_call_covers_no_other(place: Place) -> None:
    place.claude.play([ASKS, bash("touch other.txt"), "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await decide(host, approval, remember=TOUCH)
        (other,) = [one for one in await pending(host, session.id) if one.id != approval.id]
        assert other.input["command"] == "touch other.txt"
        await decide(host, other, "deny")
        await frames_until(host, session.id, "idle")


@pytest.mark.parametrize(
    ("scope", "elsewhere"), [("session", "asked"), ("project", "asked"), ("user", "allowed")], ids=str
)
async def test_a_scope_says_which_sessions_a_grant_is_for(place: Place, scope: Any, elsewhere: str) -> None:
    place.claude.play([ASKS, "Done."])
    other_folder = place.cwd / "below"
    other_folder.mkdir()
    async with place.opened() as host:
        first = await place.created(host)
        (approval,) = await pending(host)
        await decide(host, approval, remember=Remember(rule="Bash(touch made.txt)", scope=scope))
        await frames_until(host, first.id, "idle")
        here = await place.created(host)
        if scope == "session":
            (approval,) = await pending(host, here.id)
            await decide(host, approval)
        assert await statuses(host, here.id) == ["finished"]
        there = await host.create_session(CreateSession(cwd=str(other_folder), prompt="go"))
        if elsewhere == "asked":
            (approval,) = await pending(host, there.id)
            await decide(host, approval)
        assert await statuses(host, there.id) == ["finished"]


@pytest.mark.parametrize("keeper", [True, False], ids=["keeper", "no keeper"])
async def test_a_grant_survives_a_restart_and_ends_when_its_time_is_over(tmp_path: Path, keeper: bool) -> None:
    place = Place(tmp_path, keeper=keeper)
    place.claude.play([ASKS, "Done."], [ASKS, "Again."], [ASKS, "Later."])
    clock = Clock()
    async with place.host(clock=clock) as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await decide(host, approval, remember=Remember(rule="Bash(touch made.txt)", scope="project", lasts_s=60))
        await frames_until(host, session.id, "idle")
    async with place.opened(clock=clock) as host:
        await host.resume(OfSession(session_id=session.id))
        frames = await next_turn(host, session.id)
        assert [one.decision for one in told(frames, PolicyDecided)] == ["allow"]
        clock.now += 61
        await host.send_prompt(_prompt(session.id))
        (approval,) = await pending(host)
        await decide(host, approval, "deny")
        await frames_until(host, session.id, "idle")


@pytest.mark.parametrize(
    ("remember", "match"),
    [
        (Remember(rule="Bash"), "all of Bash"),
        (Remember(rule="Bash(rm x)"), "does not cover"),
        (Remember(rule="Bash("), "cannot be remembered"),
        (Remember(rule="Bash(touch made.txt)", lasts_s=0), "longer"),
    ],
)
async def test_a_rule_that_cannot_be_remembered_is_refused_and_nothing_is_decided(
    place: Place, remember: Remember, match: str
) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        with pytest.raises(HostError, match=match) as refused:
            await decide(host, approval, remember=remember)
        assert refused.value.code == "invalid"
        assert [one.id for one in await pending(host)] == [approval.id]
        assert (await host.list_grants(Nothing())).grants == []
        await decide(host, approval)
        await frames_until(host, session.id, "idle")


async def test_what_a_rule_asks_about_cannot_be_remembered(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened(policy=Policy.from_rules(ask=["Bash(touch:*)"])) as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        with pytest.raises(HostError, match="because a rule forbids it"):
            await decide(host, approval, remember=TOUCH)
        await decide(host, approval)
        await frames_until(host, session.id, "idle")


async def test_to_remember_beyond_the_session_needs_more_than_to_approve(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        approver = Caller(name="ann", scope="approve")

        async def remember(scope: Any) -> None:
            decision = Decision(decision="allow", remember=Remember(rule="Bash(touch made.txt)", scope=scope))
            await host.decide(Decide(approval_id=approval.id, decision=decision), approver)

        for scope in ("project", "user"):
            with pytest.raises(HostError, match="operate") as refused:
                await remember(scope)
            assert refused.value.code == "forbidden"
        await remember("session")
        await frames_until(host, session.id, "idle")


# Looking


async def test_the_rules_in_force_say_where_they_come_from(place: Place) -> None:
    async with place.opened(policy=Policy.from_rules(allow=["Bash(touch:*)"])) as host:
        rules = (await host.list_rules(InFolder(cwd=str(place.cwd)))).details["rules"]
        assert {"layer": "host", "behavior": "allow", "rule": "Bash(touch:*)"}.items() <= next(
            rule for rule in rules if rule["layer"] == "host"
        ).items()
        assert any(rule["layer"] == "built-in" and str(place.folder) in rule["rule"] for rule in rules)


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (None, "No rule allows it, and what exactly it runs is known only when it runs."),
        ({"ask": ["Bash(sudo:*)"]}, "Bash(sudo:*)"),
    ],
    ids=["no rule", "a rule of somebody's own"],
)
async def test_why_it_asks_names_no_rule_that_has_nothing_to_do_with_it(
    place: Place, policy: dict[str, Any] | None, reason: str
) -> None:
    """Built-in rules deny commands of ours; that one of them cannot be ruled out is nothing a person wants to read."""
    place.claude.play([bash("cd build && sudo rm -rf ./* | tee log.txt"), "Done."])
    async with place.opened() as host:
        await place.created(host, policy=policy)
        (asked,) = await pending(host)
        assert reason in (asked.reason or "")
        assert "quarterdeck" not in (asked.reason or "")
        assert (asked.risk or "").startswith("high")


async def test_a_call_can_be_explained_before_it_is_made(place: Place) -> None:
    async with place.opened(policy=Policy.from_rules(allow=["Bash(touch:*)"], deny=["Bash(rm:*)"])) as host:

        async def explained(command: str) -> dict[str, Any]:
            request = ExplainPolicy(tool="Bash", input={"command": command}, cwd=str(place.cwd))
            return (await host.explain_policy(request)).details

        assert (await explained("touch a"))["decision"] == "allow"
        denied = await explained("touch a && rm b")
        assert (denied["decision"], denied["rule"]) == ("deny", "Bash(rm:*)")
        assert [part["text"] for part in denied["parts"]] == ["touch a && rm b"]
        asked = await explained("make install")
        assert (asked["decision"], asked["would_allow"]) == ("ask", ["Bash(make install)"])


async def test_a_new_rule_is_tried_on_past_requests(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await decide(host, approval)
        await frames_until(host, session.id, "idle")

        async def tried(rule: str, **more: Any) -> dict[str, Any]:
            return (await host.try_rule(TryRule(rule=rule, **more))).details

        allowed = await tried("Bash(touch:*)")
        assert (allowed["looked_at"], allowed["changed"], allowed["more"]) == (1, 1, False)
        (one,) = allowed["requests"]
        assert (one["approval_id"], one["decided"]) == (approval.id, "allow")
        assert (one["today"], one["with_rule"]) == ("ask", "allow")
        assert (await tried("Bash(rm:*)"))["changed"] == 0
        denied = await tried("Bash(touch:*)", behavior="deny", cwd=str(place.cwd))
        assert denied["requests"][0]["with_rule"] == "deny"
        elsewhere = place.cwd / "elsewhere"
        elsewhere.mkdir()
        assert (await tried("Bash(touch:*)", cwd=str(elsewhere)))["looked_at"] == 0
        limited = Caller(name="limited", scope="read", folders=(str(elsewhere),))
        assert (await host.try_rule(TryRule(rule="Bash(touch:*)"), limited)).details["looked_at"] == 0
        assert (await host.list_grants(Nothing())).grants == []
        for wrong in (TryRule(rule="Bash("), TryRule(rule="Bash(ls)", limit=0)):
            with pytest.raises(HostError) as refused:
                await host.try_rule(wrong)
            assert refused.value.code == "invalid"


async def test_questions_are_for_people_whatever_the_rules_say(place: Place) -> None:
    place.claude.play([{"ask": "Which one?", "header": "One", "options": ["Left", "Right"]}, "Fine."])
    async with place.opened(policy=Policy.from_rules(allow=["AskUserQuestion"])) as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        assert approval.kind == "questions"
        assert (await host.list_approvals(ListApprovals(kind=["permission"]))).approvals == []
        await decide(host, approval, "deny")
        await frames_until(host, session.id, "idle")


async def test_a_person_cannot_edit_a_call_into_one_that_is_denied(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened(policy=Policy.from_rules(deny=["Bash(touch forbidden*)"])) as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        for command in ("touch forbidden.txt", f"cat {place.folder}/token"):
            with pytest.raises(HostError) as refused:
                await decide(host, approval, updated_input={"command": command, "description": "Make a file"})
            assert (refused.value.code, refused.value.details["field"]) == ("invalid", "updated_input")
        await decide(host, approval, updated_input={"command": "touch other.txt", "description": "Make a file"})
        await frames_until(host, session.id, "idle")
    assert (place.cwd / "other.txt").exists()
