from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.cli import main
from quarterdeck.cli.common import cells
from quarterdeck.client.transcripts import project_key_for_directory

WriteSession = Callable[..., str]
Capture = pytest.CaptureFixture[str]
TALK = "cccc0000-0000-4000-8000-000000000001"
EVIL_TEXT = "<script>alert(1)</script> \033[2J\033]52;c;aGk=\007 </details>"
EDIT = {"file_path": "/p/shop.py", "old_string": "a\nb\nc", "new_string": "a\nB\nc"}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(name: str, call_id: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, content: Any, *, failed: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": failed}


@pytest.fixture
def talk(write_session: WriteSession) -> str:
    return write_session(
        "Repair the shop",
        [{"type": "thinking", "thinking": "First the file.\nThen the test."}],
        [text("I look at `shop.py`.")],
        [use("Read", "t1", file_path="/p/shop.py"), use("Bash", "t2", command="make test")],
        [result("t2", "line\n" * 20 + "boom", failed=True)],
        [result("t1", [{"type": "text", "text": "1\ta"}, {"type": "image", "source": {}}])],
        [use("Edit", "t3", **EDIT)],
        [result("t3", "done")],
        [text("It is repaired:\n\n```python\nprint('<b>')\n```\n")],
        session_id=TALK,
    )


def call(capsys: Capture, *words: str) -> str:
    assert main(["sessions", *words]) == 0
    return capsys.readouterr().out


def test_show_has_calls_with_their_results_in_the_order_of_the_calls(talk: str, capsys: Capture) -> None:
    shown = call(capsys, "show", talk).splitlines()[2:]
    assert shown == [
        "",
        "› Repair the shop",
        "",
        "thought: First the file. Then the test.",
        "",
        "I look at `shop.py`.",
        "",
        "✓ Read /p/shop.py",
        "  1    a",
        "  [image]",
        "",
        "✗ Bash make test",
        *["  line"] * 8,
        "  … 13 more lines (show them with --full)",
        "",
        "✓ Edit /p/shop.py",
        "   a",
        "  -b",
        "  +B",
        "   c",
        "",
        "It is repaired:",
        "",
        "```python",
        "print('<b>')",
        "```",
    ]


def test_full_shows_results_and_thoughts_whole(talk: str, capsys: Capture) -> None:
    shown = call(capsys, "show", talk, "--full")
    assert "First the file.\nThen the test.\n" in shown
    assert shown.count("  line\n") == 20


def test_last_shows_the_end(talk: str, capsys: Capture) -> None:
    assert [json.loads(line)["type"] for line in call(capsys, "show", talk, "--last", "2", "--json").splitlines()] == [
        "tool_call",
        "text",
    ]


def test_json_has_every_part_whole(talk: str, capsys: Capture) -> None:
    parts = [json.loads(line) for line in call(capsys, "show", talk, "--json").splitlines()]
    assert [part["type"] for part in parts] == ["prompt", "thinking", "text", *["tool_call"] * 3, "text"]
    failed = parts[4]
    assert (failed["name"], failed["status"], failed["output"]["text"]) == ("Bash", "failed", "line\n" * 20 + "boom")


@pytest.mark.parametrize("columns", [30, 60, 120])
def test_show_is_never_wider_than_the_terminal(
    columns: int, talk: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert max(map(cells, call(capsys, "show", talk).splitlines())) <= columns


def test_wide_letters_are_wrapped_by_their_width(
    write_session: WriteSession, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    chosen = write_session("世" * 100, [text("שלום " * 30)])
    shown = call(capsys, "show", chosen)
    assert max(map(cells, shown.splitlines())) <= 40
    assert shown.count("世") >= 100


def test_colours_are_ours_alone(write_session: WriteSession, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = write_session(
        EVIL_TEXT,
        [use(EVIL_TEXT, "t", command=EVIL_TEXT)],
        [result("t", EVIL_TEXT)],
        [text(EVIL_TEXT)],
        title=EVIL_TEXT,
    )
    for forced in ("0", "1"):
        monkeypatch.setenv("FORCE_COLOR", forced)
        shown = call(capsys, "show", chosen)
        assert set(re.findall(r"\x1b.{0,6}?[A-Za-z]", shown)) <= {
            f"\033[{code}m" for code in ("0", "1", "2", "32", "36")
        }
        assert "\007" not in shown
        assert "␛[2J" in shown


def test_commands_are_shown_as_they_were_typed(write_session: WriteSession, capsys: Capture) -> None:
    chosen = write_session(
        "hello",
        "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>",
        "<local-command-stdout>Set model to opus</local-command-stdout>",
    )
    assert call(capsys, "show", chosen).splitlines()[4:] == ["", "› /model opus", "", "  Set model to opus"]


def test_a_call_without_a_result_is_shown_as_that(write_session: WriteSession, capsys: Capture) -> None:
    chosen = write_session("hello", [use("Bash", "t", command="sleep 9")], "stop", [text("Stopped.")])
    assert call(capsys, "show", chosen).splitlines()[5:] == ["… Bash sleep 9", "", "› stop", "", "Stopped."]


def test_a_result_without_a_call_is_not_lost(write_session: WriteSession, capsys: Capture) -> None:
    chosen = write_session("hello", [result("gone", "an orphan")])
    assert "  an orphan" in call(capsys, "show", chosen).splitlines()


def test_what_a_sub_agent_did_stands_below_its_call(home: Path, write_session: WriteSession, capsys: Capture) -> None:
    chosen = write_session("go", [use("Task", "t1", description="look around")], [result("t1", "seen")])
    folder = home / ".claude" / "projects" / project_key_for_directory(home / "project") / chosen / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.meta.json").write_text('{"toolUseId": "t1"}')
    said = {"type": "assistant", "uuid": "u1", "parentUuid": None, "isSidechain": True, "sessionId": chosen}
    said["message"] = {"role": "assistant", "content": [text("I see a shop.")]}  # type: ignore[assignment]
    (folder / "agent-a1.jsonl").write_text(json.dumps(said) + "\n")
    assert call(capsys, "show", chosen).splitlines()[4:] == [
        "",
        "✓ Task look around",
        "  seen",
        "│",
        "│ I see a shop.",
    ]
    assert "> I see a shop." in call(capsys, "export", chosen)
    assert '<div class="agent"><div class="text">I see a shop.</div></div>' in call(
        capsys, "export", chosen, "--format", "html"
    )


# Exports


def test_markdown_folds_calls_and_has_diffs(talk: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["sessions", "export", talk]) == 0
    made = capsysbinary.readouterr().out.decode()
    head, _, body = made.partition("\n## You\n")
    assert head.startswith(f"# Repair the shop\n\n- session: `{TALK}`\n- folder: ")
    assert body.startswith("\nRepair the shop\n\n## Claude\n\n<details><summary><i>Thinking</i></summary>\n")
    assert (
        "<details><summary><b>Edit</b> <code>/p/shop.py</code> +1 −1</summary>\n\n"
        "```diff\n a\n-b\n+B\n c\n```\n\n```text\ndone\n```\n\n</details>\n" in body
    )
    assert (
        "<details><summary><b>Bash</b> <code>make test</code> <b>failed</b></summary>\n\n```sh\nmake test\n```\n"
        in body
    )
    assert body.count("<details>") == body.count("</details>") == 4


def test_a_fence_in_a_result_does_not_end_the_code_block(write_session: WriteSession, capsys: Capture) -> None:
    chosen = write_session("hi", [use("Bash", "t", command="x")], [result("t", "````\n</details><script>")])
    assert "`````text\n````\n</details><script>\n`````" in call(capsys, "export", chosen)


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_html_has_no_markup_from_the_conversation(write_session: WriteSession, capsys: Capture) -> None:
    evil = '"><img src=x onerror=alert(1)> ```\n<script>alert(1)</script>\n``` `<b onclick=x>`'
    chosen = write_session(evil, [use(evil, "t", file_path=evil)], [result("t", evil)], [text(evil)], title=evil)
    page = Page()
    page.feed(call(capsys, "export", chosen, "--format", "html"))
    ours = {"html", "head", "meta", "title", "style", "body", "h1", "dl", "dt", "dd", "div", "details", "summary"}
    assert set(page.tags) <= ours | {"b", "code", "pre"}
    assert {name for name, _ in page.attributes} == {"lang", "charset", "http-equiv", "content", "name", "class"}


def test_html_loads_and_runs_nothing(talk: str, capsys: Capture) -> None:
    from base64 import b64encode
    from hashlib import sha256

    made = call(capsys, "export", talk, "--format", "html")
    style = re.search(r"<style>(.*?)</style>", made, re.DOTALL)
    assert style is not None
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    policy = f"default-src &#x27;none&#x27;; style-src &#x27;sha256-{digest}&#x27;"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in made
    assert "<del>-b</del><ins>+B</ins>" in made
    assert "<pre>print(&#x27;&lt;b&gt;&#x27;)\n</pre>" in made
    assert not re.search(r"https?://|src=|<link|url\(", made)


def test_ndjson_is_the_transcript_byte_for_byte(
    talk: str, home: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (file,) = (home / ".claude" / "projects").glob(f"*/{talk}.jsonl")
    assert main(["sessions", "export", talk, "--format", "ndjson"]) == 0
    assert capsysbinary.readouterr().out == file.read_bytes()


def test_a_file_is_written_once_and_overwritten_only_by_force(talk: str, tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "talk.md"
    assert main(["sessions", "export", talk, "--out", str(target)]) == 0
    assert capsys.readouterr().err.startswith(f"{target}: ")
    first = target.read_text()
    target.write_text("mine")
    assert main(["sessions", "export", talk, "--out", str(target)]) == 1
    told = capsys.readouterr().err
    assert told == f"quarterdeck sessions: {target} already exists\n  Choose another name, or add --force.\n"
    assert target.read_text() == "mine"
    assert main(["sessions", "export", talk, "--out", str(target), "--force"]) == 0
    assert target.read_text() == first
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["talk.md"]


def test_a_file_that_cannot_be_written_says_what_to_check(talk: str, tmp_path: Path, capsys: Capture) -> None:
    assert main(["sessions", "export", talk, "--out", str(tmp_path / "no" / "talk.md")]) == 1
    assert "No such file or directory\n  Check that the folder exists" in capsys.readouterr().err


MEASURED = """
import resource, sys
from quarterdeck.cli import main
from quarterdeck.cli.common import cells
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
main(["sessions", "export", sys.argv[1], "--format", sys.argv[2], "--out", sys.argv[3]])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", ["markdown", "html", "ndjson"])
def test_an_export_streams(kind: str, write_session: WriteSession, tmp_path: Path) -> None:
    parts: list[Any] = ["start"]
    for number in range(30):
        parts += [[use("Bash", f"t{number}", command="x")], [result(f"t{number}", f"{number}" + "y" * 1_000_000)]]
    chosen = write_session(*parts)
    target = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, chosen, kind, str(target)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert target.stat().st_size > 30_000_000
    assert int(done.stdout) < 20_000, "KiB more than before, of 30 MB"


def test_a_reader_that_goes_away_ends_it_quietly(write_session: WriteSession) -> None:
    chosen = write_session("hi", [text("word " * 500_000)])
    command = [sys.executable, "-m", "quarterdeck", "sessions", "show", chosen]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 141
