"""Logging and warnings."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._setup import answers, ask, chat, client, program, prompts, sdk, show, write


@contextmanager
def _logged(level: int = logging.WARNING) -> Iterator[list[logging.LogRecord]]:
    records: list[logging.LogRecord] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    logger, handler = logging.getLogger(os.environ["SDK"]), Keep(level)
    logger.addHandler(handler)
    try:
        yield records
    finally:
        logger.removeHandler(handler)


@chat
async def a_turn_logs_nothing() -> None:
    with _logged() as records:
        await ask()
        async with client() as session:
            await answers(session, "Hello?")
    print([(record.levelname, record.getMessage()) for record in records])


@chat
async def a_turn_warns_of_nothing() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        await ask()
    print([(warning.category.__name__, str(warning.message)) for warning in caught])


@program((write("a.txt"),), "Finished.")
async def an_allow_list_shadows_the_callback() -> None:
    async def allow(tool: str, arguments: dict[str, Any], context: Any) -> Any:
        return sdk.PermissionResultAllow()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        show(await ask(prompts("Go."), can_use_tool=allow, allowed_tools=["Write"]))
    print([warning.category.__name__ for warning in caught])


@chat
async def a_failing_prompt_stream_is_logged() -> None:
    async def broken() -> Any:
        async for line in prompts("First."):
            yield line
        raise ValueError("no more prompts")

    with _logged() as records:
        show([message async for message in sdk.query(prompt=broken(), options=client().options)])
    print([record.levelname for record in records])


@chat
async def a_failing_stderr_callback() -> None:
    def broken(line: str) -> None:
        raise ValueError("the callback broke")

    show(await ask(stderr=broken, extra_args={"debug-to-stderr": None}))
