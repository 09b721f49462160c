"""Each control request has one method, which sends exactly its fields and returns its typed answer."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any

import pytest

from client.control_cases import CASES, Case
from quarterdeck import wire
from quarterdeck.client.controls import Controls
from quarterdeck.client.controls.base import ControlsBase, fitted
from quarterdeck.client.errors import ControlError
from quarterdeck.wire import OUTGOING_REQUESTS, parse_answer


class Recorder(Controls):
    """Answers each request with one payload, and remembers what was sent."""

    def __init__(self, payload: Any = None) -> None:
        self.payload = payload
        self.sent: list[dict[str, Any]] = []
        self.limits_s: list[float | None] = []
        self.adopted: list[Mapping[str, Any]] = []
        self.info = wire.InitializeAnswer()

    async def request(self, request: Any, /, *, timeout_s: float | None = None, **fields: Any) -> Any:
        self.sent.append({"subtype": request, **fields} if isinstance(request, str) else request.to_dict())
        self.limits_s.append(timeout_s)
        if isinstance(self.payload, Exception):
            raise self.payload
        return parse_answer(request, self.payload)

    @property
    def server_info(self) -> wire.InitializeAnswer:
        return self.info

    def _adopt_servers(self, servers: Mapping[str, Any]) -> dict[str, Any]:
        self.adopted.append(servers)
        return {
            name: {key: value for key, value in config.items() if key != "instance"} for name, config in servers.items()
        }


TOLD_IN_THE_HANDSHAKE = {"commands", "agents", "account"}


def methods() -> dict[str, Any]:
    """The control methods by name."""
    return {
        name: value
        for name, value in inspect.getmembers(Controls, inspect.isfunction)
        if not name.startswith("_") and name not in vars(ControlsBase) and name not in TOLD_IN_THE_HANDSHAKE
    }


def used_by(case: Case) -> str:
    """The name of the method that the case calls."""
    (name,) = set(case.call.__code__.co_names) & set(methods())
    return name


def test_every_subtype_has_a_method() -> None:
    assert set(CASES) == set(OUTGOING_REQUESTS)


def test_every_method_belongs_to_exactly_one_subtype() -> None:
    owners = {subtype: {used_by(case) for case in cases} for subtype, cases in CASES.items()}
    assert all(len(names) == 1 for names in owners.values()), owners
    listed = [name for names in owners.values() for name in names]
    assert sorted(listed) == sorted(methods())


def test_every_method_is_documented_and_typed() -> None:
    for name, method in methods().items():
        assert method.__doc__, name
        signature = inspect.signature(method)
        assert signature.return_annotation not in {inspect.Signature.empty, "Any"}, name
        assert inspect.iscoroutinefunction(method), name


@pytest.mark.parametrize(
    ("subtype", "case"),
    [pytest.param(subtype, case, id=f"{subtype}-{n}") for subtype in CASES for n, case in enumerate(CASES[subtype])],
)
def test_a_method_sends_its_fields_and_returns_its_answer(subtype: str, case: Case) -> None:
    controls = Recorder(case.payload)
    returned = asyncio.run(case.call(controls))
    assert controls.sent == [{"subtype": subtype, **case.sent}]
    assert returned == case.returned
    assert type(returned) is type(case.returned)


@pytest.mark.parametrize("subtype", CASES)
def test_a_refusal_is_raised_as_it_is(subtype: str) -> None:
    refusal = ControlError(subtype, "no", "unsupported_request")
    with pytest.raises(ControlError) as caught:
        asyncio.run(CASES[subtype][0].call(Recorder(refusal)))
    assert caught.value is refusal


@pytest.mark.parametrize("subtype", CASES)
def test_a_caller_may_give_more_time_only_where_time_is_needed(subtype: str) -> None:
    controls = Recorder(CASES[subtype][0].payload)
    asyncio.run(CASES[subtype][0].call(controls))
    takes = "timeout_s" in inspect.signature(methods()[used_by(CASES[subtype][0])]).parameters
    assert (controls.limits_s != [None]) is takes


def test_the_time_given_by_the_caller_is_the_limit() -> None:
    controls = Recorder({"content": []})
    asyncio.run(controls.call_mcp_tool("mcp__s__t", timeout_s=1.5))
    assert controls.limits_s == [1.5]


def test_servers_in_this_process_are_adopted_and_never_on_the_wire() -> None:
    server = object()
    given = {"mine": {"type": "sdk", "name": "mine", "instance": server}}
    controls = Recorder({"added": ["mine"], "removed": [], "errors": {}})
    asyncio.run(controls.set_mcp_servers(given))
    assert controls.adopted == [given]
    assert controls.sent == [{"subtype": "mcp_set_servers", "servers": {"mine": {"type": "sdk", "name": "mine"}}}]


# What the handshake told


def test_commands_agents_and_account_are_those_of_the_handshake_and_nothing_is_sent() -> None:
    controls = Recorder()
    controls.info = wire.InitializeAnswer(
        commands=[wire.SlashCommand("compact")], agents=[wire.AgentInfo("a")], account=wire.AccountInfo(email="e")
    )
    assert controls.commands() == [wire.SlashCommand("compact")]
    assert controls.agents() == [wire.AgentInfo("a")]
    assert controls.account() == wire.AccountInfo(email="e")
    assert controls.sent == []


def test_an_old_handshake_that_tells_little_gives_empty_lists() -> None:
    controls = Recorder()
    assert (controls.commands(), controls.agents(), controls.account()) == ([], [], None)


# Odd answers


def test_of_an_odd_answer_what_fits_is_typed_and_the_rest_is_kept() -> None:
    odd = {"still_queued": "none", "cancelled": ["a"], "news": 1}
    receipt = fitted(odd, wire.InterruptReceipt)
    assert isinstance(receipt, wire.InterruptReceipt)
    assert (receipt.still_queued, receipt.cancelled) == (None, ["a"])
    assert receipt.to_dict() == odd
    assert (receipt["still_queued"], receipt["news"]) == ("none", 1)


def test_an_answer_without_what_it_must_have_is_returned_as_it_came() -> None:
    assert fitted({"unexpected": 1}, wire.ConversationExport) == {"unexpected": 1}
    assert fitted("text", wire.ConversationExport) == "text"
    assert fitted(None, wire.ConversationExport) is None


def test_no_payload_is_an_answer_that_says_nothing() -> None:
    assert fitted(None, wire.InterruptReceipt) == wire.InterruptReceipt()
