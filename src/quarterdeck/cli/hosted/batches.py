"""Options of commands that decide many approvals at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quarterdeck.cli.common.parser import absolute

if TYPE_CHECKING:
    from argparse import Namespace

    from quarterdeck.cli.common import Parser

FILTERS = ("session", "tool", "kind", "cwd")


def add_batch_options(parser: Parser) -> None:
    """What a batch covers, and a preview of it."""
    group = parser.add_argument_group("several requests at once, instead of APPROVAL; all filters must match")
    group.add_argument("--session", metavar="SESSION", help="requests of this session")
    group.add_argument("--tool", metavar="NAME", help="calls of this tool")
    group.add_argument(
        "--kind",
        choices=("permission", "questions", "plan_review", "elicitation", "dialog"),
        help="requests of this kind",
    )
    group.add_argument("--cwd", metavar="DIR", type=absolute, help="requests of sessions in this folder and below")
    group.add_argument("--dry-run", action="store_true", help="only show which requests match")


def check_batch(parser: Parser, given: Namespace) -> None:
    """Ends the program with a usage error unless approvals or filters are given, and not both."""
    filters = [name for name in FILTERS if getattr(given, name)]
    if given.approvals and (filters or given.dry_run):
        parser.error("give APPROVAL, or filters such as --session, not both")
    if not given.approvals and not filters:
        parser.error("give an APPROVAL, or a filter such as --session or --tool")
