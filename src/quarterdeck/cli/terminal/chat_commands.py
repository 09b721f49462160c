"""The chat's built-in commands. Other ``/commands`` go to Claude Code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from quarterdeck.testing.simulated import dollars

from .arguments import MODES
from .text import one_line, size
from .widgets import MenuOption

if TYPE_CHECKING:
    from .chat import Chat

SHOWN_PROMPTS = 9
CYCLE = ("default", "acceptEdits", "plan")
"""The modes that Shift-Tab goes through, as in Claude Code."""
MODE_PURPOSES = {
    "default": "asks before it edits files or runs commands",
    "acceptEdits": "edits files without asking, asks before it runs commands",
    "plan": "reads and plans, changes nothing",
    "bypassPermissions": "runs everything without asking",
    "dontAsk": "denies what no rule allows, without asking",
    "auto": "a classifier decides what needs your approval",
}


async def model(chat: Chat, name: str) -> None:
    if not name:
        offered = chat.screen.timeline.state.session.models
        options = [MenuOption(one.value, one.name or one.value, one.description) for one in offered[:SHOWN_PROMPTS]]
        if not options:
            chat.screen.say("dim", "usage: /model NAME")
            return
        chosen = await chat.choose("Which model?", options)
        if chosen is None:
            return
        name = str(chosen)
    await chat.session.set_model(name)


async def mode(chat: Chat, name: str) -> None:
    if not name:
        options = [MenuOption(one, one, MODE_PURPOSES[one]) for one in MODES]
        chosen = await chat.choose("Which permission mode?", options)
        if chosen is None:
            return
        name = str(chosen)
    if name not in MODES:
        chat.screen.say("yellow", f"unknown mode {name!r}; modes: {', '.join(MODES)}")
        return
    await chat.session.set_mode(name)


async def next_mode(chat: Chat) -> None:
    """Shift-Tab."""
    now = chat.screen.timeline.state.session.permission_mode or "default"
    name = CYCLE[(CYCLE.index(now) + 1) % len(CYCLE)] if now in CYCLE else CYCLE[0]
    await chat.session.set_mode(name)
    chat.screen.say("dim", MODE_PURPOSES[name])


async def cost(chat: Chat, _: str) -> None:
    state, simulated = chat.screen.timeline.state, chat.screen.simulated
    chat.screen.say("bold", f"{dollars(state.cost.total_usd, simulated=simulated)} so far")
    for name, one in state.cost.by_model.items():
        tokens = one.tokens
        given = size(tokens.input + tokens.cache_read + tokens.cache_write)
        amount = dollars(one.cost_usd, simulated=simulated)
        chat.screen.say("", f"{name}: {given} tokens in, {size(tokens.output)} out, {amount}")
    if state.context.fraction is not None:
        chat.screen.say("dim", f"context: {size(state.context.tokens)} tokens, {state.context.fraction:.0%} full")


async def rewind(chat: Chat, _: str) -> None:
    """Restore files, conversation or both to the state before a prompt."""
    prompts = list(reversed(chat.prompts))[:SHOWN_PROMPTS]
    if not prompts:
        chat.screen.say("dim", "no prompts yet")
        return
    chosen = await chat.choose(
        "Rewind to before which prompt?", [MenuOption(key, one_line(text, 60)) for key, text in prompts]
    )
    if chosen is None:
        return
    what = await chat.choose(
        "Restore what?",
        [
            MenuOption("both", "Files and conversation"),
            MenuOption("files", "Files"),
            MenuOption("talk", "Conversation"),
        ],
    )
    if what in ("both", "files"):
        problem = await chat.session.rewind_files(str(chosen))
        chat.screen.say(*(("yellow", f"files not restored: {problem}") if problem else ("green", "files restored")))
    if what in ("both", "talk"):
        answer = await chat.session.rewind_conversation(str(chosen))
        if answer.done:
            chat.forget_from(str(chosen))
            chat.screen.say("green", "conversation restored; edit your prompt below")
            chat.prefill(answer.prefill)
        else:
            chat.screen.say("yellow", f"conversation not restored: {answer.reason}")


async def fork(chat: Chat, _: str) -> None:
    await chat.fork()


async def show_help(chat: Chat, _: str) -> None:
    for name, (purpose, _handler) in COMMANDS.items():
        chat.screen.say("", f"/{name:8} {purpose}")
    chat.screen.say("dim", "Type / for Claude Code's own commands.")
    for keys, purpose in KEYS.items():
        chat.screen.say("", f"{keys:18} {purpose}")


async def leave(chat: Chat, _: str) -> None:
    chat.leave(0)


KEYS = {
    "!command": "run a shell command; Claude sees the output",
    "#text": "remember: add a line to a CLAUDE.md",
    "@path": "complete a file name",
    "\\ Enter, Ctrl-J": "new line (also Alt-Enter)",
    "Esc": "stop the turn",
    "Esc Esc": "rewind; clear the line if there is text",
    "Shift-Tab": "next permission mode",
    "Ctrl-R": "search earlier prompts",
    "Ctrl-C": "stop the turn; twice: exit",
    "Ctrl-D, exit, quit": "exit",
}
Handler = Callable[["Chat", str], Awaitable[None]]
COMMANDS: dict[str, tuple[str, Handler]] = {
    "model": ("change the model", model),
    "mode": ("change the permission mode", mode),
    "cost": ("show the cost and the context usage", cost),
    "rewind": ("go back to before a prompt: files, conversation or both", rewind),
    "fork": ("continue in a copy of the session", fork),
    "help": ("show this list", show_help),
    "quit": ("exit", leave),
}
