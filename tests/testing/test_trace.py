"""A recording shown to a person: what is said of it, how it fits a terminal, what is found odd."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from conversations import ROOT, paths
from looping import for_each
from quarterdeck.testing.recording import (
    Entry,
    Header,
    Recording,
    RecordingError,
    Trailer,
    end_line,
    entry_line,
    header_line,
    load,
    save,
    whole_lines,
)
from quarterdeck.testing.trace import Filter, show
from quarterdeck.testing.trace_model import Timing, TraceModel, TraceRow
from quarterdeck.testing.trace_view import TraceView, cut, duration, ending, plain, size

LIMIT_S = 20.0
TRACE = "import sys; from quarterdeck.cli.trace import main; sys.exit(main(sys.argv[1:]))"

PERM_ALLOW = """\
Claude Code 2.1.325 (perm_allow)
claude --output-format stream-json --verbose --input-format stream-json --permi…

turn 1
    0.004 → host   asks initialize
    0.509 ← cli    answers 44 commands, 5 agents, output_s… (initialize, 505 ms)
    0.510 → host   says: Make the file
    0.594 ← cli    starts a turn: claude-opus-5-5, default, 25 tools, session 8…
    0.605 ← cli    status: requesting
    0.677 ← model  I need a tool.
    0.688 ← model  calls Bash touch made.txt
    0.743 ← cli    asks for permission for Bash: touch made.txt
    0.743 → host   allows (can_use_tool Bash, 200 µs)
    0.744 ← model  (streamed: 12 events, 14 letters) (70 ms)
    0.823 ← Bash   returns: (Bash completed with no output) (135 ms)
    0.829 ← cli    status: requesting
    0.853 ← model  Done.
    0.855 ← model  (streamed: 6 events, 5 letters) (4 ms)
    0.865 ← cli    ends the turn: success, 0.3 s, $0.0016, 2 steps, tokens 200 …
    0.865 → host   closes the input
    0.909 ← cli    closes its output

summary
  909 ms, 3 lines in (468 B), 28 lines out (31.5 kB)
  turn 1: success, 861 ms, $0.0016
  requests: cli can_use_tool: 1 × 200 µs
            host initialize: 1 × 505 ms
  tools:    Bash: 1 × 135 ms
  end: exit code 0
  anomalies: none
"""


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are as long as they are, wherever the tests run."""
    monkeypatch.delenv("COLUMNS", raising=False)


def shown(path: Path, wanted: Filter | None = None, **options: Any) -> str:
    to = io.StringIO()
    show(path, wanted or Filter(), to=to, **options)
    return to.getvalue()


def line(**message: Any) -> bytes:
    return json.dumps(message).encode()


def recorded(path: Path, *talk: tuple[str, bytes], gap_s: float = 1.0, end: Trailer | None = None) -> Path:
    entries = [Entry(n * gap_s, direction, text) for n, (direction, text) in enumerate(talk)]  # type: ignore[arg-type]
    save(path, Header(), entries, end)
    return path


def ask(request_id: str, subtype: str, **fields: Any) -> bytes:
    return line(type="control_request", request_id=request_id, request={"subtype": subtype, **fields})


def answer(request_id: str, **response: Any) -> bytes:
    return line(
        type="control_response", response={"subtype": "success", "request_id": request_id, "response": response}
    )


def result(total: float, **fields: Any) -> bytes:
    return line(
        type="result", subtype="success", duration_ms=100, is_error=False, num_turns=1, total_cost_usd=total, **fields
    )


def model_of(path: Path, **options: Any) -> TraceModel:
    model = TraceModel(**options)
    for entry in whole_lines(load(path).entries):
        model.add(entry)
    model.finish()
    return model


def test_a_turn_with_a_permission_request_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert shown(ROOT / "2.1.325" / "perm_allow.ndjson") == PERM_ALLOW


def test_answers_that_fit_nothing_at_110_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    text = shown(ROOT / "2.1.325" / "perm_unknown_request_id_and_duplicate_response.ndjson")
    assert text == GOLDEN_ANSWERS


@for_each("path", paths(), ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}")
def test_every_recording_can_be_shown_within_the_width(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = shown(path)
    assert "\nsummary\n" in text
    assert not [line for line in text.splitlines() if len(line) > 80]
    assert text.replace("\n", "").isprintable()


def test_the_newest_cli_says_nothing_unknown() -> None:
    unknown = [
        (path.name, text)
        for path in paths("2.1.325")
        for number, text in model_of(path, slow_s=60).summary.anomalies
        if "unknown" in text and load(path).entries[number - 2].direction == "out"
    ]
    assert unknown == []


# What is odd


def test_requests_without_answers_and_answers_without_requests_are_found(tmp_path: Path) -> None:
    path = recorded(
        tmp_path / "a.ndjson",
        ("in", ask("1", "set_model", model="x")),
        ("out", ask("2", "can_use_tool", tool_name="Bash", input={"command": "ls"})),
        ("in", answer("9")),
        ("out", ask("3", "hook_callback", callback_id="h", input={"hook_event_name": "Stop"})),
        ("in", answer("3")),
        ("in", answer("3")),
        ("out", ask("4", "can_use_tool", tool_name="Read", input={})),
        ("out", line(type="control_cancel_request", request_id="4")),
    )
    assert sorted(model_of(path).summary.anomalies) == [
        (2, "set_model (1) was never answered"),
        (3, "can_use_tool Bash (2) was never answered"),
        (4, "an answer to '9', which was never sent"),
        (7, "another answer to hook_callback h (already answered)"),
    ]


def test_unknown_things_and_bad_lines_are_found(tmp_path: Path) -> None:
    block = {"type": "hologram", "x": 1}
    path = recorded(
        tmp_path / "a.ndjson",
        ("out", b"no json"),
        ("out", b"\xff\xfe"),
        ("out", line(type="telepathy")),
        ("out", line(type="system", subtype="seance", uuid="u", session_id="s")),
        ("out", line(type="assistant", message={"role": "assistant", "content": [block]})),
        ("in", ask("1", "levitate")),
        ("out", answer("1")),
        ("out", line(type="stream_event", event={"type": "wormhole"})),
    )
    found = [text.partition(":")[0] for _, text in sorted(model_of(path).summary.anomalies)]
    assert found == [
        "bad line",
        "bad line",
        "unknown message",
        "unknown system message 'seance'",
        "unknown block",
        "unknown request",
        "unknown stream event",
    ]


def test_slow_answers_and_tools_without_results_are_found(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    path = recorded(
        tmp_path / "a.ndjson",
        ("in", ask("1", "initialize")),
        ("out", answer("1")),
        ("out", line(type="assistant", message={"role": "assistant", "content": [call]})),
        gap_s=6.0,
    )
    assert sorted(model_of(path).summary.anomalies) == [
        (3, "initialize was answered after 6.0 s"),
        (4, "the call of Bash has no result"),
    ]
    assert model_of(path, slow_s=7.0).summary.anomalies == [(4, "the call of Bash has no result")]


def test_requests_and_tools_are_timed() -> None:
    summary = model_of(ROOT / "2.1.325" / "hooks_basic.ndjson").summary
    (hooks, start), (bash,) = summary.requests, summary.tools
    assert (hooks.name, hooks.count, start.name, bash.name) == ("cli hook_callback", 4, "host initialize", "Bash")
    assert bash == Timing("Bash", 1, pytest.approx(0.0964), pytest.approx(0.0964))


# Turns and costs


def test_a_turn_costs_the_difference_and_a_reset_starts_anew(tmp_path: Path) -> None:
    prompt = line(type="user", message={"role": "user", "content": "x"})
    reset = line(type="conversation_reset", new_conversation_id="n")
    talk = [prompt, result(0.5), prompt, result(0.75), reset, prompt, result(0.25)]
    path = recorded(tmp_path / "a.ndjson", *(("in" if text is prompt else "out", text) for text in talk))
    summary = model_of(path).summary
    assert [(turn.number, turn.cost_usd, turn.duration_s) for turn in summary.turns] == [
        (1, 0.5, 1.0),
        (2, 0.25, 1.0),
        (3, 0.25, 1.0),
    ]
    assert summary.cost_usd == 1.0
    text = shown(path)
    assert text.count("\nturn ") == 3
    assert "all turns: $1.0000" in text


def test_the_first_turn_of_a_resumed_session_is_not_charged_for_what_came_before() -> None:
    """2.1.325 goes on with the earlier process's total and also reports the difference."""
    (turn,) = model_of(ROOT / "2.1.325" / "resume_2_forked.ndjson").summary.turns
    assert turn.cost_usd == pytest.approx(0.0008)


def test_notices_and_calls_are_told_in_the_words_of_the_timeline(tmp_path: Path) -> None:
    question = {"question": "Which topping?", "header": "Topping", "options": [], "multiSelect": False}
    call = {"type": "tool_use", "id": "t", "name": "AskUserQuestion", "input": {"questions": [question]}}
    pictures = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]
    returned = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "Olives"}, *pictures]}
    path = recorded(
        tmp_path / "a.ndjson",
        ("out", line(type="system", subtype="informational", content="stopped above", level="notice")),
        ("out", line(type="assistant", message={"role": "assistant", "content": [call]})),
        ("out", line(type="user", message={"role": "user", "content": [returned]})),
    )
    rows = [json.loads(row)["row"]["text"] for row in shown(path, as_json=True).splitlines()[:-1]]
    assert rows == [
        "informational: stopped above",
        "calls AskUserQuestion Which topping?",
        "returns: Olives · 1 picture",
    ]


def test_what_the_cli_says_after_a_result_belongs_to_that_turn() -> None:
    text = shown(ROOT / "2.1.325" / "replay_user_messages_echo.ndjson")
    assert re.findall(r"^turn \d", text, re.MULTILINE) == ["turn 1"]
    assert "repeats the answer to can_use_tool Bash" in text


# Filters, forms, terminals


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (Filter(types=("control_request",)), 2),
        (Filter(types=("control_request/initialize", "result")), 2),
        (Filter(types=("result/success",)), 1),
        (Filter(only="in"), 4),
        (Filter(grep="made.txt"), 3),
        (Filter(grep="made.txt", only="in"), 1),
        (Filter(turn=1), 17),
        (Filter(turn=2), 0),
        (Filter(errors=True), 0),
    ],
)
def test_filters_choose_rows(wanted: Filter, count: int) -> None:
    text = shown(ROOT / "2.1.325" / "perm_allow.ndjson", wanted)
    assert len(re.findall(r"^ +\d+\.\d{3} [→←!] ", text, re.MULTILINE)) == count


def test_errors_are_those_of_the_api_the_tools_and_the_lines(tmp_path: Path) -> None:
    text = shown(ROOT / "2.1.325" / "api_error_529_exhausted.ndjson", Filter(errors=True))
    assert len(re.findall(r"retries the API|\[server_error\]|fails the turn", text)) == 4
    failed = {"type": "tool_result", "tool_use_id": "t", "content": "no such file", "is_error": True}
    path = recorded(
        tmp_path / "a.ndjson",
        ("out", line(type="user", message={"role": "user", "content": [failed]})),
        ("err", b"a warning"),
        ("out", line(type="keep_alive")),
    )
    rows = [row for row in shown(path, Filter(errors=True), as_json=True).splitlines() if row.startswith('{"row"')]
    assert [json.loads(row)["row"]["text"] for row in rows] == ["fails: no such file", "a warning"]


def test_json_has_each_row_with_its_line_and_the_summary() -> None:
    path = ROOT / "2.1.325" / "perm_allow.ndjson"
    *rows, last = map(json.loads, shown(path, as_json=True).splitlines())
    assert rows[0] == {
        "row": {
            "t": 0.0038,
            "direction": "in",
            "number": 2,
            "turn": 1,
            "kind": "control_request/initialize",
            "who": "host",
            "text": "asks initialize",
            "error": False,
            "anomalies": [],
            "latency_s": None,
            "request": "",
            "nested": False,
            "line": load(path).lines("in")[0].decode(),
        }
    }
    summary = last["summary"]
    assert summary["end"] == {"exit_code": 0, "signal": None, "note": "exit code 0"}
    assert (summary["lines"], summary["anomalies"]) == ({"in": 3, "out": 28, "err": 0}, [])


def test_content_cannot_control_the_terminal(tmp_path: Path) -> None:
    nasty = "\x1b[2J\x1b]0;title\x07 a\nb\tc \u202e reversed \x9b1m \u2028"
    path = recorded(
        tmp_path / "a.ndjson",
        ("in", line(type="user", message={"role": "user", "content": nasty})),
        ("out", ask("\x1b[1m", "\x1b[5m", tool_name="\x1b[31m")),
        ("err", b"\x1b[41mred"),
    )
    text = shown(path)
    assert text.replace("\n", "").isprintable()
    assert "␛[2J␛]0;title\\u{7} a⏎b c \\u{202e} reversed \\u{9b}1m \\u{2028}" in text


def test_colour_marks_who_speaks_and_only_when_asked() -> None:
    row = TraceRow(1.0, "out", 2, 1, "assistant", "model", "hello", anomalies=("odd",))
    coloured = list(TraceView(width=80, colour=True).row(row))
    assert coloured == [
        "",
        "\x1b[1mturn 1\x1b[0m",
        "    1.000 ← \x1b[32mmodel \x1b[0m hello",
        " " * 19 + "\x1b[31m⚠ odd\x1b[0m",
    ]
    assert "\x1b" not in "".join(TraceView(width=80, colour=False).row(row))


def test_long_texts_are_cut_or_wrapped() -> None:
    row = TraceRow(1.0, "out", 2, 1, "assistant", "model", "word " * 40)
    assert [len(line) for line in TraceView(width=60, colour=False).row(row)][2:] == [60]
    wrapped = list(TraceView(width=60, colour=False, full=True).row(row))[2:]
    assert len(wrapped) == 5
    assert all(len(line) <= 60 for line in wrapped)
    assert len(list(TraceView(width=None, colour=False).row(row))[2]) > 200


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("é́" * 3, 3, "é́" * 3)],
)
def test_text_is_cut_by_columns(text: str, width: int, expected: str) -> None:
    assert cut(text, width) == expected


def test_quantities_are_readable() -> None:
    assert [duration(s) for s in (0.00002, 0.02, 2.0, 180.0)] == ["20 µs", "20 ms", "2.0 s", "3.0 min"]
    assert [size(n) for n in (12, 1200, 12_000_000)] == ["12 B", "1.2 kB", "12.0 MB"]
    assert plain("plain") == "plain"


@pytest.mark.parametrize(
    ("end", "truncated", "expected"),
    [
        (Trailer(1.0, 3, None), False, "exit code 3"),
        (Trailer(1.0, None, "SIGKILL"), False, "killed by SIGKILL"),
        (Trailer(1.0, None, None, ["the tap was killed"]), False, "not recorded; the tap was killed"),
        (None, True, "not recorded; the file is cut off"),
    ],
)
def test_the_end_is_told(end: Trailer | None, truncated: bool, expected: str) -> None:
    assert ending(Recording(Header(), [], Path("x"), end, truncated)) == expected


# The command


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", TRACE, *arguments],
        capture_output=True,
        timeout=LIMIT_S,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **env},
        check=False,
    )


def test_the_command_shows_a_recording() -> None:
    done = run(str(ROOT / "2.1.325" / "perm_allow.ndjson"), COLUMNS="80")
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, PERM_ALLOW, b"")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["{dir}/none.ndjson"], "quarterdeck trace: {dir}/none.ndjson: No such file or directory\n"),
        (["{dir}/bad.ndjson"], "quarterdeck trace: {dir}/bad.ndjson:2: expected a line of JSON: "),
        (["{dir}/bad.ndjson", "--grep", "("], "--grep '(' is not a regular expression"),
        (["{dir}/x.gz", "--follow"], "--follow cannot follow a .gz file"),
        (["{dir}/x.gz"], "{dir}/x.gz:1: expected a gzip file"),
        (["{dir}/bad.ndjson", "--only", "up"], "invalid choice: 'up'"),
    ],
)
def test_a_bad_file_or_flag_is_code_2(tmp_path: Path, arguments: list[str], problem: str) -> None:
    (tmp_path / "bad.ndjson").write_bytes(header_line(Header()) + b"oops\n" + end_line(Trailer()))
    (tmp_path / "x.gz").write_bytes(b"not gzip")
    done = run(*(argument.format(dir=tmp_path) for argument in arguments))
    assert done.returncode == 2
    assert problem.format(dir=tmp_path) in done.stderr.decode()


def test_a_reader_that_goes_away_is_no_error() -> None:
    path = next(path for path in paths("2.1.325") if path.name.startswith("control_all_typed"))
    command = [sys.executable, "-c", TRACE, "--json", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(LIMIT_S) == 0


def test_a_growing_recording_is_followed_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "live.ndjson"
    whole = [
        header_line(Header()),
        entry_line(Entry(0.0, "in", ask("1", "initialize"))),
        entry_line(Entry(0.5, "out", b"half of ", ends_with_newline=False)),
        entry_line(Entry(0.6, "out", b"a line")),
        end_line(Trailer(1.0, 0, None)),
    ]
    path.write_bytes(whole[0] + whole[1][:20])
    command = [sys.executable, "-c", TRACE, "--follow", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        watchdog = threading.Timer(LIMIT_S, process.kill)
        watchdog.start()
        assert process.stdout is not None
        assert process.stdout.readline() == b"Claude Code\n"
        with path.open("ab") as file:
            file.write(whole[1][20:])
        shown_lines = [process.stdout.readline() for _ in range(3)]
        assert shown_lines[-1].endswith("→ host   asks initialize\n".encode())
        with path.open("ab") as file:
            file.write(b"".join(whole[2:]))
        rest = process.stdout.read().decode()
        assert process.wait(LIMIT_S) == 0
        watchdog.cancel()
    assert "half of a line" in rest
    assert "end: exit code 0" in rest


def test_a_recording_that_was_cut_off_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "cut.ndjson"
    path.write_bytes(header_line(Header()) + entry_line(Entry(0.0, "in", b"{}")) + b'{"t": 1.0, "d": "o')
    assert load(path).truncated
    assert "end: not recorded; the file is cut off" in shown(path)


@pytest.mark.parametrize(
    "bad",
    [
        b"[]\n",
        b'{"t": "x", "d": "in", "b": ""}\n',
        b'{"t": 1, "d": "in"}\n',
        b'{"t": 1, "d": "in", "b64": "%%%"}\n',
        b'{"t": 1, "end": 5}\n',
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "bad.ndjson"
    path.write_bytes(header_line(Header()) + bad + entry_line(Entry(0.0, "in", b"{}")))
    with pytest.raises(RecordingError, match=r"bad\.ndjson:2: ") as caught:
        load(path)
    assert (caught.value.line, caught.value.path) == (2, path)


GOLDEN_ANSWERS = """\
Claude Code 2.1.325 (perm_unknown_request_id_and_duplicate_response)
claude --output-format stream-json --verbose --input-format stream-json --permission-prompt-tool stdio

turn 1
    0.002 → host   asks initialize
    0.850 ← cli    answers 44 commands, 5 agents, output_style, 5 available_output_style… (initialize, 848 ms)
    0.851 → host   says: Make the file
    1.009 ← cli    starts a turn: claude-opus-5-5, default, 25 tools, session 1051cea2
    1.133 ← model  I need a tool.
    1.144 ← model  calls Bash touch made.txt
    1.222 ← cli    asks for permission for Bash: touch made.txt
    1.222 → host   allows
                   ⚠ an answer to 'nobody-asked', which was never sent
    1.222 → host   allows (can_use_tool Bash, 300 µs)
    1.222 → host   denies: too late
                   ⚠ another answer to can_use_tool Bash (already answered)
    1.356 ← Bash   returns: (Bash completed with no output) (212 ms)
    1.405 ← model  Done.
    1.419 ← cli    ends the turn: success, 0.5 s, $0.0016, 2 steps, tokens 200 in 40 out
    1.419 → host   closes the input
    1.454 ← cli    closes its output

summary
  1.5 s, 5 lines in (851 B), 8 lines out (25.5 kB)
  turn 1: success, 1.4 s, $0.0016
  requests: cli can_use_tool: 1 × 300 µs
            host initialize: 1 × 848 ms
  tools:    Bash: 1 × 212 ms
  end: exit code 0
  anomalies: 2
    line 9: an answer to 'nobody-asked', which was never sent
    line 11: another answer to can_use_tool Bash (already answered)
"""
