"""One test over many cases: each case runs, and those that fail are reported together, by name.

``@for_each`` reads like ``pytest.mark.parametrize``. Use it where the cases are data (recordings, a table of commands)
and a test per case would only slow down collection and fill the report; parametrise where a reader wants to run one
case alone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

SHOWN = 10
"""How many failures are shown with their tracebacks; the others are named."""

Test = Callable[..., Any]


def for_each(
    arguments: str | Sequence[str],
    cases: Iterable[Any],
    *,
    ids: Callable[[Any], str] | Sequence[str] | None = None,
) -> Callable[[Test], Test]:
    """Run the test once with each case.

    Args:
        arguments: The parameters of the test that a case fills: one name, or several, and then each case is a tuple.
            The other parameters are fixtures, made once for all cases.
        cases: What to run the test with.
        ids: What a case is called in the report: a function of the case, or one name for each. By default its ``repr``.
    """
    names = [arguments] if isinstance(arguments, str) else list(arguments)
    all_cases = list(cases)
    labels = [ids(case) for case in all_cases] if callable(ids) else ids or list(map(repr, all_cases))
    filled = [dict(zip(names, (case,) if isinstance(arguments, str) else case, strict=True)) for case in all_cases]
    assert filled, "there are no cases, so the test would show nothing"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            with _Failures(len(filled)) as failures:
                for label, case in zip(labels, filled, strict=True):
                    with failures.noted(label):
                        test(**fixtures, **case)

        @functools.wraps(test)
        async def run_async(**fixtures: Any) -> None:
            with _Failures(len(filled)) as failures:
                for label, case in zip(labels, filled, strict=True):
                    with failures.noted(label):
                        await test(**fixtures, **case)

        loop = run_async if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in names]
        loop.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return loop

    return decorate


class _Failures:
    """Collects what cases raise; leaving it raises all of that as one group."""

    def __init__(self, cases: int) -> None:
        self.cases = cases
        self.errors: list[tuple[str, BaseException]] = []

    @contextmanager
    def noted(self, label: str) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # raised again, with the others
            error.add_note(f"case: {label}")
            self.errors.append((label, error))

    def __enter__(self) -> _Failures:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if self.errors and error is None:
            failed = f"{len(self.errors)} of {self.cases} cases failed: {', '.join(label for label, _ in self.errors)}"
            raise BaseExceptionGroup(failed, [error for _, error in self.errors[:SHOWN]])
