"""Control calls on a host: the tests of local sessions (``tests/e2e/test_controls.py``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from e2e.kit import Running
from e2e.server import server_config
from e2e.test_controls import *  # noqa: F403
from e2e.test_controls import TYPED, spoken
from quarterdeck import ControlError
from remote.kit import running_elsewhere

# A host has one handshake, and no messages of ours for MCP servers.
del test_what_takes_no_argument_answers_with_its_type  # noqa: F821
del test_a_message_for_an_mcp_server_in_this_process_needs_no_such_server  # noqa: F821


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("controls")
    with running_elsewhere(folder, mcp_servers={"st": server_config(folder)}) as running:
        (running.stage.cwd / "f.txt").write_text("hello file\n")
        (running.stage.cwd / "sub").mkdir()
        yield running


async def test_what_takes_no_argument_answers_with_its_type_on_a_host(running: Running) -> None:
    await spoken(running, "the words to export")
    wanted = {name: kind for name, kind in TYPED.items() if name != "reinitialize"}
    answers = {name: await getattr(running.session, name)() for name in wanted}
    assert {name: type(answer) for name, answer in answers.items()} == wanted
    assert "the words to export" in answers["export"].text
    assert answers["fork_conversation"].forked is False
    assert answers["workspace_diff"].no_diff_reason == "no-repository"


@pytest.mark.parametrize(
    ("method", "arguments"), [("reinitialize", []), ("send_mcp_message", ["st", {"jsonrpc": "2.0"}])]
)
async def test_what_only_a_local_session_has_is_refused(running: Running, method: str, arguments: list[Any]) -> None:
    with pytest.raises(ControlError):
        await getattr(running.session, method)(*arguments)
