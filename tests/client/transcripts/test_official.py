"""The same results as the official SDK on the same folders."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from client.transcripts.folder import Projects, Record, assistant, call, chat, new_id, outcome, user
from client.transcripts.official import Call, official_answers, our_answers
from compat.peer import peer_python

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(peer_python() is None, reason="the official SDK is not installed; QUARTERDECK_INSTALL_PEER=1"),
]


def check(projects: Projects, calls: list[Call]) -> list[Any]:
    mine = our_answers(calls)
    theirs = official_answers(calls, projects.config)
    for asked, ours, official in zip(calls, mine, theirs, strict=True):
        assert ours == official, asked
    return mine


def odd_sessions(cwd: Path) -> dict[str, list[Record | str | bytes]]:
    """Every shape of a transcript that a list or a reader treats in its own way."""
    a, b, c, d, e, f = (new_id(number) for number in range(1, 7))
    title = {"type": "custom-title", "customTitle": 'A "quoted" \\ title \u00fc \U0001f389', "sessionId": "S"}
    tag = {"type": "tag", "tag": "blue", "sessionId": "S"}
    parallel: list[Record] = [
        user("two at once", a),
        assistant(call("t1"), b, a, "m1", timestamp="2026-11-02T10:11:13.000Z"),
        assistant(call("t2"), c, b, "m1", timestamp="2026-11-02T10:11:14.000Z"),
        user(outcome("t2"), d, c, sourceToolAssistantUUID=c, timestamp="2026-11-02T10:11:15.000Z"),
        user(outcome("t1"), e, b, sourceToolAssistantUUID=b, timestamp="2026-11-02T10:11:16.000Z"),
        assistant("both done", f, e, "m2", timestamp="2026-11-02T10:11:17.000Z"),
    ]
    return {
        "plain": list(chat(3)),
        "titled": [*chat(2), title],
        "titled twice": [*chat(2), title, {**title, "customTitle": "the last one"}],
        "titled by the model": [*chat(1), {"type": "ai-title", "aiTitle": "made up", "sessionId": "S"}],
        "tagged": [*chat(1), tag],
        "tagged and cleared": [*chat(1), tag, {**tag, "tag": ""}],
        "the word tag in a call": [*chat(1), assistant([{**call("t")[0], "input": {"tag": "v1"}}], b, None)],
        "last prompt": [*chat(2), {"type": "last-prompt", "lastPrompt": "go on\nplease", "sessionId": "S"}],
        "summary": [{"type": "summary", "summary": "what it was about", "leafUuid": a}, *chat(1)],
        "command first": [user("<command-name>/model</command-name>", a), user("then a question", b, a)],
        "command only": [user("<command-name>/clear</command-name>", a)],
        "interrupted": [user("[Request interrupted by user]", a), user("again", b, a)],
        "editor note": [user("<ide_opened_file>x</ide_opened_file>", a), user("real", b, a)],
        "meta first": [user("caveat", a, isMeta=True), user("question", b, a)],
        "compacted": [user("summary of it all", a, isCompactSummary=True), user("next", b, a), assistant("yes", c, b)],
        "blocks": [user([{"type": "text", "text": "  "}, {"type": "text", "text": "second block"}], a)],
        "long prompt": [user("word " * 100, a), assistant("ok", b, a)],
        "sidechain": [user("sub", a, isSidechain=True), assistant("agent", b, a, isSidechain=True)],
        "sidechain inside": [user("q", a), assistant("sub", b, a, isSidechain=True), assistant("main", c, a)],
        "team": [user("q", a), assistant("mate", b, a, teamName="t"), assistant("main", c, a)],
        "no prompt": [{"type": "mode", "mode": "default", "sessionId": "S"}],
        "branches": [*chat(2), user("another way", a, chat(1)[-1]["uuid"]), assistant("went there", b, a, "mx")],
        "progress leaf": [user("q", a), assistant("said", b, a), {**user("", c, b), "type": "progress"}],
        "attachments": [user("q", a), {**user("", b, a), "type": "attachment"}, assistant("said", c, b)],
        "orphan": [assistant("no parent there", a, new_id(99)), user("after", b, a)],
        "cycle": [user("one", a, b), assistant("two", b, a)],
        "same uuid twice": [user("old", a), user("new", a), assistant("said", b, a)],
        "parallel": list(parallel),
        "parallel, other end": [*parallel[:4], parallel[4], {**parallel[5], "parentUuid": d}],
        "result elsewhere": [*parallel[:3], user(outcome("t1"), d, c), user(outcome("t2"), e, a), parallel[5]],
        "unknown records": [{"type": "brand-new", "deep": {"x": [1]}}, *chat(1), {"type": "api-request", "id": 1}],
        "corrupt lines": ["{not json", *chat(1), '{"type":"user","uuid":', "", "[1,2]", "null", "  "],
        "torn end": [*chat(2), '{"type":"user","message":{"role":"user","content":"torn of'],
        "odd types": [{"type": "user", "uuid": 5}, {"type": 7, "uuid": a}, {"type": "user", "uuid": b, "message": "x"},
                      *chat(1)],
        "lone surrogate": [user("half", a), json.dumps(assistant("\ud83d", b, a))],
        "crlf": [json.dumps(one) + "\r" for one in chat(2)],
        "many megabytes between": [*chat(1), title, *({"type": "api-request", "id": "x" * 30_000} for _ in range(9)),
                                   assistant("at the end", b, chat(1)[-1]["uuid"])],
        "a long line at the end": [*chat(1), tag, user("z" * 200_000, b, chat(1)[-1]["uuid"])],
        "no time": [{key: value for key, value in one.items() if key != "timestamp"} for one in chat(1)],
        "odd time": [user("q", a, timestamp="yesterday")],
        "another folder": [user("q", a, cwd=str(cwd / "below"), gitBranch="feature/ünï")],
    }  # fmt: skip


def calls_for(ids: list[str], cwd: Path) -> list[Call]:
    calls: list[Call] = []
    for session_id in ids:
        calls += [
            ("get_session_info", session_id),
            ("get_session_info", session_id, str(cwd)),
            ("get_session_messages", session_id, str(cwd)),
            ("get_session_messages", session_id, None, 2, 1),
            ("get_session_messages", session_id, None, None, 3),
            ("list_subagents", session_id),
        ]
    return calls


@pytest.mark.parametrize("spaced", [False, True])
def test_every_shape_of_transcript_is_listed_and_read_the_same(projects: Projects, cwd: Path, spaced: bool) -> None:
    ids = [
        projects.add(cwd, records, mtime=1_790_000_000 + number * 10.25, spaced=spaced)
        for number, records in enumerate(odd_sessions(cwd).values())
    ]
    listings: list[Call] = [
        ("list_sessions",),
        ("list_sessions", str(cwd)),
        ("list_sessions", str(cwd), 5),
        ("list_sessions", str(cwd), 5, 3),
        ("list_sessions", None, 0, 7),
        ("list_sessions", str(cwd.parent / "nowhere")),
        ("get_session_info", "no uuid"),
        ("get_session_messages", new_id()),
        ("project_key_for_directory", str(cwd)),
        ("project_key_for_directory", str(cwd / ("long-" * 60) / "ünï")),
    ]
    answers = check(projects, [*listings, *calls_for(ids, cwd)])
    assert len(answers[0]) > 30


def test_random_trees_of_records_give_the_same_conversation(projects: Projects, cwd: Path) -> None:
    chance = random.Random(5)
    ids = [projects.add(cwd, random_tree(chance)) for _ in range(150)]
    answers = check(projects, [("get_session_messages", session_id, str(cwd)) for session_id in ids])
    assert sum(map(len, answers)) > 900


def random_tree(chance: random.Random) -> list[Record | str | bytes]:
    """Records that hang on each other at random: branches, parallel calls, results in odd places."""
    records: list[Record | str | bytes] = []
    uuids: list[str] = []
    for number in range(chance.randint(1, 40)):
        one = str(new_id(chance.randint(1, 60) if chance.random() < 0.1 else 1000 + number))
        parent = (
            None
            if not uuids or chance.random() < 0.05
            else uuids[-1 if chance.random() < 0.6 else chance.randrange(len(uuids))]
        )
        tool = f"t{chance.randint(0, 8)}"
        more: Record = {"timestamp": f"2026-11-02T10:11:{chance.randint(10, 20)}.000Z"}
        for flag, odds in (("isSidechain", 0.05), ("isMeta", 0.05)):
            if chance.random() < odds:
                more[flag] = True
        if chance.random() < 0.1:
            more["agentId"] = "a1"
        if uuids and chance.random() < 0.5:
            more["sourceToolAssistantUUID"] = chance.choice(uuids)
        made = chance.choice(
            [
                user("asked", one, parent, **more),
                user(outcome(tool), one, parent, **more),
                user(outcome(tool), one, parent, **more),
                assistant("said", one, parent, f"m{chance.randint(0, 6)}", **more),
                assistant(call(tool), one, parent, f"m{chance.randint(0, 6)}", **more),
                {**user("", one, parent, **more), "type": chance.choice(["progress", "attachment", "system"])},
            ]
        )
        records.append(made)
        uuids.append(one)
    return records


def test_sub_agents_are_read_the_same(projects: Projects, cwd: Path) -> None:
    session_id = projects.add(cwd, chat(1))
    projects.add_agent(cwd, session_id, "b2", chat(2), toolUseId="toolu_1", parentAgentId="a1")
    projects.add_agent(cwd, session_id, "a1", chat(1))
    projects.add_agent(cwd, session_id, "c3", [], below="workflows/run-1", toolUseId=7)
    projects.add_agent(cwd, session_id, "d4", chat(1), below="workflows/run-1", toolUseId="toolu_2")
    (projects.folder(cwd) / session_id / "subagents" / "notes.jsonl").write_text("{}\n")
    calls: list[Call] = [("list_subagents", session_id, str(cwd))]
    calls += [("get_subagent_messages", session_id, agent) for agent in ("a1", "b2", "c3", "d4", "", "nobody")]
    calls += [("get_subagent_messages", session_id, "b2", str(cwd), 1, 1)]
    assert check(projects, calls)[0] == ["a1", "b2", "c3", "d4"]


def test_the_work_trees_of_a_repository_are_found_together(projects: Projects, cwd: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(cwd)]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", "../tree"]):
        subprocess.run([*git, *command], check=True, timeout=30)
    below = cwd / "below"
    below.mkdir()
    other = cwd.parent / "tree"
    ids = [projects.add(place, chat(1), mtime=1_790_000_000 + n) for n, place in enumerate((cwd, other, below))]
    projects.add(cwd.parent / "tree-not", chat(1))
    shutil.copy(projects.path(cwd, ids[0]), projects.path(other, ids[0]))
    os.utime(projects.path(other, ids[0]), (1_790_000_009, 1_790_000_009))
    calls: list[Call] = [("list_sessions", str(place)) for place in (cwd, other, below)]
    calls += [("list_sessions", str(cwd), None, 0, False), ("list_sessions",)]
    calls += [("get_session_info", ids[1], str(cwd)), ("get_session_messages", ids[0], str(other))]
    answers = check(projects, calls)
    assert {one["session_id"] for one in answers[0]} == {ids[0], ids[1]}
    assert {one["session_id"] for one in answers[2]} == set(ids)


def test_of_a_session_in_two_folders_the_same_file_counts(projects: Projects, tmp_path: Path) -> None:
    places = [tmp_path / f"place-{number}" for number in range(4)]
    at = 1_790_000_000
    for number, times in enumerate([(at, at), (at, at + 1), (at + 1, at), (at, at), (at + 2, at + 2)], start=1):
        for place, mtime in zip(random.Random(number).sample(places, 2), times, strict=True):
            projects.add(place, [user(f"{number} in {place.name}", new_id(7))], session_id=new_id(number), mtime=mtime)
    calls: list[Call] = [("list_sessions", None, limit, offset) for limit in (None, 1, 3, 50) for offset in (0, 1)]
    answers = check(projects, calls)
    assert [len(answer) for answer in answers] == [5, 4, 1, 1, 3, 3, 5, 4]


def test_changes_are_made_alike(projects: Projects, cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each package changes a copy of the same folder; then either reads both."""
    first, second = (projects.add(cwd, chat(2), mtime=1_790_000_000) for _ in range(2))
    agent = projects.add_agent(cwd, first, "a1", chat(1))
    other = tmp_path / "other"
    shutil.copytree(projects.config, other)
    calls: list[Call] = [
        ("rename_session", first, "  New title ü  ", str(cwd)),
        ("rename_session", first, "   "),
        ("rename_session", "no uuid", "x"),
        ("rename_session", new_id(), "x"),
        ("tag_session", first, " bl\u200bue \ufb01 "),
        ("tag_session", first, "\u200b"),
        ("tag_session", second, "gone"),
        ("tag_session", second, None),
        ("delete_session", new_id()),
        ("delete_session", "x"),
        ("fork_session", "x"),
        ("fork_session", new_id()),
        ("fork_session", first, str(cwd), "x"),
        ("fork_session", first, str(cwd), new_id()),
    ]
    assert our_answers(calls) == official_answers(calls, other)
    questions: list[Call] = [("get_session_info", first), ("get_session_info", second)]
    mine, theirs = our_answers(questions), official_answers(questions, other)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(other))
    assert our_answers(questions) == theirs
    for ours, official in zip(mine, theirs, strict=True):  # written at other times, by other encoders
        apart = {"last_modified", "file_size"}
        assert {**ours, **dict.fromkeys(apart)} == {**official, **dict.fromkeys(apart)}
    assert official_answers([("delete_session", first)], projects.config) == [None]
    assert our_answers([("delete_session", first)]) == [None]
    assert not agent.exists() and not (other / agent.relative_to(projects.config)).exists()


def test_forks_are_made_alike(projects: Projects, cwd: Path) -> None:
    records: list[Record | str | bytes] = [
        *chat(2),
        {**user("", new_id(7), chat(2)[-1]["uuid"]), "type": "progress"},
        user("after progress", new_id(8), new_id(7), slug="x", teamName="", logicalParentUuid=chat(1)[0]["uuid"]),
        assistant("sub", new_id(9), new_id(8), isSidechain=True),
        {"type": "content-replacement", "sessionId": "S", "replacements": [{"a": 1}], "uuid": new_id(10)},
        {"type": "tag", "tag": "stays behind", "sessionId": "S"},
    ]
    session_id = projects.add(cwd, records)
    cut = chat(2)[2]["uuid"]
    for arguments in ([], [None, cut], [None, None, " Named "]):
        call_: list[Call] = [("fork_session", session_id, *arguments)]
        [mine], [theirs] = our_answers(call_), official_answers(call_, projects.config)
        written = [
            [json.loads(line) for line in projects.path(cwd, one["session_id"]).read_bytes().splitlines()]
            for one in (mine, theirs)
        ]
        assert without_news(written[0], mine["session_id"]) == without_news(written[1], theirs["session_id"])


def without_news(records: list[Record], session_id: str) -> list[Record]:
    """Fresh uuids as the place of their record, fresh times as a word."""
    place = {record["uuid"]: number for number, record in enumerate(records)}
    plain: list[Record] = []
    for record in records:
        kept = {**record, "uuid": place[record["uuid"]], "sessionId": record["sessionId"] == session_id}
        for key in ("parentUuid", "logicalParentUuid"):
            kept[key] = place.get(record.get(key))
        if not record.get("timestamp", "").startswith("2026-11-02"):
            kept["timestamp"] = "now"
        plain.append(kept)
    return plain
