"""What a Bash tool call leaves running on a host: the tests of local sessions (``tests/e2e/test_strays.py``)."""

from __future__ import annotations

from e2e.test_strays import *  # noqa: F403

# A session on a host outlives its program. What a host leaves that is killed is a matter of its keeper: tests/keeper.
del test_a_killed_program_leaves_nothing_and_the_others_keep_what_is_theirs  # noqa: F821
del test_what_a_former_program_and_its_watchdog_left_is_ended_by_the_next_start_and_nothing_of_a_live_one  # type: ignore[name-defined]  # noqa: F821
