"""Runs the program's callbacks where the program runs, for sessions whose event loop is in its own thread.

The session lives in the loop's thread. Callbacks, hooks, prompt streams and stores are the program's code and run where
the program does: in threads, or under trio. A ``CallbackRunner`` runs them; ``offload_options`` wraps all of them in
the options.
"""

from __future__ import annotations

import asyncio
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from types import SimpleNamespace
from typing import Any, TypeVar

from .guard import FAILS_CLOSED, fails_closed, guard_of
from .options import ClaudeAgentOptions
from .options_types import HookMatcher
from .retry import Retry
from .serving import CancelSignal
from .transcript_stores.protocol import SessionStore, implements

T = TypeVar("T")

CALLBACKS = ("can_use_tool", "on_user_dialog", "on_elicitation", "on_question", "on_plan")
STORE_METHODS = ("append", "load", "list_sessions", "list_session_summaries", "delete", "list_subkeys")


class CallbackRunner(ABC):
    """Runs the program's code. Its methods are called in the loop's thread, or before the session exists."""

    @abstractmethod
    async def call(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Call ``function`` where the program runs, and await what it returns if that is awaitable."""

    @abstractmethod
    def one_way(self, function: Callable[[T], None]) -> Callable[[T], None]:
        """For notifications (lines of stderr, notices): returns at once and calls ``function`` in order, later."""

    @abstractmethod
    def signal(self, signal: CancelSignal) -> Any:
        """The signal with a ``wait`` that the program can call."""

    @abstractmethod
    def abort(self, abort: Any) -> Any:
        """The program's event, awaitable in the loop."""

    @abstractmethod
    def prompts(self, prompts: Any) -> AsyncIterator[Any]:
        """The program's iterable, as an async iterator for the loop."""

    def servers(self, servers: Mapping[str, Any]) -> dict[str, Any]:
        """MCP servers in this process."""
        return dict(servers)

    def callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def called(*args: Any) -> Any:
            return await self.call(function, *(self._handed(arg) for arg in args))

        if fails_closed(function):
            setattr(called, FAILS_CLOSED, True)
        return called

    def _handed(self, argument: Any) -> Any:
        """Signals come as arguments, or inside the context of a permission request or a hook."""
        if isinstance(argument, CancelSignal):
            return self.signal(argument)
        if isinstance(argument, dict) and isinstance(argument.get("signal"), CancelSignal):
            return {**argument, "signal": self.signal(argument["signal"])}
        if isinstance(getattr(argument, "signal", None), CancelSignal):
            argument.signal = self.signal(argument.signal)
        return argument


def offload_options(options: ClaudeAgentOptions, runner: CallbackRunner) -> ClaudeAgentOptions:
    """The options for the session in the loop's thread."""
    changes: dict[str, Any] = {
        name: runner.callback(getattr(options, name)) for name in CALLBACKS if callable(getattr(options, name))
    }
    if "can_use_tool" in changes and (guard := guard_of(options.can_use_tool)) is not None:
        changes["can_use_tool"].guard = runner.callback(guard)
    if isinstance(options.hooks, dict):
        changes["hooks"] = {
            event: [_matcher(one, runner) for one in matchers] if _is_list(matchers) else matchers
            for event, matchers in options.hooks.items()
        }
    if isinstance(options.mcp_servers, dict):
        changes["mcp_servers"] = runner.servers(options.mcp_servers)
    if callable(options.stderr):
        changes["stderr"] = runner.one_way(options.stderr)
    if isinstance(options.retry, Retry):
        changes["retry"] = offload_retry(options.retry, runner)
    if options.abort is not None:
        changes["abort"] = runner.abort(options.abort)
    if options.session_store is not None:
        changes["session_store"] = _store(options.session_store, runner)
    return dataclasses.replace(options, **changes)


def offload_retry(retry: Retry, runner: CallbackRunner) -> Retry:
    sleep = retry.sleep if retry.sleep is asyncio.sleep else runner.callback(retry.sleep)
    return dataclasses.replace(
        retry, sleep=sleep, on_notice=None if retry.on_notice is None else runner.one_way(retry.on_notice)
    )


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _matcher(matcher: Any, runner: CallbackRunner) -> Any:
    """Anything but a matcher is left for the validation to reject."""
    if isinstance(matcher, dict) and _is_list(matcher.get("hooks")):
        return {**matcher, "hooks": [runner.callback(hook) for hook in matcher["hooks"]]}
    if not isinstance(matcher, HookMatcher):
        return matcher
    return dataclasses.replace(matcher, hooks=[runner.callback(hook) for hook in matcher.hooks])


def _store(store: SessionStore, runner: CallbackRunner) -> Any:
    """Our own stores run in the loop's thread; the methods of the program's stores go through the runner."""
    if type(store).__module__.startswith("quarterdeck."):
        return store
    methods = {name: runner.callback(getattr(store, name)) for name in STORE_METHODS if implements(store, name)}
    return SimpleNamespace(**methods)
