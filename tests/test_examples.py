"""Every program in ``examples/``, run as it is against the real CLI with a scripted model; what it prints is known."""

from __future__ import annotations

import asyncio
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.running import run_program
from looping import for_each
from needs import real_cli
from quarterdeck import ClaudeAgentOptions
from quarterdeck.testing.model import ApiRequest, ModelServer, Reply, Stall, Text, ToolUse
from remote.kit import elsewhere

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("[!_]*.py"))
ONLY_HERE = {
    "custom_transport": "the transport is the program's own",
    "drop_in": "a program of the official SDK",
    "errors": "what can go wrong when a process is started here",
    "trio_program": "a program of the official SDK, on trio",
}
"""Examples that take no ``--host``, and why."""

Script = Callable[[ModelServer], None]
CASES: dict[str, tuple[Script, str]] = {}
"""Example → what the model says, and what the example prints."""


def example(expected: str) -> Callable[[Script], Script]:
    def register(script: Script) -> Script:
        CASES[script.__name__.removesuffix("_")] = script, expected
        return script

    return register


def bash(command: str, **more: Any) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "A command", **more})


@pytest.mark.real
@pytest.mark.parametrize("name", sorted(CASES) or NAMES)
def test_an_example_does_what_it_says(name: str, tmp_path: Path) -> None:
    script, expected = CASES[name]
    with ModelServer() as model:
        script(model)
        printed = run_program(EXAMPLES / f"{name}.py", tmp_path, model)
        assert (printed, model.queued) == (expected.removeprefix("\n"), 0)


@pytest.mark.real
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ONLY_HERE])
async def test_an_example_does_the_same_on_a_host(name: str, tmp_path: Path) -> None:
    script, expected = CASES[name]
    with ModelServer() as model:
        script(model)
        env = {"HOME": str(tmp_path / "home"), "SHELL": "/bin/bash", **model.env()}
        options = ClaudeAgentOptions(cli_path=real_cli().argv[-1], env=env)
        async with elsewhere(options, tmp_path / "state") as there:
            printed = await asyncio.to_thread(
                run_program,
                EXAMPLES / f"{name}.py",
                tmp_path,
                model,
                words=["--host", there.url],
                CLAUDE_BIN="/nowhere/claude",
                QUARTERDECK_TOKEN=there.token,
            )
        assert (printed, model.queued) == (expected.removeprefix("\n"), 0)


def test_every_example_takes_a_host_unless_it_says_why_not() -> None:
    assert sorted(name for name in NAMES if "HOST" not in (EXAMPLES / f"{name}.py").read_text()) == sorted(ONLY_HERE)


def test_every_example_has_a_test() -> None:
    assert sorted(CASES) == NAMES


@for_each("name", NAMES)
def test_an_example_says_what_it_shows(name: str) -> None:
    assert (EXAMPLES / f"{name}.py").read_text().startswith('"""')


# One prompt, several prompts, streams


@example("4\n")
def first_prompt(model: ModelServer) -> None:
    model.reply("4")


@example("query: Blue.\nclient: Pear.\n")
def drop_in(model: ModelServer) -> None:
    model.reply("Blue.")
    model.reply("Pear.")


@example("Claude: Paris.\n(success after 1 turns)\nClaude: About two million.\n")
def multi_turn(model: ModelServer) -> None:
    model.reply("Paris.")
    model.reply("About two million.")


@example("Once there was a test. It was green. It stayed so.\n")
def streaming_text(model: ModelServer) -> None:
    model.reply("Once there was a test. It was green. It stayed so.", delta_size=5)


@example("Hello.\nRed.\n")
def streaming_input(model: ModelServer) -> None:
    model.reply("Hello.")
    model.reply_with(lambda request: Reply((Text("Red." if '"image/png"' in request.body.decode() else "No idea."),)))


@example("1 2 3 4 5 6 7 8 9 10\nseveral stream events: True one result: True\nbytes: True\n")
def batches(model: ModelServer) -> None:
    model.reply("1 2 3 4 5 6 7 8 9 10", delta_size=5)


# People


@example("""
Allow Write? greeting.txt
It is written.
Allow Bash? rm greeting.txt
I may not.
""")
def permissions(model: ModelServer) -> None:
    model.reply(ToolUse("Write", {"file_path": "greeting.txt", "content": "hello"}))
    model.reply("It is written.")
    model.reply(bash("rm greeting.txt"))
    model.reply("I may not.")


@example("waiting: Bash mkdir things\nMade.\n")
def permission_later(model: ModelServer) -> None:
    model.reply(bash("mkdir things"))
    model.reply("Made.")


@example("""
What would you like? ['Soup', 'Bread']
With what? ['Butter', 'Salt']
You want Soup with Butter, Salt.
""")
def questions(model: ModelServer) -> None:
    def options(*labels: str) -> list[dict[str, str]]:
        return [{"label": label, "description": f"some {label}"} for label in labels]

    asked = [
        {
            "question": "What would you like?",
            "header": "Food",
            "options": options("Soup", "Bread"),
            "multiSelect": False,
        },
        {"question": "With what?", "header": "Extras", "options": options("Butter", "Salt"), "multiSelect": True},
    ]

    def conclude(request: ApiRequest) -> Reply:
        told = request.last_user_text
        known = '"What would you like?"="Soup"' in told and '"With what?"="Butter, Salt"' in told
        return Reply((Text("You want Soup with Butter, Salt." if known else told),))

    model.reply(ToolUse("AskUserQuestion", {"questions": asked}))
    model.reply_with(conclude)


@example("a plan: without text\na plan: without text\nThe plan is done.\n")
def plans(model: ModelServer) -> None:
    model.reply(ToolUse("ExitPlanMode", {"plan": "Add a greeting."}))
    model.reply(ToolUse("ExitPlanMode", {"plan": "Add a greeting, run the tests."}))
    model.reply("The plan is done.")


@example("""
prompt: Say hello with echo.
done: Bash echo hello
Said.
prompt: Fetch a page with curl.
I may not.
""")
def hooks(model: ModelServer) -> None:
    model.reply(bash("echo hello"))
    model.reply("Said.")
    model.reply(bash("curl example.org"))
    model.reply("I may not.")


@example("""
Made.
I may not remove it.
a person is asked about: touch file.txt
Nobody is there.
""")
def policy(model: ModelServer) -> None:
    for command, said in (
        ("mkdir folder", "Made."),
        ("rm -r folder", "I may not remove it."),
        ("touch file.txt", "Nobody is there."),
    ):
        model.reply(bash(command))
        model.reply(said)


# Tools


@example("It is 5.\nIt is 21.5 degrees.\n")
def in_process_tools(model: ModelServer) -> None:
    def tell(request: ApiRequest) -> Reply:
        (result,) = request.tool_results.values()
        return Reply((Text("It is 21.5 degrees." if '"degrees":21.5' in result else result),))

    model.reply(ToolUse("mcp__demo__add", {"a": 2, "b": 3}))
    model.reply_with(lambda request: Reply((Text(f"It is {float(*request.tool_results.values()):.0f}."),)))
    model.reply(ToolUse("mcp__demo__weather", {"city": "Oslo"}))
    model.reply_with(tell)


@example("The shop says tea: 4.20\n")
def fastmcp_server(model: ModelServer) -> None:
    model.reply(ToolUse("mcp__shop__price", {"article": "tea"}))
    model.reply_with(
        lambda request: Reply(
            (
                Text(
                    "The shop says tea: 4.20" if "tea: 4.20" in str(request.tool_results) else str(request.tool_results)
                ),
            )
        )
    )


@example('added: [\'voice\'] errors: {}\nvoice: connected\ncalled: {"result":"HELLO"}\nvoice: disabled\n')
def mcp_servers(model: ModelServer) -> None:
    """The model is not asked."""


@example("tables asks: For how many?\nbooked for 4\n")
def elicitation(model: ModelServer) -> None:
    model.reply(ToolUse("mcp__tables__book", {}))
    model.reply_with(
        lambda request: Reply((Text("booked for 4" if "booked for 4" in str(request.tool_results) else "not booked"),))
    )


# The running session


@example("ended: the session was aborted by its abort option\n")
def abort(model: ModelServer) -> None:
    model.reply("1 2 3 4 5 6 7 8 9 10 11 12 13", Stall(after=4), delta_size=5)


@example("taken back: True\nI made the stuff.\n")
def steering(model: ModelServer) -> None:
    model.reply(bash("mkdir things"))
    model.reply_with(
        lambda request: Reply((Text("I made the stuff." if "Call it stuff" in request.text else "I made the things."),))
    )


@example("still queued: []\nended: error_during_execution\nHello.\n")
def interrupt(model: ModelServer) -> None:
    model.reply("1 2 3 4 5 6 7 8 9 10 11 12 13", Stall(after=4), delta_size=5)
    model.reply("Hello.")


@example("""
version: True
models to choose from: True
commands: True
mode: acceptEdits
Hello.
context used: True
aside: You asked me to say hello.
exported: True
by name: True
refused: make_coffee
""")
def control_calls(model: ModelServer) -> None:
    model.on(lambda request: request.kind == "side_question", "You asked me to say hello.")
    model.on(lambda request: request.kind == "main", "Hello.")  # not queued: 2.1.325 tries a new model with a question


@example("""
One. cost something: True
  tokens: 100 in, 20 out
Two. cost something: True
  tokens: 100 in, 20 out
claude-opus-5-5 wrote 40 tokens
adds up: True
""")
def cost(model: ModelServer) -> None:
    model.reply("One.")
    model.reply("Two.")


@example("It was 7.\nthe same session: True\nIt was 7.\nthe same session: False\n")
def resume_and_fork(model: ModelServer) -> None:
    def recall(request: ApiRequest) -> Reply:
        return Reply((Text("It was 7." if "number 7" in request.text else "I forgot."),))

    model.reply("I will.")
    model.reply_with(recall)
    model.reply_with(recall)


@example("Tokyo True\n")
def structured_output(model: ModelServer) -> None:
    model.reply(ToolUse("StructuredOutput", {"city": "Tokyo", "people": 37_000_000}))


@example("""
started: Review
reviewer: The code is fine.
ended: completed
Claude: The reviewer is content.
""")
def subagents(model: ModelServer) -> None:
    task = {"description": "Review", "prompt": "Review the code.", "subagent_type": "reviewer"}
    model.on(lambda request: request.kind == "subagent", "The code is fine.")
    model.reply(ToolUse("Agent", {**task, "run_in_background": False}))
    model.reply("The reviewer is content.")


@example("started: A command\nstopped\n")
def background_tasks(model: ModelServer) -> None:
    model.reply(bash("sleep 30", run_in_background=True))
    model.reply("It runs.")


@example("written: True\nwould change: 1 file\nstill there: False\n")
def rewind_files(model: ModelServer) -> None:
    model.reply(ToolUse("Write", {"file_path": "note.txt", "content": "a note"}))
    model.reply("Written.")


@example("""
not found: install the CLI, or say where it is
did not start: 1 True
no result: error_max_turns
refused: bypass_not_launched
a bad option: True
""")
def errors(model: ModelServer) -> None:
    model.reply(bash("ls"))


@example("connected\nanswer: Is anybody there?\nclosed\n")
def custom_transport(model: ModelServer) -> None:
    """There is no CLI, so no model."""


# Without asyncio


@example("4\nAllow? mcp__shop__stock\nThere are 12.\ncontext used: True\n")
def sync_script(model: ModelServer) -> None:
    model.reply("4")
    model.reply(ToolUse("mcp__shop__stock", {"article": "pen"}))
    model.reply_with(lambda request: Reply((Text(f"There are {next(iter(request.tool_results.values()))}."),)))


@example("Hello.\nHello.\nAllow? Bash\nMade.\n")
def trio_program(model: ModelServer) -> None:
    model.reply("Hello.")
    model.reply("Hello.")
    model.reply(bash("mkdir folder"))
    model.reply("Made.")


# For those who draw


@example("""
Allow Write? greeting.txt
+hello
Write: finished
It is written.
(done, 40 tokens)
['Prompt', 'ToolCall', 'Permission', 'Text', 'TurnSummary']
""")
def timeline_fold(model: ModelServer) -> None:
    model.reply(ToolUse("Write", {"file_path": "greeting.txt", "content": "hello\n"}))
    model.reply("It is written.")


@example("asked in line True can_use_tool\nMade.\nlines of both directions: True True\n")
def journal(model: ModelServer) -> None:
    model.reply(bash("mkdir folder"))
    model.reply("Made.")


@example("asked: Bash mkdir folder\nsaid: Made.\n")
def host(model: ModelServer) -> None:
    model.reply(bash("mkdir folder"))
    model.reply("Made.")


@example("asked: add {'a': 20, 'b': 22}\nthen: idle\n")
def host_callbacks(model: ModelServer) -> None:
    model.reply(ToolUse("mcp__sums__add", {"a": 20, "b": 22}))
    model.reply("It is 42.")


# The guide

GUIDE = (EXAMPLES.parent / "docs" / "client.md").read_text()
SNIPPETS = re.findall(r"<!-- examples/(\w+)\.py -->\n```python\n(.*?)```", GUIDE, re.DOTALL)


@for_each(("name", "snippet"), SNIPPETS)
def test_a_snippet_of_the_guide_is_in_the_example_it_names(name: str, snippet: str) -> None:
    without_host = re.sub(r"(, )?host=HOST", "", (EXAMPLES / f"{name}.py").read_text())  # for examples alone
    lines = without_host.splitlines(keepends=True)
    length = snippet.count("\n")
    parts = [textwrap.dedent("".join(lines[start : start + length])) for start in range(len(lines))]
    assert snippet in parts


def test_the_guide_names_every_example_and_has_no_other_code() -> None:
    assert [name for name in NAMES if f"examples/{name}.py" not in GUIDE] == []
    assert GUIDE.count("```python") == len(SNIPPETS)
