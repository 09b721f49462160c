"""Prompts from a stream, one of them with an image; the session ends when the stream does and the work is done.

A prompt is a text, or a list of content blocks. For prompts that depend on answers use a session and ``prompt()``.
"""

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

from _where import HOST
from quarterdeck import ResultMessage, connect

RED_DOT = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde"
    b"\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82"
).decode()


async def prompts() -> AsyncIterator[str | list[dict[str, Any]]]:
    yield "Say hello."
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": RED_DOT}}
    yield [{"type": "text", "text": "Which colour is this dot?"}, image]


async def main() -> None:
    async with connect(host=HOST) as session:
        session.stream_in_background(prompts())
        async for message in session.messages():
            if isinstance(message, ResultMessage):
                print(message.result)


asyncio.run(main())
