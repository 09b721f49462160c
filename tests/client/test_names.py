"""The names of the package lead to what they name."""

from __future__ import annotations

import typing

import quarterdeck.client
import quarterdeck.client.transcripts.prompt
from looping import for_each
from quarterdeck.client.oneshot import prompt


def test_a_module_that_is_named_like_a_function_does_not_stand_in_for_it() -> None:
    assert quarterdeck.client.__getattr__("prompt") is prompt


@for_each("name", sorted(quarterdeck.__all__))
def test_the_types_of_a_class_can_be_asked_for(name: str) -> None:
    named = getattr(quarterdeck, name)
    if isinstance(named, type):
        assert isinstance(typing.get_type_hints(named), dict)
