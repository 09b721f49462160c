"""Typed dicts under the official SDK's names: their keys are those of a class in ``quarterdeck.wire``."""

from __future__ import annotations

import typing
from typing import Any

import pytest

import quarterdeck
from compat.test_official_names import NAMES
from looping import for_each
from quarterdeck import wire
from quarterdeck.client import answer_dicts, hook_input_dicts
from quarterdeck.wire import _message_dicts
from quarterdeck.wire.untyped import wire_names

RENAMED = {
    "BaseHookInput": "HookInput",
    "SystemInitData": "InitMessage",
    "SystemInitMcpServer": "InitMcpServer",
    "SystemInitPlugin": "InitPlugin",
    "SystemInitPluginError": "InitPluginError",
}
DICTS = {
    name: value
    for module in (answer_dicts, hook_input_dicts, _message_dicts)
    for name, value in vars(module).items()
    if typing.is_typeddict(value) and not name.startswith("_") and name in module.__all__
}


@for_each("name", DICTS)
def test_a_typed_dict_names_keys_that_its_class_has(name: str) -> None:
    assert set(typing.get_type_hints(DICTS[name])) - keys(name) == set()


@for_each("event", [event for event in wire.HOOK_EVENTS if f"{event}HookInput" not in NAMES])
def test_an_event_that_the_official_sdk_does_not_know_has_all_keys(event: str) -> None:
    name = f"{event}HookInput"
    assert set(typing.get_type_hints(DICTS[name])) == keys(name)


def keys(name: str) -> set[str]:
    cls: Any = getattr(wire, RENAMED.get(name, name))
    return {*wire_names(cls), cls.__struct_config__.tag_field} - {None}


@pytest.mark.parametrize("event", wire.HOOK_EVENTS)
def test_every_event_has_a_typed_dict_in_the_union(event: str) -> None:
    shape = getattr(quarterdeck, f"{event}HookInput")
    assert typing.get_args(typing.get_type_hints(shape)["hook_event_name"]) == (event,)
    assert shape in typing.get_args(quarterdeck.HookInput)


def test_the_classes_stay_in_the_wire_package() -> None:
    for name, shape in DICTS.items():
        assert getattr(quarterdeck, name) is getattr(quarterdeck.types, name) is shape
        assert not typing.is_typeddict(getattr(wire, name, None))
