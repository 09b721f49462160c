"""``can_use_tool`` in the ways it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._setup import answers, ask, attempt, client, echo, program, prompts, sdk, show, tell, use, write

WRITE = ((write("a.txt"),), "Finished.")


async def _asked(callback: Any, **more: Any) -> None:
    show(await ask(prompts("Go."), can_use_tool=callback, **more))
    print("files:", sorted(path.name for path in Path().iterdir()))


@program(*WRITE)
async def allowed() -> None:
    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        print(tool, sorted(arguments), type(arguments).__name__)
        return sdk.PermissionResultAllow()

    await _asked(allow)


@program(*WRITE)
async def denied() -> None:
    async def deny(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        return sdk.PermissionResultDeny(message=f"{tool} is not wanted")

    await _asked(deny)


@program(*WRITE)
async def denied_without_a_word() -> None:
    async def deny(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        return sdk.PermissionResultDeny()

    await _asked(deny)


@program(*WRITE)
async def denied_with_interrupt() -> None:
    async def deny(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        return sdk.PermissionResultDeny(message="Stop.", interrupt=True)

    try:
        await _asked(deny)
    except Exception as error:  # noqa: BLE001
        tell(error)


@program(*WRITE)
async def the_input_is_changed() -> None:
    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        return sdk.PermissionResultAllow(updated_input={**arguments, "file_path": "b.txt"})

    await _asked(allow)


@program(*WRITE)
async def the_input_is_changed_in_place() -> None:
    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        arguments["content"] = "changed"
        arguments["file_path"] = "c.txt"
        return sdk.PermissionResultAllow(updated_input=arguments)

    await _asked(allow)
    print(Path("c.txt").read_text() if Path("c.txt").exists() else "none")


@program(*WRITE)
async def changed_in_place_without_saying_so() -> None:
    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        arguments["file_path"] = "d.txt"
        return sdk.PermissionResultAllow()

    await _asked(allow)


@program((write("a.txt"),), (write("b.txt"),), "Finished.")
async def suggestions_are_taken() -> None:
    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        print(
            tool,
            [(type(update).__name__, update.type, update.mode, update.destination) for update in context.suggestions],
        )
        return sdk.PermissionResultAllow(updated_permissions=context.suggestions)

    await _asked(allow)


@program(
    (use("Bash", command="mkdir one", description="Make"),),
    (use("Bash", command="mkdir two", description="Make"),),
    "Finished.",
)
async def a_rule_is_added() -> None:
    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        print("asked about", arguments["command"])
        rule = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"}
        return sdk.PermissionResultAllow(updated_permissions=[sdk.PermissionUpdate.from_dict(rule)])

    await _asked(allow)


@program(*WRITE)
async def the_context() -> None:
    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        print(
            type(context).__name__, context.tool_use_id, context.agent_id, context.blocked_path, context.decision_reason
        )
        print(context.title, context.display_name, context.description, len(context.suggestions), context.suggestions)
        return sdk.PermissionResultAllow()

    await _asked(allow)


@program(*WRITE)
async def a_callback_that_raises() -> None:
    async def broken(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        raise RuntimeError("the callback broke")

    await _asked(broken)


@program(*WRITE)
async def a_callback_that_returns_true() -> None:
    async def odd(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        return True

    await _asked(odd)


@program(*WRITE)
async def a_callback_that_returns_nothing() -> None:
    async def odd(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        return None

    await _asked(odd)


@program(*WRITE)
async def a_callback_that_returns_a_dict() -> None:
    async def odd(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        return {"behavior": "deny", "message": "as a dict"}

    await _asked(odd)


@program("Hello.", again=True)
async def a_string_prompt_with_a_callback() -> None:
    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        return sdk.PermissionResultAllow()

    show(await attempt(ask("Hello?", can_use_tool=allow)))


@program(*WRITE)
async def a_callable_object() -> None:
    class Guard:
        def __init__(self) -> None:
            self.seen: list[str] = []

        async def __call__(self, tool: str, arguments: dict[str, Any], context: Any) -> Any:
            self.seen.append(tool)
            return sdk.PermissionResultAllow()

        async def method(self, tool: str, arguments: dict[str, Any], context: Any) -> Any:
            return await self(tool, arguments, context)

    guard = Guard()
    await _asked(guard.method)
    print(guard.seen)


@program((echo("one"),), "First.", (write("x.txt"),), "Second.")
async def a_client_with_a_callback() -> None:
    seen: list[str] = []

    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        seen.append(tool)
        return sdk.PermissionResultAllow() if tool != "Write" else sdk.PermissionResultDeny("deny", "no")

    async with client(can_use_tool=allow) as session:
        show(await answers(session, "One."))
        show(await answers(session, "Two."))
    print(seen)


@program(*WRITE)
async def accept_edits() -> None:
    show(await ask("Go.", permission_mode="acceptEdits"))
    print(Path("a.txt").exists())


@program(*WRITE)
async def plan_mode() -> None:
    show(await ask("Go.", permission_mode="plan"))
    print(Path("a.txt").exists())


@program(*WRITE)
async def default_mode_without_a_callback() -> None:
    messages = await ask("Go.")
    show(messages)
    print(messages[-1].permission_denials)


@program(*WRITE)
async def disallowed_tools() -> None:
    messages = await ask("Go.", disallowed_tools=["Write"], permission_mode="acceptEdits")
    show(messages)
    print("Write" in messages[0].data["tools"])
