"""Finds the CLI: the first words of its command line.

The environment, home directory, platform and file check are parameters, so every platform's rules can be tested on any
other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from .errors import CLINotFoundError

INSTALL_COMMAND = "npm install -g @anthropic-ai/claude-code"
PATH_VARIABLES = ("CLAUDE_BIN", "CLAUDE_CODE_PATH", "CLAUDE_CODE_EXECUTABLE")
SCRIPT_SUFFIXES = (".js", ".mjs", ".cjs")
BATCH_SUFFIXES = (".cmd", ".bat")
NPM_PACKAGE = ("node_modules", "@anthropic-ai", "claude-code")

CliPath = str | os.PathLike[str] | Sequence[str]


def is_program(path: str) -> bool:
    """Whether this file can be run (a node script needs no execute permission)."""
    file = Path(path)
    try:
        return file.is_file() and (file.suffix.lower() in SCRIPT_SUFFIXES or os.access(file, os.X_OK))
    except OSError:  # such as a name that is too long
        return False


def find_cli(
    explicit: CliPath | None = None,
    *,
    env: Mapping[str, str] | None = None,
    home: str | None = None,
    platform: str = sys.platform,
    exists: Callable[[str], bool] = is_program,
) -> list[str]:
    """Return the words that start the CLI: one path, ``[node, script]``, or the caller's own wrapper.

    Search order: ``explicit``; the variables ``CLAUDE_BIN``, ``CLAUDE_CODE_PATH``, ``CLAUDE_CODE_EXECUTABLE``;
    ``~/.claude/local``; the usual places; ``PATH``. If ``explicit`` or a variable names a missing file, that is an
    error; the search doesn't continue.
    """
    search = _Search(os.environ if env is None else env, home or str(Path.home()), platform, exists)
    if explicit is not None:
        return search.explicit(explicit)
    for variable in PATH_VARIABLES:
        if value := search.env.get(variable):
            return search.named(value, f"the environment variable {variable}")
    for candidate in search.candidates():
        if exists(candidate):
            return search.runnable(candidate)
    raise _nothing_found(search)


class _Search:
    def __init__(self, env: Mapping[str, str], home: str, platform: str, exists: Callable[[str], bool]) -> None:
        self.env = env
        self.windows = platform == "win32"
        self.path_type: type[PurePath] = PureWindowsPath if self.windows else PurePosixPath
        self.home = self.path_type(home)
        self.exists = exists

    def explicit(self, value: CliPath) -> list[str]:
        if isinstance(value, (str, os.PathLike)):
            return self.named(os.fspath(value), "cli_path")
        words = [os.fspath(word) for word in value]
        if not words:
            raise CLINotFoundError("cli_path is an empty list: give the words that start Claude Code")
        return words

    def named(self, value: str, source: str) -> list[str]:
        path = str(self.home / value[2:]) if value.startswith(("~/", "~\\")) else value
        if self.exists(path):
            return self.runnable(path)
        if len(self.path_type(path).parts) == 1 and (found := self.on_path(path)):
            return self.runnable(found)
        error = CLINotFoundError(
            f"Claude Code not found at: {value}\n{source} names a file that does not exist or cannot be run. "
            f"Correct it, or install Claude Code with:\n  {INSTALL_COMMAND}"
        )
        error.cli_path = value
        raise error

    def candidates(self) -> Iterator[str]:
        name = "claude.exe" if self.windows else "claude"
        yield str(self.home / ".claude" / "local" / name)
        for place in self._usual_places():
            yield str(place / name)
        yield from self._path_candidates("claude")
        yield from (str(place / "claude.cmd") for place in self._usual_places() if self.windows)

    def on_path(self, name: str) -> str | None:
        return next((path for path in self._path_candidates(name) if self.exists(path)), None)

    def runnable(self, path: str) -> list[str]:
        suffix = self.path_type(path).suffix.lower()
        if suffix in SCRIPT_SUFFIXES:
            return [self._node(path), path]
        return self._behind_batch_file(path) if self.windows and suffix in BATCH_SUFFIXES else [path]

    def _usual_places(self) -> list[PurePath]:
        home = self.home
        if self.windows:
            roaming = self.path_type(self.env.get("APPDATA") or str(home / "AppData" / "Roaming"))
            return [home / ".local" / "bin", roaming / "npm"]
        return [
            home / ".local" / "bin",
            home / ".npm-global" / "bin",
            self.path_type("/opt/homebrew/bin"),
            self.path_type("/usr/local/bin"),
            home / ".bun" / "bin",
            home / ".yarn" / "bin",
            home / "node_modules" / ".bin",
        ]

    def _path_candidates(self, name: str) -> Iterator[str]:
        """``name`` in each absolute entry of PATH. A relative entry would run whatever is in the working directory."""
        bare = self.windows and not self.path_type(name).suffix
        suffixes = (".exe", ".cmd") if bare else ("",)
        for entry in self.env.get("PATH", "").split(";" if self.windows else ":"):
            directory = self.path_type(entry)
            if directory.is_absolute():
                yield from (str(directory / (name + suffix)) for suffix in suffixes)

    def _node(self, script: str) -> str:
        node = self.on_path("node.exe" if self.windows else "node")
        if node is None:
            raise CLINotFoundError(
                "This Claude Code is a script that needs node, which is not in PATH. Install Node.js 18 or newer, or "
                "point cli_path at a native claude executable",
                cli_path=script,
            )
        return node

    def _behind_batch_file(self, path: str) -> list[str]:
        """Resolve npm's ``claude.cmd`` to the program it runs.

        cmd.exe expands the arguments of a batch file a second time, and no quoting is safe (CVE-2024-27980), so we
        never start the batch file itself.
        """
        package = self.path_type(path).parent.joinpath(*NPM_PACKAGE)
        for target in (package / "bin" / "claude.exe", package / "claude.exe", package / "cli.js"):
            if self.exists(str(target)):
                return self.runnable(str(target))
        raise CLINotFoundError(
            ".cmd and .bat files are not supported, because cmd.exe would interpret the arguments, and the program it "
            "runs was not found next to it. Point cli_path at claude.exe or at the package's cli.js",
            cli_path=path,
        )


def _nothing_found(search: _Search) -> CLINotFoundError:
    looked = "\n".join(f"  {path}" for path in dict.fromkeys(search.candidates()))
    return CLINotFoundError(
        f"Claude Code not found. Install it with:\n  {INSTALL_COMMAND}\nor set cli_path or the environment variable "
        f"{PATH_VARIABLES[0]} to its path.\nNone of {', '.join(PATH_VARIABLES)} is set, and these do not "
        f"exist:\n{looked}"
    )
