"""A session with a store: resumed from it, mirrored to it, failures reported as messages."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Sequence

from quarterdeck.client.journal import JournalEntry, JournalReader
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.transcripts.places import projects_dir
from quarterdeck.client.validate import validate_options
from quarterdeck.wire import Message, MirrorErrorMessage, TranscriptMirrorMessage

from .mirror import TranscriptMirror
from .protocol import SessionKey, SessionStore
from .resume import ResumedHome, options_from_store

Show = Callable[[list[Message], int], None]


class StoredSession(JournalReader):
    """Made before the CLI starts, ended after it ends."""

    def __init__(
        self,
        store: SessionStore,
        options: ClaudeAgentOptions,
        home: ResumedHome | None,
        errors: deque[MirrorErrorMessage],
    ) -> None:
        self.options = options
        """To start the CLI with."""
        self._home = home
        self._errors = errors
        self._show: Show | None = None
        self._flushing = False
        self._unshown: list[MirrorErrorMessage] = []
        folder = projects_dir(options.env)
        self._mirror = TranscriptMirror(
            store, folder, on_error=self._failed, eager=options.session_store_flush == "eager"
        )

    @classmethod
    async def begin(
        cls, options: ClaudeAgentOptions, store: SessionStore, errors: deque[MirrorErrorMessage], *, starts_cli: bool
    ) -> StoredSession:
        """Load the session to resume from the store. Raises ``SessionStoreError``."""
        home = None
        if starts_cli:
            options = validate_options(options)  # before a store is asked for what will not be used
            options, home = await options_from_store(options)
        return cls(store, options, home, errors)

    def show_errors(self, show: Show) -> None:
        """Where a ``MirrorErrorMessage`` goes besides the list."""
        self._show = show

    def read(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            if isinstance(entry.message, TranscriptMirrorMessage):
                self._mirror.take(entry.message)

    async def flush(self) -> list[MirrorErrorMessage]:
        """Wait until the store is up to date. Returns what it failed at meanwhile, to be shown before the result."""
        self._flushing = True
        try:
            await self._mirror.flush()
        finally:
            self._flushing = False
        unshown, self._unshown = self._unshown, []
        return unshown

    async def end(self) -> None:
        """Store the rest and remove the temporary folder."""
        try:
            await self._mirror.close()
        finally:
            self.discard()

    def discard(self) -> None:
        if self._home is not None:
            self._home.remove()

    def _failed(self, key: SessionKey | None, error: str) -> None:
        session_id = "" if key is None else key["session_id"]
        named = None if key is None else {**key}
        message = MirrorErrorMessage(key=named, error=error, uuid=str(uuid.uuid4()), session_id=session_id)
        self._errors.append(message)
        if self._flushing:
            self._unshown.append(message)
        elif self._show is not None:
            self._show([message], len(error) + 300)
