"""A host and its keeper on a disk that gets full in the middle of a turn: ``full_disk.py PLACE DISK``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from host.kit import LIMIT_S, Place, all_frames, decide, pending, states_of, told
from quarterdeck.host import Host, HostError
from quarterdeck.host.requests import ListApprovals, Nothing, SendPrompt, UpdateSession
from quarterdeck.timeline.events import PromptSent, TurnEnded

RUNS = {"tool": "Bash", "input": {"command": "echo ran >> ran.txt"}}


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        size = 64 * 1024
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2


async def refused(host: Host, session: str, filler: Path) -> None:
    """Ask for work until there is no room even in what the database has already taken."""
    while True:
        fill(filler)
        try:
            await host.update_session(UpdateSession(session_id=session, name="name " * 1_000))
        except HostError as error:
            if error.code != "storage":
                raise
            return


async def main(root: Path, disk: Path) -> None:
    place = Place(root, keeper=True)
    place.folder = disk / "state"
    place.claude.play([RUNS, "Done. " * 2_000], ["Second."])
    filler = disk / "filler"
    async with asyncio.timeout(LIMIT_S), place.opened() as host:
        session = await place.created(host)
        (approval,) = await pending(host)
        await refused(host, session.id, filler)
        print("refused", flush=True)
        try:
            await decide(host, approval)
        except HostError as error:
            assert error.code == "storage", error
        assert [one.state for one in (await host.list_approvals(ListApprovals())).approvals] == ["pending"]
        assert not (place.cwd / "ran.txt").exists()
        print("held", flush=True)
        filler.unlink()
        while any("Session" in problem for problem in (await host.get_health(Nothing())).problems):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await decide(host, approval)
        await host.send_prompt(SendPrompt(session_id=session.id, content="second", priority="later"))
        frames = await all_frames(host, session.id)
        while len(told(frames, TurnEnded)) < 2:
            await asyncio.sleep(0.05)
            frames = await all_frames(host, session.id)
        assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
        assert [event.text for event in told(frames, PromptSent)] == ["go", "second"]
        assert states_of(frames) == ["pending", "decided", "delivered", "applied"]
        assert (place.cwd / "ran.txt").read_text() == "ran\n"
    print("survived", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
