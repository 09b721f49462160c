"""Dataclasses with a shared ``__repr__`` behave as plain ones do."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import pytest

from quarterdeck import ClaudeAgentOptions, HookMatcher, PermissionResultAllow, PermissionResultDeny
from quarterdeck.wire import ToolPermissionContext
from quarterdeck.wire._records import ByFields

SHARING = (ClaudeAgentOptions, HookMatcher, PermissionResultAllow, PermissionResultDeny, ToolPermissionContext)


@dataclass
class Plain:
    one: int = 1
    others: list[Any] = field(default_factory=list)


@dataclass(repr=False, eq=False)
class Sharing(ByFields):
    one: int = 1
    others: list[Any] = field(default_factory=list)


def pairs(*arguments: Any) -> tuple[Any, Any]:
    return Plain(*arguments), Sharing(*arguments)


@pytest.mark.parametrize("arguments", [(), (2,), (1, ["x"]), (True, [None])])
def test_it_is_shown_as_a_plain_one_is(arguments: tuple[Any, ...]) -> None:
    plain, sharing = pairs(*arguments)
    assert repr(sharing) == repr(plain).replace("Plain", "Sharing")


def test_one_that_holds_itself_can_be_shown() -> None:
    plain, sharing = pairs()
    for record in (plain, sharing):
        record.others.append(record)
    assert repr(sharing) == repr(plain).replace("Plain", "Sharing")


def test_it_is_equal_as_a_plain_one_is() -> None:
    assert Sharing(1, [2]) == Sharing(1, [2])
    assert Sharing(1) != Sharing(2)
    assert Sharing() != Plain()
    assert Sharing() != 1

    @dataclass(repr=False)
    class Special(Sharing):
        pass

    assert Special() != Sharing()


@pytest.mark.parametrize("cls", SHARING)
def test_ours_can_be_copied_compared_and_not_hashed(cls: Any) -> None:
    record = cls()
    assert dataclasses.replace(record) == record
    assert repr(record).startswith(f"{cls.__name__}(")
    with pytest.raises(TypeError, match="unhashable"):
        hash(record)
