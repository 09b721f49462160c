"""``quarterdeck budget``: what sessions may spend."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host


def parser() -> Parser:
    built = Parser(
        "quarterdeck budget",
        description="Show or set what a session, or all sessions of a host together, may spend. At 80 % the host "
        "warns; when a budget is reached, the turn is interrupted and further prompts are refused. Amounts are in USD.",
        examples=[
            ("quarterdeck budget", "the host's budgets and what is spent"),
            ("quarterdeck budget --day 20 --month 200", "for all sessions together"),
            ("quarterdeck budget review 2.50", "for one session"),
            ("quarterdeck budget review none", "remove it"),
        ],
        exits=EXITS,
    )
    built.add_argument("session", nargs="?", metavar="SESSION", help="its id, a unique prefix of it, or its name")
    built.add_argument("amount", nargs="?", metavar="USD", type=amount, help="the session's budget, or none")
    for period in ("day", "month"):
        built.add_argument(f"--{period}", metavar="USD", type=amount, help=f"per {period}, for all sessions, or none")
    add_host_options(built)
    return built


def amount(text: str) -> Decimal | str:
    """``none`` stays as it is: leaving an amount out means something else."""
    if text.casefold() == "none":
        return "none"
    try:
        value = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or value < 0:
        from argparse import ArgumentTypeError

        raise ArgumentTypeError(f"must be an amount such as 2.50, or none, not {text!r}")
    return value


def main(argv: list[str] | None = None) -> int:
    built = parser()
    given = built.parse_args(argv)
    if given.session is not None and (given.day is not None or given.month is not None):
        built.error("--day and --month are for all sessions together: leave SESSION out")
    from .hosted.upkeep import budget

    return on_host(given, lambda host: budget(host, given))
