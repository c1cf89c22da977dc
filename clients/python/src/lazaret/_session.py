# SPDX-License-Identifier: MIT
"""Sessions and pools for programs without asyncio."""

import os
import threading
import weakref
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from ._commands import Completed, Word, code_of, completed
from ._execution import (
    ApproveCallback,
    Execution,
    OutputCallback,
    ProgressCallback,
    request,
    run,
)
from ._files import (
    FILE_ERRORS,
    Data,
    Files,
    Input,
    add_files,
    parts_of,
    too_large,
    with_input,
)
from ._results import LazaretError, RequestFailed, Result, SetupFailed
from ._rules import (Credentials, Hook, Limits, Network, Rules, check_server, credentials_of,
                     network_of, settings_of)
from ._server import Message, Server, default_server
from ._tools import Tool, make_tools

ToolLike = Union[Tool, Callable[..., Any]]


def open_session(runtime: Optional[str], tools: Mapping[str, Tool], warm: bool,
                 network: Optional[Network], credentials: Optional[Credentials]) -> Message:
    """The message `open`."""
    message: Message = {"type": "open", "warm": warm}
    if network is not None:
        message["network"] = network_of(network)
    if credentials is not None:
        message["credentials"] = credentials_of(credentials)
    if runtime is not None:
        message["runtime"] = runtime
    if tools:
        message["tools"] = [tool.declaration for tool in tools.values()]
    return message


def open_pool(runtime: Optional[str], size: Optional[int], tools: Mapping[str, Tool],
              network: Optional[Network], credentials: Optional[Credentials]) -> Message:
    """The message `open_pool`."""
    message: Message = {"type": "open_pool"}
    if network is not None:
        message["network"] = network_of(network)
    if credentials is not None:
        message["credentials"] = credentials_of(credentials)
    if runtime is not None:
        message["runtime"] = runtime
    if tools:
        message["tools"] = [tool.declaration for tool in tools.values()]
    if size is not None:
        message["members"] = size
    return message


class _Opened:
    """What sessions and pools have in common: something that is open on a server.

    What is asked for by settings needs a server of its own, which is closed with it.
    """

    def __init__(self, kind: str, message: Message, tools: Dict[str, Tool],
                 server: Optional[Server], approve: Optional[ApproveCallback],
                 settings: Mapping[str, Any], rules: Rules) -> None:
        check_server(server, settings)
        self._approve = approve
        self._rules = rules
        self._tools = tools
        self._is_closed = False
        self._own = Server(settings=settings) if settings else None
        self.server = server or self._own or default_server()
        try:
            opened = self.server.call(message)
        except BaseException as error:
            self._close_own()
            if isinstance(error, RequestFailed):
                raise SetupFailed(str(error)) from error
            raise
        self._where = {kind: opened[kind]}  # {"session": 1} or {"pool": 1}
        self.name: str = opened.get("name", "")
        # What is no longer used must not keep its processes.
        self._finalizer = (
            weakref.finalize(self, self._own.end) if self._own is not None
            else weakref.finalize(self, self.server.post, {"type": "close", **self._where}))
        self._finalizer.atexit = False
        self._rules.say(f"{kind} started: {self.name}".rstrip(": "))

    def _close_own(self) -> None:
        if self._own is not None:
            self._own.close()

    @property
    def declarations(self) -> List[Dict[str, Any]]:
        """The tools of this program that code can call, as they were declared to the server."""
        tools = {**self.server.tools, **self._tools}
        return [tool.declaration for tool in tools.values()]

    def _check_open(self) -> None:
        self.server.check_process()
        if self._is_closed:
            raise LazaretError(f"this {next(iter(self._where))} is closed")

    def _execute(self, message: Message, files: Optional[Files], output: Optional[OutputCallback],
                 on_progress: Optional[ProgressCallback], check: bool) -> Result:
        self._check_open()
        execution = Execution(self.server, self._tools, self._approve, output, on_progress,
                              self._rules)
        blocked = self._rules.decide(self._rules.ask(message["code"]))
        if blocked is not None:
            return execution.checked(blocked, check)
        try:
            message = {**message, **self._where}
            if files and not add_files(message, files, self.server):
                self._put_before(files)
            return run(execution, message, check)
        finally:
            self._rules.release(execution.has_run)

    def _put_before(self, files: Files) -> None:
        """Put files that do not go with the code."""
        raise too_large(self.server)

    def describe(self) -> Message:
        """What the server says of it: `text`, a line for people, and more."""
        self._check_open()
        return self.server.call({"type": "describe", **self._where})

    def close(self) -> None:
        """Close it; what it executes is cancelled. Can be called more than once."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._finalizer.detach() and self.server.is_alive:
            try:
                self.server.call({"type": "close", **self._where})
            except LazaretError:
                pass  # the server has ended meanwhile, and the session with it
        self._close_own()
        self._rules.say(f"{next(iter(self._where))} closed: {self.name}".rstrip(": "))


class Session(_Opened):
    """A session: what code defines is there for the code that is executed next.

    runtime: the language, as "python", "r", "javascript" or "lua"
    tools: functions that the code can call
    server: where it runs; otherwise the default server, which is started when it is needed
    warm: may it start from a template, which is faster?
    approve: decides on calls of tools that need an approval: called with an Approval, on the thread
        of `execute`, and only True allows the call. Without it such calls are refused. The text of
        a ToolError that it raises is the reason.
    network: what code can reach by the network, in place of the server's list: rules such as
        "https://api.example.com", "db.example.com:5432", or {"host": "db.internal:5432", "to":
        ["10.0.0.0/8"]}; an empty list: nothing
    credentials: what its requests are authenticated with, which code does not see, in place of
        those of the server: their names, or {"host": "api.example.com", "header": "Authorization:
        Bearer {secret}", "secret": {"value": token}}; an empty list: nothing. A server of another
        machine takes names alone
    files: what `put_file` puts before the first code, by name
    limits: what the sandbox may use up, as {"cpu": 30, "memory": "1GiB"}: names of `[limits]`, with
        numbers or texts, math.inf for no limit. The others keep their defaults
    audit_log: a file to which records of what happens are appended, as `audit.md` has it
    sanitize_errors: are paths, host names and process ids removed from messages of errors?
    max_executions: of it; what is blocked or cannot be parsed does not count
    pre_execute_hook: called with the code of each execution; False, or an exception, blocks it
    verbose: is what happens written to standard error?

    With limits, audit_log or sanitize_errors it has a server of its own. One execution at a time
    runs in a session. Many sessions can be used from many threads.
    """

    def __init__(self, runtime: Optional[str] = "python", tools: Iterable[ToolLike] = (),
                 server: Optional[Server] = None, warm: bool = True,
                 approve: Optional[ApproveCallback] = None, *,
                 network: Optional[Network] = None, credentials: Optional[Credentials] = None,
                 files: Optional[Files] = None, limits: Optional[Limits] = None,
                 audit_log: Union[str, "os.PathLike[str]", None] = None,
                 sanitize_errors: bool = False, max_executions: Optional[int] = None,
                 pre_execute_hook: Optional[Hook] = None, verbose: bool = False) -> None:
        made = make_tools(tools, allow_async=False)
        super().__init__("session", open_session(runtime, made, warm, network, credentials),
                         made, server, approve,
                         settings_of(limits, audit_log, sanitize_errors),
                         Rules(max_executions, pre_execute_hook, verbose))
        self.runtime = runtime
        self._putting = threading.Lock()
        try:
            for name, data in (files or {}).items():
                self.put_file(name, data)
        except BaseException:
            self.close()
            raise

    def put_file(self, name: str, data: Data) -> None:
        """Put a file where the code starts: bytes, or the file that has this path.

        The session must be idle. A file of this name is replaced. Files belong to the sandbox: they
        have to be put again after `restart`, and when a result has `replaced`.
        """
        self._check_open()
        with self._putting:  # the parts of one file are not mixed with those of another
            for message in parts_of(name, data):
                self.server.call({**message, **self._where})

    def _put_before(self, files: Files) -> None:
        for name, data in files.items():
            self.put_file(name, data)

    def execute(self, code: str, timeout: Optional[float] = None,
                deadline: Optional[float] = None, max_tool_calls: Optional[int] = None,
                output: Optional[OutputCallback] = None, check: bool = True, *,
                max_output_lines: Optional[int] = None,
                on_progress: Optional[ProgressCallback] = None, files: Optional[Files] = None,
                artifacts: bool = True, validate: bool = True,
                max_code_length: Optional[int] = None, input: Optional[Input] = None,
                invisible: bool = False, traceparent: Optional[str] = None,
                tracestate: Optional[str] = None) -> Result:
        """Run code and wait for its result.

        timeout: seconds that the code may run, without the time of its tools
        deadline: seconds of the whole execution
        max_tool_calls: calls of tools; one more ends the execution
        output: called with the stream ("stdout" or "stderr") and each piece of output
        check: raise an exception unless the verdict is "ok"
        max_output_lines: lines of output that are kept
        on_progress: called about once a second with a Progress; with fewer if it is slow
        files: are put before the code runs, as `put_file` puts them; if one cannot be, nothing runs
        artifacts: are the bytes of artifacts wanted? The result lists them in any case
        validate: is the code looked at for calls that are worth a warning?
        max_code_length: characters of the code; a longer one is blocked
        input: what the code reads on its standard input, text or bytes: a file ".stdin", put as
            `files` are. Without it there is nothing to read
        invisible: is the value wanted where the language would not print it, as of an assignment in R?
        traceparent, tracestate: the trace that it belongs to, as W3C Trace Context has it: for its
            span, its tools and the audit log

        The server has limits of its own, which a call can only make narrower.

        Tools and callbacks are called on this thread. An exception of a callback, or Ctrl-C,
        cancels the execution, and is raised again after it has ended.

        Code that a clock or a cancellation ends is interrupted (KeyboardInterrupt), and if it ends
        by that in time, the session has all its variables still: `kept` of the result.
        """
        message = request(code, timeout, deadline, max_tool_calls, max_output_lines,
                          max_code_length, validate, artifacts, invisible,
                          traceparent=traceparent, tracestate=tracestate)
        return self._execute(message, with_input(message, files, input), output, on_progress, check)

    def run(self, args: Sequence[Word], input: Optional[Input] = None,
            timeout: Optional[float] = None, cwd: Optional[Word] = None,
            env: Optional[Mapping[str, Word]] = None, check: bool = False) -> Completed:
        """Run a command, as subprocess.run does, in a session of the runtime "shell" or "program".

        args: the program and its arguments, each as it is: no shell reads them. In a session of
            "shell" a function or builtin of bash can be called as well: `run(["cd", "/tmp"])`
        input: what it reads on its standard input
        timeout: seconds that it may run. Then it is interrupted, and that is a Timeout; its
            `result` has what was written until then
        cwd: the directory where it starts; otherwise that of the session
        env: variables that it finds besides those of the session. Neither these nor `cwd` change
            anything for what is run later; a shell in the box (`sh`) sets them
        check: raise subprocess.CalledProcessError unless the status is 0

        The status is that of the program, whatever it is. What keeps a command from ending by
        itself (a clock, a limit, a refusal) is an exception, as of `execute`.
        """
        message = request(code_of(self.runtime, args, cwd, env), timeout, None, None, None, None,
                          True, True, False)
        return completed(args, self._execute(message, with_input(message, None, input), None, None,
                                             True), check)

    def interrupt(self) -> None:
        """Interrupt what the session executes, if anything; on any thread, also in a callback.

        The execution ends with the verdict "cancelled". Calls of tools are refused from then on.
        """
        self._check_open()
        self.server.call({"type": "interrupt", **self._where})

    def set_network(self, allow: Network) -> None:
        """Change what code can reach by the network, between executions.

        Connections that these rules do not permit are closed. They can name only ports that the
        session was opened with, by its first list and by `network.ports` of the server.
        """
        self._check_open()
        self.server.call({"type": "set_network", **self._where, "allow": network_of(allow)})

    def restart(self) -> None:
        """Give the session a fresh interpreter: what code has defined is gone."""
        self._check_open()
        self.server.call({"type": "restart", **self._where})
        self._rules.say(f"session restarted: {self.name}")

    @property
    def is_alive(self) -> bool:
        """Has the session an interpreter, or is one being started?"""
        if self._is_closed or not self.server.is_alive:
            return False
        try:
            return bool(self.describe().get("alive"))
        except LazaretError:
            return False

    @property
    def tools(self) -> List[Dict[str, Any]]:
        """The tools that code can call, as the server declares them.

        `approve` is true where each call needs an approval, `may_approve` where some do, as their
        arguments are.
        """
        return list(self.describe().get("tools") or ())

    def search_tools(self, words: str, limit: int = 10) -> List[Dict[str, Any]]:
        """The tools that fit these words best, at most so many: for a model that is not shown all.

        Looked at are names, descriptions and parameters.
        """
        self._check_open()
        message = {"type": "search", **self._where, "words": words, "limit": limit}
        return list(self.server.call(message)["tools"])

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *args: object) -> None:
        self.close()


class Pool(_Opened):
    """Sessions that are kept ready; each execution gets a fresh one. All have the tools.

    The other arguments are those of Session; max_executions is of the pool as a whole.
    """

    def __init__(self, runtime: Optional[str] = "python", size: Optional[int] = None,
                 tools: Iterable[ToolLike] = (), server: Optional[Server] = None,
                 approve: Optional[ApproveCallback] = None, *,
                 network: Optional[Network] = None, credentials: Optional[Credentials] = None,
                 limits: Optional[Limits] = None,
                 audit_log: Union[str, "os.PathLike[str]", None] = None,
                 sanitize_errors: bool = False, max_executions: Optional[int] = None,
                 pre_execute_hook: Optional[Hook] = None, verbose: bool = False) -> None:
        made = make_tools(tools, allow_async=False)
        super().__init__("pool", open_pool(runtime, size, made, network, credentials),
                         made, server, approve,
                         settings_of(limits, audit_log, sanitize_errors),
                         Rules(max_executions, pre_execute_hook, verbose))
        self.runtime = runtime

    def execute(self, code: str, timeout: Optional[float] = None,
                deadline: Optional[float] = None, max_tool_calls: Optional[int] = None,
                output: Optional[OutputCallback] = None, check: bool = True,
                wait: Optional[float] = None, *, max_output_lines: Optional[int] = None,
                on_progress: Optional[ProgressCallback] = None, files: Optional[Files] = None,
                artifacts: bool = True, validate: bool = True,
                max_code_length: Optional[int] = None, input: Optional[Input] = None,
                invisible: bool = False, traceparent: Optional[str] = None,
                tracestate: Optional[str] = None) -> Result:
        """Run code in a session of the pool, as Session.execute does.

        wait: seconds to wait for a session; otherwise as long as it takes
        files: have to fit into a message with the code; otherwise that is a ValueError
        """
        message = request(code, timeout, deadline, max_tool_calls, max_output_lines,
                          max_code_length, validate, artifacts, invisible, wait, traceparent,
                          tracestate)
        return self._execute(message, with_input(message, files, input), output, on_progress, check)

    @property
    def status(self) -> Dict[str, int]:
        """How many sessions there are: `total`, `busy`, `idle`, `dead`, `starting`, `waiting`."""
        return dict(self.describe().get("status") or {})

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *args: object) -> None:
        self.close()


def execute(code: str, runtime: Optional[str] = "python", tools: Iterable[ToolLike] = (),
            timeout: Optional[float] = None, deadline: Optional[float] = None,
            max_tool_calls: Optional[int] = None, output: Optional[OutputCallback] = None,
            check: bool = True, server: Optional[Server] = None,
            approve: Optional[ApproveCallback] = None, *, max_output_lines: Optional[int] = None,
            on_progress: Optional[ProgressCallback] = None, files: Optional[Files] = None,
            artifacts: bool = True, validate: bool = True, max_code_length: Optional[int] = None,
            input: Optional[Input] = None, invisible: bool = False,
            traceparent: Optional[str] = None, tracestate: Optional[str] = None,
            network: Optional[Network] = None, credentials: Optional[Credentials] = None,
            limits: Optional[Limits] = None,
            audit_log: Union[str, "os.PathLike[str]", None] = None,
            sanitize_errors: bool = False,
            max_executions: Optional[int] = None, pre_execute_hook: Optional[Hook] = None,
            verbose: bool = False) -> Result:
    """Run code in a fresh session, which is closed afterwards; `files` are as those of a Pool.

    The other arguments are those of Session and of Session.execute.
    """
    made = make_tools(tools, allow_async=False)
    if made:
        with Session(runtime, made.values(), server, approve=approve, network=network,
                     credentials=credentials, limits=limits, audit_log=audit_log,
                     sanitize_errors=sanitize_errors,
                     max_executions=max_executions, pre_execute_hook=pre_execute_hook,
                     verbose=verbose) as session:
            return session.execute(code, timeout, deadline, max_tool_calls, output, check,
                                   max_output_lines=max_output_lines, on_progress=on_progress,
                                   files=files, artifacts=artifacts, validate=validate,
                                   max_code_length=max_code_length, input=input,
                                   invisible=invisible, traceparent=traceparent,
                                   tracestate=tracestate)
    message = request(code, timeout, deadline, max_tool_calls, max_output_lines, max_code_length,
                      validate, artifacts, invisible, traceparent=traceparent,
                      tracestate=tracestate)
    files = with_input(message, files, input)
    if runtime is not None:
        message["runtime"] = runtime
    if network is not None:
        message["network"] = network_of(network)
    if credentials is not None:
        message["credentials"] = credentials_of(credentials)
    settings = settings_of(limits, audit_log, sanitize_errors)
    check_server(server, settings)
    rules = Rules(max_executions, pre_execute_hook, verbose)
    own = Server(settings=settings) if settings else None
    try:
        execution = Execution(server or own or default_server(), {}, approve, output, on_progress,
                              rules)
        blocked = rules.decide(rules.ask(code))
        if blocked is not None:
            return execution.checked(blocked, check)
        return _run_once(execution, message, files, check)
    finally:
        if own is not None:
            own.close()


def _run_once(execution: Execution, message: Message, files: Optional[Files],
              check: bool) -> Result:
    if files and not add_files(message, files, execution.server):
        raise too_large(execution.server)
    try:
        return run(execution, message, check)
    except RequestFailed as error:
        if files and error.code in FILE_ERRORS:
            raise
        raise SetupFailed(str(error)) from error
