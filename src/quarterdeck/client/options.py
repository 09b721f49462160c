"""``ClaudeAgentOptions``: everything a session can be told at its start.

The fields of the official Python SDK come first, in its order, with its defaults. What the TypeScript SDK has besides,
and what is ours, follows and is given by keyword only. ``validate`` says what each takes, ``launch`` what each does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from quarterdeck.protocol.states import INITIALIZE_TIMEOUT_S, REQUEST_TIMEOUT_S
from quarterdeck.transport.base import DEFAULT_GRACE
from quarterdeck.wire._records import ByFields
from quarterdeck.wire.agents import AgentDefinition
from quarterdeck.wire.codec import DEFAULT_LIMIT_BYTES

from .options_types import (
    Abort,
    CanUseTool,
    EffortLevel,
    HookEvent,
    HookMatcher,
    JavaScriptRuntime,
    McpServerConfig,
    PermissionMode,
    PermissionPrompts,
    PluginDelivery,
    SandboxSettings,
    SdkBeta,
    SdkPluginConfig,
    SessionStore,
    SessionStoreFlushMode,
    SettingSource,
    SystemPrompt,
    TaskBudget,
    ThinkingConfig,
    ToolConfig,
    ToolsPreset,
)

if TYPE_CHECKING:
    from .retry import Retry as _Retry
else:
    _Retry = Any  # for ``typing.get_type_hints``; few programs want the module itself


@dataclass(slots=True, weakref_slot=True, eq=False, repr=False)  # as a dict of ninety names one would take 3 KB
class ClaudeAgentOptions(ByFields):
    """The options of a session."""

    tools: list[str] | ToolsPreset | None = None
    """The built-in tools there are: a list, ``[]`` for none, the preset for all; ``None`` leaves it to the CLI."""
    allowed_tools: list[str] = field(default_factory=list)
    """Tools, or rules such as ``Bash(git log:*)``, that run without asking."""
    system_prompt: SystemPrompt | None = None
    """Your own prompt, or the preset with additions. ``None`` is an *empty* prompt, not the CLI's own."""
    mcp_servers: dict[str, McpServerConfig] | str | Path = field(default_factory=dict)
    """Name → server; or the path of a configuration file; or its JSON text."""
    strict_mcp_config: bool = False
    """No MCP servers but those in ``mcp_servers``."""
    permission_mode: PermissionMode | None = None
    continue_conversation: bool = False
    """Go on with the directory's latest session. ``resume``, when given too, wins."""
    resume: str | None = None
    """The id (or title) of the session to go on with."""
    session_id: str | None = None
    """The id of the new session: a UUID. With ``resume`` or ``continue_conversation`` only when forking."""
    max_turns: int | None = None
    max_budget_usd: float | None = None
    disallowed_tools: list[str] = field(default_factory=list)
    """Tools that are not there at all, and rules that always refuse."""
    model: str | None = None
    fallback_model: str | None = None
    """What to use while the model is overloaded; several with commas, tried in order."""
    betas: list[SdkBeta] = field(default_factory=list)
    permission_prompt_tool_name: str | None = None
    """The MCP tool that answers permission requests, in place of ``can_use_tool``."""
    cwd: str | Path | None = None
    cli_path: str | Path | list[str] | None = None
    settings: str | Path | dict[str, Any] | None = None
    """Settings for this session: a path, a JSON text, or the settings themselves."""
    add_dirs: list[str | Path] = field(default_factory=list)
    """Further directories that Claude may work in."""
    env: dict[str, str] = field(default_factory=dict)
    """Environment variables on top of the inherited ones; see ``env_allow``."""
    extra_args: dict[str, str | None] = field(default_factory=dict)
    """Any other flags of the CLI, without ``--``; ``None`` for a mere switch. All on the machine can see them."""
    max_buffer_size: int | None = None
    """The official name of ``limit_bytes``, which it overrides."""
    debug_stderr: Any = sys.stderr
    """Not used, as in the official SDK; see ``stderr``."""
    stderr: Callable[[str], None] | None = None
    """Called with each line the CLI writes to stderr."""
    can_use_tool: CanUseTool | None = None
    """Decides about tool calls that no rule and no mode has decided."""
    hooks: dict[HookEvent, list[HookMatcher]] | None = None
    user: str | None = None
    """The operating-system user to run the CLI as."""
    include_partial_messages: bool = False
    """Also yield the pieces of a message while it is being written."""
    include_hook_events: bool = False
    """Also yield when hooks of settings files start and end."""
    forward_subagent_text: bool = False
    """Also yield what sub-agents say and think, not only their tool calls."""
    verbatim_prompts: bool = False
    """Prompts are only text: no ``@file`` is read and no ``/command`` run. Needs 2.1.248."""
    fork_session: bool = False
    """Go on in a copy of the session, under a new id."""
    resume_session_at: str | None = None
    """Resume only up to the message with this UUID."""
    resume_drops_turn: str | None = None
    """With ``resume_session_at``: the prompt whose turn is dropped. The CLI refuses if more than it would be lost."""
    agents: dict[str, AgentDefinition] | None = None
    """Sub-agents by name."""
    setting_sources: list[SettingSource] | None = None
    """The settings files to read: ``None`` for all, ``[]`` for none. ``project`` brings CLAUDE.md."""
    skills: list[str] | Literal["all"] | None = None
    """Skills that Claude may use. Also allows the tool, and reads user and project settings unless told otherwise."""
    sandbox: SandboxSettings | None = None
    plugins: list[SdkPluginConfig] = field(default_factory=list)
    max_thinking_tokens: int | None = None
    """The older form of ``thinking``, which wins over it."""
    thinking: ThinkingConfig | None = None
    effort: EffortLevel | None = None
    output_format: dict[str, Any] | None = None
    """``{"type": "json_schema", "schema": …}``: the result is data of this shape."""
    enable_file_checkpointing: bool = False
    """Keep copies of files before they change, for ``rewind_files``."""
    session_store: SessionStore | None = None
    session_store_flush: SessionStoreFlushMode = "batched"
    load_timeout_ms: int = 60_000
    """For each read from ``session_store`` while resuming."""
    task_budget: TaskBudget | None = None
    client_app: str | None = None
    """Your program's name and version, for the API's logs."""

    _: KW_ONLY

    # What the TypeScript SDK has besides.
    project_config_root: str | Path | None = None
    """The trusted checkout whose settings, hooks and ``.mcp.json`` count when ``cwd`` is a worktree of it."""
    agent: str | None = None
    """The agent that the main conversation runs as."""
    tool_aliases: dict[str, str] | None = None
    """Tool name as the model says it → the tool that is run instead."""
    persist_session: bool = True
    """False: nothing is written to disk, and the session cannot be resumed."""
    supported_dialog_kinds: list[str] = field(default_factory=list)
    """The dialogs that ``on_user_dialog`` can show; the CLI sends no others."""
    on_user_dialog: Callable[..., Any] | None = None
    per_task_stop_affordance: bool = False
    """Your program can stop single background tasks; interrupting a turn then leaves them running."""
    plan_mode_instructions: str | None = None
    allow_dangerously_skip_permissions: bool = False
    """Permit ``bypassPermissions``, also for later changes of the mode."""
    permission_prompts: PermissionPrompts | None = None
    """``none``: nobody is there to ask, so what would ask is refused."""
    plugin_delivery: PluginDelivery = "argv"
    """``initialize``: the command line does not grow with the number of plugins. Needs 2.1.261."""
    prompt_suggestions: bool = False
    agent_progress_summaries: bool = False
    managed_settings: dict[str, Any] | None = None
    """Settings of the policy tier, for programs that embed Claude Code under an organisation's rules."""
    debug: bool = False
    debug_file: str | Path | None = None
    title: str | None = None
    executable: JavaScriptRuntime | None = None
    """What runs a CLI that is a script; a native CLI needs none."""
    executable_args: list[str] = field(default_factory=list)
    abort: Abort | None = None
    """Ends the session when set; an ``asyncio.Event`` will do."""
    tool_config: ToolConfig | None = None
    on_elicitation: Callable[..., Any] | None = None

    # Ours.
    on_question: Callable[..., Any] | None = None
    """Answers AskUserQuestion."""
    on_plan: Callable[..., Any] | None = None
    """Judges the plan of ExitPlanMode."""
    env_allow: list[str] | None = None
    """Names of variables to inherit, ``*`` for any characters; ``None`` for all."""
    limit_bytes: int = DEFAULT_LIMIT_BYTES
    initialize_timeout_s: float = INITIALIZE_TIMEOUT_S
    request_timeout_s: float = REQUEST_TIMEOUT_S
    close_grace_s: float = DEFAULT_GRACE.eof_s
    replay_user_messages: bool = False
    """Echo each user message once the CLI has taken it."""
    session_state_events: bool = False
    """Yield ``session_state_changed`` messages; the session itself reads them in any case."""
    append_subagent_system_prompt: str | None = None
    forward_nested_subagent_tool_calls: bool = False
    auth_status: bool = False
    """Yield messages about signing in."""
    slash_commands: bool = True
    """False: no ``/command`` and no skill is known."""
    bare: bool = False
    """Minimal mode: no hooks, plugins, memory or CLAUDE.md, only what is named here."""
    safe_mode: bool = False
    """Start without anybody's customisations, to find out whether one of them is at fault."""
    restricted: bool = False
    auto_compact: Literal["auto"] | int | None = None
    """The tokens of context at which the conversation is summed up."""

    retry: _Retry | None = None
    """Try a prompt again when the model is overloaded or the CLI dies; see ``Retry``."""
    tracing: bool | None = None
    """OpenTelemetry spans: ``None`` when the program has imported its API, ``True`` always, ``False`` never."""

    @property
    def line_limit_bytes(self) -> int:
        """The longest line that is read, by whichever name it was given."""
        return self.limit_bytes if self.max_buffer_size is None else self.max_buffer_size
