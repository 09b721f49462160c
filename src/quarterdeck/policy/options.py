"""Which options of a program are known to be harmless.

For the programs listed here every option was gone through. A wildcard in a rule covers the listed ones; any other
option, abbreviations included, has to be spelled out in the rule: it may run another program, read its orders from a
file, or write a file of its own.

One line per program. ``-abc`` are letters without a value, ``:abc`` letters with one, ``?abc`` letters with one in the
same word, ``--name`` and ``--name=`` long options without and with a value (both: it may have one behind ``=``), ``#``
is a number as an option (``-5``). Where the value names a file it is judged as one: ``<abc`` and ``--name=<`` are read,
``>abc`` and ``--name=>`` written. ``0abc`` and ``--name=0`` write a file too and are harmless only with ``-`` or
``/dev/null``. ``single`` says that long options begin with one dash. What follows links on the way through a folder
(``grep -R``, ``diff -r``, ``zip -r``) can leave the project, so it is in no list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import msgspec

from .git_options import GIT_OPTIONS

_CHECKSUMS: Final = "-bct --binary --check --tag --text --ignore-missing --quiet --status --strict --warn -w --zero -z"
_GREP: Final = """
    -acbEFGHhIiLlnoPqrsTUvwxyZz :ABCDdem <f # --color --colour --count --extended-regexp --fixed-strings --perl-regexp
    --basic-regexp --ignore-case --no-ignore-case --invert-match --files-with-matches --files-without-match
    --line-number --with-filename --no-filename --only-matching --quiet --silent --no-messages --recursive
    --word-regexp --line-regexp --text --null --null-data --line-buffered --byte-offset --initial-tab
    --include= --exclude= --exclude-dir= --after-context= --before-context= --context= --max-count= --regexp=
    --binary-files= --directories= --devices= --file=< --color= --colour=
"""
_DIFF: Final = """
    -abBcdeEinNpqstTuvwyZ :CFIUWxSL --brief --side-by-side --unified --context --ignore-case
    --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-trailing-space --text --minimal --new-file
    --report-identical-files --suppress-common-lines --color --color= --exclude= --width= --unified= --context=
    --strip-trailing-cr --no-dereference --show-c-function --left-column --label=
"""
_PYTHON: Final = "-bBdEhIOPqRsSuvV :WX --version --help"
LISTED: Final[dict[str, str]] = {
    # read
    "cat": "-AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank",
    "tac": "-b -r :s",
    "rev": "",
    "head": "-qvz :nc # --lines= --bytes= --quiet --silent --verbose",
    "tail": "-fFqrvz :ncs # --lines= --bytes= --quiet --silent --verbose --follow --follow= --retry --sleep-interval= "
    "--pid= --max-unchanged-stats=",
    "wc": "-clLmw --bytes --chars --lines --words --max-line-length --total=",
    "nl": "-p :bdfhilnsvw --body-numbering= --number-format= --number-width= --number-separator=",
    "od": "-abcdfhilosvx :AjNSt ?w --address-radix= --format= --read-bytes= --skip-bytes= --width --width= "
    "--output-duplicates",
    "xxd": "-abCdeEipuv :cglnos",
    "hexdump": "-bcCdovx :ens --canonical",
    "strings": "-afo :nte --all --print-file-name --bytes= --radix= --encoding=",
    "base64": "-dDi :w --decode --ignore-garbage --wrap=",
    "ls": "-1aAbBcCdfFgGhHiklmnNopqQrRsStTuUvwxXZ :I --all --almost-all --author --color --color= --directory "
    "--classify --file-type --full-time --group-directories-first --human-readable --inode --no-group "
    "--numeric-uid-gid --recursive --reverse --size --sort= --time= --time-style= --width= --format= --ignore= --hide= "
    "--si --indicator-style= --quoting-style= --hyperlink",
    "stat": "-fLnrstx :c --format= --printf= --dereference --terse --file-system",
    "file": "-bhiIkLNrsSvz0 :Fe --brief --mime --mime-type --mime-encoding --dereference --no-dereference "
    "--extension --uncompress",
    "du": "-0abchHklmsSx :Bdt <X --all --apparent-size --bytes --total --human-readable --summarize --max-depth= "
    "--threshold= --exclude= --si --one-file-system --block-size= --time --inodes --separate-dirs",
    "df": "-aghHiklmPT :Btx --all --human-readable --inodes --local --output --output= --portability --print-type "
    "--total --type= --exclude-type= --si",
    "tree": "-adDfFghinNpqrstuvxC :ILP --dirsfirst --filesfirst --du --noreport --prune --gitignore --matchdirs "
    "--filelimit --charset --si --timefmt --ignore-case --sort --sort= --inodes --device --metafirst",
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "zgrep": _GREP,
    "rg": """
        -abcFhHIilNnopPqsSUuvVwxz. :ABCdeEgmMrtTj <f --color= --colors= --column --context= --after-context=
        --before-context= --count --count-matches --files --files-with-matches --files-without-match --fixed-strings
        --glob= --iglob= --heading --no-heading --hidden --ignore-case --smart-case --case-sensitive --invert-match
        --json --line-number --no-line-number --line-regexp --max-columns= --max-count= --max-depth= --max-filesize=
        --multiline --multiline-dotall --no-filename --with-filename --no-ignore --no-ignore-vcs --no-messages --null
        --only-matching --pcre2 --pretty --quiet --regexp= --replace= --sort= --sortr= --stats --text --threads= --trim
        --type= --type-not= --type-list --type-add= --vimgrep --word-regexp --passthru --no-config --crlf
        --glob-case-insensitive --no-require-git --unrestricted --version --byte-offset --engine= --binary
    """,
    "fd": """
        -01aFgHIilpqsuV :cdEejotS --hidden --no-ignore --no-ignore-vcs --case-sensitive --ignore-case --glob --regex
        --fixed-strings --absolute-path --list-details --full-path --print0 --max-depth= --min-depth=
        --exact-depth= --type= --extension= --exclude= --size= --changed-within= --changed-before= --color= --threads=
        --max-results= --quiet --unrestricted --strip-cwd-prefix --and=
    """,
    "diff": _DIFF,
    "colordiff": _DIFF,
    "cmp": "-bls :in --bytes= --ignore-initial= --print-bytes --quiet --silent --verbose",
    "cut": "-nsz :bcdf --bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter=",
    "sort": "-bcCdfghiMmnrRsuVz :ktS --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort "
    "--human-numeric-sort --month-sort --numeric-sort --random-sort --reverse --version-sort --check --key= --merge "
    "--stable --field-separator= --unique --zero-terminated --debug --sort= --buffer-size= --parallel=",
    "uniq": "-cdDiuz :fsw --count --repeated --all-repeated --unique --ignore-case --skip-fields= --skip-chars= "
    "--check-chars= --zero-terminated --group",
    "comm": "-123iz --check-order --nocheck-order --output-delimiter= --total --zero-terminated",
    "join": "-iz :12aejotv --header --check-order --nocheck-order --ignore-case",
    "paste": "-sz :d --delimiters= --serial",
    "column": "-dentxJL :csoN --table --separator= --output-separator= --columns= --json --fillrows",
    "fold": "-bs :w --bytes --spaces --width=",
    "fmt": "-cstu :w # --width= --split-only --uniform-spacing",
    "expand": "-i :t --tabs= --initial",
    "unexpand": "-a :t --tabs= --all --first-only",
    "tr": "-cCdst --complement --delete --squeeze-repeats --truncate-set1",
    "pr": "-mtT :lwh #",
    "tsort": "",
    "zcat": "-fhqv",
    "jq": """
        -acCehjMnrRSs0 --compact-output --raw-output --raw-input --null-input --slurp --exit-status --sort-keys
        --color-output --monochrome-output --tab --join-output --ascii-output --seq --stream --args --jsonargs --arg=
        --argjson= --indent= --unbuffered
    """,
    "md5sum": _CHECKSUMS,
    "sha1sum": _CHECKSUMS,
    "sha224sum": _CHECKSUMS,
    "sha256sum": _CHECKSUMS,
    "sha384sum": _CHECKSUMS,
    "sha512sum": _CHECKSUMS,
    "b2sum": _CHECKSUMS,
    "cksum": _CHECKSUMS + " :a --algorithm=",
    "sum": "-rs",
    "shasum": "-bcpstU0 :a --algorithm= --check --status",
    "sed": "-nErsuz :el --quiet --silent --regexp-extended --null-data --separate --unbuffered --posix --expression= "
    "--debug --sandbox --line-length=",
    "awk": ":Fv --field-separator= --assign= --posix --re-interval --csv -k",
    "less": "-aBcCdeEfFgGiIJKmMnNqQrRsSuUwWX :bhjPxyz #",
    "more": "-cdflpsu :n #",
    "man": "-afkw :MSLs --all --whatis --apropos --where --path",
    # print
    "echo": "-neE",
    "printf": "",
    "pwd": "-LP",
    "true": "",
    "false": "",
    "whoami": "",
    "uname": "-amnrsvpio --all",
    "which": "-as --all",
    "sleep": "",
    "seq": "-w :fst --equal-width --format= --separator=",
    "date": "-ujRnI :d --utc --universal --rfc-email --iso-8601 --iso-8601= --rfc-3339= --date=",
    "basename": "-az :s --multiple --suffix= --zero",
    "dirname": "-z --zero",
    "realpath": "-emLPqsz --canonicalize-existing --canonicalize-missing --relative-to= --relative-base= --quiet "
    "--strip --no-symlinks --logical --physical --zero",
    "readlink": "-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet",
    "id": "-aGgnruzZ --groups --group --name --real --user",
    "nproc": "--all --ignore=",
    "rsync": "-aAcCdDEghHiIklLmnopPqrRsStuvxXyzWJO :B --archive --verbose --delete --dry-run --exclude= --include= "
    "--progress --stats --compress --recursive --update --checksum --itemize-changes --partial --human-readable "
    "--links "
    "--perms --times --relative --size-only --ignore-existing --existing --info= --bwlimit= --max-size= --min-size=",
    "scp": "-3ABCpqrTv :Plc",
    "sftp": "-46ACpqrv :Pl",
    # change files
    "rm": "-dfirRv --force --recursive --dir --verbose --one-file-system --preserve-root",
    "rmdir": "-pv --parents --verbose --ignore-fail-on-non-empty",
    "mkdir": "-pv :m --parents --verbose --mode=",
    "touch": "-acm :dt <r --no-create --date= --time= --reference=<",
    "ln": "-finrsTv --symbolic --force --relative --no-dereference --no-target-directory --verbose",
    "chmod": "-cfRv --recursive --verbose --changes --quiet --silent --preserve-root",
    "chown": "-cfhRv --recursive --verbose --changes --quiet --silent --preserve-root --no-dereference",
    "chgrp": "-cfhRv --recursive --verbose --changes --quiet --silent --preserve-root --no-dereference",
    "truncate": "-co :s --size= --no-create",
    "tee": "-aip --append --ignore-interrupts",
    "install": "-cCdDpsv :mgo --directory --mode= --preserve-timestamps --verbose",
    "split": "-dexu :abClnt --bytes= --lines= --line-bytes= --number= --suffix-length= --numeric-suffixes "
    "--additional-suffix= --elide-empty-files --verbose",
    "patch": "-bcEflNnRsStTuvZ :BFVgz >d <i --dry-run --forward --force --silent --quiet --batch --verbose --reverse "
    ":p --strip= --fuzz= --input=< --directory=> --backup",
    "dd": "",
    "unlink": "",
    "link": "",
    "shred": "-fuvxz :ns --force --iterations= --size= --verbose --zero --remove",
    "gzip": "-123456789acdfhklLnNqrtvV :S --best --fast --decompress --force --keep --list --recursive --stdout --test",
    "gunzip": "-acfhklLnNqrtvV :S --force --keep --list --recursive --stdout --test",
    "xz": "-0123456789cdefklqtvzF :T --decompress --compress --force --keep --list --stdout --test --threads= "
    "--extreme",
    "bzip2": "-123456789cdfkqstvz --decompress --compress --force --keep --stdout --test",
    # archives
    "tar": """
        -acdDijJkmnOprRsStuUvwxzZA :bHLNV >C <fX --create --extract --list --append --update --diff --get --file=<
        --directory=> --gzip --bzip2 --xz --zstd --lzma --auto-compress --verbose --exclude= --exclude-vcs
        --strip-components= --wildcards --no-same-owner --no-same-permissions --keep-old-files --overwrite
        --preserve-permissions --sort= --mtime= --owner= --group= --numeric-owner --transform= --to-stdout
        --exclude-from=< --null --touch --totals --skip-old-files --format=
    """,
    "zip": "-0123456789@DFjJlmoquvXy :inxt --quiet --junk-paths --exclude= --include= --update",
    "unzip": "-aBCDfjKlLMnopqtTuvVXz :P >d",
    # network
    "curl": """
        -#0123456fgGIijkLlNqRsSvZ :AeHmruXYy 0oD --silent --show-error --location --head --fail --fail-with-body
        --include --verbose --insecure --compressed --get --globoff --request= --header= --user-agent= --referer=
        --max-time= --connect-timeout= --retry= --retry-delay= --retry-max-time= --retry-connrefused --retry-all-errors
        --max-redirs= --http1.1 --http2 --http1.0 --ipv4 --ipv6 --no-progress-meter --progress-bar --no-buffer --user=
        --data-raw= --output=0 --dump-header=0 --limit-rate= --range= --speed-time= --speed-limit= --tlsv1.2 --tlsv1.3
        --proto= --oauth2-bearer= --url-query= --no-keepalive --parallel --version :dw --data= --data-binary= --json=
        --data-urlencode= --data-ascii= --write-out= :F --form= --form-string= --interface= --path-as-is
    """,
    "wget": "-cdhNqSv46 :QtTUw 0O --quiet --no-verbose --server-response --spider --tries= --timeout= --timestamping "
    "--continue --no-check-certificate --user-agent= --header= --method= --body-data= --post-data= --wait= "
    "--output-document=0 --max-redirect= --no-cache --retry-connrefused --show-progress --version",
    # build tools whose options can run something else
    "make": """
        -BbdehikmnpqrRsStvwW ?jlO --jobs --jobs= --keep-going --dry-run --just-print --silent --quiet --always-make
        --print-directory --no-print-directory --question --touch --load-average= --output-sync --output-sync=
        --no-builtin-rules --no-builtin-variables --debug --debug= --trace --warn-undefined-variables --version
        --ignore-errors <C --directory=< --stop --print-data-base --no-keep-going
    """,
    "pytest": """
        -hlqsvVxX :kmnrW # --collect-only --co --exitfirst --maxfail= --verbose --quiet --capture= --tb= --lf
        --last-failed
        --ff --failed-first --nf --new-first --sw --stepwise --stepwise-skip --durations= --durations-min= --showlocals
        --no-header --no-summary --strict --strict-markers --strict-config --color= --markers --fixtures --version
        --help --disable-warnings --disable-pytest-warnings --runxfail --setup-show --setup-plan --setup-only
        --cov --cov= --cov-report= --no-cov --cov-fail-under= --cov-branch --cov-append --timeout= --timeout-method=
        --numprocesses= --dist= --maxprocesses= --reruns= --reruns-delay= --random-order --randomly-seed=
        --benchmark-only
        --benchmark-skip --benchmark-disable --asyncio-mode= --deselect= --ignore= --ignore-glob= --doctest-modules
        --no-migrations --reuse-db --create-db --ds= --snapshot-update --update-snapshots --log-level= --log-cli-level=
        --show-capture= --cache-clear --cache-show --forked --looponfail --hypothesis-seed= --hypothesis-show-statistics
        --import-mode= --verbosity= --keep-duplicates --pdb --trace --headed --slowmo= --browser= --no-cov-on-fail
        --integration --slow --run-slow --runslow --e2e --live --all --unit
    """,
    "go": """
        single --a --asm --bench= --benchmem --benchtime= --blockprofilerate= --cover --covermode= --coverpkg= --count=
        --cpu= --d --deps --e --failfast --f= --find --fix= --fullpath --fuzz= --fuzztime= --i --json --l
        --list= --m --mod=
        --modcacherw --msan --n --p= --parallel= --race --run= --s --short --shuffle= --skip= --t --tags=
        --test --timeout=
        --trimpath --u --v --vet= --w --x --buildvcs= --compiled --work --coverprofile=> --o=> --cache
        --testcache --modcache
        --html= --func= --all --go= --compat= --vendor --retracted --versions --h --src --cmd --c --mod --testsum=
    """,
    # interpreters: options in front of the script
    "python": _PYTHON,
    "pypy": _PYTHON,
    "node": """
        -hvV --version --help --test --test-only --test-name-pattern= --test-reporter= --test-concurrency= --watch
        --check --enable-source-maps --trace-warnings --trace-deprecation --trace-uncaught --no-warnings
        --no-deprecation --max-old-space-size --max-old-space-size= --experimental-strip-types
        --experimental-transform-types
        --experimental-vm-modules --experimental-test-coverage --expose-gc --unhandled-rejections= --stack-trace-limit
        --stack-trace-limit=
        --throw-deprecation --pending-deprecation --experimental-modules --inspect --inspect-brk
        --abort-on-uncaught-exception
    """,
    "perl": "-cstTuUvVwW --version --help",
    "ruby": "-cswv ?W --version --help --verbose --jit --yjit",
    "lua": "-EvW",
    "php": "-hilmvn --version --ini",
    "Rscript": "--version --verbose --vanilla --no-save --no-restore",
    "vim": "-Rnv --version --help --clean",
    "emacs": "-nwQ --version",
    "nano": "-lv --version --view",
}  # fmt: skip


_LIKE_OPTION: Final = re.compile(r"-(?![0-9]+\Z)")


class Known(msgspec.Struct, frozen=True):
    """The harmless options of one program; a name leads to what its value is: none "", any "=", or "<", ">", "0"."""

    letters: dict[str, str]
    long: dict[str, str]
    numbers: bool
    single: bool
    names_files: bool
    """Whether the value of some option is a file."""


class Options(msgspec.Struct, frozen=True):
    """The words of a command, sorted. ``unknown`` is how many words a rule must spell out to cover all options."""

    operands: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    unknown: int


@cache
def known(program: str) -> Known | None:
    """What is known about ``program``; None if its options were not examined."""
    text = LISTED.get(program, GIT_OPTIONS.get(program))
    if text is None:
        return None
    letters: dict[str, str] = {}
    long: dict[str, str] = {}
    words = text.split()
    for word in words:
        if word.startswith("--"):
            name, equals, kind = word.partition("=")
            kind = (kind or "=") if equals else ""
            long[name] = "?" if long.get(name, kind) != kind else kind  # listed in both forms: the value is optional
        elif len(word) > 1 and word[0] in "-:<>0?":
            letters.update(dict.fromkeys(word[1:], {"-": "", ":": "="}.get(word[0], word[0])))
    if program.startswith("git "):
        long |= {f"--no-{name[2:]}": "" for name in long}
    names_files = any(kind in ("<", ">") for kind in (*letters.values(), *long.values()))
    return Known(letters, long, "#" in words, "single" in words, names_files)


class _Sorter:
    __slots__ = ("ambiguous", "operands", "reads", "spec", "unknown", "values", "writes")

    def __init__(self, spec: Known) -> None:
        self.spec = spec
        self.ambiguous = 0
        self.operands: list[str] = []
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.values: list[tuple[str, str]] = []
        self.unknown = 0

    def option(self, at: int, word: str, following: str | None) -> int:
        """How many of the next words are its value."""
        if self.spec.numbers and word[1:].isdigit():
            return 0
        if word.startswith("--") or self.spec.single:
            name, equals, value = f"--{word.lstrip('-')}".partition("=")
            kind = self.spec.long.get(name)
            return self._take(at, name, kind, value if equals else None, following)
        for index, letter in enumerate(word[1:], 2):
            kind = self.spec.letters.get(letter)
            if kind != "":
                return self._take(at, f"-{letter}", kind, word[index:] or None, following)
        return 0

    def _take(self, at: int, name: str, kind: str | None, glued: str | None, following: str | None) -> int:
        if kind is None or (kind == "" and glued is not None):
            self.unknown = at
            return 0
        if kind in ("", "?"):
            return 0
        if glued is None and following is not None and following != "-" and _LIKE_OPTION.match(following):
            self.ambiguous = at + 1
            return 0  # some programs take no value from the next word: judge it as a separate option
        value = following if glued is None else glued
        used = int(glued is None)
        if value is None:
            return 0
        if used and at == self.ambiguous:
            self.unknown = at + used  # where this option is a value itself, its own value is a file: grep -e -C FILE
        if kind == "0" and value not in ("-", "/dev/null"):
            self.unknown = at + used
        elif kind == "<":
            self.reads.append(value)
        elif kind == ">":
            self.writes.append(value)
        self.values.append((name, value))
        return used


def sort_words(program: str, argv: Sequence[str], *, until_operand: bool = False) -> Options | None:
    """``argv`` sorted by the meaning of each word to ``program``; None if its options were not examined.

    ``until_operand``: what follows the first operand belongs to another program (a script of an interpreter).
    """
    spec = known(program)
    if spec is None:
        return None
    sorter = _Sorter(spec)
    at = 1
    while at < len(argv):
        word = argv[at]
        at += 1
        if word == "--":
            sorter.operands += argv[at:]
            break
        if word.startswith("-") and word != "-":
            at += sorter.option(at, word, argv[at] if at < len(argv) else None)
            continue
        sorter.operands.append(word)
        if until_operand:
            break
    return Options(
        tuple(sorter.operands), tuple(sorter.reads), tuple(sorter.writes), tuple(sorter.values), sorter.unknown
    )


def values_of(options: Options, names: Iterable[str]) -> list[str]:
    """The values given to one of ``names``."""
    wanted = frozenset(names)
    return [value for name, value in options.values if name in wanted]
