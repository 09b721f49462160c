"""Writes ``proto/quarterdeck/v1`` from the host's tables, and the Python of it (``make proto``).

Numbers stay: what is in the files keeps its number, what is new gets the next one, and the number of what is gone is
reserved. The messages of streams, which no table has, are in ``written_by_hand.py``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from gateways.grpc.documented import comment, doc_of, field_docs
from gateways.grpc.written_by_hand import CONTENT, CONVERSE, EVENT_HEAD, EXTRA_FIELDS, WATCH_RESPONSE
from quarterdeck.gateways.grpc.methods import METHODS, PACKAGE, SERVICES, Method
from quarterdeck.gateways.grpc.shapes import (
    CLEAR,
    Field,
    Hello,
    Kind,
    Words,
    can_clear,
    fields_of,
    message_name,
    snake,
)
from quarterdeck.host.events import EVENTS
from quarterdeck.host.resources import Frame

ROOT = Path(__file__).parents[3]
PROTO = ROOT / "proto"
FOLDER = PROTO / "quarterdeck" / "v1"
PYTHON = ROOT / "src" / "quarterdeck" / "gateways" / "grpc" / "v1"

OFTEN = ("text_added", "thinking_added", "tool_input_added")
"""Events with short numbers: they are most of what is sent."""
TYPES = {
    Kind.TEXT: "string",
    Kind.INTEGER: "int64",
    Kind.NUMBER: "double",
    Kind.TRUTH: "bool",
    Kind.BYTES: "bytes",
    Kind.MONEY: "string",
    Kind.MOMENT: "google.protobuf.Timestamp",
    Kind.CONTENT: "Content",
    Kind.EVENT: "Event",
    Kind.JSON: "string",
}
PACKAGE_TEXT = '"""Messages and stubs of ``proto/quarterdeck/v1``, written by ``make proto``."""\n'
HEAD = """\
// {about}
//
// Written by `make proto` from the host's tables; do not edit. Numbers never change.

syntax = "proto3";

package {package};
"""
_BLOCK = re.compile(r"^(?:message|enum) (\w+) \{")
_NUMBERED = re.compile(r"(\w+) = (\d+);")
_RESERVED = re.compile(r"^  reserved ([\d, ]+);")


class Numbers:
    """The numbers of fields and words, as they are in the files."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known: dict[str, dict[str, int]] = {}
        self._reserved: dict[str, set[int]] = {}
        for text in texts:
            self._read(text)

    def _read(self, text: str) -> None:
        block = ""
        for line in text.splitlines():
            if (found := _BLOCK.match(line)) is not None:
                block = found[1]
            elif (gone := _RESERVED.match(line)) is not None:
                self._reserved.setdefault(block, set()).update(int(one) for one in gone[1].split(","))
            elif not line.lstrip().startswith("//") and (found := _NUMBERED.search(line)) is not None:
                self._known.setdefault(block, {})[found[1]] = int(found[2])

    def of(
        self, block: str, names: list[str], first: int = 1, fixed: Mapping[str, int] | None = None
    ) -> tuple[dict[str, int], list[int]]:
        """The number of each name, and the numbers that must not be used again."""
        names = [*(fixed or {}), *names]
        known = {**self._known.get(block, {}), **(fixed or {})}
        reserved = self._reserved.get(block, set()) | {known[name] for name in known if name not in names}
        taken = reserved | set(known.values())
        numbers = {}
        for name in names:
            if name not in known:
                known = {**known, name: max([first - 1, *taken, *known.values()]) + 1}
            numbers[name] = known[name]
        return numbers, sorted(reserved)


class Generator:
    """The text of every file."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def files(self) -> dict[str, str]:
        made = {"resources.proto": self._resources(), "events.proto": self._events()}
        for service in SERVICES:
            made[f"{snake(service)}.proto"] = self._service(service)
        return made

    # Files

    def _resources(self) -> str:
        structs = [one for one in _all_structs() if not _with_events(one) and one not in _of_events()]
        parts = [CONTENT, *map(self._enum, _enums(structs + _requests_and_responses())), *map(self._struct, structs)]
        return _file("What requests and responses are made of.", [], parts)

    def _events(self) -> str:
        structs = [one for one in _all_structs() if _with_events(one)]
        parts = _of_events()
        own = [one for one in _enums([*parts, *EVENTS.values()]) if one not in _enums(_shared_structs())]
        tags = [*OFTEN, *(tag for tag in EVENTS if tag not in OFTEN)]
        members = {snake(message_name(EVENTS[tag])): message_name(EVENTS[tag]) for tag in tags}
        numbers, reserved = self._numbers.of("Event", list(members), first=10, fixed=EVENT_HEAD.numbers)
        lines = [f"    {kind} {name} = {numbers[name]};" for name, kind in members.items()]
        event = EVENT_HEAD.text(lines, _reserved(reserved))
        texts = [event, *map(self._enum, own), *map(self._struct, [*EVENTS.values(), *parts, *structs])]
        return _file("What happens in a session, one message for each kind of event.", ["resources"], texts)

    def _service(self, service: str) -> str:
        methods = [method for method in METHODS.values() if method.service == service]
        converse = service == "SessionService"
        rpcs = [*map(_rpc, methods), *([CONVERSE.rpc] if converse else [])]
        texts = [comment(SERVICES[service]) + f"service {service} {{\n" + "\n".join(rpcs) + "}\n"]
        for method in methods:
            texts += [self._request(method), self._response(method)]
        if converse:
            texts += [self._struct(Hello), CONVERSE.messages]
        return _file(SERVICES[service], ["approval_service", "events", "resources"], texts)

    # Messages

    def _request(self, method: Method) -> str:
        takes = method.operation.takes
        return self._message(method.request, takes, doc_of(takes), EXTRA_FIELDS.get(method.request, {}))

    def _response(self, method: Method) -> str:
        if method.operation.name == "watch_session":
            return WATCH_RESPONSE
        if not method.wrapped:
            return self._message(method.response, method.returns, doc_of(method.returns))
        numbers, _ = self._numbers.of(method.response, [method.wrapped])
        line = f"  {message_name(method.returns)} {method.wrapped} = {numbers[method.wrapped]};\n"
        return comment(doc_of(method.returns)) + f"message {method.response} {{\n{line}}}\n"

    def _struct(self, struct: type[msgspec.Struct]) -> str:
        return self._message(message_name(struct), struct, doc_of(struct))

    def _message(
        self, name: str, struct: type[msgspec.Struct], about: str, extra: dict[str, tuple[str, str]] | None = None
    ) -> str:
        fields = fields_of(struct)
        docs = field_docs(struct)
        extra = dict(extra or {})
        if can_clear(struct):
            names = ", ".join(field.name for field in fields if field.clearable)
            extra[CLEAR] = ("repeated string", f"Fields to remove or to empty, by name: {names}.")
        numbers, reserved = self._numbers.of(name, [*(field.name for field in fields), *extra])
        lines = [_reserved(reserved)]
        for field in fields:
            lines.append(comment(docs.get(field.attribute, ""), 2))
            lines.append(f"  {_type_of(field)} {field.name} = {numbers[field.name]};\n")
        for field_name, (kind, text) in extra.items():
            lines.append(comment(text, 2) + f"  {kind} {field_name} = {numbers[field_name]};\n")
        body = "".join(lines)
        return comment(about) + f"message {name} {{" + (f"\n{body}}}\n" if body else "}\n")

    def _enum(self, words: Words) -> str:
        constants = [f"{words.prefix}_UNSPECIFIED", *map(words.constant, words.words)]
        numbers, reserved = self._numbers.of(words.name, constants, first=0)
        lines = "".join(f"  {constant} = {numbers[constant]};\n" for constant in constants)
        return comment(_about_words(words)) + f"enum {words.name} {{\n{_reserved(reserved)}{lines}}}\n"


def _reserved(numbers: list[int]) -> str:
    return f"  reserved {', '.join(map(str, numbers))};\n" if numbers else ""


def _type_of(field: Field) -> str:
    if field.kind is Kind.WORD:
        kind = field.words.name
    else:
        kind = message_name(field.of) if field.kind is Kind.STRUCT else TYPES[field.kind]
    if field.many == "map":
        return f"map<string, {kind}>"
    return ("repeated " if field.many else "optional " if field.optional else "") + kind


def _rpc(method: Method) -> str:
    operation = method.operation
    writes = " Takes the metadata `idempotency-key`." if operation.writes else ""
    about = f"{operation.about} Requires the scope `{operation.scope}`.{writes}"
    stream = "stream " if operation.streams else ""
    return comment(about, 2) + f"  rpc {method.name}({method.request}) returns ({stream}{method.response});\n"


def _file(about: str, imports: list[str], parts: list[str]) -> str:
    text = "\n".join(parts)
    used = [f"quarterdeck/v1/{name}.proto" for name in imports if _uses(name, text)]
    if "google.protobuf.Timestamp" in text:
        used.insert(0, "google/protobuf/timestamp.proto")
    head = HEAD.format(about=about, package=PACKAGE)
    lines = "".join(f'import "{one}";\n' for one in used)
    return head + "\n" + (lines + "\n" if lines else "") + text


def _uses(name: str, text: str) -> bool:
    """Whether a text speaks of what the file of this name defines."""
    if name == "approval_service":
        ours = [method for method in METHODS.values() if method.service == "ApprovalService"]
        theirs = {one for method in ours for one in (method.request, method.response)}
    elif name == "events":
        theirs = {"Event", *map(message_name, [*EVENTS.values(), *_of_events(), Frame])}
    else:
        theirs = {"Content", *map(message_name, _shared_structs()), *(one.name for one in _enums(_shared_structs()))}
        theirs |= {one.name for one in _enums(_requests_and_responses())}
    code = re.sub(r"//.*", "", text)
    defined = set(re.findall(r"^(?:message|enum) (\w+)", code, re.MULTILINE))
    return bool((theirs - defined) & set(re.findall(r"\b[A-Z]\w+", code)))


def _about_words(words: Words) -> str:
    return f"One of: {', '.join(words.words)}."


# What there is


def _reachable(structs: Iterable[type[msgspec.Struct]]) -> Iterator[type[msgspec.Struct]]:
    """The structs that stand in these, each once, those that are needed first."""
    seen: list[type[msgspec.Struct]] = []

    def look(struct: type[msgspec.Struct]) -> None:
        for field in fields_of(struct):
            if field.kind is Kind.STRUCT and field.of not in seen:
                look(field.of)
                if field.of not in seen:
                    seen.append(field.of)

    for struct in structs:
        look(struct)
    yield from seen


def _requests_and_responses() -> list[type[msgspec.Struct]]:
    return [one for method in METHODS.values() for one in (method.operation.takes, method.returns)]


def _all_structs() -> list[type[msgspec.Struct]]:
    """What requests and responses are made of; events themselves have their own file."""
    return [one for one in _reachable(_requests_and_responses()) if one not in EVENTS.values()]


def _with_events(struct: type[msgspec.Struct]) -> bool:
    return any(field.kind is Kind.EVENT for one in [struct, *_reachable([struct])] for field in fields_of(one))


def _shared_structs() -> list[type[msgspec.Struct]]:
    return [one for one in _all_structs() if not _with_events(one)] + _requests_and_responses()


def _of_events() -> list[type[msgspec.Struct]]:
    """What only events are made of."""
    return [one for one in _reachable(EVENTS.values()) if one not in _all_structs()]


def _enums(structs: Iterable[type[msgspec.Struct]]) -> list[Words]:
    found: list[Words] = []
    for struct in structs:
        for field in fields_of(struct):
            if field.kind is Kind.WORD and field.words not in found:
                found.append(field.words)
    return found


# Writing


def proto_files(folder: Path = FOLDER) -> dict[str, str]:
    """By name, with the numbers that the files in the folder have."""
    return Generator(Numbers(path.read_text() for path in sorted(folder.glob("*.proto")))).files()


def compile_python(target: Path) -> None:
    """The Python of all files, into a package of ours instead of ``quarterdeck.v1``."""
    with tempfile.TemporaryDirectory() as scratch:
        places = [f"--{kind}_out={scratch}" for kind in ("python", "pyi", "grpc_python")]
        sources = sorted(str(path.relative_to(PROTO)) for path in FOLDER.glob("*.proto"))
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", *places, *sources]
        subprocess.run(command, check=True, cwd=PROTO)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        (target / "__init__.py").write_text(PACKAGE_TEXT)
        for made in sorted(Path(scratch).rglob("*.py*")):
            if made.name.endswith("_pb2_grpc.py") and "_service_" not in made.name:
                continue
            text = made.read_text().replace("from quarterdeck.v1 import", "from quarterdeck.gateways.grpc.v1 import")
            (target / made.name).write_text(text)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = proto_files()
    for path in FOLDER.glob("*.proto"):
        path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text)
    compile_python(PYTHON)


if __name__ == "__main__":
    main()
