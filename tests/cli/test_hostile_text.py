"""Text of others never controls the terminal, whichever command prints it."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.hostile import HOSTILE, OBEYED
from quarterdeck.cli import main
from quarterdeck.cli.terminal import outputs
from quarterdeck.testing.recording import Entry, Header, Trailer, save
from quarterdeck.wire import decode


def recording_of(folder: Path) -> Path:
    """Hostile in every place that has text."""
    said = [
        {"type": "user", "message": {"role": "user", "content": HOSTILE}},
        {"type": "system", "subtype": HOSTILE, "uuid": "u", "session_id": HOSTILE, "x": HOSTILE},
        {"type": HOSTILE, HOSTILE: HOSTILE},
        {"type": "control_request", "request_id": "1", "request": {"subtype": HOSTILE, HOSTILE: 1}},
        {"type": "control_response", "response": {"subtype": "error", "request_id": "1", "error": HOSTILE}},
        {"type": "result", "subtype": HOSTILE, "is_error": True, "result": HOSTILE, "errors": [HOSTILE]},
    ]
    lines = [json.dumps(one).encode() for one in said] + [HOSTILE.encode()]
    entries = [Entry(float(t), "in" if t in (0, 3) else "out", line) for t, line in enumerate(lines)]
    entries.append(Entry(9.0, "err", HOSTILE.encode()))
    header = Header(cli=HOSTILE, scenario=HOSTILE, argv=[HOSTILE], started=HOSTILE, recorder=HOSTILE)
    path = folder / "hostile.jsonl"
    save(path, header, entries, Trailer(10.0, 1, HOSTILE, [HOSTILE]))
    return path


def scenario_of(folder: Path) -> Path:
    path = folder / "hostile.json"
    path.write_text(json.dumps({"turns": [], HOSTILE: HOSTILE}))
    return path


def cases_of(folder: Path) -> Path:
    path = folder / "cases.toml"
    texts = {"about": json.dumps(HOSTILE), "request": json.dumps(f"Bash(ls {HOSTILE})")}
    path.write_text(f"[[group]]\nabout = {texts['about']}\nexpect.allow = [{texts['request']}]\n")
    return path


def settings_of(folder: Path) -> Path:
    path = folder / "settings.json"
    path.write_text(json.dumps({"permissions": {"allow": [f"Bash({HOSTILE})", HOSTILE]}, HOSTILE: 1}))
    return path


def not_json(folder: Path) -> Path:
    path = folder / "broken.jsonl"
    path.write_text(json.dumps({"quarterdeck": "recording", "version": HOSTILE}))
    return path


COMMANDS: dict[str, tuple[list[str], Callable[[Path], Path]]] = {
    "trace": (["trace", "FILE"], recording_of),
    "trace in full": (["trace", "--full", "FILE"], recording_of),
    "trace for programs": (["trace", "--json", "FILE"], recording_of),
    "trace of a broken file": (["trace", "FILE"], not_json),
    "replay of a broken file": (["replay", "FILE"], not_json),
    "the version of a replay": (["replay", "FILE", "--version"], recording_of),
    "a scenario": (["sim", "--scenario", "FILE", "-p", "x"], scenario_of),
    "policy test": (["policy", "test", "FILE"], cases_of),
    "policy test for programs": (["policy", "test", "--json", "FILE"], cases_of),
    "policy check": (["policy", "check", "FILE"], settings_of),
    "policy check for programs": (["policy", "check", "--json", "FILE"], settings_of),
    "policy explain": (["policy", "explain", "--no-settings", f"Read({HOSTILE})"], not_json),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_shows_hostile_text_without_obeying_it(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words, make = COMMANDS[name]
    path = make(tmp_path)
    with contextlib.suppress(SystemExit):
        main([str(path) if word == "FILE" else word for word in words])
    printed = "".join(capfd.readouterr())
    assert "evil" in printed, "the hostile text was not reached"
    assert [found.group() for found in OBEYED.finditer(printed)] == []


@pytest.mark.parametrize("output", [outputs.JsonOutput, outputs.StreamOutput, outputs.TextOutput])
def test_output_for_programs_is_harmless_on_a_terminal(
    output: type[outputs.ProgramOutput], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    line = {"type": "result", "subtype": "success", "is_error": False, "result": "\x7f\x9b31m\u202e", "session_id": "s"}
    result = decode(json.dumps(line, ensure_ascii=False).encode())
    for is_terminal in (False, True):
        monkeypatch.setattr(sys.stdout, "isatty", lambda is_terminal=is_terminal: is_terminal)
        made = output()
        made.take([result])
        made.finish(result)  # type: ignore[arg-type]  # a result
        assert bool(OBEYED.search(capfd.readouterr().out)) is not is_terminal
