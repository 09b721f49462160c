"""What a chat talks to: a session of this program, or one of a host (``cli.hosted.chat_session``)."""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from quarterdeck.cli.common import ReportedError
from quarterdeck.client.errors import ControlError, QuarterdeckError
from quarterdeck.protocol import TurnState

from .painter import BASH_INPUT
from .run import LEAVE_GRACE_S, reported_error

if TYPE_CHECKING:
    from quarterdeck.client.session import Session


@dataclass(frozen=True, slots=True)
class Rewound:
    """Whether the conversation was set back, and if so the prompt to edit, else why not."""

    done: bool
    prefill: str = ""
    reason: str = ""


class ChatSession(Protocol):
    """Each method raises ``QuarterdeckError``."""

    greeting: str
    """What is being done until it is open."""
    runs_here: bool
    """Whether it works in a folder of this machine, with the rights of this program."""

    @property
    def is_working(self) -> bool:
        """Whether there is a turn to interrupt."""

    @property
    def folder(self) -> Path:
        """Where it works."""

    def said(self) -> list[tuple[str, str]]:
        """Id and text of the earlier messages, oldest first."""

    async def open(self) -> None: ...

    async def close(self, *, hurry: bool) -> None: ...

    async def follow(self) -> str:
        """Until it is over; what to say then."""

    async def send(self, text: str) -> str:
        """The id of the prompt."""

    async def tell(self, command: str, output: str) -> None:
        """Add a shell command and its output to the conversation without starting a turn."""

    async def interrupt(self) -> None: ...

    async def set_model(self, name: str) -> None: ...

    async def set_mode(self, name: str) -> None: ...

    async def rewind_files(self, prompt_id: str) -> str:
        """Why not; empty if it was done."""

    async def rewind_conversation(self, prompt_id: str) -> Rewound: ...

    async def fork(self) -> str:
        """Continue in a copy; what to say. ``follow`` must not be running."""

    def reported(self, error: QuarterdeckError) -> ReportedError:
        """What went wrong, and what to do."""


class LocalSession:
    """A session of this program."""

    runs_here = True

    def __init__(self, session: Session, given: argparse.Namespace) -> None:
        self._session = session
        self._given = given
        self.greeting = f"starting {'the simulator' if given.agent == 'sim' else 'Claude Code'} …"

    @property
    def is_working(self) -> bool:
        return self._session.turn_state is not TurnState.IDLE

    @property
    def folder(self) -> Path:
        return Path(self._session.options.cwd or ".")

    def said(self) -> list[tuple[str, str]]:
        return []  # the CLI does not repeat it

    async def open(self) -> None:
        await self._session.open()

    async def close(self, *, hurry: bool) -> None:
        if hurry:
            self._session.options.close_grace_s = LEAVE_GRACE_S
        await self._session.close()

    async def follow(self) -> str:
        """Consume messages so that more can arrive; the screen reads the journal."""
        async for _ in self._session.batches():
            pass
        return "Claude Code exited"

    async def send(self, text: str) -> str:
        return await self._session.send(text)

    async def tell(self, command: str, output: str) -> None:
        """As Claude Code does."""
        text = f"{BASH_INPUT}{command}</bash-input>\n<bash-stdout>{output}</bash-stdout><bash-stderr></bash-stderr>"
        await self._session.send(text, shouldQuery=False)

    async def interrupt(self) -> None:
        await self._session.interrupt()

    async def set_model(self, name: str) -> None:
        await self._session.set_model(name)

    async def set_mode(self, name: str) -> None:
        mode: Any = name  # one of MODES
        await self._session.set_permission_mode(mode)

    async def rewind_files(self, prompt_id: str) -> str:
        try:
            await self._session.rewind_files(prompt_id)
        except ControlError as error:
            return str(error.error)
        return ""

    async def rewind_conversation(self, prompt_id: str) -> Rewound:
        answer = await self._session.rewind_conversation(prompt_id)
        return Rewound(answer.rewound, answer.prefill_text or "", str(answer.reason or ""))

    async def fork(self) -> str:
        session_id = self._session.session_id
        if session_id is None:
            return "nothing to copy yet"
        options = dataclasses.replace(
            self._session.options, resume=session_id, fork_session=True, continue_conversation=False, session_id=None
        )
        await self._session.reopen(options)
        return f"continuing in a copy; the original session is {session_id}"

    def reported(self, error: QuarterdeckError) -> ReportedError:
        return reported_error(error, self._session, self._given, command="chat")
