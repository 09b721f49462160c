"""The recordings are whole, readable and free of facts about the machine they were made on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conversations import Entry, Recording, all_recordings, load, paths, save
from conversations.scenarios import SCENARIOS
from quarterdeck.testing.install import SUPPORTED

SIZE_LIMIT_BYTES = 8 * 1024 * 1024
HOME_PATHS = re.compile(rb"/(?:home|Users)/\w+|(?<!\$bunfs)/root/|\bsk-ant-")


def test_a_recording_reads_back_as_it_was_saved(tmp_path: Path) -> None:
    header = {"cli": "1", "scenario": "s", "argv": ["claude"], "env": {}, "exit_code": 0, "signal": None, "stderr": ""}
    entries = [
        Entry(0.1, "in", b'{"a": "\xe2\x80\xa8 \xc2\x85 \\ud800"}\r'),
        Entry(0.2, "in", b"bad \xff utf-8"),
        Entry(0.3, "in", b"", eof=True),
        Entry(0.4, "out", b"cut", ends_with_newline=False),
        Entry(0.5, "out", b"", eof=True),
    ]
    plain = save(tmp_path / "s.ndjson", header, entries, gzip_from_bytes=100_000)
    assert load(plain).entries == entries
    packed = save(tmp_path / "s.ndjson", header, entries, gzip_from_bytes=1)
    assert (packed.name, plain.exists()) == ("s.ndjson.gz", False)
    recording = load(packed)
    assert recording.entries == entries
    assert recording.id == "1/s"
    assert recording.lines("out") == [b"cut"]
    assert recording.stream("in") == entries[0].line + b"\n" + entries[1].line + b"\n"
    assert recording.stream("out") == b"cut"


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.ndjson").write_text('{"hello": 1}\n')
    with pytest.raises(ValueError, match="not a recording"):
        load(tmp_path / "x.ndjson")


@pytest.mark.parametrize("version", SUPPORTED)
def test_exactly_the_scenarios_of_a_version_are_recorded(version: str) -> None:
    # A scenario with several processes has several recordings: resume_0_original, resume_1_resumed …
    recorded = {re.sub(r"_\d_[a-z_]+$", "", path.name.split(".")[0]) for path in paths(version)}
    assert recorded == {scenario.name for scenario in SCENARIOS.values() if scenario.runs_on(version)}


@pytest.mark.parametrize("version", SUPPORTED)
def test_recordings_are_whole(version: str) -> None:
    for recording in all_recordings(version):
        _check(recording)


def _check(recording: Recording) -> None:
    header = recording.header
    assert recording.path.name.removesuffix(".gz") == f"{header.scenario}.ndjson", recording.path
    assert recording.path.parent.name == header.cli
    assert (header.exit_code is None) != (header.signal is None), recording.id
    assert sum(entry.eof for entry in recording.entries) == 2, recording.id
    assert [entry.t for entry in recording.entries] == sorted(entry.t for entry in recording.entries), recording.id
    for line in recording.lines("out"):
        assert isinstance(json.loads(line)["type"], str), recording.id
    found = HOME_PATHS.search(recording.stream("in") + recording.stream("out") + header.stderr.encode())
    assert found is None, (recording.id, found)


def test_the_recordings_stay_within_their_budget() -> None:
    assert sum(path.stat().st_size for path in paths()) <= SIZE_LIMIT_BYTES
