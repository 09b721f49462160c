"""``ClaudeAgentOptions``: all options of a session.

The fields of the official Python SDK come first, in its order, with its defaults. Options from the TypeScript SDK and
our own follow; they are keyword-only.

A new option is one line here: its type, its default, the rule for what it takes (``option_rules``, ``option_shapes``),
and where its value goes. Only one that goes elsewhere than to a flag, a field of ``initialize`` or a variable needs
code of its own, in ``launch_argv``, ``launch_initialize`` or the session.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from quarterdeck._defaults import CLOSE_GRACE_S, INITIALIZE_TIMEOUT_S, LIMIT_BYTES, REQUEST_TIMEOUT_S
from quarterdeck.wire._records import ByFields
from quarterdeck.wire.agents import AgentDefinition

from . import option_rules as rules
from . import option_shapes as shapes
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
    from quarterdeck.transport.spawned import SpawnClaudeCodeProcess

    from .retry import Retry as _Retry
else:
    _Retry = SpawnClaudeCodeProcess = Any  # for ``typing.get_type_hints``; few programs want the module itself

LIMIT_BYTES_LEAST = 64 * 1024
"""One read from the pipe."""


def option(
    default: Any,
    takes: rules.Rule,
    *,
    flag: str | None = None,
    unless: str | None = None,
    initialize: bool = False,
    env: str | None = None,
) -> Any:
    """A field, the rule for its values, and where they go: to a flag, a flag when it is off (``unless``), the field of
    ``initialize`` with the same name, or a variable. A default of ``list`` or ``dict`` gives each object its own."""
    metadata = {"takes": takes, "flag": flag, "unless": unless, "initialize": initialize, "env": env}
    if default is list or default is dict:
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


_tool_rules = rules.listed(rules.argument, "a list of tool names or rules")
_modes = rules.words(*get_args(PermissionMode), "manual", "delegate", otherwise="permission-mode", empty=True)
_sources = rules.words(*get_args(SettingSource), otherwise="setting-sources")


@dataclass(repr=False, eq=False)
class ClaudeAgentOptions(ByFields):
    """The options of a session."""

    tools: list[str] | ToolsPreset | None = option(None, shapes.tools, flag="--tools")
    """Available built-in tools: a list, ``[]`` for none, the preset for all; ``None`` uses the CLI's default."""
    allowed_tools: list[str] = option(list, _tool_rules)
    """Tools, or rules such as ``Bash(git log:*)``, that run without asking."""
    system_prompt: SystemPrompt | None = option(None, shapes.prompt)
    """Your own prompt, or the preset with additions. ``None`` is an *empty* prompt, not the CLI's own."""
    mcp_servers: dict[str, McpServerConfig] | str | Path = option(dict, shapes.servers)
    """Name → server; or the path of a configuration file; or its JSON text."""
    strict_mcp_config: bool = option(False, rules.switch, flag="--strict-mcp-config")
    """Use only the MCP servers in ``mcp_servers``."""
    permission_mode: PermissionMode | None = option(None, _modes, flag="--permission-mode")
    continue_conversation: bool = option(False, rules.switch)
    """Continue the directory's latest session, or the one that ``resume`` names."""
    resume: str | None = option(None, rules.name, flag="--resume")
    """The id (or title) of the session to continue."""
    session_id: str | None = option(None, shapes.session_id, flag="--session-id")
    """The id of the new session: a UUID. With ``resume`` or ``continue_conversation`` only when forking."""
    max_turns: int | None = option(None, rules.whole(1, odd="is passed on unchanged", unset=True), flag="--max-turns")
    max_budget_usd: float | None = option(None, rules.positive, flag="--max-budget-usd")
    disallowed_tools: list[str] = option(list, _tool_rules, flag="--disallowedTools")
    """Tools to remove entirely, and rules that always deny."""
    model: str | None = option(None, rules.name, flag="--model")
    fallback_model: str | None = option(None, rules.name, flag="--fallback-model")
    """Used while the model is overloaded; comma-separated, tried in order."""
    betas: list[SdkBeta] = option(list, rules.strings, flag="--betas")
    permission_prompt_tool_name: str | None = option(None, rules.name)
    """The MCP tool that answers permission requests instead of ``can_use_tool``."""
    cwd: str | Path | None = option(None, rules.path)
    cli_path: str | Path | list[str] | None = option(None, rules.program)
    settings: str | Path | dict[str, Any] | None = option(None, shapes.settings)
    """Settings for this session: a path, a JSON text, or the settings themselves."""
    add_dirs: list[str | Path] = option(list, rules.listed(rules.path, "a list of paths"))
    """Additional directories that Claude may work in."""
    env: dict[str, str] = option(dict, shapes.env)
    """Environment variables on top of the inherited ones; see ``env_allow``."""
    extra_args: dict[str, str | None] = option(dict, shapes.extra_args)
    """Other CLI flags, without ``--``; ``None`` for a flag without a value. Every user of the machine can see them."""
    max_buffer_size: int | None = option(None, rules.whole(1, says=False))
    """The official name of ``limit_bytes``, which it overrides."""
    debug_stderr: Any = option(sys.stderr, rules.anything)
    """Not used, as in the official SDK; see ``stderr``."""
    stderr: Callable[[str], None] | None = option(None, rules.listener)
    """Called with each line the CLI writes to stderr."""
    can_use_tool: CanUseTool | None = option(None, rules.callback)
    """Decides about tool calls that neither a rule nor the mode has decided."""
    hooks: dict[HookEvent, list[HookMatcher]] | None = option(None, shapes.hooks)
    user: str | None = option(None, shapes.user)
    """The operating-system user to run the CLI as."""
    include_partial_messages: bool = option(False, rules.switch, flag="--include-partial-messages")
    """Also yield partial messages while they are being written."""
    include_hook_events: bool = option(False, rules.switch, flag="--include-hook-events")
    """Also yield messages when hooks from settings files start and end."""
    forward_subagent_text: bool = option(False, rules.switch, initialize=True)
    """Also yield what sub-agents say and think, not only their tool calls."""
    verbatim_prompts: bool = option(False, rules.switch)
    """Treat prompts as plain text: read no ``@file`` and run no ``/command``. Needs 2.1.248."""
    fork_session: bool = option(False, rules.switch, flag="--fork-session")
    """Continue in a copy of the session, under a new id."""
    resume_session_at: str | None = option(None, rules.name, flag="--resume-session-at")
    """Resume only up to the message with this UUID."""
    resume_drops_turn: str | None = option(None, rules.non_empty, flag="--resume-drops-turn")
    """With ``resume_session_at``: the prompt whose turn is dropped. The CLI refuses to drop more than that."""
    agents: dict[str, AgentDefinition] | None = option(
        None, rules.mapped(shapes.agent, "a dict of name → AgentDefinition")
    )
    """Sub-agents by name."""
    setting_sources: list[SettingSource] | None = option(None, rules.listed(_sources, "a list of setting sources"))
    """The settings files to read: ``None`` for all, ``[]`` for none. ``project`` includes CLAUDE.md."""
    skills: list[str] | Literal["all"] | None = option(None, shapes.skills)
    """Skills that Claude may use. Also allows the tool, and reads user and project settings unless ``setting_sources``
    is set."""
    sandbox: SandboxSettings | None = option(None, rules.json_object)
    plugins: list[SdkPluginConfig] = option(list, rules.listed(shapes.plugin, "a list of plugins", one=False))
    max_thinking_tokens: int | None = option(None, rules.whole(0, odd="is passed on unchanged"))
    """The older form of ``thinking``, which takes precedence."""
    thinking: ThinkingConfig | None = option(None, shapes.thinking)
    effort: EffortLevel | None = option(None, rules.words(*get_args(EffortLevel), open_=True), flag="--effort")
    output_format: dict[str, Any] | None = option(None, shapes.output_format)
    """``{"type": "json_schema", "schema": …}``: return data with this schema."""
    enable_file_checkpointing: bool = option(False, rules.switch, env="CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING")
    """Keep copies of files before they change, for ``rewind_files``."""
    session_store: SessionStore | None = option(None, rules.methods("append", "load"))
    session_store_flush: SessionStoreFlushMode = option("batched", rules.words("batched", "eager", open_=True))
    load_timeout_ms: int = option(60_000, rules.from_zero)
    """Time limit for each read from ``session_store`` while resuming."""
    task_budget: TaskBudget | None = option(None, rules.shape("{'total': tokens}", {"total": rules.whole(1)}, {}))
    client_app: str | None = option(None, shapes.client_app, env="CLAUDE_AGENT_SDK_CLIENT_APP")
    """Your program's name and version, for the API's logs."""

    _: KW_ONLY

    # What the TypeScript SDK has besides.
    project_config_root: str | Path | None = option(None, rules.path, flag="--project-config-root")
    """The trusted checkout whose settings, hooks and ``.mcp.json`` apply when ``cwd`` is a worktree of it."""
    agent: str | None = option(None, rules.name, flag="--agent")
    """The agent that the main conversation runs as."""
    tool_aliases: dict[str, str] | None = option(
        None, rules.mapped(rules.text, "a dict of tool name → tool name"), initialize=True
    )
    """Tool name used by the model → the tool to run instead."""
    persist_session: bool = option(True, rules.exact_switch, unless="--no-session-persistence")
    """False: nothing is written to disk, and the session cannot be resumed."""
    supported_dialog_kinds: list[str] = option(list, rules.strings, initialize=True)
    """The dialogs that ``on_user_dialog`` can show; the CLI sends no others."""
    on_user_dialog: Callable[..., Any] | None = option(None, rules.callback)
    per_task_stop_affordance: bool = option(False, rules.switch, initialize=True)
    """Your program can stop individual background tasks, so interrupting a turn leaves them running."""
    plan_mode_instructions: str | None = option(None, rules.text, initialize=True)
    allow_dangerously_skip_permissions: bool = option(
        False, rules.exact_switch, flag="--allow-dangerously-skip-permissions"
    )
    """Permit ``bypassPermissions``, now or by a later change of mode."""
    permission_prompts: PermissionPrompts | None = option(
        None, rules.words("host", "none", otherwise="permission-prompts"), flag="--permission-prompts"
    )
    """``none``: there is no one to ask, so calls that need an answer are denied."""
    plugin_delivery: PluginDelivery = option("argv", rules.words("argv", "initialize"))
    """``initialize``: the command line does not grow with the number of plugins. Needs 2.1.261."""
    prompt_suggestions: bool = option(False, rules.switch, initialize=True)
    agent_progress_summaries: bool = option(False, rules.switch, initialize=True)
    managed_settings: dict[str, Any] | None = option(None, rules.json_object)
    """Managed settings, for programs that embed Claude Code under an organisation's policy."""
    debug: bool = option(False, rules.switch, flag="--debug")
    debug_file: str | Path | None = option(None, rules.path, flag="--debug-file")
    title: str | None = option(None, rules.text, initialize=True)
    executable: JavaScriptRuntime | None = option(None, rules.words("node", "bun", "deno"))
    """The runtime for a CLI that is a script; a native CLI needs none."""
    executable_args: list[str] = option(list, rules.strings)
    abort: Abort | None = option(None, rules.methods("is_set", "wait"))
    """Ends the session when set; for example an ``asyncio.Event``."""
    tool_config: ToolConfig | None = option(None, shapes.tool_config)
    on_elicitation: Callable[..., Any] | None = option(None, rules.callback)
    spawn_claude_code_process: SpawnClaudeCodeProcess | None = option(None, rules.callback)
    """Starts the CLI elsewhere: in a container, over ssh. Takes ``SpawnOptions``, returns a process with pipes.

    Configuration is then passed on the command line, because private files on this machine may not exist there.
    """

    # Ours.
    on_question: Callable[..., Any] | None = option(None, rules.callback)
    """Answers AskUserQuestion."""
    on_plan: Callable[..., Any] | None = option(None, rules.callback)
    """Reviews the plan of ExitPlanMode."""
    hooks_on_failure: Literal["block", "continue"] = option("block", rules.words("block", "continue"))
    """What happens when a deciding hook fails, unless its matcher says otherwise. ``block``: the call is denied.
    ``continue``: as if the hook had no opinion, as in the official SDK."""
    env_allow: list[str] | None = option(None, rules.listed(rules.non_empty, "a list of names"))
    """Names of variables to inherit, ``*`` for any characters; ``None`` for all."""
    limit_bytes: int = option(LIMIT_BYTES, rules.whole(LIMIT_BYTES_LEAST, says=False))
    initialize_timeout_s: float = option(INITIALIZE_TIMEOUT_S, rules.seconds)
    request_timeout_s: float = option(REQUEST_TIMEOUT_S, rules.seconds)
    close_grace_s: float = option(CLOSE_GRACE_S, rules.from_zero)
    replay_user_messages: bool = option(False, rules.switch, flag="--replay-user-messages")
    """Echo each user message when the CLI accepts it."""
    session_state_events: bool = option(False, rules.switch, env="CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")
    """Yield ``session_state_changed`` messages. The session itself always reads them."""
    append_subagent_system_prompt: str | None = option(None, rules.text, initialize=True)
    forward_nested_subagent_tool_calls: bool = option(False, rules.switch, initialize=True)
    auth_status: bool = option(False, rules.switch, flag="--enable-auth-status")
    """Yield messages about the login."""
    slash_commands: bool = option(True, rules.exact_switch, unless="--disable-slash-commands")
    """False: disable ``/commands`` and skills."""
    bare: bool = option(False, rules.switch, flag="--bare")
    """Minimal mode: no hooks, plugins, memory or CLAUDE.md except those named here."""
    safe_mode: bool = option(False, rules.switch, flag="--safe-mode")
    """Start without customisations, to find out whether one of them causes a problem."""
    restricted: bool = option(False, rules.switch, flag="--restricted")
    auto_compact: Literal["auto"] | int | None = option(None, shapes.auto_compact, flag="--autocompact")
    """Context size, in tokens, that triggers compaction."""

    retry: _Retry | None = option(None, rules.methods("wait_s"))
    """Retry a prompt when the model is overloaded or the CLI dies; see ``Retry``."""
    tracing: bool | None = option(None, rules.exact_switch)
    """OpenTelemetry spans: ``None``: if the program has imported its API; ``True``: always; ``False``: never."""

    @property
    def line_limit_bytes(self) -> int:
        """The maximum line length, by whichever name it was given."""
        return self.limit_bytes if self.max_buffer_size is None else self.max_buffer_size
