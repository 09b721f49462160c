"""Review a plan before it is carried out (permission mode ``plan``, the tool ``ExitPlanMode``).

Return ``Approve()``, ``Revise("what to change")`` or ``Reject()``.
"""

import asyncio

from _where import HOST
from quarterdeck import Approve, ClaudeAgentOptions, Plan, Revise, ToolPermissionContext, connect

reviews = 0


async def review(plan: Plan, context: ToolPermissionContext) -> Approve | Revise:
    global reviews
    reviews += 1
    print("a plan:", "with text" if plan.text else "without text")
    if reviews == 1:
        return Revise("Please add a step that runs the tests.")
    return Approve(mode="acceptEdits")  # and edit files without asking from here on


async def main() -> None:
    async with connect(ClaudeAgentOptions(permission_mode="plan", on_plan=review), host=HOST) as session:
        print((await session.prompt("Plan how to add a greeting.")).result)


asyncio.run(main())
