"""The commands of the chat that are ours. All others that begin with ``/`` go to Claude Code as they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from quarterdeck.client.errors import ControlError

from .arguments import MODES
from .text import one_line, size
from .widgets import Option

if TYPE_CHECKING:
    from .chat import Chat

SHOWN_PROMPTS = 9


async def model(chat: Chat, name: str) -> None:
    if not name:
        offered = chat.screen.timeline.state.session.models
        options = [Option(one.value, one.name or one.value, one.description) for one in offered[:SHOWN_PROMPTS]]
        if not options:
            chat.screen.say("dim", "say which: /model NAME")
            return
        chosen = await chat.choose("Which model?", options)
        if chosen is None:
            return
        name = str(chosen)
    await chat.session.set_model(name)


async def mode(chat: Chat, name: str) -> None:
    if not name:
        chosen = await chat.choose("Which permission mode?", [Option(one, one) for one in MODES])
        if chosen is None:
            return
        name = str(chosen)
    if name not in MODES:
        chat.screen.say("yellow", f"there is no mode {name!r}; there are {', '.join(MODES)}")
        return
    await chat.session.set_permission_mode(name)  # type: ignore[arg-type]  # one of MODES


async def cost(chat: Chat, _: str) -> None:
    state = chat.screen.timeline.state
    chat.screen.say("bold", f"${state.cost.total_usd:.4f} so far")
    for name, one in state.cost.by_model.items():
        tokens = one.tokens
        given = size(tokens.input + tokens.cache_read + tokens.cache_write)
        chat.screen.say("", f"{name}: {given} tokens in, {size(tokens.output)} out, ${one.cost_usd:.4f}")
    if state.context.fraction is not None:
        chat.screen.say("dim", f"context: {size(state.context.tokens)} tokens, {state.context.fraction:.0%} full")


async def rewind(chat: Chat, _: str) -> None:
    """Back to before a prompt: the files, the conversation, or both."""
    prompts = list(reversed(chat.prompts))[:SHOWN_PROMPTS]
    if not prompts:
        chat.screen.say("dim", "nothing was said yet that one could go back to")
        return
    chosen = await chat.choose(
        "Back to before which prompt?", [Option(key, one_line(text, 60)) for key, text in prompts]
    )
    if chosen is None:
        return
    what = await chat.choose(
        "What is to be as it was?",
        [Option("both", "Files and conversation"), Option("files", "Files"), Option("talk", "Conversation")],
    )
    if what in ("both", "files"):
        try:
            await chat.session.rewind_files(str(chosen))
            chat.screen.say("green", "the files are as they were")
        except ControlError as error:
            chat.screen.say("yellow", f"the files stay as they are: {error.error}")
    if what in ("both", "talk"):
        answer = await chat.session.rewind_conversation(str(chosen))
        if answer.rewound:
            chat.forget_from(str(chosen))
            chat.screen.say("green", "the conversation is as it was; your prompt is there to edit")
            chat.prefill(answer.prefill_text or "")
        else:
            chat.screen.say("yellow", f"the conversation stays as it is: {answer.reason}")


async def fork(chat: Chat, _: str) -> None:
    session_id = chat.session.session_id
    if session_id is None:
        chat.screen.say("dim", "nothing was said yet that one could copy")
        return
    options = dataclasses.replace(
        chat.session.options, resume=session_id, fork_session=True, continue_conversation=False, session_id=None
    )
    await chat.reopen(options)
    chat.screen.say("green", f"from here on in a copy; the session so far is {session_id}")


async def show_help(chat: Chat, _: str) -> None:
    for name, (purpose, _handler) in COMMANDS.items():
        chat.screen.say("", f"/{name:8} {purpose}")
    chat.screen.say("dim", "Alt-Enter begins a new line · @ completes files · what you say while it works steers it")
    chat.screen.say("dim", "Ctrl-C stops the turn, twice leaves · Ctrl-D leaves")


async def leave(chat: Chat, _: str) -> None:
    chat.leave(0)


Handler = Callable[["Chat", str], Awaitable[None]]
COMMANDS: dict[str, tuple[str, Handler]] = {
    "model": ("change the model", model),
    "mode": ("change the permission mode", mode),
    "cost": ("what it has cost so far, and how full the context is", cost),
    "rewind": ("go back to before a prompt: files, conversation or both", rewind),
    "fork": ("go on in a copy of the session", fork),
    "help": ("this list", show_help),
    "quit": ("leave", leave),
}
