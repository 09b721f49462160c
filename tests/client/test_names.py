"""The names of the package lead to what they name."""

from __future__ import annotations

import quarterdeck.client
import quarterdeck.client.transcripts.prompt
from quarterdeck.client.oneshot import prompt


def test_a_module_that_is_named_like_a_function_does_not_stand_in_for_it() -> None:
    assert quarterdeck.client.__getattr__("prompt") is prompt
