"""Retries a prompt if the model is overloaded or the CLI died: a limited number of times, and each retry is announced.

>>> from quarterdeck import ClaudeAgentOptions
>>> options = ClaudeAgentOptions(retry=Retry(attempts=3, fallback_models=("haiku",)))

A failed turn's effects remain, so a prompt is sent again only when no tool ran that could have changed
something. Otherwise the next process resumes the conversation and is asked to continue from there. If a tool was cut
off, its effects are unknown, and the retry is refused unless the program allows it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from quarterdeck.wire import AssistantMessage, Message, ResultMessage, ToolResultBlock, ToolUseBlock, UserMessage

from .errors import ProcessError, QuarterdeckError, ResultError, TransportClosed
from .options import ClaudeAgentOptions
from .turn import Turn

if TYPE_CHECKING:
    from .session import Session

logger = logging.getLogger("quarterdeck")

FailureKind: TypeAlias = Literal["overload", "rate_limit", "exit"]
AfterTools: TypeAlias = Literal["refuse", "finished", "always"]
KINDS: tuple[FailureKind, ...] = ("overload", "rate_limit", "exit")
HARMLESS = frozenset({"Read", "Glob", "Grep", "LS", "NotebookRead", "ToolSearch", "TodoWrite"})
"""Tools of the CLI that change nothing outside the conversation."""
BACKOFF_MAX_S = 60.0
_RATE_LIMITED = 429
_STATUS = re.compile(r"API Error:\D{0,40}([45]\d\d)\b")
"""For CLIs before 2.1.325, which report the status only as text."""

CONTINUE = (
    "The previous turn was interrupted: {reason}. These tools had already run: {tools}.{unfinished} Do not repeat "
    "what was done. Check the current state where it is uncertain, and finish the task."
)
_UNFINISHED = " It is unknown whether these finished, or what they did: {tools}."


@dataclasses.dataclass(frozen=True, kw_only=True)
class Retry:
    """When and how often a prompt is tried again. For ``ClaudeAgentOptions(retry=…)``, or for a single prompt."""

    attempts: int = 3
    """How many attempts in all, the first included."""
    on: tuple[FailureKind, ...] = ("overload", "exit")
    """``overload``: the API returns 529 or another 5xx, after the CLI's own retries; ``rate_limit``: it returns 429;
    ``exit``: the CLI ended in the middle of the turn."""
    backoff_s: float | Callable[[int], float] = 1.0
    """The wait before the second attempt, doubled for each further one, up to a minute; or a function of the number of
    failed attempts."""
    after_tools: AfterTools = "finished"
    """If tools ran in the failed turn: ``finished`` continues if every tool has a result and raises ``RetryRefused`` if
    not; ``always`` continues in any case; ``refuse`` never does."""
    harmless_tools: frozenset[str] = HARMLESS
    """Tools that do not count: they may run again."""
    fallback_models: tuple[str, ...] = ()
    """Models to switch to, one after another; the session keeps the last one."""
    fallback_after: int = 2
    """How many overloads in one turn lead to the next fallback model."""
    on_notice: Callable[[RetryNotice], None] | None = None
    """Also called with each notice, for programs that only await the result."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.fallback_after < 1:
            raise ValueError("Retry takes attempts and fallback_after of at least 1")
        if unknown := [kind for kind in self.on if kind not in KINDS]:
            raise ValueError(f"Retry(on=…) takes {', '.join(KINDS)}, not {unknown[0]!r}")
        if self.after_tools not in ("refuse", "finished", "always"):
            raise ValueError(f"Retry(after_tools=…) takes refuse, finished or always, not {self.after_tools!r}")

    def wait_s(self, failed: int) -> float:
        """How long to wait after that many failed attempts."""
        if callable(self.backoff_s):
            return self.backoff_s(failed)
        return float(min(self.backoff_s * 2 ** min(failed - 1, 16), BACKOFF_MAX_S))


class RetryNotice(Message, kw_only=True):
    """A turn has failed and is about to be retried. Replaces the result of the failed attempt."""

    kind: str
    """``overload``, ``rate_limit`` or ``exit``."""
    reason: str
    attempt: int
    """The number of the attempt that starts now; the first was 1."""
    attempts: int
    wait_s: float
    action: str
    """``resend``: the prompt again; ``continue``: a prompt that lists what ran and asks the model to continue."""
    tools: tuple[str, ...] = ()
    """The tools that ran in the failed attempts, except harmless ones."""
    unfinished: tuple[str, ...] = ()
    """Those of them that have no result."""
    model: str | None = None
    """The model that the session switches to; None when it keeps its model."""
    session_id: str | None = None
    result: ResultMessage | None = None
    """The result of the failed attempt; None when the CLI died."""


class RetryRefused(QuarterdeckError):  # noqa: N818  # says what happened
    """A turn failed, and trying it again could do something twice. The failure itself is ``__cause__``."""

    def __init__(
        self, reason: str, tools: tuple[str, ...], unfinished: tuple[str, ...], session_id: str | None
    ) -> None:
        super().__init__(reason, tools, unfinished, session_id)
        self.reason = reason
        self.tools = tools
        self.unfinished = unfinished
        self.session_id = session_id

    def __str__(self) -> str:
        cut = f" (without a result: {', '.join(self.unfinished)})" if self.unfinished else ""
        return (
            f"the turn failed ({self.reason}) after tools had run: {', '.join(self.tools)}{cut}. It was not retried. "
            f"Check what they did, then resume session {self.session_id}, or allow retries with "
            "Retry(after_tools=…)."
        )


class _Ran:
    """The tools of one turn, over all its tries."""

    def __init__(self, harmless: frozenset[str]) -> None:
        self._harmless = harmless
        self._names: dict[str, str] = {}
        self._open: set[str] = set()

    def see(self, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            for block in message.content:
                if isinstance(block, ToolUseBlock) and block.name not in self._harmless:
                    self._names[block.id] = block.name
                    self._open.add(block.id)
        elif isinstance(message, UserMessage) and not isinstance(message.content, str):
            self._open -= {block.tool_use_id for block in message.content if isinstance(block, ToolResultBlock)}

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(self._names.values())

    @property
    def unfinished(self) -> tuple[str, ...]:
        return tuple(name for call, name in self._names.items() if call in self._open)


class RetryingTurn(Turn):
    """A turn that may take several attempts. Its reader sees one turn: notices in between, one result at the end."""

    def __init__(self, session: Session, line: Mapping[str, Any], retry: Retry) -> None:
        super().__init__(session, line)
        self._retry = retry
        self._prompt = line
        self._ran = _Ran(retry.harmless_tools)
        self._next: RetryNotice | None = None
        self._overloads = 0
        self._models = list(retry.fallback_models)
        self._nothing_said = True
        self.attempt = 1
        """The number of the running attempt."""

    async def send(self) -> str:
        if self.prompt_id is None and self.attempt == 1:
            self._nothing_said = self._session.last_result is None
        return await super().send()

    async def __anext__(self) -> Message:
        try:
            if self._next is not None:
                await self._try_again(self._next)
            message = await super().__anext__()
        except (ProcessError, TransportClosed) as error:
            return self._announce("exit", error, None)
        self._ran.see(message)
        if self.result is not None and (kind := failure_kind(self.result)) is not None:
            failed = self.result
            if self._may(kind):
                self.result = None
                return self._announce(kind, ResultError.of(failed), failed)
        return message

    def _may(self, kind: FailureKind) -> bool:
        return kind in self._retry.on and self.attempt < self._retry.attempts

    def _announce(self, kind: FailureKind, error: Exception, result: ResultMessage | None) -> RetryNotice:
        """The notice of the next attempt. Raises the failure when there is none."""
        if not self._may(kind) or self._session.closed or (kind == "exit" and self._is_lost()):
            raise error
        ran, retry, session_id = self._ran, self._retry, self._session.session_id
        reason = str(error).splitlines()[0]
        if ran.tools and (retry.after_tools == "refuse" or (ran.unfinished and retry.after_tools == "finished")):
            raise RetryRefused(reason, ran.tools, ran.unfinished, session_id) from error
        self._overloads += kind == "overload"
        over = kind == "overload" and self._models and self._overloads % retry.fallback_after == 0
        notice = RetryNotice(
            kind=kind,
            reason=reason,
            attempt=self.attempt + 1,
            attempts=retry.attempts,
            wait_s=retry.wait_s(self.attempt),
            action="continue" if ran.tools else "resend",
            tools=ran.tools,
            unfinished=ran.unfinished,
            model=self._models.pop(0) if over else None,
            session_id=session_id,
            result=result,
        )
        logger.warning("Retrying a prompt (%d of %d): %s", notice.attempt, notice.attempts, reason)
        if retry.on_notice is not None:
            retry.on_notice(notice)
        self._next = notice
        return notice

    def _is_lost(self) -> bool:
        """Did the conversation end with its process?"""
        return not self._session.options.persist_session and not self._starts_anew()

    def _starts_anew(self) -> bool:
        """Nothing happened before, so the next CLI starts a new session instead of resuming a half-written one."""
        return self._nothing_said and not self._ran.tools and not self._session.options.session_id

    async def _try_again(self, notice: RetryNotice) -> None:
        await self._retry.sleep(notice.wait_s)
        self._next = None
        self.attempt = notice.attempt
        if notice.kind == "exit":
            await self._session.reopen(self._resuming(notice))
        if notice.model is not None:
            await self._session.set_model(notice.model)
        self._line = self._line_for(notice)
        self.prompt_id = None

    def _resuming(self, notice: RetryNotice) -> ClaudeAgentOptions:
        options = self._session.options
        if notice.session_id is None or self._starts_anew():
            return options
        return dataclasses.replace(
            options,
            resume=notice.session_id,
            continue_conversation=False,
            session_id=None,
            fork_session=False,
            resume_session_at=None,
            resume_drops_turn=None,
        )

    def _line_for(self, notice: RetryNotice) -> Mapping[str, Any]:
        """The prompt, or one that asks to continue; without the old uuid, because a CLI accepts each uuid only once."""
        line = {name: value for name, value in self._prompt.items() if name != "uuid"}
        if notice.action == "resend":
            return line
        unfinished = _UNFINISHED.format(tools=", ".join(notice.unfinished)) if notice.unfinished else ""
        text = CONTINUE.format(reason=notice.reason, tools=", ".join(notice.tools), unfinished=unfinished)
        return {**line, "message": {"role": "user", "content": text}}


def failure_kind(result: ResultMessage) -> FailureKind | None:
    """The temporary failure that a result reports, if any."""
    if not result.failed:
        return None
    status = result.api_error_status
    if status is None and (found := _STATUS.search(result.result or "")):
        status = int(found[1])
    if status == _RATE_LIMITED:
        return "rate_limit"
    return "overload" if status is not None and status >= 500 else None
