"""Version 2 of the protocol, a draft, in terms of version 1: frames in, frames out. No I/O.

Everything is drawn once, for version 1, and translated to the draft here. Frames are plain data, as on the wire.
"""

from __future__ import annotations

import base64
import difflib
from collections.abc import Iterator
from typing import Any

Frame = dict[str, Any]
MAIN_PLAN = "main"


def updates(update: Frame) -> Iterator[Frame]:
    """The draft's form of a version 1 update; empty for what the draft reports differently."""
    kind = update["sessionUpdate"]
    match kind:
        case "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk":
            yield {**update, "messageId": update.get("messageId") or f"{kind}-0"}
        case "tool_call" | "tool_call_update":
            yield from _terminal_updates(update)
            yield {**tool_call(update), "sessionUpdate": "tool_call_update"}
        case "plan":
            plan = {"type": "items", "planId": MAIN_PLAN, "entries": update["entries"]}
            yield {"sessionUpdate": "plan_update", "plan": plan}
        case "current_mode_update":
            return  # the option has it
        case "config_option_update":
            yield {**update, "configOptions": options(update["configOptions"])}
        case "available_commands_update":
            yield {**update, "availableCommands": [_command(one) for one in update["availableCommands"]]}
        case _:
            yield update


def _command(command: Frame) -> Frame:
    wants = {"input": {"type": "text", **command["input"]}} if command.get("input") else {}
    return {"type": "command", **command, **wants}


def tool_call(call: Frame) -> Frame:
    """A call, or a change of one."""
    told = (call.get("_meta") or {}).get("quarterdeck") or {}
    made = dict(call)
    if call.get("content"):
        made["content"] = [_content(one) for one in call["content"]]
    if call.get("status") == "failed" and (told.get("status") == "interrupted" or told.get("taskStatus") == "stopped"):
        made["status"] = "cancelled"
    if told.get("background") and told.get("taskId"):
        made["capabilities"] = {"cancel": {}}
    elif call.get("status") in ("completed", "failed"):
        made["capabilities"] = None
    return made


def _content(content: Frame) -> Frame:
    if content["type"] != "diff":
        return content
    path, old, new = content["path"], content.get("oldText"), content["newText"]
    operation = "add" if old is None else "modify"
    change = {"operation": operation, "path": path, "fileType": "text"}
    return {"type": "diff", "changes": [change], "patch": {"format": "git_patch", "text": _patch(path, old, new)}}


def _patch(path: str, old: str | None, new: str) -> str:
    before = "/dev/null" if old is None else path
    head = f"diff --git {path} {path}\n" + ("new file mode 100644\n" if old is None else "")
    lines = difflib.unified_diff((old or "").splitlines(), new.splitlines(), before, path, lineterm="")
    return head + "".join(f"{line}\n" for line in lines)


def _terminal_updates(update: Frame) -> Iterator[Frame]:
    """A command's output has separate updates in the draft."""
    meta = update.get("_meta") or {}
    if (info := meta.get("terminal_info")) is not None:
        command = update.get("title")
        yield {
            "sessionUpdate": "terminal_update",
            "terminalId": info["terminal_id"],
            "cwd": info["cwd"],
            "command": command,
        }
    if (output := meta.get("terminal_output")) is not None and output["data"]:
        data = base64.b64encode(output["data"].encode("utf-8", "replace")).decode()
        yield {"sessionUpdate": "terminal_output_chunk", "terminalId": output["terminal_id"], "data": data}
    if (ended := meta.get("terminal_exit")) is not None:
        status = {"exitCode": ended["exit_code"], "signal": ended["signal"]}
        yield {"sessionUpdate": "terminal_update", "terminalId": ended["terminal_id"], "exitStatus": status}


def permission_request(request: Frame) -> Frame:
    call = tool_call(request["toolCall"])
    subject = {"type": "tool_call", "toolCall": call}
    return {
        "sessionId": request["sessionId"],
        "title": call.get("title") or "Allow this?",
        "subject": subject,
        "options": request["options"],
    }


def options(given: list[Frame]) -> list[Frame]:
    """``id`` is ``configId`` in the draft."""
    return [{"configId": one["id"], **{key: value for key, value in one.items() if key != "id"}} for one in given]


def opened(answer: Frame) -> Frame:
    """The answer to what makes or opens a session: modes are options there."""
    made = {key: value for key, value in answer.items() if key not in ("modes", "configOptions")}
    return {**made, "configOptions": options(answer.get("configOptions") or [])}


def initialized(answer: Frame) -> Frame:
    """The answer to ``initialize``. What version 1 says with true, the draft says with an object."""
    given = answer["agentCapabilities"]
    session = {key: value for key, value in given["sessionCapabilities"].items() if key not in _BASELINE}
    session["prompt"] = {"image": {}, "embeddedContext": {}}
    session["mcp"] = {"stdio": {}, "http": {}}
    auth = {key: value for key, value in given["auth"].items() if key == "status"}
    methods = [{"type": "agent", **_renamed(one)} for one in answer["authMethods"]]
    return {
        "protocolVersion": 2,
        "info": answer["agentInfo"],
        "capabilities": {"session": session, "auth": auth, "providers": given["providers"]},
        "authMethods": methods,
    }


_BASELINE = frozenset({"list", "resume", "close"})
"""In the draft every agent has these."""


def _renamed(method: Frame) -> Frame:
    return {"methodId": method["id"], **{key: value for key, value in method.items() if key != "id"}}
