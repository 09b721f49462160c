"""A session whose program runs elsewhere than its event loop: the program's own code, brought to where it belongs.

The session lives in the loop's thread; callbacks, hooks, prompts that come as a stream, stores and the like are the
program's, and run where the program runs: in threads, or under trio. ``Side`` says where, ``carry_over`` does it for
everything in the options.
"""

from __future__ import annotations

import asyncio
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from types import SimpleNamespace
from typing import Any, TypeVar

from .options import ClaudeAgentOptions
from .options_types import HookMatcher
from .retry import Retry
from .serving import CancelSignal
from .transcript_stores.protocol import SessionStore, implements

T = TypeVar("T")

CALLBACKS = ("can_use_tool", "on_user_dialog", "on_elicitation", "on_question", "on_plan")
STORE_METHODS = ("append", "load", "list_sessions", "list_session_summaries", "delete", "list_subkeys")


class Side(ABC):
    """The program's side. All methods are called in the loop's thread, or before it has the session."""

    @abstractmethod
    async def call(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Call it where the program runs, and await what it returns if that is to be awaited."""

    @abstractmethod
    def one_way(self, function: Callable[[T], None]) -> Callable[[T], None]:
        """For what is only told (lines of stderr, notices): take it without waiting, call the function in turn."""

    @abstractmethod
    def signal(self, signal: CancelSignal) -> Any:
        """The signal in a form whose ``wait`` suits the program."""

    @abstractmethod
    def abort(self, abort: Any) -> Any:
        """The program's event, in a form that can be awaited in the loop."""

    @abstractmethod
    def prompts(self, prompts: Any) -> AsyncIterator[Any]:
        """The program's iterable, to be iterated over in the loop."""

    def servers(self, servers: Mapping[str, Any]) -> dict[str, Any]:
        """MCP servers in this process."""
        return dict(servers)

    def callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def called(*args: Any) -> Any:
            return await self.call(function, *(self._handed(arg) for arg in args))

        return called

    def _handed(self, argument: Any) -> Any:
        """Signals come as arguments, in the context of a permission, and in that of a hook."""
        if isinstance(argument, CancelSignal):
            return self.signal(argument)
        if isinstance(argument, dict) and isinstance(argument.get("signal"), CancelSignal):
            return {**argument, "signal": self.signal(argument["signal"])}
        if isinstance(getattr(argument, "signal", None), CancelSignal):
            argument.signal = self.signal(argument.signal)
        return argument


def carry_over(options: ClaudeAgentOptions, side: Side) -> ClaudeAgentOptions:
    """The options for the session in the loop's thread."""
    changes: dict[str, Any] = {
        name: side.callback(getattr(options, name)) for name in CALLBACKS if callable(getattr(options, name))
    }
    if isinstance(options.hooks, dict):
        changes["hooks"] = {
            event: [_matcher(one, side) for one in matchers] if _is_list(matchers) else matchers
            for event, matchers in options.hooks.items()
        }
    if isinstance(options.mcp_servers, dict):
        changes["mcp_servers"] = side.servers(options.mcp_servers)
    if callable(options.stderr):
        changes["stderr"] = side.one_way(options.stderr)
    if isinstance(options.retry, Retry):
        changes["retry"] = carry_retry(options.retry, side)
    if options.abort is not None:
        changes["abort"] = side.abort(options.abort)
    if options.session_store is not None:
        changes["session_store"] = _store(options.session_store, side)
    return dataclasses.replace(options, **changes)


def carry_retry(retry: Retry, side: Side) -> Retry:
    sleep = retry.sleep if retry.sleep is asyncio.sleep else side.callback(retry.sleep)
    return dataclasses.replace(
        retry, sleep=sleep, on_notice=None if retry.on_notice is None else side.one_way(retry.on_notice)
    )


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _matcher(matcher: Any, side: Side) -> Any:
    """What is no matcher is left for the validation to complain about."""
    if not isinstance(matcher, HookMatcher):
        return matcher
    return dataclasses.replace(matcher, hooks=[side.callback(hook) for hook in matcher.hooks])


def _store(store: SessionStore, side: Side) -> Any:
    """Our own stores are at home in the loop's thread; the program's have its methods, each called on its side."""
    if type(store).__module__.startswith("quarterdeck."):
        return store
    methods = {name: side.callback(getattr(store, name)) for name in STORE_METHODS if implements(store, name)}
    return SimpleNamespace(**methods)
