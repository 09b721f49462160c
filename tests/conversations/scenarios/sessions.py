"""Sessions across processes: resume, fork, continue; and structured output."""

from __future__ import annotations

import json

from conversations.driver import Run
from conversations.scenarios._registry import every, newest
from conversations.stage import Stage
from quarterdeck.testing.model import ToolUse

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["name", "n"],
}


def _turn(run: Run, text: str) -> str:
    """One turn; the uuid of the assistant message in it."""
    run.user(text)
    uuid = str(run.message("assistant")["uuid"])
    run.result()
    return uuid


@every
def resume(stage: Stage) -> None:
    for text in ("original", "resumed", "forked"):
        stage.model.reply(text)
    with stage.claude(part="0_original") as run:
        run.initialize()
        run.turn("one")
        session = run.session_id
    with stage.claude("--resume", session, part="1_resumed") as run:
        run.initialize()
        run.turn("two")
    with stage.claude("--resume", session, "--fork-session", part="2_forked") as run:
        run.initialize()
        run.turn("three")


@newest
def resume_more(stage: Stage) -> None:
    for text in ("a", "b", "continued", "at", "echo", "own id"):
        stage.model.reply(text)
    with stage.claude(part="0_original") as run:
        at = _turn(run, "one")
        _turn(run, "two")
        session = run.session_id
    with stage.claude("--continue", part="1_continue") as run:
        run.turn("three")
    with stage.claude("--resume", session, "--resume-session-at", at, part="2_at") as run:
        run.turn("four")
    with stage.claude("--resume", session, "--replay-user-messages", part="3_replay_flag") as run:
        run.turn("five")
    own = "11111111-2222-4333-8444-555555555555"
    with stage.claude("--session-id", own, part="4_own_id") as run:
        run.turn("six")
    with stage.claude("--session-id", own, part="5_id_in_use") as run:
        run.exited()
    with stage.claude("--resume", "99999999-2222-4333-8444-555555555555", part="6_unknown") as run:
        run.exited()


@newest
def resume_at_unknown_message(stage: Stage) -> None:
    stage.model.reply("a")
    with stage.claude(part="0_original") as run:
        run.turn("one")
        session = run.session_id
    unknown = "99999999-2222-4333-8444-555555555555"
    with stage.claude("--resume", session, "--resume-session-at", unknown, part="1_unknown") as run:
        run.exited()


@newest
def no_session_persistence(stage: Stage) -> None:
    stage.model.reply("Not kept.")
    with stage.claude("--no-session-persistence") as run:
        run.initialize()
        run.turn("hi")


@newest
def structured_output_flag(stage: Stage) -> None:
    stage.model.reply(ToolUse("StructuredOutput", {"name": "Bob", "n": 3}))
    stage.model.reply("Here it is.")
    with stage.claude("--json-schema", json.dumps(SCHEMA)) as run:
        run.allow_tools()
        run.initialize()
        run.turn("structured")


@newest
def structured_output_initialize(stage: Stage) -> None:
    stage.model.reply(ToolUse("StructuredOutput", {"name": "Bob", "n": 3}))
    stage.model.reply("Here it is.")
    with stage.claude() as run:
        run.allow_tools()
        run.initialize(jsonSchema=SCHEMA)
        run.turn("structured")


@newest
def structured_output_never_valid(stage: Stage) -> None:
    stage.model.on(lambda request: request.kind == "main", ToolUse("StructuredOutput", {"name": 7}), times=20)
    with stage.claude("--json-schema", json.dumps(SCHEMA)) as run:
        run.allow_tools()
        run.initialize()
        run.turn("structured")


@newest
def commands_changed(stage: Stage) -> None:
    stage.model.reply("one")
    stage.model.reply("two")
    with stage.claude() as run:
        run.initialize()
        run.turn("one")
        skill = stage.cwd / ".claude" / "skills" / "fresh"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text("---\nname: fresh\ndescription: A fresh skill\n---\nBe fresh.\n")
        run.control("reload_skills")
        run.turn("two")


@newest
def plugin_dir(stage: Stage) -> None:
    plugin = stage.folder / "plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "sample", "version": "0.1.0"}')
    (plugin / "commands").mkdir()
    (plugin / "commands" / "ahoy.md").write_text("Say ahoy.\n")
    stage.model.reply("Ahoy.")
    with stage.claude("--plugin-dir", str(plugin)) as run:
        run.initialize()
        run.turn("/sample:ahoy")
