"""Facts about programs: which start others, which only read, which options make one act like another.

Tables only. A program that is in none of them is judged by its words alone.
"""

from __future__ import annotations

import re
from typing import Final


def words(text: str) -> frozenset[str]:
    """A table written as running text."""
    return frozenset(text.split())


def beginnings(text: str) -> frozenset[str]:
    """Each word and its prefixes of two letters and more, which npm accepts for it."""
    return frozenset(word[:end] for word in text.split() for end in range(2, len(word) + 1))


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
    flock watch parallel strace ltrace gdb lldb rr socat valgrind script unbuffer rlwrap fakeroot proot busybox toybox
    ssh mosh caffeinate chronic entr nodemon concurrently npx pnpx bunx uvx pipx direnv dotenv op docker podman kubectl
    noglob nocorrect repeat - ltrace gosu tini dumb-init chpst cpulimit hyperfine perf xvfb-run
    screen tmux at batch nice stdbuf timeout time nohup command builtin prlimit setarch catchsegv expect faketime sg
    newgrp torsocks proxychains proxychains4 firejail bwrap wine start open xdg-open crontab
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
"""They change the meaning of later words, or run text as code. No pattern covers them; CLI 2.1.325 asks
for nearly all."""

RUN_OTHERS: Final = OPAQUE | EVALUATORS | words("find fd make tar rsync split sort man less vim emacs zip")
"""For deny and ask rules, their arguments may be commands."""

REMOTE: Final = words("docker podman kubectl npx pnpx bunx uvx pipx op open start xdg-open")
"""Opaque only for deny rules: a rule such as ``docker ps:*`` or ``npx eslint:*`` already names what is run."""

INTERPRETERS: Final = words("python pypy node perl ruby lua php Rscript")
"""They run the script they are given, or without one their input."""
INLINE_CODE: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("python", "pypy"), ("-c",)),
    **dict.fromkeys(("node", "bun", "deno"), ("-e", "-p", "-r", "--eval", "--print", "--require", "--import", "eval")),
    **dict.fromkeys(("perl", "ruby", "lua", "Rscript", "php", "osascript"), ("-e", "-E", "-r")),
}
RUNNING_WORDS: Final[dict[str, frozenset[str]]] = {
    "npm": words("x c") | beginnings("exec explore config set set-script edit init innit create"),
    "pnpm": words("exec dlx config set env create"),
    "yarn": words("exec dlx node config create plugin set"),
    "bun": words("x exec create c"),
    "gh": words("alias extension extensions ext config codespace cs"),
    "composer": words("exec config global create-project"),
    "bundle": words("exec config open console"),
    **dict.fromkeys(words("poetry pipenv pdm hatch rye uv conda mamba mise asdf rbenv pyenv nvm fnm volta direnv nix"),
                    words("run exec shell tool")),
    "dotnet": words("tool exec"),
    **dict.fromkeys(words("gem tox"), words("exec")),
    "pip": words("config"),
    "cargo": words("script"),
}  # fmt: skip
"""Subcommands behind which another program, or what to run later, stands."""
READ_ORDERS: Final = words(
    """
    vim emacs ed red sqlite3 psql mysql mariadb sftp ftp lftp gdb lldb tclsh guile R julia bc dc parallel gnuplot octave
    at batch
    """
)
"""They take commands from their input, some of which run others: ``echo '!id' | ed``."""
STARTERS: Final = words("c create-project") | beginnings("init innit create")
"""Of those: they run a program only if one is named. ``npm init`` alone writes a ``package.json``."""
RUNNERS: Final = words("npx pnpx bunx uvx")
RUNNER_OPTIONS: Final = words("-y --yes --no --no-install -q --quiet --bun --offline --prefer-offline")
"""Options of ``RUNNERS`` that do not change what is run. Others do (``npx -c``), or take a value."""
COMPUTING_BUILTINS: Final = words("printf test [ exit return shift break continue kill wait ulimit umask")
"""In some shell they evaluate text as a number, and that can run commands."""

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
    "pwd": ("", False),
    "true": ("", False),
    "false": ("", False),
    "whoami": ("", False),
    "date": ("u", False),
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
    cksum b2sum shasum sum column paste fold fmt comm join expand unexpand pr tsort zcat unzip zip tr
    """
)
"""Their words are files. A ``Bash(…)`` rule lets them run, not reach outside the working folders: there they need a
``Read(…)`` or ``Edit(…)`` rule as well. CLI 2.1.325 does so for most of them."""
COMPILERS: Final = words("gcc g++ cc c++ clang clang++")
NAME_THEIR_OUTPUT: Final = COMPILERS | words("as ld pandoc dot 7z 7za 7zr")
"""They write where ``-o`` says."""
FORMATTERS: Final = words("black isort autopep8 yapf autoflake ruff prettier eslint gofmt rustfmt clang-format")
"""They may change the files that they are given."""
FILE_HANDLERS: Final = (
    FILE_CHANGERS
    | FILE_READERS
    | words("source . tar zip unzip gzip gunzip bzip2 xz rsync scp vi vim nano emacs code open")
)
"""A deny rule for a path denies these if they get it; for any other program it asks."""
PATTERN_FIRST: Final = words("grep egrep fgrep zgrep rg fd sed awk jq yq chmod chown chgrp")
"""Their first word is not a file, unless the pattern is given with ``-e`` or ``-f``."""
GIT_GLOBAL_WITH_VALUE: Final = words(
    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --exec-path --list-cmds"
)
NO_FILES: Final = words(
    """
    echo printf print true false : test [ sleep kill wait exit return type which seq basename dirname export declare
    local readonly typeset set unset shift cd pushd popd pwd id whoami uname printenv killall read alias unalias trap
    umask ulimit
    """
)
"""Programs whose arguments open no file; ``date -f FILE`` and ``pkill -F FILE`` do."""
INERT: Final = (FILE_READERS - words("find fd sed awk less bat")) | words(
    """
    echo printf print cd pwd true false : test [ sleep kill wait exit return type which whereis whatis apropos date seq
    basename dirname realpath readlink id whoami uname hostname nproc printenv mkdir touch rm rmdir chmod chown chgrp
    truncate tee gzip gunzip bzip2 xz curl wget tr df ps free uptime lsof netstat ss dig nslookup ping host pgrep pkill
    killall apt apt-get apt-cache dnf yum apk pacman dpkg rpm pip gh glab jq yq diff export umask
    tput clear stty locale getconf ldd nm objdump readelf size ar ranlib strip convert ffprobe sha256sum
    """
)
"""Programs that never run their arguments."""
MOSTLY_READ: Final = (FILE_READERS | NO_FILES | INERT | words("git docker gh man")) - words(
    """
    kill wait killall pkill export set unset alias mkdir touch rm rmdir chmod chown chgrp truncate tee gzip gunzip bzip2
    xz curl wget apt apt-get brew dnf yum apk pacman dpkg rpm snap pip conda gem convert
    """
)
"""Programs that may do nothing but read."""
CODE_RUNNERS: Final = INTERPRETERS | words(
    "awk sed bun deno osascript sqlite3 psql mysql mariadb vim emacs expect gdb lldb tclsh guile julia R swift scala"
)
"""Their arguments may be code in a language that is not parsed here."""
MOVES_PROGRAMS: Final = words("cp mv ln install link rsync")
"""They give a program another name."""
GIT_WITHOUT_FILES: Final = words("commit tag branch checkout switch merge push pull fetch rebase stash status remote")
MOVERS: Final = words("cd pushd chdir popd")
SETS_VARIABLES: Final = words("read mapfile readarray getopts printf eval source . select let unset")
"""They can give a variable a value that is not seen."""
HIDE_CODE: Final = words("bind enable zmodload zle sched autoload compgen crontab zcompile")
"""What they run or load is not in their arguments."""
