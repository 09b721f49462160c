"""The options themselves: the official fields, and a rule for every one."""

from __future__ import annotations

import dataclasses
import re
import uuid
import warnings
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import msgspec
import pytest

from looping import for_each
from quarterdeck import client, wire
from quarterdeck.client.option_rules import OptionWarning
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.options_types import HookEvent, HookMatcher
from quarterdeck.client.validate import CanUseToolShadowedWarning, validate_options
from quarterdeck.wire.agents import AgentDefinition
from quarterdeck.wire.hooks import HOOK_EVENTS

UUID = "22222222-2222-4222-8222-222222222222"


async def callback(*_: Any) -> dict[str, Any]:
    return {}


class Store:
    async def append(self, key: Any, entries: list[Any]) -> None: ...

    async def load(self, key: Any) -> None: ...


class ListingStore(Store):
    async def list_sessions(self, key: str) -> list[Any]:
        return []


def check(**options: Any) -> ClaudeAgentOptions:
    return validate_options(ClaudeAgentOptions(**options))


def test_what_is_not_official_is_given_by_keyword() -> None:
    """``tests/compat`` compares the official ones."""
    fields = dataclasses.fields(ClaudeAgentOptions)
    first_of_ours = [field.name for field in fields].index("project_config_root")
    assert [field.name for field in fields if field.kw_only] == [field.name for field in fields[first_of_ours:]]


def test_lists_and_dicts_are_not_shared() -> None:
    assert ClaudeAgentOptions().env is not ClaudeAgentOptions().env


def test_options_can_be_given_by_position_and_replaced() -> None:
    options = ClaudeAgentOptions(["Bash"], ["Read"], "prompt", title="T")
    replaced = dataclasses.replace(options, model="m")
    assert (replaced.tools, replaced.allowed_tools, replaced.system_prompt) == (["Bash"], ["Read"], "prompt")
    assert (replaced.model, replaced.title, options.model) == ("m", "T", None)


def test_every_option_has_a_rule() -> None:
    assert [field.name for field in dataclasses.fields(ClaudeAgentOptions) if "takes" not in field.metadata] == []


def test_checking_leaves_the_options_as_they_are() -> None:
    options = ClaudeAgentOptions(allowed_tools=("Read",), max_turns="3")
    assert (validate_options(options).allowed_tools, validate_options(options).max_turns) == (["Read"], 3)
    assert (options.allowed_tools, options.max_turns) == (("Read",), "3")


def test_the_hook_events_are_those_of_the_wire() -> None:
    assert get_args(HookEvent) == HOOK_EVENTS


OUTPUTS = [cls.__name__ for cls in (*wire.SPECIFIC_OUTPUT_TYPES.values(), *get_args(wire.HookJSONOutput))]


@for_each("name", OUTPUTS)
def test_the_outputs_of_hooks_have_the_keys_of_the_wire(name: str) -> None:
    typed_dict, struct = getattr(client, name), getattr(wire, name)
    spelled = {key: key.removesuffix("_") for key in typed_dict.__annotations__}  # ``async_`` is a word of Python
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct) if field.encode_name.isascii()}
    tag = struct.__struct_config__.tag_field
    assert set(spelled.values()) == set(fields) | ({tag} if tag else set())
    needed = {spelled[key] for key in typed_dict.__required_keys__}
    # The struct says by itself which event it is for, and that it is asynchronous.
    assert needed - {tag, "async"} == {key for key, field in fields.items() if field.required}
    if tag:
        assert get_args(typed_dict.__annotations__[tag]) == (struct.__struct_config__.tag,)


def test_every_output_of_a_hook_is_a_typed_dict_too() -> None:
    assert {cls.__name__ for cls in get_args(client.HookSpecificOutput)} | {
        cls.__name__ for cls in get_args(client.HookJSONOutput)
    } == set(OUTPUTS)


def test_the_defaults_are_valid() -> None:
    check()


GOOD: list[dict[str, Any]] = [
    {"tools": ("Bash",)},
    {"system_prompt": ["a", "b"]},
    {"mcp_servers": {"a": {"command": "x"}, "b": {"type": "ws", "url": "ws://x"}, "c": {"type": "sse", "url": "u"}}},
    {"permission_mode": "manual"},
    {"session_id": UUID, "resume": "a", "fork_session": True},
    {"session_id": ""},
    {"max_budget_usd": 1},
    {"betas": ["a-beta-of-tomorrow"]},
    {"add_dirs": [Path("/a"), "b"]},
    {"can_use_tool": callback, "permission_prompt_tool_name": "stdio"},
    {"agents": {"a": {"description": "d", "prompt": "p", "observer": "x"}}},
    {"skills": ["pdf", "plugin:pdf", "with space"]},
    {"session_store": ListingStore(), "continue_conversation": True},
    {"session_store": Store(), "continue_conversation": True, "resume": "a"},
    {"close_grace_s": 0},
    {"auto_compact": "auto"},
    {"hooks": {"Stop": [HookMatcher(hooks=[callback], timeout=0.5, on_failure="block")]}},
]


@for_each("options", GOOD, ids=lambda options: next(iter(options)))
def test_what_an_option_takes_passes(options: dict[str, Any]) -> None:
    check(**options)


BAD: dict[str, list[tuple[Any, type[Exception], str]]] = {
    "tools": [
        (3, TypeError, "tools takes a list of tool names, or the preset, not int"),
        (["Bash", 3], TypeError, "tools[1] takes a string, not int"),
    ],
    "allowed_tools": [(3, TypeError, "allowed_tools takes a list of tool names or rules, not int")],
    "system_prompt": [
        (3, TypeError, "system_prompt takes a string, a list of strings, or a dict whose type is"),
        (
            {"type": "custom", "prompt": 3},
            TypeError,
            "system_prompt['prompt'] takes a string or a list of strings, not int",
        ),
        ({"type": "file"}, ValueError, "system_prompt takes a prompt file; 'path' is missing"),
        ({"type": "preset", "preset": "claude_code", "append": 1}, TypeError, "system_prompt['append'] takes a string"),
    ],
    "mcp_servers": [
        (["s"], TypeError, "mcp_servers takes a dict of servers, the path of a configuration file, or its JSON text"),
        ({"s": "x"}, TypeError, "mcp_servers['s'] takes a server's configuration (a dict), not str"),
        ({"s": {"type": "sdk", "name": "x"}}, ValueError, "create_sdk_mcp_server(); 'instance' is missing"),
        ({"s": {"command": "x", "odd": object()}}, TypeError, "mcp_servers['s']['odd'] takes a JSON value"),
    ],
    "permission_mode": [("yolo", ValueError, "permission_mode takes one of 'default', 'acceptEdits'")],
    "resume": [(3, TypeError, "resume takes a string, not int"), ("a\0b", ValueError, "resume takes a string without")],
    "session_id": [
        ("abc", ValueError, "session_id takes a UUID with its four hyphens, not 'abc'"),
        ("2" * 32, ValueError, "session_id takes a UUID with its four hyphens"),
        (3, TypeError, "session_id takes a string"),
    ],
    "max_turns": [
        (True, TypeError, "max_turns takes a whole number of at least 1, not bool"),
        ("many", ValueError, "max_turns takes a whole number of at least 1, not 'many'"),
    ],
    "max_budget_usd": [
        (0, ValueError, "max_budget_usd takes a number above 0, not 0"),
        (float("nan"), ValueError, "max_budget_usd takes a number above 0, not nan"),
        ("much", ValueError, "max_budget_usd takes a number above 0, not 'much'"),
        ("0", ValueError, "max_budget_usd takes a number above 0, not 0"),
    ],
    "disallowed_tools": [([None], TypeError, "disallowed_tools[0] takes a string, not NoneType")],
    "model": [(3, TypeError, "model takes a string")],
    "fallback_model": [(["a"], TypeError, "fallback_model takes a string, not list")],
    "betas": [(3, TypeError, "betas takes a list of strings, not int")],
    "permission_prompt_tool_name": [(callback, TypeError, "permission_prompt_tool_name takes a string")],
    "cwd": [(3, TypeError, "cwd takes a string or a Path, not int")],
    "cli_path": [
        (7, TypeError, "cli_path takes a string, a Path, or a list of words, not int"),
        ([], ValueError, "cli_path takes at least one word"),
        (["node", 7], TypeError, "cli_path[1] takes a string or a Path, not int"),
    ],
    "settings": [
        (3, TypeError, "settings takes a path, a JSON text, or a dict, not int"),
        ({"a": {1}}, TypeError, "settings['a'] takes a JSON value, not set"),
        ({"a": float("inf")}, ValueError, "settings['a'] takes a JSON value, not inf"),
    ],
    "add_dirs": [(3, TypeError, "add_dirs takes a list of paths"), ([3], TypeError, "add_dirs[0] takes a string")],
    "env": [
        ({"A": 1}, TypeError, "env['A'] takes a string or a Path, not int"),
        ({1: "a"}, TypeError, "env (its key 1) takes a string, not int"),
        ({"A=B": "x"}, ValueError, "env (a name in it) takes a name without '='"),
    ],
    "extra_args": [
        ({"--foo": "x"}, ValueError, "extra_args (a name in it) takes a flag without its '--'"),
        ({"foo bar": None}, ValueError, "extra_args (a name in it)"),
    ],
    "max_buffer_size": [(0, ValueError, "max_buffer_size takes a whole number of at least 1")],
    "can_use_tool": [(True, TypeError, "can_use_tool takes a function, not bool")],
    "hooks": [
        ([], TypeError, "hooks takes a dict of event → list of HookMatcher, not list"),
        ({"Stop": HookMatcher()}, TypeError, "hooks['Stop'] takes a list of HookMatcher, not HookMatcher"),
        ({"Stop": [callback]}, TypeError, "hooks['Stop'][0] takes a HookMatcher, not function"),
        ({"Stop": [HookMatcher(hooks=[3])]}, TypeError, "hooks['Stop'][0].hooks[0] takes a function"),
        ({"Stop": [HookMatcher(matcher=1)]}, TypeError, "hooks['Stop'][0].matcher takes a string"),
        ({"PreToolUsed": []}, ValueError, "hooks has no event 'PreToolUsed'; did you mean 'PreToolUse'?"),
    ],
    "user": [
        ("", ValueError, "user takes a string that is not empty"),
        (True, TypeError, "user takes a string, not bool"),
    ],
    "resume_session_at": [(3, TypeError, "resume_session_at takes a string")],
    "resume_drops_turn": [("", ValueError, "resume_drops_turn takes a string that is not empty")],
    "agents": [
        ({"a": "prompt"}, TypeError, "agents['a'] takes an AgentDefinition, or a dict with its fields, not str"),
        ({"a": {"prompt": "p"}}, ValueError, "'description' is missing"),
        ({"a": {"description": "d", "prompt": "p", "x": {1}}}, TypeError, "agents['a']['x'] takes a JSON value"),
    ],
    "setting_sources": [
        (["users"], ValueError, "setting_sources[0] takes one of 'user', 'project', 'local'"),
    ],
    "skills": [
        ("pdf", TypeError, "skills must be a list of skill names or \"all\", got 'pdf'. Did you mean ['pdf']?"),
        ([3], TypeError, "Skill names must be strings, got int: 3"),
        ([""], ValueError, "Skill names must be non-empty strings"),
        *(
            ([name], ValueError, f"Invalid skill name {name!r}: ")
            for name in (" a", "a,b", "a(b)", "*", "p:*", "a *", "/a", "a\\", "a\\\\b", "a\nb", "\ud800", "\ufeffa")
        ),
    ],
    "sandbox": [(True, TypeError, "sandbox takes a dict of JSON values, not bool")],
    "plugins": [
        (["/p"], TypeError, "plugins[0] takes {'type': 'local', 'path': …}, not str"),
        ([{"type": "remote", "path": "/p"}], ValueError, "Unsupported plugin type: remote"),
        ([{"type": "local"}], ValueError, "plugins[0] takes {'type': 'local', 'path': …}; 'path' is missing"),
    ],
    "max_thinking_tokens": [("x", ValueError, "max_thinking_tokens takes a whole number of at least 0, not 'x'")],
    "thinking": [
        ("adaptive", TypeError, "thinking takes a dict whose type is 'adaptive', 'enabled' or 'disabled', not str"),
        ({"type": "enabled"}, ValueError, "thinking takes enabled thinking; 'budget_tokens' is missing"),
        ({"type": "adaptive", "display": "loud"}, ValueError, "thinking['display'] takes one of"),
    ],
    "effort": [(3, TypeError, "effort takes one of 'low', 'medium', 'high', 'xhigh', 'max', not int")],
    "output_format": [
        ({"type": "json_schema", "schema": "x"}, TypeError, "output_format['schema'] takes a dict"),
    ],
    "session_store": [(object(), TypeError, "session_store takes an object with append() and load(); object has no")],
    "session_store_flush": [(None, TypeError, "session_store_flush takes one of 'batched', 'eager'")],
    "load_timeout_ms": [
        ("5", TypeError, "load_timeout_ms takes a number of at least 0"),
        (-1, ValueError, "load_timeout_ms takes"),
    ],
    "task_budget": [
        (5, TypeError, "task_budget takes {'total': tokens}"),
        ({"total": 0}, ValueError, "task_budget['total']"),
    ],
    "client_app": [
        ("\u20ac", ValueError, "client_app takes a valid HTTP header value"),
        (3, TypeError, "client_app"),
    ],
    "project_config_root": [(3, TypeError, "project_config_root takes a string or a Path")],
    "agent": [(AgentDefinition(description="d", prompt="p"), TypeError, "agent takes a string")],
    "tool_aliases": [({"A": 1}, TypeError, "tool_aliases['A'] takes a string")],
    "supported_dialog_kinds": [(3, TypeError, "supported_dialog_kinds takes a list of strings")],
    "on_user_dialog": [(3, TypeError, "on_user_dialog takes a function")],
    "plan_mode_instructions": [(3, TypeError, "plan_mode_instructions takes a string")],
    "permission_prompts": [("nobody", ValueError, "permission_prompts takes one of 'host', 'none'")],
    "plugin_delivery": [("post", ValueError, "plugin_delivery takes one of 'argv', 'initialize'")],
    "managed_settings": [("{}", TypeError, "managed_settings takes a dict of JSON values, not str")],
    "debug_file": [(True, TypeError, "debug_file takes a string or a Path")],
    "title": [(3, TypeError, "title takes a string")],
    "executable": [("python", ValueError, "executable takes one of 'node', 'bun', 'deno'")],
    "executable_args": [(3, TypeError, "executable_args takes a list of strings")],
    "abort": [(object(), TypeError, "abort takes an object with is_set() and wait(); object has no")],
    "tool_config": [
        ([], TypeError, "tool_config takes a dict of tool settings"),
        ({"askUserQuestion": {"previewFormat": "pdf"}}, ValueError, "tool_config['askUserQuestion']['previewFormat']"),
    ],
    "on_elicitation": [(3, TypeError, "on_elicitation takes a function")],
    "spawn_claude_code_process": [(3, TypeError, "spawn_claude_code_process takes a function")],
    "on_question": [(3, TypeError, "on_question takes a function")],
    "on_plan": [(3, TypeError, "on_plan takes a function")],
    "hooks_on_failure": [("allow", ValueError, "hooks_on_failure takes one of 'block', 'continue'")],
    "env_allow": [
        (3, TypeError, "env_allow takes a list of names"),
        ([""], ValueError, "env_allow[0] takes a string"),
    ],
    "limit_bytes": [(10, ValueError, "limit_bytes takes a whole number of at least 65536, not 10")],
    "initialize_timeout_s": [(0, ValueError, "initialize_timeout_s takes a number above 0")],
    "request_timeout_s": [(None, TypeError, "request_timeout_s takes a number above 0, not NoneType")],
    "close_grace_s": [
        (-1, ValueError, "close_grace_s takes a number of at least 0"),
        (False, TypeError, "close_grace_s takes"),
    ],
    "append_subagent_system_prompt": [(3, TypeError, "append_subagent_system_prompt takes a string")],
    "auto_compact": [(5, ValueError, "auto_compact takes a whole number from 100000 to 1000000, not 5")],
    "retry": [(3, TypeError, "retry takes an object with wait_s(); int has no wait_s()")],
    "tracing": [("yes", TypeError, "tracing takes True or False, not str")],
}
SWITCHES = [field.name for field in dataclasses.fields(ClaudeAgentOptions) if field.type == "bool"]
NEVER_BY_ACCIDENT = ["persist_session", "slash_commands", "allow_dangerously_skip_permissions"]
CASES = [(name, *case) for name, cases in BAD.items() for case in cases]


@for_each(("option", "value", "error", "message"), CASES)
def test_a_bad_value_is_refused_by_name(option: str, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        check(**{option: value})


@for_each("option", [name for name in SWITCHES if name not in NEVER_BY_ACCIDENT])
def test_a_switch_is_on_or_off_by_truth_and_a_string_gets_a_warning(option: str) -> None:
    assert [getattr(check(**{option: value}), option) for value in (1, 0, None)] == [True, False, False]
    with pytest.warns(OptionWarning, match=re.escape(f"{option} takes True or False; the string 'no' counts as Tr")):
        check(**{option: "no"})


@for_each("option", NEVER_BY_ACCIDENT)
def test_some_switches_are_on_or_off_and_nothing_else(option: str) -> None:
    for value in ("yes", 1, None):
        with pytest.raises(TypeError, match=f"{option} takes True or False, not {type(value).__name__}"):
            check(**{option: value})


def test_every_option_has_a_bad_value_here() -> None:
    harmless = {"debug_stderr", "stderr"}
    assert set(BAD) | set(SWITCHES) | harmless == {field.name for field in dataclasses.fields(ClaudeAgentOptions)}


LENIENT: list[tuple[str, Any, Any]] = [
    ("allowed_tools", None, []),
    ("allowed_tools", {"Read"}, ["Read"]),
    ("allowed_tools", (name for name in ("Read", "Edit")), ["Read", "Edit"]),
    ("tools", ("Bash",), ["Bash"]),
    ("max_turns", 0, None),
    ("max_turns", "3", 3),
    ("max_budget_usd", "1.5", 1.5),
    ("mcp_servers", None, ""),
    ("session_id", uuid.UUID(UUID), UUID),
    ("resume", "", None),
    ("output_format", {}, None),
    ("extra_args", {"max-turns": 5, "x": None}, {"max-turns": "5", "x": None}),
    ("env", {"A": Path("/a")}, {"A": "/a"}),
    ("user", 0, 0),
    ("load_timeout_ms", 1.5, 1.5),
    ("thinking", {"type": "adaptive", "display": "highlights"}, {"type": "adaptive", "display": "highlights"}),
    ("hooks", {"Stop": ({"hooks": (callback,)},)}, {"Stop": [HookMatcher(hooks=[callback])]}),
    ("hooks", {"Stop": [SimpleNamespace(hooks=[callback])]}, {"Stop": [HookMatcher(hooks=[callback])]}),
    (
        "agents",
        {"a": AgentDefinition("d", "p", ("Read",))},
        {"a": {"description": "d", "prompt": "p", "tools": ["Read"]}},
    ),
    ("model", StrEnum("Model", {"HAIKU": "haiku"}).HAIKU, "haiku"),  # type: ignore[attr-defined]
]


@for_each(("option", "value", "meant"), LENIENT)
def test_other_forms_of_a_value_are_taken_for_what_they_mean(option: str, value: Any, meant: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = getattr(check(**{option: value}), option)
    assert (found, type(found)) == (meant, type(meant))


MISTAKES: list[tuple[str, Any, Any, str]] = [
    ("tools", "Bash", ["Bash"], "tools takes a list of tool names, or the preset, not one str"),
    ("tools", {"type": "preset"}, ["default"], "which is all tools"),
    ("disallowed_tools", "Bash", ["Bash"], "disallowed_tools takes a list of tool names or rules, not one str"),
    ("add_dirs", Path("/a"), ["/a"], "add_dirs takes a list of paths, not one PosixPath"),
    ("setting_sources", "user", ["user"], "setting_sources takes a list of setting sources, not one str"),
    ("system_prompt", {"type": "magic"}, {"type": "magic"}, "system_prompt['type'] takes 'preset', 'custom' or 'file'"),
    ("mcp_servers", {"s": {}}, {"s": {}}, "mcp_servers['s'] has no 'command'"),
    ("mcp_servers", {"s": {"type": "http"}}, {"s": {"type": "http"}}, "mcp_servers['s'] has no 'url'"),
    ("mcp_servers", {"s": {"type": "x"}}, {"s": {"type": "x"}}, "mcp_servers['s']['type'] takes 'stdio'"),
    ("max_turns", -1, -1, "max_turns takes a whole number of at least 1; -1 is passed on"),
    ("max_thinking_tokens", -1, -1, "max_thinking_tokens takes a whole number of at least 0; -1 is passed on"),
    ("thinking", {"type": "on"}, None, "thinking takes a dict whose type is"),
    ("effort", "huge", "huge", "effort takes one of 'low', 'medium', 'high', 'xhigh', 'max', not 'huge'"),
    ("output_format", {"type": "text"}, None, "output_format takes {'type': 'json_schema'"),
    ("output_format", {"type": "json_schema"}, None, "output_format takes {'type': 'json_schema'"),
    ("extra_args", {"x": True}, {"x": "True"}, "extra_args['x'] takes a value, or None for a flag without a value"),
    ("session_store_flush", "lazy", "lazy", "session_store_flush takes one of 'batched', 'eager'"),
    ("stderr", "x", "x", "stderr takes a function, not str"),
    (
        "hooks",
        {"Stop": [HookMatcher(timeout=-1)]},
        {"Stop": [HookMatcher(timeout=-1)]},
        "hooks['Stop'][0].timeout takes",
    ),
    (
        "hooks",
        {"Stop": [HookMatcher(on_failure="explode")]},
        {"Stop": [HookMatcher(on_failure="explode")]},
        "hooks['Stop'][0].on_failure takes one of",
    ),
    (
        "agents",
        {"a": {"description": "d", "prompt": "p", "tools": "Bash", "permissionMode": "plan"}},
        {"a": {"description": "d", "prompt": "p", "tools": "Bash", "permissionMode": "plan"}},
        "agents['a']['tools'] takes a list of strings, not str",
    ),
]


@for_each(("option", "value", "meant", "message"), MISTAKES)
def test_what_is_hardly_meant_gets_a_warning_and_its_official_effect(
    option: str, value: Any, meant: Any, message: str
) -> None:
    with pytest.warns(OptionWarning, match=re.escape(message)):
        assert getattr(check(**{option: value}), option) == meant


def test_messages_do_not_show_what_may_be_secret() -> None:
    for options in (
        {"env": {"KEY": b"s3cret"}},
        {"mcp_servers": {"s": {"command": "x", "args": {"--token=s3cret"}}}},
        {"settings": {"env": {"KEY": {"s3cret"}}}},
        {"system_prompt": ("s3cret",)},
    ):
        with pytest.raises(TypeError) as caught:
            check(**options)
        assert "s3cret" not in str(caught.value)


CONFLICTS: list[tuple[dict[str, Any], str]] = [
    (
        {"can_use_tool": callback, "permission_prompt_tool_name": "x"},
        "can_use_tool callback cannot be used with permission_prompt_tool_name",
    ),
    (
        {"on_plan": callback, "permission_prompt_tool_name": "x"},
        "on_plan callback cannot be used with permission_prompt_tool_name",
    ),
    ({"session_id": UUID, "resume": "a"}, "session_id names a new session"),
    ({"session_id": UUID, "continue_conversation": True}, "session_id names a new session"),
    ({"resume_session_at": UUID}, "resume_session_at cuts a session that is resumed"),
    ({"resume": "a", "resume_drops_turn": UUID}, "resume_drops_turn guards resume_session_at"),
    (
        {"session_store": Store(), "continue_conversation": True},
        "continue_conversation with session_store requires the store to implement list_sessions()",
    ),
    (
        {"session_store": Store(), "enable_file_checkpointing": True},
        "session_store cannot be combined with enable_file_checkpointing",
    ),
    ({"session_store": Store(), "persist_session": False}, "session_store needs persist_session=True"),
    ({"supported_dialog_kinds": ["x"]}, "supported_dialog_kinds names dialogs, so it needs on_user_dialog"),
]


@pytest.mark.parametrize(("options", "message"), CONFLICTS)
def test_options_that_exclude_each_other_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        check(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"permission_mode": "bypassPermissions"}, "can_use_tool will not be invoked: the mode"),
        (
            {"allowed_tools": ["Read", "Read(*)", "Edit()", "Bash(ls:*)"]},
            "can_use_tool will not be invoked for: Read, Edit.",
        ),
        ({"skills": "all"}, "can_use_tool will not be invoked for: Skill."),
    ],
)
def test_a_permission_callback_that_others_overrule_gets_a_warning(options: dict[str, Any], message: str) -> None:
    with pytest.warns(CanUseToolShadowedWarning, match=re.escape(message)):
        check(can_use_tool=callback, **options)


def test_narrow_rules_beside_a_permission_callback_need_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(can_use_tool=callback, allowed_tools=["Bash(ls:*)"], skills=["pdf"])


def test_a_hook_event_of_tomorrow_gets_a_warning() -> None:
    with pytest.warns(OptionWarning, match="'MoonRise' is not a known hook event"):
        check(hooks={"MoonRise": [HookMatcher(hooks=[callback])]})


def test_an_unknown_option_is_refused_by_the_class() -> None:
    with pytest.raises(TypeError, match="max_turn"):
        ClaudeAgentOptions(max_turn=3)


def test_anything_but_options_is_refused() -> None:
    with pytest.raises(TypeError, match="options takes a ClaudeAgentOptions, not dict"):
        validate_options({})
