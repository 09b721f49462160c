"""Usage, policy, audit and settings in the browser."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import expect

from host.kit import decide, pending
from page.kit import BASH, looked_at
from quarterdeck.host.requests import Nothing, Remember

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
        await expect(page.locator(".audit tbody")).to_contain_text("allow")
        await page.goto(f"{there.url}#/usage")
        await expect(page.locator(".ranking").last).to_contain_text("errand")
        await page.goto(f"{there.url}#/policy")
        await expect(page.locator("td code").first).to_have_text("Bash(touch made.txt)")
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.locator("tr.over")).to_have_count(1)
        assert (await host.list_grants(Nothing())).grants[0].revoked_at is not None


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
        await page.get_by_label("May").select_option("approve")
        await page.get_by_role("button", name="Make a token").click()
        await expect(page.locator(".made code")).to_contain_text("qd_")
        secret = await page.locator(".made code").inner_text()
        assert (await there.there.host.authenticate(secret)).scope == "approve"
        await page.get_by_label("A day, USD").fill("12.5")
        await page.locator("form", has_text="A day").get_by_role("button", name="Save").click()
        await expect(page.locator(".toast")).to_contain_text("Budgets saved")
        assert (await there.there.host.get_budgets(Nothing())).details["day_usd"] == "12.5"
        await page.get_by_label("Colours").select_option("dark")
        await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        await page.reload()
        await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
