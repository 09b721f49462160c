"""Whose account sessions run on: the login, what is known of it, and other providers of models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from . import identity, jsonrpc, schema
from .jsonrpc import RpcError
from .kept_sessions import KeptSessions
from .peer import Peer
from .providers import Providers

if TYPE_CHECKING:
    from quarterdeck.timeline.parts import Account

    from .kept_sessions import FindHost


class EditorAccount(KeptSessions):
    """Methods about the account. What is known of it, the open sessions know."""

    def __init__(self, peer: Peer, find_host: FindHost | None, logout: Callable[[], Awaitable[None]] | None) -> None:
        super().__init__(find_host)
        self.peer = peer
        self._logout = logout
        self._told_auth = schema.AuthStatusResponse(state="unknown", accounts=[])
        self._providers = Providers()

    async def _authenticate(self, params: schema.AuthenticateRequest) -> schema.AuthenticateResponse:
        """Nothing to do: Claude Code reads its credentials at each start."""
        if params.method_id != identity.LOGIN:
            raise RpcError(jsonrpc.INVALID_PARAMS, f"there is no login method {params.method_id}")
        return schema.AuthenticateResponse()

    async def _log_out(self, params: schema.LogoutRequest) -> schema.LogoutResponse:
        if self._logout is None:
            raise RpcError(jsonrpc.INTERNAL_ERROR, "this agent cannot log out")
        await self._logout()
        return schema.LogoutResponse()

    async def _auth_status(self, params: schema.AuthStatusRequest) -> schema.AuthStatusResponse:
        self._told_auth = self._known_auth()
        return self._told_auth

    def _account_changed(self) -> None:
        """Report to the editor what has changed since it was last told."""
        known = self._known_auth()
        if known != self._told_auth:
            self._told_auth = known
            told = schema.AuthStatusUpdateNotification(state=known.state, accounts=known.accounts)
            self.peer.notify("auth/status_update", told)

    def _known_auth(self) -> schema.AuthStatusResponse:
        """What a running session knows; without one it is unknown."""
        for one in self._sessions.values():
            account = one.timeline.state.session.account
            if account is not None:
                return auth_of(account)
        return schema.AuthStatusResponse(state="unknown", accounts=[])

    async def _list_providers(self, params: schema.ListProvidersRequest) -> schema.ListProvidersResponse:
        return schema.ListProvidersResponse(providers=self._providers.listed())

    async def _set_provider(self, params: schema.SetProviderRequest) -> schema.SetProviderResponse:
        self._providers.set(params)
        return schema.SetProviderResponse()

    async def _disable_provider(self, params: schema.DisableProviderRequest) -> schema.DisableProviderResponse:
        self._providers.disable(params.provider_id)
        return schema.DisableProviderResponse()


def auth_of(account: Account) -> schema.AuthStatusResponse:
    """Bedrock and others have a login of their own, of which Claude Code says nothing."""
    source = account.api_key_source if account.api_key_source != "none" else None
    elsewhere = account.provider if account.provider != "firstParty" else None
    label = account.email or account.organization or account.subscription or source or elsewhere
    if label is None:
        return schema.AuthStatusResponse(state="unauthenticated", accounts=[])
    known = schema.AuthAccount(label=label, active=True, email=account.email, organization=account.organization)
    return schema.AuthStatusResponse(state="authenticated", accounts=[known])
