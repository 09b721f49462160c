"""The parts of a host, and its limits."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from quarterdeck.keeper import KeeperClient
from quarterdeck.policy import Policy
from quarterdeck.store import EventStore

from .accounts import Accounts
from .actor import SessionActor
from .budgets import Spending
from .drift import Drift
from .errors import HostError
from .fanout import Bell
from .frames import KeptFolds
from .grants import Grants
from .lifetimes import life_of
from .limits import Folders, Limits
from .mirroring import Mirror
from .private_options import PrivateOptions
from .requests import Lifecycle
from .stalls import Stalls
from .tally import Tally
from .warm_processes import Warm


class HostParts:
    """What all operations of a host share."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        keeper: bool = True,
        store: EventStore | None = None,
        agents: Mapping[str, Sequence[str] | str] | None = None,
        env: Mapping[str, str] | None = None,
        policy: Policy | None = None,
        folders: Iterable[str | os.PathLike[str]] | None = None,
        limits: Limits | None = None,
        lifecycle: Lifecycle | None = None,
        accounts: Mapping[str, str | os.PathLike[str]] | None = None,
        warm: Iterable[Warm] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args: folder: The state folder, with the log and everything else. keeper: Run processes in a keeper, so that
        they outlive the host. store: A store to use instead of SQLite in ``folder``. agents: Programs by agent name,
        e.g. ``{"claude": "/opt/claude"}``; ``"sim"`` is the simulator. env: Environment variables for every process, in
        addition to the inherited ones. policy: Rules for all sessions, e.g. ``Policy.from_rules(allow=[…], deny=[…])``.
        The strictest rule for a call applies: the host's, the settings files', or the session's own. folders: Folders
        in which sessions may start; None for any. limits: Limits on sessions, processes and prompts. lifecycle:
        Defaults for restarting, ending and parking processes. accounts: Account name → configuration folder
        (``CLAUDE_CONFIG_DIR``). warm: Processes to keep ready, e.g. ``[Warm(like=CreateSession(cwd="/srv/repo"),
        count=2)]``. They count toward the process limit, and end if a session needs their place. clock: Returns the
        time in seconds since 1970.
        """
        self.folder = Path(folder).expanduser()
        self._with_keeper = keeper
        self._given_store = store
        self._agents = dict(agents or {})
        self._private = PrivateOptions(self.folder / "private")
        self._mirror = Mirror(self.folder / "transcripts")
        self._env = dict(env or {})
        self._clock = clock
        self._policy = policy
        self._grants = Grants(clock)
        self._spending = Spending()
        self.tally = Tally()
        self._drift = Drift()
        self.folders = Folders(folders)
        self.limits = limits or Limits()
        self._lifecycle = lifecycle or Lifecycle()
        life_of(self._lifecycle)
        self._accounts = Accounts(accounts, self._account_changed)
        self.keys_in_use: dict[tuple[str, str], asyncio.Future[None]] = {}
        """Idempotency keys of writes in progress."""
        self.receipts_kept: set[tuple[str, str]] = set()
        """Those whose receipt is part of their own commit."""
        self.stalls = Stalls()
        """Sessions whose log can't be written now."""
        self.bell = Bell()
        """Rings when sessions or approvals have changed."""
        self.tokens_bell = Bell()
        """Rings when a token is revoked."""
        self.tokens_lock = asyncio.Lock()
        """Held to change a token: a record that was read before a revocation must not replace it."""
        self._opened_at = 0.0
        self._actors: dict[str, SessionActor] = {}
        self._folds = KeptFolds()
        """Of logs that somebody reads part by part."""
        self._loading: dict[str, asyncio.Lock] = {}
        self._store: EventStore | None = None
        self._keeper: KeeperClient | None = None
        self._opening_keeper = asyncio.Lock()
        self._former_keepers: list[KeeperClient] = []
        self._wanted_warm = tuple(warm)
        self.name = socket.gethostname()

    @property
    def store(self) -> EventStore:
        if self._store is None:
            raise HostError("unavailable", "The host is not open.", hint="Use `async with Host(…) as host`.")
        return self._store

    def now(self) -> float:
        """The time by the host's clock."""
        return self._clock()

    def _admit_process(self, actor: SessionActor) -> None:
        """Raises ``HostError`` if no further process may start."""
        limit = self.limits.processes
        if limit is not None and sum(1 for actor in self._actors.values() if actor.has_process) > limit:
            raise HostError(
                "busy",
                f"{limit} processes are running, the most that this host allows.",
                hint="Stop a session first.",
                limit="processes",
            )

    def _admit_prompt(self, actor: SessionActor) -> None:
        """Raises ``HostError`` if too many prompts are queued."""
        if len(actor.log.fold.queue.prompts) >= self.limits.queue:
            raise HostError(
                "busy",
                f"{self.limits.queue} prompts are queued in this session, the most that this host allows.",
                hint="Withdraw one, or wait.",
                limit="queue",
            )

    async def _current_keeper(self) -> KeeperClient | None:
        """Return the keeper for a new process; starts another if the last one died."""
        if not self._with_keeper:
            return None
        async with self._opening_keeper:
            if self._keeper is None or self._keeper.why_lost is not None:
                self._keeper = await KeeperClient.open(self.folder / "keeper", take_over=True)
            return self._keeper

    def _account_changed(self, account: str) -> None:
        """Update all sessions of an account when its limit is reached or ends."""

        def look_again() -> None:
            for actor in self._actors.values():
                if actor.log.body.account == account and actor.session is not None:
                    actor.log.append([])

        asyncio.get_running_loop().call_soon(look_again)
