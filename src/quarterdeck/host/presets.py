"""Presets: named sets of options for new sessions. An administrator defines them; everyone who may start sessions may
use them, even if they contain options that need an administrator.

Options that may contain secrets are kept as those of sessions are (``private_options``): in one file for all presets,
named by the setting that the store has.
"""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import msgspec

from quarterdeck.client.connection import new_id
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
from .launching import check_options, split_options
from .lifetimes import life_of
from .policies import own_policy
from .settings import converted

SETTING = "presets"
MOST = 200
NAME_CHARS = 100
FILES = "presets-"
"""What the names of files with their private options begin with."""
HIDDEN = "…"


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


class _Stored(Presets, frozen=True, kw_only=True, omit_defaults=True):
    """What the store has: the presets without their private options."""

    private: dict[str, list[str]] = {}
    """The names of each preset's private options."""
    file: str = ""
    """Where their values are."""


class PresetOperations(HostBase):
    """Operations on presets."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._changing_presets = asyncio.Lock()
        """Held while the file and the setting may not match."""

    async def get_presets(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.Details:
        """Get the presets: named sets of options for new sessions. Only administrators see the values of options."""
        stored, private = await self._presets()
        admin = caller.scope == "admin"
        return returns.Details(details={"presets": _shown(stored, private if admin else {}, public=admin)})

    @once
    async def set_presets(
        self, request: takes.Settings, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Details:
        """Replace the presets. The answer does not repeat what may be secret."""
        presets = converted(request.settings, Presets)
        if len(presets.presets) > MOST:
            raise HostError("invalid", f"At most {MOST} presets.", field="settings")
        for name, preset in presets.presets.items():
            try:
                self._check_preset(name, preset)
            except HostError as error:
                raise HostError("invalid", f"Preset {name[:NAME_CHARS]!r}: {error}", field="settings") from error
        stored, private = _split(presets)
        result = returns.Details(details={"presets": _shown(stored, {})})
        receipt = receipt_for(self, "set_presets", request, caller, key, result)
        change = PutSetting(SETTING, msgspec.json.encode(stored))
        async with self._changing_presets:
            await asyncio.to_thread(self._private.keep, stored.file, private)
            await self.store.commit(Commit(changes=[change], receipt=receipt))
            await asyncio.to_thread(self._private.forget_others, FILES, stored.file)
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

    async def _presets(self) -> tuple[_Stored, dict[str, dict[str, Any]]]:
        """The presets, and the private options of each. Those of a restored backup are missing."""
        async with self._changing_presets:
            kept = await self.store.setting(SETTING)
            stored = _Stored() if kept is None else msgspec.json.decode(kept, type=_Stored)
            return stored, await asyncio.to_thread(self._private.read, stored.file) if stored.private else {}

    async def _with_preset(self, request: takes.CreateSession, caller: Caller) -> takes.CreateSession:
        """Merge a request with its preset. The smaller budget applies, and both policies."""
        if request.preset is None:
            return request
        stored, values = await self._presets()
        preset = stored.presets.get(request.preset)
        if preset is None:
            raise HostError("not_found", f"There is no preset {request.preset[:NAME_CHARS]!r}.", field="preset")
        private = values.get(request.preset, {})
        if missing := set(stored.private.get(request.preset, ())) - private.keys():
            raise HostError(
                "conflict",
                f"Options of the preset {request.preset!r} are stored outside the database, and they are missing: "
                f"{', '.join(sorted(missing))}.",
                hint="Set the presets again.",
                field="preset",
            )
        mode = request.permission_mode or preset.permission_mode
        if mode == "bypassPermissions" and not caller.may_bypass:
            raise HostError("forbidden", f"{caller.name} may not use bypassPermissions.", field="preset")
        budgets = [one for one in (request.budget_usd, preset.budget_usd) if one is not None]
        return msgspec.structs.replace(
            request,
            agent=preset.agent if preset.agent is not None and request.agent == "claude" else request.agent,
            model=request.model or preset.model,
            permission_mode=mode,
            options={**preset.options, **private, **request.options},
            policy=_both(preset.policy, request.policy),
            budget_usd=min(budgets, default=None),
            tags=list(dict.fromkeys([*preset.tags, *request.tags])),
            account=request.account or preset.account or "",
            cli_version=request.cli_version or preset.cli_version,
            lifecycle=request.lifecycle or preset.lifecycle,
            host_tools=request.host_tools or preset.host_tools,
        )


def _split(presets: Presets) -> tuple[_Stored, dict[str, dict[str, Any]]]:
    """What the store gets, and the private options of each preset."""
    public: dict[str, Preset] = {}
    private: dict[str, dict[str, Any]] = {}
    for name, preset in presets.presets.items():
        options, own = split_options(preset.options)
        public[name] = msgspec.structs.replace(preset, options=options)
        if own:
            private[name] = own
    names = {name: list(own) for name, own in private.items()}
    return _Stored(presets=public, private=names, file=f"{FILES}{new_id()}"), private


def _shown(stored: _Stored, private: dict[str, dict[str, Any]], *, public: bool = True) -> dict[str, Any]:
    """All presets by name, with these private options; other values are hidden."""
    shown: dict[str, Any] = {}
    for name, preset in sorted(stored.presets.items()):
        fields: dict[str, Any] = msgspec.to_builtins(preset)
        hidden = dict.fromkeys(stored.private.get(name, ()), HIDDEN)
        given = preset.options if public else dict.fromkeys(preset.options, HIDDEN)
        if options := {**given, **hidden, **private.get(name, {})}:
            fields["options"] = options
        shown[name] = fields
    return shown


def _both(first: dict[str, Any] | None, second: dict[str, Any] | None) -> dict[str, Any] | None:
    if not first or not second:
        return first or second
    joined = dict(first)
    for name, value in second.items():
        before = joined.get(name)
        joined[name] = [*before, *value] if isinstance(before, list) and isinstance(value, list) else value
    return joined
