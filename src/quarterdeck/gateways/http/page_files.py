"""The page's files: read and compressed once, each with an ETag."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from .responses import Answer, Fixed

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types dompurify"
)
"""Scripts and styles are files of ours and nothing else; what a model wrote becomes elements only through DOMPurify."""

FOLDER = Path(__file__).parent / "pages" / "app"
BELOW = "/app/"
_BASE = b"@BASE@"
_PRELOAD = b"<!-- preload -->"
LATER = frozenset(
    [
        *("vendor/diff.js", "vendor/markdown-it.js", "vendor/purify.js", "parts/markdown_library.js"),
        *(f"views/{name}.js" for name in ("audit", "policy", "settings", "usage")),
    ]
)
"""Modules that are fetched when they are needed."""
_AT_ONCE = frozenset(["main.js", "net/early.js"])
"""Modules that the document itself runs."""
_IMPORT = re.compile(r"""(?:^|[;}])(?:import|export)\b[^;=()'"]*['"](\.[^'"]+\.js)['"]""", re.MULTILINE)
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".LICENSE": "text/plain; charset=utf-8",
}


class PageFile(Fixed):
    """A file, as it is and compressed."""

    def __init__(self, name: str, body: bytes) -> None:
        tag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
        headers = {"content-security-policy": PAGE_POLICY, "cache-control": "no-cache", "etag": tag}
        super().__init__(body, 200, _KINDS[Path(name).suffix], {**headers, "vary": "accept-encoding"})
        self.tag = tag


def page_file(path: str, base_path: str, known: str = "") -> Answer | None:
    """The file at this path, or that nothing has changed since the browser got it; None: there is none."""
    name = "index.html" if path == "/" else path.removeprefix(BELOW) if path.startswith(BELOW) else ""
    if name not in _names():
        return None
    found = PageFile(name, _contents(name, base_path.rstrip("/")))
    if found.tag in known:
        return Answer(b"", 304, found.media_type, found.headers)
    return found


@cache
def _names() -> frozenset[str]:
    """Of the files there are: a path is looked up here, never on disk."""
    return frozenset(
        path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file() and path.suffix in _KINDS
    )


@cache
def _contents(name: str, base_path: str) -> bytes:
    body = (FOLDER / name).read_bytes()
    if name == "index.html":
        body = body.replace(_PRELOAD, "\n".join(_preloads()).encode())
    return body.replace(_BASE, base_path.encode())


def _preloads() -> list[str]:
    """All modules at once, in the order in which they are needed: otherwise a browser discovers each only after reading
    the one that imports it."""
    first = [*_needed_by("main.js"), *_needed_by("views/sessions.js"), *_needed_by("views/inbox.js")]
    others = sorted(name for name in _names() if name.endswith(".js") and name not in LATER)
    scripts = [name for name in dict.fromkeys([*first, *others]) if name not in _AT_ONCE]
    return [f'<link rel="modulepreload" href="@BASE@{BELOW}{name}">' for name in scripts]


@cache
def _needed_by(name: str) -> list[str]:
    """The modules without which this one does not run, and itself, those nearest to the end of the chain first."""
    found: dict[str, None] = {}
    for path in _IMPORT.findall((FOLDER / name).read_text()):
        needed = (FOLDER / name).parent.joinpath(path).resolve().relative_to(FOLDER.resolve()).as_posix()
        found |= dict.fromkeys(_needed_by(needed))
    return [*found, name]
