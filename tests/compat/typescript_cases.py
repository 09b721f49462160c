"""What both SDKs are asked: lists of models, and layers of settings files."""

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
