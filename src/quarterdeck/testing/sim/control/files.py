"""Requests about files: reading, suggesting, putting back."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import RefusedRequest

if TYPE_CHECKING:
    from quarterdeck.testing.sim.simulator import SimulatedCli

Request = dict[str, Any]
READ_LIMIT_BYTES = 10 * 1024 * 1024
SUGGESTION_LIMIT = 15


def read_file(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    asked = str(request.get("path", ""))
    path = cli.session.resolve(asked)
    if not path.is_file() or not cli.session.inside(path):
        raise RefusedRequest(f"read denied: {asked}")
    limit = request.get("max_bytes")
    limit = limit if isinstance(limit, int) else READ_LIMIT_BYTES
    with path.open("rb") as file:
        data = file.read(limit + 1)
    cut = {"truncated": True} if len(data) > limit else {}
    data = data[:limit]
    if request.get("encoding") == "base64":
        body = {"contents": base64.b64encode(data).decode(), "absPath": str(path), **cut, "encoding": "base64"}
    else:
        text = data.decode("utf-8", "replace")
        body = {"contents": text, "absPath": str(path), **cut, "lossy": text.encode() != data}
    return body | {"requested_path": asked}


def file_suggestions(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    """Files whose name has the query in it, the nearest first."""
    query, cwd = str(request.get("query", "")).lower(), cli.session.cwd
    found = [path.relative_to(cwd) for path in _files(cwd) if query in path.name.lower()]
    found.sort(key=lambda path: (len(path.parts), str(path)))
    return {"suggestions": [{"path": str(path)} for path in found[:SUGGESTION_LIMIT]], "cwd": str(cwd)}


def _files(folder: Path) -> list[Path]:
    """Two levels are enough for a suggestion, and bounded."""
    return [path for pattern in ("*", "*/*") for path in folder.glob(pattern) if path.is_file()]


def rewind_files(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    dry_run = request.get("dry_run") is True
    if not cli.session.checkpoints_files:
        return _no_rewind("File rewinding is not enabled.", dry_run=dry_run)
    rewind = cli.checkpoints.rewind(str(request.get("user_message_id")), dry_run=dry_run)
    if rewind is None:
        return _no_rewind("No file checkpoint found for this message.", dry_run=dry_run)
    if not dry_run:
        return {"canRewind": True, "skippedLinks": rewind.skipped_links}
    files = [str(path) for path in rewind.files]
    return {"canRewind": True, "filesChanged": files, "insertions": rewind.insertions, "deletions": rewind.deletions}


def _no_rewind(why: str, *, dry_run: bool) -> dict[str, Any]:
    """A dry run is answered, also in the negative (CLI 2.1.325)."""
    if not dry_run:
        raise RefusedRequest(why)
    return {"canRewind": False, "error": why}


def seed_read_state(cli: SimulatedCli, request: Request) -> None:
    """The real CLI notes that the file was read; the simulator lets anything be edited anyway."""


def register_repo_root(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    directory = request.get("directory")
    if not isinstance(directory, str) or not directory:
        raise RefusedRequest("register_repo_root: directory must be a non-empty string")
    path = cli.session.resolve(directory)
    if path not in cli.session.directories:
        cli.session.directories.append(path)
        if cli.hooks.has("DirectoryAdded"):
            cli.watch(_tell_hooks(cli, path))
    return {"directory": str(path)}


async def _tell_hooks(cli: SimulatedCli, path: Path) -> None:
    await cli.hooks.fire("DirectoryAdded", directory=str(path), source="register_repo_root")


def get_workspace_diff(cli: SimulatedCli, request: Request) -> dict[str, Any]:
    return {"diff": None, "noDiffReason": "no-repository"}


HANDLERS = {
    "read_file": read_file,
    "file_suggestions": file_suggestions,
    "rewind_files": rewind_files,
    "seed_read_state": seed_read_state,
    "register_repo_root": register_repo_root,
    "get_workspace_diff": get_workspace_diff,
}
