"""Looking at messages that a conversation has left."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import pickle
import pprint
from typing import Any

from ._setup import reads, sdk, story


@reads
async def the_last_message_is_the_result() -> None:
    messages = await story()
    print(messages[-1].result, messages[-1].subtype)


@reads
async def the_first_message_is_init() -> None:
    first = (await story())[0]
    print(type(first).__name__, first.subtype, sorted(first.data))


@reads
async def class_names_in_order() -> None:
    print([type(message).__name__ for message in await story()])


@reads
async def exact_classes() -> None:
    for message in await story():
        print(
            type(message) is sdk.SystemMessage, type(message) is sdk.AssistantMessage, type(message) is sdk.UserMessage
        )


@reads
async def every_message_printed() -> None:
    for message in (await story())[1:]:
        print(message)


@reads
async def init_data() -> None:
    data = (await story())[0].data
    for key in (
        "type",
        "subtype",
        "cwd",
        "tools",
        "mcp_servers",
        "model",
        "permissionMode",
        "slash_commands",
        "apiKeySource",
    ):
        print(key, data[key])
    print(data.get("no_such_key"), "session_id" in data, isinstance(data, dict), type(data))


@reads
async def isinstance_chain() -> None:
    for message in await story():
        if isinstance(message, sdk.AssistantMessage):
            for block in message.content:
                if isinstance(block, sdk.TextBlock):
                    print("text", block.text)
                elif isinstance(block, sdk.ThinkingBlock):
                    print("thinking", block.thinking, block.signature)
                elif isinstance(block, sdk.ToolUseBlock):
                    print("tool", block.name, block.input, block.id)
        elif isinstance(message, sdk.UserMessage):
            for block in message.content:
                if isinstance(block, sdk.ToolResultBlock):
                    print("result", block.tool_use_id, block.content, block.is_error)
        elif isinstance(message, sdk.ResultMessage):
            print("cost", message.total_cost_usd is not None, message.num_turns)
        else:
            print("other", type(message).__name__)


@reads
async def match_by_keyword() -> None:
    for message in await story():
        match message:
            case sdk_system if isinstance(sdk_system, sdk.SystemMessage):
                print("system")
            case _ if isinstance(message, sdk.ResultMessage):
                print("result")
    text_block, tool_use, result = sdk.TextBlock, sdk.ToolUseBlock, sdk.ResultMessage
    from types import SimpleNamespace as Names

    names = Names(Text=text_block, Use=tool_use, Result=result, Assistant=sdk.AssistantMessage)
    for message in await story():
        match message:
            case names.Assistant(content=[names.Text(text=text)]):
                print("said", text)
            case names.Assistant(content=[names.Use(name=name, input={"command": command})]):
                print("runs", name, command)
            case names.Assistant(content=[names.Use(name=name), *_]):
                print("uses", name)
            case names.Result(subtype="success", result=text, is_error=False):
                print("done", text)


@reads
async def match_by_position() -> None:
    from types import SimpleNamespace as Names

    names = Names(
        Text=sdk.TextBlock,
        Use=sdk.ToolUseBlock,
        Result=sdk.ToolResultBlock,
        Think=sdk.ThinkingBlock,
        System=sdk.SystemMessage,
    )
    for message in await story():
        match message:
            case names.System(subtype, {"model": model}):
                print(subtype, model)
        content = getattr(message, "content", [])
        for block in content if isinstance(content, list) else []:
            match block:
                case names.Text(text):
                    print("text", text)
                case names.Use(id_, name, {"command": command}):
                    print("command", name, command, bool(id_))
                case names.Use(_, name, arguments):
                    print("use", name, arguments)
                case names.Result(_, content, is_error):
                    print("result", content, is_error)
                case names.Think(thought, _):
                    print("thought", thought)


@reads
async def getattr_with_defaults() -> None:
    for message in await story():
        print(
            getattr(message, "session_id", "none"), getattr(message, "uuid", "none"), getattr(message, "model", "none")
        )
        print(
            getattr(message, "parent_tool_use_id", "none"),
            getattr(message, "stop_reason", "none"),
            getattr(message, "error", "none"),
        )


@reads
async def hasattr_to_tell_messages_apart() -> None:
    names = (
        "content",
        "data",
        "subtype",
        "result",
        "model",
        "usage",
        "total_cost_usd",
        "event",
        "type",
        "message",
        "raw",
        "role",
        "id",
    )
    for message in await story():
        print(type(message).__name__, [name for name in names if hasattr(message, name)])


@reads
async def hasattr_to_tell_blocks_apart() -> None:
    names = (
        "text",
        "thinking",
        "name",
        "input",
        "id",
        "tool_use_id",
        "content",
        "is_error",
        "type",
        "signature",
        "source",
    )
    for message in await story():
        content = getattr(message, "content", [])
        for block in content if isinstance(content, list) else []:
            print(type(block).__name__, [name for name in names if hasattr(block, name)])


@reads
async def vars_of_messages() -> None:
    for message in (await story())[1:]:
        print(vars(message))
        print(sorted(message.__dict__))


@reads
async def asdict_of_messages() -> None:
    for message in (await story())[1:]:
        print(dataclasses.asdict(message))


@reads
async def astuple_of_blocks() -> None:
    for message in await story():
        content = getattr(message, "content", [])
        for block in content if isinstance(content, list) else []:
            print(dataclasses.astuple(block))


@reads
async def json_of_asdict() -> None:
    for message in (await story())[1:]:
        print(json.dumps(dataclasses.asdict(message), sort_keys=True))


@reads
async def json_of_usage() -> None:
    for message in await story():
        print(
            type(message).__name__,
            json.dumps(getattr(message, "usage", None)),
            json.dumps(getattr(message, "model_usage", None)),
        )


@reads
async def json_with_default_vars() -> None:
    for message in (await story())[1:]:
        print(json.dumps(message, default=lambda thing: thing.__dict__))


@reads
async def json_with_default_str() -> None:
    for message in (await story())[1:]:
        print(json.dumps({"message": message}, default=str))


@reads
async def json_of_a_message_itself_fails() -> None:
    for message in await story():
        try:
            json.dumps(message)
        except TypeError as error:
            print(error)


@reads
async def json_of_tool_results() -> None:
    for message in await story():
        if isinstance(message, sdk.UserMessage):
            print([json.dumps(block.content) for block in message.content if isinstance(block, sdk.ToolResultBlock)])
            print(json.dumps(message.tool_use_result))


@reads
async def tool_result_items_are_dicts() -> None:
    for message in await story():
        if isinstance(message, sdk.UserMessage):
            for block in message.content:
                if isinstance(block.content, list):
                    for item in block.content:
                        print(type(item).__name__, isinstance(item, dict), item["type"], item.get("text"), sorted(item))


@reads
async def permission_denials_are_dicts() -> None:
    for denial in (await story())[-1].permission_denials:
        print(isinstance(denial, dict), sorted(denial), denial["tool_name"], denial["tool_input"].get("content"))


@reads
async def usage_arithmetic() -> None:
    usage = (await story())[-1].usage
    total = usage["input_tokens"] + usage["output_tokens"] + usage.get("cache_read_input_tokens", 0)
    print(total, type(usage) is dict, usage.get("nothing", 7), list(usage)[:2])


@reads
async def model_usage_by_name() -> None:
    for model, usage in (await story())[-1].model_usage.items():
        print(model, sorted(usage), usage["inputTokens"], usage["outputTokens"], type(usage) is dict)


@reads
async def the_same_dict_each_time() -> None:
    for message in await story():
        for name in ("data", "usage", "content", "event", "model_usage", "permission_denials"):
            if name in vars(message):
                print(type(message).__name__, name, getattr(message, name) is getattr(message, name))


@reads
async def deepcopy_is_equal() -> None:
    for message in await story():
        copied = copy.deepcopy(message)
        print(copied == message, copied != message, copied is message, type(copied) is type(message))


@reads
async def shallow_copy_shares_content() -> None:
    for message in await story():
        copied = copy.copy(message)
        print(copied == message, getattr(copied, "content", 1) is getattr(message, "content", 1))


@reads
async def pickle_there_and_back() -> None:
    for message in await story():
        back = pickle.loads(pickle.dumps(message))
        print(back == message, repr(back) == repr(message), type(back) is type(message))


@reads
async def dataclass_fields_of_messages() -> None:
    for message in await story():
        print(
            type(message).__name__,
            dataclasses.is_dataclass(message),
            [field.name for field in dataclasses.fields(message)],
        )


@reads
async def replacing_a_field() -> None:
    result = (await story())[-1]
    changed = dataclasses.replace(result, result="something else")
    print(changed.result, result.result, changed == result, changed.session_id == result.session_id)


@reads
async def messages_cannot_be_hashed() -> None:
    for message in await story():
        try:
            {message}
        except TypeError as error:
            print(error)


@reads
async def sets_and_sorting_of_ids() -> None:
    messages = await story()
    print(len({message.session_id for message in messages if getattr(message, "session_id", None)}))
    ids = [
        block.id
        for message in messages
        if isinstance(message, sdk.AssistantMessage)
        for block in message.content
        if isinstance(block, sdk.ToolUseBlock)
    ]
    print(len(ids), len(set(ids)), sorted(ids) == sorted(set(ids)))


@reads
async def results_by_tool_use_id() -> None:
    messages = await story()
    calls = {
        block.id: block
        for message in messages
        if isinstance(message, sdk.AssistantMessage)
        for block in message.content
        if isinstance(block, sdk.ToolUseBlock)
    }
    for message in messages:
        if isinstance(message, sdk.UserMessage):
            for block in message.content:
                print(calls[block.tool_use_id].name, "->", block.is_error, block.content)


@reads
async def f_strings() -> None:
    for message in (await story())[1:]:
        print(f"{message}", f"{message!r}", str(message) == repr(message))


@reads
async def pretty_printed() -> None:
    for message in (await story())[1:]:
        pprint.pprint(message)


@reads
async def joined_text() -> None:
    messages = await story()
    print(
        "".join(
            block.text
            for message in messages
            if isinstance(message, sdk.AssistantMessage)
            for block in message.content
            if isinstance(block, sdk.TextBlock)
        )
    )


@reads
async def duck_typed_blocks() -> None:
    for message in await story():
        for block in getattr(message, "content", None) or []:
            if hasattr(block, "text"):
                print(block.text)
            elif hasattr(block, "name") and hasattr(block, "input"):
                print(block.name, dict(block.input))


@reads
async def class_name_dispatch() -> None:
    for message in await story():
        kind = message.__class__.__name__
        if kind == "SystemMessage" and message.subtype == "init":
            print("init")
        elif kind == "ResultMessage":
            print("result", message.is_error)
        elif kind != "SystemMessage":
            print(kind, [block.__class__.__name__ for block in message.content])


@reads
async def message_and_block_ids() -> None:
    for message in await story():
        if isinstance(message, sdk.AssistantMessage):
            print(
                message.message_id,
                message.uuid,
                message.session_id,
                message.parent_tool_use_id,
                message.stop_reason,
                message.error,
                message.model,
            )


@reads
async def user_messages_in_full() -> None:
    for message in await story():
        if isinstance(message, sdk.UserMessage):
            print(
                message.uuid is not None,
                message.parent_tool_use_id,
                type(message.tool_use_result).__name__,
                message.tool_use_result,
                message.origin,
            )


@reads
async def result_in_full() -> None:
    result = (await story())[-1]
    for field in dataclasses.fields(result):
        print(f"{field.name}={getattr(result, field.name)}")


@reads
async def equality_of_different_classes() -> None:
    messages = await story()
    print(
        messages[0] == messages[-1],
        messages[0] != messages[-1],
        messages[-1] == "text",
        messages[-1] is not None,
        messages[0] in messages,
    )


@reads
async def index_and_count() -> None:
    messages = await story()
    print(messages.index(messages[-1]) == len(messages) - 1, messages.count(messages[0]))


@reads
async def no_ordering() -> None:
    messages = await story()
    try:
        print(sorted(messages))
    except TypeError as error:
        print(error)


@reads
async def unknown_attributes() -> None:
    for message in await story():
        try:
            print(message.no_such_thing)
        except AttributeError as error:
            print(error)


@reads
async def dir_has_the_fields() -> None:
    for message in await story():
        print({field.name for field in dataclasses.fields(message)} - set(dir(message)))


@reads
async def bases_of_messages() -> None:
    for name in (
        "TaskStartedMessage",
        "TaskProgressMessage",
        "TaskNotificationMessage",
        "MirrorErrorMessage",
        "HookEventMessage",
        "TaskUpdatedMessage",
    ):
        print(name, issubclass(getattr(sdk, name), sdk.SystemMessage))


@reads
async def functions_with_message_annotations() -> None:
    def last(message: Any) -> str:
        return message.result or ""

    print(
        last((await story())[-1]),
        inspect.isclass(sdk.ResultMessage),
        sdk.ResultMessage.__name__,
        sdk.ResultMessage.__qualname__,
    )


@reads
async def filter_by_a_tuple_of_classes() -> None:
    kept = [message for message in await story() if isinstance(message, (sdk.AssistantMessage, sdk.ResultMessage))]
    print(len(kept), [type(message).__name__ for message in kept])


@reads
async def thinking_blocks() -> None:
    for message in await story():
        if isinstance(message, sdk.AssistantMessage):
            for block in message.content:
                if isinstance(block, sdk.ThinkingBlock):
                    print(block.thinking, bool(block.signature), block)


@reads
async def context_tokens_of_the_last_answer() -> None:
    answered = [message for message in await story() if isinstance(message, sdk.AssistantMessage) and message.usage]
    print(
        len(answered), answered[-1].usage["input_tokens"], type(answered[-1].usage) is dict, sorted(answered[-1].usage)
    )
