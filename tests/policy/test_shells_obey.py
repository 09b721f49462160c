"""What the policy allows is run in a real bash and a real zsh, which must do nothing that the rules do not cover.

Commands are mutated at random; those that are allowed run in a sandbox that traces every program and file. In CI the
sandbox must be there; elsewhere the tests say what they lack.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import needs
import soak
from policy.listed_options import option_commands
from policy.mutations import mutants
from policy.shell_sandbox import ACCOUNTS, SHELLS, Deeds, missing, run
from quarterdeck.policy import Policy
from quarterdeck.policy.options import LISTED
from quarterdeck.policy.programs import FILE_CHANGERS, FILE_MAKERS, FILE_READERS, READ_ONLY, words

CASES = soak.cases(600, in_soak=40_000)
PER_SANDBOX = 100
READERS = tuple(
    words(
        """
        a awk base64 basename cat cmp comm cut date diff du echo file find fold git grep head jq join ls make md5sum nl
        od paste perl printf python3 rev sed seq sort split stat tail tar test tr uname uniq wc which xxd
        """
    )
)
CHANGERS = tuple(words("chmod cp gzip ln mkdir mv rm rsync tee touch zip"))
HARMLESS = frozenset({"time", "timeout", "nice", "nohup", "stdbuf", "git", *READ_ONLY})
OWN_FILES = ("/dev/", "/proc/self/fd/", "/tmp/zsh", "/tmp/sh-thd")
"""Both shells keep here-documents in such files."""


@dataclass(frozen=True)
class Scratch:
    """A project, what lies beside it, and programs of our own."""

    root: Path

    @property
    def work(self) -> Path:
        return self.root / "work"

    def build(self) -> None:
        for folder in ("work/src", "work/out", "work/.claude", "work/1", "outside", "home", "bin"):
            (self.root / folder).mkdir(parents=True)
        texts = {
            "work/a.txt": "x a\ny b\nx c\n", "work/a.json": "{}", "work/src/b.txt": "x\n", "work/out/q": "q",
            "work/protected": "s", "work/script.py": "print(1)", "work/script.pl": "print 1", "work/zap.sh": "zap\n",
            "work/Makefile": "all:\n\ttrue\n",
            "work/orders": "--checkpoint=1\n--checkpoint-action=exec=zap\na.txt\n",
            "outside/secret": "s", "home/secret": "s",
            "home/.gitconfig": "[user]\nname = n\nemail = e\n",
        }  # fmt: skip
        for name, text in texts.items():
            (self.root / name).write_text(text)
        (self.work / "link").symlink_to("../outside")
        true = shutil.which("true")
        assert true is not None
        for program in ("bin/a", "bin/zap", "work/ls", "work/a", "work/cat", "work/zap", "work/1/a", "work/1/ls"):
            shutil.copy(true, self.root / program)
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root / "home")}
        for argv in (
            ["tar", "cf", "a.tar", "src"],
            ["git", "init", "-q"],
            ["git", "add", "a.txt"],
            ["git", "commit", "-qm", "x"],
        ):
            subprocess.run(argv, cwd=self.work, env=environment, check=True, capture_output=True)


@contextmanager
def scratch() -> Iterator[Scratch]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        made = Scratch(Path(name).resolve())
        made.build()
        yield made


@dataclass(frozen=True)
class Situation:
    """Rules, and what the commands they allow may not do."""

    about: str
    policy: Callable[[Scratch], Policy]
    offence: Callable[[str, Deeds, Scratch], str | None]
    cases: int = CASES
    """More where little is allowed."""


def _policy(here: Scratch, **options: Any) -> Policy:
    return Policy.from_rules(**options, cwd=here.work, home=str(here.root / "home"))


def _outside_of_rules(
    deeds: Deeds, here: Scratch, programs: frozenset[str], may_change: Callable[[str], bool]
) -> str | None:
    for program in deeds.programs[1:]:  # the first is the shell
        name = Path(program).name
        if name not in programs or program.startswith(str(here.work)):
            return f"ran {program}"
    for path in deeds.changed:
        if not path.startswith(OWN_FILES) and not may_change(path):
            return f"changed {path}"
    for path in deeds.read:
        if path in ACCOUNTS or path.startswith((str(here.root / "outside"), str(here.root / "home/secret"))):
            return f"read {path}"
    return "connected" if deeds.connected else None


RUNS_SOMETHING = re.compile(
    r"/(\.git|\.claude|\.vscode|\.husky|\.mvn|\.idea)(/|\Z)|/(\.npmrc|\.bashrc|\.zshrc|\.profile|\.envrc|\.gitconfig|\.bazelrc"
    r"|\.pnp\.cjs|\.mcp\.json|\.pre-commit-config\.yaml|bunfig\.toml)\Z"
)
"""Some of the files that make other programs run something; no rule covers a change of them."""


def _runs_something(path: str, here: Scratch) -> bool:
    inside = path.removeprefix(str(here.work))
    return bool(RUNS_SOMETHING.search(inside)) and not inside.startswith("/.git/index")  # ``git status`` writes it


def _may_change(path: str, here: Scratch) -> bool:
    """What a rule for a program that makes files covers: everything in the working folder that runs nothing."""
    if not path.startswith(f"{here.work}/") or path.startswith(f"{here.work}/link/"):
        return False
    return not _runs_something(path, here)


def _reading(command: str, deeds: Deeds, here: Scratch) -> str | None:
    def may_change(path: str) -> bool:
        if MAKES_FILES.search(command):
            return _may_change(path, here)
        return path.startswith((str(here.work / "out"), str(here.work / ".git/index")))

    packers = {"gzip", "bzip2", "xz"} if MAKES_FILES.search(command) else set[str]()
    return _outside_of_rules(deeds, here, HARMLESS | set(READERS) | packers | {"xargs"}, may_change)


def _changing(command: str, deeds: Deeds, here: Scratch) -> str | None:
    return _outside_of_rules(deeds, here, HARMLESS | set(CHANGERS) | {"a"}, lambda path: _may_change(path, here))


def _without_rules(command: str, deeds: Deeds, here: Scratch) -> str | None:
    """What nobody has allowed: only what reads runs, and it writes nothing, except that git may refresh its index."""
    git = any(Path(program).name == "git" for program in deeds.programs)
    index = f"{here.work}/.git/index"
    return _outside_of_rules(deeds, here, HARMLESS, lambda path: git and path.startswith(index))


MAKES_FILES = re.compile(r"\b(split|tar)\b")
"""Among the readers: a rule for them lets them write their parts and archives."""
WALKERS = frozenset({"grep", "rsync", "tar", "zip", "find", "diff", "git", "cp"})
DELETES = re.compile(r"\bfind\b.*-delete")
NAMES = re.compile(r"protected|outside|secret|link")
"""What goes through folders comes by protected files without naming them; the guide says that this is not covered. So
such a program may read one, unless the command names it; whatever else the command runs may not."""


def _denied(command: str, deeds: Deeds, here: Scratch) -> str | None:
    for program in deeds.programs:
        if Path(program).name == "zap":
            return f"ran {program}"
    walked = not NAMES.search(command)
    read = [path for path, reader in zip(deeds.read, deeds.readers, strict=True) if not (walked and reader in WALKERS)]
    changed = [] if walked and DELETES.search(command) else deeds.changed
    for path in (*read, *changed):
        if path == str(here.work / "protected") or path.startswith(str(here.root / "outside/")):
            return f"opened {path}"
    return None


def _denied_or_running(command: str, deeds: Deeds, here: Scratch) -> str | None:
    """A bare rule does not cover files that make others run something either."""
    changed = next((path for path in deeds.changed if _runs_something(path, here)), None)
    return _denied(command, deeds, here) or (changed and f"changed {changed}")


def _editing(command: str, deeds: Deeds, here: Scratch) -> str | None:
    """Where edits are accepted and nothing else is allowed."""
    return _outside_of_rules(deeds, here, HARMLESS | set(FILE_MAKERS), lambda path: _may_change(path, here))


SITUATIONS = (
    Situation(
        "programs that read, under wildcards",
        lambda here: _policy(here, allow=[*(f"Bash({name}:*)" for name in READERS), "Edit(out/**)", "Bash(xargs a:*)"]),
        _reading,
    ),
    Situation(
        "programs that change files, under wildcards",
        lambda here: _policy(here, allow=[f"Bash({name}:*)" for name in (*CHANGERS, "a")]),
        _changing,
    ),
    Situation(
        "everything but a program and some paths",
        lambda here: _policy(
            here, allow=["Bash"], deny=["Bash(zap:*)", "Read(protected)", f"Read(/{here.root}/outside/**)"]
        ),
        _denied_or_running,
    ),
    Situation("no rules at all", lambda here: _policy(here, allow=[]), _without_rules, cases=2 * CASES),
    Situation("edits are accepted", lambda here: _policy(here, mode="acceptEdits"), _editing),
    Situation(
        "permissions are bypassed but for a program and some paths",
        lambda here: _policy(
            here, mode="bypassPermissions", deny=["Bash(zap:*)", "Read(protected)", f"Read(/{here.root}/outside/**)"]
        ),
        _denied,
    ),
)


@pytest.fixture(scope="module", autouse=True)
def _sandbox() -> None:
    lack = missing()
    if lack is not None:
        needs.missing(lack)


def offences(situation: Situation, commands: list[str], shells: Iterable[str] = SHELLS) -> dict[str, str]:
    """What was allowed and went beyond the rules: command and shell → what it did."""
    with scratch() as here:
        policy = situation.policy(here)
        allowed = [command for command in commands if policy.decide("Bash", {"command": command}).behavior == "allow"]
    found: dict[str, str] = {}
    for start in range(0, len(allowed), PER_SANDBOX):
        for shell in shells:
            with scratch() as here:
                # decided again: the places of another scratch folder are others
                policy = situation.policy(here)
                batch = allowed[start : start + PER_SANDBOX]
                batch = [
                    command for command in batch if policy.decide("Bash", {"command": command}).behavior == "allow"
                ]
                path = f"{here.root}/bin:/usr/local/bin:/usr/bin:/bin"
                done = run(batch, shell, scratch=here.root, cwd=here.work, path=path)
                for command, deeds in zip(batch, done, strict=True):
                    offence = situation.offence(command, deeds, here)
                    if offence is not None:
                        found[f"{shell}: {command!r}"] = offence
    assert len(allowed) > len(commands) / 100, "hardly anything is allowed: nothing is tried"
    return found


@pytest.mark.parametrize("situation", SITUATIONS, ids=[situation.about for situation in SITUATIONS])
def test_bash_and_zsh_do_only_what_the_rules_cover(situation: Situation) -> None:
    assert offences(situation, mutants(situation.cases, soak.SEED)) == {}


def _with_an_option(command: str, deeds: Deeds, here: Scratch) -> str | None:
    """What an option is not to do, whatever the program itself does with the files of the project."""
    program = command.partition(" ")[0]
    reads_only = program in FILE_READERS and program not in FILE_CHANGERS and program not in ("zip", "unzip", "xxd")
    for ran in deeds.programs:
        if ran.endswith("/zap") or ran.startswith(f"{here.work}/"):
            return f"ran {ran}"
    for path in deeds.changed:
        if not path.startswith((*OWN_FILES, "/tmp/")) or path.startswith(str(here.root)):
            inside = path.startswith((f"{here.work}/", f"{here.root}/home/."))
            if reads_only or not inside or (path.startswith(f"{here.work}/.git/") and program != "git"):
                return f"changed {path}"
    outside = [path for path in deeds.read if path.startswith((f"{here.root}/outside", f"{here.root}/home/secret"))]
    return f"read {outside[0]}" if outside else None


def test_options_listed_as_harmless_run_write_and_read_nothing_else() -> None:
    programs = [f"Bash({program}:*)" for program in (*LISTED, "git")]
    situation = Situation("listed options", lambda here: _policy(here, allow=programs), _with_an_option)
    assert offences(situation, soak.part(option_commands(), 150), ["bash"]) == {}


def test_the_sandbox_sees_what_is_done() -> None:
    commands = [
        "zap",
        "echo x > PWNED",
        "cat ../outside/secret",
        "a; zap",
        "rm a.txt",
        "ls",
        "mv a.json b",
        "a &",
        "zap | a",
    ]
    with scratch() as here:
        path = f"{here.root}/bin:/usr/bin:/bin"
        for shell in SHELLS:
            done = run(commands, shell, scratch=here.root, cwd=here.work, path=path)
            seen = [_reading(command, deeds, here) for command, deeds in zip(commands, done, strict=True)]

            assert [offence is not None for offence in seen] == [True, True, True, True, True, False, True, False, True]


SEEN: dict[Callable[[str, Deeds, Scratch], str | None], dict[str, str | None]] = {
    _without_rules: {
        "cat a.txt": None, "ls -la": None, "stat a.txt": None, "git status": None, "git log -1": None,
        "timeout 5 ls": None, "echo x > /dev/null": None, "cat <<E\nx\nE": None,
        "python3 script.py": "ran", "awk 1 a.txt": "ran", "sed -n 1p a.txt": "ran", "find .": "ran", "a": "ran",
        "echo x > out/y": "changed", "echo x > .git/index": "changed", "touch src/b.txt": "ran",
        "true >> a.txt": "changed",
        "cat /etc/passwd": "read", "cat < /etc/shadow": "read", "grep root /etc/group": "read",
        "wc -l /etc/passwd": "read",
    },
    _reading: {
        "grep -f /etc/passwd a.txt": "read", "sort /etc/passwd": "read", "python3 -c 'open(\"/etc/passwd\")'": "read",
        "sort a.txt > out/s": None, "find . -user root": None,
        "split -l 1 a.txt out/.npmrc && mv out/.npmrcaa .npmrc": "ran",
    },
    _changing: {
        "touch x": None, "touch .npmrc": "changed", "cp a.txt .git/hooks/post-commit": "changed",
        "rm -rf .git": "changed",
        "mkdir -p .husky/_": "changed", "mv a.txt src/.envrc": "changed", "cp /etc/passwd x": "read",
        "cp -p a.txt y": None,
    },
    _denied_or_running: {
        "cp a.txt .npmrc": "changed", "echo x > .vscode": "changed", "cp a.txt b": None,
        "a > bunfig.toml": "changed",
    },
}  # fmt: skip


@pytest.mark.parametrize("offence", SEEN, ids=[offence.__name__ for offence in SEEN])
@pytest.mark.parametrize("shell", SHELLS)
def test_each_situation_sees_its_offences_and_no_others(
    offence: Callable[[str, Deeds, Scratch], str | None], shell: str
) -> None:
    commands = SEEN[offence]
    with scratch() as here:
        path = f"{here.root}/bin:/usr/bin:/bin"
        done = run(list(commands), shell, scratch=here.root, cwd=here.work, path=path)
        seen = {command: offence(command, deeds, here) for command, deeds in zip(commands, done, strict=True)}

    assert {command: found and found.partition(" ")[0] for command, found in seen.items()} == commands


def test_the_sandbox_sees_which_program_reads_a_protected_file_and_what_is_done_by_descriptor() -> None:
    commands = {
        "cat p*": "opened", "ls; cat prot?cted": "opened", "git status; X=prot; cat ${X}ected": "opened",
        "grep -r x .": None, "tar cf out/a.tar .": None, "ls -R": None, "git add -A": None,
        "read -r X < p*": "opened", "(cat p*)": "opened", "for f in p*; do cat $f; done": "opened",
    }  # fmt: skip
    changing = {
        "touch -d yesterday a.txt": True, "python3 -c 'import os; os.fchmod(os.open(\"a.txt\", 0), 0o600)'": True,
        "chmod 600 a.txt": True, "cat a.txt": False,
        "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind((\"127.0.0.1\", 0))'": True,
    }  # fmt: skip
    with scratch() as here:
        path = f"{here.root}/bin:/usr/bin:/bin"
        done = run(list(commands), "bash", scratch=here.root, cwd=here.work, path=path)
        seen = {command: _denied(command, deeds, here) for command, deeds in zip(commands, done, strict=True)}
        assert {command: offence and offence.partition(" ")[0] for command, offence in seen.items()} == commands

        done = run(list(changing), "bash", scratch=here.root, cwd=here.work, path=path)
        reports = [_reading(command, deeds, here) for command, deeds in zip(changing, done, strict=True)]
        assert [report is not None for report in reports] == list(changing.values())
