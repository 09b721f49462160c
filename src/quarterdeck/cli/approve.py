"""``quarterdeck approve``: allow what a session asks."""

from __future__ import annotations

from .common import Parser
from .hosted.batches import add_batch_options, check_batch
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck approve",
        description="Approve a request: a permission or a plan. APPROVAL is an id listed by quarterdeck approvals, or "
        "a unique prefix of it. For questions, use quarterdeck answer.",
        examples=[
            ("quarterdeck approve 8c1f", "allow once"),
            ("quarterdeck approve 8c1f --always project", "always allow it in this folder"),
            (
                "quarterdeck approve --session review --tool Read --dry-run",
                "preview a batch; without --dry-run, allow it",
            ),
            ('quarterdeck approve 8c1f --input \'{"command": "make test"}\'', "run another command instead"),
        ],
        exits=EXITS,
    )
    built.add_argument("approvals", metavar="APPROVAL", nargs="*", help="the requests to approve")
    built.add_argument(
        "--always",
        choices=("session", "project", "user"),
        help="always allow it: in this session, in its folder, or everywhere",
    )
    built.add_argument("--rule", metavar="RULE", help="with --always: remember this rule (default: the narrowest)")
    built.add_argument("--input", metavar="JSON", help="allow the call with this input instead")
    built.add_argument("--mode", metavar="MODE", help="switch to this permission mode, e.g. acceptEdits")
    add_batch_options(built)
    add_host_options(built, json="print JSON, one approval per line")
    return built


def main(argv: list[str] | None = None) -> int:
    reader = parser()
    given = reader.parse_args(argv)
    check_batch(reader, given)
    if given.rule and not given.always:
        reader.error("--rule needs --always")
    if given.input and len(given.approvals) != 1:
        reader.error("--input is for one approval")
    if given.always and not given.rule and not given.approvals:
        reader.error("--always needs --rule for a batch")
    from .hosted.deciding import approve

    return on_host(given, lambda host: approve(host, given))
