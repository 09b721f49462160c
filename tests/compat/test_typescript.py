"""What the official TypeScript SDK has besides the Python one: ours under the names a Python program expects."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

import quarterdeck
from compat.typescript import CONSTANTS, RECORDED, layer_files, package_folder, record
from compat.typescript_cases import DENIED_MODELS, MANAGED_TOGETHER, MANAGED_VALUES, SETTINGS, managed
from looping import for_each
from quarterdeck import ClaudeAgentOptions, ClaudeSDKClient, ResolvedSettings, Session
from quarterdeck.wire._base import plain
from soak import ON

OFFICIAL: dict[str, Any] = json.loads(RECORDED.read_text())

QUERY_METHODS = {
    "interrupt": "interrupt",
    "setPermissionMode": "set_permission_mode",
    "setMcpPermissionModeOverride": "set_mcp_permission_mode_override",
    "setModel": "set_model",
    "setMaxThinkingTokens": "set_max_thinking_tokens",
    "applyFlagSettings": "apply_settings",
    "updateSettings": "update_settings",
    "initializationResult": "server_info",
    "reinitialize": "reinitialize",
    "supportedCommands": "commands",
    "supportedModels": "models",
    "supportedAgents": "agents",
    "mcpServerStatus": "mcp_status",
    "getContextUsage": "context_usage",
    "usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET": "usage",
    "readFile": "read_file",
    "reloadPlugins": "reload_plugins",
    "reloadSkills": "reload_skills",
    "reloadOutputStyles": "reload_output_styles",
    "accountInfo": "account",
    "rewindFiles": "rewind_files",
    "seedReadState": "seed_read_state",
    "reconnectMcpServer": "reconnect_mcp_server",
    "toggleMcpServer": "toggle_mcp_server",
    "readMcpResource": "read_mcp_resource",
    "setMcpServers": "set_mcp_servers",
    "streamInput": ("stream_in_background", "query"),
    "stopTask": "stop_task",
    "backgroundTasks": "background_tasks",
    "close": ("close", "disconnect"),
}
"""Method of ``Query`` → ours, the same on ``Session`` and ``ClaudeSDKClient`` unless there are two."""

EXPORTS = {
    "AbortError": "Aborted",
    "createSdkMcpServer": "create_sdk_mcp_server",
    "prewarm": "WarmPool",
    "startup": "WarmPool",
    "HOOK_EVENTS": "HOOK_EVENTS",
}
NOT_OURS = {
    "CommandMatcher": "not declared in sdk.d.ts",
    "DirectConnectError": "not declared in sdk.d.ts",
    "DirectConnectTransport": "not declared in sdk.d.ts",
    "FileIndex": "not declared in sdk.d.ts",
    "parseDirectConnectUrl": "not declared in sdk.d.ts",
}
"""Exports that have no counterpart, with the reason."""


OPTIONS = {
    "abortController": "abort",
    "additionalDirectories": "add_dirs",
    "continue": "continue_conversation",
    "pathToClaudeCodeExecutable": "cli_path",
}
"""Option → ours, where it is not the same name in snake case."""


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def test_every_query_method_is_on_session_and_on_the_client() -> None:
    assert list(QUERY_METHODS) == OFFICIAL["query_methods"]
    for names in QUERY_METHODS.values():
        on_session, on_client = (names, names) if isinstance(names, str) else names
        assert hasattr(Session, on_session), on_session
        assert hasattr(ClaudeSDKClient, on_client), on_client


def test_every_export_has_a_counterpart_or_a_reason() -> None:
    names = {name: EXPORTS.get(name, name if name[0].isupper() else snake(name)) for name in OFFICIAL["exports"]}
    missing = [name for name, ours in names.items() if not hasattr(quarterdeck, ours) and name not in NOT_OURS]
    assert missing == []
    assert set(NOT_OURS) | set(EXPORTS) <= set(OFFICIAL["exports"])


def test_every_option_has_a_counterpart() -> None:
    ours = {field.name for field in dataclasses.fields(ClaudeAgentOptions)}
    assert [name for name in OFFICIAL["options"] if OPTIONS.get(name, snake(name)) not in ours] == []


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_has_the_official_value(name: str) -> None:
    ours = getattr(quarterdeck, name)
    assert (list(ours) if isinstance(ours, tuple) else ours) == OFFICIAL["constants"][name]


@for_each("index", range(len(DENIED_MODELS)))
def test_the_same_models_are_denied_and_the_same_entries_warned_about(index: int) -> None:
    answer = quarterdeck.match_denied_models(*DENIED_MODELS[index])
    assert {"denied": answer.denied, "warnings": len(answer.warnings)} == OFFICIAL["denied_models"][index]


def resolved(case: dict[str, Any], home: Path) -> ResolvedSettings:
    (home / "repo").mkdir(exist_ok=True)
    for name, text in layer_files(home, case["files"]).items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)
    options = {snake(name): value for name, value in case.get("options", {}).items()}
    return quarterdeck.resolve_settings(
        cwd=home / "repo", env={"HOME": str(home)}, managed_folder=home / "managed", **options
    )


def in_their_words(answer: ResolvedSettings, home: Path) -> dict[str, Any]:
    """Our answer as the TypeScript SDK would print it."""

    def spoken(value: Any) -> dict[str, Any]:
        fields = {"source": value.source, "path": value.path, "policyOrigin": value.policy_origin}
        return {name: word for name, word in fields.items() if word is not None}

    said = {
        "effective": answer.effective,
        "provenance": {key: spoken(origin) for key, origin in answer.provenance.items()},
        "sources": [spoken(layer) | {"settings": layer.settings} for layer in answer.sources],
    }
    return json.loads(json.dumps(plain(said)).replace(str(home), "~"))  # type: ignore[no-any-return]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return tmp_path.resolve()


@for_each("index", range(len(SETTINGS)))
def test_settings_are_resolved_as_by_the_official_sdk(index: int, home: Path) -> None:
    answer = resolved(SETTINGS[index], home)
    assert in_their_words(answer, home) == OFFICIAL["settings"][index], SETTINGS[index]
    assert quarterdeck.filter_escalating_default_mode(answer) == OFFICIAL["filtered"][index]


def managed_part(settings: dict[str, Any], home: Path) -> str:
    kept = resolved({"files": {}, "options": {"managedSettings": settings}}, home).effective
    return json.dumps(kept, sort_keys=True)


def test_what_a_program_may_manage_is_what_the_official_sdk_lets_it(home: Path) -> None:
    kept = {
        f"{path} = {value}": part
        for path in OFFICIAL["managed_paths"]
        for value in MANAGED_VALUES
        if (part := managed_part(managed(path, value), home)) != "{}"
    }
    assert kept == OFFICIAL["managed"]


@for_each("index", range(len(MANAGED_TOGETHER)))
def test_settings_that_a_program_manages_together_count_as_with_the_official_sdk(index: int, home: Path) -> None:
    assert managed_part(MANAGED_TOGETHER[index], home) == OFFICIAL["managed_together"][index]


@pytest.mark.skipif(not ON, reason="in the soak: the official SDK resolves thousands of settings")
def test_the_recorded_answers_are_those_of_the_installed_package() -> None:
    folder = package_folder()
    if folder is None:
        pytest.skip("node or the TypeScript SDK is missing; QUARTERDECK_INSTALL_PEER=1 installs it")
    assert record(folder) == OFFICIAL
