"""Operations on the machine: folders, transcripts on disk, worktrees."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from quarterdeck.client.transcripts.places import CONFIG_DIR, config_dir
from quarterdeck.store.queries import SessionQuery

from . import requests as takes
from . import resources as returns
from . import transcripts
from .bodies import SessionBody, decode_body
from .callers import PROGRAM, Caller
from .errors import HostError
from .folders import as_path
from .git import git, is_clean, is_on_a_branch, with_git
from .idempotency import begun_before, id_for, note_begun, once
from .session_operations import SessionOperations
from .worktrees import finish_removal, main_worktree, new_worktree, removal_note, worktrees_of

SESSIONS_LOOKED_AT = 1_000
"""How many of the newest sessions to check for their own configuration folders."""


class MachineOperations(SessionOperations):
    """Operations on the machine."""

    async def list_folders(self, request: takes.ListFolders, caller: Caller = PROGRAM) -> returns.FolderList:
        """List folders in which sessions may start."""
        return returns.FolderList(paths=await asyncio.to_thread(self.folders.below, request.prefix))

    async def list_transcripts(self, request: takes.ListTranscripts, caller: Caller = PROGRAM) -> returns.Details:
        """List transcripts on disk, newest first, and which of them are sessions already."""
        cwd = None if request.cwd is None else str(as_path(request.cwd))
        listed = await asyncio.to_thread(transcripts.found, await self._homes(), cwd, request.q)
        shown = [one for one in listed if not one.get("cwd") or self.folders.allows(Path(one["cwd"]))]
        for one in shown:
            record = await self.store.session(one["session_id"])
            one["adopted_as"] = None if record is None else record.id
        return returns.Details(details={"transcripts": shown})

    @once
    async def adopt_transcript(
        self, request: takes.OfTranscript, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Session:
        """Turn a transcript that isn't in use into a session, without a process until it is resumed or prompted."""
        transcript = request.transcript_id
        known, session_id = await self.store.session(transcript), id_for("adopt_transcript", request, caller, key)
        if known is not None and known.id == session_id:  # adopted before a crash
            return await self._view(await self._actor(session_id))
        if known is not None:
            raise HostError("conflict", f"The transcript already belongs to session {known.id}.", session_id=known.id)
        home, info = await asyncio.to_thread(transcripts.info_of, await self._homes(), transcript)
        owner = await asyncio.to_thread(transcripts.owner_of, transcript, home.env)
        if owner is not None:
            raise HostError("conflict", f"Process {owner} is using this conversation.", hint="End it first.", pid=owner)
        if info.cwd is None:
            raise HostError("invalid", "The transcript does not name its folder.")
        cwd = self.folders.check(info.cwd)
        private = {"env": home.own_env} if home.own_env else {}
        body = SessionBody(
            resume=transcript,
            transcript_id=transcript,
            state_reason="Adopted from a transcript.",
            account=home.account,
            private_options=list(private),
        )
        await asyncio.to_thread(self._private.keep, session_id, private)
        actor = await self._new_session(session_id, cwd, body, caller, info.custom_title or info.summary)
        await actor.log.append([])
        return await self._view(actor)

    async def _homes(self) -> list[transcripts.Home]:
        """Configuration folders of this host's sessions: from its environment, accounts, and their own options."""
        homes: dict[str, transcripts.Home] = {}
        for account in ("", *self._accounts.names):
            folder = config_dir({**self._env, **self._accounts.env(account)})
            homes.setdefault(folder, transcripts.Home(folder, account))
        page = await self.store.sessions(SessionQuery(archived=None, limit=SESSIONS_LOOKED_AT))
        for record in page.sessions:
            body = decode_body(record)
            if "env" not in body.private_options:
                continue
            with contextlib.suppress(HostError):  # its launch options are gone, so its folder is unknown
                env = self._private.of(record.id, ["env"])["env"]
                folder = config_dir({**self._env, **self._accounts.env(body.account), **env})
                own = {name: env[name] for name in ("HOME", CONFIG_DIR) if name in env}
                homes.setdefault(folder, transcripts.Home(folder, body.account, own))
        return list(homes.values())

    async def list_worktrees(self, request: takes.InFolder, caller: Caller = PROGRAM) -> returns.Details:
        """List the worktrees of a repository."""
        if request.cwd is None:
            raise HostError("invalid", "cwd is missing: name a folder of the repository.", field="cwd")
        cwd = self.folders.check(request.cwd)
        return returns.Details(details={"worktrees": await with_git(worktrees_of, cwd)})

    @once
    async def create_worktree(
        self, request: takes.CreateWorktree, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Details:
        """Create a worktree next to the repository, with its own branch."""
        cwd = self.folders.check(request.cwd)
        may_use = self._may_use(caller)
        made = await with_git(new_worktree, may_use, cwd, request.name, request.base, again=key is not None)
        return returns.Details(details=made.shown)

    @once
    async def delete_worktree(
        self, request: takes.DeleteWorktree, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Accepted:
        """Remove a worktree; uncommitted work only with ``force``."""
        begun = await begun_before(self, "delete_worktree", request, caller, key)
        if begun is not None and await with_git(finish_removal, str(as_path(request.path, "path")), *begun):
            return returns.Accepted()
        path = self.folders.check(request.path, "path")
        top = await with_git(main_worktree, path)
        if str(top) == path or path not in [one["path"] for one in await with_git(worktrees_of, path)]:
            raise HostError("invalid", f"{request.path} is not a worktree next to its repository.", field="path")
        if not request.force and not await with_git(is_clean, path):
            raise HostError(
                "conflict", f"{request.path} has uncommitted work.", hint="Commit it, or use force.", field="path"
            )
        if not request.force and not await with_git(is_on_a_branch, path):
            raise HostError(
                "conflict",
                f"{request.path} has commits on no branch.",
                hint="Create a branch for them, or use force.",
                field="path",
            )
        for actor in self._actors.values():
            if actor.has_process and Path(actor.log.record.cwd).is_relative_to(path):
                raise HostError("conflict", f"Session {actor.id} is working there.", hint="Stop it first.")
        await note_begun(self, "delete_worktree", request, caller, key, removal_note(top, path))
        force = ["--force", "--force"] if request.force else []  # without it, git checks again
        await with_git(git, str(top), "worktree", "remove", *force, path, also_in=[path])
        return returns.Accepted()
