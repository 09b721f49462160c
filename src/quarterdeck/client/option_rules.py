"""What options take: each rule gets a value and the option's name, and returns the value in the form the launch uses.

The rules are as lenient as the official SDK: what it and the CLI accept is accepted, with the same effect. An
``OptionWarning`` says that a value is hardly what was meant. An error (``TypeError`` or ``ValueError``, before anything
is started) is for what the CLI would refuse, and for a guard that would silently not be there.
"""

from __future__ import annotations

import math
import os
import reprlib
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeAlias

Rule: TypeAlias = Callable[[Any, str], Any]


class OptionWarning(UserWarning):
    """An option was accepted, but is probably a mistake."""


def wrong_type(place: str, takes: str, value: object) -> NoReturn:
    raise TypeError(f"{place} takes {takes}, not {type(value).__name__}")


def wrong_value(place: str, takes: str, value: object) -> NoReturn:
    raise ValueError(f"{place} takes {takes}, not {reprlib.repr(value)}")


def warn(message: str) -> None:
    warnings.warn(message, OptionWarning, stacklevel=2)


def anything(value: Any, place: str) -> Any:
    return value


def switch(value: Any, place: str) -> bool:
    """Truthiness, as in an ``if``. Any non-empty string is on, even ``'false'``."""
    if isinstance(value, str):
        warn(f"{place} takes True or False; the string {value!r} counts as {bool(value)}")
    return bool(value)


def exact_switch(value: Any, place: str) -> bool:
    """For what must not be on by accident."""
    if not isinstance(value, bool):
        wrong_type(place, "True or False", value)
    return value


def text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        wrong_type(place, "a string", value)
    return str.__str__(value)  # of an enum its value, not its name


def argument(value: Any, place: str) -> str:
    """A string that a process can be given: no operating system takes one with a NUL in it."""
    checked = str(value) if type(value).__name__ == "UUID" else text(value, place)
    if "\0" in checked:
        raise ValueError(f"{place} takes a string without NUL characters")
    return checked


def name(value: Any, place: str) -> str | None:
    """Unset when it is empty."""
    return argument(value, place) or None


def non_empty(value: Any, place: str) -> str:
    checked = argument(value, place)
    if not checked:
        raise ValueError(f"{place} takes a string that is not empty")
    return checked


def path(value: Any, place: str) -> str:
    if not isinstance(value, str | os.PathLike):
        wrong_type(place, "a string or a Path", value)
    return argument(os.fspath(value), place)


def program(value: Any, place: str) -> str | list[str]:
    """A program, or the command that starts one: a wrapper with its arguments."""
    if isinstance(value, list | tuple):
        if not value:
            wrong_value(place, "at least one word", value)
        return [path(word, f"{place}[{index}]") for index, word in enumerate(value)]
    if not isinstance(value, str | os.PathLike):
        wrong_type(place, "a string, a Path, or a list of words", value)
    return path(value, place)


def callback(value: Any, place: str) -> Any:
    if not callable(value):
        wrong_type(place, "a function", value)
    return value


def listener(value: Any, place: str) -> Any:
    """A callback whose failure ends nothing."""
    if not callable(value):
        warn(f"{place} takes a function, not {type(value).__name__}: it will not be called")
    return value


def number(takes: str, fits: Callable[[float], bool], *, odd: str = "", says: bool = True, unset: bool = False) -> Rule:
    """A number, or where it goes to the CLI (``says``) a string that says one. ``odd``: what comes of others, which the
    CLI accepts as well. ``unset``: 0 and the empty string stand for none."""

    def check(value: Any, place: str) -> Any:
        if unset and not value:
            return None
        if isinstance(value, str) and says:
            try:
                value = float(value) if "." in value else int(value)
            except ValueError:
                wrong_value(place, takes, value)
        if isinstance(value, bool | str) or not hasattr(value, "__float__"):
            wrong_type(place, takes, value)
        if not math.isfinite(value) or not (odd or fits(value)):
            wrong_value(place, takes, value)
        if not fits(value):
            warn(f"{place} takes {takes}; {value} {odd}")
        return value

    return check


def whole(least: int, most: float = math.inf, **how: Any) -> Rule:
    takes = f"a whole number of at least {least}" if most == math.inf else f"a whole number from {least} to {most}"
    return number(takes, lambda value: isinstance(value, int) and least <= value <= most, **how)


positive = number("a number above 0", lambda value: value > 0)
seconds = number("a number above 0", lambda value: value > 0, says=False)
from_zero = number("a number of at least 0", lambda value: value >= 0, says=False)


def words(*choices: str, otherwise: str | None = None, empty: bool = False, open_: bool = False) -> Rule:
    """A closed set. ``otherwise`` is the flag by which a value newer than we are can still be given; ``open_``: the CLI
    ignores other words, so they pass with a warning."""
    takes = "one of " + ", ".join(map(repr, choices))
    if otherwise:
        takes += " (for newer values, use extra_args={{otherwise!r}: …})"

    def check(value: Any, place: str) -> str | None:
        if not isinstance(value, str):
            wrong_type(place, takes, value)
        if value == "" and empty:
            return None
        if value not in choices:
            if not open_:
                wrong_value(place, takes, value)
            warn(f"{place} takes {takes}, not {reprlib.repr(value)}, which will probably be ignored")
        return text(value, place)

    return check


def listed(rule: Rule, takes: str, *, one: bool = True) -> Rule:
    """A list, or anything else to go through once; ``None`` is none. A string is one item, not its letters."""

    def check(value: Any, place: str) -> Any:
        if value is None:
            return []
        if one and isinstance(value, str | os.PathLike):
            warn(f"{place} takes {takes}, not one {type(value).__name__}; it is treated as a list with one item")
            value = [value]
        if not isinstance(value, Iterable) or (not one and isinstance(value, str | Mapping)):
            wrong_type(place, takes, value)
        return [rule(item, f"{place}[{index}]") for index, item in enumerate(value)]

    return check


def mapped(rule: Rule, takes: str) -> Rule:
    """A dict with strings as keys."""

    def check(value: Any, place: str) -> Any:
        if not isinstance(value, Mapping):
            wrong_type(place, takes, value)
        for key in value:
            if not isinstance(key, str):
                wrong_type(f"{place} (its key {reprlib.repr(key)})", "a string", key)
        return {str.__str__(key): rule(item, f"{place}[{key!r}]") for key, item in value.items()}

    return check


def json_value(value: Any, place: str) -> Any:
    """What JSON can say; everything else would fail only when the session starts."""
    if isinstance(value, Mapping):
        return mapped(json_value, "a JSON value")(value, place)
    if isinstance(value, list | tuple):
        return [json_value(item, f"{place}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        wrong_value(place, "a JSON value", value)
    if value is not None and not isinstance(value, str | int | float | bool):
        wrong_type(place, "a JSON value", value)
    return value


json_object = mapped(json_value, "a dict of JSON values")
strings = listed(argument, "a list of strings")


def shape(takes: str, needed: Mapping[str, Rule], allowed: Mapping[str, Rule]) -> Rule:
    """A dict with these keys. Other keys pass unchanged: the CLI may know more than we do."""

    def check(value: Any, place: str) -> Any:
        if not isinstance(value, Mapping):
            wrong_type(place, takes, value)
        checked = {**value}
        for key, rule in {**needed, **allowed}.items():
            if key in needed and key not in value:
                raise ValueError(f"{place} takes {takes}; {key!r} is missing")
            if key in needed or value.get(key) is not None:
                checked[key] = rule(value[key], f"{place}[{key!r}]")
        return checked

    return check


def methods(*names: str) -> Rule:
    def check(value: Any, place: str) -> Any:
        missing = [name for name in names if not callable(getattr(value, name, None))]
        if missing:
            wanted, lacking = (" and ".join(f"{name}()" for name in some) for some in (names, missing))
            raise TypeError(f"{place} takes an object with {wanted}; {type(value).__name__} has no {lacking}")
        return value

    return check
