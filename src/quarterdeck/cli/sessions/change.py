"""``sessions rename``, ``tag``, ``fork`` and ``delete``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from quarterdeck.cli.common import FAILED, OK, USAGE_ERROR, Look, ReportedError, sanitize
from quarterdeck.client.transcripts import delete_session, fork_session, rename_session, tag_session

from .find import CLAUDE, SHORT, age, find, size, title

UUID_LENGTH = 36


def rename(given: Namespace) -> int:
    if not given.title.strip():
        raise ReportedError("the title is empty", "Example: quarterdeck sessions rename ID 'The checkout bug'")
    info = find(given)
    rename_session(info.session_id, given.title, given.project)
    named = given.title.strip()
    return _print_outcome(
        given, {"session_id": info.session_id, "title": named}, f"renamed to {sanitize(named, one_line=True)!r}"
    )


def tag(given: Namespace) -> int:
    if (given.tag is None) != given.remove:
        raise ReportedError("needs TAG or --remove", "Example: quarterdeck sessions tag ID release", code=USAGE_ERROR)
    info = find(given)
    try:
        tag_session(info.session_id, given.tag, given.project)
    except ValueError as error:
        raise ReportedError("the tag is empty", "Use --remove to remove the tag.") from error
    outcome = "tag removed" if given.tag is None else f"tagged {sanitize(given.tag, one_line=True)!r}"
    return _print_outcome(given, {"session_id": info.session_id, "tag": given.tag}, outcome)


def fork(given: Namespace) -> int:
    info = find(given)
    try:
        made = fork_session(info.session_id, given.project, _message(given.up_to), given.title)
    except ValueError as error:
        advice = "Run quarterdeck sessions show ID --json for the id of each message."
        raise ReportedError(f"{info.session_id[:SHORT]} cannot be forked: {error}", advice) from error
    facts: dict[str, object] = {"session_id": made.session_id, "forked_from": info.session_id}
    agent = "" if given.agent == CLAUDE else f" --agent {given.agent}"
    outcome = f"forked from {info.session_id}\n  Resume it with: quarterdeck run{agent} --resume {made.session_id}"
    return _print_outcome(given, facts, outcome)


def _message(given: str | None) -> str | None:
    """The uuid of a message; the ids of ``show --json`` have the number of the part appended."""
    return given if given is None or len(given) <= UUID_LENGTH else given[:UUID_LENGTH]


def delete(given: Namespace) -> int:
    info = find(given)
    if not given.yes and not _confirmed(f"{title(info, 50)!r} ({size(info.file_size)}, {age(info.last_modified)})"):
        print("Not deleted.", file=sys.stderr)
        return FAILED
    delete_session(info.session_id, given.project)
    return _print_outcome(given, {"session_id": info.session_id, "deleted": True}, "deleted")


def _confirmed(what: str) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ReportedError(
            f"deleting {what} needs confirmation, and there is no terminal",
            "Add --yes to delete it without asking.",
            code=USAGE_ERROR,
        )
    question = Look.of(sys.stderr).paint("yellow", f"Permanently delete {what}? [y/N] ")
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print_outcome(given: Namespace, facts: dict[str, object], outcome: str) -> int:
    print(json.dumps(facts) if given.json else f"{facts['session_id']} {outcome}")
    return OK
