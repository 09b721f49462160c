"""The requests of a host, one method each. A request that fails is answered with a code and a sentence."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from quarterdeck.transport.errors import CLINotFoundError, StartFailed
from quarterdeck.transport.scratch import LIMIT_BYTES
from quarterdeck.transport.spawn import ChildCommand

from .ending import AT_ONCE, EndingGrace
from .frames import CORE_REQUESTS, PART_BYTES
from .kept import KeptProcess
from .link import KeeperLink
from .places import SESSIONS
from .starting import PrivateFile, start_process

if TYPE_CHECKING:
    from .service import Keeper

logger = logging.getLogger(__name__)

NAME_LIMIT = 128
GENERATION_LIMIT = 2**63


class RequestRejected(Exception):  # noqa: N818  # says what happened
    """A rejected request, with a code for programs and a sentence for people."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.reply = {"error": code, "message": message, **more}


Reply = Callable[..., None]


class Requests:
    """Serves the requests of one host at a time."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._last_channel = 0
        self._files: list[PrivateFile] = []
        """Files sent ahead of the command that needs them."""
        self._files_bytes = 0
        self._known: dict[str, Callable[[KeeperLink, Reply, dict[str, Any], memoryview], None]] = {
            "list": self._list,
            "read": self._read,
            "end": self._end,
            "drop": self._drop,
            "retire": self._retire,
            "stop": self._stop,
            "file": self._file,
            "start": self._start,
            "attach": self._attach,
            "detach": self._detach,
            "acknowledge": self._acknowledge,
        }

    def serve(self, link: KeeperLink, number: int, request: dict[str, Any], blob: memoryview) -> None:
        name = request.get("request")
        reply = partial(link.reply, number)
        try:
            serve = self._known.get(str(name))
            if serve is None:
                raise RequestRejected("unknown_request", f"This keeper does not know the request {name!r}.")
            if link.limited and name not in CORE_REQUESTS:
                raise RequestRejected("limited", f"A host with another protocol version cannot use {name!r}.")
            serve(link, reply, request, blob)
        except RequestRejected as refused:
            reply(refused.reply)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reply({"error": "bad_request", "message": f"The request {name!r} is invalid: {error!r}"})
        except Exception as error:
            logger.exception("request %s failed", name)
            reply({"error": "failed", "message": f"The request {name!r} failed: {error!r}"})

    def forget(self) -> None:
        """Drop a host's unfinished uploads when it is gone."""
        self._files.clear()
        self._files_bytes = 0

    # For hosts of every version

    def _list(self, _: KeeperLink, reply: Reply, __: dict[str, Any], ___: memoryview) -> None:
        reply({"sessions": [kept.describe() for kept in self._keeper.sessions.values()]})

    def _read(self, _: KeeperLink, reply: Reply, request: dict[str, Any], __: memoryview) -> None:
        """Read part of a spool, for a host that can't attach."""
        kept = self._kept(request)
        offset = self._offset(kept, request)
        size = max(1, min(int(request.get("size", PART_BYTES)), PART_BYTES))
        data = kept.output.spool.read(offset, size)
        reply({"offset": offset, **kept.describe(), "stderr": kept.stderr_tail}, data)

    def _end(self, _: KeeperLink, reply: Reply, request: dict[str, Any], __: memoryview) -> None:
        """End a process; answered when it and everything it started are gone."""
        kept = self._kept(request)
        patience = AT_ONCE if request.get("at_once") else EndingGrace.asked_for(request)
        kept.end(patience, lambda: reply(kept.describe()))

    def _drop(self, _: KeeperLink, reply: Reply, request: dict[str, Any], __: memoryview) -> None:
        """Drop a process; answered when nothing is left of it in memory or on disk."""
        kept = self._kept(request)
        if kept.returncode is None:
            raise RequestRejected("running", f"Session {kept.session} is running; end it first.")

        def drop() -> None:
            if self._keeper.sessions.get((kept.session, kept.generation)) is kept:
                self._keeper.drop(kept)
            reply({})

        kept.when_over(drop)

    def _retire(self, _: KeeperLink, reply: Reply, __: dict[str, Any], ___: memoryview) -> None:
        reply({})
        self._keeper.retire()

    def _stop(self, _: KeeperLink, reply: Reply, request: dict[str, Any], __: memoryview) -> None:
        self._keeper.stop(lambda: reply({}), EndingGrace.asked_for(request))

    # For hosts of this version

    def _file(self, _: KeeperLink, reply: Reply, request: dict[str, Any], blob: memoryview) -> None:
        """Receive a private file, or the next part of one."""
        self._files_bytes += len(blob)
        if self._files_bytes > LIMIT_BYTES:
            self.forget()
            raise RequestRejected("too_large", f"The private files of a session exceed {LIMIT_BYTES} bytes.")
        flag, name = str(request["flag"]), str(request["name"])
        if request.get("more") and self._files and self._files[-1].name == name:
            self._files[-1] = PrivateFile(flag, name, self._files[-1].content + bytes(blob))
        else:
            self._files.append(PrivateFile(flag, name, bytes(blob)))
        reply({})

    def _start(self, link: KeeperLink, reply: Reply, request: dict[str, Any], _: memoryview) -> None:
        files = list(self._files)
        self.forget()
        session, generation = _checked_key(request)
        keeper = self._keeper
        if keeper.retired:
            raise RequestRejected("retired", "This keeper starts no more sessions. Use another one.")
        if known := keeper.sessions.get((session, generation)):
            message = f"Generation {generation} of session {session} was started before; attach to it."
            raise RequestRejected("exists", message, **known.describe())
        try:
            kept = self._new(session, generation, _command(request), files)
        except CLINotFoundError as error:
            raise RequestRejected("cli_not_found", str(error), path=error.cli_path) from error
        except StartFailed as error:
            raise RequestRejected("start_failed", error.reason, path=error.cli_path) from error
        except OSError as error:
            raise RequestRejected("start_failed", str(error)) from error
        keeper.add(kept)
        self._attach_to(kept, link, reply, 0)

    def _new(self, session: str, generation: int, command: ChildCommand, files: list[PrivateFile]) -> KeptProcess:
        keeper = self._keeper
        started = start_process(
            command,
            files,
            keeper.claim.folder / SESSIONS / f"{session}.{generation}",
            segment_bytes=keeper.settings.segment_bytes,
            capabilities=keeper.capabilities,
            descriptors=keeper.descriptors,
        )
        self._last_channel += 1
        try:
            return KeptProcess(
                keeper.loop,
                started,
                session=session,
                generation=generation,
                channel=self._last_channel,
                spool_limit_bytes=keeper.settings.spool_limit_bytes,
            )
        except BaseException:  # it must not keep running unwatched
            started.undo()
            raise

    def _attach(self, link: KeeperLink, reply: Reply, request: dict[str, Any], _: memoryview) -> None:
        kept = self._kept(request)
        if kept.attached:
            raise RequestRejected("attached", f"Session {kept.session} is already attached.")
        self._attach_to(kept, link, reply, self._offset(kept, request))

    def _attach_to(self, kept: KeptProcess, link: KeeperLink, reply: Reply, offset: int) -> None:
        reply({**kept.describe(), "channel": kept.channel, "offset": offset, "stderr": kept.stderr_tail})
        kept.attach(link, offset)

    def _detach(self, link: KeeperLink, reply: Reply, request: dict[str, Any], _: memoryview) -> None:
        kept = self._kept(request)
        link.unqueue(kept.output)
        kept.detach()
        reply({})

    def _acknowledge(self, _: KeeperLink, reply: Reply, request: dict[str, Any], __: memoryview) -> None:
        """Acknowledge output of a session that isn't attached; attached ones use a frame."""
        kept = self._kept(request)
        kept.output.acknowledge(int(request["offset"]))
        reply(kept.describe())

    # What requests have in common

    def _kept(self, request: dict[str, Any]) -> KeptProcess:
        """Find the given generation of a session, or its newest."""
        session, generation = request["session"], request.get("generation")
        found = [
            kept
            for kept in self._keeper.sessions.values()
            if kept.session == session and generation in (None, kept.generation)
        ]
        if not found:
            which = "" if generation is None else f"generation {generation} of "
            raise RequestRejected("unknown_session", f"This keeper has no {which}session {session!r}.")
        return max(found, key=lambda kept: kept.generation)

    def _offset(self, kept: KeptProcess, request: dict[str, Any]) -> int:
        spool = kept.output.spool
        asked = request.get("offset")
        offset = spool.acknowledged if asked is None else int(asked)
        if not spool.first <= offset <= spool.end:
            message = f"Offset {offset} of session {kept.session} is not in its spool."
            raise RequestRejected("no_such_offset", message, first=spool.first, end=spool.end)
        return offset


def _checked_key(request: dict[str, Any]) -> tuple[str, int]:
    """Check the session and generation of a new process: they name a folder, so only plain characters."""
    session, generation = request["session"], request["generation"]
    plain = isinstance(session, str) and session.isascii() and session.replace("-", "").replace("_", "").isalnum()
    if not plain or len(session) > NAME_LIMIT:
        raise RequestRejected(
            "bad_request", f"A session's name must be 1 to {NAME_LIMIT} letters, digits, - and _, not {session!r}."
        )
    if type(generation) is not int or not 0 < generation < GENERATION_LIMIT:
        raise RequestRejected("bad_request", f"A generation must be a positive number, not {generation!r}.")
    return session, generation


def _command(request: dict[str, Any]) -> ChildCommand:
    argv, env, cwd, user = request["argv"], request["env"], request["cwd"], request.get("user")
    if not (isinstance(argv, list) and argv and all(isinstance(word, str) for word in argv)):
        raise ValueError("argv must be a list of strings")
    if not (isinstance(env, dict) and all(isinstance(value, str) for value in env.values())):
        raise ValueError("env must be an object of strings")
    if not isinstance(cwd, str) or not isinstance(user, str | int | None):
        raise ValueError("cwd must be a path, user a name or a number")
    return ChildCommand(argv, cwd=cwd, env=env, user=user)
