"""Usage, policy, audit and settings in the browser."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.async_api import WebSocketRoute, expect

from host.kit import decide, pending
from page.browser import window
from page.kit import BASH, deck, looked_at
from quarterdeck.host.requests import Nothing, Remember, Settings

expect.set_options(timeout=45_000)


async def test_what_was_decided_is_in_audit_usage_and_grants_and_a_grant_can_be_revoked(
    tmp_path: Path, browser_address: str
) -> None:
    async with looked_at(tmp_path, browser_address, ["One.", BASH, "Done."]) as (there, page):
        host = there.there.host
        session = await there.there.session(name="errand")
        (approval,) = await pending(host)
        await decide(host, approval, remember=Remember(rule="Bash(touch made.txt)"))
        await there.there.client().get(f"/v1/sessions/{session}/wait")
        await page.goto(f"{there.url}#/audit")
        decided = page.locator(".audit tr", has_text="decide")
        await expect(decided).to_contain_text("allow Bash touch made.txt")
        await expect(decided.locator(".details")).to_have_text("rule: Bash(touch made.txt)")
        await page.goto(f"{there.url}#/usage")
        await expect(page.locator(".ranking").last).to_contain_text("errand")
        await page.goto(f"{there.url}#/policy")
        await expect(page.locator("td code").first).to_have_text("Bash(touch made.txt)")
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.locator("tr.over")).to_have_count(1)
        assert (await host.list_grants(Nothing())).grants[0].revoked_at is not None


async def test_usage_is_charted_by_day_in_cost_and_in_tokens(tmp_path: Path, browser_address: str) -> None:
    steps = ["One.", {"usage": {"input_tokens": 5000, "output_tokens": 70}}]
    async with looked_at(tmp_path, browser_address, steps) as (there, page):
        session = await there.there.session(name="errand")
        await there.there.client().get(f"/v1/sessions/{session}/wait")
        await page.goto(f"{there.url}#/usage")
        bar = page.locator(".days .bar:not(.none)")
        await expect(bar).to_have_count(1)
        await expect(bar.locator("title")).to_contain_text("$")
        await page.get_by_role("button", name="tokens").click()
        await expect(bar.locator("title")).to_contain_text("5.1k")
        await page.get_by_role("button", name="7 days").click()
        await expect(page.locator(".days .bar")).to_have_count(7)
        await expect(page.locator(".ranking", has_text="By folder")).to_contain_text(there.there.place.cwd.name)


async def test_simulated_costs_are_marked(tmp_path: Path, browser_address: str) -> None:
    steps = ["One.", {"usage": {"input_tokens": 500_000, "output_tokens": 7_000}}]
    async with looked_at(tmp_path, browser_address, steps) as (there, page):
        for name, agent in (("errand", str(there.there.place.claude.path)), ("play", "sim")):
            session = await there.there.session(name=name, agent=agent)
            await there.there.client().get(f"/v1/sessions/{session}/wait")
        await page.goto(f"{there.url}#/sessions")
        await expect(page.locator("tr", has_text="play").locator(".simulated")).to_have_text("simulated")
        await expect(page.locator("tr", has_text="errand").locator(".simulated")).to_have_count(0)
        await page.goto(f"{there.url}#/usage")
        await expect(page.locator(".counts .simulated")).to_contain_text("simulated")
        await page.goto(f"{there.url}#/session/{session}")
        await expect(page.locator("button.cost .simulated")).to_have_text("simulated")


async def test_the_colours_follow_the_system_until_somebody_chooses(tmp_path: Path, browser_address: str) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    async with looked_at(tmp_path, browser_address, ["One."], path="settings") as (_, page):
        seen = {}
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            seen[scheme] = await page.evaluate(ground)
        assert seen["light"] != seen["dark"]
        await page.get_by_label("Colours").select_option("light")
        await expect(page.locator("html")).to_have_attribute("data-theme", "light")
        assert await page.evaluate(ground) == seen["light"]


async def test_the_explain_box_says_what_would_happen_and_marks_the_risk(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."], path="policy") as (there, page):
        await there.there.session()
        await expect(page.get_by_label("Folder")).to_have_value(str(there.there.place.cwd))
        await page.get_by_label("command").fill("git status && sudo rm -rf /")
        await page.get_by_role("button", name="Explain").click()
        await expect(page.locator(".verdict .decision-word").first).to_have_text("ask")
        await expect(page.locator(".verdict .risky").first).to_contain_text("sudo")


async def test_tokens_budgets_and_colours_are_set_in_the_settings(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."], path="settings") as (there, page):
        await page.get_by_label("Name").fill("phone")
        await page.get_by_label("Scope").select_option("approve")
        await page.get_by_role("button", name="Make a token").click()
        await expect(page.locator(".made code")).to_contain_text("qd_")
        secret = await page.locator(".made code").inner_text()
        assert (await there.there.host.authenticate(secret)).scope == "approve"
        await page.get_by_label("Per day, USD").fill("12.5")
        await page.locator("form", has_text="Per day").get_by_role("button", name="Save").click()
        await expect(page.locator(".toast")).to_contain_text("Budgets saved")
        assert (await there.there.host.get_budgets(Nothing())).details["day_usd"] == "12.5"
        await page.get_by_label("Colours").select_option("dark")
        await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        await page.reload()
        await expect(page.locator("html")).to_have_attribute("data-theme", "dark")


async def test_the_audit_is_filtered_and_alerts_are_added_and_removed(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One.", BASH, "Done."], path="audit") as (there, page):
        host = there.there.host
        for name in ("alpha", "beta"):
            await there.there.session(name=name)
        for approval in await pending(host, count=2):
            await decide(host, approval)
        await page.reload()
        rows = page.locator(".audit tbody tr", has_text="decide")
        await expect(rows).to_have_count(2)
        await page.get_by_label("Session").select_option(label="alpha")
        await expect(rows).to_have_count(1)
        await expect(rows).to_contain_text("alpha")
        await page.get_by_label("Session").select_option(label="all")
        await page.get_by_label("Who").fill("nobody")
        await page.get_by_label("Who").press("Enter")
        await expect(page.locator(".empty")).to_be_visible()
        await host.set_alerts(Settings(settings={"alerts": [], "private_hosts": ["10.0.0.0/8"]}))
        await page.goto(f"{there.url}#/settings")
        await page.get_by_label("Address, or program").fill("/usr/bin/notify-send Quarterdeck waits")
        await page.get_by_role("button", name="Add").click()
        await expect(page.locator(".toast")).to_contain_text("Alerts saved")
        kept = (await host.get_alerts(Nothing())).details
        assert kept["alerts"][0]["command"] == ["/usr/bin/notify-send", "Quarterdeck", "waits"]
        assert kept["private_hosts"] == ["10.0.0.0/8"]
        await page.get_by_role("button", name="Remove").click()
        await expect(page.get_by_role("button", name="Remove")).to_have_count(0)
        assert (await host.get_alerts(Nothing())).details["alerts"] == []


async def test_a_new_rule_is_tried_on_past_requests_and_changes_nothing(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One.", BASH, "Done."], path="policy") as (there, page):
        host = there.there.host
        session = await there.there.session(name="errand")
        (approval,) = await pending(host)
        await decide(host, approval, "deny")
        await there.there.client().get(f"/v1/sessions/{session}/wait")
        await page.get_by_label("Rule", exact=True).fill("Bash(touch:*)")
        await page.get_by_role("button", name="Try").click()
        row = page.locator(".try tbody tr")
        await expect(row).to_contain_text("errand")
        await expect(row.locator(".against")).to_be_visible()
        await page.get_by_label("Rule", exact=True).fill("Bash(")
        await page.get_by_role("button", name="Try").click()
        await expect(page.locator(".toast.error")).to_contain_text("not a rule")
        assert (await host.list_grants(Nothing())).grants == []


async def test_a_desktop_notification_says_what_waits_while_nobody_looks_and_leads_there(
    tmp_path: Path, browser_address: str
) -> None:
    stub = """
      globalThis.told = [];
      globalThis.Notification = class {
        constructor(title, more) { told.push([title, more.body]); globalThis.last = this; }
        close() {}
      };
      Notification.permission = 'granted';
      Object.defineProperty(document, 'visibilityState', { get: () => globalThis.looks ?? 'hidden' });
      localStorage.setItem('quarterdeck.notify', 'true');
    """
    async with deck(tmp_path, browser_address, ["One.", BASH, "Done."]) as there, window(there.browser) as person:
        await person.context.add_init_script(stub)
        page = await there.enter(person, "usage")
        await expect(page.locator(".link")).to_contain_text("Connected")
        await there.there.session(name="errand\u202e")
        await page.wait_for_function("() => globalThis.told.length")
        ((title, body),) = await page.evaluate("() => globalThis.told")
        assert title == "errand⟨U+202E⟩ waits for you"
        assert "touch made.txt" in body
        await page.evaluate("() => globalThis.last.onclick()")
        await expect(page.locator(".approval .command")).to_have_text("touch made.txt")


async def test_a_deep_link_opens_the_approval_it_names_and_the_page_can_be_installed(
    tmp_path: Path, browser_address: str
) -> None:
    async with deck(tmp_path, browser_address, ["One.", BASH, "Done."]) as there, window(there.browser) as person:
        for name in ("alpha", "beta"):
            await there.there.session(name=name)
        _, second = await pending(there.there.host, count=2)
        page = await there.enter(person, f"inbox/{second.id}")
        await expect(page.locator(f'[data-approval="{second.id}"]')).to_be_visible()
        session = await page.context.new_cdp_session(page)
        manifest = await session.send("Page.getAppManifest")
        assert manifest["errors"] == []
        assert '"display": "standalone"' in manifest["data"]
        against = (await session.send("Page.getInstallabilityErrors"))["installabilityErrors"]
        assert [one["errorId"] for one in against if one["errorId"] != "in-incognito"] == []


async def test_what_another_filter_found_is_not_shown_when_the_audit_cannot_be_read(
    tmp_path: Path, browser_address: str
) -> None:
    failing = True

    def connect(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def up(message: str | bytes) -> None:
            told = json.loads(message)
            if told["op"] == "list_audit" and told.get("who") and failing:
                error = {"op": "error", "ref": told["ref"], "code": "internal", "detail": "The disk is full."}
                route.send(json.dumps([error]))
            else:
                server.send(message)

        route.on_message(up)

    async with looked_at(tmp_path, browser_address, ["One."]) as (there, page):
        await there.there.session()
        await page.route_web_socket("**/v1/ws", connect)
        await page.goto(f"{there.url}?again#/audit")
        rows = page.locator(".audit tbody tr")
        await expect(rows.first).to_be_visible()
        who = (await rows.first.locator("td").nth(1).inner_text()).split()[0]
        await page.get_by_label("Who").fill(who)
        await page.get_by_label("Who").press("Tab")
        await expect(page.get_by_role("alert")).to_contain_text("The disk is full.")
        await expect(rows).to_have_count(0)
        failing = False
        await page.get_by_role("button", name="Try again").click()
        await expect(rows.first).to_contain_text(who)


async def test_arguments_of_an_alerts_program_may_be_quoted(tmp_path: Path, browser_address: str) -> None:
    async with looked_at(tmp_path, browser_address, ["One."], path="settings") as (there, page):
        place = page.get_by_label("Address, or program with its arguments")
        form = page.locator("form.alert")
        await place.fill("/bin/echo 'not closed")
        await form.get_by_role("button", name="Add").click()
        await expect(page.locator(".toast.error")).to_contain_text("not closed")
        await place.fill("""/bin/echo "two words" --to='a "b"' "say \\"hi\\"" plain ''""")
        await form.get_by_role("button", name="Add").click()
        await expect(page.locator("td.code")).to_contain_text('/bin/echo "two words"')
        (kept,) = (await there.there.host.get_alerts(Nothing())).details["alerts"]
        assert kept["command"] == ["/bin/echo", "two words", '--to=a "b"', 'say "hi"', "plain", ""]
