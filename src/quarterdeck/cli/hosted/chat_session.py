"""A session of a host as a chat talks to it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from quarterdeck.cli.common import FAILED, ReportedError
from quarterdeck.cli.terminal.advice import SessionRules
from quarterdeck.cli.terminal.answers import Answerer, UnattendedAnswerer
from quarterdeck.cli.terminal.chat_session import Rewound
from quarterdeck.client.errors import QuarterdeckError
from quarterdeck.host import HostError
from quarterdeck.host.events import AnyEvent
from quarterdeck.host.requests import Fork, OfSession, Rewind, SendControl, SendPrompt, UpdateSession
from quarterdeck.timeline.items import Prompt

from .answering import HostedAnswerer, HostedAnswers
from .connecting import reported
from .following import FollowedSession
from .host_lines import host_line, standing_line
from .naming import all_approvals
from .showing import is_simulated

if TYPE_CHECKING:
    from quarterdeck.cli.terminal.screen import Screen
    from quarterdeck.host.resources import Session
    from quarterdeck.remote import RemoteHost


class HostedSession:
    """Implements ``cli.terminal.chat_session.ChatSession``."""

    runs_here = False

    def __init__(
        self,
        host: RemoteHost,
        session: Session,
        screen: Screen,
        rules: SessionRules,
        *,
        is_here: bool,
        attended: bool = True,
    ) -> None:
        """``is_here``: the host is on this machine. Without ``attended``, what no rule allows is denied."""
        self._host = host
        self._session = session
        self._screen = screen
        self._followed = FollowedSession(host, session.id, screen.timeline)
        answerer: Answerer = UnattendedAnswerer(rules, screen.say)
        if attended:
            answerer = HostedAnswerer(screen, rules, host, on_disk=is_here)
        self._answers = HostedAnswers(rules, answerer, host=host, say=screen.say, failed=screen.failed)
        self.greeting = f"attaching to {self.name} …"
        screen.painter.simulated = is_simulated(session)

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def name(self) -> str:
        """For people."""
        return self._session.name or self.id[:8]

    @property
    def is_working(self) -> bool:
        return self._followed.state.turn_started_at is not None

    @property
    def folder(self) -> Path:
        return Path(self._session.cwd)

    def said(self) -> list[tuple[str, str]]:
        items = self._followed.state.items.values()
        return [(one.id, str(one.text)) for one in items if isinstance(one, Prompt) and one.parent_id is None]

    async def open(self, *, history: bool = True) -> None:
        """Draw what there is, unless without ``history``, and ask what waits."""
        drawn = await self._followed.load()
        if history:
            self._screen.show([*drawn])  # type: ignore[list-item]
        if (line := standing_line(self._session)) is not None:
            self._screen.say(*line)
        async for approval in all_approvals(self._host, session=self.id):
            self._answers.changed(approval, self._followed.state)

    async def close(self, *, hurry: bool) -> None:
        """Leave; the session keeps running."""
        self._answers.stop_all()

    async def follow(self) -> str:
        async with aclosing(self.events()) as batches:
            async for _ in batches:
                pass
        return "the session was deleted"

    async def events(self) -> AsyncGenerator[list[AnyEvent], None]:
        """What happens, shown and asked about, in batches."""
        async with aclosing(self._followed.follow()) as batches:
            async for happened in batches:
                self._show(happened)
                yield happened

    def _show(self, happened: list[AnyEvent]) -> None:
        self._screen.show(happened)  # type: ignore[arg-type]  # the painter leaves out what it does not know
        for event in happened:
            if (line := host_line(event)) is not None:
                self._screen.say(*line)
        self._answers.follow(happened, self._followed.state)

    async def send(self, text: str) -> str:
        said = await self._host.send_prompt(SendPrompt(session_id=self.id, content=text))
        return said.prompt_id

    async def tell(self, command: str, output: str) -> None:
        raise HostError("invalid", "Shell commands do not work in a session on a host.")

    async def interrupt(self) -> None:
        await self._host.interrupt(OfSession(session_id=self.id))

    async def set_model(self, name: str) -> None:
        await self._host.update_session(UpdateSession(session_id=self.id, model=name))

    async def set_mode(self, name: str) -> None:
        await self._host.update_session(UpdateSession(session_id=self.id, permission_mode=name))

    async def rewind_files(self, prompt_id: str) -> str:
        try:
            await self._host.rewind(Rewind(session_id=self.id, to=prompt_id))
        except HostError as error:
            return error.message
        return ""

    async def rewind_conversation(self, prompt_id: str) -> Rewound:
        fields = {"target_message_uuid": prompt_id}
        asked = SendControl(session_id=self.id, subtype="rewind_conversation", fields=fields)
        answer = (await self._host.send_control(asked)).details
        return Rewound(
            bool(answer.get("rewound")), str(answer.get("prefillText") or ""), str(answer.get("reason") or "")
        )

    async def fork(self) -> str:
        made = await self._host.fork(Fork(session_id=self.id))
        before, self._session = self.name, made
        self._answers.stop_all()
        self._followed = FollowedSession(self._host, made.id, self._screen.timeline)
        await self._followed.load()
        return f"continuing in a copy; the original session is {before}"

    def reported(self, error: QuarterdeckError) -> ReportedError:
        if isinstance(error, HostError):
            return reported(error)
        return ReportedError(str(error), f"Attach again with: quarterdeck attach {self.id[:8]}", code=FAILED)
