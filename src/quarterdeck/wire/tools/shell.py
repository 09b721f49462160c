"""Tools that run commands, and look after what runs in the background."""

from __future__ import annotations

from typing import Any

import msgspec

from quarterdeck.wire._shapes import Number
from quarterdeck.wire._view import View

from . import ToolInput, ToolOutput


class _CommandInput(ToolInput, kw_only=True):
    command: str
    timeout: Number | None = None  # milliseconds
    description: str | None = None
    run_in_background: bool | None = None
    dangerously_disable_sandbox: bool | None = msgspec.field(default=None, name="dangerouslyDisableSandbox")


class BashInput(_CommandInput, kw_only=True):
    pass


class PowerShellInput(_CommandInput, kw_only=True):
    """Not a subclass of ``BashInput``: code that parses Bash must not get this one."""


class MonitorSocket(View, kw_only=True):
    url: str
    protocols: list[str] | None = None


class MonitorInput(ToolInput, kw_only=True):
    """Watch the output of a command or a web socket, and wake up on it."""

    description: str
    timeout_ms: Number | None = None
    command: str | None = None
    ws: MonitorSocket | None = None


class TaskOutputInput(ToolInput, kw_only=True):
    """Up to 2.1.52; newer CLIs have no such tool."""

    task_id: str
    block: bool | None = None
    timeout: Number | None = None  # milliseconds


class BashOutputInput(ToolInput, kw_only=True):
    """Before 2.0.77, where ``TaskOutput`` took its place."""

    bash_id: str
    filter: str | None = None


class TaskStopInput(ToolInput, kw_only=True):
    """The older ``KillShell`` takes only a shell; ``TaskStop`` takes either."""

    task_id: str | None = None
    shell_id: str | None = None


class GitCommit(View, kw_only=True):
    sha: str
    kind: str | None = None  # committed, amended, cherry-picked
    branch: str | None = None


class GitPush(View, kw_only=True):
    branch: str


class GitBranch(View, kw_only=True):
    ref: str
    action: str | None = None  # merged, rebased


class PullRequest(View, kw_only=True):
    number: int
    url: str | None = None
    action: str | None = None  # created, edited, merged, commented, closed, reopened, ready, draft, auto-merge-…


class GitOperation(View, kw_only=True):
    """What the CLI understood the command to have done with git."""

    commit: GitCommit | None = None
    push: GitPush | None = None
    branch: GitBranch | None = None
    pr: PullRequest | None = None


class BashOutput(ToolOutput, kw_only=True):
    stdout: str
    stderr: str = ""
    interrupted: bool = False
    is_image: bool | None = None
    raw_output_path: str | None = None
    background_task_id: str | None = None
    backgrounded_by_user: bool | None = None
    timed_out_after_ms: Number | None = None
    background_cwd_hint: str | None = None
    background_ends_with_final_response: bool | None = None
    background_wakes_owner: bool | None = None
    dangerously_disable_sandbox: bool | None = None
    return_code_interpretation: str | None = None
    no_output_expected: bool | None = None
    structured_content: list[Any] | None = None
    persisted_output_path: str | None = None
    persisted_output_size: int | None = None
    stale_read_file_state_hint: str | None = None
    gh_rate_limit_hint: str | None = None
    git_operation: GitOperation | None = None


class TaskStopOutput(View, kw_only=True):
    task_id: str
    message: str | None = None
    task_type: str | None = None
    command: str | None = None


class MonitorOutput(ToolOutput, kw_only=True):
    task_id: str
    timeout_ms: Number | None = None
    persistent: bool | None = None
