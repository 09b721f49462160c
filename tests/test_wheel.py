"""The wheel holds the package and nothing else: no tests, no scenarios, no recordings, no binary."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"

TYPED = {path.relative_to(SOURCE).as_posix() for path in SOURCE.glob("quarterdeck/gateways/grpc/v1/*_pb2.pyi")}
DOCS = {f"quarterdeck/gateways/http/pages/docs.{kind}" for kind in ("html", "css", "js")}
PAGE = {
    path.relative_to(SOURCE).as_posix()
    for path in (SOURCE / "quarterdeck/gateways/http/pages/app").rglob("*")
    if path.suffix in (".css", ".html", ".js", ".json", ".LICENSE", ".svg", ".webmanifest")
}
DATA = {"quarterdeck/py.typed", "quarterdeck/cli/doctor/compatibility.json", *DOCS, *PAGE, *TYPED}
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
OURS_ALONE = re.compile(r"/(tests?|test_[^/]*|[^/]*_test|conftest|scenarios|recordings|fixtures|__pycache__)(/|\.py$)")
"""Files and folders that only the repository's own tests need."""


def strays(names: Iterable[str]) -> list[str]:
    """Files that do not belong in a wheel: neither a module for users nor one of the data files."""
    return sorted(
        name for name in names if name not in DATA and (not name.endswith(".py") or OURS_ALONE.search(name) is not None)
    )


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")))
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_has_every_module_of_the_package_and_its_data_files(contents: set[str]) -> None:
    modules = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")}
    assert {name for name in contents if name.startswith("quarterdeck/")} == modules | DATA


def test_beside_the_package_there_is_only_the_metadata(contents: set[str]) -> None:
    beside = [name.split("/", 1) for name in contents if not name.startswith("quarterdeck/")]
    assert len({folder for folder, _ in beside}) == 1
    assert {name for _, name in beside} == METADATA


def test_nothing_in_the_wheel_is_there_for_our_own_tests(contents: set[str]) -> None:
    assert strays(name for name in contents if name.startswith("quarterdeck/")) == []


def test_every_folder_of_the_package_is_a_package(contents: set[str]) -> None:
    folders = {name.rsplit("/", 1)[0] for name in contents if name.endswith(".py")}
    assert {f"{folder}/__init__.py" for folder in folders} <= contents


def test_a_stray_file_would_be_found() -> None:
    stray = [
        "quarterdeck/cli/claude",
        "quarterdeck/cli/notes.md",
        "quarterdeck/testing/conftest.py",
        "quarterdeck/testing/more/scenarios/turns.py",
        "quarterdeck/wire/test_codec.py",
        "quarterdeck/wire/__pycache__/codec.py",
    ]
    assert strays([*stray, "quarterdeck/testing/model/script.py", *DATA]) == sorted(stray)
