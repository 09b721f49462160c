"""Pieces of text on their way to the editor.

They are nearly everything that is written, and all pieces of a block differ in their text alone. So the line around it
is encoded once per block, from the same structs as every other update.
"""

from __future__ import annotations

import msgspec

from . import jsonrpc, schema
from .peer import Peer

Kind = type[schema.SessionUpdateAgentMessageChunk] | type[schema.SessionUpdateAgentThoughtChunk]

_MARK = "\x00"
_encode = msgspec.json.Encoder().encode


def update(kind: Kind, text: str, message_id: str | None) -> schema.SessionUpdate:
    return kind(content=schema.ContentBlockText(text=text), message_id=message_id)


class Chunks:
    """Writes them for one session."""

    def __init__(self, peer: Peer, session_id: str) -> None:
        self.session_id = session_id
        self._peer = peer
        self._kind: Kind | None = None
        self._message_id: str | None = None
        self._before = self._after = b""

    def write(self, kind: Kind, text: str, message_id: str | None) -> None:
        if message_id != self._message_id or kind is not self._kind:
            self._begin(kind, message_id)
        peer = self._peer
        if peer.dialect is None:
            try:
                peer.write_line(self._before + _encode(text) + self._after)
            except UnicodeEncodeError:  # a lone surrogate
                pass
            else:
                return
        told = schema.SessionNotification(session_id=self.session_id, update=update(kind, text, message_id))
        peer.notify("session/update", told)

    def _begin(self, kind: Kind, message_id: str | None) -> None:
        self._kind, self._message_id = kind, message_id
        told = schema.SessionNotification(session_id=self.session_id, update=update(kind, _MARK, message_id))
        line = jsonrpc.notification("session/update", told)
        self._before, _, self._after = line.partition(_encode(_MARK))
