"""``quarterdeck queue``: prompts that wait in a session."""

from __future__ import annotations

from .common import Parser
from .hosted.connecting import EXITS, add_host_options, on_host
from .hosted.moments import count, upcoming


def parser() -> Parser:
    built = Parser(
        "quarterdeck queue",
        description="List, edit, reorder, schedule and remove the queued prompts of a session. PROMPT is an id or a "
        "unique prefix of it. Add a prompt with quarterdeck send.",
        examples=[
            ("quarterdeck queue list review", "list queued prompts, in order"),
            ("quarterdeck queue move review 3f2a 1", "send it first"),
            ("quarterdeck queue schedule review 3f2a 22:00", "not before ten in the evening"),
        ],
        exits=EXITS,
    )
    commands = built.add_commands()
    listing = commands.add_parser(
        "list",
        help="list queued prompts",
        description="List queued prompts, in the order in which they will be sent.",
        examples=[("quarterdeck queue list review --json", "for a script")],
        exits=EXITS,
    )
    edit = commands.add_parser(
        "edit",
        help="change the text of a prompt",
        description="Change the text of a queued prompt.",
        examples=[("quarterdeck queue edit review 3f2a 'only the tests'", "send this instead")],
        exits=EXITS,
    )
    move = commands.add_parser(
        "move",
        help="change the order",
        description="Move a prompt to another position; 1 is the next to be sent.",
        examples=[("quarterdeck queue move review 3f2a 1", "send it first")],
        exits=EXITS,
    )
    schedule = commands.add_parser(
        "schedule",
        help="set when a prompt is sent",
        description="Send a prompt no earlier than WHEN. 'now' removes the schedule.",
        examples=[
            ("quarterdeck queue schedule review 3f2a 2h", "in two hours"),
            ("quarterdeck queue schedule review 3f2a now", "as soon as possible"),
        ],
        exits=EXITS,
    )
    remove = commands.add_parser(
        "remove",
        help="remove queued prompts",
        description="Remove prompts that have not been sent yet.",
        examples=[("quarterdeck queue remove review 3f2a", "remove a prompt")],
        exits=EXITS,
    )
    for command, run in (
        (listing, "list_prompts"),
        (edit, "edit_prompt"),
        (move, "move_prompt"),
        (schedule, "schedule_prompt"),
        (remove, "remove_prompts"),
    ):
        command.add_argument("session", metavar="SESSION", help="its id, a unique prefix of it, or its name")
        command.set_defaults(run=run)
    for command in (edit, move, schedule):
        command.add_argument("prompt", metavar="PROMPT", help="the prompt")
    remove.add_argument("prompts", metavar="PROMPT", nargs="+", help="the prompts")
    edit.add_argument("text", metavar="TEXT", help="the new text")
    move.add_argument("position", metavar="POSITION", type=count, help="counted from 1")
    schedule.add_argument(
        "when", metavar="WHEN", type=upcoming, help="a date, a time of day, a duration such as 2h, or now"
    )
    for command in (listing, edit, move, schedule, remove):
        add_host_options(command)
    return built


def main(argv: list[str] | None = None) -> int:
    given = parser().parse_args(argv)
    from .hosted import queueing

    return on_host(given, lambda host: getattr(queueing, given.run)(host, given))
