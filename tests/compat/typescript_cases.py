"""What both SDKs are asked: lists of models, layers of settings files, and each setting that can be managed."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any, TypeAlias

LayerTexts: TypeAlias = dict[str, str]

_MODELS = [
    "claude-opus-4-5",
    "claude-opus-4-5-20251101",
    "claude-opus-5",
    "us.anthropic.claude-opus-4-5-20251101-v1:0",
    "xx.anthropic.claude-opus-4-5",
    "projects/p/models/claude-opus-4-5@20251101",
    "claude-opus-4-5[1m]",
    "claude-3-5-sonnet-20241022",
    "claude-3-7-sonnet-latest",
    "claude-sonnet-4-0",
    "claude-haiku-4-5",
    "claude-haiku-4-5-fast",
    "claude-haiku-4-5-special",
    "claude-haiku-4-5-special-2",
    "my-opus-tuned",
    "myopus",
    "opus",
    "sonnet[1m]",
    "best",
    "default",
    "my-model",
    "",
    " CLAUDE-OPUS-4-5 ",
]
DENIED_MODELS: list[tuple[Any, Any]] = [
    *((_MODELS, [entry]) for entry in (*_MODELS, "claude-opus-4", "opus-4-5", "opus 4.5", "claude-opus-4.5", "opas")),
    (_MODELS, ["opus", "claude-haiku-4-5-special", "", "opusplan", "nonsense"]),
    (_MODELS, []),
    (_MODELS, None),
    (_MODELS, "opus"),
    (_MODELS, ["opus", 3, None]),
    (["opus", 3], ["opus"]),
    ("opus", ["opus"]),
]

_HOOK = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}
LAYERS: dict[str, dict[str, Any]] = {
    "user": {
        "model": "opus",
        "env": {"A": "1", "U": "1"},
        "permissions": {"allow": ["Bash(ls)", "Read"], "deny": ["Read(./secret)"], "defaultMode": "acceptEdits"},
        "fallbackModel": ["haiku"],
        "cleanupPeriodDays": 20,
    },
    "project": {
        "model": "sonnet",
        "env": {"A": "2", "P": "1"},
        "permissions": {"allow": ["Bash(ls)", "Edit"], "ask": ["Bash(git push)"], "defaultMode": "bypassPermissions"},
        "hooks": _HOOK,
        "fallbackModel": ["sonnet"],
        "extraKnownMarketplaces": {"one": {"source": {"source": "github", "repo": "a/b"}}},
    },
    "local": {
        "env": {"A": "3"},
        "permissions": {"additionalDirectories": ["/x"], "defaultMode": "plan"},
        "hooks": _HOOK,
        "includeCoAuthoredBy": False,
        "extraKnownMarketplaces": {"one": {"source": {"source": "github", "repo": "c/d"}}},
    },
}
PASSED = {"permissions": {"deny": ["Bash(rm)"], "ask": ["Write"]}, "allowManagedHooksOnly": True, "model": "no"}
SERVER = {"permissions": {"deny": ["Bash(rm)"]}, "model": "haiku", "env": {"A": "4"}}


def _texts(*names: str) -> LayerTexts:
    return {name: json.dumps(LAYERS[name]) for name in names}


def _user(settings: Any) -> dict[str, Any]:
    return {"files": {"user": settings if isinstance(settings, str) else json.dumps(settings), **_texts("local")}}


_CHOSEN = [names for count in range(4) for names in combinations(LAYERS, count)]
_MODES = [("user", "acceptEdits"), ("project", "acceptEdits"), ("local", "acceptEdits"), ("local", "auto")]
_MODES += [("user", "bypassPermissions"), ("local", "bypassPermissions"), ("project", "plan"), ("project", "auto")]
SETTINGS: list[dict[str, Any]] = [
    *({"files": _texts(*names)} for names in _CHOSEN),
    *({"files": _texts(*names), "options": {"managedSettings": PASSED}} for names in _CHOSEN),
    *({"files": _texts(*names), "options": {"serverManagedSettings": SERVER}} for names in _CHOSEN),
    *({"files": _texts(*LAYERS), "options": {"settingSources": list(names)}} for names in _CHOSEN),
    *({"files": {name: json.dumps({"permissions": {"defaultMode": mode}})}} for name, mode in _MODES),
    _user({"env": {"A": 1, "B": True, "C": None, "D": 1.5, "E": 10}}),
    _user({"permissions": {"allow": ["bad(", "Bash(ls)", "Read(x", "bash", "Bash()", "Bash(:*)", "Bash(a:* b)"]}}),
    _user({"permissions": {"allow": ["Read", "Read"], "deny": "x"}}),
    _user({"permissions": {"allow": ["Read", "Read"]}, "unheard_of": {"a": [1]}}),
    _user({"env": [], "model": "opus"}),
    _user({"hooks": {"Nope": []}, "model": "opus"}),
    _user({"hooks": {"PreToolUse": "x"}, "model": "opus"}),
    _user({"model": None, "env": {"A": "1"}}),
    _user('{"model": "opus",}'),
    _user('// a comment\n{"model": "opus"}'),
    _user('\ufeff{"model": "opus"}'),
    _user('{"model": "opus", "model": "haiku"}'),
    _user("[]"),
    _user(""),
    {
        "files": {},
        "options": {
            "managedSettings": {
                "permissions": {"deny": ["P"], "allow": ["Q"], "additionalDirectories": ["/q"], "defaultMode": "plan"},
                "allowedMcpServers": [],
                "availableModels": ["a"],
                "strictKnownMarketplaces": [],
                "deniedModels": ["opus"],
                "disableAllHooks": True,
                "enableWorkflows": False,
                "disableArtifact": False,
                "sandbox": {"enabled": True, "network": {"deniedDomains": ["d"]}, "filesystem": {"denyRead": ["f"]}},
                "cleanupPeriodDays": 3,
            }
        },
    },
]

# One setting at a time: which may a program set in the managed tier?

MANAGED_VALUES: dict[str, Any] = {
    "true": True,
    "false": False,
    "disable": "disable",
    "text": "x",
    "number": 3,
    "empty list": [],
    "texts": ["x"],
    "objects": [{"serverName": "x"}],
    "sources": [{"source": "github", "repo": "a/b"}],
    "object": {"a": "b"},
    "null": None,
}


def managed(path: str, value: str) -> dict[str, Any]:
    """Settings in which only the setting at ``a.b.c`` has that value."""
    *outer, last = path.split(".")
    settings: dict[str, Any] = {last: MANAGED_VALUES[value]}
    for key in reversed(outer):
        settings = {key: settings}
    return settings


_RULES = [["Read", "x", 3], ["Bash(ls)", "Bash(!x)"], ["bad("], ["Bash()"], ["mcp__a"], ["Read(!x)", "Edit(!x)"], [3]]
_GITHUB = {"source": "github", "repo": "a/b"}
_SOURCES: list[Any] = [
    [_GITHUB, 3],
    [{"source": "github"}],
    [{"source": "zzz"}],
    [{**_GITHUB, "ref": "x", "path": "y", "z": 3}],
    [{"source": "git", "url": "x", "sparsePaths": ["a"]}, {"source": "url", "url": "https://x", "headers": {"a": "b"}}],
    [{"source": "npm", "package": "@a/b", "version": "1"}, {"source": "skills-dir"}],
    [{"source": "hostPattern", "hostPattern": "x"}, {"source": "settings", "name": "x", "plugins": []}],
]
_SERVERS: list[Any] = [
    [{"serverName": "x", "a": 1}, 3],
    [{"serverUrl": "http://x"}, {"serverCommand": ["x", ""]}],
    [{"serverName": "x", "serverUrl": "y"}],
    [{"serverName": "a b"}, {"serverName": ""}, {"serverName": 3}, {"serverCommand": []}, {"serverCommand": "x"}, {}],
]
_ATTRIBUTIONS: list[Any] = [
    {"commit": ""},
    {"commit": "x"},
    {"commitTrailers": False, "sessionUrl": False, "z": 1},
    {"commitTrailers": True, "sessionUrl": True},
    {"commitTrailers": 3, "sessionUrl": 3},
    {"commit": "", "commitTrailers": True},
]
_CREDENTIALS: list[Any] = [
    {"files": [{"path": "x", "mode": "deny", "z": 1}, {"path": "y", "mode": "mask"}, {"path": "z"}, 3]},
    {"files": [{"path": "x", "mode": "mask", "injectHosts": ["h"]}]},
    {"files": 3, "envVars": [{"name": "x", "mode": "deny"}, {"name": "y", "mode": "mask"}]},
    {"sigv4": {"streaming": "passthrough", "presigned": 3, "z": 1}, "awsPairs": []},
]
MANAGED_TOGETHER: list[dict[str, Any]] = [
    *({"permissions": {key: rules}} for key in ("allow", "deny", "ask") for rules in _RULES),
    *({key: sources} for key in ("strictKnownMarketplaces", "blockedMarketplaces") for sources in _SOURCES),
    *({key: servers} for key in ("allowedMcpServers", "deniedMcpServers") for servers in _SERVERS),
    *({"attribution": given, **more} for given in _ATTRIBUTIONS for more in ({}, {"includeCoAuthoredBy": False})),
    *({"sandbox": {"credentials": given}} for given in _CREDENTIALS),
    *({key: ["a", 3]} for key in ("availableModels", "deniedModels", "forceLoginOrgUUID", "allowedHttpHookUrls")),
    {"permissions": {"additionalDirectories": ["/q", 3]}, "sandbox": {"network": {"deniedDomains": ["d", 3]}}},
    {"sandbox": {"network": 3, "filesystem": None, "enabled": 3, "ripgrep": {"command": "x"}}, "model": "x"},
    {"strictKnownMarketplaces": None, "allowedMarketplaces": [_GITHUB]},
    {"strictKnownMarketplaces": 3, "allowedMarketplaces": [_GITHUB]},
    {"strictPluginOnlyCustomization": ["skills", "agents", "hooks", "mcp", "commands", 3]},
    {"allowedProviders": ["anthropic", "bedrock", "vertex", "foundry", "mantle", "gateway", "anthropicAws", "x"]},
    {"availableModelsMatch": "prefix", "forceLoginOrgUUID": ""},
    {"disableAllHooks": True, "allowManagedHooksOnly": False, "disableAutoMode": False},
]
