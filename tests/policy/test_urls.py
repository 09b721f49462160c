"""URLs are read as browsers read them; node's URL class is the reference where node is installed."""

from __future__ import annotations

import json
import random
import subprocess

import pytest

import needs
import soak
from looping import for_each
from policy.generated_calls import HOSTS, disguised_urls
from quarterdeck.policy import Policy
from quarterdeck.policy.urls import hosts_of

EVIL = [
    *(
        "https:evil.org/",
        "https:/evil.org",
        "https:///evil.org",
        "https:\\\\evil.org",
        "https:/\\evil.org/",
        "//evil.org/",
    ),
    *(" https://evil.org", "ht\ntps://evil.org", "https://ev\til.org/", "\x01https://evil.org/", "HTTPS://EVIL.ORG"),
    *("https://%65vil.org/", "https://evil%2Eorg/", "https://ｅｖｉｌ.org/", "https://evil。org/", "https://evil．org"),
    *("https://ev\u00adil.org/", "https://ev\u200bil.org/", "https://ev\ufe0fil.org/", "https://evil.org./"),
    *("https://user@evil.org/", "https://a:b@evil.org/", "https://good.org@evil.org/", "https://evil.org\\@good.org/"),
    *("https://evil.org:8443/", "https://evil.org:/", "https://evil.org#@good.org/", "https://evil.org?.good.org"),
]
LOCAL = [
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "127.0.1",
    "１２７.0.0.1",
    "127.0.0.1.",
    "0x7F.0.0.1",
]


@for_each("url", EVIL)
def test_a_denied_host_is_denied_in_every_disguise(url: str) -> None:
    policy = Policy.from_rules(allow=["WebFetch"], deny=["WebFetch(domain:evil.org)"], cwd="/project")

    assert policy.decide("WebFetch", {"url": url}).behavior == "deny"


@for_each("host", LOCAL)
def test_a_denied_address_is_denied_however_it_is_written(host: str) -> None:
    policy = Policy.from_rules(deny=["WebFetch(domain:127.0.0.1)"], cwd="/project", mode="bypassPermissions")

    assert policy.decide("WebFetch", {"url": f"http://{host}/"}).behavior == "deny"


@for_each(
    "url",
    ["https://[::1]/", "https://xn--nxasmq6b/", "https://a b/", "mailto:x", "", "https://" + "a" * 9000, "https://"],
)
def test_what_cannot_be_told_for_certain_is_asked_about_where_a_host_is_denied(url: str) -> None:
    policy = Policy.from_rules(allow=["WebFetch"], deny=["WebFetch(domain:evil.org)"], cwd="/project")

    assert policy.decide("WebFetch", {"url": url}).behavior == "ask"


@pytest.mark.parametrize(
    "url", ["https://good.org", "http://good.org/a?b=c#d", "https://GOOD.org:8443/x@y", "https://good.org./"]
)
def test_a_plain_url_is_allowed_by_its_host(url: str) -> None:
    policy = Policy.from_rules(allow=["WebFetch(domain:good.org)"], deny=["WebFetch(domain:evil.org)"], cwd="/project")

    assert policy.decide("WebFetch", {"url": url}).behavior == "allow"


DISGUISED = [url for host in HOSTS for url in disguised_urls(host)]
PIECES = [
    *("/", "\\", "@", ":", "%", "%2e", ".", "#", "?", "\t", "\n", " ", "[", "]", "xn--", "\u3002", "\u00ad", "\uff41"),
    *("\u00df", "\u0130", "0x", "1", "\u200d", "\u00e9", "\ud800", "-", "_", "*", "%zz", "%00"),
]


def mutated(chance: random.Random) -> str:
    text = chance.choice(DISGUISED)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(PIECES) + text[at:]
    return text


@needs.program("node")
def test_a_host_that_is_certain_is_the_one_node_sees() -> None:
    chance = random.Random(soak.SEED)
    urls = [mutated(chance) for _ in range(soak.cases(5_000, in_soak=200_000))]
    script = """
        const urls = JSON.parse(require("fs").readFileSync(0, "utf8"));
        console.log(JSON.stringify(urls.map((url) => { try { return new URL(url).hostname } catch { return null } })));
    """
    done = subprocess.run(["node", "-e", script], input=json.dumps(urls).encode(), capture_output=True, check=True)
    reference = json.loads(done.stdout)

    wrong, unseen = [], 0
    for url, host in zip(urls, reference, strict=True):
        certain, seen = hosts_of(url)
        expected = None if host is None else host.rstrip(".")
        if certain is not None and certain != expected:
            wrong.append((url, certain, host))
        unseen += bool(expected) and certain is None and expected not in seen
    assert wrong == []
    assert unseen < len(urls) * 0.05
