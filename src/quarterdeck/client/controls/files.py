"""Files and folders as the session sees them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from quarterdeck import wire

from .base import ControlsBase

if TYPE_CHECKING:
    from quarterdeck.wire import (
        FileContents,
        FileEncoding,
        FileSuggestions,
        RegisteredRepoRoot,
        RewindFilesResult,
        SetCwdResult,
        WorkspaceDiff,
    )

StrPath = str | os.PathLike[str]


class FileControls(ControlsBase):
    """Files and folders. Paths may be relative to the session's directory."""

    async def rewind_files(self, user_message_id: str, dry_run: bool = False) -> RewindFilesResult:
        """Restore the files to their state when that prompt was sent. Needs ``enable_file_checkpointing``.

        ``dry_run`` only reports which files and how many lines would change; a real run does not report them (2.1.325).
        The prompt is identified by the uuid it was sent with.

        Raises:
            ControlError: When it cannot be done: "No file checkpoint found for this message." and "File rewinding is
                not enabled." come as errors, not as ``can_rewind=False`` (2.0.77 to 2.1.325).
        """
        return await self._ask(wire.RewindFilesRequest(user_message_id, dry_run or None), wire.RewindFilesResult)

    async def read_file(
        self,
        path: StrPath,
        *,
        max_bytes: int | None = None,
        encoding: FileEncoding | None = None,
        offset: int | None = None,
        anchor: dict[str, Any] | None = None,
    ) -> FileContents:
        """Read a file through the session, under the permission rules of its ``Read`` tool.

        Returns text; ``lossy`` says whether bytes had to be replaced. ``encoding="base64"`` is exact. The
        answer's ``encoding`` is None for text (2.1.325).
        """
        request = wire.ReadFileRequest(os.fspath(path), max_bytes, encoding, offset, anchor)
        return await self._ask(request, wire.FileContents)

    async def seed_read_state(self, path: StrPath, mtime_ms: float) -> None:
        """Mark a file as read at ``mtime_ms``, so that the session may edit it.

        For when the read itself is no longer in the conversation. A file that has changed since must be read again.
        """
        await self._tell(wire.SeedReadStateRequest(os.fspath(path), mtime_ms))

    async def file_suggestions(self, query: str) -> FileSuggestions:
        """Files whose names match, best first, for completion."""
        return await self._ask(wire.FileSuggestionsRequest(query), wire.FileSuggestions)

    async def register_repo_root(
        self,
        directory: StrPath,
        *,
        reload_claude_md: bool = False,
        reload_plugins: bool = False,
        reload_skills: bool = False,
    ) -> RegisteredRepoRoot:
        """Add a directory below the workspace. Refused if it is outside the workspace or was already added."""
        request = wire.RegisterRepoRootRequest(
            os.fspath(directory), reload_claude_md or None, reload_plugins or None, reload_skills or None
        )
        return await self._ask(request, wire.RegisteredRepoRoot)

    async def set_cwd(
        self, path: StrPath, *, trust_accepted: bool = False, trusted_directory: StrPath | None = None
    ) -> SetCwdResult:
        """Move the session to another directory.

        May return ``status="needs_trust"``: ask the user about the answer's ``directory``, and call again with
        ``trust_accepted`` and that directory as ``trusted_directory``.
        """
        trusted = None if trusted_directory is None else os.fspath(trusted_directory)
        return await self._ask(wire.SetCwdRequest(os.fspath(path), trust_accepted or None, trusted), wire.SetCwdResult)

    async def workspace_diff(self) -> WorkspaceDiff:
        """The changes in the working tree since the last commit, or why there is no diff."""
        return await self._ask(wire.GetWorkspaceDiffRequest(), wire.WorkspaceDiff)
