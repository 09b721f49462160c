"""What a turn cost, from running totals that start anew, go on, or fall, as the CLI's version has it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.cost import CostLedger, TurnCost
from quarterdeck.wire import ModelUsage, ResultMessage, Usage, decode

Spent = dict[str, int]
"""Model → tokens; a token costs one thousandth of a dollar, so that sums are exact enough to compare."""


def usage_of(tokens: int) -> dict[str, Any]:
    return {"inputTokens": tokens, "outputTokens": 2 * tokens, "costUSD": tokens / 1000, "contextWindow": 200_000}


def result(**fields: Any) -> ResultMessage:
    message = decode(json.dumps({"type": "result", "subtype": "success", **fields}).encode())
    assert isinstance(message, ResultMessage)
    return message


class Cli:
    """A CLI's bookkeeping. ``carries``: as 2.1.325 does it; else as those up to 2.1.52 do."""

    def __init__(self, carries: bool) -> None:
        self.carries = carries
        self.running: Spent = {}
        self.on_disk: Spent = {}
        self.since: Spent = {}
        self.results = 0

    def spend(self, spent: Spent) -> None:
        for model, tokens in spent.items():
            self.running[model] = self.running.get(model, 0) + tokens
            self.since[model] = self.since.get(model, 0) + tokens

    def end(self, *, killed: bool = False) -> None:
        if not killed:
            self.on_disk = dict(self.running)

    def resume(self) -> None:
        self.running = dict(self.on_disk) if self.carries else {}
        self.since = {}

    def clear(self) -> None:
        if self.carries:
            self.running = {}

    def result(self, *, local_command: bool = False) -> ResultMessage:
        self.results += 1
        hides_models = local_command and not self.carries  # 2.0.77
        fields: dict[str, Any] = {
            "uuid": f"result-{self.results}",
            "total_cost_usd": sum(self.running.values()) / 1000,
            "modelUsage": {} if hides_models else {model: usage_of(n) for model, n in self.running.items()},
        }
        if self.carries:
            fields["model_usage_since_last_result"] = {model: usage_of(n) for model, n in self.since.items()}
        self.since = {}
        return result(**fields)


def tokens_by_model(by_model: dict[str, ModelUsage]) -> Spent:
    return {model: usage.input_tokens for model, usage in by_model.items() if usage.input_tokens}


SPENT = st.dictionaries(st.sampled_from(["opus", "haiku", "sonnet"]), st.integers(1, 10_000), min_size=1, max_size=3)
STEPS: st.SearchStrategy[tuple[str, Spent]] = st.one_of(
    st.tuples(st.just("turn"), SPENT),
    st.tuples(st.just("local"), st.just({})),
    st.tuples(st.just("clear"), st.just({})),
    st.tuples(st.just("resume"), st.just({})),
    st.tuples(st.just("resume after kill"), st.just({})),
)


@given(carries=st.booleans(), steps=st.lists(STEPS, max_size=20))
def test_each_turn_costs_what_was_spent_in_it(carries: bool, steps: list[tuple[str, Spent]]) -> None:
    cli, ledger, expected = Cli(carries), CostLedger(), dict[str, int]()
    for step, spent in steps:
        if step.startswith("resume"):
            cli.end(killed=step.endswith("kill"))
            cli.resume()
            ledger.process_started()
            continue
        if step == "clear":
            cli.clear()
        cli.spend(spent)
        turn = ledger.add(cli.result(local_command=step != "turn"))
        assert turn.cost_usd == pytest.approx(sum(spent.values()) / 1000)
        assert tokens_by_model(turn.by_model) == spent
        for model, tokens in spent.items():
            expected[model] = expected.get(model, 0) + tokens
    assert ledger.total_usd == pytest.approx(sum(expected.values()) / 1000)
    assert tokens_by_model(ledger.by_model) == expected


@given(spent=st.lists(SPENT, min_size=1, max_size=8), resumes=st.lists(st.booleans(), min_size=8, max_size=8))
def test_a_cli_that_tells_differences_needs_no_word_of_a_new_process(spent: list[Spent], resumes: list[bool]) -> None:
    cli, ledger = Cli(carries=True), CostLedger()
    for tokens, resumed in zip(spent, resumes, strict=False):
        if resumed:
            cli.end()
            cli.resume()
        cli.spend(tokens)
        assert ledger.add(cli.result()).cost_usd == pytest.approx(sum(tokens.values()) / 1000)


@given(carries=st.booleans(), spent=st.lists(SPENT, max_size=8))
def test_the_turns_add_up_to_the_total(carries: bool, spent: list[Spent]) -> None:
    cli, ledger = Cli(carries), CostLedger()
    turns = []
    for tokens in spent:
        cli.spend(tokens)
        turns.append(ledger.add(cli.result()))
    assert ledger.total_usd == pytest.approx(sum(turn.cost_usd for turn in turns))
    for model, usage in ledger.by_model.items():
        counted = [turn.by_model[model] for turn in turns if model in turn.by_model]
        assert usage.output_tokens == sum(one.output_tokens for one in counted)
        assert usage.cost_usd == pytest.approx(sum(one.cost_usd for one in counted))


@given(carries=st.booleans(), spent=SPENT)
def test_the_same_result_again_changes_nothing(carries: bool, spent: Spent) -> None:
    cli, ledger = Cli(carries), CostLedger()
    cli.spend(spent)
    message = cli.result()
    first = ledger.add(message)
    assert ledger.add(message) is first
    assert ledger.total_usd == pytest.approx(sum(spent.values()) / 1000)


# Cases by hand


def costs(results: Iterable[ResultMessage]) -> list[float]:
    ledger = CostLedger()
    return [round(ledger.add(message).cost_usd, 9) for message in results]


def test_a_new_ledger_has_cost_nothing() -> None:
    ledger = CostLedger()
    assert (ledger.total_usd, ledger.by_model, ledger.last, ledger.reported_usd) == (0.0, {}, TurnCost(), None)


def test_the_first_result_of_a_resumed_session_is_not_charged_for_what_came_before() -> None:
    ledger = CostLedger()
    turn = ledger.add(
        result(
            total_cost_usd=1.5,
            modelUsage={"opus": usage_of(1500)},
            model_usage_since_last_result={"opus": usage_of(500)},
        )
    )
    assert turn.cost_usd == 0.5
    assert ledger.total_usd == 0.5
    assert ledger.reported_usd == 1.5


def test_what_was_spent_before_a_clear_comes_with_its_result() -> None:
    """A side question, then ``/clear``: the totals are 0, the difference is not (2.1.325)."""
    ledger = CostLedger()
    ledger.add(result(total_cost_usd=1.0, modelUsage={"m": usage_of(1000)}))
    cleared = ledger.add(result(total_cost_usd=0, modelUsage={}, model_usage_since_last_result={"m": usage_of(8)}))
    assert cleared.cost_usd == 0.008
    assert ledger.total_usd == pytest.approx(1.008)
    assert ledger.reported_usd == 0.0


def test_totals_that_fall_have_started_anew() -> None:
    one, other = {"a": usage_of(1000)}, {"a": usage_of(200)}
    assert costs([result(total_cost_usd=1.0, modelUsage=one), result(total_cost_usd=0.2, modelUsage=other)]) == [
        1.0,
        0.2,
    ]


def test_a_models_counts_that_fall_have_started_anew_also_where_nothing_is_charged() -> None:
    ledger = CostLedger()
    ledger.add(result(total_cost_usd=0, modelUsage={"free": {"inputTokens": 9, "outputTokens": 9}}))
    turn = ledger.add(result(total_cost_usd=0, modelUsage={"free": {"inputTokens": 4, "outputTokens": 1}}))
    assert turn.by_model == {"free": {"inputTokens": 4, "outputTokens": 1}}


def test_a_local_command_that_hides_its_models_does_not_make_them_count_twice() -> None:
    """2.0.77: ``/clear`` and ``/cost`` have an empty ``modelUsage`` beside an unchanged total."""
    ledger = CostLedger()
    ledger.add(result(total_cost_usd=1.0, modelUsage={"m": usage_of(1000)}))
    assert ledger.add(result(total_cost_usd=1.0, modelUsage={})) == TurnCost()
    assert tokens_by_model(ledger.add(result(total_cost_usd=1.5, modelUsage={"m": usage_of(1500)})).by_model) == {
        "m": 500
    }


def test_models_that_were_not_used_in_a_turn_are_left_out() -> None:
    ledger = CostLedger()
    ledger.add(result(total_cost_usd=1.0, modelUsage={"a": usage_of(1000)}))
    turn = ledger.add(result(total_cost_usd=3.0, modelUsage={"a": usage_of(1000), "b": usage_of(2000)}))
    assert tokens_by_model(turn.by_model) == {"b": 2000}


def test_a_result_without_cost_costs_nothing_and_the_next_brings_what_is_missing() -> None:
    told = {"m": usage_of(3000)}
    assert costs([result(total_cost_usd=1.0), result(), result(total_cost_usd=3.0, modelUsage=told)]) == [1.0, 0.0, 2.0]


def test_without_a_total_the_models_make_the_cost() -> None:
    first, second = {"m": usage_of(1000)}, {"m": usage_of(1500)}
    assert costs([result(modelUsage=first), result(modelUsage=second), result(total_cost_usd=2.0)]) == [1.0, 0.5, 0.5]


def test_a_difference_of_an_unexpected_shape_is_worked_out_from_the_totals() -> None:
    odd = result(total_cost_usd=1.0, modelUsage={"m": usage_of(1000)}, model_usage_since_last_result="all of it")
    assert costs([odd]) == [1.0]


def test_the_turns_own_token_counts_are_passed_on() -> None:
    turn = CostLedger().add(result(total_cost_usd=1, usage={"input_tokens": 7, "output_tokens": 3}))
    assert turn.usage == Usage(input_tokens=7, output_tokens=3)


def test_a_difference_keeps_what_describes_the_model_and_leaves_unknown_counts_unknown() -> None:
    ledger = CostLedger()
    described = {"contextWindow": 200_000, "maxOutputTokens": 64_000, "provider": "firstParty"}
    before = {"inputTokens": 10, "costUSD": 1.0, **described}
    after = {"inputTokens": 15, "thinkingTokens": 4, "costUSD": 1.5, **described}
    ledger.add(result(total_cost_usd=1.0, modelUsage={"m": before}))
    turn = ledger.add(result(total_cost_usd=1.5, modelUsage={"m": after}))
    assert turn.by_model == {
        "m": ModelUsage(
            input_tokens=5,
            cost_usd=0.5,
            context_window=200_000,
            max_output_tokens=64_000,
            thinking_tokens=4,
            provider="firstParty",
        )
    }
