"""Packages whose names are imported on first use, each from the module that defines it and no other.

::

    if TYPE_CHECKING:
        from .blocks import *

    __all__: list[str] = []
    _names = LazyNames(globals())
    _names.of(".blocks")
    __all__ += ["TextBlock", "ThinkingBlock"]

A name is written once, in ``__all__``, as a literal: type checkers read it there, find the name by the imports that
only they see, and report one that does not exist. A module that also defines what is not public has its public names
imported one by one instead of by a star.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, without importing typing: some commands start in milliseconds
if TYPE_CHECKING:
    from typing import Any


class LazyNames:
    """The names of one package; the package's ``__getattr__`` and ``__dir__``, unseen by type checkers."""

    def __init__(
        self, namespace: dict[str, Any], *, rooms: tuple[str, ...] = (), modules: tuple[str, ...] = ()
    ) -> None:
        """``rooms``: packages that have the names of this one; the first that has a name counts.

        ``modules``: submodules that programs reach as attributes without importing them.
        """
        self._namespace = namespace
        self._rooms = rooms
        self._modules = modules
        self._marks: list[tuple[int, str]] = []
        self._homes: dict[str, str] | None = None
        namespace["__getattr__"] = self._find
        namespace["__dir__"] = self._list

    def of(self, module: str) -> None:
        """What is added to ``__all__`` from here on is defined in this module, named as in an import statement."""
        self._marks.append((len(self._namespace["__all__"]), module))

    def homes(self) -> dict[str, str]:
        """Name → the module that has it."""
        if self._homes is None:
            self._homes = self._from_rooms() if self._rooms else self._from_marks()
        return self._homes

    def _from_rooms(self) -> dict[str, str]:
        from importlib import import_module

        return {name: room for room in reversed(self._rooms) for name in import_module(room).__all__}

    def _from_marks(self) -> dict[str, str]:
        names: list[str] = self._namespace["__all__"]
        ends = [start for start, _ in self._marks[1:]] + [len(names)]
        parts = zip(self._marks, ends, strict=True)
        return {name: module for (start, module), end in parts for name in names[start:end]}

    def _find(self, name: str) -> Any:
        from importlib import import_module

        package = self._namespace["__name__"]
        if name in self._modules:
            return import_module(f"{package}.{name}")
        if name == "__all__" and self._rooms:
            value: Any = sorted(self.homes())
        elif name in self.homes():
            value = getattr(import_module(self.homes()[name], package), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        self._namespace[name] = value
        return value

    def _list(self) -> list[str]:
        return sorted({*self._namespace, *(self._namespace.get("__all__") or self._find("__all__"))})
