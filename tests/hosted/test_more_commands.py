"""The commands around a session: its queue, files, events and changes; grants, budgets, alerts and limits."""

from __future__ import annotations

import argparse
import json
import subprocess
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hosted.kit import ServedHost, Shell
from quarterdeck.cli.hosted.moments import upcoming
from quarterdeck.client.transcripts.places import project_key_for_directory
from quarterdeck.host.requests import Decide, Decision, Remember


def test_prompts_that_wait_are_listed_edited_moved_scheduled_and_removed(served: ServedHost, shell: Shell) -> None:
    assert shell("queue", "list", served.asking("painter").session_id) == "No queued prompts.\n"
    for text in ("one", "two", "three"):
        shell("send", "painter", text, "--priority", "later")
    first, second, third = (one["id"] for one in shell.json("queue", "list", "painter"))
    assert "changed" in shell("queue", "edit", "painter", second[:8], "a second one")
    assert "moved to 1" in shell("queue", "move", "painter", third[:8], "1")
    assert "not sent before" in shell("queue", "schedule", "painter", first, "2h")
    rows = shell("queue", "list", "painter").splitlines()
    assert [row.split()[1] for row in rows[1:]] == [one[:8] for one in (third, first, second)]
    assert "a second one" in rows[3]
    assert shell.json("queue", "list", "painter")[1]["not_before"] is not None
    assert "as soon as" in shell("queue", "schedule", "painter", first, "now")
    assert "not_before" not in json.dumps(shell.json("queue", "list", "painter"))
    assert "removed" in shell("queue", "remove", "painter", first[:8], second[:8])
    assert [one["id"] for one in shell.json("queue", "list", "painter")] == [third]
    shell("queue", "remove", "painter", "nothing", code=1)
    assert "queue list" in shell.error
    shell("queue", "move", "painter", third, "0", code=2)


def test_an_event_from_outside_is_in_the_log(served: ServedHost, shell: Shell) -> None:
    served.idle(served.created("painter", prompt=None))
    [accepted] = shell.json("event", "painter", "ci.finished", "status=failed", "run:=41")
    events = [
        event for frame in shell.json("log", "painter") for event in frame["events"] if frame["seq"] == accepted["seq"]
    ]
    assert [(event["name"], event["data"]) for event in events] == [("ci.finished", {"status": "failed", "run": 41})]


def test_a_file_is_uploaded_and_its_place_printed(served: ServedHost, shell: Shell, tmp_path: Path) -> None:
    served.idle(served.created("painter", prompt=None))
    (tmp_path / "log.txt").write_text("it failed")
    place = shell("upload", "painter", str(tmp_path / "log.txt")).strip()
    assert Path(place).read_text() == "it failed"
    shell("upload", "painter", str(tmp_path / "missing"), code=2)
    assert "missing" in shell.error


def test_worktrees_are_created_listed_and_removed_and_changes_shown(served: ServedHost, shell: Shell) -> None:
    _repository(served.cwd)
    made = shell("worktree", "create", "fix", "--cwd", str(served.cwd)).strip()
    assert Path(made, "notes.txt").read_text() == "one\n"
    assert [one["branch"] for one in shell.json("worktree", "list", "--cwd", str(served.cwd))][1:] == ["fix"]
    assert [line.split()[0] for line in shell("worktree", "list", "--cwd", made).splitlines()[2:]] == ["fix"]
    Path(made, "new.txt").write_text("not committed")
    shell("worktree", "remove", made, code=1)
    assert "uncommitted" in shell.error
    assert "removed" in shell("worktree", "remove", made, "--force")
    assert not Path(made).exists()
    served.idle(served.created("painter", prompt=None))
    assert shell("diff", "painter") == ""
    assert shell.error == "Nothing changed.\n"
    (served.cwd / "notes.txt").write_text("two\n")
    (served.cwd / "new.txt").write_text("new\n")
    (served.cwd / "link").symlink_to("new.txt")
    shown = shell("diff", "painter")
    assert "-one\n+two" in shown
    assert "+++ b/new.txt\n@@ -0,0 +1 @@\n+new" in shown
    assert shell.error == "new, not shown: link\n"


def _repository(folder: Path) -> None:
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    (folder / "notes.txt").write_text("one\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "first"], check=True)


def test_a_transcript_is_adopted_by_a_prefix_of_its_id_or_by_its_title(
    served: ServedHost, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    ids = {title: str(uuid.uuid4()) for title in ("About apples", "About pears", "Something else")}
    for title, session_id in ids.items():
        write_transcript(tmp_path / "claude", served.cwd, session_id, title)
    shell("adopt", "about", code=1)
    assert "'about' matches several transcripts" in shell.error
    assert all((ids[title] in shell.error) == title.startswith("About") for title in ids)
    assert "Use a longer prefix." in shell.error
    shell("adopt", "nothing of this kind", code=1)
    assert "Run quarterdeck adopt to list them." in shell.error
    for title, named in (
        ("About apples", "about app"),
        ("About pears", ids["About pears"][:8]),
        ("Something else",) * 2,
    ):
        [adopted] = shell.json("adopt", named)
        assert adopted["transcript_id"] == ids[title]
        assert shell.json("budget", ids[title][:13])[0]["id"] == adopted["id"]


def write_transcript(home: Path, cwd: Path, session_id: str, title: str) -> None:
    folder = home / "projects" / project_key_for_directory(cwd)
    folder.mkdir(parents=True, exist_ok=True)
    line = {
        "type": "user",
        "sessionId": session_id,
        "uuid": str(uuid.uuid4()),
        "parentUuid": None,
        "cwd": str(cwd),
        "timestamp": "2026-11-18T12:00:00.000Z",
        "message": {"role": "user", "content": title},
    }
    (folder / f"{session_id}.jsonl").write_text(json.dumps(line) + "\n")


def test_a_transcript_is_listed_and_adopted(served: ServedHost, shell: Shell) -> None:
    assert "No transcripts." in shell("adopt", "--search", "no such words anywhere")
    shell("adopt", "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f", code=1)
    session = served.idle(served.created("painter", prompt=None))
    [row] = [one for one in shell.json("adopt") if one["session_id"] == session.transcript_id] or [None]
    if row is not None:  # a session that said nothing has no transcript yet
        assert row["adopted_as"] == session.id


def test_grants_are_listed_and_revoked(served: ServedHost, shell: Shell) -> None:
    assert shell("grants", "list") == "No grants.\n"
    asked = served.asking("painter")
    decision = Decision(decision="allow", remember=Remember(rule="Bash(touch made.txt)"))
    served.do(lambda host: host.decide(Decide(approval_id=asked.id, decision=decision)))
    assert "Bash(touch made.txt)" in shell("grants", "list")
    [grant] = shell.json("grants", "list")
    assert "revoked" in shell("grants", "revoke", grant["id"][:8])
    assert shell("grants", "list") == "No grants.\n"
    assert "revoked" in shell("grants", "list", "--all")
    shell("grants", "revoke", grant["id"], code=1)


def test_budgets_of_the_host_and_of_a_session_are_set_and_removed(served: ServedHost, shell: Shell) -> None:
    assert shell("budget") == "No budget is set.\n"
    assert "of $20.00" in shell("budget", "--day", "20")
    assert "of $300.00" in shell("budget", "--month", "300")
    assert [one["details"]["day_usd"] for one in shell.json("budget")] == ["20"]
    assert "day" not in shell("budget", "--day", "none")
    served.idle(served.created("painter", prompt=None))
    assert "of $2.50" in shell("budget", "painter", "2.50")
    assert "no budget" in shell("budget", "painter", "none")
    for words in (["--day", "NaN"], ["--day=-1"], ["painter", "much"], ["painter", "1", "--day", "2"]):
        shell("budget", *words, code=2)


def test_alerts_are_added_listed_and_removed(served: ServedHost, shell: Shell) -> None:
    assert shell("alerts", "list") == "No alerts.\n"
    shell("alerts", "add", "--on", "approval", "--after", "5m", "--url", "https://example.org/hook")
    shown = shell("alerts", "add", "--on", "crashed", "--on", "finished", "--command", "/bin/true", "x")
    assert [line.split()[0] for line in shown.splitlines()[1:]] == ["1", "2"]
    assert "300s" in shown
    shell("alerts", "remove", "3", code=1)
    assert "https://example.org/hook" not in shell("alerts", "remove", "1")
    [kept] = shell.json("alerts", "list")
    assert kept["details"]["alerts"] == [{"on": ["crashed", "finished"], "command": ["/bin/true", "x"]}]
    shell("alerts", "add", "--on", "crashed", "--command", "relative", code=1)
    assert "absolute" in shell.error


def test_limits_say_when_there_is_nothing_to_say(served: ServedHost, shell: Shell) -> None:
    assert shell("limits") == "No rate limit has been reported yet.\n"
    assert shell.json("limits") == [{"details": {"accounts": {}}}]


def test_times_to_come() -> None:
    now = datetime.now(UTC)
    assert upcoming("now") is None
    for text in ("0:00", "23:59:59", "30m", "2999-01-01T08:00"):
        at = upcoming(text)
        assert at is not None
        assert at > now
    for text in ("25:00", "tomorrow", "", "12:61"):
        with pytest.raises(argparse.ArgumentTypeError):
            upcoming(text)


def test_several_approvals_are_previewed_and_decided_at_once(served: ServedHost, shell: Shell) -> None:
    first, second = served.asking("painter"), served.asking("writer")
    assert shell("approve", "--tool", "Read") == "No pending request matches.\n"
    shown = shell("approve", "--tool", "Bash", "--dry-run")
    assert [line.split()[0] for line in shown.splitlines()] == [first.id[:8], second.id[:8]]
    assert shown.count("would be allowed") == 2
    assert len(shell.json("approvals")) == 2
    assert "denied" in shell("deny", "--session", "writer", "--message", "not today")
    assert [one["id"] for one in shell.json("approve", "--tool", "Bash", "--session", "painter")] == [first.id]
    assert shell.json("approvals") == []
    for words in ([], ["--dry-run"], [first.id, "--tool", "Bash"], ["--tool", "Bash", "--always", "session"]):
        shell("approve", *words, code=2)


def test_words_are_found_a_session_is_exported_imported_and_found_again(
    served: ServedHost, shell: Shell, tmp_path: Path
) -> None:
    session = served.idle(served.created("painter", prompt=None))
    while "painter" not in shell("search", "painter"):
        pass
    assert shell("search", "nowhere") == "No matches.\n"
    [hit] = shell.json("search", "paint", "--session", "painter", "--cwd", str(served.cwd), "--limit", "5")
    assert (hit["session_id"], hit["kind"]) == (session.id, "session")
    shell("export", "painter", "--out", str(tmp_path / "it.ndjson"))
    imported = shell("import", str(tmp_path / "it.ndjson"), "--name", "copy").strip()
    assert served.session(imported).archived
    [again] = shell.json("import", str(tmp_path / "it.ndjson"))
    assert again["session"]["name"] == "painter"
    (tmp_path / "bad").write_text("nothing of ours")
    shell("import", str(tmp_path / "bad"), code=1)
    assert "not an exported session" in shell.error
    shell("import", str(tmp_path / "nowhere"), code=2)


def test_presets_are_set_shown_and_used(served: ServedHost, shell: Shell, tmp_path: Path) -> None:
    assert json.loads(shell("preset", "show")) == {"presets": {}}
    wanted = {"presets": {"look": {"permission_mode": "plan", "tags": ["quick"]}}}
    (tmp_path / "presets.json").write_text(json.dumps(wanted))
    assert json.loads(shell("preset", "set", str(tmp_path / "presets.json"))) == wanted
    [made] = shell.json("call", "create_session", f"cwd={served.cwd}", "preset=look")
    assert (made["permission_mode"], made["tags"]) == ("plan", ["quick"])
    (tmp_path / "presets.json").write_text("[]")
    shell("preset", "set", str(tmp_path / "presets.json"), code=2)


def test_a_prompt_for_later_waits(served: ServedHost, shell: Shell) -> None:
    session = served.idle(served.created("painter", prompt=None))
    shell("send", "painter", "in a while", "--at", "2h")
    [waits] = shell.json("queue", "list", "painter")
    assert (waits["content"], "not_before" in waits) == ("in a while", True)
    assert served.session(session.id).state == "idle"
