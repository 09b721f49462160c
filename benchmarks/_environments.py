"""Where each side runs: an environment of its own, with what it needs and nothing else.

A development environment has packages that a program's own would not have, and some are picked up when they are there
(``msgspec`` imports ``typing_extensions``); and the two sides must not share their dependencies.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

from quarterdeck.testing.install import default_cache_dir

from ._table import say

PACKAGE = "claude-agent-sdk"
VERSION = "0.2.182"
SOURCE = Path(__file__).parent.parent / "src"
CHILDREN = Path(__file__).parent / "_children"
INSTALL_LIMIT_S = 900.0
"""The official SDK's wheel brings a CLI of 160 MB along; slow networks exist."""
ASK_LIMIT_S = 60.0


def peer_python() -> Path:
    """The interpreter that has the official SDK; the environment is made on first use and kept in the cache."""
    target = _folder("peer", f"{PACKAGE}-{VERSION}")
    _provide(target, PACKAGE, VERSION, "about 160 MB, once")
    return _python(target)


def own_python(*, extras: bool = False) -> Path:
    """The interpreter that has this checkout of Quarterdeck, and the ``msgspec`` that the tests use.

    ``extras``: and everything that ``quarterdeck[all]`` brings along.
    """
    checkout = hashlib.sha256(os.fsencode(SOURCE.resolve())).hexdigest()[:8]
    target = _folder("own", f"quarterdeck-{checkout}{'-all' if extras else ''}")
    _provide(target, "msgspec", version("msgspec"), "once", *(_extras() if extras else ()))
    packages = subprocess.run(
        [_python(target), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        timeout=ASK_LIMIT_S,
        check=True,
    )
    (Path(packages.stdout.strip()) / "quarterdeck.pth").write_text(f"{SOURCE.resolve()}\n")
    # As an installation would: whoever sets PYTHONDONTWRITEBYTECODE would else compile in every process.
    compile_all = [str(_python(target)), "-m", "compileall", "-q", str(SOURCE), str(CHILDREN)]
    subprocess.run(compile_all, timeout=INSTALL_LIMIT_S, check=True)
    return _python(target)


def _extras() -> list[str]:
    """The requirements of all extras."""
    with (SOURCE.parent / "pyproject.toml").open("rb") as file:
        groups: dict[str, list[str]] = tomllib.load(file)["project"]["optional-dependencies"]
    return [requirement for name, group in groups.items() if name != "all" for requirement in group]


def _folder(kind: str, name: str) -> Path:
    return default_cache_dir() / kind / f"{name}-{sys.implementation.cache_tag}"


def _provide(target: Path, package: str, wanted: str, how_much: str, *others: str) -> None:
    if _version_in(target, package) == wanted:
        return
    say(f"installing {package} {wanted} into {target} ({how_much})")
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        for command in (
            [sys.executable, "-m", "venv", str(target)],
            [str(_python(target)), "-m", "pip", "install", "--quiet", f"{package}=={wanted}", *others],
        ):
            subprocess.run(command, check=True, timeout=INSTALL_LIMIT_S)
    except (subprocess.SubprocessError, OSError) as error:
        raise SystemExit(f"the benchmark needs {package} {wanted}, and could not get it: {error}") from error
    if _version_in(target, package) != wanted:
        raise SystemExit(f"{package} {wanted} did not install into {target}; remove that folder and try again")


def _python(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _version_in(environment: Path, package: str) -> str | None:
    if not _python(environment).exists():
        return None
    asked = subprocess.run(
        [_python(environment), "-c", f"import importlib.metadata as m; print(m.version({package!r}))"],
        capture_output=True,
        text=True,
        timeout=ASK_LIMIT_S,
        check=False,
    )
    return asked.stdout.strip() or None
