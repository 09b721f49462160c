"""Options → the ``initialize`` request, and what the session must remember to serve it: hooks, in-process servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

import msgspec

from quarterdeck.wire.agents import SdkPluginConfig as WirePlugin
from quarterdeck.wire.requests.session import HookCallbackMatcher, InitializeRequest, SdkMcpServerOptions
from quarterdeck.wire.versions import Version

from .guard import DEFAULT_TIMEOUT_S, fails_closed, guard_of, is_guard
from .launch_versions import IGNORED_FIELDS, LIST_PROMPT_IGNORED, lacks
from .options import ClaudeAgentOptions
from .options_types import SYSTEM_PROMPT_DYNAMIC_BOUNDARY, HookCallback, HookEvent, HookMatcher


class RegisteredHook(msgspec.Struct, frozen=True):
    """What a callback id refers to."""

    event: str
    callback: HookCallback
    matcher: str | None = None
    timeout_s: float | None = None
    on_failure: str | None = None
    """What the matcher says; None leaves it to ``hooks_on_failure``."""
    guards: bool = False
    """It makes a decision, so its failure must be a refusal."""


_EVERY_CALL = (None, "", "*")
"""Matchers that 2.1.325 and 2.0.77 take for every tool."""
_PLAIN_FIELDS = [field.name for field in fields(ClaudeAgentOptions) if field.metadata["initialize"]]


def build_initialize(
    options: ClaudeAgentOptions, hooks: Mapping[str, RegisteredHook], version: Version | None
) -> InitializeRequest:
    """From checked options."""
    servers = sdk_server_configs(options)
    plugins = options.plugins if options.plugin_delivery == "initialize" else []
    plain = {name: getattr(options, name) or None for name in _PLAIN_FIELDS}
    return InitializeRequest(
        hooks=_hook_matchers(options, hooks),
        sdk_mcp_servers=list(servers) or None,
        sdk_mcp_server_configs=_server_options(servers),
        json_schema=options.output_format and options.output_format["schema"],
        agents=options.agents or None,
        skills=options.skills if isinstance(options.skills, list) else None,
        plugins=[msgspec.convert(plugin, WirePlugin) for plugin in plugins] or None,
        managed_settings=options.managed_settings,
        **plain,
        **_prompt_fields(options.system_prompt, version),
    )


def ignored_fields(request: InitializeRequest, version: Version | None) -> list[str]:
    """The fields that are set and have no effect on this CLI."""
    return [
        name for name, last in IGNORED_FIELDS.items() if getattr(request, name) is not None and lacks(version, last)
    ]


def _prompt_fields(prompt: Any, version: Version | None) -> dict[str, Any]:
    if prompt is None:
        return {"system_prompt": ""}
    if isinstance(prompt, str | list):
        return {"system_prompt": _prompt_text(prompt, version)}
    fields = {
        "system_prompt_snapshot": prompt.get("snapshot"),
        "append_system_prompt": prompt.get("append"),
        "exclude_dynamic_sections": prompt.get("exclude_dynamic_sections"),
    }
    if prompt["type"] == "custom":
        fields["system_prompt"] = _prompt_text(prompt["prompt"], version)
    return fields


def _prompt_text(prompt: str | list[str], version: Version | None) -> str | list[str]:
    """A string is understood by every CLI, a list by new ones only: where that is not sure, the list is joined."""
    if isinstance(prompt, str):
        return prompt
    if version is not None and not lacks(version, LIST_PROMPT_IGNORED):
        return list(prompt)
    return "\n\n".join(part for part in prompt if part != SYSTEM_PROMPT_DYNAMIC_BOUNDARY)


def hooks_of(options: ClaudeAgentOptions) -> dict[HookEvent, list[HookMatcher]]:
    """The hooks in the options, plus the one that a policy given as ``can_use_tool`` adds."""
    hooks = dict(options.hooks or {})
    guard = guard_of(options.can_use_tool)
    if guard is not None:
        named = hooks.get("PreToolUse", [])
        if not any(_guards_every_call(matcher, guard) for matcher in named):
            hooks["PreToolUse"] = [*named, HookMatcher(hooks=[guard])]
    return hooks


def _guards_every_call(matcher: HookMatcher, guard: HookCallback) -> bool:
    """Whether a hook of the guard's owner sees every call already, and refuses if it fails."""
    owner = getattr(guard, "__self__", guard)
    owners = [getattr(callback, "__self__", None) for callback in matcher.hooks if fails_closed(callback)]
    return matcher.matcher in _EVERY_CALL and matcher.on_failure != "continue" and any(owner is one for one in owners)


def register_hooks(options: ClaudeAgentOptions) -> dict[str, RegisteredHook]:
    """``hook_0``, ``hook_1`` … in the order of the options."""
    registered: dict[str, RegisteredHook] = {}
    for event, matchers in hooks_of(options).items():
        for matcher in matchers:
            for callback in matcher.hooks:
                registered[f"hook_{len(registered)}"] = RegisteredHook(
                    event,
                    callback,
                    matcher.matcher,
                    _timeout(options, event, matcher),
                    matcher.on_failure,
                    _guards(options, event, matcher, callback),
                )
    return registered


def _guards(options: ClaudeAgentOptions, event: str, matcher: HookMatcher, callback: HookCallback) -> bool:
    by_default = "block" if fails_closed(callback) else options.hooks_on_failure
    return is_guard(event) and (matcher.on_failure or by_default) == "block"


def _any_guards(options: ClaudeAgentOptions, event: str, matcher: HookMatcher) -> bool:
    return any(_guards(options, event, matcher, callback) for callback in matcher.hooks)


def _timeout(options: ClaudeAgentOptions, event: str, matcher: HookMatcher) -> float | None:
    if matcher.timeout is None and _any_guards(options, event, matcher):
        return DEFAULT_TIMEOUT_S
    return matcher.timeout


def _hook_matchers(
    options: ClaudeAgentOptions, hooks: Mapping[str, RegisteredHook]
) -> dict[str, list[HookCallbackMatcher]] | None:
    ids = iter(hooks)
    built: dict[str, list[HookCallbackMatcher]] = {}
    for event, matchers in hooks_of(options).items():
        for matcher in matchers:
            built.setdefault(event, []).append(
                HookCallbackMatcher(
                    hook_callback_ids=[next(ids) for _ in matcher.hooks],
                    matcher=matcher.matcher,
                    timeout=_timeout(options, event, matcher),
                    on_failure="block" if _any_guards(options, event, matcher) else matcher.on_failure,
                )
            )
    return built or None


def sdk_server_configs(options: ClaudeAgentOptions) -> dict[str, Mapping[str, Any]]:
    """The servers that run in this process, by the names the CLI will know them by."""
    if not isinstance(options.mcp_servers, dict):
        return {}
    return {
        name: cast("Mapping[str, Any]", config)
        for name, config in options.mcp_servers.items()
        if config.get("type") == "sdk"
    }


def _server_options(servers: Mapping[str, Mapping[str, Any]]) -> dict[str, SdkMcpServerOptions] | None:
    built: dict[str, SdkMcpServerOptions] = {}
    for name, config in servers.items():
        given = {key: config[key] for key in ("timeout", "tools", "disableAutoBackground") if key in config}
        if given:
            built[name] = msgspec.convert(given, SdkMcpServerOptions)
    return built or None
