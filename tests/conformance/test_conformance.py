"""The list of scenarios: the simulator and the newest CLI pass it, and the document says what the last run found."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import needs
from conformance.__main__ import main
from conformance.report import as_json, as_markdown, failures, merged
from conformance.runner import SIMULATOR, Outcome, Target, play, play_all, real_cli, simulator
from conformance.scenario import Scenario, all_scenarios
from conformance.simulated import SimulatedStage
from conformance.stage import Differs, NotThere, Stage, bash
from quarterdeck.testing.install import NEWEST, SUPPORTED
from quarterdeck.wire import PermissionResultAllow

ROOT = Path(__file__).parents[2]
DOCUMENT: dict[str, Any] = json.loads((ROOT / "docs" / "compatibility.json").read_bytes())
SCENARIOS = all_scenarios()
NOT_CLAIMED_LIMIT = 8
"""More things that the simulator does not claim are a decision."""

# Scenarios give callbacks that must not be called, to see that they are not
pytestmark = pytest.mark.filterwarnings("ignore::quarterdeck.client.CanUseToolShadowedWarning")


# The document


def test_the_document_is_what_the_results_render_to() -> None:
    assert (ROOT / "docs" / "compatibility.md").read_text("utf-8") == as_markdown(DOCUMENT)


def test_the_document_has_every_scenario_as_it_is_today() -> None:
    told = {row["id"]: (row["group"], row["title"], row["sources"]) for row in DOCUMENT["scenarios"]}
    assert told == {one.id: (one.group, one.title, list(one.sources)) for one in SCENARIOS.values()}
    assert len(told) >= 80


def test_the_document_has_all_versions_and_the_simulator_for_every_scenario() -> None:
    assert {tuple(row["outcomes"]) for row in DOCUMENT["scenarios"]} == {(*SUPPORTED, SIMULATOR)}


def test_the_newest_cli_the_simulator_and_the_official_sdks_have_passed() -> None:
    assert failures(DOCUMENT) == []
    assert {row["outcomes"][NEWEST]["status"] for row in DOCUMENT["scenarios"]} == {"pass"}
    assert [(peer["version"], len(peer["outcomes"])) for peer in DOCUMENT["peers"]] == [("0.2.182", 3), ("0.3.325", 3)]


def test_whatever_is_not_a_pass_says_how() -> None:
    outcomes = [outcome for row in DOCUMENT["scenarios"] for outcome in row["outcomes"].values()]
    assert [outcome for outcome in outcomes if outcome["status"] != "pass" and not outcome.get("detail")] == []


def test_the_claims_that_scenarios_show_are_claims() -> None:
    claims = tomllib.loads((ROOT / "tests" / "requirements.toml").read_text("utf-8"))["claim"]
    shown = {source for one in SCENARIOS.values() for source in one.sources}
    assert shown - {claim["id"] for claim in claims} == set()


def test_the_simulator_claims_nearly_everything() -> None:
    assert sum(one.simulator is not None for one in SCENARIOS.values()) <= NOT_CLAIMED_LIMIT


# The scenarios


@pytest.mark.parametrize("name", [one.id for one in SCENARIOS.values() if one.simulator is None])
async def test_the_simulator_does_what_the_newest_cli_does(name: str) -> None:
    outcome = await play(SCENARIOS[name], simulator())
    assert (outcome.status, outcome.detail) == ("pass", "")


@pytest.mark.real
@pytest.mark.parametrize("group", dict.fromkeys(one.group for one in SCENARIOS.values()))
async def test_the_newest_cli_still_does_it(group: str) -> None:
    chosen = [one for one in SCENARIOS.values() if one.group == group]
    found = await play_all(chosen, [newest_cli()], on_outcome=lambda *_: None, at_once=1)
    outcomes = {name: by_cli[NEWEST] for name, by_cli in found.items()}
    assert {name: outcome.detail for name, outcome in outcomes.items() if outcome.status != "pass"} == {}


def newest_cli() -> Target:
    needs.real_cli()
    return real_cli(NEWEST)


# The runner


def _scenario(play_it: Any, **more: Any) -> Scenario:
    return Scenario("sample", "turns", "A sample", play_it, **more)


async def _judged(play_it: Any, **more: Any) -> Outcome:
    outcome = await play(_scenario(play_it, **more), simulator())
    return Outcome(outcome.status, outcome.detail)


async def test_what_differs_is_told_without_folders_and_ids() -> None:
    async def differs(stage: Stage) -> None:
        raise Differs(f"{stage.cwd}  has 11111111-2222-4333-8444-555555555555")

    assert await _judged(differs) == Outcome("differs", "<folder>/repo has <uuid>")


async def test_what_a_cli_lacks_is_not_there() -> None:
    async def lacks(stage: Stage) -> None:
        raise NotThere("no such message")

    async def unsupported(stage: Stage) -> None:
        async with stage.session() as session:
            await session.request("ask_the_oracle")

    assert await _judged(lacks) == Outcome("not there", "no such message")
    assert (await _judged(unsupported)).status == "not there"


async def test_an_option_that_has_no_effect_is_not_there() -> None:
    async def ignored(stage: Stage) -> None:
        stage.ignored.add("title")
        raise Differs("no title")

    assert await _judged(ignored) == Outcome("not there", "title has no effect")


async def test_an_error_of_the_client_is_a_difference() -> None:
    async def raises(stage: Stage) -> None:
        raise ValueError("odd")

    assert await _judged(raises) == Outcome("differs", "ValueError: odd")


async def test_what_the_simulator_does_not_claim_is_not_played() -> None:
    async def never(stage: Stage) -> None:
        raise AssertionError("it was played")

    assert await _judged(never, simulator="for a reason") == Outcome("not claimed", "for a reason")


@pytest.mark.parametrize("error", [Differs("a scenario before it was in the way"), TimeoutError()])
async def test_what_may_be_the_fault_of_others_is_played_again_alone(error: Exception) -> None:
    folders: list[Path] = []

    async def once(stage: Stage) -> None:
        folders.append(stage.folder)
        if len(folders) == 1:
            raise error

    target = Target("9.9.9", SimulatedStage)
    found = await play_all([_scenario(once)], [target], on_outcome=lambda *_: None)
    assert (found["sample"]["9.9.9"].status, len(set(folders))) == ("pass", 2)


async def test_scenarios_in_a_row_share_a_session_but_not_their_callbacks() -> None:
    sessions: set[int] = set()
    asked: list[str] = []

    def asks(name: str) -> Any:
        async def play_it(stage: Stage) -> None:
            async def decide(*_: Any) -> PermissionResultAllow:
                asked.append(name)
                return PermissionResultAllow()

            stage.reply(bash(f"touch {name}"))
            stage.reply("Done.")
            async with stage.session(can_use_tool=decide) as session:
                sessions.add(id(session))
                await session.prompt("go")
            assert [path.name for path in stage.cwd.iterdir()] == [name]
            assert len(stage.heard) == 2

        return play_it

    listed = [Scenario(name, "turns", name, asks(name)) for name in ("one", "two")]
    target = Target("9.9.9", SimulatedStage)
    found = await play_all(listed, [target], on_outcome=lambda *_: None, at_once=1)
    assert {by_cli["9.9.9"].detail for by_cli in found.values()} == {""}
    assert (len(sessions), asked) == (1, ["one", "two"])


def test_the_document_tells_what_differs_once_for_all_clis_that_do_the_same() -> None:
    one = _scenario(None)
    outcomes = {"sample": {"1": Outcome("differs", "a | b"), "2": Outcome("differs", "a | b"), NEWEST: Outcome("pass")}}
    document = as_json([one], outcomes, newest=NEWEST)
    text = as_markdown(document)
    assert "| A sample (`sample`) | ≠ | ≠ | ✓ |" in text
    assert "- `sample` on 1, 2: differs: a \\| b" in text
    assert failures(document) == []


def test_a_newest_cli_that_does_not_pass_is_a_failure() -> None:
    outcomes = {"sample": {NEWEST: Outcome("differs", "why"), SIMULATOR: Outcome("not claimed", "because")}}
    assert failures(as_json([_scenario(None)], outcomes, newest=NEWEST)) == [f"sample on {NEWEST}: differs: why"]


def test_a_run_of_one_version_keeps_what_is_known_of_the_others() -> None:
    first = as_json([_scenario(None)], {"sample": {"1": Outcome("pass"), "2": Outcome("differs", "why")}}, newest="2")
    again = merged(first, {"sample": {"2": Outcome("pass")}, "other": {"1": Outcome("pass")}}, order=["1", "2"])
    assert again == {"sample": {"1": Outcome("pass"), "2": Outcome("pass")}, "other": {"1": Outcome("pass")}}


# The command


def test_the_command_lists_and_says_when_nothing_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--only", "plain_turn"]) == 0
    assert "A turn is init, assistant, result" in capsys.readouterr().out
    assert main(["--only", "no-such-scenario"]) == 2
    assert "--list" in capsys.readouterr().err


def test_the_command_plays_and_writes_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--versions", "simulator", "--only", "plain_turn", "--json", "--write", str(tmp_path)]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "compatibility.json").read_bytes()) == document
    assert (tmp_path / "compatibility.md").read_text("utf-8") == as_markdown(document)
    assert document["scenarios"][0]["outcomes"] == {SIMULATOR: {"status": "pass"}}
