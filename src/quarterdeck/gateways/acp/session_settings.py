"""What an editor has chosen for a session: mode, model, effort, fast mode, agent. And how Claude Code is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from quarterdeck.client.session import Session
from quarterdeck.timeline import Timeline
from quarterdeck.timeline.state import SessionDetails

from . import config_options, jsonrpc
from .config_options import DEFAULT, Chosen
from .jsonrpc import RpcError

if TYPE_CHECKING:
    from quarterdeck.client.options import ClaudeAgentOptions

    from .schema import SessionConfigOption, SessionModeState


class SessionSettings:
    """Those of one session."""

    def __init__(self, timeline: Timeline, session: Callable[[], Awaitable[Session]], *, switches: bool) -> None:
        """``session`` has the running session, and starts it if there is none. ``switches``: the editor has them."""
        self._timeline = timeline
        self._session = session
        self._switches = switches
        self._borrowed: SessionDetails | None = None
        self._wants_fast: bool | None = None
        """As chosen, also after Claude Code has said that it is otherwise."""
        self.chosen = Chosen()
        self.new = True
        """Nothing was said in the conversation yet."""

    # What is offered

    @property
    def details(self) -> SessionDetails:
        """What is known of the session; of one without a process yet, what another one in its folder knows."""
        own = self._timeline.state.session
        return own if self._borrowed is None or own.commands or own.models else self._borrowed

    @property
    def known(self) -> bool:
        return bool(self.details.commands or self.details.models)

    def borrow(self, details: SessionDetails) -> None:
        """What is the same for all sessions in a folder."""
        self._borrowed = SessionDetails(
            cli_version=details.cli_version,
            commands=details.commands,
            models=details.models,
            agents=details.agents,
        )

    def options(self) -> list[SessionConfigOption]:
        return config_options.options_of(self.details, self.chosen, switches=self._switches, new=self.new)

    def modes(self) -> SessionModeState:
        return config_options.modes_of(
            self.chosen.mode, bypass=self.chosen.bypass, version=self._timeline.state.session.cli_version
        )

    # What is chosen

    async def set(self, option_id: str, value: Any) -> None:
        """Raises ``RpcError`` for what is not offered."""
        setters: dict[str, Callable[[Any], Awaitable[None]]] = {
            "mode": self.set_mode,
            "model": self.set_model,
            "effort": self.set_effort,
            "fast": self.set_fast,
            "agent": self.set_agent,
        }
        setter = setters.get(option_id)
        fits = isinstance(value, str) or (option_id == "fast" and isinstance(value, bool))
        if setter is None or not fits:
            raise RpcError(jsonrpc.INVALID_PARAMS, f"no option {option_id} has this value")
        await setter(value)

    async def set_mode(self, mode: str) -> None:
        session = await self._session()
        answer = await session.set_permission_mode(mode)  # type: ignore[arg-type]  # the CLI refuses what is none
        self.chosen.mode = answer.mode or mode

    async def set_model(self, model: str) -> None:
        session = await self._session()
        await session.set_model(None if model == DEFAULT else model)
        self.chosen.model = model

    async def set_effort(self, effort: str) -> None:
        session = await self._session()
        model = config_options.model_of(self.details, self.chosen)
        if model is not None and effort not in (DEFAULT, *model.effort_levels):
            raise RpcError(jsonrpc.INVALID_PARAMS, f"{model.value} has no effort {effort}")
        chosen = None if effort == DEFAULT else effort
        await session.apply_settings({"effortLevel": chosen})
        self.chosen.effort = chosen

    async def set_fast(self, value: bool | str) -> None:
        on = config_options.read_switch(value)
        session = await self._session()
        model = config_options.model_of(self.details, self.chosen)
        if on and model is not None and not model.fast_mode:
            raise RpcError(jsonrpc.INVALID_PARAMS, f"{model.value} has no fast mode")
        await session.apply_settings({"fastMode": on})
        self.chosen.fast = self._wants_fast = on

    async def set_agent(self, agent: str) -> None:
        """2.1.325 accepts another agent in the middle of a conversation, and ignores it."""
        if not self.new:
            raise RpcError(jsonrpc.INVALID_PARAMS, "a conversation keeps its agent: choose it before the first prompt")
        session = await self._session()
        if agent not in (DEFAULT, *self.details.agents):
            raise RpcError(jsonrpc.INVALID_PARAMS, f"there is no agent {agent}")
        chosen = None if agent == DEFAULT else agent
        await session.apply_settings({"agent": chosen})
        self.chosen.agent = chosen

    # What happens

    def add_to(self, options: ClaudeAgentOptions) -> None:
        """To those of a process that is about to be started."""
        if self.chosen.mode is not None:
            options.permission_mode = self.chosen.mode  # type: ignore[assignment]  # as above
        if self.chosen.model is not None:
            options.model = None if self.chosen.model == DEFAULT else self.chosen.model

    async def begin(self, session: Session) -> None:
        """Tell a new process what only a running one can be told."""
        wanted = {"effortLevel": self.chosen.effort, "fastMode": self._wants_fast, "agent": self.chosen.agent}
        told = {name: value for name, value in wanted.items() if value is not None}
        if told:
            await session.apply_settings(told)

    def turn_ended(self) -> bool:
        """Whether the turn had another speed than was chosen; from here on, what Claude Code says counts."""
        claimed, self.chosen.fast = self.chosen.fast, None
        in_effect = self._timeline.state.session.fast_mode in (config_options.ON, "cooldown")
        return claimed is not None and claimed is not in_effect
