"""Export and import sessions.

``ndjson`` is the transcript byte for byte, unknown records and all; ``import_session`` reads it on any machine.
``markdown`` is the conversation for a person to read.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal

from quarterdeck.wire._json import dumps

from .errors import NotATranscript, SessionNotFound, TranscriptUnwritable
from .lines import TranscriptFile, record_of
from .listing import get_session_info
from .messages import iter_session_messages
from .places import SUFFIX, check_session_id, find_transcript, is_session_id, project_key_for_directory, projects_dir
from .types import SessionMessage
from .writing import create_transcript

ExportFormat = Literal["markdown", "ndjson"]


def export_session(
    session_id: str,
    target: str | os.PathLike[str] | IO[bytes],
    *,
    format: ExportFormat = "markdown",  # noqa: A002  # what everybody calls it
    directory: str | None = None,
) -> None:
    """Write a session to a new file, or to an open binary one. An existing file is not overwritten."""
    check_session_id(session_id)
    if format not in ("markdown", "ndjson"):
        raise ValueError(f"format must be 'markdown' or 'ndjson', not {format!r}")
    found = find_transcript(session_id, directory)
    if found is None:
        raise SessionNotFound(session_id, directory)
    lines = _raw_lines(found[0]) if format == "ndjson" else markdown_lines(session_id, directory)
    if not isinstance(target, str | os.PathLike):
        target.writelines(line + b"\n" for line in lines)
        return
    try:
        with Path(target).open("xb") as file:
            file.writelines(line + b"\n" for line in lines)
    except FileExistsError:
        raise
    except OSError as error:
        raise TranscriptUnwritable.because(error, f"{os.fspath(target)} could not be written") from error


def _raw_lines(path: str) -> Iterator[bytes]:
    with TranscriptFile(path) as transcript:
        for _, line in transcript.lines():
            yield line


def markdown_lines(session_id: str, directory: str | None = None) -> Iterator[bytes]:
    """The conversation as Markdown."""
    info = get_session_info(session_id, directory)
    yield f"# {info.summary if info else session_id}".replace("\n", " ").encode()
    facts = {
        "session": f"`{session_id}`",
        "folder": f"`{info.cwd}`" if info and info.cwd else None,
        "branch": f"`{info.git_branch}`" if info and info.git_branch else None,
        "tag": info.tag if info else None,
    }
    yield "\n".join(["", *(f"- {name}: {value}" for name, value in facts.items() if value)]).encode()
    for message in iter_session_messages(session_id, directory):
        for part in _parts(message):
            yield f"\n{part}".encode("utf-8", "replace")


def _parts(message: SessionMessage) -> Iterator[str]:
    content = message.message.get("content") if isinstance(message.message, dict) else None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict):
            shown = _block(block, "You" if message.type == "user" else "Claude")
            if shown:
                yield shown


def _block(block: dict[str, Any], speaker: str) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return f"## {speaker}\n\n{text}"
        case {"type": "thinking", "thinking": str(text)}:
            return "\n".join(f"> {line}" for line in text.splitlines())
        case {"type": "tool_use", "name": name}:
            return f"**{name}**\n\n{fenced(json.dumps(block.get('input'), indent=2, ensure_ascii=False), 'json')}"
        case {"type": "tool_result"}:
            return ("**Error**\n\n" if block.get("is_error") else "") + fenced(_result_text(block.get("content")))
        case {"type": str(kind)}:
            return f"*[{kind}]*"
    return ""


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = (part for part in content or () if isinstance(part, dict))
    return "\n".join(str(part["text"]) if "text" in part else f"[{part.get('type')}]" for part in parts)


def fenced(text: str, language: str = "") -> str:
    """A Markdown code block whose fence does not occur in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def import_session(source: str | os.PathLike[str], directory: str | None = None, *, new_id: bool = False) -> str:
    """Bring a transcript into the projects folder, as a session of ``directory`` (None: the working directory); its id.

    Lines come in as they are, unknown records too; corrupt ones are left out. With ``new_id`` the session gets an id
    of its own; else a session that is there already is a ``SessionExists``. ``NotATranscript`` if no line belongs to a
    session.
    """
    path = os.fspath(source)
    with TranscriptFile(path) as transcript:
        old = _session_id_in(transcript) or Path(path).stem
        if not is_session_id(old):
            raise NotATranscript(f"{path} has no record that names its session, and its name is not a session id")
        chosen = str(uuid.uuid4()) if new_id else old
        target = os.path.join(projects_dir(), project_key_for_directory(directory), chosen + SUFFIX)  # noqa: PTH118
        create_transcript(target, _adopted(transcript, old, chosen))
    return chosen


def _session_id_in(transcript: TranscriptFile) -> str | None:
    named = (record.get("sessionId") for record in transcript.records())
    return next((name for name in named if isinstance(name, str) and is_session_id(name)), None)


def _adopted(transcript: TranscriptFile, old: str, new: str) -> Iterator[bytes]:
    count = 0
    for _, line in transcript.lines():
        record = record_of(line)
        if record is None:
            continue
        count += 1
        renamed = new != old and record.get("sessionId") == old
        yield dumps({**record, "sessionId": new}) if renamed else line
    if not count:
        raise NotATranscript("no line of the file is a record")
