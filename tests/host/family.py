"""A session that starts another one with the host's tools, on the simulator or on the real CLI: one script for both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from client.real_cli import place as real_place
from host.kit import STAYS_DOWN, Place, all_frames, told
from host.test_many_sessions_real import a_host
from quarterdeck.host import Host
from quarterdeck.host.requests import CreateSession, HostTools, ListSessions, OfSession
from quarterdeck.host.resources import Session
from quarterdeck.testing.model import ApiRequest, Stall, ToolUse
from quarterdeck.testing.model.request import content_text
from quarterdeck.timeline.events import ToolEnded

TOOLS = "mcp__quarterdeck__"
START, WAIT = TOOLS + "start_session", TOOLS + "wait_for_session"
ALL_TOOLS = [
    TOOLS + name
    for name in ("start_session", "prompt_session", "wait_for_session", "read_session", "list_sessions", "stop_session")
]
LEAD, WORK, MORE = "Lead the family.", "Do the work of a child.", "Do some more of that."
"""Prompts: the parent's, the child's, and the child's next."""

Step = dict[str, Any] | str


def call(name: str, /, **given: Any) -> Step:
    return {"tool": TOOLS + name, "input": given}


def starts(**given: Any) -> list[Step]:
    """The parent starts a child and waits for it."""
    return [
        call("start_session", prompt=WORK, name="child", **given),
        call("wait_for_session", session="child"),
        "Led.",
    ]


def touch(name: str) -> Step:
    return {"tool": "Bash", "input": {"command": f"touch {name}", "description": "Make a file"}}


class Gate:
    """The step after it is played once it is opened."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "gate"
        self.real: Any = None

    def open(self) -> None:
        self.path.touch()
        if self.real is not None:
            self.real.open()


class Family:
    """A host over both scripts."""

    def __init__(self, host: Host, cwd: Path) -> None:
        self.host = host
        self.cwd = cwd

    async def parent(self, *, tools: dict[str, Any] | None = None, allowed: Sequence[str] = (), **more: Any) -> Session:
        """A session that may use all tools of the host without being asked, and is told to lead."""
        options = {"allowed_tools": [*ALL_TOOLS, *allowed], **more.pop("options", {})}
        request = CreateSession(
            cwd=str(self.cwd), prompt=LEAD, host_tools=HostTools(**tools or {}), options=options, **more
        )
        return await self.host.create_session(request)

    async def children(self, of: Session) -> list[Session]:
        listed = (await self.host.list_sessions(ListSessions(limit=1_000))).sessions
        return [one for one in listed if one.parent_id == of.id]

    async def ended(self, session: Session) -> list[tuple[str, str, str]]:
        """The tool calls of a session: name, status and output."""
        calls = told(await all_frames(self.host, session.id), ToolEnded)
        return [(one.name.removeprefix(TOOLS), one.status, str(one.output)) for one in calls]


@asynccontextmanager
async def family(
    folder: Path,
    kind: str,
    *,
    lead: list[Step | Gate],
    work: list[Step | Gate] | None = None,
    more: str = "More done.",
    **host: Any,
) -> AsyncIterator[Family]:
    """``kind`` is ``sim`` or ``real``. What the parent and the child do, and what the child says to ``MORE``."""
    work = work or ["Done."]
    if kind == "sim":
        place = Place(folder, keeper=False)
        scripts = {LEAD: lead, WORK: work, MORE: [more]}
        rules = [
            {"when": f"^{prompt}$", "steps": [_simulated(step) for step in script]}
            for prompt, script in scripts.items()
        ]
        place.claude.play(rules=rules)
        async with place.opened(**host) as opened:
            yield Family(opened, place.cwd)
        return
    with real_place(folder) as stage:
        for prompt, script in ((LEAD, lead), (WORK, [*work, more])):
            number, stall = 0, []
            for step in script:
                if isinstance(step, Gate):
                    step.real = stage.model.gate()
                    stall = [Stall(after=0, until=step.real)]
                    continue
                stage.model.on(_is_step(prompt, number), *stall, _scripted(step))
                number, stall = number + 1, []
        async with a_host(stage, folder / "state", lifecycle=STAYS_DOWN, **host) as opened:
            yield Family(opened, stage.cwd)
            for session in (await opened.list_sessions(ListSessions(limit=1_000))).sessions:
                await opened.stop(OfSession(session_id=session.id))


def _simulated(step: Step | Gate) -> Step:
    return {"wait_for": str(step.path)} if isinstance(step, Gate) else step


def _scripted(step: Step) -> Any:
    return step if isinstance(step, str) else ToolUse(step["tool"], step["input"])


def _is_step(prompt: str, number: int) -> Callable[[ApiRequest], bool]:
    def is_it(request: ApiRequest) -> bool:
        said = [message for message in request.messages if message.get("role") == "assistant"]
        return (
            request.kind == "main"
            and len(said) == number
            and prompt in content_text(request.messages[0].get("content"))
        )

    return is_it
