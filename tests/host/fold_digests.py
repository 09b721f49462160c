"""What the fold makes of each recording, as a digest: ``PYTHONPATH=tests python -m host.fold_digests`` writes them.

Cursors stay valid over an upgrade only if the same rows give the same frames. So a change of these digests needs a new
``FOLD_VERSION``, under which they are then kept.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from conversations import Recording, all_recordings
from quarterdeck.host.folding import FOLD_VERSION, FrameFold, is_preview
from quarterdeck.store.records import NewRow
from quarterdeck.timeline import encode
from quarterdeck.wire import decode

PATH = Path(__file__).with_name("fold-digests.json")


def digest(recording: Recording) -> str:
    """Of the events of every frame."""
    fold, folded = FrameFold(), hashlib.sha256()
    for entry in recording.entries:
        if entry.eof or not entry.line.strip():
            continue
        kind = "received" if entry.direction == "out" else "sent"
        if kind == "received" and is_preview(decode(entry.line)):
            continue
        row = NewRow(at=entry.t, kind=kind, origin="agent", body=entry.line)  # type: ignore[arg-type]
        for event in fold.events(row):
            folded.update(encode(event))
    return folded.hexdigest()[:16]


def digests() -> dict[str, str]:
    return {recording.id: digest(recording) for recording in all_recordings()}


if __name__ == "__main__":
    PATH.write_text(json.dumps({"fold_version": FOLD_VERSION, "recordings": digests()}, indent=1) + "\n")
