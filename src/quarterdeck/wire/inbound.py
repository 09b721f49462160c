"""Requests from the CLI, and the host's answers.

The typed inputs and outputs of hooks are in ``hooks``; here a hook's input is the plain dict it is on the wire.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from ._base import HIDDEN, WireObject
from .mcp import McpServerProvenance
from .permissions import PermissionUpdate

ElicitationMode: TypeAlias = Literal["form", "url"]
ElicitationAction: TypeAlias = Literal["accept", "decline", "cancel"]
UserDialogBehavior: TypeAlias = Literal["completed", "cancelled"]


class IncomingRequest(WireObject, tag_field="subtype"):
    """A request of the CLI. The CLI waits indefinitely: no timeout was seen in 40 s (2.1.325)."""


class MatchedAskRule(WireObject):
    """The rule that made the CLI ask."""

    source: str
    tool_name: str
    rule_content: str | None = None


class ComputerFolder(WireObject):
    """A folder of another computer that a tool works on."""

    path: str
    computer_name: str


class CanUseToolRequest(IncomingRequest, tag="can_use_tool"):
    """A request to run a tool. Answered by ``permissions.permission_answer``."""

    tool_name: str
    input: dict[str, Any]
    tool_use_id: str = ""
    permission_suggestions: list[PermissionUpdate] | None = None
    """Suggestions for “always allow”."""
    blocked_path: str | None = None
    decision_reason: str | None = None
    """Absent for most tools on 2.1.325 (7 of 87 requests had it); 2.0.77 sent it for Bash."""
    decision_reason_type: str | None = None
    decision_reason_code: str | None = None
    decision_reason_rule_source: str | None = None
    decision_reason_hook_event: str | None = None
    decision_reason_hook_source: str | None = None
    decision_reason_hook_plugin_id: str | None = None
    server_policy_ask_only: bool | None = None
    classifier_approvable: bool | None = None
    suppress_always_allow_rule: bool | None = None
    default_to_no: bool | None = None
    matched_ask_rule: MatchedAskRule | None = None
    title: str | None = None
    """Never seen on 2.1.325; ``display_name`` is always present."""
    display_name: str | None = None
    description: str | None = None
    agent_id: str | None = None
    """The sub-agent that asks; None for the main agent."""
    mcp_server: McpServerProvenance | None = None
    plugin: str | None = None
    requires_user_interaction: bool | None = None
    """True for AskUserQuestion and ExitPlanMode, under ``bypassPermissions`` too: a rule cannot answer these."""
    server_prompt: str | None = None
    computer_folder: ComputerFolder | None = None
    provenance_prompt_line: str | None = None
    tool_kind: str | None = None


class HookCallbackRequest(IncomingRequest, tag="hook_callback"):
    """Run the callback that ``initialize`` registered under this id."""

    callback_id: str
    input: dict[str, Any]
    tool_use_id: str | None = None
    """2.1.325 sends one always, a random one for events without a tool."""
    issued_at: int | None = None
    deadline_ms: int | None = None


class ElicitationRequest(IncomingRequest, tag="elicitation"):
    """An MCP server wants something from the user: a form to fill, or a page to visit."""

    mcp_server_name: str
    message: str
    mode: str | None = None
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: dict[str, Any] | None = None
    property_order: list[str] | None = None
    title: str | None = None
    display_name: str | None = None
    description: str | None = None


class UserDialogRequest(IncomingRequest, tag="request_user_dialog"):
    """Show a dialog. Comes only for the kinds declared in ``initialize``; an unknown kind is answered ``cancelled``."""

    dialog_kind: str
    payload: dict[str, Any]
    tool_use_id: str | None = None


class SdkControlInterruptRequest(IncomingRequest, tag="sdk_control_interrupt"):
    """A request listed in some descriptions of the protocol. The word is not in the binary of 2.1.325."""


class McpMessageRequest(WireObject, tag_field="subtype", tag="mcp_message"):
    """A JSON-RPC message to or from an MCP server inside the host; the one request that goes both ways.

    From the CLI it is answered by ``McpMessageAnswer``. To the CLI it carries server-initiated messages, and the
    answer is a bare success.
    """

    Answer: ClassVar[Any] = None

    server_name: str
    message: dict[str, Any]


class UnknownRequest(WireObject, tag_field="subtype", tag=HIDDEN + "unknown"):
    """A request that this version cannot type: an unknown subtype, or a known one without what it needs.

    Behaves exactly like its ``data``.
    """

    data: dict[str, Any]
    reason: str = ""
    misfit: bool = False
    """True when the subtype is known, but the request lacks what it needs."""

    @property
    def subtype(self) -> str:
        subtype = self.data.get("subtype")
        return subtype if isinstance(subtype, str) else ""

    def get(self, key: str, default: Any = None) -> Any:
        return self.data.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self.data

    def to_dict(self) -> dict[str, Any]:
        return self.data


class McpMessageAnswer(WireObject):
    """The JSON-RPC response to an ``mcp_message``; without one when the message was a notification."""

    mcp_response: dict[str, Any] | None = None


class ElicitationAnswer(WireObject):
    """What the user did with an elicitation; ``content`` only with ``accept``."""

    action: str
    content: dict[str, Any] | None = None


class UserDialogAnswer(WireObject):
    """How a dialog ended; ``result`` only with ``completed``, its shape is the dialog's own."""

    behavior: str
    result: Any = None


INCOMING_REQUESTS: dict[str, type[WireObject]] = {
    **{str(cls.__struct_config__.tag): cls for cls in IncomingRequest.__subclasses__()},
    "mcp_message": McpMessageRequest,
}
"""Subtype → class, for what the CLI asks the host."""
