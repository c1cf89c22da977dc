# SPDX-License-Identifier: MIT
"""The OpenAI Agents SDK: a tool by which a model runs code in a sandbox.

The session belongs to the program, which opens and closes it.
"""

import base64
import contextvars
import inspect
import itertools
import json
from typing import Any, Callable, Dict, List, Optional

from ._adapters import CODE_SCHEMA, Turns, check_session, described, framework, pictures, report
from ._results import Result, ToolError
from ._schema import SchemaTool
from ._values import encode

_agents = framework("agents", "openai-agents", "openai_agents")
_contexts = framework("agents.tool_context", "openai-agents", "openai_agents")

_context: "contextvars.ContextVar[Any]" = contextvars.ContextVar("lazaret_context", default=None)
_numbers = itertools.count(1)


def run_code_tool(session: Any, *, name: str = "run_code", description: Optional[str] = None,
                  timeout: Optional[float] = 30.0, deadline: Optional[float] = None,
                  needs_approval: Any = False,
                  on_result: Optional[Callable[[Result], Any]] = None) -> Any:
    """A FunctionTool for an agent: `Agent(name, tools=[run_code_tool(session)])`.

    session: an AsyncSession or AsyncPool
    timeout: seconds that the code of one call may run, without the time of its tools
    deadline: seconds of one call with its tools
    needs_approval: as in FunctionTool: does each call of this tool wait for a yes?
    on_result: called with the Result of each call, for example to save its artifacts

    The model gets a text: output, value or error, and the names of files; and PNG pictures besides.
    """
    check_session(session, is_async=True)
    turns = Turns(session)

    async def invoke(context: Any, arguments: str) -> Any:
        try:
            code = json.loads(arguments)["code"]
            if not isinstance(code, str):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            return "The arguments must be a JSON object with the text `code`."
        async with turns.turn():
            token = _context.set(context)
            try:
                result = await session.execute(code, timeout=timeout, deadline=deadline,
                                               check=False)
            finally:
                _context.reset(token)
        if on_result is not None:
            on_result(result)
        return _answer(result)

    return _agents.FunctionTool(
        name=name, description=description if description is not None else described(session),
        params_json_schema=CODE_SCHEMA, on_invoke_tool=invoke, needs_approval=needs_approval)


def _answer(result: Result) -> Any:
    text = report(result)
    images = pictures(result)
    if not images:
        return text
    answer: List[Dict[str, str]] = [{"type": "text", "text": text}]
    for image in images:
        data = base64.b64encode(image).decode("ascii")
        answer.append({"type": "image", "image_url": f"data:image/png;base64,{data}"})
    return answer


def as_tool(tool: Any, *, timeout: Optional[float] = None,
            returns: Optional[Dict[str, Any]] = None) -> SchemaTool:
    """A FunctionTool as a tool that code can call in an AsyncSession.

    Calls of one with `needs_approval=True` wait for `approve` of the session. Where a function of
    `needs_approval` asks for an approval, the call is refused. A tool with guardrails is refused at
    once: the SDK checks them only where a model calls the tool. `returns` is the JSON Schema of its
    result, which models are shown; otherwise the `output_json_schema` of the tool is.
    """
    for guardrails in ("tool_input_guardrails", "tool_output_guardrails"):
        if getattr(tool, guardrails, None):
            raise ValueError(f"tool {tool.name!r} has {guardrails}, which calls from code would "
                             "not pass: leave it to the model, or check in the tool itself")
    needs_approval = getattr(tool, "needs_approval", False)

    async def call(args: Dict[str, Any]) -> Any:
        outer = _context.get()
        if outer is None:
            raise ToolError("this tool can only be called by code of run_code_tool")
        number = f"{getattr(outer, 'tool_call_id', 'call')}_{next(_numbers)}"
        await _check_enabled(tool, outer)
        if callable(needs_approval) and await _value(needs_approval(outer, args, number)):
            raise ToolError(
                f"this call of {tool.name} needs an approval, which code cannot wait for")
        arguments = json.dumps(encode(args), ensure_ascii=False)
        context = _contexts.ToolContext.from_agent_context(
            outer, number, tool_name=tool.name, tool_arguments=arguments)
        return await _value(tool.on_invoke_tool(context, arguments))

    seconds = timeout if timeout is not None else getattr(tool, "timeout_seconds", None)
    return SchemaTool(call, tool.name, tool.description or "", tool.params_json_schema,
                      is_async=True, timeout=seconds, approve=needs_approval is True,
                      returns=returns if returns is not None
                      else getattr(tool, "output_json_schema", None))


async def _value(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _check_enabled(tool: Any, context: Any) -> None:
    is_enabled = getattr(tool, "is_enabled", True)
    if callable(is_enabled):
        is_enabled = await _value(is_enabled(context, getattr(context, "agent", None)))
    if not is_enabled:
        raise ToolError(f"the tool {tool.name} is not enabled")
