"""Presets: named sets of options for new sessions. An administrator defines them; everyone who may start sessions may
use them, even if they contain options that need an administrator."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

from quarterdeck.store import Commit
from quarterdeck.store.commits import PutSetting

from . import requests as takes
from . import resources as returns
from .budgets import check_budget
from .callers import PROGRAM, Caller
from .errors import HostError
from .host_base import HostBase
from .host_tools import check_host_tools
from .idempotency import once, receipt_for
from .launching import check_options
from .lifetimes import life_of
from .policies import own_policy
from .settings import converted

SETTING = "presets"
MOST = 200
NAME_CHARS = 100


class Preset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Fields of ``CreateSession``."""

    about: str = ""
    agent: str | None = None
    model: str | None = None
    permission_mode: str | None = None
    options: dict[str, Any] = {}
    policy: dict[str, Any] | None = None
    budget_usd: Decimal | None = None
    tags: list[str] = []
    account: str | None = None
    cli_version: str | None = None
    lifecycle: takes.Lifecycle | None = None
    host_tools: takes.HostTools | None = None


class Presets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """By name."""

    presets: dict[str, Preset] = {}


class PresetOperations(HostBase):
    """Operations on presets."""

    async def get_presets(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.Details:
        """Get the presets: named sets of options for new sessions. Only administrators see the values of options."""
        shown = {
            name: _shown(preset, admin=caller.scope == "admin")
            for name, preset in sorted((await self._presets()).presets.items())
        }
        return returns.Details(details={"presets": shown})

    @once
    async def set_presets(
        self, request: takes.Settings, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Details:
        """Replace the presets."""
        presets = converted(request.settings, Presets)
        if len(presets.presets) > MOST:
            raise HostError("invalid", f"At most {MOST} presets.", field="settings")
        for name, preset in presets.presets.items():
            try:
                self._check_preset(name, preset)
            except HostError as error:
                raise HostError("invalid", f"Preset {name[:NAME_CHARS]!r}: {error}", field="settings") from error
        result = returns.Details(
            details={"presets": {name: _shown(one, admin=True) for name, one in sorted(presets.presets.items())}}
        )
        receipt = receipt_for(self, "set_presets", request, caller, key, result)
        change = PutSetting(SETTING, msgspec.json.encode(presets))
        await self.store.commit(Commit(changes=[change], receipt=receipt))
        return result

    def _check_preset(self, name: str, preset: Preset) -> None:
        if not 0 < len(name) <= NAME_CHARS or not name.isprintable():
            raise HostError("invalid", f"A name has 1 to {NAME_CHARS} printable characters.")
        check_options(preset.options, admin=True)
        check_budget(preset.budget_usd, "budget_usd")
        own_policy(preset.policy)
        if preset.lifecycle is not None:
            life_of(self._lifecycle, preset.lifecycle)
        if preset.host_tools is not None:
            check_host_tools(preset.host_tools)
        if preset.account is not None:
            self._accounts.check(preset.account)

    async def _presets(self) -> Presets:
        kept = await self.store.setting(SETTING)
        return Presets() if kept is None else msgspec.json.decode(kept, type=Presets)

    async def _with_preset(self, request: takes.CreateSession, caller: Caller) -> takes.CreateSession:
        """Merge a request with its preset. The smaller budget applies, and both policies."""
        if request.preset is None:
            return request
        preset = (await self._presets()).presets.get(request.preset)
        if preset is None:
            raise HostError("not_found", f"There is no preset {request.preset[:NAME_CHARS]!r}.", field="preset")
        mode = request.permission_mode or preset.permission_mode
        if mode == "bypassPermissions" and not caller.may_bypass:
            raise HostError("forbidden", f"{caller.name} may not use bypassPermissions.", field="preset")
        budgets = [one for one in (request.budget_usd, preset.budget_usd) if one is not None]
        return msgspec.structs.replace(
            request,
            agent=preset.agent if preset.agent is not None and request.agent == "claude" else request.agent,
            model=request.model or preset.model,
            permission_mode=mode,
            options={**preset.options, **request.options},
            policy=_both(preset.policy, request.policy),
            budget_usd=min(budgets, default=None),
            tags=list(dict.fromkeys([*preset.tags, *request.tags])),
            account=request.account or preset.account or "",
            cli_version=request.cli_version or preset.cli_version,
            lifecycle=request.lifecycle or preset.lifecycle,
            host_tools=request.host_tools or preset.host_tools,
        )


def _shown(preset: Preset, *, admin: bool) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(preset)
    if not admin and "options" in fields:
        fields["options"] = dict.fromkeys(fields["options"], "…")
    return fields


def _both(first: dict[str, Any] | None, second: dict[str, Any] | None) -> dict[str, Any] | None:
    if not first or not second:
        return first or second
    joined = dict(first)
    for name, value in second.items():
        before = joined.get(name)
        joined[name] = [*before, *value] if isinstance(before, list) and isinstance(value, list) else value
    return joined
