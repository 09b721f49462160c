"""One session of an editor: its process when one is needed, its prompts one after the other, its updates.

The process is started in the background when the session is made, or by the first prompt of one that was loaded; when
it dies, whoever waits is told, and the next prompt goes on with another. A session of a host is taken up there, in the
middle of a turn if need be, and left to it when the editor goes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from quarterdeck._errors import QuarterdeckError
from quarterdeck.client.interaction import SKIPPED, question_result
from quarterdeck.client.journal import JournalEntry, JournalReader
from quarterdeck.client.launch_versions import UnsupportedOptionError
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.serving import LATER
from quarterdeck.client.session import Session
from quarterdeck.host.errors import HostError
from quarterdeck.protocol import Exited
from quarterdeck.timeline import Timeline, events
from quarterdeck.timeline.events import Event
from quarterdeck.timeline.items import Elicitation
from quarterdeck.wire import AskUserQuestionInput, parse_tool_input
from quarterdeck.wire.permissions import PermissionResultDeny

from . import schema
from .asking import Asking
from .chunks import Chunks
from .drawing import Drawing
from .editor_link import EditorLink
from .editor_tools import EditorTools
from .live_output import LiveOutput
from .prompts import EditorPrompt, EditorPromptQueue
from .session_settings import SessionSettings

if TYPE_CHECKING:
    from quarterdeck.host.resources import Approval
    from quarterdeck.timeline.state import SessionDetails

    from .hosted import HostSessions, HostTransport

logger = logging.getLogger(__name__)

_SHARED = frozenset({"commands", "models", "agents"})
"""What is the same for all sessions in a folder."""
_IN_OPTIONS = frozenset({"cli_version", "effort", "fast_mode"})
"""What a turn begins by saying, and an editor sees among the options."""
_OPTIONAL = frozenset(
    {"include_hook_events", "forward_subagent_text", "agent_progress_summaries", "per_task_stop_affordance"}
)
"""Options that show more, and that a session can do without."""

MakeOptions = Callable[..., ClaudeAgentOptions]


class Conversation(JournalReader):
    """Reads the session's journal, draws events and forwards requests."""

    def __init__(
        self,
        link: EditorLink,
        session_id: str,
        make: MakeOptions,
        *,
        cwd: str,
        resumes: str | None = None,
        forks: bool = False,
        host: HostSessions | None = None,
        host_id: str | None = None,
    ) -> None:
        """
        Args:
            link: The way to the editor.
            session_id: Its name for the editor; empty for a new one of a host, which names it.
            make: Takes what differs between processes.
            cwd: Its folder.
            resumes: The stored conversation to go on with.
            forks: Go on with it in a new one.
            host: Where the session lives, if not in this process.
            host_id: The host's session to take up.
        """
        self.id = session_id
        self.host, self.host_id = host, host_id
        self._transport: HostTransport | None = None
        self._cursor: str | None = None
        self._plain = False
        """The host's token may not set all options."""
        self._lacking: set[str] = set()
        """Options that the CLI is too old for."""
        self._shows_past = False
        self.forks = forks
        self.cwd = cwd
        self._link = link
        self._make = make
        self.resumes = resumes
        self._begun = host_id is not None
        """There is a transcript to resume."""
        self.timeline = Timeline()
        self._chunks = Chunks(link.peer, session_id)
        self._drawing = Drawing(self.update, self.timeline, audience=link.audience, cwd=cwd, chunk=self._chunks.write)
        elicitation = link.capabilities.elicitation
        self._asking = Asking(
            link.peer,
            session_id,
            cwd=cwd,
            forms=elicitation is not None and elicitation.form is not None,
            urls=elicitation is not None and elicitation.url is not None,
            answer=self._answer,
            questions=self._answer_questions,
            judge=lambda tool, tool_input: self._editor.judge(tool, tool_input, mode=self.settings.chosen.mode),
            hosted=host is not None,
        )
        self._editor = EditorTools(
            link.peer,
            session_id,
            cwd=cwd,
            capabilities=link.capabilities if link.editor_tools else schema.ClientCapabilities(),
            show=self._drawing.show_terminal,
        )
        self._output = LiveOutput(self._task_output)
        self._prompts = EditorPromptQueue(self._send, self._interrupt, self._give_up, self._withdraw)
        self._session: Session | None = None
        self._starting: asyncio.Task[Session] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._closed = False
        self.settings = SessionSettings(self.timeline, self.session, switches=link.has_switches)
        self.settings.new = resumes is None and host_id is None

    def _named(self, host_id: str) -> None:
        """The host has made the session, and nothing of it was shown yet."""
        self.host_id = host_id
        if not self.id:
            self.id = host_id
            self._asking.session_id = self._chunks.session_id = host_id
            self._editor.name(host_id)

    def _decided_elsewhere(self, approval: Approval, tool_id: str | None) -> None:
        from .hosted import who_decided

        words = who_decided(approval)
        if words is not None:
            by, decision = approval.decided_by, (approval.decision or {}).get("decision")
            told = {"kind": by and by.kind, "name": by and by.name, "via": approval.via, "decision": decision}
            self._drawing.decided_elsewhere(words, tool_id, told)

    # The editor

    def update(self, update: schema.SessionUpdate) -> None:
        self._link.peer.notify("session/update", schema.SessionNotification(session_id=self.id, update=update))

    def tell_options(self) -> None:
        self.update(schema.SessionUpdateConfigOptionUpdate(config_options=self.settings.options()))

    def borrow(self, details: SessionDetails) -> None:
        """Tell the editor what another session in the same folder knows, until there is a process to ask."""
        if self._session is None and self._starting is None:
            self.settings.borrow(details)
            self._drawing.commands(details.commands)
            self.tell_options()

    @property
    def details_expected(self) -> bool:
        """Commands and models are known, or will be as soon as the process has started."""
        return self.settings.known or (self._starting is not None and not self._starting.done())

    async def say(self, prompt: EditorPrompt, *, steers: bool = False) -> EditorPrompt:
        """Say something and wait for the end of its turn; ``steers``: into the turn that runs, if one does."""
        return await self._prompts.say(prompt, steers=steers)

    def cancel(self) -> None:
        """Stop the turn and withdraw waiting prompts. Does nothing when idle."""
        if self.host is not None and not self._prompts.busy and self._session is not None and self._alive():
            self._stopping = asyncio.get_running_loop().create_task(_stop_turn(self._session))
        self._prompts.cancel()

    @property
    def busy(self) -> bool:
        return self._prompts.busy

    # The process

    def warm_up(self) -> None:
        """Start the process now, so that the first prompt need not wait for it."""
        self._begin_start().add_done_callback(_log_failure)

    async def session(self) -> Session:
        """The running session; started if there is none."""
        started = self._starting is None or self._starting.done()
        if started and self._alive():
            return cast("Session", self._session)
        return await asyncio.shield(self._begin_start())

    def _alive(self) -> bool:
        session = self._session
        return session is not None and not session.closed and session.exit_status is None

    def _begin_start(self) -> asyncio.Task[Session]:
        if self._starting is None or self._starting.done():
            self._starting = asyncio.get_running_loop().create_task(self._start())
        return self._starting

    async def _start(self) -> Session:
        if self._session is not None:
            await self._session.close()
            self.timeline.process_started()
        session = await self._open_adapted()
        if self._closed:
            await session.close()
            return session
        self._reading = asyncio.get_running_loop().create_task(_read_on(session))
        await self.settings.begin(session)
        self.tell_options()
        return session

    async def _open_adapted(self) -> Session:
        """Open it without what the host's token may not set, and what an older CLI lacks."""
        while True:
            try:
                return await self._open()
            except HostError as error:
                if error.code != "option_not_allowed" or self._plain:
                    raise
                self._plain = True
            except UnsupportedOptionError as error:
                if error.option not in _OPTIONAL or error.option in self._lacking:
                    raise
                self._lacking.add(error.option)

    async def _open(self) -> Session:
        options = self._options()
        if self.host is not None:
            self.host.adapt(options, plain=self._plain)
            if self._transport is not None:
                self._cursor = self._transport.cursor
            self._transport = self.host.transport(
                options,
                attach=self.host_id,
                after=self._cursor,
                on_session=self._named,
                on_decided=self._decided_elsewhere,
            )
        session = Session(options, transport=self._transport)
        session.journal.add(self)
        self._session = session
        return await session.open()

    async def take_up(self, *, shown: bool) -> None:
        """Continue a session of the host; ``shown``: the editor gets the messages so far."""
        self._shows_past = shown
        await self.session()
        transport, session = self._transport, self._session
        if transport is None or session is None:
            return
        waits = (asyncio.ensure_future(transport.caught_up.wait()), asyncio.ensure_future(transport.wait()))
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for one in waits:
            one.cancel()
        state = self.timeline.state
        if state.turn_started_at is not None:
            self._link.turn(self.id, events.TurnStarted(state.turn_started_at, state.turn))

    def _options(self) -> ClaudeAgentOptions:
        resumes = self.timeline.state.session.session_id or self.id if self._begun else self.resumes
        forks = not self._begun and self.forks
        options = self._make(
            resume=resumes,
            fork_session=forks,
            session_id=None if resumes is not None and not forks else self.id,
            can_use_tool=self._can_use_tool,
            on_elicitation=self._on_elicitation,
        )
        for name in self._lacking:
            setattr(options, name, getattr(ClaudeAgentOptions(), name))
        self.settings.add_to(options)
        self._editor.add_to(options)
        return options

    def leave(self) -> None:
        """The editor is gone: a session of a host is left to it, and open requests wait there."""
        if self.host is not None and self._session is not None and self._begun:
            self._closed = True
            self._session.detach()

    async def close(self) -> None:
        """End the process; everyone waiting for a turn learns that it was cancelled."""
        self._closed = True
        self._prompts.close()
        self._asking.withdraw_all()
        self._output.close()
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._reading is not None:
            self._reading.cancel()
        if self._session is not None:
            await self._session.close()
        if self.host is not None and self.host_id is not None and not self._begun:
            await self.host.forget(self.host_id)

    # From the journal

    def read(self, entries: Sequence[JournalEntry]) -> asyncio.Future[None] | None:
        timeline, happened, add_text = self.timeline, self._happened, self._drawing.text_added
        received, hosted, asked = timeline.received, self._transport is not None, timeline.state.asked
        for entry in entries:
            open_before = len(asked)
            if entry.direction == "out":
                found = received(entry.message, at=entry.at)
            else:
                found = timeline.sent(entry.message, at=entry.at)
            if hosted and self._is_past(entry, answers_us=len(asked) < open_before):
                self._remember(found)
            elif len(found) == 1 and type(event := found[0]) is events.TextAdded:  # nearly everything
                add_text(event)
            elif found:
                happened(found)
        return self._link.drained()

    def _is_past(self, entry: JournalEntry, *, answers_us: bool) -> bool:
        """Said before this editor came."""
        transport = self._transport
        if transport is None or transport.caught_up.is_set() or self._cursor is not None:
            return False
        return entry.direction == "out" and not answers_us

    def _remember(self, happened: list[Event]) -> None:
        if self._shows_past:
            self._drawing.history = True
            self._drawing.draw(happened)
            self._drawing.history = False
        for event in happened:
            self._keep_up(event)
            if isinstance(event, events.ModeChanged):
                self.settings.chosen.mode = event.mode

    def _keep_up(self, event: Event) -> None:
        """What counts whenever it was: which prompt is being answered, which commands run."""
        if isinstance(event, events.PromptChanged | events.TurnEnded):
            self._begun = True
            self._prompts.happened(event)
        elif isinstance(event, events.TaskStarted):
            self._output.started(event.id, event.kind)
        elif isinstance(event, events.TaskEnded):
            self._output.ended(event.id)

    def exited(self, exited: Exited, at: float) -> None:
        self._happened(self.timeline.process_ended(at=at))
        self._asking.withdraw_all()
        self._output.close()
        session = self._session
        told = session.ended_early() if session is not None else None
        self._prompts.process_ended(str(told or "Claude Code has ended"))

    def _happened(self, happened: list[Event]) -> None:
        self._drawing.draw(happened)
        for event in happened:
            act = _ACTED_ON.get(type(event))
            if act is not None:
                act(self, event)

    def _asked(self, event: Any) -> None:
        self._asking.ask(event.request)

    def _settled(self, event: events.RequestAnswered | events.RequestCancelled) -> None:
        self._asking.withdraw(event.id)

    def _turn_started(self, event: events.TurnStarted) -> None:
        self._link.turn(self.id, event)

    def _turn_ended(self, event: events.TurnEnded) -> None:
        self._link.turn(self.id, event)
        if self.settings.turn_ended():
            self.tell_options()
        self._keep_up(event)

    def _text_completed(self, event: events.TextCompleted) -> None:
        if event.error:
            self._prompts.api_failed(event.error)

    def _mode_changed(self, event: events.ModeChanged) -> None:
        self.settings.chosen.mode = event.mode
        self.tell_options()

    def _session_changed(self, event: events.SessionChanged) -> None:
        if "account" in event.changed:
            self._link.account()
        if not _SHARED.isdisjoint(event.changed):
            self._link.learned(self)
        if self._begun and not _IN_OPTIONS.isdisjoint(event.changed):
            self.tell_options()

    def _conversation_reset(self, event: events.ConversationReset) -> None:
        self.settings.new = True
        self.tell_options()

    def _elicitation_completed(self, event: events.ElicitationCompleted) -> None:
        item = self.timeline.state.items.get(event.id)
        named = item.elicitation_id if isinstance(item, Elicitation) else None
        done = schema.CompleteElicitationNotification(elicitation_id=named or event.id)
        self._link.peer.notify("elicitation/complete", done)

    # What the prompts need

    async def _send(self, prompt: EditorPrompt) -> None:
        session = await self.session()
        self._begun = True
        if self.settings.new:
            self.settings.new = False
            self.tell_options()
        await session.send(prompt.content, uuid=prompt.id)

    async def _interrupt(self, prompt: EditorPrompt) -> None:
        session = self._session
        if session is None or not self._alive():
            return
        if self.host is not None and not prompt.started and await session.cancel_prompt(prompt.id):
            prompt.end("cancelled")  # the running turn belongs to someone else
        else:
            await session.interrupt()

    async def _withdraw(self, prompt: EditorPrompt) -> bool:
        with contextlib.suppress(QuarterdeckError):  # older than the request, or gone
            if self._session is not None and self._alive():
                return await self._session.cancel_prompt(prompt.id)
        return False

    async def _give_up(self) -> None:
        """The process does not stop when asked to."""
        if self._session is not None:
            await self._session.close()

    async def _task_output(self, task_id: str) -> None:
        if self._session is not None:
            await self._session.task_output(task_id)

    # Requests from the CLI: the timeline reports them, and ``Asking`` answers, unless no person is needed

    def _can_use_tool(self, tool: str, tool_input: dict[str, Any], _: Any) -> Any:
        return self._asking.decide(tool, tool_input)

    def _on_elicitation(self, request: Any, _: Any) -> Any:
        return LATER if self._asking.can_elicit(url=request.url is not None) else {"action": "decline"}

    # What the asking needs

    def _answer(self, request_id: str, answer: Any) -> None:
        with contextlib.suppress(QuarterdeckError):  # withdrawn in the meantime, or the process is gone
            if self._session is not None:
                self._session.answer(request_id, answer)

    def _answer_questions(self, request_id: str, answers: dict[str, Any] | None) -> None:
        pending = self._session.pending() if self._session is not None else {}
        given = parse_tool_input("AskUserQuestion", getattr(pending.get(request_id), "input", {}))
        if isinstance(given, AskUserQuestionInput):
            self._answer(request_id, question_result(given, answers))
        else:
            self._answer(request_id, PermissionResultDeny(message=SKIPPED))


_ACTED_ON: dict[type[Any], Callable[[Conversation, Any], None]] = {
    events.PermissionAsked: Conversation._asked,
    events.QuestionsAsked: Conversation._asked,
    events.PlanReviewAsked: Conversation._asked,
    events.ElicitationAsked: Conversation._asked,
    events.RequestAnswered: Conversation._settled,
    events.RequestCancelled: Conversation._settled,
    events.TurnStarted: Conversation._turn_started,
    events.TurnEnded: Conversation._turn_ended,
    events.TextCompleted: Conversation._text_completed,
    events.ModeChanged: Conversation._mode_changed,
    events.SessionChanged: Conversation._session_changed,
    events.ConversationReset: Conversation._conversation_reset,
    events.ElicitationCompleted: Conversation._elicitation_completed,
    events.PromptChanged: Conversation._keep_up,
    events.TaskStarted: Conversation._keep_up,
    events.TaskEnded: Conversation._keep_up,
}
"""What is done about an event besides drawing it."""


async def _stop_turn(session: Session) -> None:
    """A turn that someone else started, if one is running: the host knows, though this side may not have
    read it yet."""
    with contextlib.suppress(QuarterdeckError):
        await session.interrupt()


async def _read_on(session: Session) -> None:
    """The journal has everything; messages queued for reading here are just discarded."""
    with contextlib.suppress(QuarterdeckError):
        async for _ in session.batches():
            pass


def _log_failure(task: asyncio.Task[Session]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("Claude Code did not start; the next prompt tries again: %s", error)
