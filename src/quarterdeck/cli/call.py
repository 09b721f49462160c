"""``quarterdeck call``: any operation of a host, by its name."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck call",
        description="Call any operation of a host and print its answer as JSON; without OPERATION, list them. Fields "
        "are NAME=VALUE, or NAME:=JSON for anything but text and numbers. Name a session by its id, a unique prefix of "
        "it, or its name.",
        examples=[
            ("quarterdeck call", "list the operations"),
            ("quarterdeck call fork session_id=review name=second", "fork a session"),
            ("quarterdeck call update_session session_id=review tags:='[\"ci\"]'", "a field that is not text"),
            ("quarterdeck call watch_session session_id=review", "follow a stream until Ctrl-C"),
            ("quarterdeck call create_session - < session.json", "fields from standard input"),
        ],
        exits=EXITS,
    )
    built.add_argument("operation", nargs="?", metavar="OPERATION", help="the operation (default: list all)")
    built.add_argument("fields", nargs="*", metavar="FIELD", help="NAME=VALUE, NAME:=JSON, NAME=@FILE for bytes, or -")
    built.add_argument("--key", metavar="KEY", help="idempotency key: repeating the call has no further effect")
    add_host_options(built, json="print JSON (the default for answers; for the list, one operation per line)")
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted import calling

    if given.operation is None:
        return calling.list_operations(as_json=given.json)
    operation, fields = calling.wanted_operation(given.operation), calling.read_fields(given.fields)
    return on_host(given, lambda host: calling.call(host, operation, fields, key=given.key))
