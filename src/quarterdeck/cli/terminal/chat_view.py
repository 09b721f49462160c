"""The terminal of ``quarterdeck chat``: the painter's lines above an input line, with ``prompt_toolkit``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.data_structures import Point, Size
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    ConditionalContainer,
    Float,
    FloatContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from .surface import BEGIN_FRAME, END_FRAME
from .text import painted_cut

INPUT_ROWS = 8
"""How far the input line may grow."""
COMPLETION_ROWS = 6
ESCAPE_S = 0.1
_KEYS: dict[str, str] = {
    Keys.Up: "up",
    Keys.Down: "down",
    Keys.Left: "left",
    Keys.Right: "right",
    Keys.Home: "home",
    Keys.End: "end",
    Keys.Delete: "delete",
    Keys.ControlM: "enter",
    Keys.ControlJ: "ctrl-j",
    Keys.ControlI: "tab",
    Keys.BackTab: "shift-tab",
    Keys.ControlH: "backspace",
    Keys.Escape: "escape",
    Keys.ControlA: "ctrl-a",
    Keys.ControlE: "ctrl-e",
    Keys.ControlK: "ctrl-k",
    Keys.ControlN: "ctrl-n",
    Keys.ControlP: "ctrl-p",
    Keys.ControlU: "ctrl-u",
    Keys.ControlW: "ctrl-w",
}


class _FrameOutput(Vt100_Output):
    """Combines several writes into one, against flicker."""

    held = False

    def flush(self) -> None:
        if not self.held:
            super().flush()


class ChatView:
    """A ``Surface`` with an input line below it."""

    def __init__(self, *, colour: bool, completer: Completer, history: History) -> None:
        self._pending: list[str] = []
        self._live: list[str] = []
        self._cursor: tuple[int, int] | None = None
        self.on_key: Callable[[str], None] = lambda name: None
        self.on_said: Callable[[str], None] = lambda text: None
        self.on_stop: Callable[[], None] = lambda: None
        self.status: Callable[[], str] = lambda: ""
        self.asking: Callable[[], bool] = lambda: False
        self._output = _FrameOutput(sys.stdout, _terminal_size, term=os.environ.get("TERM"), enable_cpr=False)
        self.buffer = Buffer(
            multiline=True,
            completer=completer,
            complete_while_typing=True,
            history=history,
            accept_handler=self._accept,
        )
        self._shown = Window(
            FormattedTextControl(
                self._live_text, focusable=True, show_cursor=True, get_cursor_position=self._live_cursor
            ),
            dont_extend_height=True,
            wrap_lines=False,
        )
        self._input = Window(
            BufferControl(self.buffer, input_processors=[BeforeInput("› ", style="bold")]),
            height=self._input_height,
            dont_extend_height=True,
            wrap_lines=True,
        )
        self.app: Application[int] = Application(
            layout=self._layout(),
            key_bindings=self._bindings(),
            output=self._output,
            color_depth=ColorDepth.DEPTH_4_BIT if colour else ColorDepth.DEPTH_1_BIT,
            erase_when_done=True,
            full_screen=False,
        )
        self.app.ttimeoutlen = self.app.timeoutlen = ESCAPE_S

    def _layout(self) -> Layout:
        writing = Condition(lambda: not self.asking())
        status = Window(FormattedTextControl(lambda: ANSI(self.status())), height=1, dont_extend_height=True)
        body = HSplit([self._shown, ConditionalContainer(self._input, writing), status])
        menu = Float(xcursor=True, ycursor=True, content=CompletionsMenu(max_height=COMPLETION_ROWS, scroll_offset=1))
        return Layout(FloatContainer(body, floats=[menu]), focused_element=self._input)

    def _input_height(self) -> Dimension:
        """With room for completions below it, if there are any."""
        least = COMPLETION_ROWS + 1 if self.buffer.complete_state is not None else 1
        return Dimension(min=least, max=max(INPUT_ROWS, least))

    # The surface

    @property
    def width(self) -> int:
        return max(self._output.get_size().columns - 1, 20)

    @property
    def height(self) -> int:
        return max(self._output.get_size().rows - INPUT_ROWS - 2, 4)

    def commit(self, lines: Sequence[str]) -> None:
        self._pending += lines

    def live(self, lines: Sequence[str], cursor: tuple[int, int] | None = None) -> None:
        room = self.height if not self.asking() else self.height + INPUT_ROWS
        hidden = max(0, len(lines) - room)
        self._live = [painted_cut(line, self.width) for line in lines[hidden:]]
        self._cursor = (cursor[0] - hidden, cursor[1]) if cursor and cursor[0] >= hidden else None

    def flush(self) -> None:
        """One frame in one write: erase the live part, print finished lines, redraw."""
        if not self.app.is_running:
            return
        self.app.layout.focus(self._shown if self.asking() else self._input)
        self._output.held = True
        try:
            if self._pending:
                self._output.write_raw(BEGIN_FRAME)
                self.app.renderer.erase(leave_alternate_screen=False)
                self._output.write_raw(self._finished())
            self.app._redraw()
            self._output.write_raw(END_FRAME)
        finally:
            self._output.held = False
        self._output.flush()

    def _finished(self) -> str:
        lines, self._pending = self._pending, []
        return "".join(f"{line}\x1b[0m\r\n" for line in lines)

    def drain(self) -> None:
        """Print finished lines that were not shown before the end."""
        sys.stdout.write(self._finished().replace("\r\n", "\n"))
        sys.stdout.flush()

    def _live_text(self) -> ANSI:
        return ANSI("\n".join(self._live))

    def _live_cursor(self) -> Point:
        row, column = self._cursor or (max(len(self._live) - 1, 0), 0)
        return Point(x=column, y=row)

    # Keys

    def _accept(self, buffer: Buffer) -> bool:
        text = buffer.text.strip("\n")
        if text.strip():
            self.on_said(text)
        return False  # clear the input line

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        asking = Condition(lambda: self.asking())

        @bindings.add("<any>", filter=asking)
        def _(event: KeyPressEvent) -> None:
            press = event.key_sequence[0]
            if press.key == Keys.BracketedPaste:
                self.on_key("paste:" + press.data.replace("\r\n", "\n").replace("\r", "\n"))
            else:
                name = _KEYS.get(press.key, press.key)
                self.on_key(str(getattr(name, "value", name)))

        for key, name in _KEYS.items():
            bindings.add(key, filter=asking)(lambda event, name=name: self.on_key(name))
        bindings.add("escape", "enter", filter=asking)(lambda event: self.on_key("alt-enter"))
        bindings.add("enter", filter=~asking)(lambda event: self._enter())
        bindings.add("escape", "enter", filter=~asking)(lambda event: self.buffer.insert_text("\n"))
        bindings.add("c-j", filter=~asking)(lambda event: self.buffer.insert_text("\n"))
        bindings.add("c-c")(lambda event: self._stop())
        bindings.add("c-d", filter=Condition(lambda: not self.asking() and not self.buffer.text))(
            lambda event: event.app.exit(result=0)
        )
        return bindings

    def _enter(self) -> None:
        state = self.buffer.complete_state
        if state is not None and state.current_completion is not None:
            self.buffer.apply_completion(state.current_completion)
            return
        self.buffer.validate_and_handle()

    def _stop(self) -> None:
        if self.buffer.text and not self.asking():
            self.buffer.reset()
        else:
            self.on_stop()


def _terminal_size() -> Size:
    found = os.get_terminal_size(sys.stdout.fileno())
    return Size(rows=found.lines or 24, columns=found.columns or 80)


def history_in(folder: Path) -> History:
    """Earlier prompts, in a file that only the user can read."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / "chat_history"
        path.touch(mode=0o600)
        path.chmod(0o600)
    except OSError:  # chat works without a writable home
        return InMemoryHistory()
    return FileHistory(str(path))


def state_folder() -> Path:
    """The XDG state folder."""
    given = os.environ.get("XDG_STATE_HOME")
    return (Path(given) if given else Path.home() / ".local" / "state") / "quarterdeck"
