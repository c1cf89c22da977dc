# SPDX-License-Identifier: MIT
"""One execution: its request, the calls of its tools, and its result.

What the clients with and without asyncio share is in `Execution`; `run` is the one without.
"""

import collections
import inspect
import queue
from typing import Any, Callable, Deque, Dict, List, Mapping, NamedTuple, Optional, Tuple

from ._files import artifacts_of
from ._results import ExecutionError, Result, WorkerLost, error_of
from ._rules import Rules, has_run
from ._server import FINAL, Deliver, Message, Server, answer_of
from ._tools import Tool, error_text, milliseconds
from ._values import decode, encode

OutputCallback = Callable[[str, str], Any]


class Progress(NamedTuple):
    """What an execution has used so far."""

    wall_ms: int  # since the code began
    cpu_ms: int
    max_rss_bytes: int  # the most memory so far
    tool_calls: int


ProgressCallback = Callable[[Progress], Any]


class Approval(NamedTuple):
    """A call of a tool that waits for a yes."""

    tool: str
    args: Dict[str, Any]  # by name, checked
    session: str  # the name of the session


ApproveCallback = Callable[[Approval], Any]

CALLS = frozenset(["tool_call", "approval"])
EVENTS = frozenset(["output", "progress"])
_KEPT_ERRORS = 64  # of tools, to be the cause of an error
_QUEUED_BYTES = 16 << 20  # output that waits for a slow callback; what exceeds it is left out
_COMPARED = 200  # characters of the message of a tool, by which it is found in an error


def request(code: str, timeout: Optional[float], deadline: Optional[float],
            max_tool_calls: Optional[int], max_output_lines: Optional[int],
            max_code_length: Optional[int], validate: bool, artifacts: bool, invisible: bool,
            wait: Optional[float] = None, traceparent: Optional[str] = None,
            tracestate: Optional[str] = None) -> Message:
    """The message `execute`, but for where the code runs, and what the callbacks need."""
    message: Message = {"type": "execute", "code": code}
    if "\0" in code:
        raise ValueError("code cannot contain a NUL character")
    if timeout is not None:
        message["timeout_ms"] = milliseconds(timeout, "timeout")
    if deadline is not None:
        message["deadline_ms"] = milliseconds(deadline, "deadline")
    if max_tool_calls is not None:
        message["max_tool_calls"] = max_tool_calls
    if max_output_lines is not None:
        message["max_output_lines"] = max_output_lines
    if max_code_length is not None:
        message["max_code_length"] = max_code_length
    if not validate:
        message["validate"] = False
    if wait is not None:
        message["wait_ms"] = milliseconds(wait, "wait")
    if artifacts:
        message["artifacts"] = True
    if invisible:
        message["invisible"] = True
    for member, text in (("traceparent", traceparent), ("tracestate", tracestate)):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{member} is {text!r}, and must be a text")
        if text is not None:
            message[member] = text
    return message


class Execution:
    """What is known of an execution while it runs."""

    def __init__(self, server: Server, tools: Mapping[str, Tool],
                 approve: Optional[ApproveCallback], output: Optional[OutputCallback],
                 on_progress: Optional[ProgressCallback], rules: Rules) -> None:
        self.server = server
        self.rules = rules
        self.has_run = False  # as far as is known
        self._tools = tools
        self._approve = approve
        self._output = output
        self._on_progress = on_progress
        self._raised: Deque[Tuple[str, BaseException]] = collections.deque(maxlen=_KEPT_ERRORS)
        # Bytes of output: two counters, because two threads count, and each writes its own.
        self._received = 0
        self._taken = 0
        self._dropped = 0
        self._progress_taken = True
        self._wants_artifacts = False
        self._artifacts: List[Message] = []  # their parts

    def send(self, message: Message, deliver: Deliver) -> int:
        """Send the request; `deliver` is called with its messages, on the thread that reads."""
        for member, callback in (("output", self._output), ("progress", self._on_progress),
                                 ("approve", self._approve)):
            if callback is not None:
                message[member] = True
        self._wants_artifacts = message.get("artifacts", False)

        def accept(received: Message) -> None:
            if self._accepts(received):
                deliver(received)

        number = self.server.send(message, accept)
        self.has_run = True
        return number

    # ---- on the thread that reads ---------------------------------------------------------------

    def _accepts(self, message: Message) -> bool:
        """Has this message to be delivered? Output and progress are left out without room."""
        if message["type"] == "artifact":
            self._artifacts.append(message)
            return False  # the result has it
        if message["type"] == "progress":
            is_wanted, self._progress_taken = self._progress_taken, False
            return is_wanted  # a slow callback gets fewer
        if message["type"] != "output":
            return True
        self._dropped += message.get("dropped", 0)
        size = len(message["text"].encode("utf-8", "replace"))
        if self._received - self._taken + size > _QUEUED_BYTES:
            self._dropped += size
            return False
        self._received += size
        return True

    # ---- on the thread that executes ------------------------------------------------------------

    def notify(self, message: Message) -> Any:
        """Call the callback of a message `output` or `progress`; gives what that returns."""
        if message["type"] == "progress":
            self._progress_taken = True
            if self._on_progress is not None:
                return self._on_progress(Progress(*map(message.__getitem__, Progress._fields)))
        else:
            self._taken += len(message["text"].encode("utf-8", "replace"))
            if self._output is not None and message["text"]:
                return self._output(message["stream"], message["text"])
        return None

    def tool_of(self, message: Message) -> Tool:
        """The tool that a message `tool_call` asks for."""
        name = message["tool"]
        tool = self._tools.get(name) or self.server.tools.get(name)
        if tool is None:
            raise LookupError(f"this client has no tool {name!r}")
        return tool

    def call(self, message: Message) -> Any:
        """Do what a message `tool_call` or `approval` asks for."""
        self.rules.say_called(message["type"], message["tool"], message["args"])
        if message["type"] == "tool_call":
            return self.tool_of(message).call(message["args"])
        if self._approve is None:
            return False
        args = {name: decode(value) for name, value in message["args"].items()}
        return self._approve(Approval(message["tool"], args, message.get("session_name", "")))

    def answer_value(self, message: Message, value: Any) -> None:
        """Answer a call with what the tool has returned, or with why that cannot be sent."""
        call: int = message["call"]
        if message["type"] == "approval":
            value = value is True
        try:
            self.server.answer({"call": call, "value": encode(value)})
        except (TypeError, ValueError, RecursionError) as error:
            self.answer_error(message, error)
        else:
            self.rules.say(f"tool result: {message['tool']}")

    def answer_error(self, message: Message, error: BaseException) -> None:
        """Answer a call with an exception."""
        call, text = message["call"], error_text(error)
        self.rules.say(f"tool error: {message['tool']}: {text}")
        self._raised.append((text, error))
        self.server.answer({"call": call, "error": text[:100000]})

    def finish(self, message: Message, check: bool) -> Result:
        """The result of the last message, or the exception for it."""
        self.has_run = False  # where it has failed
        answer = answer_of(message)
        if answer["type"] != "result":
            raise WorkerLost(f"the server has answered an execution by {answer['type']!r}")
        artifacts = artifacts_of(answer["result"], self._artifacts, self._wants_artifacts)
        result = Result.from_json(answer["result"], self._dropped, artifacts)
        self.has_run = has_run(result)
        self.rules.say_ended(result)
        return self.checked(result, check)

    def checked(self, result: Result, check: bool) -> Result:
        """A result, or the exception for it."""
        if result.ok or not check:
            return result
        error = error_of(result)
        if isinstance(error, ExecutionError):
            error.__cause__ = self._cause(str(error))
        raise error

    def _cause(self, message: str) -> Optional[BaseException]:
        """The exception of a tool that the code has not caught: the error has its text."""
        for text, error in reversed(self._raised):
            if text[:_COMPARED] in message:
                return error
        return None

    def cancel(self, number: int) -> None:
        """End the execution; its result still comes."""
        self.server.post({"type": "cancel", "request": number})


def _call_tool(execution: Execution, message: Message) -> None:
    try:
        value = execution.call(message)
        if inspect.iscoroutine(value):
            value.close()
            raise TypeError(f"{message['tool']!r}: a coroutine function needs AsyncSession")
    except Exception as error:  # KeyboardInterrupt and SystemExit end the execution
        execution.answer_error(message, error)
        return
    execution.answer_value(message, value)


def run(execution: Execution, message: Message, check: bool) -> Result:
    """Execute; tools and the callbacks run on this thread."""
    inbox: "queue.SimpleQueue[Message]" = queue.SimpleQueue()
    cancelled: Dict[int, bool] = {}  # calls that have ended before the tool could be called

    def deliver(received: Message) -> None:
        if received["type"] == "tool_cancelled":
            cancelled[received["call"]] = True
        else:
            inbox.put(received)

    number = execution.send(message, deliver)
    received: Message = {"type": ""}
    try:
        while received["type"] not in FINAL:
            received = inbox.get()
            if received["type"] in EVENTS:
                execution.notify(received)
            elif received["type"] in CALLS and received["call"] not in cancelled:
                _call_tool(execution, received)
    except BaseException:  # of Ctrl-C, of a callback, or SystemExit of a tool
        execution.cancel(number)
        # In a child process that a tool has forked, nothing comes any more.
        while received["type"] not in FINAL and execution.server.is_alive:
            received = inbox.get()
        raise
    return execution.finish(received, check)
