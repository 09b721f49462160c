"""StructuredOutput: the answer as JSON, checked against the schema of the flag or the handshake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import Outcome

if TYPE_CHECKING:
    from quarterdeck.testing.sim.calls import SimulatedCall

MAX_TRIES = 5

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def run(call: SimulatedCall) -> Outcome:
    schema = call.cli.session.schema
    problems = [] if schema is None else check(call.input, schema)
    if problems:
        return Outcome.failed(f"Output does not match required schema: {', '.join(problems)}")
    return Outcome("Structured output provided successfully", "Structured output provided successfully")


def check(value: Any, schema: dict[str, Any], where: str = "") -> list[str]:
    """What does not fit: types, required properties, enums, and inside objects and arrays."""
    name = where or "root"
    problems = []
    wanted = schema.get("type")
    if isinstance(wanted, str) and not _is(value, wanted):
        return [f"{name}: must be {wanted}"]
    if "enum" in schema and value not in schema["enum"]:
        problems.append(f"{name}: must be equal to one of the allowed values")
    if isinstance(value, dict):
        missing = [key for key in schema.get("required", []) if key not in value]
        problems += [f"{name}: must have required property '{key}'" for key in missing]
        for key, inner in schema.get("properties", {}).items():
            if key in value:
                problems += check(value[key], inner, f"{where}/{key}")
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            problems += check(item, schema["items"], f"{where}/{index}")
    return problems


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    return isinstance(value, _TYPES.get(wanted, (object,)))
