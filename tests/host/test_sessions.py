"""Sessions are changed, deleted, forked, rewound, asked and looked at."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from host.kit import ASKS, LIMIT_S, Place, all_frames, decide, kill, kinds, pending
from quarterdeck.host import Caller, Host, HostError
from quarterdeck.host.events import CustomEvent, Gap, RawLine
from quarterdeck.host.limits import Limits
from quarterdeck.host.requests import (
    AddEvent,
    CreateSession,
    Export,
    Fork,
    ListFiles,
    ListSessions,
    Nothing,
    OfSession,
    OfSubagent,
    OfTask,
    ReadEvents,
    SendControl,
    SendPrompt,
    UpdateSession,
    Upload,
    Wait,
    WatchHost,
    WatchSession,
)
from quarterdeck.host.resources import Frame
from quarterdeck.timeline.events import PromptSent


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, keeper=False)


async def test_an_agent_can_be_the_simulator_and_its_sessions_say_so(place: Place) -> None:
    agents = {"claude": "sim", "sim": str(place.claude.path)}
    place.claude.play(["Hi."])
    async with place.opened(agents=agents) as host:
        session = await place.created(host)
        assert session.agent == "sim"
        await idle(host, session.id)
        assert (await host.get_session(OfSession(session_id=session.id))).state == "idle"


async def test_the_simulators_sessions_are_not_among_real_ones_and_can_be_resumed(tmp_path: Path) -> None:
    place = Place(tmp_path, keeper=False)
    home = tmp_path / "home"
    home.mkdir()
    async with place.opened(agents={}, env={"HOME": str(home)}) as host:
        session = await place.created(host, "hello", agent="sim")
        await idle(host, session.id)
        await host.stop(of(session))
        assert not (home / ".claude").exists()
        assert list((home / ".claude-simulator" / "projects").rglob("*.jsonl"))
        assert (await host.resume(of(session))).state == "idle"


OPERATOR = Caller(name="operator", scope="operate")


async def idle(host: Host, session: str) -> None:
    await host.wait(Wait(session_id=session, for_=["idle"], timeout_s=LIMIT_S))


def of(session: Any) -> OfSession:
    return OfSession(session_id=session.id)


async def test_a_session_is_renamed_tagged_and_given_a_budget_and_a_model(place: Place) -> None:
    place.claude.play(["Hi."], ["Again."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session.id)
        changed = await host.update_session(
            UpdateSession(
                session_id=session.id, name="new", tags=["x"], budget_usd=Decimal("2.5"), permission_mode="plan"
            )
        )
        assert (changed.name, changed.tags, changed.budget_usd) == ("new", ["x"], Decimal("2.5"))
        assert changed.permission_mode == "plan"
        assert [one.id for one in (await host.list_sessions(ListSessions(tag=["x"]))).sessions] == [session.id]
        removed = await host.update_session(UpdateSession(session_id=session.id, budget_usd=None))
        assert (removed.budget_usd, removed.name) == (None, "new")
        with pytest.raises(HostError, match="must be 0 or more"):
            await host.update_session(UpdateSession(session_id=session.id, max_thinking_tokens=-1))
        assert kinds(await all_frames(host, session.id)).count("BudgetChanged") == 2


async def test_what_is_changed_on_a_stopped_session_is_what_its_next_process_gets(place: Place) -> None:
    place.claude.play(["Hi."], ["Again."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session.id)
        await host.stop(of(session))
        await host.update_session(
            UpdateSession(session_id=session.id, model="claude-haiku-4-5", permission_mode="acceptEdits")
        )
        await host.send_prompt(SendPrompt(session_id=session.id, content="again"))
        await idle(host, session.id)
        now = await host.get_session(of(session))
        assert (now.model, now.permission_mode) == ("claude-haiku-4-5", "acceptEdits")


async def test_an_archived_session_is_out_of_the_way_until_it_is_resumed(place: Place) -> None:
    place.claude.play(["Hi."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session.id)
        with pytest.raises(HostError, match="Stop it first"):
            await host.update_session(UpdateSession(session_id=session.id, archived=True))
        await host.stop(of(session))
        await host.update_session(UpdateSession(session_id=session.id, archived=True))
        assert (await host.list_sessions(ListSessions())).sessions == []
        assert not (await host.resume(of(session))).archived


async def test_a_deleted_session_is_gone_and_its_watchers_end(place: Place) -> None:
    place.claude.play(["Hi."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session.id)

        attached = asyncio.Event()

        async def watch() -> None:
            async for _ in host.watch_session(WatchSession(session_id=session.id)):
                attached.set()

        watching = asyncio.ensure_future(watch())
        async with asyncio.timeout(LIMIT_S):
            await attached.wait()
            await host.delete_session(of(session))
            await watching
        with pytest.raises(HostError) as missing:
            await host.get_session(of(session))
        assert missing.value.code == "not_found"


async def test_a_fork_goes_on_in_a_session_of_its_own(place: Place) -> None:
    place.claude.play(["Hi."], ["Again."])
    async with place.opened() as host:
        session = await place.created(host)
        with pytest.raises(HostError) as missing:
            await host.fork(Fork(session_id=session.id, at="no such message"))
        assert missing.value.code in ("conflict", "not_found")
        await idle(host, session.id)
        fork = await host.fork(Fork(session_id=session.id, name="other way"), key="once")
        again = await host.fork(Fork(session_id=session.id, name="other way"), key="once")
        assert (fork.parent_id, fork.name, again.id) == (session.id, "other way", fork.id)
        await host.send_prompt(SendPrompt(session_id=fork.id, content="on"))
        await idle(host, fork.id)
        known = await host.get_session(of(session)), await host.get_session(of(fork))
        assert known[0].transcript_id != known[1].transcript_id


async def test_raw_control_asks_what_has_no_operation_and_nothing_else(place: Place) -> None:
    place.claude.play(["Hi."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session.id)

        async def refused(subtype: str, caller: Caller = OPERATOR) -> str:
            with pytest.raises(HostError) as error:
                await host.send_control(SendControl(session_id=session.id, subtype=subtype), caller)
            return error.value.code

        for typed in ("interrupt", "set_permission_mode", "mcp_set_servers", "can_use_tool", "initialize"):
            assert await refused(typed, Caller()) == "invalid"
        for powerful in ("update_settings", "apply_flag_settings", "mcp_call", "read_file", "unheard_of"):
            assert await refused(powerful) == "forbidden"
        answer = await host.send_control(SendControl(session_id=session.id, subtype="get_session_cost"), OPERATOR)
        assert answer.details


async def test_variables_of_the_environment_are_for_admins_and_must_be_text(place: Place) -> None:
    place.claude.play(["Hi."], ["Again."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session.id)

        async def change(fields: dict[str, Any], **caller: Caller) -> None:
            subtype = "update_environment_variables"
            await host.send_control(SendControl(session_id=session.id, subtype=subtype, fields=fields), **caller)

        for fields in ({}, {"variables": ["A"]}, {"variables": {"A": 1}}, {"variables": {}, "more": 1}):
            with pytest.raises(HostError) as wrong:
                await change(fields)
            assert (wrong.value.code, wrong.value.details["field"]) == ("invalid", "fields.variables")
        with pytest.raises(HostError) as forbidden:
            await change({"variables": {"A": "1"}}, caller=OPERATOR)
        assert forbidden.value.code == "forbidden"
        await change({"variables": {"A": "1"}})
        await host.stop(of(session))
        with pytest.raises(HostError) as gone:
            await change({"variables": {"A": "1"}})
        assert gone.value.code == "not_running"


async def test_what_the_cli_knows_can_be_asked(place: Place) -> None:
    place.claude.play(["Hi."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session.id)
        info = (await host.get_info(of(session))).details
        assert info["tools"]
        assert info["handshake"]["commands"]
        assert (await host.get_context(of(session))).details["live"]
        assert (await host.list_mcp_servers(of(session))).details["live"]
        assert (await host.get_result(of(session))).details["result"]["text"] == "Hi."
        assert (await host.list_tasks(of(session))).details["tasks"] == []
        with pytest.raises(HostError, match="no task"):
            await host.stop_task(OfTask(session_id=session.id, task_id="t"))
        with pytest.raises(HostError, match="no sub-agent"):
            await host.get_subagent(OfSubagent(session_id=session.id, subagent_id="s"))
        await host.stop(of(session))
        assert not (await host.get_context(of(session))).details["live"]
        assert (await host.get_info(of(session))).details["tools"] == info["tools"]
        with pytest.raises(HostError, match="no process") as stopped:
            await host.interrupt(of(session))
        assert stopped.value.code == "not_running"


async def test_stderr_of_a_process_that_failed_can_be_read(place: Place) -> None:
    script = place.cwd.parent / "fails"
    script.write_text("#!/bin/sh\necho it went wrong >&2\nexit 3\n")
    script.chmod(0o755)
    async with place.opened() as host:
        with pytest.raises(HostError) as failed:
            await host.create_session(CreateSession(cwd=str(place.cwd), agent=str(script)))
        assert failed.value.code == "cli_failed"
        (session,) = (await host.list_sessions(ListSessions())).sessions
        assert session.state == "crashed"
        assert "it went wrong" in (await host.get_stderr(of(session))).details["stderr"]


async def test_a_row_written_while_a_part_is_read_counts_in_its_last_number(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        head = host.store.head

        async def head_then_a_row(session_id: str) -> Any:
            read = await head(session_id)
            monkeypatch.setattr(host.store, "head", head)
            await host.add_event(AddEvent(session_id=session.id, type="ci", data={}))
            return read

        monkeypatch.setattr(host.store, "head", head_then_a_row)
        part = await host.read_events(ReadEvents(session_id=session.id))
        assert isinstance(part.frames[-1].events[-1], CustomEvent)
        assert part.last_seq == part.frames[-1].seq


async def test_an_event_from_outside_is_a_row_and_its_prompt_says_so(place: Place) -> None:
    place.claude.play(["Noted."])
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        request = AddEvent(session_id=session.id, type="ci", data={"ok": False}, prompt="Tests fail.")
        accepted = await host.add_event(request, Caller(name="jenkins", scope="operate"))
        await idle(host, session.id)
        frames = await all_frames(host, session.id)
        (event,) = [one for frame in frames for one in frame.events if isinstance(one, CustomEvent)]
        assert (event.name, event.by, event.data) == ("ci", "jenkins", {"ok": False})
        (prompt,) = [one for frame in frames for one in frame.events if isinstance(one, PromptSent)]
        assert prompt.id == event.prompt_id
        assert prompt.text.startswith("External event 'ci' from jenkins")
        assert frames[(accepted.seq or 0) - 1].events == [event]


async def test_uploads_are_kept_beside_the_host_by_a_harmless_name(place: Place) -> None:
    async with place.opened(limits=Limits(upload_bytes=10)) as host:
        session = await place.created(host, prompt=None)

        async def upload(name: str, body: bytes = b"data") -> str:
            request = Upload(session_id=session.id, name=name, media_type="text/plain", body=body)
            return str((await host.upload(request)).details["path"])

        first, second = Path(await upload("../../etc/passwd")), Path(await upload("passwd"))
        assert (first.name, second.name) == ("passwd", "passwd-2")
        assert first.parent == second.parent
        assert not first.is_relative_to(place.folder)
        with pytest.raises(HostError) as large:
            await upload("big", b"x" * 11)
        assert large.value.code == "too_large"
        for name in ("..", "", "x" * 5_000, "\ud800", "a\0b", "\x1b[2J", "a\nb"):
            with pytest.raises(HostError, match="file name"):
                await upload(name)
        await upload("Bild um 10.00\u202fUhr.png")
        assert {one.name.rpartition(".")[2] for one in first.parent.iterdir()} == {"passwd", "passwd-2", "png"}
        await host.delete_session(of(session))
        assert not list(first.parent.parent.iterdir())


async def test_files_of_the_folder_are_found_for_completion(place: Place) -> None:
    for name in ("src/main.py", "src/domain.py", ".git/main", "README.md"):
        (place.cwd / name).parent.mkdir(exist_ok=True, parents=True)
        (place.cwd / name).write_text("")
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        found = await host.list_files(ListFiles(session_id=session.id, q="main"))
        assert found.paths == ["src/main.py", "src/domain.py"]


async def test_a_session_is_exported_as_a_log_and_as_documents(place: Place) -> None:
    place.claude.play(["Look: <script>alert(1)</script>", ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host, name="A name")
        (approval,) = await pending(host)
        await decide(host, approval)
        await idle(host, session.id)

        async def export(form: str) -> str:
            return (await host.export_session(Export(session_id=session.id, format=form))).body.decode()  # type: ignore[arg-type]

        lines = [json.loads(line) for line in (await export("ndjson")).splitlines()]
        rows = [line["seq"] for line in lines if "seq" in line]
        assert rows == list(range(1, len(rows) + 1))
        markdown, page = await export("md"), await export("html")
        assert markdown.startswith("# A name")
        assert "touch made.txt" in markdown
        assert "<script>" not in page
        assert "&lt;script&gt;" in page


async def test_waiting_ends_with_the_state_with_the_process_or_with_the_time(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        session = await place.created(host)
        assert (await host.wait(Wait(session_id=session.id, for_=["waiting"]))).state == "waiting"
        assert (await host.wait(Wait(session_id=session.id, for_=["idle"], timeout_s=0.01))).state == "waiting"
        waiting = asyncio.ensure_future(host.wait(Wait(session_id=session.id, for_=["idle"])))
        await kill(host, session)
        assert (await waiting).state == "crashed"


async def test_a_cursor_that_does_not_fit_gives_an_explicit_gap(place: Place) -> None:
    place.claude.play(["Hi."])
    async with place.opened() as host:
        session = await place.created(host)
        await idle(host, session.id)
        now = await host.get_session(of(session))
        for cursor, reason in ((f"{now.epoch}-99999", "ahead"), ("other-1", "epoch")):
            read = await host.read_events(ReadEvents(session_id=session.id, after=cursor))
            assert read.gap is not None
            assert (read.frames, read.gap["reason"]) == ([], reason)
            watching = host.watch_session(WatchSession(session_id=session.id, after=cursor))
            first = await anext(watching)
            assert isinstance(first, Frame)
            (gap,) = first.events
            assert isinstance(gap, Gap)
            assert (gap.reason, gap.epoch, gap.seq) == (reason, now.epoch, first.seq)
            await watching.aclose()
        with pytest.raises(HostError, match="not a cursor"):
            await host.read_events(ReadEvents(session_id=session.id, after="nonsense"))


async def test_raw_lines_are_shown_on_request_and_live(place: Place) -> None:
    place.claude.play(["Hi."])
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        lines: list[Any] = []

        async def watch() -> None:
            request = WatchSession(session_id=session.id, view="raw", previews=False)
            async for frame in host.watch_session(request):
                assert frame.seq == len(lines) + 1  # type: ignore[union-attr]
                (event,) = frame.events
                lines.append(event)
                if isinstance(event, RawLine) and json.loads(event.line)["type"] == "result":
                    return

        watching = asyncio.ensure_future(watch())
        await host.send_prompt(SendPrompt(session_id=session.id, content="go"))
        await watching
        sent = [json.loads(one.line) for one in lines if isinstance(one, RawLine) and one.direction == "sent"]
        assert [one["type"] for one in sent] == ["control_request", "user"]
        read = await host.read_events(ReadEvents(session_id=session.id, view="raw", limit=len(lines)))
        assert [frame.events[0] for frame in read.frames] == lines


async def test_raw_lines_that_are_no_rows_come_between_those_that_are(place: Place) -> None:
    place.claude.play(["A text that comes in several pieces, one after the other."])
    async with place.opened() as host:
        session = await place.created(host, prompt=None)
        watching = host.watch_session(WatchSession(session_id=session.id, view="raw"))
        seqs, types = [(await anext(watching)).seq], []  # type: ignore[union-attr]
        await host.send_prompt(SendPrompt(session_id=session.id, content="go"))
        async for one in watching:
            (event,) = one.events
            if isinstance(one, Frame):
                seqs.append(one.seq)
            else:
                assert one.after_seq == seqs[-1]
            if isinstance(event, RawLine):
                line = json.loads(event.line)
                types.append(line["event"]["type"] if line["type"] == "stream_event" else line["type"])
                if types[-1] == "result":
                    break
        assert seqs == list(range(1, len(seqs) + 1))
        streamed = types[types.index("message_start") : types.index("message_stop") + 1]
        assert streamed.count("content_block_delta") > 1
        assert streamed.count("assistant") == 1


async def test_the_host_tells_how_sessions_and_approvals_change(place: Place) -> None:
    place.claude.play([ASKS, "Done."])
    async with place.opened() as host:
        watching = host.watch_host(WatchHost())
        hello = (await anext(watching)).details
        session = await place.created(host)
        (approval,) = await pending(host)
        await decide(host, approval)
        seen: list[dict[str, Any]] = []
        async for change in watching:
            seen.append(change.details)
            if change.details["kind"] == "approval" and change.details["approval"]["state"] == "applied":
                break
        assert {one["id"] for one in seen if one["kind"] == "session"} == {session.id}
        positions = [hello["pos"], *(one["pos"] for one in seen)]
        assert positions == sorted(set(positions))
        again = host.watch_host(WatchHost(after=hello["pos"]))
        assert (await anext(again)).details["kind"] == "hello"
        assert (await anext(again)).details["pos"] == seen[0]["pos"]
        ahead = host.watch_host(WatchHost(after=10**9))
        await anext(ahead)
        assert (await anext(ahead)).details["kind"] == "gap"
        for stream in (watching, again, ahead):
            await stream.aclose()


async def test_the_host_says_what_it_is_and_how_it_fares(place: Place) -> None:
    place.claude.play(["Hi."])
    async with place.opened(folders=[place.cwd]) as host:
        session = await place.created(host)
        await idle(host, session.id)
        view = await host.get_host(Nothing())
        assert view.cli_versions
        assert view.limits["folders"] == [str(place.cwd)]
        assert (await host.get_health(Nothing())).ready
        metrics = (await host.get_metrics(Nothing())).details
        assert (metrics["sessions"], metrics["processes"]) == ({"idle": 1}, 1)
        assert metrics["log_rows_total"] > 0
        await host.delete_session(OfSession(session_id=session.id))
        after = (await host.get_metrics(Nothing())).details
        assert (after["sessions"], after["log_rows_total"] >= metrics["log_rows_total"]) == ({}, True)
        assert "accounts" in (await host.get_limits(Nothing())).details


async def test_limits_are_refused_with_what_can_be_done(place: Place, tmp_path: Path) -> None:
    place.claude.play(["Hi."])
    limits = Limits(sessions=2, processes=1)
    async with place.opened(folders=[place.cwd], limits=limits) as host:
        await place.created(host)

        async def refused(cwd: Path) -> HostError:
            with pytest.raises(HostError) as error:
                await host.create_session(CreateSession(cwd=str(cwd)))
            return error.value

        assert (await refused(tmp_path)).code == "folder_not_allowed"
        (place.cwd / "out").symlink_to(tmp_path)
        assert (await refused(place.cwd / "out")).code == "folder_not_allowed"
        processes = await refused(place.cwd)
        assert (processes.code, processes.details["limit"]) == ("busy", "processes")
        sessions = await refused(place.cwd)
        assert (sessions.code, sessions.details["limit"]) == ("busy", "sessions")


async def test_a_write_with_a_key_is_done_once_by_each_caller(place: Place) -> None:
    async with place.opened() as host:
        request = CreateSession(cwd=str(place.cwd))
        made = await asyncio.gather(*(host.create_session(request, key="a") for _ in range(3)))
        assert len({one.id for one in made}) == 1
        other = await host.create_session(request, Caller(name="somebody else"), key="a")
        assert other.id != made[0].id
        with pytest.raises(HostError) as conflict:
            await host.create_session(CreateSession(cwd=str(place.cwd), name="x"), key="a")
        assert conflict.value.code == "conflict"
        assert len((await host.list_sessions(ListSessions())).sessions) == 2
        await frames_until_stopped(host, other.id)


async def frames_until_stopped(host: Host, session: str) -> None:
    await host.stop(OfSession(session_id=session))
    assert (await host.get_session(OfSession(session_id=session))).state == "stopped"
