"""``quarterdeck worktree``: worktrees of a repository, for sessions that work side by side."""

from __future__ import annotations

from .common import Parser
from .common.parser import absolute
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck worktree",
        description="List, create and remove git worktrees on the host's machine. No hook, filter or helper of the "
        "repository runs. To start a session in a new one: quarterdeck call create_session cwd=. worktree=NAME.",
        examples=[
            ("quarterdeck worktree create fix-login", "next to this folder's repository, on a branch with that name"),
            ("quarterdeck worktree list", "those of this folder's repository"),
            ("quarterdeck worktree remove ../repo-fix-login", "refused if it has uncommitted changes"),
        ],
        exits=EXITS,
    )
    commands = built.add_commands()
    listing = commands.add_parser(
        "list",
        help="list the worktrees of a repository",
        description="List the worktrees of a repository, with their branches.",
        examples=[("quarterdeck worktree list --cwd /srv/repo", "of another repository")],
        exits=EXITS,
    )
    create = commands.add_parser(
        "create",
        help="create a worktree",
        description="Create a worktree next to the repository, on a new branch with the same name. Files listed in "
        ".worktreeinclude are copied.",
        examples=[("quarterdeck worktree create fix-login --base main", "starting from main")],
        exits=EXITS,
    )
    create.add_argument("name", metavar="NAME", help="the name of the worktree and its branch")
    create.add_argument("--base", metavar="COMMIT", help="start from this commit (default: HEAD)")
    remove = commands.add_parser(
        "remove",
        help="remove a worktree",
        description="Remove a worktree. Its branch is kept.",
        examples=[("quarterdeck worktree remove ../repo-fix-login --force", "including uncommitted changes")],
        exits=EXITS,
    )
    remove.add_argument("path", metavar="PATH", type=absolute, help="the folder of the worktree")
    remove.add_argument("--force", action="store_true", help="even if it has uncommitted changes")
    for command, run in ((listing, "list_worktrees"), (create, "create_worktree"), (remove, "remove_worktree")):
        if command is not remove:
            command.add_argument(
                "--cwd",
                metavar="DIR",
                type=absolute,
                default=absolute("."),
                help="a folder of the repository (default: .)",
            )
        add_host_options(command)
        command.set_defaults(run=run)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted import workspaces

    return on_host(given, lambda host: getattr(workspaces, given.run)(host, given))
