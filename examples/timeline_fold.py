"""Follow a conversation as a person would: a timeline turns every message, of both directions, into events and a state.

A face draws the events as they come, or the state at any time; neither has anything to do with the wire.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from _where import HOST
from quarterdeck import ClaudeAgentOptions, JournalEntry, JournalReader, PermissionResultAllow, connect
from quarterdeck.timeline import Event, Timeline, events


class Follower(JournalReader):
    """Hands the lines of both directions to a timeline, and shows what happens."""

    def __init__(self) -> None:
        self.timeline = Timeline()

    def read(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            show(self.timeline.take(entry.direction, entry.message, at=entry.at))


def show(happened: list[Event]) -> None:
    for event in happened:
        match event:
            case events.TextAdded(text=text):
                print(text, end="")
            case events.TextCompleted(rest=rest):  # whatever was not streamed
                print(rest)
            case events.PermissionAsked(request=asked):
                print(f"Allow {asked.tool_name}? {Path(asked.about).name}")
                print("\n".join(line for diff in asked.diffs for hunk in diff.hunks for line in hunk.lines))
            case events.ToolEnded(name=name, status=status):
                print(f"{name}: {status}")
            case events.TurnEnded(turn=turn):
                print(f"({turn.outcome}, {turn.tokens.output} tokens)")


async def allow(*_: object) -> PermissionResultAllow:
    return PermissionResultAllow()


async def main() -> None:
    follower = Follower()
    options = ClaudeAgentOptions(can_use_tool=allow, include_partial_messages=True)
    session = connect(options, host=HOST)
    session.journal.add(follower)
    async with session:
        await session.prompt("Write hello into greeting.txt.")
    saved = follower.timeline.snapshot()
    later = Timeline.restore(saved)  # goes on exactly as the first one would
    print([type(item).__name__ for item in later.state.items.values()])


asyncio.run(main())
