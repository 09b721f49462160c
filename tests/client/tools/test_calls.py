"""Running handlers: threads, failures, progress, logging, and cancellation from every side."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from client.tools.calling import WAIT_S, call, connected, error_of, notification, request, run, said, tools_call
from quarterdeck.client.tools import SdkMcpTool, ToolConnection, ToolContext, ToolServer, tool

CANCELLED = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32800, "message": "Request cancelled"}}


class Gate:
    """A tool whose handler says that it runs, and then waits to be let through."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()
        self.cancelled = False
        self.context: ToolContext | None = None

        @tool
        async def wait(context: ToolContext) -> str:
            self.context = context
            self.entered.set()
            try:
                await self.opened.wait()
            except asyncio.CancelledError:
                self.cancelled = True
                raise
            return "through"

        self.tool = wait


def test_a_plain_function_runs_in_a_thread_with_the_callers_context() -> None:
    who = contextvars.ContextVar("who", default="nobody")
    threads: list[int] = []

    @tool
    def work() -> str:
        threads.append(threading.get_ident())
        return who.get()

    who.set("me")
    assert said(call(work)) == "me"
    assert threads != [threading.get_ident()]


def test_a_plain_function_that_does_not_block_runs_where_it_is_called() -> None:
    @tool(blocking=False)
    def work() -> str:
        return str(threading.get_ident())

    assert said(call(work)) == str(threading.get_ident())


def test_a_blocking_handler_does_not_hold_up_others() -> None:
    release = threading.Event()

    @tool
    def block() -> str:
        return "released" if release.wait(WAIT_S) else "never released"

    @tool
    async def quick() -> str:
        release.set()
        return "quick"

    async def main(connection: ToolConnection, _: Any) -> Any:
        return await asyncio.gather(
            connection.handle(tools_call("block", request_id=1)), connection.handle(tools_call("quick", request_id=2))
        )

    first, second = connected(ToolServer("lab", tools=[block, quick]), main)
    assert (said(first["result"]), said(second["result"])) == ("released", "quick")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("no such city: Atlantis"), "no such city: Atlantis"),
        (RuntimeError(), "RuntimeError"),
        (ExceptionGroup("several", [ValueError("a")]), "several (1 sub-exception)"),
    ],
)
def test_an_exception_is_an_error_result_with_its_message_alone(error: Exception, message: str) -> None:
    @tool
    async def fail() -> None:
        raise error

    @tool
    def fail_in_thread() -> None:
        raise error

    assert error_of(call(fail)) == message
    assert error_of(call(fail_in_thread)) == message


def test_an_interrupt_of_the_program_is_not_swallowed() -> None:
    class Stop(BaseException):
        pass

    @tool
    async def fail() -> None:
        raise Stop

    with pytest.raises(Stop):
        call(fail)


def test_progress_is_sent_with_the_calls_token() -> None:
    @tool
    async def work(context: ToolContext) -> str:
        await context.progress(1, 3, "one of three")
        await context.progress(2.5)
        return "done"

    async def main(connection: ToolConnection, sent: list[Any]) -> None:
        answered = await connection.handle(tools_call("work"))
        assert answered is not None
        assert said(answered["result"]) == "done"
        assert sent == [
            notification(
                "notifications/progress", {"progressToken": 7, "progress": 1, "total": 3, "message": "one of three"}
            ),
            notification("notifications/progress", {"progressToken": 7, "progress": 2.5}),
        ]

    connected(ToolServer("lab", tools=[work]), main)


def test_progress_from_a_thread_arrives_before_the_answer() -> None:
    @tool
    def work(context: ToolContext) -> None:
        context.report(1, 2)
        context.report(2, 2)

    async def main(connection: ToolConnection, sent: list[Any]) -> None:
        await connection.handle(tools_call("work"))
        assert [message["params"]["progress"] for message in sent] == [1, 2]

    connected(ToolServer("lab", tools=[work]), main)


def test_progress_is_not_sent_when_nobody_asked_or_the_call_is_over() -> None:
    contexts: list[ToolContext] = []

    @tool
    async def work(context: ToolContext) -> None:
        await context.progress(1)
        contexts.append(context)

    async def main(connection: ToolConnection, sent: list[Any]) -> None:
        await connection.handle(request("tools/call", {"name": "work"}))
        await connection.handle(tools_call("work", progressToken="later"))
        for context in contexts:
            await context.progress(2)
        assert [message["params"] for message in sent] == [{"progressToken": "later", "progress": 1}]
        assert [context.tool_use_id for context in contexts] == [None, "toolu_1"]

    connected(ToolServer("lab", tools=[work]), main)


def test_log_messages_below_the_level_asked_for_are_not_sent() -> None:
    @tool
    async def work(context: ToolContext) -> None:
        context.log("info", "starting")
        context.log("error", {"code": 5})

    async def main(connection: ToolConnection, sent: list[Any]) -> None:
        await connection.handle(tools_call("work"))
        assert await connection.handle(request("logging/setLevel", {"level": "warning"})) == {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {},
        }
        await connection.handle(tools_call("work"))
        error = {"level": "error", "logger": "work", "data": {"code": 5}}
        assert [message["params"] for message in sent] == [
            {"level": "info", "logger": "work", "data": "starting"},
            error,
            error,
        ]
        assert {message["method"] for message in sent} == {"notifications/message"}

    connected(ToolServer("lab", tools=[work]), main)


def test_a_cancelled_call_stops_its_handler_and_is_answered_so() -> None:
    async def main() -> None:
        gate = Gate()
        connection = ToolServer("lab", tools=[gate.tool]).connect(lambda _: None)
        calling = asyncio.create_task(connection.handle(tools_call("wait")))
        await gate.entered.wait()
        assert await connection.handle(notification("notifications/cancelled", {"requestId": 1})) is None
        assert await calling == CANCELLED
        assert calling.cancelling() == 0  # the task goes on as if nothing had been
        assert gate.cancelled
        assert gate.context is not None
        assert gate.context.cancelled
        await connection.aclose()

    run(main())


def test_only_the_call_that_is_named_is_cancelled_and_only_on_its_own_connection() -> None:
    async def main() -> None:
        gate = Gate()
        server = ToolServer("lab", tools=[gate.tool])
        one, two = server.connect(lambda _: None), server.connect(lambda _: None)
        calls = [
            asyncio.create_task(one.handle(tools_call("wait", request_id=1))),
            asyncio.create_task(one.handle(tools_call("wait", request_id=2))),
            asyncio.create_task(two.handle(tools_call("wait", request_id=1))),
        ]
        await gate.entered.wait()
        await one.handle(notification("notifications/cancelled", {"requestId": 1, "reason": "enough"}))
        gate.opened.set()
        first, second, third = await asyncio.gather(*calls)
        assert first == CANCELLED
        assert second is not None
        assert third is not None
        assert (said(second["result"]), said(third["result"])) == ("through", "through")
        await one.aclose()
        await two.aclose()

    run(main())


def test_a_handler_that_finishes_all_the_same_is_answered_as_cancelled() -> None:
    async def main() -> None:
        entered = asyncio.Event()

        @tool
        async def stubborn() -> str:
            entered.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "I had nearly finished"
            return "not reached"

        connection = ToolServer("lab", tools=[stubborn]).connect(lambda _: None)
        calling = asyncio.create_task(connection.handle(tools_call("stubborn")))
        await entered.wait()
        await connection.handle(notification("notifications/cancelled", {"requestId": 1}))
        assert await calling == CANCELLED
        assert calling.cancelling() == 0
        await connection.aclose()

    run(main())


def test_a_handler_in_a_thread_sees_that_it_is_cancelled() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        entered = asyncio.Event()
        looked, may_look = asyncio.Event(), threading.Event()
        flags: list[bool] = []

        @tool
        def work(context: ToolContext) -> None:
            flags.append(context.cancelled)
            loop.call_soon_threadsafe(entered.set)
            may_look.wait(WAIT_S)
            flags.append(context.cancelled)
            loop.call_soon_threadsafe(looked.set)

        connection = ToolServer("lab", tools=[work]).connect(lambda _: None)
        calling = asyncio.create_task(connection.handle(tools_call("work")))
        await entered.wait()
        await connection.handle(notification("notifications/cancelled", {"requestId": 1}))
        assert await calling == CANCELLED
        may_look.set()
        await looked.wait()
        assert flags == [False, True]
        await connection.aclose()

    run(main())


def test_cancelling_the_task_cancels_the_handler_and_the_task() -> None:
    async def main() -> None:
        gate = Gate()
        connection = ToolServer("lab", tools=[gate.tool]).connect(lambda _: None)
        calling = asyncio.create_task(connection.handle(tools_call("wait")))
        await gate.entered.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert gate.cancelled
        again = asyncio.create_task(connection.handle(tools_call("wait")))  # the id is free again
        gate.opened.set()
        answered = await again
        assert answered is not None
        assert said(answered["result"]) == "through"
        await connection.aclose()

    run(main())


def test_a_task_cancelled_by_client_and_caller_at_once_stays_cancelled() -> None:
    async def main() -> None:
        gate = Gate()
        connection = ToolServer("lab", tools=[gate.tool]).connect(lambda _: None)
        calling = asyncio.create_task(connection.handle(tools_call("wait")))
        await gate.entered.wait()
        await connection.handle(notification("notifications/cancelled", {"requestId": 1}))
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await connection.aclose()

    run(main())


def test_a_handler_that_cancels_itself_is_an_error_result() -> None:
    @tool
    async def give_up() -> None:
        raise asyncio.CancelledError

    assert error_of(call(give_up)) == "Tool 'give_up' cancelled itself"


def test_closing_a_connection_cancels_its_calls_and_refuses_new_ones() -> None:
    async def main() -> None:
        gate = Gate()
        connection = ToolServer("lab", tools=[gate.tool]).connect(lambda _: None)
        calling = asyncio.create_task(connection.handle(tools_call("wait")))
        await gate.entered.wait()
        await connection.aclose()
        assert await calling == CANCELLED
        refused = await connection.handle(tools_call("wait"))
        assert refused is not None
        assert refused["error"] == {"code": -32600, "message": "the connection to server 'lab' is closed"}

    run(main())


def test_an_id_that_is_still_being_answered_is_refused() -> None:
    async def main() -> None:
        gate = Gate()
        connection = ToolServer("lab", tools=[gate.tool]).connect(lambda _: None)
        calling = asyncio.create_task(connection.handle(tools_call("wait")))
        await gate.entered.wait()
        refused = await connection.handle(tools_call("wait"))
        assert refused is not None
        assert refused["error"] == {"code": -32600, "message": "request 1 is still being answered"}
        gate.opened.set()
        answered = await calling
        assert answered is not None
        assert said(answered["result"]) == "through"
        await connection.aclose()

    run(main())


def test_many_calls_at_once_each_get_their_own_answer() -> None:
    @tool("double", "d", {"n": int})
    async def double(args: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return str(args["n"] * 2)

    async def main(connection: ToolConnection, _: Any) -> Any:
        calls = [connection.handle(tools_call("double", {"n": n}, request_id=n)) for n in range(500)]
        return await asyncio.gather(*calls)

    answers = connected(ToolServer("lab", tools=[double]), main)
    assert [(answer["id"], said(answer["result"])) for answer in answers] == [(n, str(2 * n)) for n in range(500)]


def test_a_running_call_survives_the_removal_of_its_tool() -> None:
    async def main() -> None:
        gate = Gate()
        server = ToolServer("lab", tools=[gate.tool])
        connection = server.connect(lambda _: None)
        calling = asyncio.create_task(connection.handle(tools_call("wait")))
        await gate.entered.wait()
        server.remove("wait")
        gate.opened.set()
        answered = await calling
        assert answered is not None
        assert said(answered["result"]) == "through"
        await connection.aclose()

    run(main())


def test_a_recursive_schema_that_never_ends_is_an_error_result() -> None:
    async def handler(args: Any) -> None: ...

    assert "recursion" in error_of(call(SdkMcpTool("t", "d", {"$ref": "#"}, handler)))
