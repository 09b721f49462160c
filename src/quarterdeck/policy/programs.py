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
SAFE_VALUE: Final = re.compile(r"[A-Za-z0-9_./:,=@%+-]+\Z")

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

INLINE_CODE: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("python", "python2", "python3", "pypy", "pypy3"), ("-c",)),
    **dict.fromkeys(("node", "bun", "deno"), ("-e", "-p", "-r", "--eval", "--print", "--require", "--import", "eval")),
    **dict.fromkeys(("perl", "ruby", "lua", "Rscript", "php", "osascript"), ("-e", "-E", "-r")),
}
ACTING_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    **INLINE_CODE,
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "rg": ("--pre", "--hostname-bin"),
    "tar": ("-I", "-F", "--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command",
            "--info-script", "--new-volume-script"),
    "zip": ("-TT", "--unzip-command"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-S", "-o"),
    "sftp": ("-S", "-o"),
    "sort": ("-o", "--output", "--compress-program"),
    "sed": ("-i", "--in-place", "-f", "--file"),
    "awk": ("-f", "--file", "-i", "-E", "-l"),
    "make": ("-f", "--file", "--makefile", "--eval", "-C", "--directory"),
    "npm": ("--script-shell", "--prefix", "-C", "--shell", "--node-options"),
    "yarn": ("--script-shell", "--cwd"),
    "pnpm": ("--script-shell", "--dir", "-C"),
    "cargo": ("--config",),
    "go": ("-exec", "-toolexec", "-vettool"),
    "pytest": ("-p", "-c", "--rootdir", "--confcutdir"),
    "less": ("-k", "-o", "-O"),
    "man": ("-P", "--pager", "-H", "--html"),
    "vim": ("-c", "--cmd", "-S", "-s"),
    "curl": ("-o", "-O", "-K", "-T", "--output", "--remote-name", "--config", "--upload-file", "--output-dir"),
    "wget": ("-O", "-i", "--output-document", "--use-askpass", "--config", "-e", "--execute"),
    "git": ("--upload-pack", "--receive-pack", "--exec", "--ext-diff", "--extcmd", "--output", "--open-files-in-pager",
            "--textconv", "-O", "-x"),
}  # fmt: skip
"""Options that make a program run something else, read its orders from a file, or write a file of their own. A wildcard
does not cover them: the rule has to spell the option out."""
ACTING_ASSIGNMENTS: Final = {"make": re.compile(r"(SHELL|MAKEFLAGS|\.SHELLFLAGS|MAKEFILES)[:+?]*=")}

HARMLESS_AWK: Final = re.compile(r"[^|>`@\\]*\Z")
HARMLESS_SED: Final = re.compile(
    r"([0-9$]+(,[0-9$]+)?|/[^/\\\n]*/)?[pdq]\Z|s([/|#,])[^\n/|#,\\]*\3[^\n/|#,\\]*\3[gip0-9]*\Z"
)

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
    """
)
FILE_READERS: Final = words(
    """
    cat head tail less more grep egrep fgrep rg sed awk sort uniq wc nl od xxd hexdump strings base64 diff cmp cut tac
    rev ls find stat file du tree jq sha1sum sha256sum md5sum cksum b2sum sum column paste fold fmt comm join split
    expand pr tsort zcat
    """
)
"""Their words are files. A ``Bash(…)`` rule lets them run, not reach outside the working folders: there they need a
``Read(…)`` or ``Edit(…)`` rule as well. CLI 2.1.325 does so for most of them."""
FILE_HANDLERS: Final = (
    FILE_CHANGERS
    | FILE_READERS
    | words("source . tar zip unzip gzip gunzip bzip2 xz rsync scp vi vim nano emacs code open")
)
"""A deny rule for a path denies these when they are given it; for any other program it asks."""
PATTERN_FIRST: Final = words("grep egrep fgrep rg sed awk jq chmod chown chgrp")
"""Their first word is no file, unless the pattern is given by ``-e`` or ``-f``."""
GIT_GLOBAL_WITH_VALUE: Final = words("-C -c --git-dir --work-tree --namespace --super-prefix --config-env")
