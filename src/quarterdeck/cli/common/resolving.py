"""What a word names: a session by its id, a unique prefix of it, or its title."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

LONGER_PREFIX = "Use a longer prefix."
T = TypeVar("T")


def matching(
    wanted: str, listed: Sequence[T], *, ids: Callable[[T], Iterable[str]], title: Callable[[T], str]
) -> list[T]:
    """All matches of the strictest kind that has any: an id, a title, the start of an id, the start of a title.

    Case does not matter.
    """
    word = wanted.strip().casefold()
    if not word:
        return []
    kinds: tuple[Callable[[T], bool], ...] = (
        lambda one: word in (given.casefold() for given in ids(one)),
        lambda one: title(one).casefold() == word,
        lambda one: any(given.casefold().startswith(word) for given in ids(one)),
        lambda one: title(one).casefold().startswith(word),
    )
    return next((found for is_meant in kinds if (found := [one for one in listed if is_meant(one)])), [])
