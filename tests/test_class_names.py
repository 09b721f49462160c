"""A name means one class. Where it means two, the reason is here."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import quarterdeck

SOURCE = Path(quarterdeck.__file__).parent
GENERATED = ("gateways/acp/schema", "gateways/grpc/v1/")
"""Their names are those of a published schema."""

ASYNC_AND_SYNC = "the same with and without an event loop"
ONE_PER_GATEWAY = "the same for HTTP and gRPC; a program imports one of the two packages"
DRAWN = "what the timeline draws, in words that users read"
API = "a word of the host's API, which clients of every language use"
SCRIPTED = "a line of a script for a test, in the words of what it plays"

ACCEPTED: dict[str, tuple[set[str], str]] = {
    "ClaudeSDKClient": ({"client/sdk", "sync/sdk"}, ASYNC_AND_SYNC),
    "Controls": ({"client/controls/__init__", "sync/controls"}, ASYNC_AND_SYNC),
    "Session": ({"client/session", "sync/session", "host/resources"}, f"{ASYNC_AND_SYNC}; {API}"),
    "Turn": ({"client/turn", "sync/turn"}, ASYNC_AND_SYNC),
    "Gateway": ({"gateways/grpc/gateway", "gateways/http/app"}, ONE_PER_GATEWAY),
    "Server": ({"gateways/grpc/server", "gateways/http/server"}, ONE_PER_GATEWAY),
    "Meter": ({"gateways/grpc/metrics", "gateways/http/metrics"}, ONE_PER_GATEWAY),
    "Settings": ({"gateways/grpc/settings", "gateways/http/settings", "host/requests"}, f"{ONE_PER_GATEWAY}; {API}"),
    "Limits": ({"host/limits", "timeline/state"}, "of what a host takes on, and of what a timeline keeps: both public"),
    "Decision": ({"policy/decision", "host/requests"}, API),
    "Grant": ({"policy/memory", "host/resources"}, API),
    "Prompt": ({"timeline/items", "host/resources"}, f"{DRAWN}; {API}"),
    "UsageReport": ({"wire/usage", "host/events"}, API),
    "Wait": ({"testing/faults", "host/requests"}, API),
    "Usage": (
        {"store/records", "wire/usage", "testing/model/script"},
        "what the store sums up, and a script says",
    ),
    "Memory": (
        {"policy/memory", "wire/answers/dialogs"},
        "of decisions, and what the CLI calls its files",
    ),
    "Ping": ({"gateways/http/messages", "wire/events"}, "a message of two protocols"),
    "Word": ({"policy/words", "wire/_shapes"}, "of a command, and of a list that a type checker knows"),
    "Question": ({"timeline/parts", "wire/tools/questions"}, DRAWN),
    "Plan": ({"timeline/items", "client/interaction", "testing/sim/steps"}, f"{DRAWN}; {SCRIPTED}"),
    "Text": ({"timeline/items", "testing/model/script"}, f"{DRAWN}; {SCRIPTED}"),
    "Thinking": ({"timeline/items", "testing/model/script"}, f"{DRAWN}; {SCRIPTED}"),
    "Cut": ({"testing/faults", "testing/model/script"}, "a fault of the line to a process, and of the line to a model"),
    "Exit": ({"testing/faults", "testing/sim/steps"}, f"a fault of a process; {SCRIPTED}"),
}


def test_a_name_that_two_classes_have_has_a_reason() -> None:
    homes: defaultdict[str, set[str]] = defaultdict(set)
    typed_dicts: set[tuple[str, str]] = set()
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix().removesuffix(".py")
        if place.startswith(GENERATED):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                homes[node.name].add(place)
                bases = {ast.unparse(base) for base in node.bases}
                if "TypedDict" in bases or any((place, base) in typed_dicts for base in bases):
                    typed_dicts.add((place, node.name))
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    accepted = {name: places for name, (places, _) in ACCEPTED.items()}
    assert {name: places for name, places in twice.items() if not is_official(name, places, typed_dicts)} == accepted


def is_official(name: str, places: set[str], typed_dicts: set[tuple[str, str]]) -> bool:
    """What a program writes or reads as a dict, by the official name; the wire has it as a class."""
    dicts = {place for place in places if (place, name) in typed_dicts}
    return len(dicts) == 1 and all(place.startswith("wire/") for place in places - dicts)
