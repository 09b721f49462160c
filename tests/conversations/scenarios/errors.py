"""The API fails: refused requests, broken streams, refusals, limits."""

from __future__ import annotations

from typing import Any

from conversations.scenarios._registry import every, newest, register
from conversations.stage import Stage
from quarterdeck.testing.model import Cut, Error, StreamError, ToolUse, Usage

FEW_RETRIES = {"CLAUDE_CODE_MAX_RETRIES": "2"}

REFUSED: dict[str, Error] = {
    "400": Error(400, "messages: the scripted model did not like this"),
    "400_credit": Error(400, "Your credit balance is too low to access the Anthropic API."),
    "400_prompt_too_long": Error(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    "401": Error(401, "invalid x-api-key"),
    "403": Error(403, "not allowed"),
    "404_model": Error(404, "model: no-such-model"),
    "413": Error(413, "Request exceeds the maximum size"),
    "429": Error(429, "Number of request tokens has exceeded your rate limit", headers={"retry-after": "1"}),
    "500": Error(500, "Internal server error"),
    "529_exhausted": Error(529, "Overloaded"),
}


def _refused(error: Error) -> Any:
    def play(stage: Stage) -> None:
        stage.model.on(lambda request: request.kind == "main", error)
        with stage.claude(env=FEW_RETRIES) as run:
            run.initialize()
            run.turn("hi", timeout_s=45)

    return play


for _name, _error in REFUSED.items():
    register(f"api_error_{_name}", _refused(_error))


@every
def api_error_529_then_ok(stage: Stage) -> None:
    stage.model.reply(Error(529, "Overloaded"))
    stage.model.reply("The second try worked.")
    with stage.claude() as run:
        run.initialize()
        run.turn("hi")


@newest
def api_connection_refused(stage: Stage) -> None:
    # Port 9 of this machine: nobody listens there.
    env = FEW_RETRIES | {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    with stage.claude(env=env) as run:
        run.turn("hi", timeout_s=45)


@every
def api_stream_cut(stage: Stage) -> None:
    stage.model.reply("This stream breaks in the middle of its text.", Cut(after=4))
    stage.model.reply("The second try is whole.")
    with stage.claude("--include-partial-messages") as run:
        run.initialize()
        run.turn("hi", timeout_s=40)


@newest
def api_stream_error_event(stage: Stage) -> None:
    stage.model.reply("This stream ends with an error event.", StreamError(after=4))
    stage.model.reply("The second try is whole.")
    with stage.claude("--include-partial-messages") as run:
        run.initialize()
        run.turn("hi", timeout_s=40)


@newest
def api_fallback_model(stage: Stage) -> None:
    stage.model.on(lambda request: request.kind == "main" and "haiku" not in request.model, Error(529))
    stage.model.on(lambda request: "haiku" in request.model, "The small model answers.")
    with stage.claude("--fallback-model", "haiku") as run:
        run.initialize()
        run.turn("hi", timeout_s=60)


@newest
def api_stop_max_tokens(stage: Stage) -> None:
    for _ in range(8):
        stage.model.reply("Cut off by the lim", stop_reason="max_tokens")
    with stage.claude() as run:
        run.initialize()
        run.turn("hi")


@newest
def api_stop_refusal(stage: Stage) -> None:
    stage.model.on(lambda request: request.kind == "main", stop_reason="refusal")
    with stage.claude() as run:
        run.initialize()
        run.turn("hi")


@newest
def api_stop_refusal_details(stage: Stage) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "The scripted model refuses."}
    stage.model.reply("I", stop_reason="refusal", stop_details=details)
    stage.model.reply("Something else then.")
    with stage.claude() as run:
        run.initialize()
        run.turn("hi")


@newest
def refusal_with_fallback_model(stage: Stage) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "The scripted model refuses."}
    stage.model.on(lambda request: "haiku" in request.model, "The small model answers.")
    stage.model.on(lambda request: request.kind == "main", stop_reason="refusal", stop_details=details)
    with stage.claude("--fallback-model", "haiku") as run:
        run.initialize(supportedDialogKinds=["refusal_fallback_prompt", "model_consent"])
        run.turn("hi")


@newest
def api_empty_answer(stage: Stage) -> None:
    stage.model.on(lambda request: request.kind == "main")
    with stage.claude() as run:
        run.initialize()
        run.turn("hi")


@newest
def api_unknown_tool(stage: Stage) -> None:
    stage.model.reply(ToolUse("NoSuchTool", {"x": 1}))
    stage.model.reply("There is no such tool.")
    with stage.claude() as run:
        run.initialize()
        run.turn("hi")


@newest
def no_api_key(stage: Stage) -> None:
    with stage.claude(without_env=("ANTHROPIC_API_KEY",)) as run:
        run.initialize()
        run.turn("hi")


@every
def max_turns_error(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo 1"}))
    stage.model.reply("Never reached in the first turn.")
    with stage.claude("--max-turns", "1", "--allowedTools", "Bash") as run:
        run.initialize()
        run.turn("loop")
        run.turn("again")


@newest
def max_budget_error(stage: Stage) -> None:
    stage.model.reply(ToolUse("Bash", {"command": "echo 1"}), usage=Usage(input_tokens=900_000, output_tokens=9000))
    stage.model.reply("Too expensive.")
    with stage.claude("--max-budget-usd", "0.01", "--allowedTools", "Bash") as run:
        run.initialize()
        run.turn("spend")
        run.turn("again")


@newest
def rate_limit_event(stage: Stage) -> None:
    headers = {
        "anthropic-ratelimit-unified-status": "allowed_warning",
        "anthropic-ratelimit-unified-reset": "1900000000",
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
        "anthropic-ratelimit-unified-5h-utilization": "0.92",
        "anthropic-ratelimit-unified-5h-reset": "1900000000",
        "anthropic-ratelimit-unified-5h-surpassed-threshold": "0.9",
        "anthropic-ratelimit-unified-7d-utilization": "0.5",
        "anthropic-ratelimit-unified-7d-reset": "1900500000",
        "anthropic-ratelimit-unified-overage-status": "rejected",
    }
    stage.model.reply("Nearly at the limit.", headers=headers)
    # The event needs a subscription-shaped token; this one is as made up as the key.
    with stage.claude(env={"CLAUDE_CODE_OAUTH_TOKEN": "scripted-token"}, without_env=("ANTHROPIC_API_KEY",)) as run:
        run.initialize()
        run.turn("hi")
