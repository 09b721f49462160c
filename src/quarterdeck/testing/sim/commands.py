"""Slash commands that the CLI runs itself. A command it does not know is only text for the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from . import facts

if TYPE_CHECKING:
    from .simulator import SimulatedCli

Command = Callable[["SimulatedCli"], Awaitable[None]]


def find(text: str) -> Command | None:
    """The local command in a prompt, if it is one."""
    if not text.startswith("/"):
        return None
    typed, _, arguments = text[1:].partition(" ")
    name = next((name for name, others in facts.ALIASES.items() if typed in others), typed)
    run = _COMMANDS.get(name)
    if run is None:
        return None

    async def command(cli: SimulatedCli) -> None:
        await run(cli, typed, arguments.strip())

    return command


async def _usage(cli: SimulatedCli, typed: str, arguments: str) -> None:
    _say(cli, typed, "usage", arguments, cli.bill.text(cli.clock() - cli.started))


async def _context(cli: SimulatedCli, typed: str, arguments: str) -> None:
    tokens = cli.bill.context_tokens
    _say(cli, typed, "context", arguments, f"{cli.session.model}: {tokens} of {facts.CONTEXT_WINDOW} tokens")


async def _model(cli: SimulatedCli, typed: str, arguments: str) -> None:
    cli.session.model = facts.resolve_model(arguments or None)
    _say(cli, typed, "model", arguments, f"Set model to `{cli.session.model}`")


async def _rename(cli: SimulatedCli, typed: str, arguments: str) -> None:
    rename(cli, arguments or "Untitled")
    _say(cli, typed, "rename", arguments, f"Session renamed to: {cli.session.title}")


def rename(cli: SimulatedCli, title: str) -> None:
    cli.session.title = title
    cli.transcript.note("custom-title", customTitle=title)
    cli.say("system", "session_title_changed", title=title)


def _say(cli: SimulatedCli, typed: str, name: str, arguments: str, output: str) -> None:
    cli.say_init()
    cli.say_synthetic_assistant(
        output,
        local_command_source=f"<local-command-stdout>{output}</local-command-stdout>",
        local_command_run={"command": name, "args": arguments},
    )
    cli.results.local(output, local_command=typed)


async def _clear(cli: SimulatedCli, typed: str, arguments: str) -> None:
    """A new conversation in the same process: from here on there is another session id."""
    session = cli.session
    if cli.hooks.has("SessionEnd"):
        await cli.hooks.fire("SessionEnd", matched="clear", reason="clear")
    new = cli.new_id()
    fields = {
        "new_conversation_id": new,
        "trigger": "clear",
        "timestamp": cli.now(),
        "user_message_uuid": cli.prompt_id,
    }
    cli.say("conversation_reset", **fields, uuid=new)
    cli.tasks.say_changed()
    session.id = cli.new_id()
    cli.transcript.start_over()
    # The new transcript begins with the command, so it can be resumed before anything is said in it (2.1.325).
    said = f"<command-name>/{typed}</command-name>\n<command-message>clear</command-message>"
    cli.transcript.add("user", message={"role": "user", "content": said})
    if session.title is not None:
        for _ in range(2):  # seen twice under the new id (2.1.325)
            cli.say("system", "session_title_changed", title=session.title)
    if cli.hooks.has("SessionStart"):
        await cli.hooks.fire("SessionStart", matched="clear", source="clear")
    cli.say_init()
    cli.results.local("", local_command=typed)


async def _compact(cli: SimulatedCli, typed: str, arguments: str) -> None:
    await compact(cli, trigger="manual", summary="A summary by the simulator.", instructions=arguments or None)
    cli.say_local_output("Compacted ")
    cli.results.local("", local_command=typed)


async def compact(cli: SimulatedCli, *, trigger: str, summary: str, instructions: str | None) -> None:
    """Replace the conversation with a summary, and tell the host."""
    cli.say("system", "status", status="compacting")
    hooks = cli.hooks
    if hooks.has("PreCompact"):
        await hooks.fire("PreCompact", matched=trigger, trigger=trigger, custom_instructions=instructions)
    if hooks.has("SubagentStop"):  # the summary is written by an agent without a type (2.1.325)
        fields: dict[str, Any] = {"agent_id": cli.new_id(), "agent_type": "", "stop_hook_active": False}
        await hooks.fire("SubagentStop", **fields, last_assistant_message=summary)
    if hooks.has("SessionStart"):
        await hooks.fire("SessionStart", matched="compact", source="compact", model=cli.session.model)
    if hooks.has("PostCompact"):
        await hooks.fire("PostCompact", matched=trigger, trigger=trigger, compact_summary=summary)
    cli.say("system", "status", status=None, compact_result="success")
    if trigger == "manual":
        cli.say_init()
    before = cli.transcript.records[-1]["uuid"] if cli.transcript.records else None
    metadata = {"trigger": trigger, "pre_tokens": cli.bill.context_tokens, "post_tokens": len(summary) // 4}
    record = cli.transcript.add(
        "system",
        subtype="compact_boundary",
        content="Conversation compacted",
        compactMetadata=metadata,
        logicalParentUuid=before,
    )
    cli.say("system", "compact_boundary", compact_metadata=metadata, logical_parent_uuid=before, uuid=record["uuid"])
    text = f"This session continues an earlier conversation, of which this is the summary:\n{summary}"
    message = {"role": "user", "content": text}
    cli.transcript.add("user", message=message, isCompactSummary=True)
    cli.say("user", message=message, parent_tool_use_id=None, isReplay=False, isSynthetic=True, timestamp=cli.now())


_COMMANDS = {
    "usage": _usage,
    "context": _context,
    "model": _model,
    "rename": _rename,
    "clear": _clear,
    "compact": _compact,
}
