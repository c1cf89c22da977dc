# SPDX-License-Identifier: MIT
"""Sessions for programs with asyncio."""

import asyncio
import inspect
import os
import weakref
from typing import (
    Any,
    Awaitable,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    TypeVar,
    Union,
)

from ._commands import Completed, Word, code_of, completed
from ._execution import (
    CALLS,
    EVENTS,
    ApproveCallback,
    Execution,
    OutputCallback,
    ProgressCallback,
    request,
)
from ._files import Data, Files, Input, add_files, parts_of, too_large, with_input
from ._results import LazaretError, RequestFailed, Result, SetupFailed
from ._rules import (Credentials, Hook, Limits, Network, Rules, check_server, network_of,
                     settings_of)
from ._server import FINAL, Message, Server, answer_of, default_server
from ._session import ToolLike, open_pool, open_session
from ._tools import Tool, make_tools

_Tasks = Dict[int, "asyncio.Task[None]"]
_Self = TypeVar("_Self", bound="_AsyncOpened")


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


async def _await_tool(execution: Execution, message: Message, value: Awaitable[Any]) -> None:
    try:
        execution.answer_value(message, await value)
    except asyncio.CancelledError as error:
        execution.answer_error(message, error)  # ignored if the server has cancelled the call
        raise
    except Exception as error:
        execution.answer_error(message, error)


def _call_tool(execution: Execution, message: Message) -> "Optional[asyncio.Task[None]]":
    """Call a tool; gives the task that waits for one that is not done yet."""
    try:
        value = execution.call(message)
    except (Exception, asyncio.CancelledError) as error:
        execution.answer_error(message, error)
        return None
    if inspect.isawaitable(value):
        return asyncio.ensure_future(_await_tool(execution, message, value))
    execution.answer_value(message, value)
    return None


class _Run:
    """The messages of one execution."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._inbox = _Inbox()
        self._tasks: _Tasks = {}
        self._last: Message = {"type": ""}

    async def run(self, message: Message, check: bool) -> Result:
        """Execute. Cancellation ends the code, and is raised after its result has come."""
        number = self._execution.send(message, self._inbox.put)
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
        if kind in EVENTS:
            waits = self._execution.notify(message)
            if inspect.isawaitable(waits):
                await waits
        elif kind in CALLS:
            task = _call_tool(self._execution, message)
            if task is not None:
                self._tasks[message["call"]] = task
                task.add_done_callback(lambda _: self._tasks.pop(message["call"], None))
        elif kind == "tool_cancelled" and message["call"] in self._tasks:
            self._tasks[message["call"]].cancel()

    async def _end_tasks(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _AsyncOpened:
    """What sessions and pools have in common: something that is open on a server.

    What is asked for by settings needs a server of its own, which is closed with it.
    """

    def __init__(self, kind: str, message: Message, tools: Dict[str, Tool],
                 server: Optional[Server], approve: Optional[ApproveCallback],
                 settings: Mapping[str, Any], rules: Rules) -> None:
        check_server(server, settings)
        self._settings = settings
        self._rules = rules
        self._own: Optional[Server] = None
        self._kind = kind  # "session" or "pool"
        self._message = message  # that opens it
        self._tools = tools
        self._server = server
        self._approve = approve
        self._where: Optional[Dict[str, int]] = None  # {"session": 1} or {"pool": 1}
        self._opening: Optional["asyncio.Lock"] = None
        self._finalizer: Any = None
        self._is_closed = False
        self.runtime: Optional[str] = message.get("runtime")
        self.name = ""

    @property
    def server(self) -> Optional[Server]:
        """Where it is open."""
        return self._server

    @property
    def declarations(self) -> List[Dict[str, Any]]:
        """The tools of this program that code can call, as they are declared to the server."""
        tools = {**(self._server.tools if self._server is not None else {}), **self._tools}
        return [tool.declaration for tool in tools.values()]

    async def open(self: _Self) -> _Self:
        """Open it, unless it is open."""
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._is_closed:
                raise LazaretError(f"this {self._kind} is closed")
            if self._where is None:
                await self._open()
        return self

    async def _open(self) -> None:
        server = self._server or await self._start()
        self._server = server
        try:
            opened = await _call(server, self._message)
        except BaseException as error:
            await self._close_own()
            if isinstance(error, RequestFailed):
                raise SetupFailed(str(error)) from error
            raise
        self._where = {self._kind: opened[self._kind]}
        self.name = opened.get("name", "")
        # What is no longer used must not keep its processes.
        self._finalizer = (
            weakref.finalize(self, self._own.end) if self._own is not None
            else weakref.finalize(self, server.post, {"type": "close", **self._where}))
        self._finalizer.atexit = False
        self._rules.say(f"{self._kind} started: {self.name}".rstrip(": "))

    async def _start(self) -> Server:
        """The server, where none was given."""
        loop = asyncio.get_running_loop()
        if not self._settings:
            return await loop.run_in_executor(None, default_server)
        starting = loop.run_in_executor(None, lambda: Server(settings=self._settings))
        try:
            self._own = await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(_close_started)
            raise
        return self._own

    async def _close_own(self) -> None:
        own, self._own = self._own, None
        if own is not None:
            self._server = None
            await asyncio.get_running_loop().run_in_executor(None, own.close)

    async def _request(self, kind: str, **members: Any) -> Message:
        await self.open()
        assert self._server is not None and self._where is not None
        return await _call(self._server, {"type": kind, **self._where, **members})

    async def _execute(self, message: Message, files: Optional[Files],
                       output: Optional[OutputCallback], on_progress: Optional[ProgressCallback],
                       check: bool) -> Result:
        await self.open()
        assert self._server is not None and self._where is not None
        execution = Execution(self._server, self._tools, self._approve, output, on_progress,
                              self._rules)
        blocked = self._rules.decide(await self._ask(message["code"]))
        if blocked is not None:
            return execution.checked(blocked, check)
        try:
            message = {**message, **self._where}
            if files and not await asyncio.get_running_loop().run_in_executor(
                    None, add_files, message, files, self._server):  # reading may take long
                await self._put_before(files)
            return await _Run(execution).run(message, check)
        finally:
            self._rules.release(execution.has_run)

    async def _ask(self, code: str) -> Any:
        """What the hook says of the code: see Rules.ask."""
        answer = self._rules.ask(code)
        if not inspect.isawaitable(answer):
            return answer
        try:
            return await answer
        except Exception as error:
            return self._rules.failed(error)

    async def _put_before(self, files: Files) -> None:
        """Put files that do not go with the code."""
        assert self._server is not None
        raise too_large(self._server)

    async def describe(self) -> Message:
        """What the server says of it: `text`, a line for people, and more."""
        return await self._request("describe")

    async def close(self) -> None:
        """Close it; what it executes is cancelled. Can be called more than once."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._opening is not None:
            async with self._opening:
                pass  # what is being opened is closed afterwards
        if self._where is None or self._server is None:
            return
        if self._finalizer is not None:
            self._finalizer.detach()
        if self._server.is_alive:
            try:
                await _call(self._server, {"type": "close", **self._where})
            except LazaretError:
                pass  # the server has ended meanwhile, and the session with it
        server = self._server
        await self._close_own()
        self._server = server
        self._rules.say(f"{self._kind} closed: {self.name}".rstrip(": "))

    async def __aenter__(self: _Self) -> _Self:
        return await self.open()

    async def __aexit__(self, *args: object) -> None:
        await self.close()


def _close_started(starting: "asyncio.Future[Server]") -> None:
    """A server has started that nobody waits for any more."""
    if not starting.cancelled() and starting.exception() is None:
        starting.get_loop().run_in_executor(None, starting.result().close)


class AsyncSession(_AsyncOpened):
    """A session in asyncio; as Session, but its methods are coroutines.

    Tools can be coroutine functions. Each call is a task, and several run at once. A tool that is
    a plain function runs on the loop, and holds it up as long as it runs. So can `approve` and
    `pre_execute_hook`.

    Opened by `async with`, by `await session.open()`, or by its first use.
    """

    def __init__(self, runtime: Optional[str] = "python", tools: Iterable[ToolLike] = (),
                 server: Optional[Server] = None, warm: bool = True,
                 approve: Optional[ApproveCallback] = None, *,
                 network: Optional[Network] = None, credentials: Optional[Credentials] = None,
                 files: Optional[Files] = None, limits: Optional[Limits] = None,
                 audit_log: Union[str, "os.PathLike[str]", None] = None,
                 sanitize_errors: bool = False, max_executions: Optional[int] = None,
                 pre_execute_hook: Optional[Hook] = None, verbose: bool = False) -> None:
        made = make_tools(tools, allow_async=True)
        super().__init__("session", open_session(runtime, made, warm, network, credentials),
                         made, server, approve,
                         settings_of(limits, audit_log, sanitize_errors),
                         Rules(max_executions, pre_execute_hook, verbose))
        self._files = dict(files or {})
        self._putting: Optional["asyncio.Lock"] = None

    async def _open(self) -> None:
        await super()._open()
        try:
            for name, data in self._files.items():
                await self._put(name, data)
        except BaseException:
            assert self._server is not None and self._where is not None
            self._finalizer.detach()
            self._server.post({"type": "close", **self._where})
            self._where = None  # the next use opens another one
            await self._close_own()
            raise

    async def _put(self, name: str, data: Data) -> None:
        assert self._server is not None and self._where is not None
        parts, loop = parts_of(name, data), asyncio.get_running_loop()
        while True:
            message: Optional[Message] = await loop.run_in_executor(  # reading may take long
                None, lambda: next(parts, None))
            if message is None:
                break
            await _call(self._server, {**message, **self._where})

    async def put_file(self, name: str, data: Data) -> None:
        """Put a file where the code starts: see Session.put_file."""
        await self.open()
        if self._putting is None:
            self._putting = asyncio.Lock()
        async with self._putting:
            await self._put(name, data)

    async def _put_before(self, files: Files) -> None:
        for name, data in files.items():
            await self.put_file(name, data)

    async def execute(self, code: str, timeout: Optional[float] = None,
                      deadline: Optional[float] = None, max_tool_calls: Optional[int] = None,
                      output: Optional[OutputCallback] = None, check: bool = True, *,
                      max_output_lines: Optional[int] = None,
                      on_progress: Optional[ProgressCallback] = None,
                      files: Optional[Files] = None, artifacts: bool = True, validate: bool = True,
                      max_code_length: Optional[int] = None, input: Optional[Input] = None,
                      invisible: bool = False, traceparent: Optional[str] = None,
                      tracestate: Optional[str] = None) -> Result:
        """Run code and wait for its result: see Session.execute.

        The callbacks can be coroutine functions. Cancelling the task cancels the execution; the
        task ends when the code has ended.
        """
        message = request(code, timeout, deadline, max_tool_calls, max_output_lines,
                          max_code_length, validate, artifacts, invisible,
                          traceparent=traceparent, tracestate=tracestate)
        return await self._execute(message, with_input(message, files, input), output, on_progress,
                                   check)

    async def run(self, args: Sequence[Word], input: Optional[Input] = None,
                  timeout: Optional[float] = None, cwd: Optional[Word] = None,
                  env: Optional[Mapping[str, Word]] = None, check: bool = False) -> Completed:
        """Run a command in a session of the runtime "shell" or "program": see Session.run."""
        message = request(code_of(self.runtime, args, cwd, env), timeout, None, None, None, None,
                          True, True, False)
        result = await self._execute(message, with_input(message, None, input), None, None, True)
        return completed(args, result, check)

    async def interrupt(self) -> None:
        """Interrupt what the session executes, if anything: see Session.interrupt."""
        await self._request("interrupt")

    async def set_network(self, allow: Network) -> None:
        """Change what code can reach by the network: see Session.set_network."""
        await self._request("set_network", allow=network_of(allow))

    async def restart(self) -> None:
        """Give the session a fresh interpreter: what code has defined is gone."""
        await self._request("restart")
        self._rules.say(f"session restarted: {self.name}")

    async def tools(self) -> List[Dict[str, Any]]:
        """The tools that code can call, as the server declares them: see Session.tools."""
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


class AsyncPool(_AsyncOpened):
    """A pool in asyncio: sessions that are kept ready; each execution gets a fresh one.

    All have the tools. Many executions can wait and run at once.
    """

    def __init__(self, runtime: Optional[str] = "python", size: Optional[int] = None,
                 tools: Iterable[ToolLike] = (), server: Optional[Server] = None,
                 approve: Optional[ApproveCallback] = None, *,
                 network: Optional[Network] = None, credentials: Optional[Credentials] = None,
                 limits: Optional[Limits] = None,
                 audit_log: Union[str, "os.PathLike[str]", None] = None,
                 sanitize_errors: bool = False, max_executions: Optional[int] = None,
                 pre_execute_hook: Optional[Hook] = None, verbose: bool = False) -> None:
        made = make_tools(tools, allow_async=True)
        super().__init__("pool", open_pool(runtime, size, made, network, credentials),
                         made, server, approve,
                         settings_of(limits, audit_log, sanitize_errors),
                         Rules(max_executions, pre_execute_hook, verbose))

    async def execute(self, code: str, timeout: Optional[float] = None,
                      deadline: Optional[float] = None, max_tool_calls: Optional[int] = None,
                      output: Optional[OutputCallback] = None, check: bool = True,
                      wait: Optional[float] = None, *, max_output_lines: Optional[int] = None,
                      on_progress: Optional[ProgressCallback] = None,
                      files: Optional[Files] = None, artifacts: bool = True, validate: bool = True,
                      max_code_length: Optional[int] = None, input: Optional[Input] = None,
                      invisible: bool = False, traceparent: Optional[str] = None,
                      tracestate: Optional[str] = None) -> Result:
        """Run code in a session of the pool: see Pool.execute and AsyncSession.execute."""
        message = request(code, timeout, deadline, max_tool_calls, max_output_lines,
                          max_code_length, validate, artifacts, invisible, wait, traceparent,
                          tracestate)
        return await self._execute(message, with_input(message, files, input), output, on_progress,
                                   check)

    async def status(self) -> Dict[str, int]:
        """How many sessions there are: see Pool.status."""
        return dict((await self.describe()).get("status") or {})
