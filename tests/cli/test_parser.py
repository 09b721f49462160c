from __future__ import annotations

import pytest

from quarterdeck.cli.common import Look, Parser
from quarterdeck.cli.common.look import codes_of

HELP = """\
usage: quarterdeck greet --from NAME [options] WHO [HOW]

Says hello to somebody, and goes on about it for long enough
that a line of sixty columns does not hold it.

arguments:
  WHO                 who to greet
  HOW

options:
  -h, --help          show this help
  -f, --from NAME     who greets
  --tone {warm,cold}  100% warm or cold
  --json              write JSON

examples:
  # by name
  quarterdeck greet --from Ben Ada

exit codes:
  0    greeted
  130  interrupted
"""


def greet() -> Parser:
    parser = Parser(
        "quarterdeck greet",
        description="Says hello to somebody, and goes on about it for long enough that a line of sixty columns does "
        "not hold it.",
        examples=[("quarterdeck greet --from Ben Ada", "by name")],
        exits={0: "greeted", 130: "interrupted"},
    )
    parser.add_argument("who", metavar="WHO", help="who to greet")
    parser.add_argument("how", metavar="HOW", nargs="?")
    parser.add_argument("-f", "--from", metavar="NAME", required=True, help="who greets")
    parser.add_argument("--tone", choices=("warm", "cold"), help="100%% warm or cold")
    parser.add_argument("--json", action="store_true", help="write JSON")
    return parser


def test_help_has_usage_arguments_options_examples_and_exit_codes() -> None:
    assert greet().help_for(Look(width=60)) == HELP


def test_coloured_help_says_the_same() -> None:
    coloured = greet().help_for(Look(width=60, colour=True))
    assert "\033[1musage:\033[0m" in coloured
    cyan, dim = (f"\033[{codes_of(style)}m" for style in ("cyan", "dim"))
    assert f"{cyan}-f, --from NAME\033[0m" in coloured
    for code in ("\033[1m", dim, cyan, "\033[0m"):
        coloured = coloured.replace(code, "")
    assert coloured == HELP


def test_help_is_the_same_when_options_and_arguments_may_be_mixed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(SystemExit):
        greet().parse_intermixed_args(["--help"])
    assert capsys.readouterr().out == HELP


@pytest.mark.parametrize("width", [40, 60, 80, 120, 400])
def test_help_is_never_wider_than_the_terminal_nor_than_what_is_good_to_read(width: int) -> None:
    shown = greet().help_for(Look(width=width)).split("examples:")[0]
    assert max(map(len, shown.splitlines()[1:])) <= min(width, 100)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["Ada"], "the following arguments are required: -f/--from"),
        (["Ada", "--from", "Ben", "--tone", "loud"], "argument --tone: invalid choice: 'loud'"),
        (["Ada", "--from", "Ben", "--js"], "unrecognized arguments: --js"),
    ],
)
def test_a_wrong_call_says_what_is_wrong_and_where_to_read_on(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        greet().parse_args(words)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith(f"quarterdeck greet: {problem}")
    assert told.endswith("\n  Run quarterdeck greet --help for usage.\n")


def test_commands_are_listed_once() -> None:
    parser = Parser("quarterdeck tools", description="Tools.")
    commands = parser.add_commands()
    commands.add_parser("saw", help="cut wood", description="Cuts.", examples=[("quarterdeck tools saw", "cut")])
    assert parser.help_for(Look(width=60)) == (
        "usage: quarterdeck tools [options] COMMAND …\n\nTools.\n\ncommands:\n  saw         cut wood\n\n"
        "options:\n  -h, --help  show this help\n"
    )
    assert parser.commands()["saw"].prog == "quarterdeck tools saw"
