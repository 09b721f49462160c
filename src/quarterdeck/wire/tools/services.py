"""Tools around the session: settings, review findings, proposals, feedback, and what Claude's own services offer."""

from __future__ import annotations

from typing import Any

from quarterdeck.wire._shapes import Number
from quarterdeck.wire._view import View

from . import ToolInput, ToolOutput


class ConfigInput(ToolInput, kw_only=True):
    """Up to 2.1.52."""

    setting: str
    value: str | bool | Number | None = None


class Finding(View, kw_only=True):
    file: str
    summary: str
    line: int | None = None
    short_summary: str | None = None
    failure_scenario: str | None = None
    category: str | None = None
    verdict: str | None = None  # CONFIRMED, PLAUSIBLE
    outcome: str | None = None  # fixed, skipped, no_change_needed


class ReportFindingsInput(ToolInput, kw_only=True):
    findings: list[Finding]
    level: str | None = None


class TextReplacement(View, kw_only=True):
    old_string: str
    new_string: str


class SkillProposal(View, kw_only=True, rename="camel"):
    name: str
    kind: str | None = None  # new, improvement
    target: str | None = None
    description: str | None = None
    evidence: list[str] | None = None
    edits: list[TextReplacement] | None = None
    skill_md: str | None = None


class ProposeSkillsInput(ToolInput, kw_only=True):
    proposals: list[SkillProposal]


class ProposeGoalInput(ToolInput, kw_only=True):
    condition: str
    ask_user: bool | None = None


class SendFeedbackInput(ToolInput, kw_only=True):
    type: str  # bug, idea, missing_capability
    title: str
    details: str | None = None
    area: str | None = None
    failure_mode: str | None = None
    task_category: str | None = None


class SendUserFileInput(ToolInput, kw_only=True):
    files: list[str]
    message: str | None = None


class ShowOnboardingRolePickerInput(ToolInput, kw_only=True):
    pass


class OfferChromeSetupInput(ToolInput, kw_only=True):
    reason: str | None = None


class ClaudeDesignInput(ToolInput, kw_only=True):
    operation: str
    arguments: dict[str, Any] | None = None


class ProjectsInput(ToolInput, kw_only=True):
    method: str
    path: str | None = None
    content: str | None = None
    local_path: str | None = None
    present_to_user: bool | None = None
    query: str | None = None
    n: int | None = None


class ArtifactInput(ToolInput, kw_only=True):
    action: str | None = None
    file_path: str | None = None
    file_paths: list[str] | None = None
    favicon: str | None = None
    icon: str | None = None
    limit: int | None = None
    page_token: str | None = None
    scope: str | None = None  # mine, shared, all
    title: str | None = None
    description: str | None = None
    label: str | None = None
    url: str | None = None
    prompt: str | None = None
    force: bool | None = None
    pin: bool | None = None
    out_dir: str | None = None
    asset_id: str | None = None
    after: str | None = None
    capabilities: dict[str, Any] | None = None
    contract: str | None = None


class ConfigOutput(ToolOutput, kw_only=True):
    success: bool
    operation: str | None = None  # get, set
    setting: str | None = None
    value: Any = None
    previous_value: Any = None
    new_value: Any = None
    error: str | None = None


class ReportFindingsOutput(ToolOutput, kw_only=True):
    findings: list[Finding]
    count: int | None = None
    level: str | None = None


class ProposeSkillsOutput(ToolOutput, kw_only=True):
    proposal_count: int


class ProposeGoalOutput(ToolOutput, kw_only=True):
    condition: str
    ask_user: bool | None = None


class SendFeedbackOutput(ToolOutput, kw_only=True):
    success: bool
    message: str | None = None


class ShowOnboardingRolePickerOutput(ToolOutput, kw_only=True):
    role: str | None = None
    dismissed: bool | None = None


class OfferChromeSetupOutput(ToolOutput, kw_only=True):
    outcome: str  # connected, not_now, no_attempt_yet


class ClaudeDesignOutput(ToolOutput, kw_only=True):
    operation: str
    content: list[dict[str, Any]]
    is_error: bool | None = None
