"""Rules for the options that are more than a string, a number or a switch."""

from __future__ import annotations

import re
import uuid
import warnings
from typing import Any, get_args

from quarterdeck import wire
from quarterdeck.wire.agents import AgentDefinition

from . import validate_rules as rules
from .options_types import HookMatcher, ThinkingDisplay
from .validate_rules import Rule, dict_of, list_of, one_of, optional, shape, whole_number, wrong_type, wrong_value


class UnknownHookEventWarning(UserWarning):
    """A hook for an event that this package does not know; an older CLI will never call it."""


def session_id(value: Any, place: str) -> None:
    rules.text(value, place)
    if not value:
        return  # unset, as in the official SDK
    try:
        uuid.UUID(value)
    except ValueError:
        wrong_value(place, "a UUID such as '2f1c9d0e-…'", value)
    if len(value) != 36:
        wrong_value(place, "a UUID with its four hyphens", value)


def tools(value: Any, place: str) -> None:
    takes = "a list of tool names, or {'type': 'preset', 'preset': 'claude_code'}"
    if isinstance(value, dict):
        if (value.get("type"), value.get("preset")) != ("preset", "claude_code"):
            wrong_value(place, takes, value)
        return
    list_of(rules.argument, takes)(value, place)


_PROMPT_TAKES = "a string, a list of strings, or a dict whose type is 'preset', 'custom' or 'file'"
_prompt_parts = list_of(rules.text, "a list of strings")
_PROMPT_SHAPES: dict[Any, Rule] = {
    "preset": shape(
        "a preset",
        {"preset": one_of("claude_code")},
        {"append": rules.text, "exclude_dynamic_sections": rules.flag, "snapshot": rules.flag},
    ),
    "custom": shape(
        "a custom prompt",
        {"prompt": lambda value, place: _prompt_text(value, place)},
        {"snapshot": rules.flag},
    ),
    "file": shape("a prompt file", {"path": rules.path}, {}),
}


def _prompt_text(value: Any, place: str) -> None:
    if not isinstance(value, str):
        _prompt_parts(value, place)


def system_prompt(value: Any, place: str) -> None:
    if isinstance(value, dict):
        check = _PROMPT_SHAPES.get(value.get("type"))
        if check is None:
            wrong_value(f"{place}['type']", "'preset', 'custom' or 'file'", value.get("type"))
        check(value, place)
    elif isinstance(value, str | list):
        _prompt_text(value, place)
    else:
        wrong_type(place, _PROMPT_TAKES, value)


strings = list_of(rules.argument, "a list of strings")
_string_dict = dict_of(rules.argument, "a dict of strings")
_remote = shape("a server with a url", {"url": rules.named}, {"headers": _string_dict})
_SERVER_SHAPES: dict[Any, Rule] = {
    "stdio": shape("a command to start", {"command": rules.named}, {"args": strings, "env": _string_dict}),
    "sse": _remote,
    "http": _remote,
    "ws": _remote,
}


def _server(value: Any, place: str) -> None:
    if not isinstance(value, dict):
        wrong_type(place, "a server's configuration (a dict)", value)
    kind = value.get("type", "stdio")
    if kind == "sdk":
        if value.get("instance") is None:
            raise ValueError(f"{place} takes the result of create_sdk_mcp_server(); 'instance' is missing")
        return
    check = _SERVER_SHAPES.get(kind)
    if check is None:
        wrong_value(f"{place}['type']", "'stdio', 'sse', 'http', 'ws' or 'sdk'", kind)
    check(value, place)
    rules.json_object(value, place)


def servers(value: Any, place: str) -> None:
    if isinstance(value, dict):
        dict_of(_server, "a dict of servers")(value, place)
    else:
        _path_or(value, place, "a dict of servers, the path of a configuration file, or its JSON text")


def settings(value: Any, place: str) -> None:
    if isinstance(value, dict):
        rules.json_object(value, place)
    else:
        _path_or(value, place, "a path, a JSON text, or a dict")


def _path_or(value: Any, place: str, takes: str) -> None:
    try:
        rules.path(value, place)
    except TypeError:
        wrong_type(place, takes, value)


def env(value: Any, place: str) -> None:
    _string_dict(value, place)
    for name in value:
        if not name or "=" in name or "\0" in name:
            wrong_value(f"{place} (a name in it)", "a name without '=' and NUL characters", name)


def extra_args(value: Any, place: str) -> None:
    dict_of(optional(rules.argument), "a dict of strings or None")(value, place)
    for name in value:
        if not re.fullmatch(r"[A-Za-z0-9][^\s\0]*", name):
            wrong_value(f"{place} (a name in it)", "a flag without its '--' and without spaces", name)


def hooks(value: Any, place: str) -> None:
    dict_of(list_of(_hook_matcher, "a list of HookMatcher"), "a dict of event → list of HookMatcher")(value, place)
    for event in value:
        if event in wire.HOOK_EVENTS:
            continue
        import difflib

        close = difflib.get_close_matches(event, wire.HOOK_EVENTS, n=1, cutoff=0.8)
        if close:
            raise ValueError(f"{place} has no event {event!r}; did you mean {close[0]!r}?")
        warnings.warn(
            f"{place}: {event!r} is no event of the CLI this package was made with",
            UnknownHookEventWarning,
            stacklevel=2,
        )


def _hook_matcher(value: Any, place: str) -> None:
    if not isinstance(value, HookMatcher):
        wrong_type(place, "a HookMatcher", value)
    optional(rules.text)(value.matcher, f"{place}.matcher")
    list_of(rules.callback, "a list of functions")(value.hooks, f"{place}.hooks")
    optional(rules.positive_number)(value.timeout, f"{place}.timeout")
    optional(one_of("continue", "block"))(value.on_failure, f"{place}.on_failure")


_agent_shape = shape(
    "an AgentDefinition, or a dict with its fields",
    {"description": rules.text, "prompt": rules.text},
    {
        "tools": strings,
        "disallowedTools": strings,
        "model": rules.text,
        "skills": strings,
        "maxTurns": whole_number(1),
    },
)


def agent(value: Any, place: str) -> None:
    if isinstance(value, AgentDefinition):
        value = {name: getattr(value, name) for name in value.__struct_fields__}
    _agent_shape(value, place)
    rules.json_object(value, place)


_SKILL_TAKES = "exact skill names: no wildcard, comma, parenthesis, leading '/', outer space or odd character"
_SKILL_BAD = r"[(),\x00-\x1f\x7f-\x9f\ufeff\ud800-\udfff]|\\\\|\\$|^/|^\*$|[: ]\*$"
"""Compiled when a skill is named: few programs do, and it takes as long as the rest of this module."""


def _skill(value: Any, place: str) -> None:
    """A name becomes a rule ``Skill(name)``, which the CLI splits at commas and parentheses: it must not reshape it."""
    rules.text(value, place)
    if not value or value != value.strip() or re.search(_SKILL_BAD, value):
        wrong_value(place, _SKILL_TAKES, value)


def skills(value: Any, place: str) -> None:
    if value != "all":
        list_of(_skill, "a list of skill names, or 'all'")(value, place)


_display = {"display": one_of(*get_args(ThinkingDisplay), otherwise="thinking-display")}
_THINKING_SHAPES: dict[Any, Rule] = {
    "adaptive": shape("adaptive thinking", {}, _display),
    "enabled": shape("enabled thinking", {"budget_tokens": whole_number(1)}, _display),
    "disabled": shape("disabled thinking", {}, {}),
}


def thinking(value: Any, place: str) -> None:
    takes = "a dict whose type is 'adaptive', 'enabled' or 'disabled'"
    if not isinstance(value, dict):
        wrong_type(place, takes, value)
    check = _THINKING_SHAPES.get(value.get("type"))
    if check is None:
        wrong_value(place, takes, value)
    check(value, place)


def output_format(value: Any, place: str) -> None:
    takes = "{'type': 'json_schema', 'schema': {…}}"
    shape(takes, {"type": one_of("json_schema"), "schema": rules.json_object}, {})(value, place)


def auto_compact(value: Any, place: str) -> None:
    if value != "auto":
        whole_number(100_000, 1_000_000)(value, place)


def client_app(value: Any, place: str) -> None:
    rules.argument(value, place)
    if not re.fullmatch(r"[\t\x20-\x7e\x80-\xff]*", value):
        wrong_value(place, "what an HTTP header can hold", value)


plugin = shape(
    "{'type': 'local', 'path': …}", {"type": one_of("local"), "path": rules.path}, {"skipMcpDiscovery": rules.flag}
)
tool_config = shape(
    "a dict of tool settings",
    {},
    {"askUserQuestion": shape("a dict", {}, {"previewFormat": one_of("markdown", "html")})},
)
rule_list = list_of(rules.argument, "a list of tool names or rules")
