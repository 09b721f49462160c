"""What a launch plan says really arrives, in every supported CLI: seen in the requests that reach the model's API."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from needs import real_cli
from quarterdeck.client.launch import LaunchPlan, plan_launch
from quarterdeck.client.options import ClaudeAgentOptions
from quarterdeck.client.tools import create_sdk_mcp_server
from quarterdeck.testing.install import NEWEST, SUPPORTED, CliInstall
from quarterdeck.testing.model import ApiRequest, ModelServer, ToolUse
from quarterdeck.transport import PrivateFiles, child_environment
from quarterdeck.wire.agents import AgentDefinition

pytestmark = pytest.mark.real

TURN_LIMIT_S = 60.0
"""For one turn of a cold CLI on a busy machine."""
EXIT_LIMIT_S = 20.0

FILE_SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "filed", "version": "1"}}
    if message["method"] == "tools/list":
        result = {"tools": [{"name": "add", "description": "adds", "inputSchema": {"type": "object"}}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture(scope="module", params=SUPPORTED)
def cli(request: pytest.FixtureRequest) -> CliInstall:
    return real_cli(request.param)


class Conversation:
    """Just enough of a host: initialize, one prompt, the CLI's MCP questions, the result."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.answer: dict[str, Any] = {}
        self.init: dict[str, Any] = {}
        self.result: dict[str, Any] = {}

    def run(self, planned: LaunchPlan) -> None:
        self._send({"type": "control_request", "request_id": "first", "request": planned.initialize.to_dict()})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            match message:
                case {"type": "control_response", "response": response}:
                    self.answer = response
                    self._send({"type": "user", "message": {"role": "user", "content": "hello"}, "session_id": ""})
                case {"type": "control_request", "request": {"subtype": "mcp_message", "message": asked}}:
                    self._reply(message["request_id"], asked)
                case {"type": "system", "subtype": "init"}:
                    self.init = message
                case {"type": "result"}:
                    self.result = message
                    return
        raise AssertionError("the CLI ended before its turn did")

    def _reply(self, request_id: str, asked: dict[str, Any]) -> None:
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": asked.get("params", {}).get("protocolVersion"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "calc", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "sum", "description": "sums", "inputSchema": {"type": "object"}}]},
        }
        answer = {"jsonrpc": "2.0", "id": asked.get("id", 0), "result": results.get(asked["method"], {})}
        response = {"subtype": "success", "request_id": request_id, "response": {"mcp_response": answer}}
        self._send({"type": "control_response", "response": response})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


@contextmanager
def started(planned: LaunchPlan, model: ModelServer, home: Path) -> Iterator[subprocess.Popen[str]]:
    cwd = home / "work"
    cwd.mkdir()
    own = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home)}
    env = child_environment({**model.env(), **planned.env}, sdk_version=planned.sdk_version, inherited=own, cwd=cwd)
    with PrivateFiles() as files, (home / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            planned.command(files.write),
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        assert process.stdin is not None and process.stdout is not None
        watchdog = threading.Timer(TURN_LIMIT_S, process.kill)
        watchdog.start()
        try:
            yield process
            process.stdin.close()
            process.wait(EXIT_LIMIT_S)
        finally:
            watchdog.cancel()
            watchdog.join()
            process.kill()
            process.wait()
            process.stdout.close()


def talk(
    options: ClaudeAgentOptions, cli: CliInstall, home: Path, *, replies: tuple[str | ToolUse, ...] = ("hi",)
) -> tuple[Conversation, list[ApiRequest]]:
    planned = plan_launch(options, cli=cli.argv, version=cli.version)
    with ModelServer() as model:
        for reply in replies:
            model.reply(reply)
        with started(planned, model, home) as process:
            conversation = Conversation(process)
            conversation.run(planned)
        return conversation, model.conversation


def test_without_a_prompt_the_system_prompt_is_empty(cli: CliInstall, tmp_path: Path) -> None:
    _, (request, *_) = talk(ClaudeAgentOptions(), cli, tmp_path)
    assert len(request.system) < 300  # a billing line and one that says who runs it
    assert "interactive" not in request.system


def test_prompt_agents_servers_and_settings_arrive(cli: CliInstall, tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(FILE_SERVER)
    options = ClaudeAgentOptions(
        system_prompt="You are PROMPT-MARK.",
        agents={"mini": AgentDefinition(description="AGENT-MARK", prompt="p")},
        mcp_servers={
            "filed": {"command": sys.executable, "args": [str(script)]},
            "calc": create_sdk_mcp_server("calc"),
        },
        settings={"model": "claude-settings-mark", "permissions": {"deny": ["WebSearch"]}},
        setting_sources=[],
    )
    conversation, (request, *_) = talk(options, cli, tmp_path)
    assert conversation.result["subtype"] == "success"
    assert "You are PROMPT-MARK." in request.system
    assert len(request.system) < 400
    assert request.model == "claude-settings-mark"
    assert "WebSearch" not in request.tool_names
    assert b"AGENT-MARK" in request.body
    assert {server["name"]: server["status"] for server in conversation.init["mcp_servers"]} == {
        "filed": "connected",
        "calc": "connected",
    }
    assert b"mcp__filed__add" in request.body
    assert b"mcp__calc__sum" in request.body


def test_an_addition_comes_after_the_preset(cli: CliInstall, tmp_path: Path) -> None:
    options = ClaudeAgentOptions(
        system_prompt={"type": "preset", "preset": "claude_code", "append": "And APPEND-MARK."}, tools=[]
    )
    conversation, (request, *_) = talk(options, cli, tmp_path)
    assert "And APPEND-MARK." in request.system
    assert len(request.system) > 2_000
    assert not [name for name in conversation.init["tools"] if name in ("Bash", "Read", "Write")]


def test_a_prompt_of_several_parts_arrives(cli: CliInstall, tmp_path: Path) -> None:
    _, (request, *_) = talk(ClaudeAgentOptions(system_prompt=["FIRST-MARK", "SECOND-MARK"]), cli, tmp_path)
    assert "FIRST-MARK" in request.system
    assert "SECOND-MARK" in request.system
    assert len(request.system) < 400


def test_a_prompt_file_arrives(cli: CliInstall, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("FILE-MARK")
    _, (request, *_) = talk(ClaudeAgentOptions(system_prompt={"type": "file", "path": str(prompt)}), cli, tmp_path)
    assert "FILE-MARK" in request.system
    assert len(request.system) < 400


def test_a_schema_arrives_and_its_data_comes_back(cli: CliInstall, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"schema_mark": {"type": "string"}}}
    options = ClaudeAgentOptions(output_format={"type": "json_schema", "schema": schema})
    data = ToolUse("StructuredOutput", {"schema_mark": "x"})
    conversation, (request, *_) = talk(options, cli, tmp_path, replies=(data, "done"))
    tools = {tool["name"]: tool for tool in request.tools}
    assert "schema_mark" in json.dumps(tools["StructuredOutput"])
    assert conversation.result["structured_output"] == {"schema_mark": "x"}


def test_a_value_that_looks_like_a_flag_stays_a_value(cli: CliInstall, tmp_path: Path) -> None:
    options = ClaudeAgentOptions(model="--verbose", allowed_tools=["Bash(git log:*)"], setting_sources=[])
    _, (request, *_) = talk(options, cli, tmp_path)
    assert request.model == "--verbose"


def test_managed_settings_and_plugins_arrive_in_initialize(tmp_path: Path) -> None:
    plugin = tmp_path / "plug"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "plug", "version": "1.0.0", "description": "d"}')
    options = ClaudeAgentOptions(
        managed_settings={"permissions": {"deny": ["WebSearch"]}},
        plugins=[{"type": "local", "path": str(plugin)}],
        plugin_delivery="initialize",
    )
    conversation, (request, *_) = talk(options, real_cli(NEWEST), tmp_path)
    assert conversation.answer["response"]["managed_settings_applied"] is True
    assert conversation.answer["response"]["plugins_applied"] is True
    assert "WebSearch" not in request.tool_names
    assert "plug" in [loaded["name"] for loaded in conversation.init["plugins"]]


def test_the_main_conversation_can_run_as_an_agent_that_is_defined_beside_it(tmp_path: Path) -> None:
    options = ClaudeAgentOptions(
        agent="mini",
        agents={"mini": AgentDefinition(description="d", prompt="AGENT-PROMPT-MARK", model="claude-mini")},
        system_prompt={"type": "preset", "preset": "claude_code"},
    )
    _, (request, *_) = talk(options, real_cli(NEWEST), tmp_path)
    assert "AGENT-PROMPT-MARK" in request.system
    assert request.model == "claude-mini"
