"""One load on the page, or on a bare one that only appends text, in a Chromium of its own.

Run as ``python -m benchmarks._children.page LOAD JSON``; prints one JSON object with what it measured.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from benchmarks._browser import chromium
from playwright.async_api import CDPSession, Page, async_playwright

from quarterdeck.host import Host
from quarterdeck.host.requests import ListApprovals, OfSession, SendPrompt, WatchHost

from .client import Figures
from .gateway_kit import Served, served
from .host import fill
from .host_kit import Setting, created, frames_of_turn, stop_keeper

LIMIT_MS = 60_000
MAY_CONNECT = "--disable-features=LocalNetworkAccessChecks"
"""The bare page is not served by the host, so Chromium takes it for one of the internet."""
END = "The end."
"""The last words of what is streamed: who shows them has shown it all."""
SIZE = {"width": 1280, "height": 800}

WATCHES = """
globalThis.longTasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) longTasks.push(entry.duration);
}).observe({ type: 'longtask', buffered: true });
"""
TWO_PICTURES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
SHOWN_AT = """
const seen = () => {
  if (globalThis.shownAt || !document.querySelector('SELECTOR')) return;
  requestAnimationFrame(() => setTimeout(() => { globalThis.shownAt ??= performance.now(); }));
};
new MutationObserver(seen).observe(document, { childList: true, subtree: true });
"""
"""When the first picture with an element of this kind in it was drawn."""

DRAWN = """
globalThis.drawn = { pictures: [], waits: [] };
let arrived = [], inPicture = false, asked = false;
const { port1, port2 } = new MessageChannel();
const soon = [];
port1.onmessage = () => soon.shift()();
const after = (work) => { soon.push(work); port2.postMessage(0); };
const nextPicture = globalThis.requestAnimationFrame.bind(globalThis);
globalThis.requestAnimationFrame = (work) => nextPicture((at) => {
  inPicture = true;
  after(() => { inPicture = false; });
  work(at);
});
globalThis.WebSocket = class extends WebSocket {
  constructor(...told) {
    super(...told);
    this.addEventListener('message', ({ data }) => {
      if (data.includes('"text_added"')) arrived.push(performance.now());
    });
  }
};
const painted = (waited) => {
  const now = performance.now();
  asked = false;
  drawn.pictures.push(now);
  for (const at of waited) drawn.waits.push(now - at);
};
new MutationObserver(() => {
  if (asked || !arrived.length) return;
  asked = true;
  const told = () => after(() => painted(arrived.splice(0)));
  if (inPicture) told();
  else nextPicture(told);
}).observe(document, { childList: true, characterData: true, subtree: true });
"""
"""When a picture with new text was painted, and how long the messages in it had been there."""

KEPT = """async (id) => {
  const { modules } = await import('/app/joined/main.js');
  return modules['deck.js'].deck().session(id).timeline.items.size;
}"""
SHOWN = "() => document.querySelectorAll('pre').length"
"""How many items each of them has."""

BARE = Path(__file__).with_name("bare_page.html")
"""The session's text, and nothing else."""


class Tab:
    """A page of a browser of its own, and what it has used."""

    def __init__(self, page: Page, tab: CDPSession, browser: CDPSession, at: Served) -> None:
        self.page = page
        self.at = at
        self._tab = tab
        self._browser = browser

    async def ours(self, path: str) -> None:
        await self.page.add_init_script(f"sessionStorage.setItem('quarterdeck.token', '{self.at.token}')")
        await self.page.goto(f"http://127.0.0.1:{self.at.port}/#/{path}")

    async def bare(self, session: str, after: str, whole: str = "") -> None:
        await self.page.route(
            re.compile("/bare"), lambda route: route.fulfill(body=BARE.read_text(), content_type="text/html")
        )
        told = json.dumps([session, self.at.token, after, whole])
        await self.page.goto(f"http://127.0.0.1:{self.at.port}/bare#{told}")

    async def processor_s(self) -> float:
        told = await self._browser.send("SystemInfo.getProcessInfo")
        return float(sum(one["cpuTime"] for one in told["processInfo"] if one["type"] == "renderer"))

    async def main_thread_s(self) -> float:
        told = await self._tab.send("Performance.getMetrics")
        return float(next(one["value"] for one in told["metrics"] if one["name"] == "TaskDuration"))

    async def heap_mb(self) -> float:
        await self._tab.send("HeapProfiler.collectGarbage")
        return float((await self._tab.send("Runtime.getHeapUsage"))["usedSize"]) / 2**20

    async def quiet(self) -> None:
        await self.page.evaluate(TWO_PICTURES)

    async def received_kb(self, goes: Callable[[], Awaitable[None]]) -> float:
        """What comes over the line for it, compressed as it is."""
        sizes: list[float] = []
        self._tab.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        await self._tab.send("Network.enable")
        await goes()
        return sum(sizes) / 1024


@asynccontextmanager
async def tab(at: Served) -> AsyncIterator[Tab]:
    with chromium(MAY_CONNECT) as address:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.connect_over_cdp(address)
            context = await browser.new_context(viewport=SIZE)  # type: ignore[arg-type]
            context.set_default_timeout(LIMIT_MS)
            page = await context.new_page()
            page.on("pageerror", lambda error: print(error, file=sys.stderr))
            page.on("console", lambda said: print(said.text, file=sys.stderr))
            await page.add_init_script(f"{{{WATCHES}}}")
            session = await context.new_cdp_session(page)
            await session.send("Performance.enable")
            yield Tab(page, session, await browser.new_browser_cdp_session(), at)
            await browser.close()


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[tuple[Host, str]]:
    """A host with the session that was filled before, or with a new one."""
    async with setting.host() as host:
        if setting.ids:
            session = setting.ids[0]
            await host.resume(OfSession(session_id=session))
        else:
            (session,) = await created(host, setting, 1)
        yield host, session
        await host.stop(OfSession(session_id=session))
    await stop_keeper(setting)


async def streamed(setting: Setting, *, bare: bool) -> Figures:
    """A turn that streams, and what it costs the page to show it."""
    async with opened(setting) as (host, session), served(host) as at, tab(at) as seen:
        page = seen.page
        await page.add_init_script(f"{{{DRAWN}}}")
        if bare:
            known = await host.get_session(OfSession(session_id=session))
            await seen.bare(session, f"{known.epoch}-{known.seq}", "all" if setting.ids else "")
            await page.wait_for_selector("body[data-live]", state="attached")
        else:
            await seen.ours(f"session/{session}")
            await page.wait_for_selector(".composer")
            if setting.ids:
                await page.get_by_role("button", name="Show earlier items").click()
                await page.wait_for_selector(".earlier", state="detached")
                await page.get_by_role("button", name="Newest").click()
        await seen.quiet()
        items = await page.evaluate(SHOWN if bare else KEPT, session)
        await page.evaluate("() => { longTasks.length = 0; drawn.pictures.length = drawn.waits.length = 0; }")
        before_s, before_main_s = await seen.processor_s(), await seen.main_thread_s()
        await frames_of_turn(host, session)
        await page.wait_for_function("(end) => document.body.textContent.includes(end)", arg=END)
        await seen.quiet()
        used_s, main_s = await seen.processor_s() - before_s, await seen.main_thread_s() - before_main_s
        tasks = await page.evaluate("() => longTasks")
        drawn = await page.evaluate("() => drawn")
        pictures, waits = drawn["pictures"], sorted(drawn["waits"])
        return {
            "items": items,
            "pictures_per_s": (len(pictures) - 1) * 1e3 / (pictures[-1] - pictures[0]),
            "p99_ms": waits[int(0.99 * (len(waits) - 1))],
            "processor_s": used_s,
            "main_thread_s": main_s,
            "deltas": setting.count,
            "long_tasks": len(tasks),
            "longest_ms": max(tasks, default=0.0),
            "heap_mb": await seen.heap_mb(),
        }


async def stream_ours(setting: Setting) -> Figures:
    return await streamed(setting, bare=False)


async def stream_bare(setting: Setting) -> Figures:
    return await streamed(setting, bare=True)


First = Callable[[Host, Setting], Awaitable[None]]


async def _nothing(host: Host, setting: Setting) -> None:
    """The host is as it was."""


async def _shown(
    setting: Setting, selector: str, goes: Callable[[Tab], Awaitable[None]], first: First = _nothing
) -> Figures:
    """From the navigation to the first picture with it, by the page's own clock, in a browser that knows nothing."""
    async with setting.host(keeper=False) as host, served(host) as at, tab(at) as seen:
        await first(host, setting)
        await seen.page.add_init_script(SHOWN_AT.replace("SELECTOR", selector))
        await goes(seen)
        await seen.page.wait_for_function("() => globalThis.shownAt")
        tasks = await seen.page.evaluate("() => longTasks")
        return {
            "shown_ms": await seen.page.evaluate("() => globalThis.shownAt"),
            "longest_ms": max(tasks, default=0.0),
            "heap_mb": await seen.heap_mb(),
        }


async def opening_ours(setting: Setting) -> Figures:
    return await _shown(setting, ".scroller > .row", lambda seen: seen.ours(f"session/{setting.ids[0]}"))


async def opening_bare(setting: Setting) -> Figures:
    return await _shown(setting, "body[data-shown]", lambda seen: seen.bare(setting.ids[0], "", "timeline"))


async def first_load(setting: Setting) -> Figures:
    """The list of sessions, with a session in it."""
    return await _shown(setting, ".sessions tbody tr", lambda seen: seen.ours("sessions"))


async def hit_ours(setting: Setting) -> Figures:
    """A row at the beginning, as a search finds it: what comes after it is loaded, too."""
    return await _shown(setting, ".row:focus", lambda seen: seen.ours(f"session/{setting.ids[0]}?at=10"))


async def _received(setting: Setting, path: str, selector: str, first: First = _nothing) -> Figures:
    """What comes for it; by itself, since being told of every request takes time from both processors."""
    async with setting.host(keeper=False) as host, served(host) as at, tab(at) as seen:
        await first(host, setting)

        async def goes() -> None:
            await seen.ours(path)
            await seen.page.wait_for_selector(selector)
            await seen.page.wait_for_load_state("networkidle")

        return {"received_kb": await seen.received_kb(goes)}


async def first_size(setting: Setting) -> Figures:
    return await _received(setting, "sessions", ".sessions tbody tr")


async def session_size(setting: Setting) -> Figures:
    return await _received(setting, f"session/{setting.ids[0]}", ".scroller > .row")


async def _asked(host: Host, setting: Setting) -> None:
    """A session waits for an edit to be allowed."""
    await asyncio.to_thread(Path(setting.folder, "a.txt").write_text, "one two\n")
    (session,) = await created(host, setting, 1)
    await host.send_prompt(SendPrompt(session_id=session, content="go"))
    async with aclosing(host.watch_host(WatchHost())) as changes:
        async for _ in changes:
            if (await host.list_approvals(ListApprovals())).approvals:
                return


async def inbox_load(setting: Setting) -> Figures:
    return await _shown(setting, ".approval .diff", lambda seen: seen.ours("inbox"), first=_asked)


async def inbox_size(setting: Setting) -> Figures:
    return await _received(setting, "inbox", ".approval .diff mark", first=_asked)


_LOADS = (fill, stream_ours, stream_bare, opening_ours, opening_bare, hit_ours, session_size)
_FIRST_LOADS = (first_load, first_size, inbox_load, inbox_size)
LOADS: dict[str, Callable[[Setting], Awaitable[Any]]] = {load.__name__: load for load in (*_LOADS, *_FIRST_LOADS)}


def main() -> None:
    load, setting = sys.argv[1], msgspec.json.decode(sys.argv[2], type=Setting)
    print(json.dumps(asyncio.run(LOADS[load](setting))))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
