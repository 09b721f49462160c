"""Small programs in people's idioms, on the real CLI: with our package they see what they see with the official one.

``idioms`` has the programs, ``idioms/recorded`` what each printed with ``claude-agent-sdk`` (``record_idioms.py``).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.idiom_running import GOES_ON, Worker, agrees, modules, normal, programs, recorded
from compat.idioms._setup import Script
from compat.peer import peer_python
from looping import for_each
from soak import ON, part

PROGRAMS = {f"{module}.{name}": (module, name, script) for module, name, script in programs()}
GUIDE = Path(__file__).parents[2] / "docs" / "migration.md"
IN_TEST = 110
"""So many take about a minute on two cores; the soak runs all."""

DIFFERENT: dict[str, str] = {
    "building.the_name_of_the_base_error": "an alias of `QuarterdeckError`",
    "building.type_hints_of_unions": "`Message` is a union",
    "changing.vars_update": "set attributes instead",
    "errors.an_unknown_flag": "it says what happened and includes the CLI's stderr",
    "hooks.a_hook_that_raises": "a guard that fails must not let anything through",
    "hooks.a_hook_that_returns_a_string": "a guard that fails must not let anything through",
    "hooks.a_hook_that_returns_none": "it means no opinion",
    "permissions.a_rule_is_added": "in `updated_permissions` a rule for a whole tool",
    "tools.a_missing_argument": "the same, with the argument's name",
    "tools.an_argument_of_the_wrong_type": "the same, with the argument's name",
    "reading.getattr_with_defaults": "it has more: `raw`, `data`",
    "reading.hasattr_to_tell_blocks_apart": "it has more: `raw`, `data`",
    "reading.hasattr_to_tell_messages_apart": "it has more: `raw`, `data`",
}
"""Program → words of ``docs/migration.md`` that say why it sees something else with ours."""

CASES = part([case for case in PROGRAMS if case not in DIFFERENT], IN_TEST)


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    with Worker(sys.executable, "quarterdeck", tmp_path_factory.mktemp("idioms")) as worker:
        yield worker


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    python = peer_python()
    if python is None:
        pytest.skip("the official SDK is not installed here; QUARTERDECK_INSTALL_PEER=1 installs it")
    with Worker(python, "claude_agent_sdk", tmp_path_factory.mktemp("idioms")) as worker:
        yield worker


@pytest.mark.real
@pytest.mark.parametrize("case", CASES)
def test_a_program_sees_what_it_sees_with_the_official_sdk(case: str, worker: Worker) -> None:
    module, name, script = PROGRAMS[case]
    ours, theirs = worker.run(module, name, script), recorded(module)[name]
    if not agrees(theirs, ours):
        worker.end()  # a conversation that many programs read fails one of them, not all
        pytest.fail(compared(theirs, ours, worker.trace))


@pytest.mark.real
@pytest.mark.parametrize("case", part(list(DIFFERENT), min(6, len(DIFFERENT))))
def test_a_listed_difference_is_still_there(case: str, worker: Worker) -> None:
    module, name, script = PROGRAMS[case]
    assert not agrees(recorded(module)[name], worker.run(module, name, script))


@pytest.mark.real
@pytest.mark.skipif(not ON, reason="in the soak: the official SDK takes as long as ours")
@pytest.mark.parametrize("case", PROGRAMS if ON else ["all"])
def test_the_recording_is_what_the_official_sdk_does(case: str, official: Worker) -> None:
    module, name, script = PROGRAMS[case]
    assert agrees(recorded(module)[name], official.run(module, name, script))


def test_every_program_is_recorded_and_nothing_else() -> None:
    assert {f"{module}.{name}" for module in modules() for name in recorded(module)} == set(PROGRAMS)
    promised = re.search(r"(\d+) small ones", GUIDE.read_text())
    assert promised is not None
    assert len(PROGRAMS) == int(promised[1])
    assert all(isinstance(script, Script) for *_, script in PROGRAMS.values())


def test_no_recorded_program_hangs() -> None:
    lines = {case: recorded(module)[name] for case, (module, name, _) in PROGRAMS.items()}
    assert [case for case, said in lines.items() if any(line.startswith("did not end") for line in said)] == []


@for_each("case", DIFFERENT or [""])
def test_the_guide_for_moving_over_gives_the_reason(case: str) -> None:
    assert DIFFERENT.get(case, "") in GUIDE.read_text()


@for_each("text", GOES_ON)
def test_the_guide_names_the_errors_that_say_more(text: str) -> None:
    kind, _, words = text.removeprefix("raised ").partition(" ")
    assert f'"{words.rstrip(": ")}"' in GUIDE.read_text() or f"`{kind}` says" in GUIDE.read_text()


def test_only_those_errors_may_say_more() -> None:
    for text in GOES_ON:
        assert agrees([f"{text}x"], [f"{text}x, because"])
        assert not agrees([f"{text}x, because"], [f"{text}x"])
    assert not agrees(["raised CLIConnectionError Not connected."], ["raised CLIConnectionError Not connected. Yet."])


def test_a_cost_of_nothing_and_a_negative_duration_are_not_passed_over() -> None:
    texts = ["total_cost_usd=0.0125", "total_cost_usd=0", "'costUSD': 0.0", "duration_ms=12", "duration_ms=-12"]
    shown = ["total_cost_usd=<cost>", *texts[1:3], "duration_ms=<time>", texts[-1]]
    assert normal("\n".join(texts), Path("/nowhere"), "quarterdeck") == shown


def compared(theirs: list[str], ours: list[str], trace: str) -> str:
    return "\n".join(["official:", *theirs, "", "ours:", *ours, "", trace])
