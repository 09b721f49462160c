"""A test over many cases reports each case that fails, by name."""

from __future__ import annotations

import pytest

from looping import for_each


def test_every_case_runs_and_all_failures_are_reported_by_name() -> None:
    seen: list[int] = []

    @for_each("number", [1, 2, 3, 4], ids=lambda number: f"case {number}")
    def odd(number: int) -> None:
        seen.append(number)
        assert number % 2 == 1

    with pytest.raises(ExceptionGroup, match="2 of 4 cases failed: case 2, case 4") as caught:
        odd()
    assert seen == [1, 2, 3, 4]
    assert [error.__notes__ for error in caught.value.exceptions] == [["case: case 2"], ["case: case 4"]]


def test_a_case_that_should_raise_and_does_not_is_a_failure() -> None:
    @for_each("number", [1])
    def refuse(number: int) -> None:
        with pytest.raises(ValueError, match="one"):
            int(number)

    with pytest.raises(BaseExceptionGroup, match="1 of 1 cases failed: 1"):
        refuse()


async def test_a_coroutine_function_is_awaited_for_each_case() -> None:
    @for_each(("left", "right"), [(1, 1), (1, 2)])
    async def equal(left: int, right: int) -> None:
        assert left == right

    with pytest.raises(ExceptionGroup, match=r"1 of 2 cases failed: \(1, 2\)"):
        await equal()


@for_each("name", ["a", "b"])
def test_fixtures_are_handed_on(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert tmp_path_factory.mktemp(name).is_dir()


def test_a_loop_over_no_cases_is_refused() -> None:
    with pytest.raises(AssertionError, match="there are no cases"):
        for_each("number", [])
