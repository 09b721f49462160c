"""Tools of a program, and MCP servers, on a host: the tests of local sessions (``tests/e2e/test_tools.py``)."""

from __future__ import annotations

from e2e.test_tools import *  # noqa: F403

# The host knows a program's tools from the start of the session: none are added later, and progress is not passed on.
del test_tools_can_be_added_while_the_session_runs  # noqa: F821
del test_a_server_in_this_process_can_be_added_while_the_session_runs  # noqa: F821
del test_a_tool_reports_progress  # noqa: F821
