"""The host of a URL as browsers read it (the WHATWG URL standard), and whether there is any doubt about it.

``https:evil.org``, ``https:///evil.org``, ``https://%65vil.org`` and the same in full-width letters lead to evil.org.
An allow rule needs a URL that has one reading only. For deny rules every host is listed that some reader could see.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from urllib.parse import unquote_to_bytes, urlsplit

MAX_LENGTH = 8_000
"""Longer URLs are not read."""

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PLAIN = re.compile(
    rf"https?://({_LABEL}(?:\.{_LABEL})*)\.?(?::[1-5]?[0-9]{{1,4}})?(?:[/?#][\x21-\x7e]*)?\Z", re.IGNORECASE | re.ASCII
)
_AROUND = "".join(map(chr, range(0x21)))
"""Control characters and the blank, which are dropped from both ends."""
_INSIDE = str.maketrans("", "", "\t\n\r")
_SPECIAL = re.compile(r"(?:https?|wss?|ftp):[/\\]*", re.IGNORECASE | re.ASCII)
_OTHER = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}", re.IGNORECASE)
_AUTHORITY = re.compile(r"[^/\\?#]*")
_DOTS = str.maketrans({"\u3002": ".", "\uff0e": ".", "\uff61": "."})
_IGNORED = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
                      "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]")  # fmt: skip
"""Characters that the mapping of host names drops."""
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)\Z", re.IGNORECASE | re.ASCII)


def hosts_of(url: str) -> tuple[str | None, tuple[str, ...]]:
    """The host, if there is no doubt about it, and every host that some reader of URLs could see."""
    if len(url) > MAX_LENGTH:
        return None, ()
    plain = _PLAIN.match(url)
    if plain is not None:
        host = plain[1].lower()
        if not _looks_numeric(host) and "xn--" not in host:
            return host, (host,)
        if _dotted(host):
            return host, (host,)
    seen: dict[str, None] = {}
    for authority in _authorities(url):
        for host in _readings(authority):
            seen[host] = None
    return None, tuple(seen)


def _authorities(url: str) -> list[str]:
    """Candidates for the part with the host: for browsers, and for parsers that stop at fewer characters."""
    text = url.strip(_AROUND).translate(_INSIDE)
    found: list[str] = []
    for scheme in (_SPECIAL, _OTHER):
        head = scheme.match(text)
        if head is not None:
            rest = text[head.end() :]
            found += [_AUTHORITY.match(rest)[0], rest.split("/")[0]]  # type: ignore[index]  # it always matches
    with contextlib.suppress(ValueError):
        found.append(urlsplit(text).netloc)
    found.append(_AUTHORITY.match(text)[0])  # type: ignore[index]  # without a scheme
    return [authority for authority in dict.fromkeys(found) if authority]


def _readings(authority: str) -> list[str]:
    """The host in ``authority``, mapped as a browser maps it, and less."""
    found: list[str] = []
    for host in (authority.rpartition("@")[2], authority.partition("@")[0]):
        bare = host if host.startswith("[") else re.sub(r":[0-9]*\Z", "", host)
        for decoded in (bare, _percent_decoded(bare)):
            for mapped in (decoded.lower(), _mapped(decoded, fold=True), _mapped(decoded, fold=False)):
                found += [mapped.rstrip("."), _ascii(mapped).rstrip("."), _address(mapped.rstrip("."))]
    return [host for host in dict.fromkeys(found) if host]


def _percent_decoded(host: str) -> str:
    return unquote_to_bytes(host.encode(errors="replace")).decode(errors="replace")


def _mapped(host: str, *, fold: bool) -> str:
    """Full-width letters, other dots, invisible characters and capitals; folding also turns ß into ss."""
    visible = _IGNORED.sub("", unicodedata.normalize("NFKC", host.translate(_DOTS)))
    lowered = visible.casefold() if fold else visible.lower()
    return unicodedata.normalize("NFKC", lowered.translate(_DOTS))


def _ascii(host: str) -> str:
    """With punycode for anything that is not ASCII."""
    labels: list[str] = []
    for label in host.split("."):
        try:
            labels.append(label if label.isascii() else "xn--" + label.encode("punycode").decode())
        except UnicodeError:
            return ""
    return ".".join(labels)


def _looks_numeric(host: str) -> bool:
    return _NUMBER.match(host.rpartition(".")[2]) is not None


def _dotted(host: str) -> bool:
    """Four decimal numbers, in the one unambiguous notation."""
    parts = host.split(".")
    return len(parts) == 4 and all(part.isdecimal() and str(int(part)) == part and int(part) < 256 for part in parts)


def _address(host: str) -> str:
    """The IPv4 address that browsers make of ``0x7f.1``, ``2130706433`` and ``0177.0.0.1``; empty if it is none."""
    parts = host.split(".")
    if len(parts) > 4 or not all(part and _NUMBER.match(part) for part in parts):
        return ""
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        return ""
    last = 256 ** (5 - len(numbers))
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= last:
        return ""
    value = numbers[-1] + sum(number * 256 ** (3 - place) for place, number in enumerate(numbers[:-1]))
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _number(part: str) -> int:
    if part.lower().startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if len(part) > 1 and part.startswith("0") else int(part)
