"""Every recorded conversation, drawn: nothing breaks, nothing is wider than the terminal, no escape gets through."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from quarterdeck.cli.terminal.markdown import MarkdownPainter
from quarterdeck.cli.terminal.painter import Painter, plain_markdown
from quarterdeck.cli.terminal.surface import PlainSurface, TerminalSurface
from quarterdeck.cli.terminal.text import painted_cells
from quarterdeck.testing.recording import Recording, load
from quarterdeck.timeline import Timeline
from quarterdeck.wire import decode

FOLDER = Path(__file__).parent.parent / "conversations"
RECORDINGS = sorted(FOLDER.glob("*/*.ndjson"))
OURS = re.compile(r"\x1b\[(\?(25|7|2026|2004)[hl]|[0-9;]*[mABCK]|J)")
COLUMNS = 60


def played(recording: Recording, painter: Painter, timeline: Timeline) -> None:
    """All messages in their order; a frame after each."""
    for entry in recording.entries:
        if entry.direction == "err" or entry.eof:
            continue
        message = decode(entry.line)
        fold = timeline.received if entry.direction == "out" else timeline.sent
        painter.show(fold(message, at=entry.t))
        painter.draw(entry.t)
    painter.draw(recording.entries[-1].t if recording.entries else 0.0, final=True)


@pytest.mark.parametrize("version", sorted({path.parent.name for path in RECORDINGS}))
def test_every_conversation_can_be_drawn(version: str, tmp_path: Path) -> None:
    out = tmp_path / "screen"
    for path in (path for path in RECORDINGS if path.parent.name == version):
        descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            timeline = Timeline()
            surface = TerminalSurface(descriptor, size=lambda: os.terminal_size((COLUMNS, 20)))
            painter = Painter(surface, timeline.state, colour=True, draw=MarkdownPainter(colour=True).lines)
            played(load(path), painter, timeline)
            surface.close()
        finally:
            os.close(descriptor)
        text = out.read_text()
        rest = OURS.sub("", text)
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", rest), path
        wide = [line for line in re.split(r"[\r\n]+", rest) if painted_cells(line) >= COLUMNS]
        assert wide == [], path


def test_finished_lines_are_the_same_with_and_without_frames_in_between() -> None:
    """What is drawn meanwhile does not change what is drawn in the end."""
    for path in (FOLDER / "2.1.325").glob("*.ndjson"):
        drawn: list[list[str]] = []
        for frames in (True, False):
            timeline, written = Timeline(), []
            surface = PlainSurface(written.append, width=80)
            painter = Painter(surface, timeline.state, colour=False, draw=plain_markdown)
            recording = load(path)
            for entry in recording.entries:
                if entry.direction != "err" and not entry.eof:
                    fold = timeline.received if entry.direction == "out" else timeline.sent
                    painter.show(fold(decode(entry.line), at=entry.t))
                    if frames:
                        painter.draw(entry.t)
            painter.draw(0.0, final=True)
            drawn.append("".join(written).splitlines())
        assert drawn[0] == drawn[1], path
