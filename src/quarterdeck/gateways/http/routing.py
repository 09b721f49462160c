"""From a path to the routes at it: a tree of words, with fixed words before parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from .routes import Route

Found: TypeAlias = tuple[dict[str, Route], dict[str, str]]
"""The routes at a path by their methods, and what stands in the place of its parameters."""


class _Node:
    __slots__ = ("parameter", "routes", "words")

    def __init__(self) -> None:
        self.words: dict[str, _Node] = {}
        self.parameter: tuple[str, _Node] | None = None
        self.routes: dict[str, Route] = {}


class Paths:
    """``/approvals/stream`` is not the approval ``stream``."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._root = _Node()
        for route in routes:
            self._add(route)

    def _add(self, route: Route) -> None:
        node = self._root
        for word in route.path.split("/")[1:]:
            if not word.startswith("{"):
                node = node.words.setdefault(word, _Node())
                continue
            name = word[1:-1]
            if node.parameter is None:
                node.parameter = (name, _Node())
            if node.parameter[0] != name:
                raise ValueError(f"{route.path}: the parameter {name} is called {node.parameter[0]} in another path")
            node = node.parameter[1]
        node.routes[route.method] = route

    def find(self, path: str) -> Found | None:
        words = path.split("/")
        return _below(self._root, words, 1) if not words[0] else None


def _below(node: _Node, words: list[str], at: int) -> Found | None:
    while at < len(words):
        word = words[at]
        at += 1
        following, parameter = node.words.get(word), node.parameter
        if parameter is not None and word:
            if following is not None and (found := _below(following, words, at)) is not None:
                return found
            if (found := _below(parameter[1], words, at)) is not None:
                found[1][parameter[0]] = word
            return found
        if following is None:
            return None
        node = following
    return (node.routes, {}) if node.routes else None
