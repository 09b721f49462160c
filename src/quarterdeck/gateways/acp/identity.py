"""What the agent says of itself. Light on purpose: the editor waits for it, and nothing else is imported before."""

from __future__ import annotations

from typing import Any

from quarterdeck._version import __version__

from . import schema

PROTOCOL_VERSION, DRAFT_VERSION = 1, 2
LOGIN = "claude-login"
EXTENSIONS = tuple(
    f"_quarterdeck/{word}"
    for word in (
        *("account", "context", "mcp/reconnect", "mcp/set", "mcp/status", "mcp/toggle"),
        *("rewind_files", "task/output", "task/stop", "usage"),
    )
)
"""The methods of ``extensions``, which a test compares."""

_CAPABILITIES = schema.AgentCapabilities(
    load_session=True,
    prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
    mcp_capabilities=schema.McpCapabilities(http=True, sse=True),
    session_capabilities=schema.SessionCapabilities(
        list=schema.SessionListCapabilities(),
        delete=schema.SessionDeleteCapabilities(),
        additional_directories=schema.SessionAdditionalDirectoriesCapabilities(),
        system_prompt=schema.SessionSystemPromptCapabilities(
            mode=schema.SessionSystemPromptModeCapabilities(override=schema.SessionSystemPromptOverrideCapabilities())
        ),
        fork=schema.SessionForkCapabilities(),
        archive=schema.SessionArchiveCapabilities(),
        status=schema.SessionStatusCapabilities(),
        title=schema.SessionTitleCapabilities(),
        resume=schema.SessionResumeCapabilities(),
        close=schema.SessionCloseCapabilities(),
    ),
    auth=schema.AgentAuthCapabilities(status=schema.AuthStatusCapabilities(), logout=schema.LogoutCapabilities()),
    providers=schema.ProvidersCapabilities(),
    meta={"quarterdeck": {"extensions": list(EXTENSIONS), "steer": True}},
)


def initialized(client: schema.ClientCapabilities) -> schema.InitializeResponse:
    """The answer to ``initialize``."""
    return schema.InitializeResponse(
        protocol_version=PROTOCOL_VERSION,
        agent_info=schema.Implementation(name="quarterdeck", title="Claude Code (Quarterdeck)", version=__version__),
        agent_capabilities=_CAPABILITIES,
        auth_methods=[_login_method(client)],
    )


def _login_method(client: schema.ClientCapabilities) -> Any:
    """An editor with a terminal can run the login; others show instructions."""
    if client.auth is not None and client.auth.terminal:
        return schema.AuthMethodTerminal(id=LOGIN, name="Log in with Claude Code", args=["--login"])
    told = "Run `claude /login` in a terminal."
    return schema.AuthMethodAgent(id=LOGIN, name="Log in with Claude Code", description=told)
