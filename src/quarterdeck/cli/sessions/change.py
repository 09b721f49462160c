"""``sessions rename``, ``tag``, ``fork`` and ``delete``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from quarterdeck.cli.common import FAILED, OK, USAGE_ERROR, Look, Trouble, plain
from quarterdeck.client.transcripts import delete_session, fork_session, rename_session, tag_session

from .find import SHORT, age, find, size, title

UUID_LENGTH = 36


def rename(given: Namespace) -> int:
    if not given.title.strip():
        raise Trouble("the title is empty", "give one, e.g. quarterdeck sessions rename ID 'The checkout bug'")
    info = find(given)
    rename_session(info.session_id, given.title, given.project)
    named = given.title.strip()
    return _tell(given, {"session_id": info.session_id, "title": named}, f"is now {plain(named, one_line=True)!r}")


def tag(given: Namespace) -> int:
    if (given.tag is None) != given.remove:
        raise Trouble("a tag or --remove is wanted", "e.g. quarterdeck sessions tag ID release", code=USAGE_ERROR)
    info = find(given)
    try:
        tag_session(info.session_id, given.tag, given.project)
    except ValueError as error:
        raise Trouble("the tag has nothing that can be seen", "give a word, or --remove to take it away") from error
    told = "has no tag now" if given.tag is None else f"has the tag {plain(given.tag, one_line=True)!r} now"
    return _tell(given, {"session_id": info.session_id, "tag": given.tag}, told)


def fork(given: Namespace) -> int:
    info = find(given)
    try:
        made = fork_session(info.session_id, given.project, _message(given.up_to), given.title)
    except ValueError as error:
        advice = "quarterdeck sessions show ID --json shows the id of each message"
        raise Trouble(f"{info.session_id[:SHORT]} cannot be forked: {error}", advice) from error
    facts: dict[str, object] = {"session_id": made.session_id, "forked_from": info.session_id}
    told = f"is a copy of {info.session_id}\n  quarterdeck run --resume {made.session_id} goes on with it"
    return _tell(given, facts, told)


def _message(given: str | None) -> str | None:
    """The uuid of a message; ``show --json`` gives parts of messages an id with the number of the part behind it."""
    return given if given is None or len(given) <= UUID_LENGTH else given[:UUID_LENGTH]


def delete(given: Namespace) -> int:
    info = find(given)
    if not given.yes and not _confirmed(f"{title(info, 50)!r} ({size(info.file_size)}, {age(info.last_modified)})"):
        print("Nothing was deleted.", file=sys.stderr)
        return FAILED
    delete_session(info.session_id, given.project)
    return _tell(given, {"session_id": info.session_id, "deleted": True}, "is deleted")


def _confirmed(what: str) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Trouble(
            f"{what} is deleted for good, and nobody is at a terminal to confirm it",
            "add --yes if that is wanted",
            code=USAGE_ERROR,
        )
    question = Look.of(sys.stderr).paint("yellow", f"Delete {what} for good? [y/N] ")
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _tell(given: Namespace, facts: dict[str, object], told: str) -> int:
    print(json.dumps(facts) if given.json else f"{facts['session_id']} {told}")
    return OK
