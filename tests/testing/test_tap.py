"""The tap in front of small programs, and of the real CLI: nothing changes, and everything is recorded."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from needs import real_cli
from quarterdeck.testing.model import ModelServer, ToolUse
from quarterdeck.testing.recording import Entry, Recording, RecordingError, Trailer, load, whole_lines
from quarterdeck.testing.redaction import MARK

LIMIT_S = 30.0
TAP = "import sys; from quarterdeck.cli.tap import main; sys.exit(main(sys.argv[1:]))"
ECHO = "import os\nwhile data := os.read(0, 65536): os.write(1, data)"
SECRET = "sk-ant-api03-abcdefghijklmnop"


def tap(out: Path | str, *command: str, options: tuple[str, ...] = ()) -> list[str]:
    return [sys.executable, "-P", "-c", TAP, "--out", str(out), *options, "--", *command]


def python(script: str) -> list[str]:
    return [sys.executable, "-S", "-c", script]


def run(
    out: Path, script: str, said: bytes = b"", *, options: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> tuple[subprocess.CompletedProcess[bytes], Recording]:
    done = subprocess.run(
        tap(out, *python(script), options=options),
        input=said,
        capture_output=True,
        timeout=LIMIT_S,
        env={**os.environ, **(env or {})},
        check=False,
    )
    return done, until(lambda: ended(out))  # on a slow machine the recorder goes on after the tap


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "recording.ndjson"


@pytest.fixture
def start(out: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a script behind the tap; whatever the test leaves is killed."""
    started: list[subprocess.Popen[bytes]] = []

    def start_(script: str, **options: Any) -> subprocess.Popen[bytes]:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        started.append(subprocess.Popen(tap(out, *python(script)), bufsize=0, start_new_session=True, **pipes))
        return started[-1]

    yield start_
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(LIMIT_S)
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def read_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([process.stdout], [], [], LIMIT_S)[0], "nothing came"
        piece = os.read(process.stdout.fileno(), 1)
        if not piece:
            break
        line += piece
    return line


def until(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + LIMIT_S
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        select.select([], [], [], 0.01)
    return found


def ended(path: Path) -> Recording | None:
    """The recording, once it has its trailer."""
    try:
        recording = load(path)
    except (OSError, RecordingError):
        return None
    return recording if recording.end is not None else None


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


# Bytes


def test_both_directions_and_stderr_are_passed_on_and_recorded(out: Path) -> None:
    script = "import sys\nfor line in sys.stdin: print('you said', line, end='')\nprint('warning', file=sys.stderr)"
    done, recording = run(out, script, b'{"a": 1}\nhalf')
    assert (done.returncode, done.stdout, done.stderr) == (0, b'you said {"a": 1}\nyou said half', b"warning\n")
    assert recording.stream("in") == b'{"a": 1}\nhalf'
    assert (recording.stream("out"), recording.stream("err")) == (done.stdout, done.stderr)
    assert {entry.direction for entry in recording.entries if entry.eof} == {"in", "out", "err"}
    assert recording.end is not None
    assert (recording.end.exit_code, recording.end.signal, recording.end.trouble) == (0, None, [])
    assert recording.header.argv == python(script)
    times = [entry.t for entry in recording.entries]
    assert times[0] > 0
    assert max(times) <= recording.end.t


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_come_through_and_into_the_recording_unchanged(out: Path, seed: int) -> None:
    rng = random.Random(seed)
    pieces = [
        rng.randbytes(rng.randrange(1, 3000)),
        b"\n",
        "żółć ☃ 😀".encode(),
        b"\r\n",
        b"\x00\xff\xfe",
        b"x" * 70_000,
    ]
    said = b"".join(rng.choices(pieces, k=200))
    done, recording = run(out, ECHO, said)
    assert done.stdout == said
    assert recording.stream("in") == said == recording.stream("out")


def test_a_line_of_64_mib_passes_and_is_recorded_in_readable_pieces(out: Path) -> None:
    size = 64 * 1024 * 1024
    line = f"'é'.encode() * {size // 2} + b'\\n'"
    script = f"import os\nrest = memoryview({line})\nwhile rest: rest = rest[os.write(1, rest):]"
    done, recording = run(out, script)
    assert len(done.stdout) == size + 1
    assert recording.stream("out") == done.stdout
    assert len(recording.lines("out")) == 1
    assert b'"b64"' not in out.read_bytes()


def test_a_request_stands_before_its_answer_in_the_recording(
    out: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = start(ECHO)
    assert process.stdin is not None
    for number in range(200):
        process.stdin.write(b"%d\n" % number)
        assert read_line(process) == b"%d\n" % number
    process.stdin.close()
    assert process.wait(LIMIT_S) == 0
    lines = [entry for entry in whole_lines(load(out).entries) if not entry.eof]
    assert [(entry.direction, entry.line) for entry in lines] == [
        (direction, b"%d" % number) for number in range(200) for direction in ("in", "out")
    ]


def test_a_torn_line_is_recorded_as_far_as_it_came(out: Path, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    process = start(ECHO)
    assert process.stdin is not None
    process.stdin.write(b'{"half":')
    until(lambda: out.exists() and b"half" in out.read_bytes())
    process.stdin.write(b"1}\n")
    process.stdin.close()
    process.wait(LIMIT_S)
    recording = load(out)
    assert recording.lines("in") == [b'{"half":1}']
    pieces = [(entry.line, entry.ends_with_newline) for entry in recording.entries if entry.direction == "in"]
    assert pieces == [(b'{"half":', False), (b"1}", True), (b"", True)]


def test_a_host_that_does_not_read_stops_the_child(out: Path, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    flood = (
        "import os\nn = 0\nwhile n < 4000:\n    n += 1\n    os.write(2, b'.')\n    os.write(1, b'x' * 1023 + b'\\n')"
    )
    process = start(flood)
    assert process.stdout is not None
    assert process.stderr is not None
    count = 0
    while select.select([process.stderr], [], [], 0.7)[0]:
        count += len(os.read(process.stderr.fileno(), 65536))
    assert count < 400  # two pipes of 64 KiB and one chunk, of 4,000 KiB
    received = 0
    while data := os.read(process.stdout.fileno(), 1 << 20):
        received += len(data)
    assert received == 4000 * 1024
    assert process.wait(LIMIT_S) == 0
    assert len(load(out).stream("out")) == received


# Ends


@pytest.mark.parametrize(
    ("script", "returncode"),
    [
        ("raise SystemExit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("import os; os.abort()", -signal.SIGABRT),
    ],
)
def test_the_end_of_the_child_is_the_end_of_the_tap(out: Path, script: str, returncode: int) -> None:
    done, recording = run(out, script)
    assert done.returncode == returncode
    name = signal.Signals(-returncode).name if returncode < 0 else None
    assert recording.end == Trailer(recording.end.t if recording.end else 0, None if name else returncode, name, [])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_signals_go_on_to_the_child(start: Callable[..., subprocess.Popen[bytes]], number: signal.Signals) -> None:
    script = (
        "import os, signal, time\n"
        f"signal.signal({int(number)}, lambda *_: (os.write(1, b'caught\\n'), os._exit(42)))\n"
        "os.write(1, b'ready\\n')\ntime.sleep(60)"
    )
    process = start(script)
    assert read_line(process) == b"ready\n"
    process.send_signal(number)
    assert read_line(process) == b"caught\n"
    assert process.wait(LIMIT_S) == 42


def test_a_signal_that_the_child_does_not_catch_kills_both(start: Callable[..., subprocess.Popen[bytes]]) -> None:
    process = start("import os, time; os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)")
    pid = int(read_line(process))
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT_S) == -signal.SIGTERM
    assert gone(pid)


def test_the_end_of_the_input_reaches_the_child(start: Callable[..., subprocess.Popen[bytes]]) -> None:
    process = start("import sys; sys.stdin.read(); print('saw the end', flush=True)")
    assert process.stdin is not None
    process.stdin.close()
    assert read_line(process) == b"saw the end\n"
    assert process.wait(LIMIT_S) == 0


def test_a_child_that_closes_its_output_is_seen_to_do_so(start: Callable[..., subprocess.Popen[bytes]]) -> None:
    process = start("import os, sys; os.write(1, b'bye\\n'); os.close(1); sys.stdin.read()")
    assert read_line(process) == b"bye\n"
    assert read_line(process) == b""
    assert process.poll() is None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(LIMIT_S) == 0


def test_a_child_that_closes_its_input_breaks_the_hosts_pipe(start: Callable[..., subprocess.Popen[bytes]]) -> None:
    process = start("import os, time; os.close(0); os.write(1, b'closed\\n'); time.sleep(60)")
    assert process.stdin is not None
    assert read_line(process) == b"closed\n"
    poller = select.poll()
    poller.register(process.stdin, 0)
    assert poller.poll(LIMIT_S * 1000), "the pipe was not broken"
    with pytest.raises(BrokenPipeError):
        process.stdin.write(b"x\n")


def test_the_death_of_the_host_ends_the_child(tmp_path: Path, out: Path) -> None:
    child = "import os, sys; os.write(1, b'%d\\n' % os.getpid()); sys.stdin.read()"
    host = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen({tap(out, *python(child))!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(p.stdout.readline().decode(), p.pid, flush=True)\ntime.sleep(60)"
    )
    with subprocess.Popen(python(host), stdout=subprocess.PIPE, bufsize=0) as process:
        child_pid = int(read_line(process))
        tap_pid = int(read_line(process))
        process.kill()
    until(lambda: gone(child_pid) and gone(tap_pid))
    recording = until(lambda: ended(out))
    assert recording.end.exit_code == 0
    assert recording.lines("out") == [str(child_pid).encode()]


def test_killing_the_tap_kills_the_child_and_the_recording_is_finished(
    out: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = start("import os, time; os.write(1, b'%d\\n' % os.getpid()); time.sleep(600)")
    pid = int(read_line(process))
    until(lambda: out.exists() and str(pid).encode() in out.read_bytes())
    process.kill()
    assert process.wait(LIMIT_S) == -signal.SIGKILL
    until(lambda: gone(pid))
    recording = until(lambda: ended(out))
    assert (recording.lines("out"), recording.end.trouble) == ([str(pid).encode()], ["the tap was killed"])


def test_what_the_child_leaves_behind_does_not_keep_the_tap(out: Path) -> None:
    script = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\nprint(p.pid, flush=True)"
    )
    done, recording = run(out, script)
    os.kill(int(done.stdout), signal.SIGKILL)
    assert (done.returncode, recording.lines("out")) == (0, [done.stdout.strip()])


# Trouble


def test_a_program_that_is_not_there_is_reported_as_by_a_shell(out: Path, tmp_path: Path) -> None:
    done = subprocess.run(tap(out, "no-such-program"), capture_output=True, timeout=LIMIT_S, check=False)
    expected = b"quarterdeck tap: cannot start no-such-program: No such file or directory\n"
    assert (done.returncode, done.stderr, load(out).exit_code) == (127, expected, 127)
    plain = tmp_path / "plain"
    plain.write_text("x")
    done = subprocess.run(tap(out, str(plain)), capture_output=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, b"Permission denied" in done.stderr) == (126, True)


def test_a_recording_that_cannot_be_written_does_not_disturb_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "recording.ndjson"
    done = subprocess.run(
        tap(out, *python(ECHO)), input=b"hello\n" * 50_000, capture_output=True, timeout=LIMIT_S, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"hello\n" * 50_000)
    assert done.stderr.decode() == f"quarterdeck tap: the recording {out} is incomplete: {out.parent}: File exists\n"


def test_a_full_disk_does_not_disturb_the_conversation() -> None:
    done = subprocess.run(
        tap("/dev/full", *python(ECHO)), input=b"hello\n" * 50_000, capture_output=True, timeout=LIMIT_S, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"hello\n" * 50_000)
    assert done.stderr == b"quarterdeck tap: the recording /dev/full is incomplete: No space left on device\n"


def test_a_recording_that_outgrows_its_disk_is_whole_as_far_as_it_goes(out: Path) -> None:
    limit = "import resource, os, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)); "
    program = limit + "os.execv(sys.argv[1], sys.argv[1:])"
    said = b"x" * 1023 + b"\n"
    command = [sys.executable, "-c", program, *tap(out, *python(ECHO))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, bufsize=0, **pipes) as process:
        assert process.stdin is not None
        process.stdin.write(said)
        assert read_line(process) == said
        until(lambda: out.exists() and out.read_bytes().count(said[:-1]) == 2)
        output, errors = process.communicate(said * 1000, timeout=LIMIT_S)
    assert (process.returncode, output) == (0, said * 1000)
    assert b"File too large" in errors
    recording = until(lambda: ended(out))
    assert not recording.truncated
    assert recording.lines("in")[0] == said[:-1]
    assert set(recording.lines("in")) == {said[:-1]}


def test_no_place_for_the_spool_means_no_recording_and_no_harm(out: Path) -> None:
    env = {**os.environ, "TMPDIR": "/nonexistent"}
    done = subprocess.run(
        tap(out, *python(ECHO)), input=b"hi\n", capture_output=True, timeout=LIMIT_S, env=env, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"hi\n")
    assert b"is incomplete: No such file or directory" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--", "claude"], b"--out FILE is missing"),
        (["--out", "x"], b"the command to record is missing"),
        (["--out", "x", "--redact-pattern", "(", "--", "claude"], b"is not a regular expression"),
        (["--nonsense"], b"unrecognized arguments: --nonsense"),
    ],
)
def test_a_wrong_flag_is_code_2_and_says_what_was_expected(arguments: list[str], problem: bytes) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("QUARTERDECK_")}
    done = subprocess.run(
        [sys.executable, "-c", TAP, *arguments], capture_output=True, timeout=LIMIT_S, env=env, check=False
    )
    assert (done.returncode, problem in done.stderr) == (2, True)


# Names, launchers, redaction, start-up


def test_the_name_may_contain_the_process_and_the_time(tmp_path: Path) -> None:
    out = str(tmp_path / "new" / "{pid}-{time}.ndjson")
    with subprocess.Popen(tap(out, *python(ECHO)), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.communicate(b"x\n", timeout=LIMIT_S)
    (path,) = (tmp_path / "new").iterdir()
    pid, _, when = path.stem.partition("-")
    assert int(pid) == process.pid
    assert when.endswith("Z")
    assert path.stat().st_mode & 0o777 == 0o600


def test_two_taps_at_once_do_not_write_into_one_file(out: Path, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    first, second = start(ECHO), None
    assert first.stdin is not None
    first.stdin.write(b"one\n")
    assert read_line(first) == b"one\n"
    until(lambda: out.exists() and b"one" in out.read_bytes())
    second = start(ECHO)
    assert second.stdin is not None
    second.stdin.write(b"two\n")
    assert read_line(second) == b"two\n"
    for process in (second, first):
        assert process.stdin is not None
        process.stdin.close()
        process.wait(LIMIT_S)
    assert load(out).lines("in") == [b"one"]
    assert load(out.with_name("recording-2.ndjson")).lines("in") == [b"two"]


def test_a_question_for_the_version_is_passed_on_and_not_recorded(out: Path, tmp_path: Path) -> None:
    claude = tmp_path / "claude"
    claude.write_text("#!/bin/sh\necho 1.2.3\nexit 5\n")
    claude.chmod(0o755)
    done = subprocess.run(tap(out, str(claude), "-v"), capture_output=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stdout, out.exists()) == (5, b"1.2.3\n", False)


def test_the_launcher_is_a_claude_that_records(out: Path, tmp_path: Path) -> None:
    script = tmp_path / "cli.py"
    script.write_text("import sys\nprint(sys.argv[1:], sys.stdin.read())")
    launcher = tmp_path / "bin" / "claude"
    command = tap(out, sys.executable, str(script), options=("--redact", "--install-launcher", str(launcher)))
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT_S)
    done = subprocess.run([launcher, "--model", "a b"], input=b"hi", capture_output=True, timeout=LIMIT_S, check=False)
    assert done.stdout == b"['--model', 'a b'] hi\n"
    assert load(out).header.redacted
    assert load(out).header.argv == [sys.executable, str(script), "--model", "a b"]
    other = tmp_path / "other {pid}.ndjson"
    env = {**os.environ, "QUARTERDECK_TAP_OUT": str(other), "QUARTERDECK_TAP_CLI": "/bin/echo"}
    done = subprocess.run([launcher, "x"], capture_output=True, timeout=LIMIT_S, env=env, check=False)
    assert done.stdout == f"{script} x\n".encode()
    assert len(list(tmp_path.glob("other *.ndjson"))) == 1


def test_variables_alone_are_enough(out: Path) -> None:
    env = {**os.environ, "QUARTERDECK_TAP_OUT": str(out), "QUARTERDECK_TAP_CLI": "/bin/cat"}
    done = subprocess.run(
        [sys.executable, "-c", TAP], input=b"x\n", capture_output=True, timeout=LIMIT_S, env=env, check=False
    )
    assert (done.stdout, load(out).lines("in")) == (b"x\n", [b"x"])


def test_redaction_changes_the_recording_and_only_that(out: Path) -> None:
    said = json.dumps({"key": SECRET, "note": "internal-4711", "value": "from the variable"}).encode() + b"\n"
    env = {"MY_OWN_TOKEN": "from the variable", "ANTHROPIC_API_KEY": SECRET, "CLAUDE_CODE_X": "1"}
    done, recording = run(out, ECHO, said, options=("--redact-pattern", r"internal-\d+"), env=env)
    assert done.stdout == said
    assert json.loads(recording.lines("out")[0]) == {"key": "[redacted]", "note": "[redacted]", "value": "[redacted]"}
    assert [entry.redactions for entry in recording.entries if entry.line] == [3, 3]
    assert recording.header.env["ANTHROPIC_API_KEY"] == "[redacted]"
    assert recording.header.env["CLAUDE_CODE_X"] == "1"
    assert "MY_OWN_TOKEN" not in recording.header.env
    assert SECRET.encode() not in out.read_bytes()


def test_secrets_on_the_command_line_stand_nowhere_in_the_recording(out: Path) -> None:
    words = ["--token", "abc-1", "--password=abc-2", f"--header=x-api-key: {SECRET}", "API_KEY=abc-3", "--model", "m"]
    command = tap(out, *python(ECHO), *words, options=("--redact",))
    done = subprocess.run(command, input=b"{}\n", capture_output=True, timeout=LIMIT_S, check=False)
    assert done.stdout == b"{}\n"
    assert load(out).header.argv[-2:] == ["--model", "m"]
    for secret in ("abc-1", "abc-2", "abc-3", SECRET):
        assert secret.encode() not in out.read_bytes()


def test_a_secret_in_a_long_line_is_found_wherever_the_pieces_are_cut(out: Path) -> None:
    secret = SECRET.encode() * 3
    script = (
        f"import os\nsecret = {secret!r}\n"
        "rest = memoryview((b'x' * 900 + b' ' + secret + b' ') * 4000 + b'\\n')\n"
        "while rest: rest = rest[os.write(1, rest):]"
    )
    done, recording = run(out, script, options=("--redact",))
    assert done.stdout.count(secret) == 4000
    assert recording.stream("out") == done.stdout.replace(secret, MARK)


def test_the_tap_imports_nothing_heavy() -> None:
    heavy = ("asyncio", "msgspec", "json", "dataclasses", "subprocess", "socket", "pathlib", "argparse")
    script = (
        "import sys\nfrom quarterdeck.cli.tap import main\nfrom quarterdeck.testing.tap import run\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=LIMIT_S, check=True)
    assert done.stdout == b"[]\n"


# The real CLI


@pytest.mark.real
def test_a_turn_with_a_permission_request_goes_through_the_tap_in_front_of_the_real_cli(
    tmp_path: Path, out: Path
) -> None:
    install = real_cli()
    home, cwd = tmp_path / "home", tmp_path / "repo"
    home.mkdir()
    cwd.mkdir()
    flags = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]
    flags += ["--permission-prompt-tool", "stdio"]
    with ModelServer() as model:
        model.reply(ToolUse("Bash", {"command": "touch made.txt", "description": "Make it"}))
        model.reply("Done.")
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **model.env()}
        with subprocess.Popen(
            tap(out, *install.argv, *flags, options=("--redact",)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
            bufsize=0,
        ) as process:
            received = _converse(process)
            assert process.wait(LIMIT_S) == 0
    assert (cwd / "made.txt").exists()
    recording = load(out)
    assert recording.lines("out") == received
    assert [json.loads(line)["type"] for line in recording.lines("in")] == [
        "control_request",
        "user",
        "control_response",
    ]
    assert recording.end is not None
    assert (recording.end.exit_code, recording.end.trouble) == (0, [])


def _converse(process: subprocess.Popen[bytes]) -> list[bytes]:
    """One turn, allowing every tool; all lines that came."""
    assert process.stdin is not None

    def say(message: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")

    say({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}})
    say({"type": "user", "message": {"role": "user", "content": "Make the file"}})
    lines = []
    while line := read_line(process):
        lines.append(line.rstrip(b"\n"))
        message = json.loads(line)
        if message["type"] == "control_request":
            response = {"behavior": "allow", "updatedInput": message["request"]["input"]}
            body = {"subtype": "success", "request_id": message["request_id"], "response": response}
            say({"type": "control_response", "response": body})
        elif message["type"] == "result":
            process.stdin.close()
    return lines


def test_entries_know_their_bytes() -> None:
    assert Entry(0.0, "in", b"x").data == b"x\n"
    assert Entry(0.0, "in", b"x", ends_with_newline=False).data == b"x"
    assert Entry(0.0, "in", b"", eof=True).data == b""
