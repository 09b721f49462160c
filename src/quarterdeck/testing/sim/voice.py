"""Everything the simulator says on stdout, except answers to control requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from . import facts
from .bill import full_usage

if TYPE_CHECKING:
    from .bill import Bill
    from .host import HostChannel
    from .mcp import Mcp
    from .prompts import QueuedPrompt
    from .state import SimulatedSession
    from .transcript import SimulatedTranscript

SYNTHETIC = "<synthetic>"
"""The model name of text that no model wrote."""
HEARTBEAT_S = 30.0
"""How often the CLI gives a sign of life during something that takes long (2.1.325)."""
_RATE_LIMIT = "anthropic-ratelimit-unified-"


class Speaker(msgspec.Struct, frozen=True):
    """Who speaks: the main conversation, or a sub-agent."""

    parent_tool_use_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    description: str | None = None

    def stamp(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"parent_tool_use_id": self.parent_tool_use_id}
        if self.agent_id is not None:
            fields |= {
                "agent_id": self.agent_id,
                "subagent_type": self.agent_type,
                "task_description": self.description,
            }
        return fields


class Voice:
    """Mixed into ``SimulatedCli``; stamps each message with its ``uuid`` and the session."""

    host: HostChannel
    session: SimulatedSession
    transcript: SimulatedTranscript
    mcp: Mcp
    bill: Bill
    _state = "idle"

    def new_id(self) -> str:
        raise NotImplementedError

    def now(self) -> str:
        raise NotImplementedError

    def scaled(self, seconds: float) -> float:
        raise NotImplementedError

    def builtin_tools(self) -> list[str]:
        raise NotImplementedError

    def say(self, kind: str, subtype: str | None = None, **fields: Any) -> None:
        head = {"type": kind} if subtype is None else {"type": kind, "subtype": subtype}
        self.say_message(head | fields)

    def say_message(self, message: dict[str, Any]) -> None:
        self.host.say({**message, "uuid": message.get("uuid") or self.new_id(), "session_id": self.session.id})

    def say_raw(self, message: dict[str, Any]) -> None:
        """A line without a uuid and session, such as ``transcript_mirror``."""
        self.host.say(message)

    @asynccontextmanager
    async def heartbeat(self, beat: Callable[[int, float], None]) -> AsyncIterator[None]:
        """Call ``beat(number, elapsed_s)`` every ``HEARTBEAT_S`` until the block is left."""
        interval_s = self.scaled(HEARTBEAT_S)
        if interval_s <= 0:  # time does not pass
            yield
            return
        task = asyncio.create_task(_beats(beat, interval_s))
        try:
            yield
        finally:
            task.cancel()

    def say_user(self, content: Any, speaker: Speaker, **fields: Any) -> None:
        """A user message the CLI itself makes: tool results, notes."""
        message = {"role": "user", "content": content}
        uuid = self.new_id()
        stored = {"toolUseResult": fields["tool_use_result"]} if "tool_use_result" in fields else {}
        self.transcript.add("user", uuid=uuid, sidechain=speaker.agent_id, message=message, **stored)
        self.say("user", message=message, **speaker.stamp(), **fields, uuid=uuid, timestamp=self.now())

    def say_assistant(self, message: dict[str, Any], speaker: Speaker, **fields: Any) -> None:
        uuid, request_id = self.new_id(), f"req_{message['id'].removeprefix('msg_')}"
        self.transcript.add("assistant", uuid=uuid, sidechain=speaker.agent_id, message=message, requestId=request_id)
        asked = {} if message["model"] == SYNTHETIC else {"request_id": request_id}
        self.say("assistant", message=message, **speaker.stamp(), uuid=uuid, timestamp=self.now(), **asked, **fields)

    def say_synthetic_assistant(self, text: str, *, stop_reason: str = "end_turn", **fields: Any) -> None:
        """Text that no model wrote: a command's output, or an error."""
        counts = dict.fromkeys(
            ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"), 0
        )
        message = {
            "id": self.new_id(),
            "type": "message",
            "role": "assistant",
            "model": SYNTHETIC,
            "content": [{"type": "text", "text": text}],
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": full_usage(counts),
        }
        self.say_assistant(message, Speaker(), **fields)

    def say_local_output(self, text: str) -> None:
        """What a control request did, as a local command's output."""
        message = {"role": "user", "content": f"<local-command-stdout>{text}</local-command-stdout>"}
        self.say("user", message=message, parent_tool_use_id=None, timestamp=self.now(), isReplay=True)

    def echo_prompt(self, prompt: QueuedPrompt) -> None:
        if self.session.replays and not prompt.origin:
            message = {"role": "user", "content": prompt.content}
            fields: dict[str, Any] = {"message": message, "parent_tool_use_id": None, "isReplay": True}
            self.say("user", **fields, timestamp=self.now(), uuid=prompt.uuid or self.new_id())

    def say_lifecycle(self, prompt: QueuedPrompt, state: str) -> None:
        if prompt.uuid is not None:
            self.say("command_lifecycle", command_uuid=prompt.uuid, state=state)

    def say_state(self, state: str) -> None:
        if self.session.reports_states and state != self._state:
            self._state = state
            self.say("system", "session_state_changed", state=state)

    @property
    def state(self) -> str:
        return self._state

    def set_mode(self, mode: str) -> None:
        if mode == self.session.mode:
            return
        if mode == "plan":
            self.session.mode_before_plan = self.session.mode
        self.session.mode = mode
        self.say("system", "status", status=None, permissionMode=mode)

    def say_rate_limit(self, headers: Any) -> None:
        """From the API's headers, which come only with a subscription's token."""
        found = {
            name.removeprefix(_RATE_LIMIT): value for name, value in headers.items() if name.startswith(_RATE_LIMIT)
        }
        if not found or "CLAUDE_CODE_OAUTH_TOKEN" not in self.session.env:
            return
        claim = found.get("representative-claim", "five_hour")
        short = {"five_hour": "5h", "seven_day": "7d"}.get(claim, "5h")
        info: dict[str, Any] = {"status": found.get("status", "allowed"), "rateLimitType": claim}
        for key, name, kind in (
            ("resetsAt", "reset", int),
            ("utilization", f"{short}-utilization", float),
            ("overageStatus", "overage-status", str),
            ("surpassedThreshold", f"{short}-surpassed-threshold", float),
        ):
            if name in found:
                info[key] = kind(found[name])
        self.say("rate_limit_event", rate_limit_info=info)

    def say_init(self, prompt: QueuedPrompt | None = None) -> None:
        session = self.session
        tools = [*self.builtin_tools(), *(["StructuredOutput"] if session.schema else []), *self.mcp.tool_names()]
        key_source = "ANTHROPIC_API_KEY" if session.env.get("ANTHROPIC_API_KEY") else "none"
        uuids = prompt.marks().get("user_message_uuids") if prompt else None
        fields: dict[str, Any] = {
            "cwd": str(session.cwd),
            "tools": tools,
            "mcp_servers": self.mcp.listed(),
            "model": session.model,
            "permissionMode": session.mode,
            "slash_commands": [*session.skills, *facts.SKILLS, *facts.COMMANDS],
            "terminal_slash_commands": facts.TERMINAL_COMMANDS,
            "apiKeySource": key_source,
            "claude_code_version": facts.VERSION,
            "output_style": "default",
            "agents": [*facts.AGENTS, *session.agents],
            "skills": [*session.skills, *facts.SKILLS],
            "plugins": facts.PLUGINS,
            "capabilities": facts.CAPABILITIES,
            "analytics_disabled": True,
            "product_feedback_disabled": True,
            "memory_paths": {"auto": f"{session.project_dir}/memory/"},
            "original_cwd": str(session.cwd),
            "additional_directories": [str(path) for path in session.directories],
            "fast_mode_state": "off",
            "fast_mode_disabled_reason": "sdk_opt_in_required",
            "per_turn_effort_active": True,
            "ultrathink_available": False,
            "ultrathink_typed_raises": False,
            "view_mode": "default",
        }
        self.say("system", "init", **fields, **({"user_message_uuids": uuids} if uuids else {}))


async def _beats(beat: Callable[[int, float], None], interval_s: float) -> None:
    number = 0
    while True:
        await asyncio.sleep(interval_s)
        beat(number, HEARTBEAT_S * (number + 1))
        number += 1
