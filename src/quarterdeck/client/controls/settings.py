"""Settings, rules and hooks in effect, and reloading what is on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from quarterdeck import wire

from .base import ControlsBase

if TYPE_CHECKING:
    from quarterdeck.wire import (
        EditableSettings,
        HooksListing,
        PermissionRulesAnswer,
        ReloadOutputStylesResult,
        ReloadPluginsResult,
        ReloadSkillsResult,
        SdkPluginConfig,
        SettingsAnswer,
    )

RELOAD_S = 180.0
"""Plugins may have to be downloaded and their servers started."""


class SettingsControls(ControlsBase):
    """Settings, rules and hooks."""

    async def settings(self) -> SettingsAnswer:
        """The settings in effect, and each source's own."""
        return await self._ask(wire.GetSettingsRequest(), wire.SettingsAnswer)

    async def apply_settings(self, settings: Mapping[str, Any]) -> None:
        """Override settings for this session only; None removes an override. Nothing is written to disk."""
        await self._tell(wire.ApplyFlagSettingsRequest(dict(settings)))

    async def update_settings(self, source: EditableSettings, settings: Mapping[str, Any]) -> None:
        """Write to a settings file of the user or the project.

        Only some keys may be written: ``outputStyle`` may, ``model`` is refused (2.1.325).
        """
        await self._tell(wire.UpdateSettingsRequest(source, dict(settings)))

    async def permission_rules(self) -> PermissionRulesAnswer:
        """The permission rules and workspace directories in effect, and where each comes from."""
        return await self._ask(wire.ListPermissionRulesRequest(), wire.PermissionRulesAnswer)

    async def hooks_listing(self) -> HooksListing:
        """The hooks of settings files and plugins, and all known events. This program's callbacks are not listed."""
        return await self._ask(wire.GetHooksListingRequest(), wire.HooksListing)

    async def reload_plugins(
        self,
        *,
        hold_on_cache_impact: bool = False,
        add_plugins: Sequence[SdkPluginConfig] | None = None,
        refuse_if_busy: bool = False,
        timeout_s: float | None = RELOAD_S,
    ) -> ReloadPluginsResult:
        """Reload the plugins from disk; returns the plugins loaded afterwards.

        Args:
            hold_on_cache_impact: Do nothing if the reload would change a cached part of the prompt; the answer then
                has ``held`` and ``cache_impact``.
            add_plugins: Further plugins; those already loaded stay.
            refuse_if_busy: An error with the code ``reload_plugins_busy`` while a turn runs.
            timeout_s: How long to wait.
        """
        request = wire.ReloadPluginsRequest(
            hold_on_cache_impact or None, None if add_plugins is None else list(add_plugins), refuse_if_busy or None
        )
        return await self._ask(request, wire.ReloadPluginsResult, timeout_s=timeout_s)

    async def reload_skills(self) -> ReloadSkillsResult:
        """Reload the skills from disk; returns all of them."""
        return await self._ask(wire.ReloadSkillsRequest(), wire.ReloadSkillsResult)

    async def reload_output_styles(self) -> ReloadOutputStylesResult:
        """Reload the output styles from disk; returns all of them."""
        return await self._ask(wire.ReloadOutputStylesRequest(), wire.ReloadOutputStylesResult)
