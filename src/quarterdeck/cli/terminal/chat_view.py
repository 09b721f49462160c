"""The terminal of ``quarterdeck chat``: the painter's lines above an input line, with ``prompt_toolkit``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.data_structures import Point, Size
from prompt_toolkit.filters import Condition, has_completions, is_searching
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
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from quarterdeck.cli.common.look import has_true_colour

from .question_queue import TYPING_S
from .surface import BEGIN_FRAME, END_FRAME
from .text import painted_cut

INPUT_ROWS = 8
"""How far the input line may grow."""
COMPLETION_ROWS = 8
"""Room for our commands, and below them for the line that says that there are more."""
ESCAPE_S = 0.1
MENU_STYLES = {
    "completion-menu": "bg:#e4e4e4 #000000",
    "completion-menu.completion.current": "noreverse bg:#005faf #ffffff",
    "completion-menu.meta.completion": "bg:#d0d0d0 #303030",
    "completion-menu.meta.completion.current": "noreverse bg:#005faf #ffffff",
}
_KEYS: dict[str, str] = {
    Keys.Up: "up",
    Keys.Down: "down",
    Keys.Left: "left",
    Keys.Right: "right",
    Keys.Home: "home",
    Keys.End: "end",
    Keys.Delete: "delete",
    Keys.PageUp: "page-up",
    Keys.PageDown: "page-down",
    Keys.ControlM: "enter",
    Keys.ControlJ: "ctrl-j",
    Keys.ControlI: "tab",
    Keys.BackTab: "shift-tab",
    Keys.ControlH: "backspace",
    Keys.Escape: "escape",
    Keys.ControlA: "ctrl-a",
    Keys.ControlB: "ctrl-b",
    Keys.ControlE: "ctrl-e",
    Keys.ControlF: "ctrl-f",
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
        self.on_escape: Callable[[], None] = lambda: None
        self.on_shift_tab: Callable[[], None] = lambda: None
        self.on_resize: Callable[[], None] = lambda: None
        """Redraw the lines: they were drawn for another width."""
        self.status: Callable[[], str] = lambda: ""
        self.question_open: Callable[[], bool] = lambda: False
        """Whether a question can be answered."""
        self.listening: Callable[[], bool] = lambda: False
        """Whether it has been drawn, so that keys can be meant for it."""
        self._typed_at = -TYPING_S
        self._output = _FrameOutput(sys.stdout, _terminal_size, term=os.environ.get("TERM"), enable_cpr=False)
        self.buffer = Buffer(
            multiline=True,
            completer=completer,
            complete_while_typing=True,
            history=history,
            accept_handler=self._accept,
            on_text_insert=self._typed,
        )
        self._control = FormattedTextControl(
            self._live_text, focusable=True, show_cursor=True, get_cursor_position=self._live_cursor
        )
        self._shown = Window(self._control, dont_extend_height=True, wrap_lines=False)
        self._search = SearchToolbar(backward_search_prompt="search history: ", ignore_case=True)
        self._input = Window(
            BufferControl(
                self.buffer,
                input_processors=[BeforeInput("› ", style="bold")],
                search_buffer_control=self._search.control,
            ),
            height=self._input_height,
            dont_extend_height=True,
            wrap_lines=True,
        )
        self.app: Application[int] = Application(
            layout=self._layout(),
            key_bindings=self._bindings(),
            output=self._output,
            color_depth=_colour_depth() if colour else ColorDepth.DEPTH_1_BIT,
            style=Style.from_dict(MENU_STYLES if colour else {}),
            erase_when_done=True,
            full_screen=False,
            before_render=self._before_render,
        )
        self._size = self._output.get_size()
        self.app.ttimeoutlen = self.app.timeoutlen = ESCAPE_S

    @property
    def asking(self) -> bool:
        """Whether the question takes the place of the input line: not while someone is typing into that."""
        return self.question_open() and not self._is_typing

    @property
    def _is_typing(self) -> bool:
        return bool(self.buffer.text) and time.monotonic() - self._typed_at < TYPING_S

    def _typed(self, _: object) -> None:
        self._typed_at = time.monotonic()

    def _layout(self) -> Layout:
        writing = Condition(lambda: not self.asking)
        status = Window(FormattedTextControl(lambda: ANSI(self.status())), height=1, dont_extend_height=True)
        body = HSplit([self._shown, ConditionalContainer(HSplit([self._input, self._search]), writing), status])
        menu = Float(xcursor=True, ycursor=True, content=CompletionsMenu(max_height=COMPLETION_ROWS, scroll_offset=1))
        return Layout(FloatContainer(body, floats=[menu]), focused_element=self._input)

    def _input_height(self) -> Dimension:
        """With room for completions below it, if there are any."""
        least = COMPLETION_ROWS + 1 if self.buffer.complete_state is not None else 1
        return Dimension(min=least, max=max(INPUT_ROWS, least))

    def _before_render(self, _: object) -> None:
        if (size := self._output.get_size()) != self._size:
            self._size = size
            self.on_resize()

    # The surface

    @property
    def width(self) -> int:
        return max(self._output.get_size().columns - 1, 20)

    @property
    def height(self) -> int:
        return max(self._output.get_size().rows - (2 if self.asking else INPUT_ROWS + 2), 4)

    def commit(self, lines: Sequence[str]) -> None:
        self._pending += lines

    def live(self, lines: Sequence[str], cursor: tuple[int, int] | None = None) -> None:
        hidden = max(0, len(lines) - self.height)
        self._live = [painted_cut(line, self.width) for line in lines[hidden:]]
        self._cursor = (cursor[0] - hidden, cursor[1]) if cursor and cursor[0] >= hidden else None

    def flush(self) -> None:
        """One frame in one write: erase the live part, print finished lines, redraw."""
        if not self.app.is_running:
            return
        if self.asking or not self.app.layout.is_searching:
            self.app.layout.focus(self._shown if self.asking else self._input)
        self._control.show_cursor = self._cursor is not None
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
        """At the top unless there is a text cursor: from there all can be redrawn when the size changes."""
        row, column = self._cursor or (0, 0)
        return Point(x=column, y=row)

    # Keys

    def _accept(self, buffer: Buffer) -> bool:
        text = buffer.text.strip("\n")
        if text.strip():
            self.on_said(text)
        return False  # clear the input line

    def question_ended(self, unused: list[str]) -> None:
        """Keys typed after the answer start the next prompt."""
        if self.app.is_running:
            self.app.layout.focus(self._input)
        for key in unused:
            if len(key) == 1 or key.startswith("paste:"):
                self.buffer.insert_text(key.removeprefix("paste:"))
            elif key == "backspace":
                self.buffer.delete_before_cursor()
            elif key == "enter":
                self._enter()

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        asking = Condition(lambda: self.listening() and not self._is_typing)
        writing = ~asking & ~is_searching

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
        bindings.add("enter", filter=writing)(lambda event: self._enter())
        bindings.add("escape", "enter", filter=writing)(lambda event: self.buffer.insert_text("\n"))
        bindings.add("c-j", filter=writing)(lambda event: self.buffer.insert_text("\n"))
        bindings.add("escape", filter=writing)(lambda event: self._escape())
        bindings.add("s-tab", filter=writing & ~has_completions)(lambda event: self.on_shift_tab())
        bindings.add("c-c", filter=~is_searching)(lambda event: self._stop())
        bindings.add("c-d", filter=writing & Condition(lambda: not self.buffer.text))(
            lambda event: event.app.exit(result=0)
        )
        return bindings

    def _enter(self) -> None:
        state = self.buffer.complete_state
        if state is not None and state.current_completion is not None:
            self.buffer.apply_completion(state.current_completion)
            return
        if self.buffer.document.text_before_cursor.endswith("\\"):
            self.buffer.delete_before_cursor()
            self.buffer.insert_text("\n")
            return
        self.buffer.validate_and_handle()

    def _escape(self) -> None:
        if self.buffer.complete_state is not None:
            self.buffer.cancel_completion()
        else:
            self.on_escape()

    def _stop(self) -> None:
        if self.buffer.text and not self.asking:
            self.buffer.reset()
        else:
            self.on_stop()


def _colour_depth() -> ColorDepth:
    return ColorDepth.DEPTH_24_BIT if has_true_colour() else ColorDepth.DEPTH_8_BIT


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
