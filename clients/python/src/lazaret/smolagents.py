# SPDX-License-Identifier: MIT
"""smolagents: an executor for `CodeAgent` that runs its code in a sandbox.

Tools of the agent run here, in this process: nothing of them is copied into the sandbox, and no
pickle crosses. `final_answer` is a tool as well. Its value is taken here; in the sandbox it then
raises what no `except Exception` catches, so that the code ends and its variables stay. Code that
catches even that is cut off at its next call of a tool, or by its timeout: the answer is what it was.
"""

import threading
from typing import Any, Callable, Dict, List, Mapping, Optional

from ._adapters import error_report, framework, lasts, shorten
from ._execution import ApproveCallback
from ._files import Files
from ._results import Result, error_of
from ._schema import SchemaTool
from ._server import Server
from ._session import Session
from ._values import encode

_executor = framework("smolagents.local_python_executor", "smolagents", "smolagents")
CodeOutput = _executor.CodeOutput
_Base: Any = _executor.PythonExecutor

VARIABLES = "lazaret_variables"  # a tool of ours, by which variables come into the sandbox
FINAL_ANSWER = "final_answer"


# Runs in a fresh sandbox, where `final_answer` itself cannot be assigned to: it is a tool.
_PRELUDE = """
def lazaret_ending(tool):
    class FinalAnswer(BaseException):
        pass
    def final_answer(*args, **named):
        tool(*args, **named)
        raise FinalAnswer
    return final_answer
globals()["final_answer"] = lazaret_ending(final_answer)
del lazaret_ending
"""


class _FinalAnswer(BaseException):
    """Leaves an execution that goes on after its final answer: it is cancelled."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class LazaretExecutor(_Base):
    """Executor of a CodeAgent: `CodeAgent(tools, model, executor=LazaretExecutor())`.

    timeout: seconds that the code of one step may run, without the time of its tools
    deadline: seconds of one step with its tools
    server: where the session runs; otherwise the default server
    approve: decides on calls of the tools that `approved_tools` names: see lazaret.Session
    approved_tools: names of tools whose calls wait for `approve`
    files: files that the code finds where it starts, by name
    on_result: called with the Result of each step, unless it was cut off after its final answer

    A session is opened when it is needed, and lasts until `cleanup`, or until the tools change.
    """

    def __init__(self, *, timeout: Optional[float] = 30.0, deadline: Optional[float] = None,
                 server: Optional[Server] = None, approve: Optional[ApproveCallback] = None,
                 approved_tools: Any = (), files: Optional[Files] = None,
                 on_result: Optional[Callable[[Result], Any]] = None) -> None:
        self._timeout, self._deadline, self._server = timeout, deadline, server
        self._approve, self._approved, self._files = approve, frozenset(approved_tools), files
        self._on_result = on_result
        self._tools: Dict[str, Any] = {}  # of the agent
        self._declared: Optional[List[Dict[str, Any]]] = None  # tools that the session has
        self._variables: Dict[str, Any] = {}  # all that were sent, for a session that starts anew
        self._unsent: Dict[str, Any] = {}
        self._session: Optional[Session] = None
        self._is_fresh = True  # has the interpreter nothing of what this class defines in it?
        self._final: Optional[_FinalAnswer] = None
        self._output: List[str] = []
        self._lock = threading.RLock()
        self.state: Dict[str, Any] = {"_print_outputs": ""}  # the agent shows it after an error

    # ---- what smolagents calls ------------------------------------------------------------------

    def send_tools(self, tools: Mapping[str, Any]) -> None:
        """Make these the tools of the code. Others than before need a fresh session."""
        with self._lock:
            self._tools = dict(tools)
            if self._session is not None and self._declarations() != self._declared:
                self.cleanup()

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        """Define variables before the next code; a value that cannot be sent is a TypeError."""
        with self._lock:
            for name, value in variables.items():
                if not name.isidentifier():
                    raise ValueError(f"{name!r} is not a name of a variable")
                try:
                    encode(value)
                except (TypeError, ValueError, RecursionError) as error:
                    raise TypeError(f"variable {name!r}: {error}") from error
            self._variables.update(variables)
            self._unsent.update(variables)

    def __call__(self, code_action: str) -> Any:
        """Run code. A failure is an exception, whose text is for the model."""
        with self._lock:
            self.state["_print_outputs"] = ""
            self._final, self._output = None, []
            session = self._opened()
            try:
                self._define(session)
                result = session.execute(code_action, timeout=self._timeout,
                                         deadline=self._deadline, check=False,
                                         output=self._take_output)
                self._is_fresh = not lasts(result)
            except BaseException as left:
                self._is_fresh = True
                if not isinstance(left, _FinalAnswer):
                    raise
                return CodeOutput(left.value, self._logs(), True)
            finally:
                logs = self._logs()
            if self._on_result is not None:
                self._on_result(result)
            if self._final is not None:
                return CodeOutput(self._final.value, logs, True)
            if not result.ok:
                error = error_of(result)
                error.args = (error_report(result),)
                raise error
            return CodeOutput(result.value, logs, False)

    def cleanup(self) -> None:
        """Close the session with all that its code has left. The next code gets a fresh one."""
        with self._lock:
            session, self._session = self._session, None
            self._declared = None
            if session is not None:
                session.close()

    # ---- the session ----------------------------------------------------------------------------

    def _take_output(self, stream: str, text: str) -> None:
        if self._final is None:
            self._output.append(text)

    def _logs(self) -> str:
        self.state["_print_outputs"] = logs = shorten("".join(self._output), 50000)
        return logs

    def _made(self) -> List[SchemaTool]:
        def caller(name: str) -> Callable[[Dict[str, Any]], Any]:
            return lambda args: self._call(name, args)

        made = []
        for name, tool in self._tools.items():
            inputs = getattr(tool, "inputs", None) or {}
            schema = {"properties": inputs,
                      "required": [key for key, one in inputs.items() if not one.get("nullable")]}
            returns = getattr(tool, "output_schema", None) or {
                "type": getattr(tool, "output_type", None)}
            made.append(SchemaTool(caller(name), name, getattr(tool, "description", ""), schema,
                                   approve=name in self._approved, returns=returns))
        made.append(SchemaTool(lambda args: self._take_variables(), VARIABLES,
                               "variables of the agent", {}))
        return made

    def _declarations(self) -> List[Dict[str, Any]]:
        return [tool.declaration for tool in self._made()]

    def _opened(self) -> Session:
        if self._session is None:
            made = self._made()
            self._session = Session("python", made, self._server, approve=self._approve)
            self._declared = [tool.declaration for tool in made]
            self._is_fresh = True
        return self._session

    def _call(self, name: str, args: Dict[str, Any]) -> Any:
        if self._final is not None:
            raise self._final
        value = self._tools[name](**args)
        if name == FINAL_ANSWER:
            self._final = _FinalAnswer(value)
            return None
        return value

    def _take_variables(self) -> Dict[str, Any]:
        unsent, self._unsent = self._unsent, {}
        return unsent

    def _define(self, session: Session) -> None:
        """Define what the interpreter lacks; a note in the logs says when it was lost."""
        code = ""
        if self._is_fresh:
            code = _PRELUDE if FINAL_ANSWER in self._tools else "\n"
            self._unsent = dict(self._variables)
        if self._unsent:
            code += f"globals().update({VARIABLES}())"
        if code:
            result = session.execute(code)
            if result.replaced:
                self._output.append(f"[the session was started anew ({result.replaced}): what the "
                                    "code had defined is gone]\n")
        if self._is_fresh:
            for name, data in (self._files or {}).items():
                session.put_file(name, data)
