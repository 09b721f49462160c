"""What is played without a scenario: a friendly assistant that really reads and edits files, and asks first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from .scenario import Ask
from .steps import Agent, Move, Plan, Reply, Text, Thinking, ToolUse, Usage

PACE: dict[str, Any] = {"delta_size": 12, "delay_s": 0.012}
SHOWN_LINES = 5
_FILE = r"[`'\"]?(?P<file>[\w./-]*\w\.\w+|[\w-]+/[\w./-]+)[`'\"]?"

Talk = Iterator[Reply]
Subject = Callable[["Assistant", re.Match[str]], Talk]

WELCOME = (
    "Hello! I am the simulator's assistant: no model, but the protocol is real. Ask me to list or read files, to "
    "create or edit one, to run a command, to think, to plan, to ask you something, to keep todos or to send a helper."
)


class Assistant:
    """A brain whose talks are generators: each yields a reply and continues when its tools have run."""

    def __init__(self) -> None:
        self._talk: Talk = iter(())
        self._ask: Ask | None = None

    def next(self, ask: Ask) -> Move:
        if ask.kind == "subagent":
            return _reply(f"I took a look: {ask.prompt}. All is well.")
        if ask.kind == "suggestion":
            return _reply("list the files")
        if ask.kind != "main":
            return _reply("A simulated thought on the side.")
        self._ask = ask
        if ask.first:
            self._talk = self._start(ask)
        return next(self._talk, _reply("Is there anything else?"))

    def rest(self) -> list[Move]:
        return []

    def _start(self, ask: Ask) -> Talk:
        if ask.mode == "plan":
            return self.plan(re.match("", ask.prompt))  # type: ignore[arg-type]  # the empty pattern always matches
        for pattern, subject in SUBJECTS:
            match = re.search(pattern, ask.prompt, re.IGNORECASE | re.DOTALL)
            if match is not None:
                return subject(self, match)
        return iter([_reply(f"You said: “{ask.prompt.strip()}”. I am only a simulator, so I repeat it.")])

    # What it can talk about

    def greet(self, match: re.Match[str]) -> Talk:
        yield _reply(WELCOME)

    def think(self, match: re.Match[str]) -> Talk:
        thought = Thinking("The user wants me to think. Thinking looks like this: one small piece after another.")
        yield _reply(thought, "I thought about it, and it is a good question.")

    def read(self, match: re.Match[str]) -> Talk:
        name = match["file"]
        yield _reply(f"I read `{name}`.", ToolUse("Read", {"file_path": self._path(name)}))
        yield self._outcome(lambda text: f"`{name}` has {len(text.splitlines())} lines. It begins:\n\n{_head(text)}")

    def list(self, match: re.Match[str]) -> Talk:
        yield from self._run_command("ls")

    def run(self, match: re.Match[str]) -> Talk:
        yield from self._run_command(match["command"].strip(" .`'\""))

    def _run_command(self, command: str) -> Talk:
        yield _reply(f"I run `{command}`.", ToolUse("Bash", {"command": command, "description": f"Run {command}"}))
        yield self._outcome(lambda text: f"The output:\n\n```\n{text}\n```")

    def create(self, match: re.Match[str]) -> Talk:
        name = match["file"]
        content = (match["content"] or "Hello from the simulator.").strip(" `'\"") + "\n"
        yield _reply(f"I create `{name}`.", ToolUse("Write", {"file_path": self._path(name), "content": content}))
        yield self._outcome(lambda _: f"I created `{name}`.")

    def edit(self, match: re.Match[str]) -> Talk:
        name, old, new = match["file"], match["old"].strip(" `'\""), match["new"].strip(" `'\"")
        yield _reply(f"I'll look at `{name}` first.", ToolUse("Read", {"file_path": self._path(name)}))
        yield _reply(ToolUse("Edit", {"file_path": self._path(name), "old_string": old, "new_string": new}))
        yield self._outcome(lambda _: f"In `{name}`, “{old}” is now “{new}”.")

    def question(self, match: re.Match[str]) -> Talk:
        options = [{"label": label, "description": f"{label}, please"} for label in ("Tea", "Coffee", "Water")]
        question = {
            "question": "What would you like to drink?",
            "header": "Drink",
            "options": options,
            "multiSelect": False,
        }
        yield _reply("I have a question.", ToolUse("AskUserQuestion", {"questions": [question]}))
        yield self._outcome(lambda text: f"Thank you! {text.split('. ')[0].rstrip('.')}.")

    def plan(self, match: re.Match[str]) -> Talk:
        steps = "1. Look at the files\n2. Change what needs changing\n3. Look again\n"
        if self._ask is not None and self._ask.mode != "plan":
            yield _reply("I'll make a plan first.", ToolUse("EnterPlanMode", {}))
        yield _reply("This is my plan.", Plan.of(steps))
        yield self._outcome(lambda _: "The plan is approved. I would carry it out now.")

    def todo(self, match: re.Match[str]) -> Talk:
        items = ("Look around", "Do the work", "Tidy up")
        for done in range(len(items) + 1):
            todos = [
                {
                    "content": item,
                    "activeForm": item,
                    "status": "completed" if index < done else "in_progress" if index == done else "pending",
                }
                for index, item in enumerate(items)
            ]
            yield _reply(ToolUse("TodoWrite", {"todos": todos}))
        yield _reply("All three are done.")

    def delegate(self, match: re.Match[str]) -> Talk:
        yield _reply("I'll send a helper.", Agent.of("Look around", description="look around", background=False))
        yield self._outcome(lambda text: "The helper is back.")

    def _path(self, name: str) -> str:
        """Models name files by their whole path."""
        return name if self._ask is None else str(self._ask.cwd / name)

    def _outcome(self, told: Callable[[str], str]) -> Reply:
        """What to say after the tools have run: what ``told`` makes of their output, or that it failed."""
        ask = self._ask
        if ask is not None and any(ask.errors):
            return _reply(f"That did not work: {ask.text.splitlines()[0]}")
        return _reply(told("" if ask is None else ask.text))


SUBJECTS: tuple[tuple[str, Subject], ...] = (
    (
        rf"\b(?:edit|replace|change)\b.*?(?P<old>[`'\"].+?[`'\"]|\S+)\s+(?:to|with|by)\s+(?P<new>[`'\"].+?[`'\"]|\S+)\s+in\s+{_FILE}",
        Assistant.edit,
    ),
    (rf"\b(?:create|write|make)\b[^.]*?{_FILE}(?:.*?\b(?:with|containing|saying)\b(?P<content>.+))?", Assistant.create),
    (r"\b(?:run|execute)\b\s+(?:the command\s+)?(?P<command>.+)", Assistant.run),
    (rf"\b(?:read|show|open|cat)\b.*?{_FILE}", Assistant.read),
    (r"\blist\b.*\b(?:files|director|folder)|\bls\b|what files|which files", Assistant.list),
    (r"\bask me\b|\bquestion\b", Assistant.question),
    (r"\bplan\b", Assistant.plan),
    (r"\btodo", Assistant.todo),
    (r"\b(?:delegate|sub-?agent|helper)\b", Assistant.delegate),
    (r"\bthink\b", Assistant.think),
    (r"^\W*(?:hello|hi|hey|help)\b", Assistant.greet),
)


def _reply(*parts: Any) -> Reply:
    blocks = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    said = sum(len(block.text) for block in blocks if isinstance(block, Text))
    return Reply(blocks=blocks, usage=Usage(output_tokens=20 + said // 4), **PACE)


def _head(numbered: str) -> str:
    """The first lines of what Read gave, without their numbers."""
    lines = [line.partition("\t")[2] for line in numbered.splitlines()]
    return "\n".join(f"> {line}" for line in lines[:SHOWN_LINES])
