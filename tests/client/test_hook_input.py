"""A hook's input is a real dict and a typed object at once."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from quarterdeck.client.hook_input import hook_input
from quarterdeck.wire import HookInput, PostToolUseHookInput, PreToolUseHookInput, UnknownHookInput
from quarterdeck.wire.hooks import HOOK_INPUT_TYPES

EVENT: dict[str, Any] = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "cwd": "/",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "news": [1],
}


def test_it_is_a_dict_for_json_copies_and_unions() -> None:
    given = hook_input(EVENT)
    assert isinstance(given, dict)
    assert json.loads(json.dumps(given)) == EVENT == given
    assert given | {"more": 1} == {**EVENT, "more": 1}
    for copied in (copy.copy(given), copy.deepcopy(given), given.copy(), pickle.loads(pickle.dumps(given))):  # noqa: S301
        assert (type(copied), copied) == (dict, EVENT)


def test_it_is_the_event_s_class_for_attributes_and_matching() -> None:
    given = hook_input(EVENT)
    assert isinstance(given, PreToolUseHookInput) and isinstance(given, HookInput)
    assert not isinstance(given, PostToolUseHookInput)
    assert type(given).__name__ == "PreToolUseHookInput"
    match given:
        case PreToolUseHookInput(tool_name=name, tool_input=tool_input):
            assert (name, tool_input) == ("Bash", {"command": "ls"})
        case _:
            pytest.fail("it did not match its own class")
    with pytest.raises(AttributeError, match="nonsense"):
        _ = given.nonsense


def test_an_input_that_does_not_fit_its_event_is_unknown() -> None:
    given = hook_input({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": 3})
    assert isinstance(given, UnknownHookInput) and given["tool_name"] == 3


def test_an_unknown_event_is_a_dict_all_the_same() -> None:
    given = hook_input({"hook_event_name": "Tomorrow", "session_id": "s"})
    assert (given["hook_event_name"], given.session_id) == ("Tomorrow", "s")


def test_no_field_of_any_event_hides_behind_a_method_of_dict() -> None:
    hidden = {
        (name, field)
        for name, cls in HOOK_INPUT_TYPES.items()
        for field in cls.__struct_fields__
        if hasattr(dict, field)
    }
    assert hidden == set()
