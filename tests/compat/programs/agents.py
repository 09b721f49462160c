"""An agent of our own for a part of the work."""

import asyncio

from _setup import options, sdk, show

AGENTS = {
    "reviewer": sdk.AgentDefinition(
        description="Reviews code", prompt="You review code.", tools=["Read", "Grep"], model="sonnet"
    ),
    "tester": sdk.AgentDefinition(description="Writes tests", prompt="You write tests."),
}


async def main() -> None:
    async with sdk.ClaudeSDKClient(options=options(agents=AGENTS)) as client:
        info = await client.get_server_info()
        print(sorted(agent["name"] for agent in info["agents"] if agent["name"] in AGENTS))
        await client.query("Have the code reviewed.")
        async for message in client.receive_response():
            if isinstance(message, sdk.AssistantMessage) and message.parent_tool_use_id:
                print("  (from the agent)")
            if isinstance(message, sdk.TaskStartedMessage):
                print("  task started:", message.description, message.task_type)
            if isinstance(message, sdk.TaskNotificationMessage):
                print("  task ended:", message.status)
            if not isinstance(message, sdk.UserMessage):
                show(message)


asyncio.run(main())
