"""What it costs: by turn and by model, right after a resume too.

A result's ``total_cost_usd`` is a running total; ``session.costs`` keeps the differences. At list prices, as the CLI
counts: with a subscription nobody is charged this.
"""

import asyncio

from _where import HOST
from quarterdeck import connect


async def main() -> None:
    async with connect(host=HOST) as session:
        for question in ("Say one.", "Say two."):
            result = await session.prompt(question)
            turn = session.costs.last
            print(result.result, "cost something:", turn.cost_usd > 0)
            if turn.usage is not None:
                print("  tokens:", turn.usage.input_tokens, "in,", turn.usage.output_tokens, "out")
        for model, usage in session.costs.by_model.items():
            print(model, "wrote", usage.output_tokens, "tokens")
        print("adds up:", abs(session.costs.total_usd - (result.total_cost_usd or 0)) < 1e-9)


asyncio.run(main())
