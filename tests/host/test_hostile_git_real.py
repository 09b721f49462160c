"""A repository made to run programs, and the real CLI at work in it: our git runs none of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from client.real_cli import place as real_place
from host.kit import all_frames, told
from host.test_hostile_git import ME, made, run
from host.test_many_sessions_real import a_host, allowed_until_idle, of
from quarterdeck.host import HostError
from quarterdeck.host.requests import CreateSession, CreateWorktree, DeleteWorktree, InFolder, ListFiles, SendPrompt
from quarterdeck.host.worktrees import INCLUDED_BYTES
from quarterdeck.policy import Policy
from quarterdeck.testing.model import ToolUse
from quarterdeck.timeline.events import ToolEnded

pytestmark = pytest.mark.real

TRAP = """#!/bin/sh
# says who its ancestors are, then does what a filter does
{{
  pid=$$
  while [ "$pid" -gt 1 ]; do
    tr '\\0' ' ' < /proc/$pid/cmdline
    printf '| '
    pid=$(cut -d' ' -f4 < /proc/$pid/stat)
  done
  printf '\\n'
}} >> {mark}
[ "$1" = filter ] && cat
exit 0
"""

PROGRAMS = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy"),
    *("core.alternateRefsCommand", "diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver"),
    *("gpg.program", "gpg.ssh.program", "credential.helper", "sequence.editor", "uploadpack.packObjectsHook"),
    *("remote.origin.uploadpack", "remote.origin.receivepack"),
    *("interactive.diffFilter", "pager.status", "pager.diff", "pager.worktree", "trailer.sign.command"),
)
HOOKS = (
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "fsmonitor-watchman",
    "pre-auto-gc",
    "post-merge",
)


def booby_trapped(folder: Path, mark: Path) -> None:
    """Everything that git can be configured to run is a program that leaves a mark."""
    program = mark.with_name("trap.sh")
    program.write_text(TRAP.format(mark=mark))
    program.chmod(0o755)
    hooks = mark.with_name("hooks")
    hooks.mkdir()
    for place in (hooks, folder / ".git" / "hooks"):
        place.mkdir(exist_ok=True)
        for hook in HOOKS:
            (place / hook).write_text(program.read_text())
            (place / hook).chmod(0o755)
    lines = {"remote.origin.url": "ssh://nowhere/x", "core.hooksPath": str(hooks), "filter.evil.required": "true"}
    lines |= {"submodule.recurse": "true", "diff.submodule": "diff", "status.submoduleSummary": "true"}
    lines |= {"log.showSignature": "true", "protocol.allow": "always", "core.untrackedCache": "true"}
    lines |= {f"filter.evil.{part}": f"{program} filter" for part in ("clean", "smudge", "process")}
    for name, value in [*lines.items(), *((name, str(program)) for name in PROGRAMS)]:
        run(folder, "config", name, value)
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil merge=evil\n")


def a_symlinked_git_folder(folder: Path) -> None:
    elsewhere = folder.with_name("the-git-folder")
    (folder / ".git").rename(elsewhere)
    (folder / ".git").symlink_to(elsewhere)


def objects_of_another_repository(folder: Path) -> None:
    other = folder.with_name("other")
    made(other, "theirs\n")
    (folder / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "objects" / "info" / "alternates").write_text(f"{other}/.git/objects\n")


def a_submodule_with_traps_of_its_own(folder: Path) -> None:
    other = folder.with_name("other")
    made(other, "theirs\n")
    run(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    run(folder, *ME, "commit", "-qm", "with a submodule")
    for name, value in (("core.fsmonitor", "true"), ("core.hooksPath", str(folder.with_name("hooks")))):
        run(folder / "sub", "config", name, value)
    for name in ("core.fsmonitor", "diff.external", "core.sshCommand"):
        run(folder / "sub", "config", name, str(folder.with_name("trap.sh")))
    (folder / "sub" / "a.txt").write_text("changed there\n")


def a_configuration_for_the_worktree(folder: Path) -> None:
    run(folder, "config", "extensions.worktreeConfig", "true")
    (folder / ".git" / "config.worktree").write_text(
        f"[core]\n fsmonitor = {folder.with_name('trap.sh')}\n hooksPath = {folder.with_name('hooks')}\n"
    )


LAYOUTS = (
    a_symlinked_git_folder,
    objects_of_another_repository,
    a_submodule_with_traps_of_its_own,
    a_configuration_for_the_worktree,
)


def hostile_include(folder: Path) -> None:
    """A list that asks for files outside, through links, and for more than there is room for."""
    outside = folder.with_name("secret.txt")
    outside.write_text("not yours")
    (folder / "link.env").symlink_to(outside)
    (folder / "linked").symlink_to(folder.parent)
    os.truncate(os.open(folder / "huge.env", os.O_CREAT | os.O_WRONLY), INCLUDED_BYTES + 1)
    (folder / ".env").write_text("KEY=1\n")
    (folder / ".worktreeinclude").write_text(f"*.env\n.env\n../secret.txt\n{outside}\nlinked/*\n.git/*\n")


def marks(mark: Path) -> list[str]:
    return mark.read_text().splitlines() if mark.exists() else []


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_nothing_of_the_repository_runs_by_our_git(tmp_path: Path, layout: Callable[[Path], None]) -> None:
    mark = tmp_path / "ran"
    with real_place(tmp_path) as stage:
        repository = stage.cwd
        await asyncio.to_thread(made, repository)
        if layout is a_submodule_with_traps_of_its_own:
            await asyncio.to_thread(layout, repository)
        await asyncio.to_thread(booby_trapped, repository, mark)
        if layout is not a_submodule_with_traps_of_its_own:
            await asyncio.to_thread(layout, repository)
        await asyncio.to_thread(hostile_include, repository)
        (repository / "a.txt").write_text("changed\n")
        policy = Policy.from_rules(allow=["Bash(git status:*)", "Bash(git diff:*)", "Bash(cp:*)"])
        async with a_host(stage, tmp_path / "state", policy=policy) as host:
            session = await host.create_session(CreateSession(cwd=str(repository), worktree="side"))
            tree = Path(session.cwd)
            stage.model.reply(ToolUse("Bash", {"command": "cp .env a.txt", "description": "Copy"}))
            stage.model.reply("Copied.")
            await host.send_prompt(SendPrompt(session_id=session.id, content="work"))
            await allowed_until_idle(host, session)
            assert "+KEY=1" in (await host.get_diff(of(session))).details["diff"]
            await host.list_files(ListFiles(session_id=session.id, q="a"))
            here = await host.create_session(CreateSession(cwd=str(repository)))
            assert "+changed" in (await host.get_diff(of(here))).details["diff"]
            await host.create_worktree(CreateWorktree(cwd=str(repository), name="more"))
            await host.list_worktrees(InFolder(cwd=str(repository)))
            with pytest.raises(HostError, match="uncommitted"):
                await host.delete_worktree(DeleteWorktree(path=str(tree)))
            for one in (session, here):
                await host.stop(of(one))
            await host.delete_worktree(DeleteWorktree(path=str(tree), force=True))
            copied = await asyncio.to_thread(lambda: {one.name for one in Path(f"{repository}-more").iterdir()})
            assert copied & {".env", "huge.env", "link.env", "linked", "secret.txt"} == {".env"}
            ours = [line for line in await asyncio.to_thread(marks, mark) if str(stage.options().cli_path) not in line]
            assert ours == []
            # the traps work: the agent's own git, which obeys the repository, falls into them
            stage.model.reply(ToolUse("Bash", {"command": "git status", "description": "Look"}))
            stage.model.reply("Looked.")
            await host.send_prompt(SendPrompt(session_id=here.id, content="look"))
            await allowed_until_idle(host, here)
            assert told(await all_frames(host, here.id), ToolEnded)
            assert await asyncio.to_thread(marks, mark)
            await host.stop(of(here))
