"""What the session knows about itself: usage, cost, models, version, status, dialogs, and what the handshake said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quarterdeck import wire

from .base import ControlsBase

if TYPE_CHECKING:
    from quarterdeck.wire import (
        AccountInfo,
        AgentInfo,
        BinaryVersion,
        ChromeDialog,
        ContextUsageDetail,
        ContextUsageResponse,
        MemoryDialog,
        ModelInfo,
        PlanAnswer,
        SandboxDialog,
        SessionCost,
        SkillsDialog,
        SlashCommand,
        StatusAnswer,
        UsageAnswer,
    )

COUNT_S = 120.0
"""A full context listing counts the tokens of every part, some of them through the API."""


class StateControls(ControlsBase):
    """What the session knows about itself."""

    async def context_usage(
        self, *, detail: ContextUsageDetail | None = None, timeout_s: float | None = COUNT_S
    ) -> ContextUsageResponse:
        """What fills the context window, by category; ``detail`` is ``summary`` or ``full``."""
        return await self._ask(wire.GetContextUsageRequest(detail), wire.ContextUsageResponse, timeout_s=timeout_s)

    async def cost(self) -> SessionCost:
        """The cost so far as text for people. In numbers: ``usage()``; by turn: ``costs``."""
        return await self._ask(wire.GetSessionCostRequest(), wire.SessionCost)

    async def usage(self, *, skip_behaviors: bool = False) -> UsageAnswer:
        """The cost so far in numbers and, with a subscription, the account's limits.

        After a resume it includes earlier processes, except those that were killed (2.1.325).
        """
        return await self._ask(wire.GetUsageRequest(skip_behaviors or None), wire.UsageAnswer)

    async def models(self) -> list[ModelInfo]:
        """The available models. CLIs that do not know the request list theirs only in the handshake."""
        answer = await self._ask(wire.ListModelsRequest(), wire.ModelList)
        return answer.get("models") or []

    async def binary_version(self) -> BinaryVersion:
        """The version of the CLI and when it was built."""
        return await self._ask(wire.GetBinaryVersionRequest(), wire.BinaryVersion)

    async def status(self) -> StatusAnswer:
        """What ``/status`` shows: sections of rows, as text for people."""
        return await self._ask(wire.GetStatusRequest(), wire.StatusAnswer)

    async def plan(self) -> PlanAnswer:
        """The plan that the session has written in plan mode, if there is one."""
        return await self._ask(wire.GetPlanRequest(), wire.PlanAnswer)

    def commands(self) -> list[SlashCommand]:
        """The slash commands and skills from the handshake; the CLI is not asked. ``reload_skills`` asks again."""
        return list(self.server_info.commands or ())

    def agents(self) -> list[AgentInfo]:
        """The sub-agents from the handshake; the CLI is not asked. 2.0.77 and 2.1.25 list none."""
        return list(self.server_info.agents or ())

    def account(self) -> AccountInfo | None:
        """Whose credentials the session uses, from the handshake; the CLI is not asked."""
        return self.server_info.account

    # What the terminal's dialogs show. Not in the types of the TypeScript SDK 0.3.325, but its CLI serves them.

    async def memory_dialog(self) -> MemoryDialog:
        """What ``/memory`` shows: the files and folders with instructions and memories."""
        return await self._ask(wire.GetMemoryDialogRequest(), wire.MemoryDialog)

    async def skills_dialog(self) -> SkillsDialog:
        """What ``/skills`` shows: the skills of user, project and plugins, and whether each is on."""
        return await self._ask(wire.GetSkillsDialogRequest(), wire.SkillsDialog)

    async def sandbox_dialog(self) -> SandboxDialog:
        """What ``/sandbox`` shows: whether commands run in a sandbox, what it lacks and what it allows."""
        return await self._ask(wire.GetSandboxDialogRequest(), wire.SandboxDialog)

    async def chrome_dialog(self) -> ChromeDialog:
        """What ``/chrome`` shows: whether the browser extension is installed."""
        return await self._ask(wire.GetChromeDialogRequest(), wire.ChromeDialog)
