"""The commands for a running host, as scripts use them."""

from __future__ import annotations

import json
import plistlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.kit import kill, pending
from hosted.kit import ServedHost, Shell
from quarterdeck.cli.hosted.services import manager_for
from quarterdeck.host.requests import ListSessions, OfSession, Wait
from quarterdeck.timeline import State, Timeline
from quarterdeck.timeline.items import Prompt
from terminal.kit import LIMIT_S

START = "mcp__quarterdeck__start_session"


def test_sessions_are_listed_for_people_and_for_programs(served: ServedHost, shell: Shell) -> None:
    assert shell("ps").startswith("No sessions.")
    approval = served.asking("painter")
    other = served.idle(served.created("writer", prompt=None, tags=["docs"]))
    first, *rest = shell("ps").splitlines()
    assert first.split()[:4] == ["ID", "STATE", "NAME", "ASKS"]
    assert rest[0].split()[:4] == [approval.session_id[:8], "waiting", "painter", "1"]
    assert rest[1].split()[:3] == [other.id[:8], "idle", "writer"]
    assert "1 waiting for you" in rest[2]
    assert shell("ps", "--quiet").split() == [approval.session_id, other.id]
    assert [one["name"] for one in shell.json("ps", "--state", "idle")] == ["writer"]
    assert [one["id"] for one in shell.json("ps", "--tag", "docs")] == [other.id]
    assert shell("ps", "--state", "waiting", "--tag", "docs").startswith("No sessions.")


def test_a_prompt_is_sent_waited_for_and_read(served: ServedHost, shell: Shell, tmp_path: Path) -> None:
    session = served.idle(served.created("painter", prompt=None))
    assert shell("send", "painter", "make", "it") == ""
    shell("wait", "pain", code=4)
    assert "is waiting for an answer" in shell.error
    assert "approvals --watch" in shell.error
    [waiting] = served.do(lambda host: pending(host, session.id))
    assert "allowed" in shell("approve", waiting.id[:8])
    assert shell("wait", session.id) == ""
    log = shell("log", "painter")
    assert log.index("› make it") < log.index("● Bash touch made.txt") < log.index("It is **done**.")
    assert "✔ done" in log
    frames = shell.json("log", "painter")
    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    lines = [json.loads(line) for line in shell("log", "painter", "--raw").splitlines()]
    assert {"control_request", "user", "assistant", "result"} <= {line["type"] for line in lines}
    assert "make it" in shell("export", "painter")
    shell("export", "painter", "--out", str(tmp_path / "it.html"))
    assert (tmp_path / "it.html").read_text().lower().startswith("<!doctype html>")
    assert shell("export", "painter", "--format", "ndjson").splitlines()[0].startswith('{"quarterdeck_session":1')
    shell("export", "painter", "--out", str(tmp_path / "no" / "it.md"), code=2)


def test_what_waits_is_listed_denied_and_remembered(served: ServedHost, shell: Shell) -> None:
    assert shell("approvals") == "No pending requests.\n"
    first, second = served.asking("one"), served.asking("two")
    _, *rows = shell("approvals").splitlines()
    assert [row.split()[:2] for row in rows] == [[first.id[:8], "one"], [second.id[:8], "two"]]
    assert shell("approvals", "--session", "two", "--quiet").split() == [second.id]
    assert "denied" in shell("deny", first.id, "--message", "not now")
    [denied] = shell.json(
        "approvals", "--session", "one", *("--state", "applied", "--state", "decided"), "--state", "delivered"
    )
    assert denied["decision"] == {"decision": "deny", "message": "not now"}
    shell("approve", first.id, code=1)
    assert "local has already decided this: deny" in shell.error
    [allowed] = shell.json("approve", second.id[:12], "--always", "project")
    assert allowed["decision"]["remember"]["rule"] == "Bash(touch made.txt)"
    assert served.idle(served.created("three")).state == "idle"  # nobody is asked again
    shell("deny", "nothing", code=1)
    assert "Run quarterdeck approvals" in shell.error
    shell("approve", second.id, "--rule", "Bash", code=2)
    shell("approve", second.id, "--input", "[]", code=2)


def test_questions_are_shown_and_answered_by_number_or_words(
    unserved: ServedHost, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def question(text: str, *, several: bool) -> dict[str, Any]:
        options = [{"label": one, "description": f"take {one}"} for one in ("red", "blue")]
        return {"question": text, "header": "Paint", "options": options, "multiSelect": several}

    asks = {"questions": [question("Which?", several=False), question("And which?", several=True)]}
    unserved.claude.play([{"tool": "AskUserQuestion", "input": asks}, "Thanks."])
    monkeypatch.setenv("QUARTERDECK_HOST", str(unserved.state))
    approval, shell = unserved.start().asking("painter"), Shell(capsys)
    shell("approve", approval.id, code=1)
    assert f"Run quarterdeck answer {approval.id[:8]}" in shell.error
    asked = shell("answer", approval.id[:8])
    assert asked.splitlines()[:2] == ["Which?", "  1 red  take red"]
    assert "And which? (several)" in asked
    shell("answer", approval.id, "1", code=2)
    shell("answer", approval.id, "1,2", "1", code=2)
    [answered] = shell.json("answer", approval.id[:8], "2", "1,2")
    assert answered["decision"]["answers"] == {"Which?": "blue", "And which?": ["red", "blue"]}
    assert unserved.idle(unserved.session(approval.session_id)).state == "idle"


def test_a_session_is_meant_by_id_beginning_or_name(served: ServedHost, shell: Shell) -> None:
    sessions = {name: served.idle(served.created(name, prompt=None)) for name in ("blue", "blueprint", "Blues")}
    assert [one["id"] for one in shell.json("stop", "blue")] == [sessions["blue"].id]
    assert [one["id"] for one in shell.json("stop", "BLUES")] == [sessions["Blues"].id]
    assert [one["id"] for one in shell.json("stop", sessions["blueprint"].id[:9])] == [sessions["blueprint"].id]
    shell("stop", "blu", code=1)
    assert all(one.id in shell.error for one in sessions.values())
    assert "Use a longer prefix." in shell.error
    for nobody in ("nobody", "", "\x1b[31m"):
        shell("stop", nobody, code=1)
        assert "no such session" in shell.error
        assert "\x1b" not in shell.error
    shell("stop", "blue", "nobody", code=1)  # all are found before one is stopped
    shell("interrupt", "blue", code=1)
    assert "no process" in shell.error
    shell("wait", "blue", code=5)
    shell("wait", "blue", "--for", "stopped")


def test_an_interrupt_ends_the_turn_and_what_it_asks_and_not_the_session(served: ServedHost, shell: Shell) -> None:
    asked = [served.asking(name) for name in ("painter", "writer")]
    assert shell("interrupt", "painter").split()[-1:] == ["interrupted"]
    assert served.idle(served.session(asked[0].session_id)).state == "idle"
    [withdrawn] = shell.json("approvals", "--session", "painter", "--state", "withdrawn")
    assert withdrawn["id"] == asked[0].id
    assert [one["name"] for one in shell.json("ps", "--state", "waiting")] == ["writer"]
    assert [one["id"] for one in shell.json("interrupt", "writer")] == [asked[1].session_id]


def test_waiting_ends_with_the_time(served: ServedHost, shell: Shell) -> None:
    served.asking("painter")
    shell("wait", "painter", "--ignore-approvals", "--timeout", "0.1", code=124)
    shell("wait", "painter", "--for", "waiting", "--timeout", "30")
    shell("wait", "painter", "--timeout", "soon", code=2)


def test_usage_and_audit_say_what_was_used_and_done(served: ServedHost, shell: Shell) -> None:
    assert shell("usage") == "No usage.\n"
    approval = served.asking("painter")
    shell("approve", approval.id)
    served.idle(served.session(approval.session_id))
    [row] = shell.json("usage", "--by", "model")
    head, first, *_ = shell("usage", "--by", "model", "--by", "session").splitlines()
    assert head.split() == ["MODEL", "SESSION", "COST", "IN", "CACHED", "OUT"]
    assert first.split()[:2] == [row["by"]["model"], "painter"]
    assert "█" in first
    assert shell("usage", "--from", "2999-01-01") == "No usage.\n"
    assert [one["operation"] for one in shell.json("audit", "--session", "painter")] == ["decide", "create_session"]
    assert "decide" in shell("audit", "--who", "local")
    assert [len(shell.json("audit", "--limit", limit)) for limit in ("1", "0")] == [1, 3]


def test_simulated_costs_are_marked_and_counted_apart(served: ServedHost, shell: Shell) -> None:
    for name, agent in (("painter", "sim"), ("writer", "claude")):
        shell("approve", served.asking(name, agent=agent).id)
        served.idle(served.session(shell.json("ps", "--all")[0]["id"]))
    shell("budget", "--day", "20", "--month", "300")
    costs = {one["name"]: float(one["cost_usd"]) for one in shell.json("ps")}
    simulated, real = costs["painter"], costs["writer"]
    rows = {row.split()[2]: row for row in shell("ps").splitlines()[1:3]}
    assert f"${simulated:.4f} sim " in rows["painter"]
    assert f"${real:.4f} " in rows["writer"]
    assert "sim" not in rows["writer"]
    assert f"2 sessions · ${real:.4f} + ${simulated:.4f} simulated" in shell("ps")
    head, *rows_by_session = shell("usage", "--by", "session").splitlines()
    assert head.split()[:3] == ["SESSION", "COST", "SIMULATED"]
    parts = {row.split()[0]: row.split()[1:3] for row in rows_by_session}
    assert parts["painter"] == [f"${simulated:.4f}", f"${simulated:.4f}"]
    assert parts["writer"][0] == f"${real:.4f}"
    assert "$" not in parts["writer"][1]
    [_, today, *budgets] = shell("usage").splitlines()
    assert today.split()[1:3] == [f"${real + simulated:.4f}", f"${simulated:.4f}"]
    assert budgets == shell("budget").splitlines()
    assert all(f"${real + simulated:.4f} (${simulated:.4f} simulated) of $" in line for line in budgets)
    assert f"painter: ${simulated:.4f} (simulated) spent" in shell("budget", "painter")
    assert f"writer: ${real:.4f} spent" in shell("budget", "writer")


def test_tokens_are_made_used_and_revoked(
    served: ServedHost, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = shell("token", "create", "phone", "--expires", "30d", "--folder", str(served.cwd)).strip()
    assert [one["name"] for one in shell.json("token", "list")] == ["local", "phone"]
    assert secret not in shell("token", "list")
    session = served.idle(served.created("painter", prompt=None))
    monkeypatch.setenv("QUARTERDECK_TOKEN", secret)
    monkeypatch.setenv("QUARTERDECK_HOST", served.url)
    assert shell("ps", "--quiet").split() == [session.id]
    shell("stop", "painter", code=1)
    assert "requires the scope operate" in shell.error
    monkeypatch.delenv("QUARTERDECK_TOKEN")
    shell("ps", code=2)  # the token of the state folder is not for any program that listens on this machine
    assert f"no token for {served.url}" in shell.error
    kept = tmp_path / "secret"
    kept.write_text(f"{secret}\n")
    assert shell("ps", "--quiet", "--token-file", str(kept)).split() == [session.id]
    assert "revoked" in shell("token", "revoke", "phone", "--host", str(served.state))
    shell("ps", "--token-file", str(kept), code=1)
    assert "quarterdeck token create" in shell.error
    shell("token", "revoke", "phone", "--host", str(served.state), code=1)
    shell("token", "create", "x", "--expires", "soon", code=2)


def test_without_a_host_the_next_step_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(capsys)
    monkeypatch.delenv("QUARTERDECK_HOST", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    shell("ps", code=3)
    assert "no host is running" in shell.error
    assert "Start one with quarterdeck serve" in shell.error
    for nonsense in ("ftp://x", str(tmp_path / "nowhere")):
        shell("ps", "--host", nonsense, code=2)
        assert "is not a host" in shell.error
    (tmp_path / "host.sock").write_text("")
    (tmp_path / "token").write_text("x")
    shell("ps", "--host", str(tmp_path), code=3)
    monkeypatch.setenv("QUARTERDECK_TOKEN", "x")
    shell("ps", "--host", "http://127.0.0.1:1", code=3)
    shell("approvals", "--watch", code=1)
    assert "needs a terminal" in shell.error


def test_run_on_a_host_writes_the_result_for_programs(served: ServedHost, shell: Shell) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "quarterdeck", "run", "make it", "--host", str(served.state), *words]
        return subprocess.run(command, cwd=served.cwd, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    done = run("--json", "--allow", "Bash(touch made.txt)")
    assert (done.returncode, json.loads(done.stdout)["result"]) == (0, "It is **done**."), done.stderr
    done = run("--output", "stream-json")
    assert "denied (no one to ask): Bash touch made.txt" in done.stderr
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()][-1] == "result"
    assert "control_request" not in done.stdout


def test_run_on_a_host_continues_the_session_that_is_named_or_the_latest_here(
    served: ServedHost, shell: Shell, tmp_path: Path
) -> None:
    def run(*words: str, code: int = 0) -> str:
        place = [] if "--cwd" in words else ["--cwd", str(served.cwd)]
        shell("run", "make it", "--host", str(served.state), "--json", "--allow", "Bash", *place, *words, code=code)
        return shell.error

    def prompts() -> dict[str, int]:
        """How many each session has had."""
        return {
            one.id: sum(isinstance(item, Prompt) for item in _timeline(served, one.id).items.values())
            for one in served.do(lambda host: host.list_sessions(ListSessions(limit=50))).sessions
        }

    run()
    (first,) = prompts()
    run("--resume", first[:8])
    assert prompts() == {first: 2}
    run("--continue", "--mode", "plan")
    assert prompts() == {first: 3}
    assert served.session(first).permission_mode == "plan"
    run("--continue", "--fork")
    (copy,) = prompts().keys() - {first}
    assert prompts() == {first: 3, copy: 1}
    run("--continue", "--cwd", str(tmp_path))  # nothing to continue there
    assert len(prompts()) == 3
    assert "no such session: 'nobody'" in run("--resume", "nobody", code=1)
    assert "Add --resume ID or --continue" in run("--fork", code=2)
    assert "quarterdeck ps" in run("--resume", code=2)
    for words in (["--preset", "x"], ["--max-turns", "1"], ["--deny", "Read"], ["--agent", "sim"]):
        assert f"only a new session takes {words[0]}" in run("--continue", *words, code=2)
    served.asking("busy")
    assert "quarterdeck send busy" in run("--resume", "busy", code=1)


def test_the_demo_answers_itself_where_nobody_is(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "quarterdeck", "demo", "--serve"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=4 * LIMIT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    assert "http://127.0.0.1:" in done.stdout
    assert "allowed automatically" in done.stdout
    costs = [line for line in done.stdout.splitlines() if " greeter " in line]
    assert all(re.search(r"\$0\.\d{4} sim ", line) for line in costs), costs
    assert "$" not in re.sub(r"\$0\.\d{4} (sim |\(simulated\))", "", done.stdout)
    assert "\nNext:\n" in done.stdout
    assert "Remember to water the flowers." in done.stdout
    assert "\x1b" not in done.stdout


def test_the_service_lets_sessions_live_and_keeps_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/opt/50%/$x:/bin")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    unit = manager_for("linux", ["--listen", "127.0.0.1:1"])
    assert unit.file == tmp_path / "systemd" / "user" / "quarterdeck.service"
    lines = unit.text.decode().splitlines()
    assert "KillMode=process" in lines
    assert 'Environment="PATH=/opt/50%%/$x:/bin"' in lines
    [start] = [line for line in lines if line.startswith("ExecStart=")]
    assert start.endswith('"-m" "quarterdeck" "serve" "--listen" "127.0.0.1:1"')
    settings = plistlib.loads(manager_for("darwin", []).text)
    assert settings["AbandonProcessGroup"] is True
    assert settings["EnvironmentVariables"]["PATH"] == "/opt/50%/$x:/bin"
    shell = Shell(capsys)
    assert shell("service", "install", "--print") == manager_for(sys.platform, []).text.decode()
    shell("service", "install", "--print", "--", "--listen", "nowhere", code=2)
    shell("service", "remove", code=1)
    assert "no service is installed" in shell.error


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd is Linux's")
def test_the_service_is_started_and_removed_with_the_systems_own_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told, command = tmp_path / "told", tmp_path / "bin" / "systemctl"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\necho "$@" >> {told}\n[ "$2" != enable ] || [ ! -e {tmp_path}/broken ]\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("USER", "nobody-here")
    shell, unit = Shell(capsys), tmp_path / "systemd" / "user" / "quarterdeck.service"
    said = shell("service", "install", "--", "--listen", "127.0.0.1:1")
    assert ("written" in said, "started" in said, "loginctl enable-linger" in said) == (True, True, True)
    assert told.read_text().splitlines() == ["--user daemon-reload", "--user enable --now quarterdeck.service"]
    assert "127.0.0.1:1" in unit.read_text()
    told.unlink()
    shell("service", "install")
    assert told.read_text().splitlines()[0] == "--user disable --now quarterdeck.service", "the old one ends first"
    (tmp_path / "broken").touch()
    shell("service", "install", code=1)
    assert "journalctl --user -u quarterdeck" in shell.error
    assert "removed" in shell("service", "remove")
    assert not unit.exists()
    command.unlink()
    monkeypatch.setenv("PATH", str(command.parent))
    shell("service", "install", code=1)
    assert "systemctl is not installed" in shell.error
    assert "written" in shell("service", "install", "--no-start")


def test_a_token_that_is_wrong_is_told_so(served: ServedHost, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_TOKEN", "wrong")
    shell("ps", code=1)
    assert "QUARTERDECK_TOKEN" in shell.error


def test_waiting_for_a_session_that_crashes_ends_with_the_code_of_one_that_ended(
    served: ServedHost, shell: Shell
) -> None:
    session = served.session(served.asking("painter").session_id)
    served.do(lambda host: kill(host, session))
    served.do(lambda host: host.wait(Wait(session_id=session.id, for_=["stopped"])))  # no longer waiting for an answer
    shell("wait", "painter", code=5)
    assert "painter is crashed" in shell.error


def test_a_session_is_given_tools_to_start_others(served: ServedHost, shell: Shell) -> None:
    start = {"tool": START, "input": {"prompt": "Count the birds.", "name": "counter"}}
    rules = [{"when": "lead", "steps": [start, "Started."]}, {"when": "birds", "steps": ["Seven birds."]}]
    served.claude.play(rules=rules)
    shell("run", "lead", "--host", str(served.state), "--cwd", str(served.cwd), "--host-tools", "1", "--allow", START)
    [child] = [one for one in shell.json("ps", "--all") if one.get("name") == "counter"]
    assert child["parent_id"]
    shell("run", "lead", "--host", str(served.state), "--host-tools", "none", code=2)


def _timeline(served: ServedHost, session_id: str) -> State:
    view = served.do(lambda host: host.get_timeline(OfSession(session_id=session_id)))
    return Timeline.restore(msgspec.json.encode(view.state)).state
