"""``quarterdeck approvals --watch``: shows approvals one at a time and decides them by key."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarterdeck.cli.common import INTERRUPTED, OK, Look, ReportedError, cells, cut, sanitize
from quarterdeck.cli.common.table import path_end
from quarterdeck.cli.terminal.advice import Advice, SessionRules
from quarterdeck.cli.terminal.interrupts import Interrupts
from quarterdeck.cli.terminal.prompt import Subject
from quarterdeck.cli.terminal.run import check_installed
from quarterdeck.cli.terminal.screen import Screen, can_draw, terminal_screen
from quarterdeck.cli.terminal.text import safe, wrapped
from quarterdeck.cli.terminal.widgets import Menu, MenuOption, TextField
from quarterdeck.host import HostError
from quarterdeck.host.requests import Decide, Decision, ListApprovals, OfSession, Remember
from quarterdeck.host.resources import Approval, Session
from quarterdeck.timeline.items import Elicitation, Permission, PlanReview, Questions

from .answering import HostedAnswerer, elicitation_decision, questions_decision, request_of
from .connecting import HostAddress, address_of, opened, reported
from .naming import find_session
from .showing import since

if TYPE_CHECKING:
    from quarterdeck.remote import RemoteHost

NEXT = MenuOption("next", "Skip, show the next", key="j")
WHERE = [
    MenuOption("session", "In this session", key="s"),
    MenuOption("project", "In this folder", key="p"),
    MenuOption("user", "Everywhere on this host", key="u"),
]


def triage(given: argparse.Namespace) -> int:
    """Until Ctrl-C; the exit code."""
    if not can_draw() or not sys.stdin.isatty():
        raise ReportedError(
            "--watch needs a terminal", "In a script: quarterdeck approvals --json, then approve or deny."
        )
    check_installed(instead="; quarterdeck approvals, approve and deny work without it")
    return asyncio.run(watch(address_of(given), session=given.session, kinds=given.kind))


async def watch(address: HostAddress, *, session: str | None = None, kinds: Sequence[str] = ()) -> int:
    """Show what waits at this host, until the user leaves."""
    interrupts = Interrupts()
    screens: list[Screen] = []

    def say(style: str, text: str) -> None:
        for shown in screens:
            shown.say(style, text)

    with interrupts:
        try:
            async with opened(address, say) as host:
                only = None if session is None else (await find_session(host, session)).id
                request = ListApprovals(session=only, kind=list(kinds), limit=200)  # type: ignore[arg-type]
                leave = interrupts.pressed
                with terminal_screen(failed=interrupts.fail, escaped=leave, escape_key="q") as screen:
                    screens.append(screen)
                    await Triage(host, screen, on_disk=address.is_here, leave=leave).run(request)
        except asyncio.CancelledError:
            if interrupts.error is not None:
                raise interrupts.error from None
            return OK if interrupts.code == INTERRUPTED else interrupts.code  # Ctrl-C is the way out
        except HostError as error:
            raise reported(error) from error
    return OK


class Triage:
    """Shows the approval that has waited longest until it is decided, here or elsewhere; then the next."""

    def __init__(self, host: RemoteHost, screen: Screen, *, on_disk: bool, leave: Callable[[], None]) -> None:
        self._host = host
        self._leave = leave
        self._screen = screen
        self._answerer = HostedAnswerer(screen, SessionRules(None, cwd=".", mode=None), host, on_disk=on_disk)
        self._waiting: dict[str, Approval] = {}
        """By id, in the order in which they are shown."""
        self._sessions: dict[str, Session] = {}
        self._arrived = asyncio.Event()
        self._asking: tuple[str, asyncio.Task[None]] | None = None
        self._decided = 0

    async def run(self, request: ListApprovals) -> None:
        following = asyncio.ensure_future(self._follow(request))
        try:
            while not following.done():
                if not self._waiting:
                    await self._idle(following)
                    continue
                await self._ask_next()
            following.result()
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _idle(self, following: asyncio.Future[None]) -> None:
        done = f" · {self._decided} decided" if self._decided else ""
        self._screen.starting(f"no pending requests{done} · q to exit")
        self._arrived.clear()
        arriving: asyncio.Future[Any] = asyncio.ensure_future(self._arrived.wait())
        await asyncio.wait([arriving, following], return_when=asyncio.FIRST_COMPLETED)
        arriving.cancel()

    async def _follow(self, request: ListApprovals) -> None:
        async with contextlib.aclosing(self._host.watch_approvals(request)) as watched:
            async for approval in watched:
                if approval.state == "pending":
                    self._waiting.setdefault(approval.id, approval)
                    self._arrived.set()
                else:
                    self._gone(approval)
                self._screen.changed()

    def _gone(self, approval: Approval) -> None:
        """Someone decided it, or the CLI withdrew it."""
        if self._waiting.pop(approval.id, None) is None:
            return
        if self._asking is not None and self._asking[0] == approval.id:
            by = approval.decided_by
            word = (approval.decision or {}).get("decision", approval.state)
            who = "" if by is None else f" by {by.name or by.kind}"
            self._screen.say("dim", f"{word}{who}: {sanitize(approval.summary, one_line=True)}")
            self._asking[1].cancel()

    async def _ask_next(self) -> None:
        approval = next(iter(self._waiting.values()))
        task = asyncio.ensure_future(self._ask(approval))
        self._asking = approval.id, task
        try:
            await asyncio.wait([task])
        finally:
            self._asking = None
            task.cancel()
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error

    async def _ask(self, approval: Approval) -> None:
        session = await self._session(approval.session_id)
        self._answerer.folder = session.cwd
        decision = await self._decision(approval, session)
        if decision is None:  # to the end of the row
            if (left := self._waiting.pop(approval.id, None)) is not None:
                self._waiting[approval.id] = left
            return
        self._waiting.pop(approval.id, None)
        try:
            await self._host.decide(Decide(approval_id=approval.id, decision=decision))
        except HostError as error:
            self._screen.say("yellow", str(error))
            return
        self._decided += 1
        style, word = ("green", "allowed") if decision.decision == "allow" else ("red", "denied")
        word = "answered" if decision.answers is not None else word
        self._screen.say(style, f"{word}  {session.name or session.id[:8]}: {approval.summary}")

    async def _session(self, session_id: str) -> Session:
        if session_id not in self._sessions:
            self._sessions[session_id] = await self._host.get_session(OfSession(session_id=session_id))
        return self._sessions[session_id]

    # Questions of each kind. None: leave it for now.

    async def _decision(self, approval: Approval, session: Session) -> Decision | None:
        asked = request_of(approval)
        if isinstance(asked, Permission):
            advice, inner = await self._answerer.prepared(asked, "")
        else:
            advice, inner = None, _plain_subject(approval, self._screen)
        subject = self._headed(inner, approval, session)
        async with self._screen.questions.turn():
            if isinstance(asked, Permission) and advice is not None:
                return await self._permission(asked, advice, subject)
            if isinstance(asked, PlanReview):
                return await self._plan(subject)
            answerable = isinstance(asked, Questions | Elicitation)
            options = [MenuOption("yes", "Answer", key="y")] if answerable else []
            chosen = await self._choose(subject, [*options, _no("Skip"), NEXT])
        if chosen == "yes" and isinstance(asked, Questions):
            return questions_decision(await self._answerer.questions(asked))
        if chosen == "yes" and isinstance(asked, Elicitation):
            return elicitation_decision(await self._answerer.elicitation(asked))
        return None if chosen == "next" else Decision(decision="deny")

    async def _permission(self, asked: Permission, advice: Advice, subject: Subject) -> Decision | None:
        rule = str(advice.rules[0]) if advice.rules else ""
        options = [
            MenuOption("yes", "Allow once", key="y"),
            *([MenuOption("always", "Always allow this …", rule, key="a")] if rule else ()),
            MenuOption("edit", "Edit, then allow", key="e"),
            _no("Deny"),
            MenuOption("note", "Deny with a note", key="m"),
            NEXT,
        ]
        while True:
            match await self._choose(subject, options, at=3 if asked.default_to_no else 0):
                case "yes":
                    return Decision(decision="allow")
                case "no":
                    return Decision(decision="deny")
                case "next":
                    return None
                case "always":
                    scope: Any = await self._choose(subject, WHERE, escape=None)
                    if scope is not None:
                        return Decision(decision="allow", remember=Remember(rule=rule, scope=scope))
                case "edit":
                    changed = await self._answerer.edited(asked, subject)
                    if changed is not None:
                        return Decision(decision="allow", updated_input=changed)
                case "note":
                    said = await self._answerer.ask(subject, TextField("Tell Claude why, or what to do instead:"))
                    if said is not None:
                        return Decision(decision="deny", message=said.strip() or None)

    async def _plan(self, subject: Subject) -> Decision | None:
        options = [
            MenuOption("yes", "Approve", "ask before each edit", key="y"),
            MenuOption("accept", "Approve and accept edits", "mode acceptEdits", key="a"),
            MenuOption("revise", "Revise with a note", key="e"),
            _no("Reject"),
            NEXT,
        ]
        while True:
            match await self._choose(subject, options):
                case "yes":
                    return Decision(decision="allow", plan="approve")
                case "accept":
                    return Decision(decision="allow", plan="approve", mode="acceptEdits")
                case "no":
                    return Decision(decision="deny", plan="reject")
                case "next":
                    return None
            note = await self._answerer.ask(subject, TextField("What should change?"))
            if note is not None and note.strip():
                return Decision(decision="deny", plan="revise", message=note.strip())

    async def _choose(
        self, subject: Subject, options: Sequence[MenuOption], *, at: int = 0, escape: object = "escape"
    ) -> object:
        """``q`` is always a way out. Esc skips to the next request, and quits if there is no other."""
        shown = [*options, MenuOption("quit", "Quit", key="q")]
        chosen = await self._answerer.ask(subject, Menu("", shown, on_escape=escape, at=at))
        if chosen == "escape":
            chosen = "next" if len(self._waiting) > 1 else "quit"
        if chosen == "quit":
            self._leave()
            await asyncio.Event().wait()  # until we are cancelled
        return chosen

    def _headed(self, inner: Subject, approval: Approval, session: Session) -> Subject:
        """With the session that asks, how long it has waited, and how many more wait."""

        def head(look: Look) -> list[str]:
            name = sanitize(session.name or session.id[:8], one_line=True)
            others = len(self._waiting) - 1
            more = f" · {others} more" if others > 0 else ""
            head = f"{name} · waiting {since(approval.asked_at)}{more} · "
            where = path_end(session.cwd, max(look.width - cells(head), 0), home=str(Path.home()))
            return [look.paint("dim", cut(f"{head}{where}", look.width))]

        return _Headed(inner.title, inner.body, inner.compact, inner.notes, head=head)


@dataclass(slots=True)
class _Headed(Subject):
    """With lines above the title that change while one looks at them."""

    head: Callable[[Look], list[str]] = lambda _: []

    def part(self, name: str, look: Look) -> Sequence[str]:
        shown = Subject.part(self, name, look)
        return [*self.head(look), *shown] if name == "title" else shown


def _no(label: str) -> MenuOption:
    return MenuOption("no", label, key="n")


def _plain_subject(approval: Approval, screen: Screen) -> Subject:
    """A question, a plan, a form."""

    def title(look: Look) -> list[str]:
        lines = wrapped(safe(f"? {approval.summary or approval.kind}"), look.width)
        return [look.paint("bold magenta", line) for line in lines]

    return Subject(title, lambda look: screen.markdown(approval.plan) if approval.plan else [])
