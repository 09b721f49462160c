"""Python, and what is installed for it."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from quarterdeck import __version__

from .finding import Finding

MSGSPEC = (0, 20)
EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "terminal": (("rich", "prompt_toolkit"), "Markdown and line editing in run and chat"),
    "policy": (("tree_sitter", "tree_sitter_bash"), "rules about shell commands"),
    "testing": (("yaml",), "scenarios in YAML"),
    "mcp": (("mcp",), "tool servers made with the mcp package"),
    "otel": (("opentelemetry",), "traces of sessions"),
}
"""Extra → (modules, what it is for)."""


def python() -> list[Finding]:
    told = f"Python {platform.python_version()}, quarterdeck {__version__}, msgspec {_version('msgspec')}"
    return [Finding("Python", "python", "ok", told, details={"executable": sys.executable}), *_msgspec(), *_extras()]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _msgspec() -> Iterator[Finding]:
    found = _version("msgspec")
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdecimal())
    if len(numbers) == 2 and numbers < MSGSPEC:
        advice = "pip install --upgrade msgspec"
        yield Finding("Python", "msgspec", "problem", f"msgspec {found} is too old: 0.20 is needed", advice)


def _extras() -> Iterator[Finding]:
    for extra, (modules, purpose) in EXTRAS.items():
        missing = [module for module in modules if not _is_there(module)]
        if missing:
            what = f"{', '.join(missing)} not installed; needed for {purpose}"
            advice = f"if you want that: pip install 'quarterdeck[{extra}]'"
            yield Finding("Python", f"extra-{extra}", "warning", what, advice, {"missing": missing})


def _is_there(module: str) -> bool:
    return find_spec(module) is not None
