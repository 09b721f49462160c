"""From the command line to a session: its options, its prompt, its rules."""

from __future__ import annotations

import argparse
import base64
import shlex
import sys
from pathlib import Path
from typing import Any

from quarterdeck.cli.common import USAGE_ERROR, ReportedError
from quarterdeck.client.options import ClaudeAgentOptions

from .advice import SessionRules
from .agents import agent_command

IMAGE_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
IMAGE_LIMIT_BYTES = 20_000_000
PROMPT_LIMIT_BYTES = 50_000_000
"""Lines on the wire are limited, and a prompt of this size is a mistake."""
_TAP = "import sys; from quarterdeck.cli.tap import main; sys.exit(main(sys.argv[1:]))"


def prompt_of(given: argparse.Namespace, *, example: str = "quarterdeck run") -> str | list[dict[str, Any]]:
    """The prompt from arguments, file and standard input, with its images. ``example``: what to write before it."""
    parts = []
    words = list(given.prompt)
    reads_input = "-" in words or not (words or given.prompt_file)
    if told := " ".join(word for word in words if word != "-"):
        parts.append(told)
    if given.prompt_file:
        parts.append(_text_file(given.prompt_file))
    if reads_input:
        if sys.stdin is None or sys.stdin.isatty():
            raise _no_prompt(given, example)
        parts.append(sys.stdin.buffer.read(PROMPT_LIMIT_BYTES).decode("utf-8", "replace"))
    text = "\n\n".join(part.strip("\n") for part in parts if part.strip())
    if not text and not given.image:
        raise ReportedError("the prompt is empty", f'Use {example} "…".', code=USAGE_ERROR)
    if not given.image:
        return text
    blocks: list[dict[str, Any]] = [_image(name) for name in given.image]
    return [*blocks, {"type": "text", "text": text}] if text else blocks


def _no_prompt(given: argparse.Namespace, example: str) -> ReportedError:
    if given.resume:
        return ReportedError(
            "no prompt: the only argument was taken as the session for --resume",
            f'Add the prompt: {resume_command(given, given.resume)} "…"',
            code=USAGE_ERROR,
        )
    return ReportedError("no prompt", f'Use {example} "…", or pipe the prompt in.', code=USAGE_ERROR)


def _image(name: str) -> dict[str, Any]:
    kind = IMAGE_TYPES.get(Path(name).suffix.lower())
    if kind is None:
        raise ReportedError(
            f"unsupported image type: {name}", f"Use one of {', '.join(IMAGE_TYPES)}.", code=USAGE_ERROR
        )
    data = _file(name, IMAGE_LIMIT_BYTES)
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}}


def _text_file(name: str) -> str:
    return _file(name, PROMPT_LIMIT_BYTES).decode("utf-8", "replace")


def _file(name: str, limit_bytes: int) -> bytes:
    try:
        with Path(name).open("rb") as file:
            data = file.read(limit_bytes + 1)
    except OSError as error:
        raise ReportedError(f"cannot read {name}: {error.strerror}", "Check the path.", code=USAGE_ERROR) from error
    if len(data) > limit_bytes:
        raise ReportedError(f"{name} is larger than {limit_bytes:,} bytes", "Use a smaller file.", code=USAGE_ERROR)
    return data


def session_rules(given: argparse.Namespace) -> SessionRules:
    try:
        return SessionRules.load(
            cwd=given.cwd or ".", policy_file=given.policy, allow=given.allow, deny=given.deny, mode=given.mode
        )
    except ValueError as error:  # PolicyError is one; this needs no import
        raise ReportedError(
            str(error), "Run quarterdeck policy check FILE to check rules.", code=USAGE_ERROR
        ) from error


def options_of(given: argparse.Namespace, *, partial: bool) -> ClaudeAgentOptions:
    """The options of the session, without its callbacks."""
    if given.cwd is not None and not Path(given.cwd).is_dir():
        raise ReportedError(f"no such folder: {given.cwd}", "Set --cwd to an existing folder.", code=USAGE_ERROR)
    if given.fork and given.resume is None and not given.continue_:
        raise ReportedError("--fork needs a session", "Add --resume ID or --continue.", code=USAGE_ERROR)
    system_prompt = system_prompt_of(given)
    options = ClaudeAgentOptions(
        cwd=given.cwd,
        model=given.model,
        permission_mode=given.mode,
        allow_dangerously_skip_permissions=given.mode == "bypassPermissions",
        continue_conversation=given.continue_,
        resume=_session(given),
        fork_session=given.fork,
        max_turns=given.max_turns,
        max_budget_usd=given.max_budget,
        system_prompt={"type": "preset", "preset": "claude_code"} if system_prompt is None else system_prompt,
        include_partial_messages=partial,
        cli_path=_program(given),
        client_app="quarterdeck-terminal",
    )
    if given.agent == "sim":
        from quarterdeck.testing.simulated import APART_VARIABLE

        options.env = {APART_VARIABLE: "1"}
    if given.mcp_config:
        _file(given.mcp_config, PROMPT_LIMIT_BYTES)  # the CLI ignores a missing file silently
        options.mcp_servers = Path(given.mcp_config)
    return options


def resolve_session(given: argparse.Namespace, command: str = "run") -> None:
    """Replace ``given.resume``, a prefix or a title, by the session's id. Raises ``ReportedError``."""
    if given.resume:
        from quarterdeck.cli.sessions.find import session_to_resume

        given.resume = session_to_resume(given.resume, given.cwd or ".", agent=given.agent, command=command)


def resume_command(given: argparse.Namespace, session_id: str, command: str = "run") -> str:
    """The command that resumes a session started with these arguments."""
    agent = "" if given.agent == "claude" else f" --agent {shlex.quote(given.agent)}"
    folder = "" if given.cwd is None else f" --cwd {shlex.quote(given.cwd)}"
    return f"quarterdeck {command}{agent}{folder} --resume {session_id}"


def _session(given: argparse.Namespace) -> str | None:
    if given.resume == "":
        from .session_picker import choose_session

        return choose_session(given.cwd or ".", agent=given.agent)
    return given.resume  # type: ignore[no-any-return]


def system_prompt_of(given: argparse.Namespace) -> str | None:
    """None: Claude Code's own."""
    if given.system_prompt_file:
        return _text_file(given.system_prompt_file)
    return given.system_prompt  # type: ignore[no-any-return]


def _program(given: argparse.Namespace) -> list[str]:
    """The command that starts the CLI, behind the tap if the session is recorded."""
    words = agent_command(given.agent)
    if not given.record:
        return words
    out = Path(given.record).absolute()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.touch()
    except OSError as error:
        raise ReportedError(
            f"cannot write {out}: {error.strerror}", "Set --record to another path.", code=USAGE_ERROR
        ) from error
    return [sys.executable, "-P", "-c", _TAP, "--out", str(out), "--", *words]
