"""Tools for later: scheduled prompts, wake-ups, remote triggers, notifications."""

from __future__ import annotations

from typing import Any

from quarterdeck.wire._shapes import Number
from quarterdeck.wire._view import View

from . import ToolInput, ToolOutput


class CronCreateInput(ToolInput, kw_only=True):
    cron: str
    prompt: str
    recurring: bool | None = None
    durable: bool | None = None


class CronDeleteInput(ToolInput, kw_only=True):
    id: str


class CronListInput(ToolInput, kw_only=True):
    pass


class ScheduleWakeupInput(ToolInput, kw_only=True, rename="camel"):
    delay_seconds: Number | None = None
    reason: str | None = None
    prompt: str | None = None
    stop: bool | None = None
    noop: bool | None = None


class RemoteTriggerInput(ToolInput, kw_only=True):
    action: str  # list, get, create, update, run, create_webhook_trigger, list_runs, get_run_log
    trigger_id: str | None = None
    session_id: str | None = None
    cursor: str | None = None
    body: dict[str, Any] | None = None


class PushNotificationInput(ToolInput, kw_only=True):
    message: str
    status: str | None = None


class ReadNotificationsInput(ToolInput, kw_only=True):
    pass


class CronCreateOutput(ToolOutput, kw_only=True):
    id: str
    human_schedule: str | None = None
    recurring: bool | None = None
    durable: bool | None = None
    next_fire_at: Number | None = None


class CronDeleteOutput(ToolOutput, kw_only=True):
    id: str
    ended_loop_wakeup: bool | None = None


class CronJob(CronCreateOutput, kw_only=True):
    cron: str
    prompt: str | None = None


class CronListOutput(ToolOutput, kw_only=True):
    jobs: list[CronJob]


class ScheduleWakeupOutput(ToolOutput, kw_only=True):
    scheduled_for: Number
    clamped_delay_seconds: Number | None = None
    was_clamped: bool | None = None
    stopped: bool | None = None
    cancelled_wakeups: int | None = None


class RemoteTriggerOutput(ToolOutput, kw_only=True):
    status: int
    json: str | None = None
    summary: str | None = None


class PushNotificationOutput(ToolOutput, kw_only=True):
    message: str
    push_sent: bool | None = None
    local_sent: bool | None = None
    disabled_reason: str | None = None  # config_off, user_present, no_transport
    sent_at: str | None = None


class QueuedNotification(View, kw_only=True):
    notification_id: str
    origin: str | None = None
    queued_at: str | None = None
    content: str | None = None
    arrived_at: str | None = None


class ReadNotificationsOutput(View, kw_only=True):
    notifications: list[QueuedNotification]
    remaining: int | None = None
    read_at: str | None = None
