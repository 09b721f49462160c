"""What is known about programs: which start other programs, which only read, which options make one do another's work.

Tables only. A program that is in none of them is judged by its words alone.
"""

from __future__ import annotations

import re
from typing import Final


def words(text: str) -> frozenset[str]:
    """A table written as running text."""
    return frozenset(text.split())


SAFE_VARIABLES: Final = words(
    """
    CI NODE_ENV TZ NO_COLOR FORCE_COLOR PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_BACKTRACE RUST_LOG GOOS GOARCH
    CGO_ENABLED GO111MODULE TERM COLUMNS CLICOLOR LS_COLORS
    """
)
"""May stand in front of an allowed command; each was seen to be let through by CLI 2.1.325. Everything else (PATH,
LD_PRELOAD, NODE_OPTIONS, PAGER …) can make an allowed program run another."""
SAFE_VALUE: Final = re.compile(r"[A-Za-z0-9_./:,@%+-][A-Za-z0-9_./:,=@%+-]*\Z")

TRANSPARENT: Final[dict[str, re.Pattern[str]]] = {
    "time": re.compile(r"\Z"),
    "nohup": re.compile(r"\Z"),
    "command": re.compile(r"\Z"),
    "builtin": re.compile(r"\Z"),
    "nice": re.compile(r"(-n (-|\+)?\d+ |-\d+ |--adjustment=-?\d+ )?\Z"),
    "stdbuf": re.compile(r"(-[ioe](L|0|\d+) |--(input|output|error)=(L|0|\d+) )+\Z"),
    "timeout": re.compile(
        r"((-k|-s) [A-Za-z0-9.]+ |--(kill-after|signal)=[A-Za-z0-9.]+ |--preserve-status |--foreground |-v )*"
        r"\d+(\.\d+)?[smhd]? \Z"
    ),
}
"""Wrapper → how its own words look, joined by spaces. What they run is judged in their place; any other word is not
understood and makes the wrapper an opaque one."""

SHELLS: Final = words("sh bash zsh dash ksh mksh ash fish csh tcsh")
OPAQUE: Final = SHELLS | words(
    """
    sudo doas su runuser pkexec env xargs setsid ionice chrt taskset numactl chroot unshare nsenter systemd-run
    flock watch parallel strace ltrace gdb valgrind script unbuffer rlwrap fakeroot proot busybox toybox ssh mosh
    caffeinate chronic entr nodemon concurrently npx pnpx bunx uvx pipx direnv dotenv op docker podman kubectl
    screen tmux at batch nice stdbuf timeout time nohup command builtin prlimit setarch catchsegv expect faketime sg
    newgrp torsocks proxychains proxychains4 firejail bwrap wine start open xdg-open
    """
)
"""They run what their arguments say. A rule has to spell that out: ``sudo:*`` alone says nothing of what is run."""

EVALUATORS: Final = words(
    """
    eval source . exec trap alias unalias coproc let enable hash bind complete compgen fc history declare typeset
    local export readonly unset read mapfile readarray set shopt getopts watch setsid ionice zmodload emulate
    autoload zcompile zle sched
    """
)
"""They change what later words mean, or run text as code. No pattern covers them; CLI 2.1.325 asks for nearly all."""

REMOTE: Final = words("docker podman kubectl npx pnpx bunx uvx pipx op open start xdg-open")
"""Opaque only for deny rules: a rule such as ``docker ps:*`` or ``npx eslint:*`` already names what is run."""

INTERPRETERS: Final = words("python pypy node perl ruby lua php Rscript")
"""They run the script they are given, and without one what they read."""
INLINE_CODE: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("python", "pypy"), ("-c",)),
    **dict.fromkeys(("node", "bun", "deno"), ("-e", "-p", "-r", "--eval", "--print", "--require", "--import", "eval")),
    **dict.fromkeys(("perl", "ruby", "lua", "Rscript", "php", "osascript"), ("-e", "-E", "-r")),
}
ACTING_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    **INLINE_CODE,
    "npm": ("--script-shell", "--prefix", "-C", "--shell", "--node-options", "--userconfig", "--globalconfig", "--call"),
    "yarn": ("--script-shell", "--cwd", "--use-yarnrc"),
    "pnpm": ("--script-shell", "--dir", "-C", "--shell-mode", "-c", "--config.script-shell"),
    "cargo": ("--config", "-C", "-Z", "--manifest-path", "--target-dir", "--artifact-dir"),
    "pip": ("--target", "-t", "--prefix", "--root", "--python", "--global-option", "--install-option", "--src", "--log",
            "--config-settings", "-C", "--build", "--trusted-host", "--report"),
    "uv": ("--directory", "--project", "--python", "--config-file", "--target", "--prefix", "-p"),
    "bash": ("-c", "-i", "--rcfile", "--init-file"),
    "eslint": ("-c", "--config", "--rulesdir", "--plugin", "--resolve-plugins-relative-to", "--parser", "-o",
               "--output-file", "-f", "--format", "--flag"),
    "prettier": ("--config", "--plugin", "--plugin-search-dir", "--ignore-path", "--cache-location"),
    "jest": ("-c", "--config", "--globalSetup", "--globalTeardown", "--setupFiles", "--setupFilesAfterEnv", "--testRunner",
             "--runner", "--reporters", "--transform", "--resolver", "--rootDir", "--env", "--testEnvironment",
             "--testResultsProcessor", "--watchPlugins", "--snapshotSerializers", "--prettierPath", "--filter",
             "--moduleNameMapper", "--outputFile", "--cacheDirectory", "--coverageDirectory", "--preset"),
    "vitest": ("-c", "--config", "--root", "-r", "--dir", "--reporter", "--outputFile", "--globalSetup", "--environment"),
    "mocha": ("-r", "--require", "--config", "--opts", "--ui", "--reporter", "-R", "--file", "--import", "--loader"),
    **dict.fromkeys(("webpack", "vite", "rollup", "babel", "tsx", "ts-node", "swc", "esbuild", "next", "nuxt"),
                    ("-c", "--config", "-r", "--require", "-e", "--eval", "-p", "--print", "--plugin", "--config-file")),
    "mvn": ("-f", "--file", "-s", "--settings", "-gs", "--global-settings", "-D", "-t", "--toolchains", "-l"),
    **dict.fromkeys(("gradle", "gradlew"), ("-I", "--init-script", "-b", "--build-file", "-c", "--settings-file", "-p",
                    "--project-dir", "-D", "-g", "--gradle-user-home", "-P", "--include-build")),
    "bazel": ("--run_under", "--bazelrc", "--override_repository", "--action_env", "--shell_executable"),
    "cmake": ("-P", "-E", "-D", "-C", "--install-prefix", "-G"),
    "ninja": ("-f", "-C", "-t"),
    **dict.fromkeys(("rake", "rspec", "rubocop", "cucumber"), ("-f", "-r", "--require", "-e", "-E", "-R", "-I", "-o",
                    "--out", "-c", "--config", "--options", "-O")),
    "composer": ("-d", "--working-dir"),
    "phpunit": ("--bootstrap", "-c", "--configuration", "--printer", "--extensions", "--log-junit"),
    "mypy": ("--config-file", "--python-executable", "--install-types", "--cache-dir", "--custom-typeshed-dir"),
    "pylint": ("--init-hook", "--load-plugins", "--rcfile", "--output"),
    "flake8": ("--config", "--append-config", "--output-file", "--tee"),
    "ruff": ("--config", "--cache-dir", "-o", "--output-file"),
    "black": ("--config", "-c", "--code"),
    **dict.fromkeys(("tox", "nox", "pre-commit"), ("-c", "--config", "--workdir", "-f", "--noxfile", "-x", "--override")),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"),
                    ("-wrapper", "-B", "-specs", "-Xclang", "-load", "--config")),
    "rustc": ("-C", "-o", "--out-dir", "-Z", "--sysroot", "--emit"),
    **dict.fromkeys(("java", "javac"), ("-cp", "-classpath", "--class-path", "-jar", "-processor", "-processorpath", "-d",
                    "-agentlib", "-agentpath", "-javaagent", "-J", "-XX:OnError", "-XX:OnOutOfMemoryError")),
    **dict.fromkeys(("psql", "mysql", "mariadb"), ("-c", "--command", "-f", "--file", "-e", "--execute", "-o", "-L",
                    "--output", "--log-file", "--tee", "--pager", "-v", "--set", "--variable", "--init-command")),
    "sqlite3": ("-cmd", "-init", "-A"),
    "tcpdump": ("-z", "-w", "-r", "-F"),
    **dict.fromkeys(("apt", "apt-get"), ("-o", "--option", "-c", "--config-file", "-t")),
    "bat": ("--pager", "--paging", "--config-file", "--diff-context"),
    "yq": ("-i", "--inplace", "-s", "--split-exp", "--from-file", "--split-exp-file"),
    "csplit": ("-f", "--prefix", "-b", "--suffix-format"),
    "bun": ("-e", "-p", "-r", "--eval", "--print", "--require", "--import", "eval", "--cwd", "-c", "--config",
            "--preload", "--shell"),
    "git": ("--upload-pack", "--receive-pack", "--exec", "--ext-diff", "--extcmd", "--output", "--open-files-in-pager",
            "--textconv", "-O", "-x", "-u", "-c", "--config", "--template"),
}  # fmt: skip
"""For programs whose options were not all gone through: those that make it run something else, read its orders from a
file, or write a file of its own. Most run the project's code in any case."""
RUNNING_WORDS: Final[dict[str, frozenset[str]]] = {
    "npm": words("exec x explore config set set-script edit"),
    "pnpm": words("exec dlx config set env"),
    "yarn": words("exec dlx node config"),
    "bun": words("x exec"),
    "composer": words("exec config global"),
    "bundle": words("exec config open console"),
    **dict.fromkeys(words("poetry pipenv pdm hatch rye uv conda mamba mise asdf rbenv pyenv nvm fnm volta direnv nix"),
                    words("run exec shell tool")),
    "dotnet": words("tool exec"),
    "cargo": words("script"),
}  # fmt: skip
"""Subcommands behind which another program, or what to run later, stands."""
COMPUTING_BUILTINS: Final = words("printf test [ exit return shift break continue kill wait ulimit umask")
"""In one shell or the other they take text for a number, and computing a number can run commands."""

READ_ONLY: Final[dict[str, tuple[str, bool]]] = {
    "ls": ("aAlhrRtS1dFGi", True),
    "cat": ("nbsAETv", True),
    "head": ("ncqv0123456789", True),
    "tail": ("ncqv0123456789", True),
    "wc": ("lwcmL", True),
    "nl": ("", True),
    "stat": ("L", True),
    "file": ("bi", True),
    "diff": ("uqbBwiN", True),
    "cmp": ("s", True),
    "md5sum": ("", True),
    "sha256sum": ("", True),
    "du": ("shkcma", True),
    "grep": ("rnilvcwxEFohHqs", True),
    "cut": ("", True),
    "echo": ("neE", False),
    "pwd": ("LP", False),
    "true": ("", False),
    "false": ("", False),
    "whoami": ("", False),
    "uname": ("asrnmo", False),
    "which": ("a", False),
    "sleep": ("", False),
}
"""Program → the option letters it may have, and whether its other words name files to read. CLI 2.1.325 lets many more
through; these are the ones whose options were gone through here. ``grep -R`` and ``diff -r`` follow links out of the
project, so they are not among them."""
READ_ONLY_GIT: Final[dict[str, frozenset[str]]] = {
    "status": words("-s -b --short --branch --porcelain --long"),
    "log": words("--oneline --stat --graph --all --decorate -p -1 -2 -3 -5 -10 -20"),
    "diff": words("--stat --cached --staged --name-only --name-status HEAD"),
    "show": words("--stat --name-only --oneline HEAD"),
    "branch": words("-a -v -vv --list --show-current"),
}
FILE_MAKERS: Final[dict[str, str]] = {"mkdir": "pv", "touch": "", "rmdir": "p", "cp": "", "mv": ""}
"""What ``acceptEdits`` lets through inside the working folders, with the option letters it may have. ``rm`` is not
among them, though the CLI has it: what is deleted cannot be looked at again."""
FILE_CHANGERS: Final = words(
    """
    cp mv rm rmdir unlink tee touch mkdir ln link truncate shred chmod chown chgrp install mkfifo mknod rename patch dd
    split csplit gzip gunzip bzip2 bunzip2 xz unxz zstd rsync scp
    """
)
FILE_READERS: Final = words(
    """
    cat head tail less more bat grep egrep fgrep zgrep rg sed awk sort uniq wc nl od xxd hexdump strings base64 diff
    colordiff cmp cut tac rev ls find fd stat file du tree jq yq sha1sum sha224sum sha256sum sha384sum sha512sum md5sum
    cksum b2sum shasum sum column paste fold fmt comm join expand unexpand pr tsort zcat unzip zip
    """
)
"""Their words are files. A ``Bash(…)`` rule lets them run, not reach outside the working folders: there they need a
``Read(…)`` or ``Edit(…)`` rule as well. CLI 2.1.325 does so for most of them."""
COMPILERS: Final = words("gcc g++ cc c++ clang clang++")
FILE_HANDLERS: Final = (
    FILE_CHANGERS
    | FILE_READERS
    | words("source . tar zip unzip gzip gunzip bzip2 xz rsync scp vi vim nano emacs code open")
)
"""A deny rule for a path denies these when they are given it; for any other program it asks."""
PATTERN_FIRST: Final = words("grep egrep fgrep zgrep rg fd sed awk jq yq chmod chown chgrp")
"""Their first word is no file, unless the pattern is given by ``-e`` or ``-f``."""
GIT_GLOBAL_WITH_VALUE: Final = words(
    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --exec-path --list-cmds"
)
