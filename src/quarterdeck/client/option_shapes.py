"""The rules of options that are more than a string, a number, a switch or a list of these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args

from . import option_rules as rules
from .option_rules import Rule, listed, mapped, shape, warn, whole, words, wrong_type, wrong_value
from .options_types import HookEvent, HookMatcher, PermissionMode, ThinkingDisplay


def session_id(value: Any, place: str) -> Any:
    checked = rules.name(value, place)
    if checked and not re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", checked):
        wrong_value(place, "a UUID with its four hyphens", checked)
    return checked


def tools(value: Any, place: str) -> Any:
    """The official SDK takes any dict, tuple, set or string for the preset, which is all tools."""
    if not isinstance(value, Mapping):
        return listed(rules.argument, "a list of tool names, or the preset")(value, place)
    if (value.get("type"), value.get("preset")) != ("preset", "claude_code"):
        warn(f"{place}: {value!r} is treated as {{'type': 'preset', 'preset': 'claude_code'}}, which is all tools")
    return ["default"]


def prompt(value: Any, place: str) -> Any:
    if isinstance(value, str | list):
        return _prompt_text(value, place)
    if not isinstance(value, Mapping):
        wrong_type(place, "a string, a list of strings, or a dict whose type is 'preset', 'custom' or 'file'", value)
    kind = value.get("type")
    if kind not in _PROMPTS:
        warn(f"{place}['type'] takes 'preset', 'custom' or 'file', not {kind!r}: Claude Code's own prompt is used")
        return {"type": kind}
    checked = _PROMPTS[kind](value, place)
    for key in ("exclude_dynamic_sections", "snapshot"):
        if checked.get(key) is not None and not isinstance(checked[key], bool):
            warn(f"{place}[{key!r}] takes True or False; {checked.pop(key)!r} is ignored")
    return checked


def _prompt_text(value: Any, place: str) -> Any:
    if isinstance(value, str):
        return rules.text(value, place)
    return listed(rules.text, "a string or a list of strings", one=False)(value, place)


_PROMPTS: dict[Any, Rule] = {
    "preset": shape("a preset", {}, {"append": rules.text}),
    "custom": shape("a custom prompt", {"prompt": _prompt_text}, {}),
    "file": shape("a prompt file", {"path": rules.path}, {}),
}

_SERVERS = {"stdio": "command", "sse": "url", "http": "url", "ws": "url"}
"""Type of server → the key it cannot do without."""


def _server(value: Any, place: str) -> Any:
    if not isinstance(value, Mapping):
        wrong_type(place, "a server's configuration (a dict)", value)
    kind = value.get("type", "stdio")
    if kind == "sdk":
        if value.get("instance") is None:
            raise ValueError(f"{place} takes the result of create_sdk_mcp_server(); 'instance' is missing")
        return value
    if kind not in _SERVERS:
        warn(f"{place}['type'] takes 'stdio', 'sse', 'http', 'ws' or 'sdk', not {kind!r}: the server will be left out")
    elif not value.get(_SERVERS[kind]):
        warn(f"{place} has no {_SERVERS[kind]!r}: the server will be left out")
    return rules.json_object(value, place)


def _dict_or_path(rule: Rule, takes: str) -> Rule:
    def check(value: Any, place: str) -> Any:
        if isinstance(value, Mapping):
            return rule(value, place)
        try:
            return rules.path("" if value is None else value, place)
        except TypeError:
            wrong_type(place, takes, value)

    return check


servers = _dict_or_path(
    mapped(_server, "a dict of servers"), "a dict of servers, the path of a configuration file, or its JSON text"
)
settings = _dict_or_path(rules.json_object, "a path, a JSON text, or a dict")


def env(value: Any, place: str) -> Any:
    checked = mapped(rules.path, "a dict of strings")(value, place)
    for name in checked:
        if not name or "=" in name or "\0" in name:
            wrong_value(f"{place} (a name in it)", "a name without '=' and NUL characters", name)
    return checked


def extra_args(value: Any, place: str) -> Any:
    checked = mapped(rules.anything, "a dict of flags")({} if value is None else value, place)
    for name, said in checked.items():
        if not re.fullmatch(r"[A-Za-z0-9][^\s\0]*", name):
            wrong_value(f"{place} (a name in it)", "a flag without its '--' and without spaces", name)
        if isinstance(said, bool):
            warn(f"{place}[{name!r}] takes a value, or None for a flag without a value; {said} is passed as a string")
        if said is not None:
            checked[name] = rules.argument(said if isinstance(said, str) else str(said), f"{place}[{name!r}]")
    return checked


def hooks(value: Any, place: str) -> Any:
    matchers = listed(_hook_matcher, "a list of HookMatcher", one=False)
    checked = mapped(matchers, "a dict of event → list of HookMatcher")(value, place)
    for event in checked:
        if event not in get_args(HookEvent):
            _check_new_event(event, place)
    return checked


def _check_new_event(event: str, place: str) -> None:
    """Nothing but ``hooks`` registers a hook, so a wholly new name must pass; a mistyped one would be an open guard."""
    import difflib

    close = difflib.get_close_matches(event, get_args(HookEvent), n=1, cutoff=0.8)
    if close:
        raise ValueError(f"{place} has no event {event!r}; did you mean {close[0]!r}?")
    warn(f"{place}: {event!r} is not a known hook event")


_MATCHER: dict[str, Rule] = {
    "matcher": rules.text,
    "hooks": listed(rules.callback, "a list of functions", one=False),
    "timeout": rules.number("a number above 0", lambda value: value > 0, odd="will probably be ignored"),
    "on_failure": words("continue", "block", open_=True),
}


def _hook_matcher(value: Any, place: str) -> HookMatcher:
    """Also a dict, or any object with these attributes. The official SDK takes a dict and never calls its hooks."""
    found = value if isinstance(value, Mapping) else {key: getattr(value, key, None) for key in _MATCHER}
    if found.get("hooks") is None:
        wrong_type(place, "a HookMatcher", value)
    return HookMatcher(
        **{key: rule(found[key], f"{place}.{key}") for key, rule in _MATCHER.items() if found.get(key) is not None}
    )


_AGENT = shape(
    "an AgentDefinition, or a dict with its fields",
    {"description": rules.text, "prompt": rules.text},
    {"permissionMode": words(*get_args(PermissionMode), "manual", open_=True)},
)


def agent(value: Any, place: str) -> Any:
    """Without what is ``None``. A plain dict may hold keys that are newer than we are."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    checked = _AGENT(value, place)
    for key in ("tools", "disallowedTools", "skills"):
        if isinstance(checked.get(key), str):
            warn(f"{place}[{key!r}] takes a list of strings, not str (put it into a list)")
    return rules.json_object({key: said for key, said in checked.items() if said is not None}, place)


_SKILL_BAD = r"[(),\x00-\x1f\x7f-\x9f\ufeff\ud800-\udfff]|\\\\|\\$|^/|^\*$|[: ]\*$"
"""Compiled when a skill is named: few programs do, and it takes as long as the rest of this module."""


def skills(value: Any, place: str) -> Any:
    """A name becomes a rule ``Skill(name)``, which the CLI splits at commas and parentheses: it must not reshape it."""
    if isinstance(value, str) and value == "all":
        return "all"
    if not isinstance(value, list):
        hint = f" Did you mean [{value!r}]?" if isinstance(value, str) else ""
        raise TypeError(f'ClaudeAgentOptions.{place} must be a list of skill names or "all", got {value!r}.{hint}')
    for skill in value:
        if not isinstance(skill, str):
            raise TypeError(f"Skill names must be strings, got {type(skill).__name__}: {skill!r}")
        if not skill.strip():
            raise ValueError("Skill names must be non-empty strings")
        if skill != skill.strip() or re.search(_SKILL_BAD, skill):
            raise ValueError(
                f"Invalid skill name {skill!r}: give the exact name of one skill, without wildcards, commas, "
                "parentheses, a leading '/', surrounding spaces or control characters"
            )
    return [rules.text(skill, place) for skill in value]


_display: dict[str, Rule] = {"display": words(*get_args(ThinkingDisplay), otherwise="thinking-display")}
_THINKING: dict[Any, Rule] = {
    "adaptive": shape("adaptive thinking", {}, _display),
    "enabled": shape("enabled thinking", {"budget_tokens": whole(0)}, _display),
    "disabled": shape("disabled thinking", {}, {"display": lambda *_: None}),
}


def thinking(value: Any, place: str) -> Any:
    takes = "a dict whose type is 'adaptive', 'enabled' or 'disabled'"
    kind = shape(takes, {"type": rules.anything}, {})(value, place)["type"]
    if kind in _THINKING:
        return _THINKING[kind](value, place)
    warn(f"{place} takes {takes}, not {kind!r}, which is ignored")
    return None


def output_format(value: Any, place: str) -> Any:
    """Only a schema has an effect; anything else is what the CLI does in any case."""
    schema = value.get("schema") if isinstance(value, Mapping) and value.get("type") == "json_schema" else None
    if schema is not None:
        return {"type": "json_schema", "schema": rules.json_object(schema, f"{place}['schema']")}
    if value != {}:
        warn(f"{place} takes {{'type': 'json_schema', 'schema': {{…}}}}; anything else is ignored")
    return None


def _local(value: Any, place: str) -> str:
    if value != "local":
        raise ValueError(f"Unsupported plugin type: {value}")
    return "local"


plugin = shape("{'type': 'local', 'path': …}", {"type": _local, "path": rules.path}, {"skipMcpDiscovery": rules.switch})
tool_config = shape(
    "a dict of tool settings",
    {},
    {"askUserQuestion": shape("a dict", {}, {"previewFormat": words("markdown", "html")})},
)


def auto_compact(value: Any, place: str) -> Any:
    return value if value == "auto" else whole(100_000, 1_000_000)(value, place)


def client_app(value: Any, place: str) -> str:
    checked = rules.argument(value, place)
    if not re.fullmatch(r"[\t\x20-\x7e\x80-\xff]*", checked):
        wrong_value(place, "a valid HTTP header value", checked)
    return checked


def user(value: Any, place: str) -> str | int:
    """A name, or the number that ``subprocess`` takes as well."""
    return value if isinstance(value, int) and not isinstance(value, bool) else rules.non_empty(value, place)
