"""Our public names, signatures and fields beside those of the official SDK 0.2.182.

What it offers is written down in ``official-0.2.182.json`` (made by ``describe.py``). A program written for it must
find here what it found there, so ours may have more: more names, more optional parameters, more fields. It may not lack
anything.
"""

from __future__ import annotations

import abc
import dataclasses
import importlib
import inspect
import json
import re
import typing
from pathlib import Path
from typing import Any

import pytest

import quarterdeck
import quarterdeck.testing
from compat.describe import HOMES, as_json, hints_of, idioms, made_of, taken
from compat.peer import VERSION, describe_peer, peer_python
from looping import for_each

SNAPSHOT = Path(__file__).with_name(f"official-{VERSION}.json")
OFFICIAL = json.loads(SNAPSHOT.read_text())
NAMES: dict[str, dict[str, Any]] = OFFICIAL["names"]


MORE_KEYS = {
    "McpSdkServerConfig": {"tools", "timeout"},
    "PostToolUseHookSpecificOutput": {"classifierContext"},
    "SandboxSettings": {"failIfUnavailable"},
    "SdkPluginConfig": {"skipMcpDiscovery"},
    "SyncHookJSONOutput": {"terminalSequence"},
}
"""Dict that a program makes → keys that the CLI takes and the official package does not know."""
ABSTRACT = ("SessionStore", "Transport")
ANSWERS = {
    "ClaudeSDKClient.interrupt": "InterruptReceipt",
    "ClaudeSDKClient.rewind_files": "RewindFilesResult",
    "ClaudeSDKClient.set_model": "ModelAnswer",
    "ClaudeSDKClient.set_permission_mode": "PermissionModeAnswer",
}
"""Method that returns None there → what the CLI answers; ``docs/migration.md`` lists it."""


def of_kind(kind: str) -> list[str]:
    return sorted(name for name, entry in NAMES.items() if entry["kind"] == kind)


def ours(name: str) -> Any:
    return next(
        getattr(room, name) for room in (quarterdeck, quarterdeck.types, quarterdeck.testing) if hasattr(room, name)
    )


# Names


def test_every_official_name_is_ours_too() -> None:
    assert [name for name in OFFICIAL["modules"][""] if name not in dir(quarterdeck)] == []


def test_every_name_of_its_types_module_is_in_ours() -> None:
    assert [name for name in OFFICIAL["modules"]["types"] if not hasattr(quarterdeck.types, name)] == []


def test_every_name_of_its_testing_module_is_in_ours() -> None:
    assert [name for name in OFFICIAL["modules"]["testing"] if not hasattr(quarterdeck.testing, name)] == []


@for_each("module", HOMES)
def test_a_module_that_programs_import_from_has_the_official_names(module: str) -> None:
    home = importlib.import_module(f"quarterdeck.{module}")
    official = OFFICIAL["modules"][module]
    assert official
    assert [name for name in official if getattr(home, name, None) is not ours(name)] == []


def test_importing_the_module_query_leaves_the_function_in_its_place() -> None:
    importlib.import_module("quarterdeck.query")
    assert quarterdeck.query is importlib.import_module("quarterdeck.client").query


def test_a_star_import_brings_the_names() -> None:
    namespace: dict[str, Any] = {}
    exec("from quarterdeck import *", namespace)  # noqa: S102  # a star import is only allowed in a module's body
    assert namespace["query"] is quarterdeck.query
    assert namespace["AssistantMessage"] is quarterdeck.AssistantMessage


# Functions and methods


@for_each("name", of_kind("function"))
def test_a_function_takes_what_the_official_one_takes(name: str) -> None:
    check_call(name, NAMES[name], ours(name))


@for_each(
    ("name", "method"),
    [(name, method) for name in [*of_kind("class"), *of_kind("dataclass")] for method in NAMES[name]["methods"]],
)
def test_a_method_takes_what_the_official_one_takes(name: str, method: str) -> None:
    check_call(f"{name}.{method}", NAMES[name]["methods"][method], getattr(ours(name), method), skip=1)


@for_each("name", [name for name in of_kind("class") if name not in ("ToolAnnotations", *ABSTRACT)])
def test_a_class_is_built_with_what_the_official_one_is_built_with(name: str) -> None:
    wanted = {"parameters": NAMES[name]["built_with"], "is": "function"}
    check_call(name, wanted, ours(name).__init__, skip=1)


@for_each("name", ABSTRACT)
def test_a_class_to_derive_from_asks_for_the_official_methods(name: str) -> None:
    assert sorted(ours(name).__abstractmethods__) == NAMES[name]["abstract"]


def check_call(name: str, official: dict[str, Any], function: Any, skip: int = 0) -> None:
    """Every call that the official function takes, ours takes too, with the same meaning by position and default."""
    mine = list(inspect.signature(function).parameters.values())[skip:]
    by_name = {parameter.name: parameter for parameter in mine}
    for index, wanted in enumerate(official["parameters"]):
        parameter = by_name.get(wanted["name"])
        assert parameter is not None, f"{name} lacks the parameter {wanted['name']}"
        assert parameter.kind.name == wanted["kind"], f"{name}: {wanted['name']}"
        if wanted["kind"] == "POSITIONAL_OR_KEYWORD":
            assert mine[index].name == wanted["name"], f"{name}: the order of the parameters"
        if "default" in wanted:
            assert as_json(parameter.default) == wanted["default"], f"{name}: the default of {wanted['name']}"
    official_names = {wanted["name"] for wanted in official["parameters"]}
    needed = [p.name for p in mine if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    assert set(needed) <= official_names, f"{name} needs more than the official one"
    check_annotations(name, official, function)
    is_generator = inspect.isasyncgenfunction(function)
    assert is_generator == (official["is"] == "async generator")
    assert inspect.iscoroutinefunction(function) == (official["is"] == "coroutine")


def check_annotations(name: str, official: dict[str, Any], function: Any) -> None:
    """It takes all types that the official function takes, and returns no other."""
    hints = hints_of(function)
    for wanted in official["parameters"]:
        if "takes" in wanted and wanted["name"] in hints:
            assert covers(taken(hints[wanted["name"]]), wanted["takes"]), f"{name}: the type of {wanted['name']}"
    if "returns" in official:
        returned = taken(hints["return"])
        assert returned == [ANSWERS[name]] if name in ANSWERS else covers(official["returns"], returned), name


def covers(mine: list[str], official: list[str]) -> bool:
    """Whether each official type is among ours."""
    return "Any" in mine or all(each == "Any" or looser(each) & set(mine) for each in official)


def looser(text: str) -> set[str]:
    """The type and what includes it: at run time, a list of words is any string and a typed dict any dict."""
    found = {text, re.sub(r"\w+", lambda word: "dict[str, Any]" if word[0] in of_kind("dict") else word[0], text)}
    if text.startswith("list["):
        found |= {"Iterable", text.replace("[Any]", "[dict[str, Any]]")}
    return found | {"str"} if text[0] in "'\"" else found


# Dataclasses


@for_each("name", of_kind("dataclass"))
def test_a_class_takes_and_keeps_every_field_by_position_and_by_keyword(name: str) -> None:
    values = {field["name"]: sample(name, field) for field in NAMES[name]["fields"]}
    by_position, by_keyword = ours(name)(*values.values()), ours(name)(**values)
    assert by_position == by_keyword
    kept = {field: getattr(by_keyword, field) for field in values}
    if "data" in kept:  # is the whole line, so it has what the other fields say besides
        kept["data"] = {key: kept["data"][key] for key in values["data"]}
    assert kept == values


@for_each("name", of_kind("dataclass"))
def test_fields_that_are_not_given_have_the_official_default(name: str) -> None:
    given = {field["name"]: sample(name, field) for field in NAMES[name]["fields"] if "default" not in field}
    built = ours(name)(**given)
    optional = {field["name"]: field["default"] for field in NAMES[name]["fields"] if "default" in field}
    optional.pop("debug_stderr", None)  # the standard error of the process: nothing to compare
    assert {field: getattr(built, field) for field in optional} == optional


@for_each("name", [name for kind in ("dataclass", "class") for name in of_kind(kind) if name != "ToolAnnotations"])
def test_a_class_is_a_subclass_of_what_the_official_one_is(name: str) -> None:
    standard: dict[str, Any] = {"ABC": abc.ABC, "Protocol": typing.Protocol}
    for base in NAMES[name]["bases"]:
        assert (standard.get(base) or ours(base)) in ours(name).__mro__


@for_each("name", of_kind("dataclass"))
def test_a_class_is_unpacked_by_position_as_the_official_one_is(name: str) -> None:
    assert list(ours(name).__match_args__) == NAMES[name]["match_args"]


@for_each("name", of_kind("dataclass"))
def test_a_class_has_the_official_fields_and_parameters_in_their_order(name: str) -> None:
    official = [field["name"] for field in NAMES[name]["fields"]]
    assert [field.name for field in dataclasses.fields(ours(name))][: len(official)] == official
    assert list(inspect.signature(ours(name)).parameters)[: len(official)] == official


def test_what_is_a_dict_there_is_a_dict_here() -> None:
    assert [name for name in of_kind("dict") if not typing.is_typeddict(ours(name))] == []


OPTION_CLASSES = ("ClaudeAgentOptions", "AgentDefinition", "HookMatcher")


@for_each("name", OPTION_CLASSES)
def test_option_classes_have_the_official_fields_in_the_official_order(name: str) -> None:
    official = [field["name"] for field in NAMES[name]["fields"]]
    mine = [field.name for field in dataclasses.fields(ours(name))]
    assert mine[: len(official)] == official == list(ours(name).__match_args__) == NAMES[name]["match_args"]


@for_each("name", OPTION_CLASSES)
def test_option_classes_have_the_official_defaults_made_the_official_way(name: str) -> None:
    mine = {field.name: field for field in dataclasses.fields(ours(name))}
    for official in NAMES[name]["fields"]:
        field = mine[official["name"]]
        if isinstance(official.get("default"), list | dict):
            assert field.default_factory is type(official["default"])
        elif official["name"] != "debug_stderr":
            assert as_json(field.default) == official.get("default", as_json(dataclasses.MISSING)), field.name


@for_each("name", of_kind("dataclass"))
def test_fields_are_annotated_with_all_the_official_types(name: str) -> None:
    hints = typing.get_type_hints(ours(name))
    narrower = [
        field["name"]
        for field in NAMES[name]["fields"]
        if field["name"] in hints and not covers(taken(hints[field["name"]]), field["takes"])
    ]  # a field that is a property has no annotation here; test_type_checkers.py reads those
    assert narrower == (["hooks"] if name == "ClaudeAgentOptions" else [])  # a dict with more events as keys


@for_each("name", of_kind("dataclass"))
def test_idioms_of_dataclasses_give_the_official_results(name: str) -> None:
    official = NAMES[name]["idioms"]
    mine = idioms(ours(name), {field["name"]: field["sample"] for field in NAMES[name]["fields"]}, ours)
    mine["vars"] = mine["vars"][: len(official["vars"])]  # ours may have more fields, behind these
    mine["asdict"] = {key: mine["asdict"][key] for key in official["asdict"]}
    assert mine == official


def test_options_can_be_replaced_and_turned_into_a_dict() -> None:
    options = quarterdeck.ClaudeAgentOptions(model="haiku", max_turns=3)
    changed = dataclasses.replace(options, max_turns=4)
    assert (changed.model, changed.max_turns, options.max_turns) == ("haiku", 4, 3)
    assert dataclasses.asdict(dataclasses.replace(options, debug_stderr=None))["model"] == "haiku"


def sample(name: str, field: dict[str, Any]) -> Any:
    """A value for a field; of classes where the field takes one."""
    special = {
        "AssistantMessage.content": [quarterdeck.TextBlock("hi")],
        "ResultMessage.model_usage": {"a-model": {"inputTokens": 3}},
        "TaskNotificationMessage.usage": {"total_tokens": 1, "tool_uses": 2, "duration_ms": 3},
        "TaskProgressMessage.usage": {"total_tokens": 1, "tool_uses": 2, "duration_ms": 3},
        "TaskUpdatedMessage.patch": {"description": "a text"},
        "TaskUpdatedMessage.status": None,
    }
    return special.get(f"{name}.{field['name']}", made_of(field["sample"], ours))


# Dicts, words, unions, errors


@for_each("name", of_kind("dict"))
def test_a_dict_type_knows_the_official_keys(name: str) -> None:
    entry = NAMES[name]
    assert sorted(ours(name).__required_keys__) == entry["required"]
    assert sorted(ours(name).__optional_keys__ - MORE_KEYS.get(name, set())) == entry["optional"]


@for_each("name", of_kind("dict"))
def test_the_keys_of_a_dict_type_take_the_official_types(name: str) -> None:
    hints = typing.get_type_hints(ours(name))
    official = NAMES[name]["takes"]
    narrower = [key for key in official if not covers(taken(hints[key]), official[key])]
    assert narrower == (["hooks"] if name == "SDKControlInitializeRequest" else [])  # a dict with more events as keys


@for_each("name", of_kind("words"))
def test_a_list_of_words_has_the_official_ones(name: str) -> None:
    found = ours(name)
    words = [word for part in typing.get_args(found) for word in typing.get_args(part) or [part]]
    assert set(NAMES[name]["values"]) - set(words) == set()


@for_each("name", of_kind("union"))
def test_a_union_has_the_official_members(name: str) -> None:
    found = ours(name)
    members = typing.get_args(found) or (found,)
    for member in NAMES[name]["members"]:
        same_name = any(part.__name__ == member for part in members)
        assert same_name or any(issubclass(ours(member), part) for part in members), member


@for_each("name", of_kind("exception"))
def test_an_error_is_caught_by_the_same_except_clauses(name: str) -> None:
    entry, cls = NAMES[name], ours(name)
    bases = {base.__name__ for base in cls.__mro__}
    renamed = {"ClaudeSDKError": "QuarterdeckError"}  # one class under two names
    assert {renamed.get(base, base) for base in entry["bases"]} - {"object"} <= bases
    assert quarterdeck.ClaudeSDKError is quarterdeck.QuarterdeckError
    if name != "CanUseToolShadowedWarning":
        check_call(name, {"parameters": entry["parameters"], "is": "function"}, cls.__init__, skip=1)


def test_task_statuses_that_end_a_task_are_the_same() -> None:
    assert sorted(quarterdeck.TERMINAL_TASK_STATUSES) == NAMES["TERMINAL_TASK_STATUSES"]["value"]


def test_each_kind_of_name_is_compared() -> None:
    compared = {"function", "class", "dataclass", "dict", "words", "union", "exception"}
    assert {entry["kind"] for entry in NAMES.values()} - compared == {"alias", "value"}
    for alias in of_kind("alias"):
        assert ours(alias) is not None


# The snapshot


def test_the_snapshot_is_what_the_installed_official_package_offers() -> None:
    python = peer_python()
    if python is None:
        pytest.skip("the official SDK is not installed here; QUARTERDECK_INSTALL_PEER=1 installs it")
    assert json.loads(describe_peer(python)) == OFFICIAL


# The guide for moving over


def test_every_listed_difference_has_a_reason_and_there_are_few() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "migration.md").read_text()
    _, _, table = guide.partition("## What is different\n\n")
    rows = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()[2:]]
    assert [row for row in rows if len(row) != 3 or len(row[2]) < len("it was named")] == []
    assert 20 < len(rows) <= 25
