# Paths are text to be judged here; pathlib would tidy them before they are seen.
# ruff: noqa: PTH100, PTH112, PTH116, PTH118, PTH114
"""Resolves paths, and matches path rules.

An allow rule must match the path as it was given *and* where it leads; a deny or ask rule need only match one of the
two. So a link out of the project is not inside it, and a link into a protected folder is protected.
"""

from __future__ import annotations

import contextlib
import os.path
import re
import stat
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol

import msgspec

from .programs import words
from .rules import Rule
from .wildcards import Segment, compile_segments, match_segments

MAX_PATH_LENGTH = 4096
"""Longer paths are not resolved: no file system of ours takes them."""

BLANKS = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""What JavaScript trims: the CLI's file tools (2.1.325) take a path without the blanks around it."""

_SENSITIVE_FOLDERS = words(".git .vscode .idea .claude .husky .cargo .devcontainer .yarn .mvn")
_SENSITIVE_PAIRS = frozenset({(".config", "git")})
_SENSITIVE_FILES = words(
    """
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zprofile .zshenv .zlogin .zlogout
    .gitconfig .gitmodules .mcp.json .claude.json .ripgreprc .npmrc .yarnrc .yarnrc.yml .pypirc .netrc .envrc
    .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml .bazelrc .bazelversion .bazeliskrc
    .pre-commit-config.yaml lefthook.yml .lefthook.yml lefthook.yaml .lefthook.yaml gradle-wrapper.properties
    maven-wrapper.properties .devcontainer.json pyrightconfig.json
    """
)
"""``tests/policy/test_sensitive_files.py`` asks the real CLI about each of them, and about some hundred others."""


class PathResolver(Protocol):
    """How paths are followed. The default is the file system; tests hand in their own."""

    def real(self, path: str) -> str | None:
        """The absolute path without links; None if it cannot be determined."""


class FileSystem:
    """Follows links on the real file system. A path that does not exist yet is followed as far as it exists."""

    def real(self, path: str) -> str | None:
        if not _UNTIDY.search(path) and _has_no_links(path):
            return path
        try:
            try:
                real = os.path.realpath(path, strict=True)
            except FileNotFoundError:
                real = os.path.realpath(path)
            if real != path:
                _follow(path)
        except (OSError, ValueError, RecursionError):
            return None  # a loop, a very long chain of links, or a folder that may not be looked into
        return real


_SLASHES = re.compile(r"/(?:\./+)*/*")
_OWN_PROCESS = re.compile(r"/proc/(?:self|thread-self)/(?:task/[^/]+/)?(cwd|root|fd)(?=/|\Z)(.*)", re.DOTALL)
_UNTIDY = re.compile(r"/\.{0,2}(?:/|\Z)")
"""An empty name, ``.`` or ``..``"""


def _has_no_links(path: str) -> bool:
    """Whether no name in a tidy ``path`` is a link, which is quicker to see than where links lead."""
    at = 0
    try:
        while at >= 0:
            at = path.find("/", at + 1)
            if stat.S_ISLNK(os.lstat(path[:at] if at > 0 else path).st_mode):
                return False
    except FileNotFoundError:
        return True  # neither are the names behind one that does not exist
    except (OSError, ValueError):
        return False
    return True


def _follow(path: str) -> None:
    """Fail where the kernel would: from 3.13 on Python follows chains of links that no program can open."""
    with contextlib.suppress(FileNotFoundError):
        os.stat(path)


class Located(msgspec.Struct, frozen=True):
    """One path of a request: as given (absolute, without ``..``) and where it leads."""

    given: str
    real: str | None

    @property
    def both(self) -> tuple[str, ...]:
        return (self.given,) if self.real is None or self.real == self.given else (self.given, self.real)


class Places:
    """The folders a request is judged against, and how to follow paths from them."""

    def __init__(self, cwd: str, home: str, *, directories: Sequence[str] = (), resolver: PathResolver) -> None:
        self.cwd = os.path.normpath(os.path.abspath(cwd))
        self.home = os.path.normpath(home)
        self._resolver = resolver
        # 2.1.325 does not expand ~ here
        roots = [self.cwd, *(os.path.normpath(os.path.join(self.cwd, folder)) for folder in directories)]
        self.roots = tuple(dict.fromkeys(roots))
        real_roots = tuple(resolver.real(root) or root for root in roots)
        self._below_real_roots = tuple(dict.fromkeys(_folder(root) for root in real_roots))
        self._below_roots = tuple(dict.fromkeys((*map(_folder, self.roots), *self._below_real_roots)))

    def absolute(self, path: str) -> str:
        """``path`` without ``~``, ``.``, ``..`` and double slashes; nothing is looked up."""
        joined = os.path.normpath(self._from_cwd(path))
        return joined[1:] if joined.startswith("//") else joined

    def _from_cwd(self, path: str) -> str:
        if path.startswith("/"):
            return path
        if path == "~" or path.startswith("~/"):
            return os.path.join(self.cwd, self.home + path[1:])
        return _folder(self.cwd) + path

    def locate(self, path: str) -> Located | None:
        """None if it is not a valid path."""
        if not path or "\0" in path or len(path) > MAX_PATH_LENGTH:
            return None
        whole = self._from_cwd(path)
        if "proc/" in whole and (own := _OWN_PROCESS.match(_SLASHES.sub("/", whole))) is not None:
            # the program that will open it is not the one that decides here
            entered = {"cwd": self.cwd, "root": ""}.get(own[1])
            real = None if entered is None else self._resolver.real(entered + own[2] or "/")
            return Located(self.absolute(path), real)
        return Located(self.absolute(path), self._resolver.real(whole))

    def real_of(self, path: str) -> str:
        return self._resolver.real(path) or path

    def is_link(self, located: Located) -> bool:
        """Whether the last name of the path is itself a link."""
        folder, _, name = located.given.rpartition("/")
        above = self._resolver.real(folder or "/")
        return above is not None and located.real != f"{above.rstrip('/')}/{name}" and located.given != "/"

    def is_link_here(self, name: str) -> bool:
        """Whether a link in the working folder has this name."""
        if isinstance(self._resolver, FileSystem):  # faster than resolving it: this is called for many words
            return os.path.islink(f"{self.cwd}/{name}")
        located = self.locate(name)
        return located is not None and self.is_link(located)

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder of this name now; False where the resolver does not know of folders."""
        real = self._resolver.real(path)
        return real is not None and isinstance(self._resolver, FileSystem) and os.path.isdir(real)

    def is_root(self, located: Located) -> bool:
        """Whether it is a working folder, or one above."""
        return any(root.startswith(located.given.rstrip("/") + "/") or root == located.given for root in self.roots)

    def leads_out(self, located: Located) -> bool:
        """Whether it looks as if it were in a working folder, and a link leads out of it."""
        return f"{located.given}/".startswith(self._below_roots) and not self.inside(located)

    def inside(self, located: Located) -> bool:
        """Whether the path is in a working folder, both as given and after resolving links."""
        if located.real is None:
            return False
        return f"{located.given}/".startswith(self._below_roots) and f"{located.real}/".startswith(
            self._below_real_roots
        )


def _folder(path: str) -> str:
    """With one slash at the end: what all paths below begin with."""
    return path.rstrip("/") + "/"


def is_sensitive(located: Located) -> bool:
    """Files that make other programs run something; no allow rule covers them (as in CLI 2.1.325)."""
    for path in located.both:
        # Windows does not see dots and blanks at the end, and takes what follows a colon for a part of the file.
        names = [name.partition(":")[0].rstrip(". ") for name in fold(path).split("/")]
        if names[-1] in _SENSITIVE_FILES or not _SENSITIVE_FOLDERS.isdisjoint(names):
            return True
        if not _SENSITIVE_PAIRS.isdisjoint(pairwise(names)):
            return True
    return False


_ON_WINDOWS = re.compile(r"\A//|~[0-9]|\\\\|\.(?:CON|PRN|AUX|NUL|COM[1-9]|LPT[1-9])\Z", re.IGNORECASE)
"""Short names (``GIT~1``), other machines, devices."""
_CLIMBS = re.compile(r"(?:\A|/)(?!\.{1,2}/)[^/]+/+(?:\./+)*\.\.(?:/|\Z)")


def is_disguised(path: str) -> bool:
    """Whether it may be another file: Windows has other names for some, and some systems do not see blanks and dots at
    the end of a name."""
    if _ON_WINDOWS.search(path):
        return True
    return any(name != name.rstrip(". \t\n\r") and name not in (".", "..") for name in path.split("/"))


def climbs(path: str) -> bool:
    """Whether it goes up from a folder that may be a link: ``src/../x``."""
    return _CLIMBS.search(path) is not None


def fold(path: str) -> str:
    """Equal for paths that some file system takes for the same: by case and by composed characters."""
    if path.isascii():
        return path.lower()
    visible = "".join(char for char in path if unicodedata.category(char) != "Cf")  # HFS+ does not see these
    return unicodedata.normalize("NFC", visible).casefold()


class PathRule:
    """A ``Read(…)`` or ``Edit(…)`` rule, compiled."""

    __slots__ = ("_anywhere", "_bases", "_literal", "_pattern", "globs", "last_name", "rule")

    def __init__(self, rule: Rule, places: Places, settings_root: str) -> None:
        self.rule = rule
        base, pattern, anchored = _anchor(rule.content or "", places, settings_root)
        bases = [base]
        if rule.behavior != "allow":
            pattern = pattern.removesuffix("/**") if anchored else pattern  # also the folder itself, as in 2.1.325
            if (rule.content or "").removeprefix("./").removesuffix("/**") == pattern and "/" not in pattern:
                anchored = False  # a mere name then counts at any depth
            if not (rule.content or "").startswith(("/", "~")):
                bases = list(places.roots)  # of all working folders, as in 2.1.325
        bases += [places.real_of(base) for base in bases]
        if rule.behavior != "allow":
            pattern, bases = fold(pattern), [fold(base) for base in bases]
        self._bases = tuple(dict.fromkeys(base.rstrip("/") + "/" for base in bases))
        self.globs = tuple(base + (pattern if anchored else f"**/{pattern}") for base in self._bases)
        """What it matches, as text, for words that are only partly known."""
        self._pattern = compile_segments(pattern if anchored else f"**/{pattern}")
        self._literal = _literal_head(self._pattern)
        self._anywhere = _name_at_any_depth(self._pattern)
        last = self._pattern[-1] if self._pattern else None
        self.last_name = last.literal if last is not None else None
        """The name of what it matches, where there is only one."""

    def _matches(self, path: str) -> bool:
        for base in self._bases:
            if path.startswith(base) and path.startswith(self._literal, len(base)):
                if self._anywhere is not None:
                    return f"{path}/".find(self._anywhere, len(base) - 1) >= 0
                return match_segments(self._pattern, path[len(base) :].split("/"))
        return False

    def all_of(self, folder: str) -> bool:
        """Whether it matches everything in ``folder`` (folded, with a slash at the end), whatever the name."""
        return self._matches(folder[:-1])

    def reaches(self, folder: str) -> bool:
        """Whether it could match something directly in ``folder``."""
        heads = [base + self._literal for base in self._bases]
        return any(folder.startswith(head) or head.startswith(folder) for head in heads)

    def covers(self, located: Located) -> bool:
        """For allow: the path as given and where it leads."""
        return located.real is not None and all(self._matches(path) for path in located.both)

    def touches(self, folded: Iterable[str]) -> bool:
        """For deny and ask: any of the paths, which were folded; they match in any case and composition."""
        return any(map(self._matches, folded))


def _name_at_any_depth(pattern: list[Segment | None]) -> str | None:
    """``/name/`` for the commonest kind of pattern, a plain name without a slash; else None."""
    if len(pattern) == 2 and pattern[0] is None and pattern[1] is not None and pattern[1].literal is not None:
        return f"/{pattern[1].literal}/"
    return None


def _literal_head(pattern: list[Segment | None]) -> str:
    """What a path must start with; lets most rules be skipped without splitting the path."""
    names: list[str] = []
    for segment in pattern:
        if segment is None or segment.literal is None:
            break
        names.append(segment.literal)
    return "/".join(names)


def _anchor(content: str, places: Places, settings_root: str) -> tuple[str, str, bool]:
    """Base folder, pattern below it, and whether the pattern starts there or at any depth (gitignore's rule)."""
    if content.startswith("//"):
        return "/", content[2:], True
    if content == "~" or content.startswith("~/"):
        return places.home, content[2:] or "**", True
    if content.startswith("/"):
        return settings_root, content[1:], True
    if content.startswith("./"):
        return places.cwd, content[2:], True
    return places.cwd, content, "/" in content.rstrip("/")
