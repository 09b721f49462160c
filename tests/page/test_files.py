"""The page's files: types, vendored libraries, size, and how they are served."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.async_api import expect

from gateways.http.kit import served
from host.kit import pending
from needs import from_npm
from page.browser import window
from page.kit import deck
from quarterdeck.gateways.http import Settings, page_joining
from quarterdeck.gateways.http.page_files import PAGE_POLICY, page_file
from quarterdeck.gateways.http.page_joining import FOLDER, JOINED, LATER, MAIN, joined_file

TYPESCRIPT = "5.9.3"
TYPES = Path(__file__).with_name("types")
VENDOR = FOLDER / "vendor"
FIRST_LOAD_BYTES = 150 * 1024
OURS = sorted(path for path in FOLDER.rglob("*.js") if path.parent != VENDOR)


def test_the_types_hold(tmp_path: Path) -> None:
    compiler = from_npm("typescript", TYPESCRIPT)
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


async def test_a_first_load_is_small_with_all_that_it_fetches_afterwards(tmp_path: Path, browser_address: str) -> None:
    """The list, an inbox with a diff, and a session by its link, each in a browser that has nothing yet."""
    edit = {"tool": "Edit", "input": {"file_path": "a.txt", "old_string": "one two", "new_string": "one three"}}
    async with deck(tmp_path, browser_address, ["I **edit** it.", edit, "Done."]) as there:
        (there.there.place.cwd / "a.txt").write_text("one two\n")
        session = await there.there.session()
        await pending(there.there.host)
        drawn = {
            "sessions": ".sessions tbody tr",
            "inbox": ".approval .diff mark",  # by jsdiff; what was said before it by the Markdown library
            f"session/{session}": ".text-item strong",
        }
        for path, wanted in drawn.items():
            async with window(there.browser) as person:
                page = await person.page("about:blank")
                network = await person.context.new_cdp_session(page)
                sizes: list[float] = []
                network.on(
                    "Network.loadingFinished", lambda event, sizes=sizes: sizes.append(event["encodedDataLength"])
                )
                await network.send("Network.enable")
                secret = there.there.admin.secret
                await person.context.add_init_script(f"sessionStorage.setItem('quarterdeck.token', '{secret}')")
                await page.goto(f"{there.url}#/{path}")
                await expect(page.locator(wanted).first).to_be_visible()
                await page.wait_for_load_state("networkidle")
                assert sum(sizes) <= FIRST_LOAD_BYTES, (path, sizes)
                assert len(sizes) >= (5 if path == "sessions" else 6), (path, sizes)


async def test_a_first_look_takes_few_requests(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address) as there, window(there.browser) as person:
        page = await there.enter(person, "sessions")
        await page.wait_for_selector(".empty")
        names = {url.removeprefix(there.url) for url in person.requests}
        assert names <= {
            "",
            "app/joined/page.css",
            "app/net/early.js",
            "app/joined/main.js",
            "app/icon.svg",
            "#/sessions",
        }


SENT = """{ const send = WebSocket.prototype.send; globalThis.sent = [];
  WebSocket.prototype.send = function (said) { sent.push(JSON.parse(said).op); send.call(this, said); }; }"""


async def test_what_is_asked_for_early_is_asked_once(tmp_path: Path, browser_address: str) -> None:
    async with deck(tmp_path, browser_address, ["One."]) as there, window(there.browser) as person:
        session = await there.there.session(name="errand")
        await person.context.add_init_script(SENT)
        page = await there.enter(person, f"session/{session}")
        await expect(page.locator(".text-item")).to_contain_text("One.")
        await expect(page.locator(".navigation .link")).to_have_text("Connected")
        sent = await page.evaluate("globalThis.sent")
        for op in ("list_sessions", "list_approvals", "get_timeline"):
            assert sent.count(op) == 1, sent
        assert sent[:2] == ["subscribe", "get_timeline"]
        assert sent.count("subscribe") == 2  # the lists, and the session behind its snapshot


def lines_of(name: str) -> list[str]:
    return (FOLDER / name).read_text().rstrip("\n").split("\n")


def told_by(source_map: dict[str, object]) -> list[tuple[str, int] | None]:
    """For each line of a joined file: the source and the number of its line there."""
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    sources, found, source, line = source_map["sources"], [], 0, 0
    for group in str(source_map["mappings"]).split(";"):
        numbers, value, shift = [], 0, 0
        for digit in map(digits.index, group):
            value |= (digit & 31) << shift
            shift += 5
            if not digit & 32:
                numbers.append(-(value >> 1) if value & 1 else value >> 1)
                value = shift = 0
        if numbers:
            source, line = source + numbers[1], line + numbers[2]
        found.append((str(sources[source]), line) if numbers else None)  # type: ignore[index]
    return found


@pytest.mark.parametrize("entry", [MAIN, *LATER])
def test_a_joined_file_has_every_line_of_its_modules_and_leads_to_it(entry: str) -> None:
    joined = joined_file(JOINED + entry).decode().split("\n")
    origins = told_by(json.loads(joined_file(f"{JOINED}{entry}.map")))
    assert len(origins) == len(joined)
    seen: dict[str, list[str]] = {}
    for line, origin in zip(joined, origins, strict=True):
        if origin is not None:
            name = origin[0].replace("../", "")
            source = lines_of(name)[origin[1]]
            told = re.sub(r"/\*\* .*?\*/", "", source).lstrip(" ")
            assert (
                line.lstrip(" ") in (source.lstrip(" "), told) or "import" in source or "export" in source or not line
            ), (line, source)
            assert line or re.match(r" *(//|/?\*|import|export|\}|$)", source), source
            seen.setdefault(name, []).append(line)
    assert entry in seen
    for name, found in seen.items():
        assert len(found) == len(lines_of(name)), name


def test_every_module_is_joined_once() -> None:
    joined = [json.loads(joined_file(f"{JOINED}{entry}.map"))["sources"] for entry in (MAIN, *LATER)]
    names = [source.replace("../", "") for sources in joined for source in sources]
    assert len(names) == len(set(names))
    alone = {"net/early.js", "store/types.js", "vendor/diff.js"}  # the document's; types only; fetched by itself
    written = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js")}
    assert written - alone == set(names)


def test_modules_that_need_each_other_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {
        "main.js": "import { a } from './a.js';",
        "a.js": "import { b } from './b/b.js';",
        "b/b.js": "import '../a.js';",
    }
    monkeypatch.setattr(page_joining, "_source", sources.__getitem__)
    page_joining.module_order.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"a\.js → b/b\.js → a\.js"):
            page_joining.module_order("main.js")
    finally:
        page_joining.module_order.cache_clear()


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
        assert "/app/joined/main.js" in loaded
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
