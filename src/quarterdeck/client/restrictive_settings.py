"""What a program may set in the managed tier of settings: restrictions and permission rules, nothing else.

Anything that would loosen is dropped. A restriction with a value of the wrong type is not dropped but counts as the
strictest there is, as far as that can be said, so that a mistake leaves nothing open. Measured on 2.1.325.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Settings: TypeAlias = dict[str, Any]
Rule: TypeAlias = Callable[[Any], Any]
"""A given value, or an item of a list → what counts of it, or ``DROPPED``."""

DROPPED: Any = object()


def restrictive_part(settings: Settings) -> Settings:
    """What counts of the settings that a program passes."""
    kept = _kept(settings, _TOP)
    if settings.get("disableAllHooks") not in (None, False):
        kept["allowManagedHooksOnly"] = True  # a program cannot switch the administrator's hooks off
    marketplaces = [settings.get(key) for key in ("strictKnownMarketplaces", "allowedMarketplaces")]
    for given in [one for one in marketplaces if one is not None][:1]:
        kept["strictKnownMarketplaces"] = _items(given, _marketplace)
    attribution = _attribution(settings)
    if attribution:
        kept["attribution"] = attribution
    return copy.deepcopy(kept)


def is_permission_rule(rule: Any) -> bool:
    """Whether the CLI takes up the rule; others in a list are skipped."""
    if not isinstance(rule, str):
        return False
    name, bracket, rest = rule.partition("(")
    if not name or not (name[0].isupper() or name.startswith("mcp__") or "*" in name):
        return False
    if not bracket:
        return ")" not in name
    return rest.endswith(")") and rest not in (")", ":*)") and not name.startswith("mcp__")


def _kept(given: Settings, rules: dict[str, Rule]) -> Settings:
    found = {key: rule(given[key]) for key, rule in rules.items() if key in given}
    return {key: value for key, value in found.items() if value is not DROPPED}


# Rules for one value


def _switch(strict: bool | str) -> Rule:
    """``strict`` unless the value is the opposite, or null."""
    loose = strict is False
    return lambda given: DROPPED if given is None or given is loose else strict


def _section(rules: dict[str, Rule], instead: Settings) -> Rule:
    """An object of which each value has its rule. ``instead`` of what is no object: all its restrictions."""

    def keep(given: Any) -> Any:
        if given is None:
            return DROPPED
        return (_kept(given, rules) or DROPPED) if isinstance(given, dict) else instead

    return keep


def _items(given: Any, item: Rule) -> list[Any]:
    return [one for one in map(item, given) if one is not DROPPED] if isinstance(given, list) else []


def _list(item: Rule, *, may_be_empty: bool = True) -> Rule:
    """The items that count. A list that becomes empty restricts nothing."""

    def keep(given: Any) -> Any:
        found = _items(given, item)
        return found if found or (given == [] and may_be_empty) else DROPPED

    return keep


def _allowlist(item: Rule) -> Rule:
    """The items that count, and nothing else is allowed: an empty list if none does."""
    return lambda given: _items(given, item)


def _without_exceptions(given: Any) -> Any:
    """Rules to deny or to ask: an exception to other rules restricts nothing."""
    found = _list(_permission_rule)(given)
    return found if found is DROPPED else [rule for rule in found if not re.match(r"(Read|Edit)\(!", rule)]


def _allowed(given: Any) -> Any:
    return _items(given, _permission_rule) if isinstance(given, list) else DROPPED


def _nothing_but(given: Any) -> Any:
    """A program may forbid all of it; a list of what is allowed would loosen."""
    return DROPPED if _items(given, _text) else []


def _organizations(given: Any) -> Any:
    if isinstance(given, str):
        return given or DROPPED
    return given if isinstance(given, list) and _items(given, _text) == given else []


def _plugins_only(given: Any) -> Any:
    if isinstance(given, list):
        return _list(_one_of("skills", "agents", "hooks", "mcp"), may_be_empty=False)(given)
    return _switch(True)(given)


def _signing(given: Any) -> Any:
    if not isinstance(given, dict):
        return _NO_SIGNING
    return {key: "deny" for key in _NO_SIGNING if given.get(key) not in (None, "passthrough")}


def _attribution(settings: Settings) -> Settings:
    """What a commit says about the session: a program may only leave things out."""
    given = settings.get("attribution")
    parts = given if isinstance(given, dict) else {}
    trailers, commit, url = parts.get("commitTrailers"), parts.get("commit"), parts.get("sessionUrl")
    without_trailers = trailers is False or given is False or (commit == "" and trailers is not True)
    if settings.get("includeCoAuthoredBy") is False and commit is None and trailers is not True:
        without_trailers = True
    kept = {"commitTrailers": False} if without_trailers else {}
    if url not in (None, True) or not (given is None or given is True or isinstance(given, dict)):
        kept["sessionUrl"] = False
    return kept


# Rules for one item of a list


def _text(item: Any) -> Any:
    return item if isinstance(item, str) else DROPPED


def _one_of(*words: str) -> Rule:
    return lambda item: item if item in words else DROPPED


def _permission_rule(item: Any) -> Any:
    return item if is_permission_rule(item) else DROPPED


def _allowed_server(item: Any) -> Any:
    named = item.get("serverName") if _has(item, "serverName") else "x"
    return _server(item) if isinstance(named, str) and re.fullmatch(r"[\w-]+", named, re.ASCII) else DROPPED


def _server(item: Any) -> Any:
    match {key: item[key] for key in ("serverName", "serverCommand", "serverUrl") if _has(item, key)}:
        case {"serverName": str(name), **more} if not more and name:
            return {"serverName": name}
        case {"serverCommand": [_, *_] as words, **more} if not more and _items(words, _text) == words:
            return {"serverCommand": words}
        case {"serverUrl": str(url), **more} if not more:
            return {"serverUrl": url}
    return DROPPED


_MARKETPLACES = {
    "github": "repo ref path sparsePaths skipLfs",
    "git": "url ref path sparsePaths skipLfs",
    "url": "url headers",
    "npm": "package version registry",
    "file": "path",
    "directory": "path",
    "hostPattern": "hostPattern",
    "pathPattern": "pathPattern",
    "settings": "name plugins",
    "skills-dir": "source",
}
"""Source → what it has; the first is a text, and needed."""


def _marketplace(item: Any) -> Any:
    source = item["source"] if _has(item, "source") else None
    known = _MARKETPLACES.get(source, "").split() if isinstance(source, str) else []
    if not known or not isinstance(item.get(known[0]), str):
        return DROPPED
    return {key: item[key] for key in item if key in ("source", *known)}


def _file(item: Any) -> Any:
    """A file with secrets. Masking is given up for hiding it where a program also wants to say how."""
    if not _has(item, "path", "mode") or not isinstance(item["path"], str) or item["mode"] not in ("deny", "mask"):
        return DROPPED
    masked = item["mode"] == "mask" and item.keys() <= {"path", "mode", "injectHosts"}
    how = {"mode": "mask", "injectHosts": []} if masked else {"mode": "deny"}
    return {"path": item["path"], **how}


def _variable(item: Any) -> Any:
    hidden = _has(item, "name", "mode") and isinstance(item["name"], str) and item["mode"] == "deny"
    return {"name": item["name"], "mode": "deny"} if hidden else DROPPED


def _has(item: Any, *keys: str) -> bool:
    return isinstance(item, dict) and all(key in item for key in keys)


# Which setting has which rule


def _switches(strict: bool | str, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), _switch(strict))


def _lists(names: Iterable[str]) -> dict[str, Rule]:
    return dict.fromkeys(names, _list(_text))


def _strictest(rules: dict[str, Rule]) -> Settings:
    """All restrictions that need no list."""
    return _kept(dict.fromkeys(rules, "something else"), rules)


_NO_SIGNING = {"streaming": "deny", "presigned": "deny", "sigv4a": "deny"}
_NO_PAIRS = [
    {"accessKeyIdVar": name, "secretAccessKeyVar": f"_PARENT_PAIR_SUPPRESSOR_{number}_"}
    for number, name in enumerate(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"), 1)
]
_PERMISSION_SWITCHES = {
    **_switches("disable", "disableBypassPermissionsMode disableAutoMode"),
    **_switches(
        True, "blockReadsOutsideWorkingDirectories blockWritesOutsideWorkingDirectories denyInsteadOfPrompting"
    ),
}
_PERMISSIONS: dict[str, Rule] = {
    **_PERMISSION_SWITCHES,
    **_lists(["additionalDirectories"]),
    "allow": _allowed,
    "deny": _without_exceptions,
    "ask": _without_exceptions,
}
_NETWORK = {
    **_switches(True, "strictAllowlist allowManagedDomainsOnly"),
    **_switches(False, "allowAllUnixSockets allowLocalBinding"),
    **_lists(["allowedDomains", "deniedDomains"]),
}
_FILESYSTEM = {
    **_switches(True, "allowManagedReadPathsOnly"),
    **_switches(False, "disabled"),
    **_lists(["denyRead", "denyWrite", "allowRead"]),
}
_CREDENTIALS: dict[str, Rule] = {
    "allowPlaintextInject": lambda given: DROPPED if given is True else False,
    "sigv4": _signing,
    "awsPairs": lambda given: DROPPED if isinstance(given, list) else _NO_PAIRS,
    "files": _list(_file, may_be_empty=False),
    "envVars": _list(_variable, may_be_empty=False),
}
_SANDBOX_SWITCHES = _switches(
    False,
    "autoAllowBashIfSandboxed allowUnsandboxedCommands enableWeakerNestedSandbox allowNestedUserNamespaces "
    "enableWeakerNetworkIsolation allowAppleEvents",
)
_SANDBOX: dict[str, Rule] = {
    **_switches(True, "enabled"),
    **_SANDBOX_SWITCHES,
    "failIfUnavailable": lambda given: True if given is True else DROPPED,
    "network": _section(_NETWORK, _strictest(_NETWORK)),
    "filesystem": _section(_FILESYSTEM, _strictest(_FILESYSTEM)),
    "credentials": _section(_CREDENTIALS, _strictest(_CREDENTIALS)),
}
_NO_SANDBOX = {
    **_strictest(_SANDBOX_SWITCHES),
    "network": _strictest(_NETWORK),
    "filesystem": _strictest(_FILESYSTEM),
    "credentials": {key: value for key, value in _strictest(_CREDENTIALS).items() if key != "awsPairs"},
}
_TOP: dict[str, Rule] = {
    **_switches(
        True,
        "allowManagedPermissionRulesOnly allowManagedHooksOnly allowManagedMcpServersOnly enforceAvailableModels "
        "disableClaudeAiConnectors disableCommandPluginSources disableSideloadFlags disableSkillShellExecution "
        "disableWindowsBashCommandSplit disableRemoteControl disableAgentView disableWorkflows disableArtifact",
    ),
    **_switches(False, "enableArtifact enableWorkflows syncClaudeAiSkills syncClaudeAiPlugins"),
    **_switches("disable", "disableAutoMode"),
    "availableModels": _allowlist(_text),
    "availableModelsMatch": lambda given: DROPPED if given in (None, "prefix") else "exact",
    "deniedModels": _list(_text, may_be_empty=False),
    "allowedMcpServers": _allowlist(_allowed_server),
    "deniedMcpServers": lambda given: _items(given, _server) if isinstance(given, list) else DROPPED,
    "blockedMarketplaces": _list(_marketplace, may_be_empty=False),
    "allowedProviders": _allowlist(
        _one_of("anthropic", "bedrock", "vertex", "foundry", "mantle", "gateway", "anthropicAws")
    ),
    "allowedHttpHookUrls": _nothing_but,
    "httpHookAllowedEnvVars": _nothing_but,
    "forceLoginOrgUUID": _organizations,
    "strictPluginOnlyCustomization": _plugins_only,
    "permissions": _section(_PERMISSIONS, _strictest(_PERMISSION_SWITCHES)),
    "sandbox": _section(_SANDBOX, _NO_SANDBOX),
}
