"""What the terminal's dialogs show, for a host that has dialogs of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quarterdeck import wire

from .base import ControlsBase

if TYPE_CHECKING:
    from quarterdeck.wire import (
        ChromeDialog,
        MemoryDialog,
        SandboxDialog,
        SkillsDialog,
    )


class DialogControls(ControlsBase):
    """Not in the types of the TypeScript SDK 0.3.325, but served by the CLI of the same release."""

    async def memory_dialog(self) -> MemoryDialog:
        """What ``/memory`` shows: the files and folders with instructions and memories."""
        return await self._ask(wire.GetMemoryDialogRequest(), wire.MemoryDialog)

    async def skills_dialog(self) -> SkillsDialog:
        """What ``/skills`` shows: the skills of user, project and plugins, and whether each is on."""
        return await self._ask(wire.GetSkillsDialogRequest(), wire.SkillsDialog)

    async def sandbox_dialog(self) -> SandboxDialog:
        """What ``/sandbox`` shows: whether commands run in a sandbox, what it misses, what it lets through."""
        return await self._ask(wire.GetSandboxDialogRequest(), wire.SandboxDialog)

    async def chrome_dialog(self) -> ChromeDialog:
        """What ``/chrome`` shows: whether the browser extension is there."""
        return await self._ask(wire.GetChromeDialogRequest(), wire.ChromeDialog)
