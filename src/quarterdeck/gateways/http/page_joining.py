"""The page's modules and styles joined into a few files, so that a browser asks for five of them and not for sixty.

The sources stay as they are written. Each module becomes a function that returns what it exports, those that others
need first, and keeps its lines: a source map leads a debugger from the joined file to the sources, served as well.
What no browser reads is left out: comments, types and indentation. Libraries stay whole, with their licences.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from posixpath import dirname, normpath

import msgspec

FOLDER = Path(__file__).parent / "pages" / "app"
JOINED = "joined/"
MAIN = "main.js"
LATER = ("parts/markdown_library.js", "views/overviews.js")
"""Modules that are fetched with all they need when they are needed."""
APART = ("net/early.js",)
"""Modules that the document runs by themselves."""
STYLES = ("styles/base.css", "styles/views.css", "styles/items.css")

_TAKES = r"import(?<![^\n;}]import)\b"
_GIVES = r"export(?<![^\n;}]export)\b"
_FROM = r"""\s*['"](?P<path>\.[^'"]+\.js)['"];?"""
_IMPORT = re.compile(_TAKES + r"(?P<names>[^;=()'\"]*?)(?:\bfrom|(?<=\})from|(?<=import))" + _FROM)
_PASSED_ON = re.compile(_GIVES + r"\s*\{(?P<names>[^}]*)\}\s*from" + _FROM)
_LISTED = re.compile(_GIVES + r"\s*\{(?P<names>[^}]*)\};?")
_DEFAULT = re.compile(_GIVES + r" default\b")
_DECLARED = re.compile(_GIVES + r" (?=(?:const|class|(?:async )?function\*?)\s+(?P<name>[\w$]+))")
_FETCHED = re.compile(r"""import\(\s*['"](?P<path>\.[^'"]+\.js)['"]\s*\)""")
_COMMENT = re.compile(r"/\*\*?\s.*?\*/|^ *//.*?$|^ +", re.DOTALL | re.MULTILINE)
"""And what stands before a line: in the page's own templates nothing depends on it."""
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def joined_names() -> frozenset[str]:
    scripts = [f"{JOINED}{name}{ending}" for name in (MAIN, *LATER) for ending in ("", ".map")]
    return frozenset([*scripts, f"{JOINED}page.css"])


@cache
def joined_file(name: str) -> bytes:
    """One of them."""
    name = name.removeprefix(JOINED)
    if name == "page.css":
        return "\n".join(_COMMENT.sub("", (FOLDER / style).read_text()) for style in STYLES).encode()
    if name.endswith(".map"):
        return _source_map(name.removesuffix(".map"))
    return "\n".join(line for line, _ in _joined(name)).encode()


Line = tuple[str, tuple[str, int] | None]
"""A line of a joined file, and where it is from: the module and the number of its line there."""


@cache
def _joined(entry: str) -> list[Line]:
    elsewhere = module_order(MAIN) if entry != MAIN else []
    modules = [name for name in module_order(entry) if name not in elsewhere]
    head = [f"import * as {_variable(name)} from '{_way(entry, name)}';" for name in modules if name in APART]
    if elsewhere:
        head.append(f"import {{ modules }} from '{_way(entry, JOINED + MAIN)}';")
        head += [f"const {_variable(name)} = modules[{name!r}];" for name in elsewhere if name not in APART]
    modules = [name for name in modules if name not in APART]
    lines: list[Line] = [(line, None) for line in head]
    for name in modules:
        text, exported = _wrapped(name, entry)
        lines.append((f"const {_variable(name)} = (() => {{", None))
        lines += [(line, (name, number)) for number, line in enumerate(text.split("\n"))]
        lines += [(f"return {{ {exported} }};", None), ("})();", None)]
    if entry == MAIN:
        given = ", ".join(f"{name!r}: {_variable(name)}" for name in modules)
        lines.append((f"export const modules = {{ {given} }};", None))
    else:
        given = ", ".join(sorted(_exports(entry)))
        lines.append((f"export const {{ {given} }} = {_variable(entry)};", None))
    return [*lines, (f"//# sourceMappingURL={Path(entry).name}.map", None)]


def _wrapped(name: str, entry: str) -> tuple[str, str]:
    """A module without its imports and exports, each line in its place; and what it exports, as properties."""
    text = _needed_text(name).rstrip("\n")
    exported = [f"{known}: {value}" for known, value in _exports(name).items()]

    def imported(found: re.Match[str]) -> str:
        whole = _names(found["names"])
        kept = "\n" * found[0].count("\n")
        return f"const {{ {whole} }} = {_variable(_needed(name, found['path']))};{kept}" if whole else kept

    def fetched(found: re.Match[str]) -> str:
        needed = _needed(name, found["path"])
        return f"import('{_way(entry, JOINED + needed if needed in LATER else needed)}')"

    text = _PASSED_ON.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = _IMPORT.sub(imported, text)
    text = _LISTED.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = _DEFAULT.sub("const $default =", text)
    text = _DECLARED.sub("", text)
    return _FETCHED.sub(fetched, text), ", ".join(exported)


@cache
def _exports(name: str) -> dict[str, str]:
    """What a module exports: by its name there, how it is called inside."""
    text = _needed_text(name)
    found = {one["name"]: one["name"] for one in _DECLARED.finditer(text)}
    if _DEFAULT.search(text):
        found["default"] = "$default"
    for one in _PASSED_ON.finditer(text):
        source = _variable(_needed(name, one["path"]))
        found |= {outside: f"{source}.{inside}" for inside, outside in _pairs(one["names"])}
    for one in _LISTED.finditer(_PASSED_ON.sub("", text)):
        found |= {outside: inside for inside, outside in _pairs(one["names"])}
    return found


def _names(told: str) -> str:
    """``htm, { h, render as draw }`` as a pattern that takes properties apart."""
    listed = re.search(r"\{([^}]*)\}", told)
    pairs = [f"{inside}: {outside}" for inside, outside in _pairs(listed[1] if listed else "")]
    alone = re.sub(r"\{[^}]*\}|,", "", told).strip()
    return ", ".join([*([f"default: {alone}"] if alone else []), *pairs])


def _pairs(told: str) -> list[tuple[str, str]]:
    """``a, b as c``: the name before and after ``as``."""
    words = [one.split() for one in told.split(",") if one.strip()]
    return [(one[0], one[-1]) for one in words]


@cache
def module_order(entry: str) -> list[str]:
    """The modules without which this one does not run, and itself: each after those that it needs."""
    found: dict[str, None] = {}
    _walk(entry, (), found)
    return list(found)


def _walk(name: str, above: tuple[str, ...], found: dict[str, None]) -> None:
    if name in above:
        raise ValueError(f"modules need each other: {' → '.join([*above, name])}")
    text = _source(name)
    needed = [one["path"] for pattern in (_IMPORT, _PASSED_ON) for one in pattern.finditer(text)]
    for path in [] if name in APART else needed:
        if (other := _needed(name, path)) not in found:
            _walk(other, (*above, name), found)
    found[name] = None


def _needed(name: str, path: str) -> str:
    return normpath(f"{dirname(name)}/{path}" if "/" in name else path)


@cache
def _source(name: str) -> str:
    return (FOLDER / name).read_text()


def _needed_text(name: str) -> str:
    text = _source(name)
    if name.startswith("vendor/"):
        return text
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _way(entry: str, name: str) -> str:
    """From the joined file to a file of the page."""
    return "../" * (JOINED + entry).count("/") + name


def _source_map(entry: str) -> bytes:
    """Line by line: from which source, and from which line of it."""
    origins = [origin for _, origin in _joined(entry)]
    sources = list(dict.fromkeys(origin[0] for origin in origins if origin))
    told, before = [], (0, 0)
    for origin in origins:
        here = (sources.index(origin[0]), origin[1]) if origin else before
        told.append(f"A{_number(here[0] - before[0])}{_number(here[1] - before[1])}A" if origin else "")
        before = here
    ways = [_way(entry, name) for name in sources]
    return msgspec.json.encode({"version": 3, "sources": ways, "names": [], "mappings": ";".join(told)})


def _number(value: int) -> str:
    """In base 64, five bits at a time, the sign last: as a source map has it."""
    rest, digits = (abs(value) << 1) | (value < 0), ""
    while True:
        digit, rest = rest & 31, rest >> 5
        digits += _BASE64[digit | (32 if rest else 0)]
        if not rest:
            return digits
