"""Classifies API requests: the conversation, a sub-agent, or a side request.

A script should be about the conversation. So errands are recognised and answered with something that satisfies the
CLI, and only ``main`` and ``subagent`` requests take turns from the queue. The API has no field for this; the marks
below were found by looking at what each CLI version sends:

=================  ====================================================================  =====================
kind               mark                                                                  seen on
=================  ====================================================================  =====================
``subagent``       header ``x-claude-code-agent-id`` (2.1.325); the sub-agents' own      2.0.77 - 2.1.325
                   system prompt (older)
``warmup``         the whole user text is ``Warmup``: each sub-agent once at start       2.0.77
``compact``        asked for a ``<summary>`` (or told to summarise conversations)        2.0.77 - 2.1.325
``title``          told to name the session                                              2.1.325
``side_question``  the reminder that precedes a ``side_question`` control request        2.1.325
``suggestion``     the mark before a prompt-suggestion request                           2.1.325
``helper``         no tools, and a small model (which paths does this command touch?),   2.0.77 - 2.1.325
                   a JSON schema for the answer (is the goal reached?), or the mark of
                   a tool summary
``main``           everything else
=================  ====================================================================  =====================

A main conversation that runs without any tool on a small model looks like a ``helper``: answer it with a rule.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .script import Reply, Text

if TYPE_CHECKING:
    from .request import ApiRequest

SCRIPTED_KINDS = frozenset({"main", "subagent"})

_SUMMARY = "<analysis>The conversation was short.</analysis>\n<summary>A summary by the scripted model.</summary>"


def kind_of(request: ApiRequest) -> str:
    last = request.last_user_text
    if last == "Warmup":
        return "warmup"
    if "summarizing conversations" in request.system or ("<summary>" in last and "<analysis>" in last):
        return "compact"
    if "This is a side question from the user" in last:
        return "side_question"
    if "[SUGGESTION MODE:" in last:
        return "suggestion"
    if not request.tools:
        if "You are naming a coding session" in request.system or _answer_schema(request).get(
            "properties", {}
        ).keys() == {"title"}:
            return "title"
        if "haiku" in request.model or _answer_schema(request) or "<tools-used-before-summary>" in last:
            return "helper"
    return "subagent" if _is_subagent(request) else "main"


def errand_reply(request: ApiRequest) -> Reply:
    """What an errand is answered with when no rule says otherwise."""
    schema = _answer_schema(request)
    if request.kind == "compact":
        text = _SUMMARY
    elif request.kind == "title":
        text = '{"title": "Scripted session"}'
    else:
        text = json.dumps(_smallest(schema)) if schema else "ok"
    return Reply(blocks=(Text(text),))


def _is_subagent(request: ApiRequest) -> bool:
    return (
        "x-claude-code-agent-id" in request.headers
        or "cc_is_subagent=true" in request.system
        or "You are an agent for Claude Code" in request.system
    )


def _answer_schema(request: ApiRequest) -> dict[str, Any]:
    """The JSON schema that the answer must have; empty when none is asked for."""
    config = request.json.get("output_config")
    schema = config.get("format", {}).get("schema") if isinstance(config, dict) else None
    return schema if isinstance(schema, dict) else {}


def _smallest(schema: dict[str, Any]) -> Any:
    """A small value for the simple schemas that the CLI sends; yes where a boolean is asked for."""
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {name: _smallest(properties.get(name, {})) for name in schema.get("required", properties)}
        case "array":
            return []
        case "boolean":
            return True
        case "integer" | "number":
            return 0
        case _:
            return "ok"
