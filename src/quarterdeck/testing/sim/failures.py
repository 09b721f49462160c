"""API failures: which are retried, and the messages with which CLI 2.1.325 gives up."""

from __future__ import annotations

from typing import Any

import msgspec

from .steps import Error

RETRIED = {
    401: "authentication_failed",
    408: "unknown",
    409: "unknown",
    429: "rate_limit",
    500: "server_error",
    529: "overloaded",
}
"""Status → its name in ``system/api_retry``. Others fail immediately (a plain 400 is silently sent again)."""
FALLBACK_AFTER = 3
"""How many 529 in a row make ``--fallback-model`` take over."""
FIRST_DELAY_MS = 500
LONGEST_DELAY_MS = 32_000

_WORDS = {401: "authentication_failed", 403: "authentication_failed", 404: "model_not_found", 413: "invalid_request"}
_WORDS |= {429: "rate_limit", 500: "server_error", 529: "server_error"}
_TERMINAL = {413: "image_error"}


class Failure(msgspec.Struct, frozen=True):
    """The end of a turn whose request failed for good."""

    text: str
    word: str
    """For the assistant message's ``error``."""
    status: int | None = None
    kind: str | None = None
    """The API's term for the error."""
    terminal_reason: str = "api_error"
    stop_reason: str = "stop_sequence"
    api_error: str | None = None

    @property
    def from_api(self) -> bool:
        """Whether the API said it, rather than the CLI."""
        return self.status is not None or self.stop_reason == "refusal"

    def on_message(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"error": self.word, "is_api_error_message": True}
        return fields | self._about()

    def on_result(self) -> dict[str, Any]:
        return {"api_error_status": self.status} | self._about()

    def _about(self) -> dict[str, Any]:
        about: dict[str, Any] = {} if self.status is None else {"api_error_status": self.status}
        if self.kind is not None:
            about["api_error_type"] = self.kind
        if self.api_error is not None:
            about["api_error"] = self.api_error
        return about


def retry_word(error: Error) -> str | None:
    """How a retry of this error is announced; None: it is not tried again."""
    if error.status == 0:  # no answer at all: refused, or broken off
        return "unknown"
    if error.status in RETRIED:
        return RETRIED[error.status]
    return "server_error" if error.status >= 500 else None


def delay_ms(error: Error, attempt: int) -> int:
    asked = error.headers.get("retry-after", "")
    if asked.isdigit():
        return int(asked) * 1000
    return min(FIRST_DELAY_MS << (attempt - 1), LONGEST_DELAY_MS)


def give_up(error: Error, model: str) -> Failure:
    body = error.as_json("")["error"]
    kind, said = body["type"], body["message"]
    if error.status == 0:
        return Failure(f"API Error: Connection error ({said})", "server_error", api_error="connection_failed")
    word = _WORDS.get(error.status, "server_error" if error.status >= 500 else "unknown")
    text, terminal = f"API Error: {error.status} {said}", _TERMINAL.get(error.status, "api_error")
    match error.status:
        case 401:
            text = "Invalid API key · Fix external API key"
        case 403:
            text = f"Failed to authenticate. API Error: 403 {said}"
        case 404:
            text = f"There's an issue with the selected model ({model}). It may not exist or you may not have access."
        case 413:
            text = "Request too large (max 32MB)."
        case 429:
            text = f"API Error: Request rejected (429) · {said}"
        case 529:
            text = "API Error: Repeated 529 Overloaded errors."
        case 400 if "credit balance" in said:
            text, word = "Credit balance is too low", "billing_error"
        case 400 if "prompt is too long" in said:
            text, word, terminal = "Prompt is too long", "invalid_request", "prompt_too_long"
    return Failure(text, word, error.status, kind, terminal)


OUTPUT_LIMIT = Failure(
    "API Error: Claude's response exceeded the 128000 output token maximum.",
    "max_output_tokens",
    api_error="max_output_tokens",
)


def refusal(shown_model: str) -> Failure:
    text = (
        f"API Error: {shown_model}'s safeguards flagged this message. Try rephrasing the request or change your model."
    )
    return Failure(text, "invalid_request", stop_reason="refusal")
