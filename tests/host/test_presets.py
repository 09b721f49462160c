"""Presets: named by an administrator, used by whoever may start sessions."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from host.kit import Place
from host.test_secrets import SECRET, files_with_the_secret, only_these_have_the_secret
from inside import in_memory
from quarterdeck.host import Caller, HostError
from quarterdeck.host.bodies import decode_body
from quarterdeck.host.requests import CreateSession, Nothing, OfSession, Settings

OPERATOR = Caller(name="op", scope="operate", may_bypass=False)
REVIEW = {
    "about": "Look, do not touch.",
    "permission_mode": "plan",
    "model": "claude-haiku-4-5",
    "options": {"env": {"KEY": "secret"}, "max_turns": 3},
    "policy": {"deny": ["Bash(rm:*)"]},
    "budget_usd": "2",
    "tags": ["review"],
    "host_tools": {"sessions": 2},
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


async def test_a_session_gets_what_its_preset_says_and_what_it_says_itself(place: Place) -> None:
    async with place.opened() as host:
        await host.set_presets(Settings(settings={"presets": {"review": REVIEW}}))
        wanted = CreateSession(
            cwd=str(place.cwd), preset="review", tags=["mine"], options={"max_turns": 1}, policy={"deny": ["Write"]}
        )
        session = await host.create_session(wanted, OPERATOR)
        assert (session.permission_mode, session.tags) == ("plan", ["review", "mine"])
        assert session.budget_usd == Decimal(2)
        body = decode_body(in_memory(host)[session.id].log.record)
        assert (body.options["max_turns"], body.private_options) == (1, ["env"])
        assert body.policy["deny"] == ["Bash(rm:*)", "Write"]
        assert body.host_tools is not None
        larger = CreateSession(cwd=str(place.cwd), preset="review", budget_usd=Decimal(50))
        assert (await host.create_session(larger, OPERATOR)).budget_usd == Decimal(2)
        smaller = CreateSession(cwd=str(place.cwd), preset="review", budget_usd=Decimal(1), permission_mode="default")
        session = await host.create_session(smaller, OPERATOR)
        assert (session.budget_usd, session.permission_mode) == (Decimal(1), "default")


async def test_they_are_kept_and_secrets_in_them_are_for_administrators(place: Place) -> None:
    async with place.opened() as host:
        await host.set_presets(Settings(settings={"presets": {"review": REVIEW}}), key="once")
    async with place.opened() as host:
        shown = (await host.get_presets(Nothing())).details["presets"]["review"]
        assert shown["options"]["env"] == {"KEY": "secret"}
        shown = (await host.get_presets(Nothing(), OPERATOR)).details["presets"]["review"]
        assert shown["options"] == {"env": "…", "max_turns": "…"}
        with pytest.raises(HostError) as refused:
            await host.set_presets(Settings(settings={"presets": {}}), OPERATOR)
        assert refused.value.code == "forbidden"


SECRETS: dict[str, Any] = {
    "env": {"KEY": SECRET},
    "mcp_servers": {"tickets": {"type": "http", "url": f"http://127.0.0.1:1/?key={SECRET}"}},
    "settings": {"apiKeyHelper": f"echo {SECRET}"},
}


async def test_secrets_of_presets_are_in_one_private_file_and_nowhere_else(place: Place) -> None:
    presets = {
        "presets": {"review": {"options": {**SECRETS, "max_turns": 3}}, "other": {"options": {"env": {"A": "1"}}}}
    }
    async with place.opened() as host:
        answer = await host.set_presets(Settings(settings=presets), key="once")
        assert answer.details["presets"]["review"]["options"] == {**dict.fromkeys(SECRETS, "…"), "max_turns": 3}
        assert await host.set_presets(Settings(settings=presets), key="once") == answer
        assert (await host.get_presets(Nothing())).details == presets
        await host.set_presets(Settings(settings=presets))
    (file,) = files_with_the_secret(place.folder)
    assert re.fullmatch(r"private/presets-[0-9a-f-]+\.json", file)
    assert (place.folder / file).stat().st_mode & 0o077 == 0
    async with place.opened() as host:
        session = await place.created(host, prompt=None, preset="review")
        actor = in_memory(host)[session.id]
        assert actor.options(actor.log).env["KEY"] == SECRET
        await host.set_presets(Settings(settings={"presets": {}}))
        await host.delete_session(OfSession(session_id=session.id))
        await only_these_have_the_secret(place.folder, [])


async def test_a_preset_whose_private_options_are_missing_is_shown_and_not_used(place: Place) -> None:
    presets = {"presets": {"review": {"options": {"env": {"KEY": SECRET}}}, "plain": {"tags": ["a"]}}}
    async with place.opened() as host:
        await host.set_presets(Settings(settings=presets))
        (file,) = files_with_the_secret(place.folder)
        (place.folder / file).unlink()
        assert (await host.get_presets(Nothing())).details["presets"]["review"] == {"options": {"env": "…"}}
        with pytest.raises(HostError, match="Set the presets again") as refused:
            await place.created(host, prompt=None, preset="review")
        assert refused.value.code == "conflict"
        assert (await place.created(host, prompt=None, preset="plain")).tags == ["a"]


async def test_presets_set_at_the_same_time_leave_one_file(place: Place) -> None:
    def named(name: str) -> Settings:
        return Settings(settings={"presets": {name: {"options": {"env": {"KEY": SECRET}}}}})

    async with place.opened() as host:
        await asyncio.gather(*(host.set_presets(named(name)) for name in "abcdef"))
        (shown,) = (await host.get_presets(Nothing())).details["presets"].values()
        assert shown == {"options": {"env": {"KEY": SECRET}}}
        assert len(files_with_the_secret(place.folder)) == 1


async def test_a_preset_gives_nobody_the_right_to_bypass(place: Place) -> None:
    async with place.opened() as host:
        await host.set_presets(Settings(settings={"presets": {"wild": {"permission_mode": "bypassPermissions"}}}))
        with pytest.raises(HostError) as refused:
            await host.create_session(CreateSession(cwd=str(place.cwd), preset="wild"), OPERATOR)
        assert (refused.value.code, refused.value.details["field"]) == ("forbidden", "preset")
        may = Caller(name="op", scope="operate", may_bypass=True)
        merged = await host._with_preset(CreateSession(cwd=str(place.cwd), preset="wild"), may)
        assert merged.permission_mode == "bypassPermissions"
        with pytest.raises(HostError) as unknown:
            await host.create_session(CreateSession(cwd=str(place.cwd), preset="none"), OPERATOR)
        assert unknown.value.code == "not_found"


BAD: list[dict[str, Any]] = [
    {"presets": {"": {}}},
    {"presets": {"a\nb": {}}},
    {"presets": {"a": {"surprise": 1}}},
    {"presets": {"a": {"options": {"cli_path": "/bin/sh"}}}},
    {"presets": {"a": {"budget_usd": "NaN"}}},
    {"presets": {"a": {"policy": {"allow": ["Bash"]}}}},
    {"presets": {"a": {"account": "nobody"}}},
    {"presets": {"a": {"host_tools": {"depth": 1_000}}}},
    {"presets": {"a": {"lifecycle": {"park_s": -1}}}},
    {"presets": {str(number): {} for number in range(300)}},
]


@pytest.mark.parametrize("settings", BAD, ids=lambda one: str(one)[:60])
async def test_presets_that_make_no_sense_are_refused(place: Place, settings: dict[str, Any]) -> None:
    async with place.opened() as host:
        with pytest.raises(HostError) as refused:
            await host.set_presets(Settings(settings=settings))
        assert refused.value.code == "invalid"
        assert (await host.get_presets(Nothing())).details == {"presets": {}}
