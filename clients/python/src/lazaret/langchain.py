# SPDX-License-Identifier: MIT
"""LangChain, LangGraph and deepagents: a tool by which a model runs code in a sandbox.

The session belongs to the program, which opens and closes it. With a Session the tool is for
`invoke`, and for `ainvoke` by a thread; with an AsyncSession for `ainvoke` alone.
"""

import contextlib
import threading
from typing import Any, Callable, Dict, Optional, Tuple

from ._adapters import CODE_SCHEMA, Turns, check_session, described, framework, report
from ._async import AsyncPool, AsyncSession
from ._results import Result, ToolError
from ._returns import returns_of
from ._schema import SchemaTool
from ._tools import hints_of
from ._session import Pool

_tools = framework("langchain_core.tools", "langchain-core", "langchain")
_Base: Any = _tools.BaseTool


class CodeTool(_Base):
    """A tool `run_code` for a model: `create_agent(model, [CodeTool(session)])`.

    session: a Session, Pool, AsyncSession or AsyncPool
    timeout: seconds that the code of one call may run, without the time of its tools
    deadline: seconds of one call with its tools
    on_result: called with the Result of each call, for example to save its artifacts

    The content is a text for the model: output, value or error, and the names of files. An error of
    the code is not an exception. The artifact of the ToolMessage is the result as JSON.
    """

    name: str = "run_code"
    description: str = ""
    args_schema: Any = CODE_SCHEMA
    response_format: Any = "content_and_artifact"
    _session: Any = None
    _options: Any = None
    _on_result: Any = None
    _turns: Any = None
    _lock: Any = None

    def __init__(self, session: Any, *, name: str = "run_code", description: Optional[str] = None,
                 timeout: Optional[float] = 30.0, deadline: Optional[float] = None,
                 on_result: Optional[Callable[[Result], Any]] = None, **others: Any) -> None:
        is_async = isinstance(session, (AsyncSession, AsyncPool))
        check_session(session, is_async=is_async)
        text = description if description is not None else described(session)
        super().__init__(name=name, description=text, **others)
        self._session = session
        self._options = {"timeout": timeout, "deadline": deadline, "check": False}
        self._on_result = on_result
        self._turns = Turns(session) if is_async else None
        is_pool = isinstance(session, Pool)  # which has many executions at once
        self._lock = contextlib.nullcontext() if is_pool else threading.RLock()

    def _run(self, code: str) -> Tuple[str, Dict[str, Any]]:
        if self._turns is not None:
            raise TypeError("this tool has a session for asyncio: use ainvoke, or give a Session")
        with self._lock:
            result = self._session.execute(code, **self._options)
        return self._answer(result)

    async def _arun(self, code: str) -> Tuple[str, Dict[str, Any]]:
        if self._turns is None:
            answer: Tuple[str, Dict[str, Any]] = await super()._arun(code=code)
            return answer
        async with self._turns.turn():
            result = await self._session.execute(code, **self._options)
        return self._answer(result)

    def _answer(self, result: Result) -> Tuple[str, Dict[str, Any]]:
        if self._on_result is not None:
            self._on_result(result)
        return report(result), result.raw


def _schema_of(tool: Any) -> Dict[str, Any]:
    """The JSON Schema of what a model gives to a tool, without arguments that are injected."""
    schema = tool.tool_call_schema
    if isinstance(schema, dict):
        return schema
    make = getattr(schema, "model_json_schema", None) or schema.schema  # of pydantic 2, of 1
    made: Dict[str, Any] = make()
    return made


def _returns_of(tool: Any) -> Optional[Dict[str, Any]]:
    """What the function of a tool returns, where that is what the tool gives."""
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    if function is None or getattr(tool, "response_format", "content") != "content":
        return None
    return returns_of(hints_of(function).get("return"))


def as_tool(tool: Any, *, is_async: bool = False, timeout: Optional[float] = None,
            approve: bool = False, returns: Optional[Dict[str, Any]] = None) -> SchemaTool:
    """A tool of LangChain as a tool that code can call.

    is_async: for an AsyncSession: the tool is awaited, and several calls run at once
    timeout: seconds of a call
    approve: each call waits for `approve` of the session
    returns: the JSON Schema of its result, which models are shown; otherwise that of the annotation
        of its function, if it has one
    """
    function = tool.ainvoke if is_async else tool.invoke

    def call(args: Dict[str, Any]) -> Any:
        if args.get("type") == "tool_call":  # `invoke` would take it for more than arguments
            raise ToolError("the argument `type` cannot be 'tool_call'")
        return function(args)

    return SchemaTool(call, tool.name, tool.description, _schema_of(tool), is_async=is_async,
                      timeout=timeout, approve=approve,
                      returns=returns if returns is not None else _returns_of(tool))
