"""Which messages ``query`` and ``ClaudeSDKClient`` yield: those that the official SDK does, as its classes.

That SDK has one class for most ``system`` lines, skips types it does not know (what becomes of queued prompts, progress
of tools, suggestions …) and lines that are not JSON. ``Session`` yields all of them, each as its own class.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from quarterdeck.wire import (
    AssistantMessage,
    BadLine,
    ConversationResetMessage,
    HookEventMessage,
    HookResponseMessage,
    HookStartedMessage,
    Message,
    MirrorErrorMessage,
    RateLimitEvent,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TaskNotificationMessage,
    TaskProgressMessage,
    TaskStartedMessage,
    TaskUpdatedMessage,
    UnknownMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from .session import Session

logger = logging.getLogger(__name__)

_AS_IT_IS: frozenset[type[Message]] = frozenset(
    {
        AssistantMessage,
        ConversationResetMessage,
        HookEventMessage,
        MirrorErrorMessage,
        RateLimitEvent,
        ResultMessage,
        StreamEvent,
        SystemMessage,
        TaskNotificationMessage,
        TaskProgressMessage,
        TaskStartedMessage,
        TaskUpdatedMessage,
        UserMessage,
    }
)
_KNOWN_TYPES = frozenset({"assistant", "user", "system", "result", "stream_event", "rate_limit_event"})


async def official_messages(session: Session) -> AsyncGenerator[Message, None]:
    """All messages until the session ends. Stopping early loses nothing."""
    while True:
        for message in session._ready:
            shown = official_message(message)
            if shown is not None:
                yield shown
        if not await session._fill():
            return


def official_message(message: Message) -> Message | None:
    """The message as the official SDK yields it; None if it does not."""
    kind = type(message)
    if kind in _AS_IT_IS:
        return message
    if kind is HookStartedMessage or kind is HookResponseMessage:
        return _as(message, HookEventMessage)
    if isinstance(message, SystemMessage):
        return _as(message, SystemMessage)
    if isinstance(message, UnknownMessage) and message.type in _KNOWN_TYPES:
        return message  # of a known type but an odd shape: too important to be dropped in silence
    if isinstance(message, BadLine):
        logger.warning("Claude Code wrote a line that is not a message (%s): %r", message.reason, message.head)
    return None


def _as(message: Message, cls: type[SystemMessage]) -> SystemMessage:
    """The same line as another class."""
    fields = {name: getattr(message, name) for name in cls.__struct_fields__}
    return cls.plainly_built(**fields)  # type: ignore[no-any-return]
