"""Blocking versions of all control methods."""

from __future__ import annotations

from quarterdeck.client.controls import Controls as AsyncControls
from quarterdeck.wire import InitializeAnswer

from .facade import Facade, blocking, in_loop_thread


class Controls(Facade):
    """The control methods of ``quarterdeck.Session``, described there."""

    apply_settings = blocking(AsyncControls.apply_settings)
    authenticate_mcp_server = blocking(AsyncControls.authenticate_mcp_server)
    background_tasks = blocking(AsyncControls.background_tasks)
    binary_version = blocking(AsyncControls.binary_version)
    call_mcp_tool = blocking(AsyncControls.call_mcp_tool)
    cancel_prompt = blocking(AsyncControls.cancel_prompt)
    chrome_dialog = blocking(AsyncControls.chrome_dialog)
    claim = blocking(AsyncControls.claim)
    clear_mcp_authentication = blocking(AsyncControls.clear_mcp_authentication)
    context_usage = blocking(AsyncControls.context_usage)
    cost = blocking(AsyncControls.cost)
    end = blocking(AsyncControls.end)
    export = blocking(AsyncControls.export)
    file_suggestions = blocking(AsyncControls.file_suggestions)
    finish_mcp_authentication = blocking(AsyncControls.finish_mcp_authentication)
    fork_conversation = blocking(AsyncControls.fork_conversation)
    generate_title = blocking(AsyncControls.generate_title)
    hooks_listing = blocking(AsyncControls.hooks_listing)
    interrupt = blocking(AsyncControls.interrupt)
    mcp_status = blocking(AsyncControls.mcp_status)
    memory_dialog = blocking(AsyncControls.memory_dialog)
    models = blocking(AsyncControls.models)
    permission_rules = blocking(AsyncControls.permission_rules)
    plan = blocking(AsyncControls.plan)
    rate_message = blocking(AsyncControls.rate_message)
    read_file = blocking(AsyncControls.read_file)
    read_mcp_resource = blocking(AsyncControls.read_mcp_resource)
    reconnect_mcp_server = blocking(AsyncControls.reconnect_mcp_server)
    register_repo_root = blocking(AsyncControls.register_repo_root)
    reinitialize = blocking(AsyncControls.reinitialize)
    reload_output_styles = blocking(AsyncControls.reload_output_styles)
    reload_plugins = blocking(AsyncControls.reload_plugins)
    reload_skills = blocking(AsyncControls.reload_skills)
    rename = blocking(AsyncControls.rename)
    request = blocking(AsyncControls.request)
    rewind_conversation = blocking(AsyncControls.rewind_conversation)
    rewind_files = blocking(AsyncControls.rewind_files)
    sandbox_dialog = blocking(AsyncControls.sandbox_dialog)
    seed_read_state = blocking(AsyncControls.seed_read_state)
    send_mcp_message = blocking(AsyncControls.send_mcp_message)
    set_color = blocking(AsyncControls.set_color)
    set_cwd = blocking(AsyncControls.set_cwd)
    set_has_subscribers = blocking(AsyncControls.set_has_subscribers)
    set_max_thinking_tokens = blocking(AsyncControls.set_max_thinking_tokens)
    set_mcp_permission_mode_override = blocking(AsyncControls.set_mcp_permission_mode_override)
    set_mcp_servers = blocking(AsyncControls.set_mcp_servers)
    set_model = blocking(AsyncControls.set_model)
    set_permission_mode = blocking(AsyncControls.set_permission_mode)
    set_proactivity_level = blocking(AsyncControls.set_proactivity_level)
    set_prompt_suggestions_paused = blocking(AsyncControls.set_prompt_suggestions_paused)
    settings = blocking(AsyncControls.settings)
    side_question = blocking(AsyncControls.side_question)
    skills_dialog = blocking(AsyncControls.skills_dialog)
    status = blocking(AsyncControls.status)
    stop_task = blocking(AsyncControls.stop_task)
    task_output = blocking(AsyncControls.task_output)
    toggle_mcp_server = blocking(AsyncControls.toggle_mcp_server)
    update_settings = blocking(AsyncControls.update_settings)
    usage = blocking(AsyncControls.usage)
    workspace_diff = blocking(AsyncControls.workspace_diff)

    account = in_loop_thread(AsyncControls.account)
    agents = in_loop_thread(AsyncControls.agents)
    commands = in_loop_thread(AsyncControls.commands)

    @property
    def server_info(self) -> InitializeAnswer:
        """What the CLI said in the handshake: commands, agents, models, account …"""
        answer: InitializeAnswer = self._core.server_info
        return answer
