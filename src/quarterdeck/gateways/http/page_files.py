"""The page's files: read and compressed once, each with an ETag."""

from __future__ import annotations

import hashlib
import threading
from functools import cache
from pathlib import Path

from .page_joining import FOLDER, JOINED, joined_file, joined_names
from .responses import Fixed, HttpAnswer

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types dompurify"
)
"""Scripts and styles are files of ours and nothing else; what a model wrote becomes elements only through DOMPurify."""

BELOW = "/app/"
_BASE = b"@BASE@"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
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


def page_file(path: str, base_path: str, known: str = "") -> HttpAnswer | None:
    """The file at this path, or that nothing has changed since the browser got it; None: there is none."""
    name = "index.html" if path == "/" else path.removeprefix(BELOW) if path.startswith(BELOW) else ""
    if name not in _names():
        return None
    if name == "index.html":
        _prepare(base_path.rstrip("/"))
    found = PageFile(name, _contents(name, base_path.rstrip("/")))
    if found.tag in known:
        return HttpAnswer(b"", 304, found.media_type, found.headers)
    return found


@cache
def _prepare(base_path: str) -> None:
    """Join and compress, while the browser reads the document, what it will ask for next."""

    def prepare() -> None:
        for name in sorted(joined_names(), key=lambda name: "markdown" in name):
            if not name.endswith(".map"):
                PageFile(name, _contents(name, base_path)).packed()

    threading.Thread(target=prepare, name="page files", daemon=True).start()


@cache
def _names() -> frozenset[str]:
    """Of the files there are: a path is looked up here, never on disk."""
    written = (path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file())
    return joined_names().union(name for name in written if Path(name).suffix in _KINDS)


@cache
def _contents(name: str, base_path: str) -> bytes:
    body = joined_file(name) if name.startswith(JOINED) else (FOLDER / name).read_bytes()
    return body.replace(_BASE, base_path.encode())
