"""What a package offers, as JSON on stdout: run by the interpreter that has the package.

    python describe.py claude_agent_sdk

Uses the standard library only, and says facts only: names, parameters, fields, defaults, annotations, bases, and what
common idioms make of a dataclass. A field's ``sample`` is a value that fits it, to build the class with; ``{CLASS: …}``
is an object.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import json
import pickle
import sys
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

SUBMODULES = ("types", "testing")
HOMES = ("_errors", "client", "query")
"""Modules that public programs import names from which the package has, too: what each defines itself."""
UNION = (typing.Union, types.UnionType)
CLASS = "<class>"


def describe(package: str) -> dict[str, Any]:
    root = importlib.import_module(package)
    modules = {"": sorted(root.__all__)}
    objects = {name: getattr(root, name) for name in root.__all__}
    for submodule in SUBMODULES:
        module = importlib.import_module(f"{package}.{submodule}")
        own = [name for name in vars(module) if not name.startswith("_") and _is_own(module, name)]
        modules[submodule] = sorted(own)
        objects |= {name: getattr(module, name) for name in own}
    for home in HOMES:
        module = importlib.import_module(f"{package}.{home}")
        own = [name for name, value in vars(module).items() if _is_defined_in(module, name, value)]
        modules[home] = sorted(own)
        objects |= {name: getattr(module, name) for name in own}
    names = {name: _describe(value) for name, value in sorted(objects.items()) if name != "__version__"}
    return {"package": package, "version": root.__version__, "modules": modules, "names": names}


def _is_defined_in(module: types.ModuleType, name: str, value: Any) -> bool:
    return not name.startswith("_") and getattr(value, "__module__", None) == module.__name__


def _is_own(module: types.ModuleType, name: str) -> bool:
    """Whether the module made the name itself; what it imported is not part of it."""
    value = getattr(module, name)
    if inspect.ismodule(value) or hasattr(typing, name):
        return False
    if isinstance(value, type) or inspect.isfunction(value):
        return value.__module__.startswith(module.__name__.partition(".")[0])
    return True


def _describe(value: Any) -> dict[str, Any]:
    if inspect.isfunction(value):
        return {"kind": "function", **_call(value)}
    if isinstance(value, type):
        return _describe_class(value)
    origin = typing.get_origin(value)
    if origin is typing.Literal:
        return {"kind": "words", "values": sorted(map(str, typing.get_args(value)))}
    if origin in UNION:
        words = [word for part in typing.get_args(value) for word in typing.get_args(part)]
        if all(typing.get_origin(part) is typing.Literal for part in typing.get_args(value)):
            return {"kind": "words", "values": sorted(map(str, words))}
        return {"kind": "union", "members": sorted(part.__name__ for part in typing.get_args(value))}
    if isinstance(value, frozenset):
        return {"kind": "value", "value": sorted(value)}
    return {"kind": "alias"}


def _describe_class(cls: type) -> dict[str, Any]:
    bases = [base.__name__ for base in cls.__mro__[1:] if base.__module__ != "builtins" and base is not typing.Generic]
    if typing.is_typeddict(cls):
        return {
            "kind": "dict",
            "required": sorted(cls.__required_keys__),  # type: ignore[attr-defined]
            "optional": sorted(cls.__optional_keys__),  # type: ignore[attr-defined]
            "takes": {key: taken(hint) for key, hint in typing.get_type_hints(cls).items()},
        }
    if dataclasses.is_dataclass(cls):
        by_position = list(cls.__match_args__)  # type: ignore[attr-defined]
        return {
            "kind": "dataclass",
            "bases": bases,
            "fields": _fields(cls),
            "match_args": by_position,
            "methods": _methods(cls),
            "idioms": idioms(cls, {field["name"]: field["sample"] for field in _fields(cls)}, _in_package(cls)),
        }
    if issubclass(cls, BaseException):
        built_in = [base.__name__ for base in cls.__mro__[1:] if issubclass(base, BaseException)]
        return {"kind": "exception", "bases": built_in, "parameters": _parameters(cls.__init__)[1:]}
    built = {"built_with": _parameters(cls.__init__)[1:]} if _is_written_here(cls, cls.__init__) else {}
    abstract = sorted(getattr(cls, "__abstractmethods__", ()))
    return {"kind": "class", "bases": bases, "abstract": abstract, "methods": _methods(cls), **built}


def _fields(cls: type) -> list[dict[str, Any]]:
    hints = typing.get_type_hints(cls)
    described = []
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        entry: dict[str, Any] = {"name": field.name, "sample": _sample(hint), "takes": taken(hint)}
        if field.default is not dataclasses.MISSING:
            entry["default"] = as_json(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            entry["default"] = as_json(field.default_factory())
        described.append(entry)
    return described


def taken(hint: Any) -> list[str]:
    """The types and words that a field takes, by name; a union in parts."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in UNION:
        return sorted({name for part in arguments for name in taken(part)})
    if origin is typing.Literal:
        return sorted(map(repr, arguments))
    inside = [" | ".join(taken(part)) for part in arguments if origin in (list, dict)]
    name = getattr(origin or hint, "__name__", str(hint))
    return [f"{name}[{', '.join(inside)}]" if inside else name]


def _sample(hint: Any) -> Any:
    simple = {str: "a text", bool: True, int: 3, float: 0.5}
    if hint in simple:
        return simple[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return arguments[0]
    if origin in UNION:
        return next(_sample(part) for part in arguments if part is not type(None))
    if (origin or hint) is dict or typing.is_typeddict(hint):
        return {"a key": "a value"}
    if (origin or hint) is list:
        return [inside for inside in [_sample(arguments[0])] if isinstance(inside, dict) and CLASS in inside]
    return _object(hint) if dataclasses.is_dataclass(hint) else None


def _object(cls: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {CLASS: cls.__name__, **{field.name: _sample(hints[field.name]) for field in dataclasses.fields(cls)}}


def made_of(sample: Any, find: Callable[[str], Any]) -> Any:
    """The value that a sample stands for, with this package's classes."""
    if isinstance(sample, list):
        return [made_of(item, find) for item in sample]
    if not isinstance(sample, dict) or CLASS not in sample:
        return sample
    return find(sample[CLASS])(**{name: made_of(value, find) for name, value in sample.items() if name != CLASS})


def _in_package(cls: type) -> Callable[[str], Any]:
    return lambda name: getattr(importlib.import_module(cls.__module__), name)


def idioms(cls: Any, samples: dict[str, Any], find: Callable[[str], Any]) -> dict[str, Any]:
    """What programs do with any dataclass, done with one of these values."""
    values = {name: made_of(sample, find) for name, sample in samples.items()}
    made, first = cls(**values), next(name for name, value in values.items() if not dataclasses.is_dataclass(value))
    changed = dataclasses.replace(made, **{first: "another"})
    copies = [cls(**values), copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))]  # noqa: S301
    shown = {
        "repr": repr(made),
        "vars": list(vars(made)),
        "asdict": as_json(dataclasses.asdict(made)),
        "equal": [[each == made, each != made] for each in [*copies, dataclasses.replace(made), changed]],
        "changed": getattr(changed, first),
    }
    try:
        shown["hash"] = isinstance(hash(made), int)
    except TypeError as error:
        shown["hash"] = str(error)
    try:
        setattr(made, first, "set")
        made.of_the_program = 5
        shown["set"] = [getattr(made, first), made == changed, vars(made)["of_the_program"]]
    except AttributeError as error:  # frozen
        shown["set"] = type(error).__name__
    return shown


def _methods(cls: type) -> dict[str, Any]:
    found = {}
    for name in dir(cls):
        value = inspect.getattr_static(cls, name)
        if name.startswith("_") and name != "__aenter__":
            continue
        if _is_written_here(cls, value):
            call = _call(value)
            found[name] = {**call, "parameters": call["parameters"][1:]}
    return found


def _is_written_here(cls: type, value: Any) -> bool:
    """Not inherited from another package, nor from ``object``."""
    return inspect.isfunction(value) and value.__module__.partition(".")[0] == cls.__module__.partition(".")[0]


def _call(function: Any) -> dict[str, Any]:
    hints = hints_of(function)
    returned = {"returns": taken(hints["return"])} if "return" in hints else {}
    return {"is": _flavour(function), "parameters": _parameters(function), **returned}


def hints_of(function: Any) -> dict[str, Any]:
    """Its annotations as objects; as text where a name is known to type checkers only."""
    if not inspect.isfunction(function):
        return {}
    package = importlib.import_module(function.__module__.partition(".")[0])
    known = {"Path": Path, **{name: getattr(package, name) for name in package.__all__}}
    found = {}
    for name, hint in function.__annotations__.items():
        try:
            found[name] = eval(hint, function.__globals__, known) if isinstance(hint, str) else hint  # noqa: S307
        except (NameError, TypeError):
            found[name] = hint
    return {name: type(None) if hint is None else hint for name, hint in found.items()}


def _flavour(function: Any) -> str:
    if inspect.isasyncgenfunction(function):
        return "async generator"
    return "coroutine" if inspect.iscoroutinefunction(function) else "function"


def _parameters(function: Any) -> list[dict[str, Any]]:
    try:
        signature = inspect.signature(function)
    except ValueError:
        return []
    described = []
    hints = hints_of(function)
    for parameter in signature.parameters.values():
        entry: dict[str, Any] = {"name": parameter.name, "kind": parameter.kind.name}
        if parameter.name in hints:
            entry["takes"] = taken(hints[parameter.name])
        if parameter.default is not parameter.empty:
            entry["default"] = as_json(parameter.default)
        described.append(entry)
    return described


def as_json(value: Any) -> Any:
    try:
        json.dumps(value)
    except TypeError:
        return f"<{type(value).__name__}>"
    return value


if __name__ == "__main__":
    json.dump(describe(sys.argv[1]), sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")
