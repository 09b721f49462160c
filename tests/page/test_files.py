"""The page's files: types, vendored libraries, size, and how they are served."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from benchmarks._npm import package

from gateways.http.kit import served
from quarterdeck.gateways.http import Settings
from quarterdeck.gateways.http.page_files import FOLDER, PAGE_POLICY, page_file

TYPESCRIPT = "5.9.3"
TYPES = Path(__file__).with_name("types")
VENDOR = FOLDER / "vendor"
FIRST_LOAD_BYTES = 150 * 1024
OURS = sorted(path for path in FOLDER.rglob("*.js") if path.parent != VENDOR)


def test_the_types_hold(tmp_path: Path) -> None:
    compiler = package("typescript", TYPESCRIPT)
    if compiler is None:
        pytest.skip("node or npm is not installed, or the registry cannot be reached")
    shutil.copytree(FOLDER, tmp_path / "app", ignore=shutil.ignore_patterns("vendor"))
    shutil.copytree(TYPES, tmp_path / "app", dirs_exist_ok=True)  # declarations in the place of the libraries
    command = ["node", str(compiler / "node_modules/typescript/bin/tsc"), "-p", str(tmp_path / "app")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout


def test_the_libraries_are_those_that_were_fetched_with_their_licences() -> None:
    listed = json.loads((VENDOR / "vendor.json").read_text())["packages"]
    known = {}
    for one in listed:
        assert one["integrity"].startswith("sha512-"), one["name"]
        known[one["licence"]["file"]] = one["licence"]["sha256"]
        known.update({name: file["sha256"] for name, file in one["files"].items()})
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.iterdir()}
    found.pop("vendor.json")
    assert found == known


async def test_the_first_load_is_small(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client(None)
        document = (await client.get("/", headers={"Accept-Encoding": "gzip"})).body
        sizes = {"/": len(document)}
        for path in re.findall(r'(?:src|href)="([^"]+)"', gzip.decompress(document).decode()):
            sizes[path] = len((await client.get(path, headers={"Accept-Encoding": "gzip"})).body)
        assert sum(sizes.values()) <= FIRST_LOAD_BYTES, sizes


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_no_module_writes_markup_or_reaches_out(path: Path) -> None:
    text = path.read_text()
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "dangerouslySetInnerHTML", "eval("):
        assert word not in text
    assert re.findall(r"https?://[^\s'\"`]+", text) == []
    assert len(text.splitlines()) <= 350


async def test_the_page_needs_no_token_and_allows_nothing_but_its_own_files(tmp_path: Path) -> None:
    async with served(tmp_path) as there:
        client = there.client(None)
        page = await client.get("/")
        assert page.status == 200
        assert page.headers["content-security-policy"] == PAGE_POLICY
        assert "unsafe" not in PAGE_POLICY
        assert "require-trusted-types-for 'script'" in PAGE_POLICY
        loaded = re.findall(r'(?:src|href)="([^"]+)"', page.body.decode())
        assert "/app/main.js" in loaded
        for path in loaded:
            answer = await client.get(path, headers={"Accept-Encoding": "gzip"})
            assert answer.status == 200, path
            assert answer.headers["x-content-type-options"] == "nosniff"
            again = await client.get(path, headers={"If-None-Match": answer.headers["etag"]})
            assert (again.status, again.body) == (304, b""), path


async def test_behind_a_base_path_every_link_has_it(tmp_path: Path) -> None:
    async with served(tmp_path, Settings(base_path="/qd/")) as there:
        client = there.client(None)
        body = (await client.get("/qd/")).body.decode()
        links = re.findall(r'(?:src|href)="([^"]+)"', body)
        assert links
        assert all(link.startswith("/qd/app/") for link in links)
        assert (await client.get("/qd/app/page.webmanifest")).json["start_url"] == "/qd/"


@pytest.mark.parametrize(
    "path", ["/app/", "/app/../page_files.py", "/app/..%2f..%2fapp.py", "/app//etc/passwd", "/app/vendor", "/apples"]
)
def test_nothing_else_is_there(path: str) -> None:
    assert page_file(path, "") is None
