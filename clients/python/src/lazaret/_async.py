# SPDX-License-Identifier: MIT
"""Sessions for programs with asyncio."""

import asyncio
import inspect
import weakref
from typing import Any, Dict, Iterable, List, Optional

from ._execution import CALLS, ApproveCallback, Execution, OutputCallback, request
from ._results import LazaretError, RequestFailed, Result, SetupFailed
from ._server import FINAL, Deliver, Message, Server, answer_of, default_server
from ._session import ToolLike, open_session
from ._tools import make_tools

_Tasks = Dict[int, "asyncio.Task[None]"]


class _Inbox:
    """Messages for a coroutine, put in by the thread that reads."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: "asyncio.Queue[Message]" = asyncio.Queue()
        self.get = self._queue.get

    def put(self, message: Message) -> None:
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, message)
        except RuntimeError:
            pass  # the loop is closed, and nobody waits


async def _call(server: Server, message: Message) -> Message:
    inbox = _Inbox()
    number = server.send(message, inbox.put)
    try:
        return answer_of(await inbox.get())
    except BaseException:
        server.abandon(number)
        raise


async def _call_tool(execution: Execution, message: Message) -> None:
    call: int = message["call"]
    try:
        value = execution.call(message)
        if inspect.isawaitable(value):
            value = await value
    except asyncio.CancelledError as error:
        execution.answer_error(call, error)  # ignored if the server has cancelled the call
        raise
    except Exception as error:
        execution.answer_error(call, error)
        return
    execution.answer_value(message, value)


class _Run:
    """The messages of one execution."""

    def __init__(self, execution: Execution, output: Optional[OutputCallback]) -> None:
        self._execution = execution
        self._output = output
        self._inbox = _Inbox()
        self._tasks: _Tasks = {}
        self._last: Message = {"type": ""}

    def _deliverer(self) -> Deliver:
        def deliver(message: Message) -> None:
            if self._execution.accepts(message):
                self._inbox.put(message)
        return deliver

    async def run(self, message: Message, check: bool) -> Result:
        """Execute. Cancellation ends the code, and is raised after its result has come."""
        number = self._execution.server.send(message, self._deliverer())
        try:
            while self._last["type"] not in FINAL:
                self._last = await self._inbox.get()
                await self._handle(self._last)
        except BaseException:
            self._execution.cancel(number)
            while self._last["type"] not in FINAL:
                self._last = await self._inbox.get()
            raise
        finally:
            await self._end_tasks()
        return self._execution.finish(self._last, check)

    async def _handle(self, message: Message) -> None:
        kind = message["type"]
        if kind == "output" and self._output:
            waits = self._output(*self._execution.take_output(message))
            if inspect.isawaitable(waits):
                await waits
        elif kind in CALLS:
            task = asyncio.ensure_future(_call_tool(self._execution, message))
            self._tasks[message["call"]] = task
            task.add_done_callback(lambda _: self._tasks.pop(message["call"], None))
        elif kind == "tool_cancelled" and message["call"] in self._tasks:
            self._tasks[message["call"]].cancel()

    async def _end_tasks(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class AsyncSession:
    """A session in asyncio; as Session, but its methods are coroutines.

    Tools can be coroutine functions. Each call is a task, and several run at once. A tool that is
    a plain function runs on the loop, and holds it up as long as it runs. So can `approve`.

    Opened by `async with`, by `await session.open()`, or by its first use.
    """

    def __init__(self, runtime: Optional[str] = "python", tools: Iterable[ToolLike] = (),
                 server: Optional[Server] = None, warm: bool = True,
                 approve: Optional[ApproveCallback] = None) -> None:
        self._approve = approve
        self._tools = make_tools(tools, allow_async=True)
        self._message = open_session(runtime, self._tools, warm)
        self._server = server
        self._where: Optional[Dict[str, int]] = None
        self._opening: Optional["asyncio.Lock"] = None
        self._finalizer: Any = None
        self._is_closed = False
        self.name = ""

    async def open(self) -> "AsyncSession":
        """Open the session, unless it is open."""
        if self._is_closed:
            raise LazaretError("this session is closed")
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._where is None:
                if self._server is None:
                    loop = asyncio.get_running_loop()
                    self._server = await loop.run_in_executor(None, default_server)
                try:
                    opened = await _call(self._server, self._message)
                except RequestFailed as error:
                    raise SetupFailed(str(error)) from error
                self._where = {"session": opened["session"]}
                self.name = opened.get("name", "")
                # A session that is no longer used must not keep its processes.
                self._finalizer = weakref.finalize(
                    self, self._server.post, {"type": "close", **self._where})
                self._finalizer.atexit = False
        return self

    async def _request(self, kind: str, **members: Any) -> Message:
        await self.open()
        assert self._server is not None and self._where is not None
        return await _call(self._server, {"type": kind, **self._where, **members})

    async def execute(self, code: str, timeout: Optional[float] = None,
                      deadline: Optional[float] = None, max_tool_calls: Optional[int] = None,
                      output: Optional[OutputCallback] = None, check: bool = True) -> Result:
        """Run code and wait for its result: see Session.execute.

        `output` can be a coroutine function. Cancelling the task cancels the execution; the task
        ends when the code has ended.
        """
        await self.open()
        assert self._server is not None and self._where is not None
        message = request(code, self._where, timeout, deadline, max_tool_calls,
                          output is not None, self._approve is not None)
        execution = Execution(self._server, self._tools, self._approve)
        return await _Run(execution, output).run(message, check)

    async def restart(self) -> None:
        """Give the session a fresh interpreter: what code has defined is gone."""
        await self._request("restart")

    async def describe(self) -> Message:
        """What the server says of it: `text`, a line for people, and more."""
        return await self._request("describe")

    async def tools(self) -> List[Dict[str, Any]]:
        """The tools that code can call, as the server declares them."""
        return list((await self.describe()).get("tools") or ())

    async def search_tools(self, words: str, limit: int = 10) -> List[Dict[str, Any]]:
        """The tools that fit these words best: see Session.search_tools."""
        return list((await self._request("search", words=words, limit=limit))["tools"])

    async def is_alive(self) -> bool:
        """Has the session an interpreter, or is one being started?"""
        try:
            return bool((await self.describe()).get("alive"))
        except LazaretError:
            return False

    async def close(self) -> None:
        """Close the session; what it executes is cancelled. Can be called more than once."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._where is None or self._server is None or not self._server.is_alive:
            return
        if self._finalizer is not None:
            self._finalizer.detach()
        try:
            await _call(self._server, {"type": "close", **self._where})
        except LazaretError:
            pass  # the server has ended meanwhile, and the session with it

    async def __aenter__(self) -> "AsyncSession":
        return await self.open()

    async def __aexit__(self, *args: object) -> None:
        await self.close()
