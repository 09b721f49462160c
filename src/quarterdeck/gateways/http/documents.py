"""What is served besides the operations: the page, ``/openapi.json``, and ``/docs`` to try them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from quarterdeck.host import Caller
from quarterdeck.host.requests import CreateToken

from .openapi import LOGIN, Login, document
from .page_files import page_file
from .responses import Fixed, HttpAnswer

__all__ = ["LOGIN", "Login", "page", "page_token"]

DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
)
PAGE_TOKEN_S = 12 * 3600.0
_PAGES = Path(__file__).parent / "pages"
_FILES = {
    "/docs": ("docs.html", "text/html; charset=utf-8"),
    "/docs.js": ("docs.js", "text/javascript; charset=utf-8"),
    "/docs.css": ("docs.css", "text/css; charset=utf-8"),
}


def page(path: str, base_path: str, known: str = "") -> HttpAnswer | None:
    """The document at this path; None: there is none. ``known``: the tags of what the browser has of it."""
    if path == "/openapi.json":
        return Fixed(_openapi(base_path), headers={"cache-control": "no-cache"})
    if path not in _FILES:
        return page_file(path, base_path, known)
    name, media_type = _FILES[path]
    headers = {"content-security-policy": DOCS_POLICY, "cache-control": "no-cache"}
    return Fixed(_file(name), 200, media_type, headers)


@cache
def _openapi(base_path: str) -> bytes:
    return msgspec.json.encode(document(base_path))


@cache
def _file(name: str) -> bytes:
    return (_PAGES / name).read_bytes()


def page_token(caller: Caller) -> CreateToken:
    """The page has what the one who opened it has, for a day's work."""
    return CreateToken(
        name=f"page of {caller.name}",
        scope=caller.scope,
        expires_s=PAGE_TOKEN_S,
        folders=list(caller.folders),
        may_bypass=caller.may_bypass,
    )
