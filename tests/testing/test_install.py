"""Installing a CLI version, with a stand-in for npm: what is fetched, what is kept, what is said when it fails."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from quarterdeck.testing import install as install_module
from quarterdeck.testing.install import CliInstall, InstallError, default_cache_dir, install_cli

NPM = """#!/bin/sh
echo "$@" >> "{log}"
[ -e "{folder}/refuse" ] && {{ echo "no such version" >&2; exit 1; }}
scope=node_modules/@anthropic-ai
mkdir -p "$scope/claude-code"
{make}
"""
MAKE_SCRIPT = 'echo "{version}" > "$scope/claude-code/cli.js"'
MAKE_NATIVE = """mkdir -p "$scope/claude-code-linux-x64"
printf '#!/bin/sh\\necho "{version} (Claude Code)"\\n' > "$scope/claude-code-linux-x64/claude"
chmod +x "$scope/claude-code-linux-x64/claude"
"""
NODE = """#!/bin/sh
echo "$(cat "$1") (Claude Code)"
"""


class Machine:
    """A PATH that has only stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.log = folder / "npm.log"

    def has_npm(self, make: str, *, says: str = "1.2.3") -> None:
        self._tool("npm", NPM.format(log=self.log, folder=self.folder, make=make.format(version=says)))

    def has_node(self) -> None:
        self._tool("node", NODE)

    @property
    def npm_calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def _tool(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(text)
        path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    real = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: real(name, path=str(tmp_path / "bin")))
    return Machine(tmp_path)


def test_a_script_cli_is_run_by_node(machine: Machine) -> None:
    machine.has_npm(MAKE_SCRIPT)
    machine.has_node()
    installed = install_cli("1.2.3", cache_dir=machine.cache)
    script = machine.cache / "claude-code/1.2.3/node_modules/@anthropic-ai/claude-code/cli.js"
    assert installed == CliInstall("1.2.3", (str(machine.folder / "bin/node"), str(script)))
    assert machine.npm_calls[0].startswith("install --prefix ")
    assert machine.npm_calls[0].endswith(" @anthropic-ai/claude-code@1.2.3")


def test_a_native_cli_runs_by_itself(machine: Machine) -> None:
    machine.has_npm(MAKE_NATIVE)
    native = machine.cache / "claude-code/1.2.3/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
    assert install_cli("1.2.3", cache_dir=machine.cache) == CliInstall("1.2.3", (str(native),))


def test_a_version_is_fetched_once_by_many(machine: Machine) -> None:
    machine.has_npm(MAKE_NATIVE)
    found: list[CliInstall] = []
    workers = [
        threading.Thread(target=lambda: found.append(install_cli("1.2.3", cache_dir=machine.cache))) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert len(found) == 4
    assert len(set(found)) == 1
    assert len(machine.npm_calls) == 1


def test_without_npm_it_says_what_to_do(machine: Machine) -> None:
    with pytest.raises(InstallError, match="needs npm to be installed: install Node"):
        install_cli("1.2.3", cache_dir=machine.cache)


def test_without_node_a_script_cli_says_what_to_do(machine: Machine) -> None:
    machine.has_npm(MAKE_SCRIPT)
    with pytest.raises(InstallError, match="needs Node"):
        install_cli("1.2.3", cache_dir=machine.cache)


def test_a_refusal_of_npm_is_passed_on_and_leaves_nothing(machine: Machine) -> None:
    machine.has_npm(MAKE_NATIVE)
    (machine.folder / "refuse").touch()
    with pytest.raises(InstallError, match=r"exit code 1.*\n*no such version"):
        install_cli("1.2.3", cache_dir=machine.cache)
    assert [path.name for path in (machine.cache / "claude-code").iterdir()] == [".1.2.3.lock"]
    (machine.folder / "refuse").unlink()
    assert install_cli("1.2.3", cache_dir=machine.cache).version == "1.2.3"


def test_another_version_than_asked_for_is_refused(machine: Machine) -> None:
    machine.has_npm(MAKE_NATIVE, says="9.9.9")
    with pytest.raises(InstallError, match=r"1\.2\.3 was requested, but --version printed '9\.9\.9"):
        install_cli("1.2.3", cache_dir=machine.cache)


def test_an_npm_that_hangs_is_given_up(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.has_npm("exec sleep 30")
    monkeypatch.setattr(install_module, "INSTALL_LIMIT_S", 0.2)
    with pytest.raises(InstallError, match=r"did not install Claude Code 1\.2\.3 within"):
        install_cli("1.2.3", cache_dir=machine.cache)


def test_a_lock_that_is_never_given_back_is_reported(machine: Machine) -> None:
    lock = machine.folder / "lock"
    with (
        install_module.locked(lock),
        pytest.raises(InstallError, match="another process has held"),
        install_module.locked(lock, limit_s=0.0),
    ):
        pytest.fail("two held the lock")


def test_a_broken_folder_says_so(machine: Machine) -> None:
    (machine.cache / "claude-code/1.2.3").mkdir(parents=True)
    with pytest.raises(InstallError, match="does not contain a Claude Code CLI: remove it"):
        install_cli("1.2.3", cache_dir=machine.cache)


def test_the_cache_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QUARTERDECK_CACHE", str(tmp_path))
    assert default_cache_dir() == tmp_path
    monkeypatch.delenv("QUARTERDECK_CACHE")
    assert default_cache_dir() == Path.home() / ".cache" / "quarterdeck"
