"""Changing messages: redacting, annotating, trimming."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

from ._setup import a_copy_of_the_story, reads, sdk, show


@reads
async def text_is_redacted_in_place() -> None:
    messages = await a_copy_of_the_story()
    for message in messages:
        if isinstance(message, sdk.AssistantMessage):
            for block in message.content:
                if isinstance(block, sdk.TextBlock):
                    block.text = block.text.upper()
    show(messages[1:])


@reads
async def content_is_filtered() -> None:
    for message in await a_copy_of_the_story():
        if isinstance(message, sdk.AssistantMessage):
            message.content = [block for block in message.content if isinstance(block, sdk.ToolUseBlock)]
            print(len(message.content), message)


@reads
async def content_grows() -> None:
    message = next(one for one in await a_copy_of_the_story() if isinstance(one, sdk.AssistantMessage))
    message.content.append(sdk.TextBlock("appended"))
    print(message.content[-1], len(message.content))


@reads
async def usage_is_extended() -> None:
    result = (await a_copy_of_the_story())[-1]
    result.usage["note"] = "mine"
    result.usage.update(input_tokens=0)
    print(result.usage["note"], result.usage["input_tokens"], json.dumps(result.usage)[:30])


@reads
async def data_is_popped() -> None:
    init = (await a_copy_of_the_story())[0]
    print(init.data.pop("model") is not None, "model" in init.data, init.data.setdefault("mine", []), init.data["mine"])
    del init.data["tools"]
    print("tools" in init.data)


@reads
async def tool_input_is_changed() -> None:
    for message in await a_copy_of_the_story():
        if isinstance(message, sdk.AssistantMessage):
            for block in message.content:
                if isinstance(block, sdk.ToolUseBlock):
                    block.input["extra"] = True
                    block.input |= {"more": 1}
                    print(block)


@reads
async def result_text_is_replaced() -> None:
    result = (await a_copy_of_the_story())[-1]
    result.result, result.total_cost_usd, result.is_error = "changed", 1.5, True
    print(result.result, result.is_error, result)


@reads
async def attributes_are_added() -> None:
    for message in await a_copy_of_the_story():
        message.seen = True
        message.extra = {"by": "me"}
        print(message.seen, vars(message)["extra"], "seen" in repr(message))


@reads
async def attributes_are_deleted() -> None:
    message = (await a_copy_of_the_story())[-1]
    message.mine = 1
    del message.mine
    print(hasattr(message, "mine"))


@reads
async def setattr_in_a_loop() -> None:
    message = (await a_copy_of_the_story())[-1]
    for name, value in {"result": "r", "num_turns": 99, "stop_reason": None}.items():
        setattr(message, name, value)
    print(message.result, message.num_turns, message.stop_reason)


@reads
async def vars_update() -> None:
    message = (await a_copy_of_the_story())[-1]
    message.__dict__["result"] = "through the dict"
    message.__dict__.update(num_turns=7)
    print(message.result, message.num_turns)


@reads
async def changed_messages_are_unequal() -> None:
    ours, other = (await a_copy_of_the_story())[-1], (await a_copy_of_the_story())[-1]
    print(ours == other)
    ours.result = "else"
    print(ours == other, ours != other)


@reads
async def changed_messages_copy_and_pickle() -> None:
    message = next(one for one in await a_copy_of_the_story() if isinstance(one, sdk.AssistantMessage))
    message.content = [sdk.TextBlock("new")]
    message.note = "kept"
    for again in (copy.copy(message), copy.deepcopy(message), pickle.loads(pickle.dumps(message))):
        print(again.content, again.note, again == message)


@reads
async def denials_are_cleared() -> None:
    result = (await a_copy_of_the_story())[-1]
    result.permission_denials.clear()
    result.errors = ["mine"]
    print(result.permission_denials, result.errors)


@reads
async def subclassing_a_message() -> None:
    class Mine(sdk.TextBlock):
        def shout(self) -> str:
            return str(self.text).upper()

    block: Any = Mine("hey")
    print(block.shout(), isinstance(block, sdk.TextBlock), block)
