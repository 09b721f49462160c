"""The host's own tests of conversations, played through gRPC on the real CLI with a scripted model.

Create, stream, permission allowed, edited, remembered, denied and denied with stop, question answered and skipped, plan
revised, edited and approved, elicitation, interrupt, queue and steering, resume, fork, rewind, sub-agent, background
task: whatever they ask of the host and are told by it goes through messages (``grpc_host``).
"""

# ruff: noqa: F401  # imported tests are collected here, with the fixtures below

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest

from e2e.server import server_config
from gateways.grpc.grpc_host import GrpcHost
from gateways.grpc.kit import Client, serving
from host.staged import Staged, Talk, staged_in
from host.test_branches import (
    test_a_fork_knows_everything_or_everything_up_to_a_message,
    test_a_stopped_session_is_resumed_with_everything_it_knew,
    test_files_are_set_back_to_what_they_were_at_a_prompt,
)
from host.test_conversations import (
    test_a_call_that_is_allowed_runs,
    test_a_denial_can_stop_the_turn,
    test_a_denied_call_does_not_run_and_the_model_is_told_why,
    test_a_plan_is_edited_and_the_model_gets_the_edited_one,
    test_a_plan_is_revised_then_approved_with_a_mode,
    test_a_prompt_is_answered_in_pieces_then_in_whole,
    test_a_question_is_answered,
    test_a_question_is_skipped,
    test_a_remembered_rule_allows_until_it_is_revoked,
    test_an_edited_input_is_what_runs,
    test_an_elicitation_of_a_tool_server_is_accepted_or_declined,
)
from host.test_steering import (
    test_a_background_task_is_listed_with_its_output_and_stopped,
    test_a_prompt_during_a_turn_is_folded_in_between_two_steps,
    test_a_prompt_for_now_interrupts_what_runs,
    test_a_sub_agent_asks_like_everybody_else_and_its_transcript_can_be_read,
    test_an_interrupt_ends_the_turn_and_what_was_said_stays,
    test_prompts_for_later_wait_for_turns_of_their_own_and_can_be_taken_back,
)
from quarterdeck.host.requests import CreateToken

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staged]:
    folder = tmp_path_factory.mktemp("grpc")
    with staged_in(folder, "real") as staged:
        host, running = staged.host, serving(staged.host, folder)

        async def begin() -> GrpcHost:
            _, address = await running.__aenter__()
            token = await host.create_token(CreateToken(name="tests", scope="admin", may_bypass=True))
            return GrpcHost(host, Client(grpc.aio.insecure_channel(address), token.secret))

        staged.host = staged.run(begin())
        yield staged
        staged.run(staged.host.channel.close())
        staged.run(running.__aexit__(None, None, None))
        staged.host = host


@pytest.fixture
def staged(hosted: Staged) -> Staged:
    assert hosted.stage.share(), "an earlier test left a part of its script"
    return hosted


@pytest.fixture(scope="module")
def shared(hosted: Staged) -> Talk:
    """A session that the tests share: the real CLI takes a second to start."""
    servers = {"st": server_config(hosted.stage.folder)}
    return hosted.run(hosted.talk(options={"mcp_servers": servers, "allowed_tools": ["Bash(echo:*)"]}))


@pytest.fixture
def talk(shared: Talk, staged: Staged) -> Talk:
    return shared
