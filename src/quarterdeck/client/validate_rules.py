"""The parts that rules for options are made of.

A rule is a function: it gets a value and the place it stands in (``env["HOME"]``), and raises ``TypeError`` for a wrong
type or ``ValueError`` for a value that cannot be. The messages say what the option takes. They never show strings that
may be secret, only their type; names and choices are shown.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

Rule: TypeAlias = Callable[[Any, str], None]


def wrong_type(place: str, takes: str, value: object) -> NoReturn:
    raise TypeError(f"{place} takes {takes}, not {type(value).__name__}")


def wrong_value(place: str, takes: str, value: object) -> NoReturn:
    raise ValueError(f"{place} takes {takes}, not {reprlib.repr(value)}")


def optional(rule: Rule) -> Rule:
    def check(value: Any, place: str) -> None:
        if value is not None:
            rule(value, place)

    return check


def flag(value: Any, place: str) -> None:
    if not isinstance(value, bool):
        wrong_type(place, "True or False", value)


def anything(value: Any, place: str) -> None:
    """For options that are not used."""


def text(value: Any, place: str) -> None:
    if not isinstance(value, str):
        wrong_type(place, "a string", value)


def argument(value: Any, place: str) -> None:
    """A string that a process can be given: no operating system takes one with a NUL in it."""
    text(value, place)
    if "\0" in value:
        raise ValueError(f"{place} takes a string without NUL characters")


def named(value: Any, place: str) -> None:
    argument(value, place)
    if not value:
        raise ValueError(f"{place} takes a string that is not empty")


def path(value: Any, place: str) -> None:
    if not isinstance(value, str | Path):
        wrong_type(place, "a string or a Path", value)
    argument(str(value), place)


def program(value: Any, place: str) -> None:
    """A program, or the words that start one: a wrapper with its arguments."""
    if isinstance(value, list | tuple):
        if not value:
            wrong_value(place, "at least one word", value)
        for number, word in enumerate(value):
            argument(word, f"{place}[{number}]")
    elif isinstance(value, str | Path):
        argument(str(value), place)
    else:
        wrong_type(place, "a string, a Path, or a list of words", value)


def callback(value: Any, place: str) -> None:
    if not callable(value):
        wrong_type(place, "a function", value)


def whole_number(least: int, most: int | None = None) -> Rule:
    takes = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def check(value: Any, place: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            wrong_type(place, takes, value)
        if value < least or (most is not None and value > most):
            wrong_value(place, takes, value)

    return check


def positive_number(value: Any, place: str) -> None:
    takes = "a number above 0"
    if not isinstance(value, int | float) or isinstance(value, bool):
        wrong_type(place, takes, value)
    if not (math.isfinite(value) and value > 0):
        wrong_value(place, takes, value)


def number_from_zero(value: Any, place: str) -> None:
    if value != 0 or isinstance(value, bool):
        positive_number(value, place)


def one_of(*choices: str, otherwise: str | None = None) -> Rule:
    """A closed set. ``otherwise`` is the flag by which a value that is newer than we are can still be given."""
    takes = "one of " + ", ".join(map(repr, choices))
    if otherwise:
        takes += f" (a newer one by extra_args={{{otherwise!r}: …}})"

    def check(value: Any, place: str) -> None:
        if not isinstance(value, str):
            wrong_type(place, takes, value)
        if value not in choices:
            wrong_value(place, takes, value)

    return check


def list_of(rule: Rule, takes: str) -> Rule:
    def check(value: Any, place: str) -> None:
        if isinstance(value, str) or not isinstance(value, list | tuple):
            hint = " (put it into a list)" if isinstance(value, str) else ""
            raise TypeError(f"{place} takes {takes}, not {type(value).__name__}{hint}")
        for index, item in enumerate(value):
            rule(item, f"{place}[{index}]")

    return check


def dict_of(rule: Rule, takes: str) -> Rule:
    def check(value: Any, place: str) -> None:
        if not isinstance(value, Mapping):
            wrong_type(place, takes, value)
        for key, item in value.items():
            if not isinstance(key, str):
                wrong_type(f"{place} (its key {reprlib.repr(key)})", "a string", key)
            rule(item, f"{place}[{key!r}]")

    return check


def shape(takes: str, needed: Mapping[str, Rule], allowed: Mapping[str, Rule]) -> Rule:
    """A dict with these keys. Others pass: the CLI may know more than we do."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, Mapping):
            wrong_type(place, takes, value)
        for key, rule in needed.items():
            if key not in value:
                raise ValueError(f"{place} takes {takes}; {key!r} is missing")
            rule(value[key], f"{place}[{key!r}]")
        for key, rule in allowed.items():
            if value.get(key) is not None:
                rule(value[key], f"{place}[{key!r}]")

    return check


def json_value(value: Any, place: str) -> None:
    """What JSON can say; everything else would fail only when the session starts."""
    if isinstance(value, Mapping):
        dict_of(json_value, "what JSON can say")(value, place)
    elif isinstance(value, list | tuple):
        list_of(json_value, "what JSON can say")(value, place)
    elif isinstance(value, float) and not math.isfinite(value):
        wrong_value(place, "what JSON can say", value)
    elif value is not None and not isinstance(value, str | int | float | bool):
        wrong_type(place, "what JSON can say", value)


def json_object(value: Any, place: str) -> None:
    dict_of(json_value, "a dict that JSON can say")(value, place)


def methods(*names: str) -> Rule:
    def check(value: Any, place: str) -> None:
        missing = [name for name in names if not callable(getattr(value, name, None))]
        if missing:
            raise TypeError(
                f"{place} takes an object with {_listed(names)}; {type(value).__name__} has no {_listed(missing)}"
            )

    return check


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"{name}()" for name in names)
