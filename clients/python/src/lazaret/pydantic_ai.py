# SPDX-License-Identifier: MIT
"""pydantic-ai: a capability that puts the tools of an agent behind one tool, `run_code`.

The model writes code that calls them. They run here, by the ToolManager of the run, so their
arguments are validated and the hooks of other capabilities are called. A call that needs an
approval or is deferred cannot end the run: the code waits in the sandbox. `HandleDeferredToolCalls`
of pydantic-ai, or `approve`, answers it meanwhile; without an answer the code gets an error.
"""

import inspect
import itertools
import json
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Optional

from ._adapters import CODE_SCHEMA, Turns, code_description, framework, lasts, pictures, report
from ._async import AsyncSession
from ._execution import Approval, ApproveCallback
from ._files import Files
from ._results import Result, ToolError
from ._schema import SchemaTool
from ._server import Server

_PACKAGE = ("pydantic-ai-slim", "pydantic_ai")
_capabilities = framework("pydantic_ai.capabilities", *_PACKAGE)
_exceptions = framework("pydantic_ai.exceptions", *_PACKAGE)
_messages = framework("pydantic_ai.messages", *_PACKAGE)
_tools = framework("pydantic_ai.tools", *_PACKAGE)
_toolsets = framework("pydantic_ai.toolsets", *_PACKAGE)

_Capability: Any = _capabilities.AbstractCapability
_Toolset: Any = _toolsets.WrapperToolset

RUN_CODE = "run_code"
_DEFERRED = (_exceptions.ApprovalRequired, _exceptions.CallDeferred)


class _Arguments:
    """Validates the arguments of `run_code`, as a SchemaValidator of pydantic-core does."""

    def validate_json(self, value: Any, **others: Any) -> Dict[str, Any]:
        try:
            parsed = json.loads(value)
        except ValueError as error:
            raise _exceptions.ModelRetry(f"the arguments are not JSON: {error}") from error
        return self.validate_python(parsed)

    def validate_python(self, value: Any, **others: Any) -> Dict[str, Any]:
        if not isinstance(value, dict) or not isinstance(value.get("code"), str):
            raise _exceptions.ModelRetry("the arguments must be an object with the text `code`")
        return {"code": value["code"]}


@dataclass
class _Run:
    """What belongs to one run of an agent; all copies of its toolset share it."""

    session: Optional[AsyncSession] = None
    turns: Optional[Turns] = None
    declared: Optional[List[Dict[str, Any]]] = None  # tools that the session has
    is_fresh: bool = True  # has the session none of the files that it begins with?
    context: Any = None  # of the call of `run_code` that is under way
    tools: Dict[str, Any] = field(default_factory=dict)  # of the wrapped toolset, by name
    inside: Dict[str, Any] = field(default_factory=dict)  # those that code can call
    failed: Dict[str, int] = field(default_factory=dict)  # how often each has asked for a retry
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    async def close(self) -> None:
        session, self.session, self.declared = self.session, None, None
        if session is not None:
            await session.close()


@dataclass
class LazaretCodeMode(_Capability):
    """Capability of an agent: `Agent(model, tools=[...], capabilities=[LazaretCodeMode()])`.

    tools: which of the agent's tools code can call, as a ToolSelector: "all", names, or a function
        of context and definition. The others stay tools of the model.
    runtime: the language of the code
    timeout: seconds that the code of one call may run, without the time of its tools
    deadline: seconds of one call with its tools
    max_tool_calls: of one call of `run_code`
    max_retries: of `run_code`: code that fails is reported to the model by a retry
    server: where the sessions run; otherwise the default server
    approve: decides on calls that raise ApprovalRequired and that no other capability answers
    files: files that the code finds where it starts, by name
    on_result: called with the Result of each call, for example to save its artifacts

    Each run of the agent has a session of its own, which is closed with the run.
    """

    tools: Any = "all"
    runtime: str = "python"
    timeout: Optional[float] = 30.0
    deadline: Optional[float] = None
    max_tool_calls: Optional[int] = None
    max_retries: int = 3
    server: Optional[Server] = None
    approve: Optional[ApproveCallback] = None
    files: Optional[Files] = None
    on_result: Optional[Callable[[Result], Any]] = None

    def get_ordering(self) -> Any:
        return _capabilities.CapabilityOrdering(position="outermost")

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        return CodeModeToolset(toolset, self)


@dataclass
class CodeModeToolset(_Toolset):
    """The tools of an agent, with `run_code` in place of those that code can call."""

    mode: LazaretCodeMode
    run: _Run = field(default_factory=_Run)

    async def for_run(self, ctx: Any) -> Any:
        return replace(self, wrapped=await self.wrapped.for_run(ctx), run=_Run())

    async def for_run_step(self, ctx: Any) -> Any:
        wrapped = await self.wrapped.for_run_step(ctx)
        return self if wrapped is self.wrapped else replace(self, wrapped=wrapped)

    async def __aexit__(self, *args: Any) -> Any:
        try:
            return await self.wrapped.__aexit__(*args)
        finally:
            await self.run.close()

    async def get_tools(self, ctx: Any) -> Dict[str, Any]:
        tools = await self.wrapped.get_tools(ctx)
        inside = {name: tool for name, tool in tools.items() if await self._is_inside(ctx, tool)}
        outside = {name: tool for name, tool in tools.items() if name not in inside}
        if RUN_CODE in outside:
            raise _exceptions.UserError(
                f"the tool {RUN_CODE!r} of LazaretCodeMode has the name of another tool")
        self.run.tools, self.run.inside = tools, inside
        outside[RUN_CODE] = _toolsets.ToolsetTool(
            toolset=self,
            tool_def=_tools.ToolDefinition(
                name=RUN_CODE,
                description=code_description(self.mode.runtime,
                                             [tool.declaration for tool in self._made()]),
                parameters_json_schema=CODE_SCHEMA,
                sequential=True,
            ),
            max_retries=self.mode.max_retries,
            args_validator=_Arguments(),
        )
        return outside

    async def call_tool(self, name: str, tool_args: Dict[str, Any], ctx: Any, tool: Any) -> Any:
        if name != RUN_CODE:
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        mode = self.mode
        session, note = await self._opened()
        assert self.run.turns is not None
        async with self.run.turns.turn():
            if self.run.is_fresh:
                for file, data in (mode.files or {}).items():
                    await session.put_file(file, data)
            self.run.context, self.run.is_fresh = ctx, True
            try:
                result = await session.execute(tool_args["code"], mode.timeout, mode.deadline,
                                               mode.max_tool_calls, check=False)
                self.run.is_fresh = not lasts(result)
            finally:
                self.run.context = None
        if mode.on_result is not None:
            mode.on_result(result)
        text = note + report(result)
        if not result.ok:
            raise _exceptions.ModelRetry(text)
        images = [_messages.BinaryContent(data=data, media_type="image/png")
                  for data in pictures(result)]
        return _messages.ToolReturn(return_value=text, content=images or None,
                                    metadata=result.raw)

    # ---- the session ----------------------------------------------------------------------------

    async def _is_inside(self, ctx: Any, tool: Any) -> bool:
        """Can code call it? Tools that the framework itself needs stay with the model."""
        definition = tool.tool_def
        if getattr(definition, "tool_kind", None) is not None or definition.kind == "external":
            return False
        if getattr(definition, "unless_native", None) is not None:
            return False
        is_available = getattr(ctx, "is_tool_available", None)
        if is_available is not None and not is_available(definition):
            return False
        return bool(await _tools.matches_tool_selector(self.mode.tools, ctx, definition))

    def _made(self) -> List[SchemaTool]:
        def caller(name: str) -> Callable[[Dict[str, Any]], Any]:
            async def call(args: Dict[str, Any]) -> Any:
                return await self._call(name, args)
            return call

        return [SchemaTool(caller(name), name, tool.tool_def.description or "",
                           tool.tool_def.parameters_json_schema, is_async=True,
                           max_concurrent=1 if tool.tool_def.sequential else None,
                           returns=getattr(tool.tool_def, "return_schema", None))
                for name, tool in self.run.inside.items()]

    async def _opened(self) -> Any:
        """The session, and what the model is told when it had to be opened anew."""
        made = self._made()
        declared = [tool.declaration for tool in made]
        note = ""
        if self.run.session is not None and self.run.declared != declared:
            await self.run.close()
            note = "The tools have changed, and the session with them: variables are gone.\n"
        if self.run.session is None:
            mode = self.mode
            self.run.session = AsyncSession(mode.runtime, made, mode.server)
            self.run.declared, self.run.is_fresh = declared, True
            self.run.turns = Turns(self.run.session)
        return self.run.session, note

    # ---- calls of tools -------------------------------------------------------------------------

    async def _call(self, name: str, args: Dict[str, Any]) -> Any:
        ctx = self.run.context
        # What the run keeps of its tools is shared; a tool sees how often it has failed so far.
        manager = replace(ctx.tool_manager, toolset=self.wrapped, tools=self.run.tools,
                          ctx=replace(ctx, retries={**ctx.retries, name: self._retry(name)}))
        call = _messages.ToolCallPart(
            tool_name=name, args=args,
            tool_call_id=f"{ctx.tool_call_id or RUN_CODE}_{next(self.run.numbers)}")
        try:
            value = await manager.handle_call(call, wrap_validation_errors=False)
        except _DEFERRED as error:
            await self._check_deferred(error, name, args)
            try:
                value = await manager.handle_call(call, approved=True,
                                                  wrap_validation_errors=False)
            except _DEFERRED as again:
                raise ToolError(f"the tool {name} cannot be called by code: it was approved, and "
                                "is deferred all the same") from again
        except (_exceptions.ModelRetry, _exceptions.ToolFailed) as error:
            if isinstance(error, _exceptions.ModelRetry):
                self.run.failed[name] = self.run.failed.get(name, 0) + 1
            raise ToolError(error.message) from error
        self.run.failed.pop(name, None)
        if isinstance(value, _tools.ToolDenied):
            raise ToolError(f"the call of {name} was denied: {value.message}")
        return value.return_value if isinstance(value, _messages.ToolReturn) else value

    def _retry(self, name: str) -> int:
        """The number of the next attempt of a tool, from 0: no failure inside of code ends the run,
        so the last one stays the last one."""
        most: int = self.run.tools[name].max_retries if name in self.run.tools else 0
        return min(self.run.failed.get(name, 0), most)

    async def _check_deferred(self, error: Exception, name: str, args: Dict[str, Any]) -> None:
        """Return if the call is approved now; otherwise the code gets an error."""
        if isinstance(error, _exceptions.CallDeferred):
            raise ToolError(f"the tool {name} answers later, which code cannot wait for") from error
        decision: Any = False
        if self.mode.approve is not None:
            session = self.run.session
            decision = self.mode.approve(Approval(name, args, session.name if session else ""))
            decision = await decision if inspect.isawaitable(decision) else decision
        if decision is not True:
            raise ToolError(f"the call of {name} is not approved") from error
