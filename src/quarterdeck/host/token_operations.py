"""Operations on tokens. A secret is shown once; only its digest is stored."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
from typing import Any

import msgspec

from quarterdeck.client.connection import new_id
from quarterdeck.store import Commit
from quarterdeck.store.commits import AddAudit, PutToken
from quarterdeck.store.errors import StorageFailed
from quarterdeck.store.records import AuditRecord, TokenRecord

from . import requests as takes
from . import resources as returns
from .callers import PROGRAM, Caller
from .errors import HostError
from .folders import as_path
from .host_base import HostBase
from .idempotency import once, receipt_for
from .times import LONGEST_S, moment

SECRET_BYTES = 32
LAST_USE_S = 60.0
"""Precision of the last-used time: writing it for every request would cost more than the request."""


class TokenOperations(HostBase):
    """Operations on tokens."""

    @once
    async def create_token(
        self, request: takes.CreateToken, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Token:
        """Create a token; its secret is shown once. A retry with the same key returns the token without it."""
        if not request.name.strip():
            raise HostError(
                "invalid", "A token needs a name.", hint="Use the name of a person or a program.", field="name"
            )
        if request.expires_s is not None and not request.expires_s > 0:  # nor for NaN
            raise HostError("invalid", "The token's lifetime must be longer than 0.", field="expires_s")
        if request.expires_s is not None and request.expires_s > LONGEST_S:
            raise HostError(
                "invalid", "A token's lifetime can be at most a hundred years, or unlimited.", field="expires_s"
            )
        if request.may_bypass and not caller.may_bypass:
            raise HostError("forbidden", f"{caller.name} is not allowed to bypass permissions.", field="may_bypass")
        secret, now = f"qd_{secrets.token_urlsafe(SECRET_BYTES)}", self._clock()
        record = TokenRecord(
            id=new_id(),
            name=request.name,
            digest=_digest(secret),
            scope=request.scope,
            created_at=now,
            may_bypass=request.may_bypass,
            expires_at=None if request.expires_s is None else now + request.expires_s,
            folders=tuple(str(as_path(folder, "folders")) for folder in request.folders),
        )
        view = token_view(record)
        receipt = receipt_for(self, "create_token", request, caller, key, view)
        await self.store.commit(Commit(changes=[PutToken(record)], receipt=receipt))
        return msgspec.structs.replace(view, secret=secret)

    async def list_tokens(self, request: takes.Nothing, caller: Caller = PROGRAM) -> returns.TokenList:
        """List tokens and their scopes."""
        return returns.TokenList(tokens=[token_view(record) for record in await self.store.tokens()])

    @once
    async def revoke_token(
        self, request: takes.OfToken, caller: Caller = PROGRAM, key: str | None = None
    ) -> returns.Token:
        """Revoke a token."""
        async with self.tokens_lock:
            found = [record for record in await self.store.tokens() if record.id == request.token_id]
            if not found:
                raise HostError("not_found", f"There is no token {request.token_id}.")
            record = found[0]
            if record.revoked_at is None:
                record = msgspec.structs.replace(record, revoked_at=self._clock())
                receipt = receipt_for(self, "revoke_token", request, caller, key, token_view(record))
                await self.store.commit(Commit(changes=[PutToken(record)], receipt=receipt))
                self.tokens_bell.ring()
            return token_view(record)

    async def authenticate(self, secret: str, *, via: str = "") -> Caller:
        """Return the caller with this secret. Raises ``HostError`` with the same text whatever is wrong."""
        digest, now = _digest(secret), self._clock()
        record = await self._valid_token(digest, now)
        if record.last_used_at is None or now - record.last_used_at >= LAST_USE_S:
            async with self.tokens_lock:
                record = await self._valid_token(digest, now)
                used = msgspec.structs.replace(record, last_used_at=now)
                with contextlib.suppress(StorageFailed):  # a full disk must not lock everybody out
                    await self.store.commit(Commit(changes=[PutToken(used)]))
        return Caller(
            name=record.name,
            via=via,
            scope=token_view(record).scope,
            token_id=record.id,
            may_bypass=record.may_bypass,
            folders=record.folders,
            expires_at=record.expires_at,
        )

    async def _valid_token(self, digest: bytes, now: float) -> TokenRecord:
        record = await self.store.token(digest)
        known = hmac.compare_digest(digest, bytes(len(digest)) if record is None else record.digest)
        if record is None or not known or record.revoked_at is not None or _is_over(record, now):
            raise HostError("unauthenticated", "This token is not valid.", hint="Create a new one.")
        return record

    async def note_attempt(self, *, via: str, **details: Any) -> None:
        """Record a failed login in the audit log, for the gateway that refused it."""
        body = msgspec.json.encode(details)
        entry = AuditRecord(at=self._clock(), who="", operation="authenticate", via=via, body=body)
        await self.store.commit(Commit(changes=[AddAudit(entry)]))


def token_view(record: TokenRecord) -> returns.Token:
    def time_of(at: float | None) -> object:
        return None if at is None else moment(at)

    fields = {
        "id": record.id,
        "name": record.name,
        "scope": record.scope,
        "created_at": moment(record.created_at),
        "may_bypass": record.may_bypass,
        "expires_at": time_of(record.expires_at),
        "last_used_at": time_of(record.last_used_at),
        "revoked_at": time_of(record.revoked_at),
        "folders": list(record.folders),
    }
    return msgspec.convert(fields, returns.Token)


def _digest(secret: str) -> bytes:
    """The secret has 256 random bits, so a plain digest reveals nothing and needs no salt."""
    return hashlib.sha256(secret.encode()).digest()


def _is_over(record: TokenRecord, now: float) -> bool:
    return record.expires_at is not None and record.expires_at <= now
