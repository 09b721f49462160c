"""The envelopes of control traffic, and what the CLI asks the host."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quarterdeck.wire import InterruptRequest, decode
from quarterdeck.wire.control import (
    ControlCancelRequest,
    ControlFailure,
    ControlRequest,
    ControlResponse,
    ControlSuccess,
    parse_request,
)
from quarterdeck.wire.inbound import (
    INCOMING_REQUESTS,
    CanUseToolRequest,
    ComputerFolder,
    ElicitationAnswer,
    ElicitationRequest,
    HookCallbackRequest,
    MatchedAskRule,
    McpMessageAnswer,
    McpMessageRequest,
    SdkControlInterruptRequest,
    UnknownRequest,
    UserDialogAnswer,
    UserDialogRequest,
)
from quarterdeck.wire.mcp import (
    JsonRpcError,
    JsonRpcMessage,
    McpClaudeAIProxyServerConfig,
    McpHttpServerConfig,
    McpSdkServerConfigStatus,
    McpServerProvenance,
    McpSSEServerConfig,
    McpStdioServerConfig,
    parse_server_config,
)
from quarterdeck.wire.permissions import PermissionRuleValue, PermissionUpdate

FULL_CAN_USE_TOOL = CanUseToolRequest(
    "mcp__st__echo",
    {"text": "hi"},
    "toolu_1",
    permission_suggestions=[
        PermissionUpdate(
            "addRules", rules=[PermissionRuleValue("Bash", "ls *")], behavior="allow", destination="localSettings"
        ),
        PermissionUpdate("addDirectories", directories=["/repo"], destination="session"),
    ],
    blocked_path="/repo/a",
    decision_reason="a hook asks",
    decision_reason_type="hook",
    decision_reason_code="org_ask_ceiling",
    decision_reason_rule_source="session",
    decision_reason_hook_event="PreToolUse",
    decision_reason_hook_source="sdk",
    decision_reason_hook_plugin_id="p",
    server_policy_ask_only=True,
    classifier_approvable=False,
    suppress_always_allow_rule=True,
    default_to_no=True,
    matched_ask_rule=MatchedAskRule("session", "Bash", "rm *"),
    title="Echo?",
    display_name="Echo",
    description="says it again",
    agent_id="a1",
    mcp_server=McpServerProvenance("st", "dynamic"),
    plugin="p",
    requires_user_interaction=True,
    server_prompt="sure?",
    computer_folder=ComputerFolder("/c", "laptop"),
    provenance_prompt_line="one_at_a_time",
    tool_kind="execute",
)

FULL_CAN_USE_TOOL_ON_THE_WIRE = {
    "subtype": "can_use_tool",
    "tool_name": "mcp__st__echo",
    "input": {"text": "hi"},
    "tool_use_id": "toolu_1",
    "permission_suggestions": [
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "ls *"}],
            "behavior": "allow",
            "destination": "localSettings",
        },
        {"type": "addDirectories", "directories": ["/repo"], "destination": "session"},
    ],
    "blocked_path": "/repo/a",
    "decision_reason": "a hook asks",
    "decision_reason_type": "hook",
    "decision_reason_code": "org_ask_ceiling",
    "decision_reason_rule_source": "session",
    "decision_reason_hook_event": "PreToolUse",
    "decision_reason_hook_source": "sdk",
    "decision_reason_hook_plugin_id": "p",
    "server_policy_ask_only": True,
    "classifier_approvable": False,
    "suppress_always_allow_rule": True,
    "default_to_no": True,
    "matched_ask_rule": {"source": "session", "tool_name": "Bash", "rule_content": "rm *"},
    "title": "Echo?",
    "display_name": "Echo",
    "description": "says it again",
    "agent_id": "a1",
    "mcp_server": {"name": "st", "source": "dynamic"},
    "plugin": "p",
    "requires_user_interaction": True,
    "server_prompt": "sure?",
    "computer_folder": {"path": "/c", "computer_name": "laptop"},
    "provenance_prompt_line": "one_at_a_time",
    "tool_kind": "execute",
}

INCOMING: list[tuple[Any, dict[str, Any]]] = [
    (FULL_CAN_USE_TOOL, FULL_CAN_USE_TOOL_ON_THE_WIRE),
    (
        HookCallbackRequest("hook_0", {"hook_event_name": "Stop"}, "t1", deadline_ms=2000),
        {
            "subtype": "hook_callback",
            "callback_id": "hook_0",
            "input": {"hook_event_name": "Stop"},
            "tool_use_id": "t1",
            "deadline_ms": 2000,
        },
    ),
    (
        McpMessageRequest("calc", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        {
            "subtype": "mcp_message",
            "server_name": "calc",
            "message": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        },
    ),
    (
        ElicitationRequest(
            "st", "Your name?", mode="form", requested_schema={"type": "object"}, property_order=["name"]
        ),
        {
            "subtype": "elicitation",
            "mcp_server_name": "st",
            "message": "Your name?",
            "mode": "form",
            "requested_schema": {"type": "object"},
            "property_order": ["name"],
        },
    ),
    (
        UserDialogRequest("trust", {"path": "/repo"}, tool_use_id="toolu_1"),
        {
            "subtype": "request_user_dialog",
            "dialog_kind": "trust",
            "payload": {"path": "/repo"},
            "tool_use_id": "toolu_1",
        },
    ),
    (SdkControlInterruptRequest(), {"subtype": "sdk_control_interrupt"}),
]


@pytest.mark.parametrize(("request_", "wire"), INCOMING, ids=lambda value: value.get("subtype"))
def test_a_request_of_the_cli_is_read_and_written_exactly_so(request_: Any, wire: dict[str, Any]) -> None:
    line = {"type": "control_request", "request_id": "r1", "request": wire}
    envelope = msgspec.json.decode(msgspec.json.encode(line), type=ControlRequest)
    assert envelope == ControlRequest(request_id="r1", request=request_)
    assert envelope.subtype == wire["subtype"]
    assert envelope.to_dict() == line


def test_every_request_of_the_cli_has_a_case_here() -> None:
    assert {wire["subtype"] for _, wire in INCOMING} == set(INCOMING_REQUESTS)


def test_a_request_reads_like_the_dict_it_is_on_the_wire() -> None:
    request = parse_request(FULL_CAN_USE_TOOL_ON_THE_WIRE)
    assert request["subtype"] == "can_use_tool"
    assert request["mcp_server"]["name"] == "st"
    assert dict(request.items()) == FULL_CAN_USE_TOOL_ON_THE_WIRE


def test_a_request_may_lack_its_id() -> None:
    line = {"type": "control_request", "request": {"subtype": "interrupt"}}
    envelope = decode(msgspec.json.encode(line))
    assert isinstance(envelope, ControlRequest)
    assert (envelope.request_id, envelope.request) == ("", InterruptRequest())
    assert envelope.to_dict() == line


CANNOT_BE_TYPED = [
    ({"subtype": "novelty", "a": {"b": None}}, "novelty", "novelty"),
    ({"a": 1}, "", "subtype"),
    ({"subtype": 3}, "", "subtype"),
    ({"subtype": "can_use_tool", "tool_name": "Bash"}, "can_use_tool", "input"),
]


@pytest.mark.parametrize(("payload", "subtype", "reason"), CANNOT_BE_TYPED)
def test_a_request_that_cannot_be_typed_stays_itself(payload: dict[str, Any], subtype: str, reason: str) -> None:
    request = parse_request(payload)
    assert isinstance(request, UnknownRequest)
    assert (request.subtype, request.data, request.to_dict()) == (subtype, payload, payload)
    assert reason in request.reason
    envelope = ControlRequest(request_id="r1", request=request)
    assert envelope.subtype == subtype
    assert envelope.to_dict() == {"type": "control_request", "request_id": "r1", "request": payload}
    assert msgspec.json.decode(envelope.raw) == envelope.to_dict()


def test_an_unknown_request_reads_like_its_data() -> None:
    request = UnknownRequest({"subtype": "novelty", "a": None})
    assert (request["subtype"], "a" in request, request.get("b", 2), list(request)) == (
        "novelty",
        True,
        2,
        ["subtype", "a"],
    )


RESPONSES: list[tuple[ControlResponse, dict[str, Any]]] = [
    (
        ControlResponse(response=ControlSuccess(request_id="r1", response={"mode": "plan"})),
        {"subtype": "success", "request_id": "r1", "response": {"mode": "plan"}},
    ),
    (ControlResponse(response=ControlSuccess(request_id="r1")), {"subtype": "success", "request_id": "r1"}),
    (ControlResponse(response=ControlSuccess(response={})), {"subtype": "success", "response": {}}),
    (
        ControlResponse(response=ControlFailure(request_id="r1", error="no", error_code="invalid_mode")),
        {"subtype": "error", "request_id": "r1", "error": "no", "error_code": "invalid_mode"},
    ),
]


@pytest.mark.parametrize(("response", "inner"), RESPONSES)
def test_a_response_is_read_and_written_exactly_so(response: ControlResponse, inner: dict[str, Any]) -> None:
    line = {"type": "control_response", "response": inner}
    assert response.to_dict() == line
    assert msgspec.json.decode(msgspec.json.encode(line), type=ControlResponse) == response
    assert (response.request_id, response.ok) == (inner.get("request_id", ""), inner["subtype"] == "success")


def test_a_response_lists_what_is_still_to_be_answered() -> None:
    permission = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": "toolu_1"}
    novelty = {"subtype": "novelty"}
    elicitation = {"subtype": "elicitation", "mcp_server_name": "st", "message": "?"}
    line = {
        "type": "control_response",
        "response": {
            "subtype": "success",
            "request_id": "r1",
            "response": {},
            "pending_permission_requests": [
                {"type": "control_request", "request_id": "p1", "request": permission},
                "not a request",
            ],
            "pending_user_dialog_requests": [{"type": "control_request", "request_id": "p2", "request": novelty}],
            "pending_elicitation_requests": [{"type": "control_request", "request_id": "p3", "request": elicitation}],
        },
    }
    response = msgspec.convert(line, ControlResponse)
    assert [(pending.request_id, pending.request.to_dict()) for pending in response.response.pending_requests()] == [
        ("p1", permission),
        ("p2", novelty),
        ("p3", elicitation),
    ]
    assert response.to_dict() == line


def test_a_response_usually_lists_nothing() -> None:
    assert ControlFailure(error="no").pending_requests() == []


def test_a_cancellation_names_the_request() -> None:
    line = {"type": "control_cancel_request", "request_id": "r1"}
    assert msgspec.convert(line, ControlCancelRequest) == ControlCancelRequest(request_id="r1")
    assert ControlCancelRequest(request_id="r1").to_dict() == line


HOST_ANSWERS: list[tuple[Any, dict[str, Any]]] = [
    (
        McpMessageAnswer({"jsonrpc": "2.0", "id": 1, "result": {}}),
        {"mcp_response": {"jsonrpc": "2.0", "id": 1, "result": {}}},
    ),
    (McpMessageAnswer(), {}),
    (ElicitationAnswer("accept", {"name": "Ann"}), {"action": "accept", "content": {"name": "Ann"}}),
    (ElicitationAnswer("decline"), {"action": "decline"}),
    (UserDialogAnswer("completed", {"choice": 1}), {"behavior": "completed", "result": {"choice": 1}}),
    (UserDialogAnswer("cancelled"), {"behavior": "cancelled"}),
]


@pytest.mark.parametrize(("answer", "wire"), HOST_ANSWERS)
def test_an_answer_of_the_host_is_read_and_written_exactly_so(answer: Any, wire: dict[str, Any]) -> None:
    assert answer.to_dict() == wire
    assert msgspec.convert(wire, type(answer)) == answer


def test_json_rpc_always_says_its_version_and_tells_its_kind() -> None:
    request = JsonRpcMessage(id=0, method="tools/list", params={})
    notification = JsonRpcMessage(method="notifications/initialized")
    response = JsonRpcMessage(id="a", error=JsonRpcError(-32601, "no such method"))
    assert msgspec.json.decode(msgspec.json.encode([request, notification, response])) == [
        {"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "a", "error": {"code": -32601, "message": "no such method"}},
    ]
    kinds = [(m.is_request, m.is_notification, m.is_response) for m in (request, notification, response)]
    assert kinds == [(True, False, False), (False, True, False), (False, False, True)]


CONFIGURATIONS: list[tuple[dict[str, Any], Any]] = [
    ({"command": "python3", "args": ["s.py"]}, McpStdioServerConfig("python3", ["s.py"])),
    ({"type": "stdio", "command": "x", "alwaysLoad": True}, McpStdioServerConfig("x", type="stdio", always_load=True)),
    ({"type": "sse", "url": "http://h"}, McpSSEServerConfig(type="sse", url="http://h")),
    ({"type": "http", "url": "http://h", "headers": {"a": "b"}}, McpHttpServerConfig("http", "http://h", {"a": "b"})),
    ({"type": "sdk", "name": "calc"}, McpSdkServerConfigStatus(type="sdk", name="calc")),
    (
        {"type": "claudeai-proxy", "url": "http://h", "id": "i"},
        McpClaudeAIProxyServerConfig(type="claudeai-proxy", url="http://h", id="i"),
    ),
]


@pytest.mark.parametrize(("wire", "config"), CONFIGURATIONS)
def test_a_server_configuration_is_typed_by_its_type(wire: dict[str, Any], config: Any) -> None:
    assert parse_server_config(wire) == config
    assert config.to_dict() == wire


@pytest.mark.parametrize("wire", [{"type": "carrier-pigeon"}, {"type": "http"}, {"command": 1}, {"type": ["x"]}])
def test_a_configuration_that_cannot_be_typed_is_none(wire: dict[str, Any]) -> None:
    assert parse_server_config(wire) is None
