# SPDX-License-Identifier: MIT
"""Small stand-ins for the frameworks, which the tests of the adapters use where they are missing.

Each has what an adapter imports, with the names and signatures of the framework as it was read:
smolagents 1.27, langchain-core 1.0, openai-agents 0.22, pydantic-ai 2.33, inspect_ai 0.3.260. They
call an adapter as the framework does; they are not copies of it. `docs/adapters.md` says the same.
"""

import abc
import asyncio
import contextlib
import dataclasses
import inspect
import io
import json
import shlex
import sys
import types
from pathlib import Path
from typing import Any, Awaitable, Callable, Dict, Iterator, List, Optional, Tuple
from unittest import mock


def module(name: str, **members: Any) -> types.ModuleType:
    made = types.ModuleType(name)
    made.__dict__.update(members)
    return made


@contextlib.contextmanager
def installed(modules: Dict[str, Any], adapter: str) -> Iterator[Any]:
    """The adapter, imported with these modules in place of the framework (None: it is missing)."""
    import lazaret

    name = f"lazaret.{adapter}"
    with mock.patch.dict(sys.modules, modules):
        sys.modules.pop(name, None)
        try:
            yield __import__(name, fromlist=["*"])
        finally:
            sys.modules.pop(name, None)
            if hasattr(lazaret, adapter):
                delattr(lazaret, adapter)


# ---- smolagents ---------------------------------------------------------------------------------


@dataclasses.dataclass
class CodeOutput:
    output: Any
    logs: str
    is_final_answer: bool


class PythonExecutor(abc.ABC):
    @abc.abstractmethod
    def send_tools(self, tools: Dict[str, Any]) -> None: ...

    @abc.abstractmethod
    def send_variables(self, variables: Dict[str, Any]) -> None: ...

    @abc.abstractmethod
    def __call__(self, code_action: str) -> Any: ...


class SmolTool:
    """A tool of smolagents: `inputs` says what its `forward` takes."""

    def __init__(self, name: str, description: str, inputs: Dict[str, Any],
                 forward: Callable[..., Any], output_type: str = "any") -> None:
        self.name, self.description, self.inputs = name, description, inputs
        self.output_type, self.output_schema = output_type, None
        self.forward = forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)


def final_answer() -> SmolTool:
    inputs = {"answer": {"type": "any", "description": "The final answer"}}
    return SmolTool("final_answer", "Gives a final answer.", inputs, lambda answer: answer)


SMOLAGENTS = {
    "smolagents": module("smolagents"),
    "smolagents.local_python_executor": module(
        "smolagents.local_python_executor", PythonExecutor=PythonExecutor, CodeOutput=CodeOutput),
}


# ---- LangChain ----------------------------------------------------------------------------------


@dataclasses.dataclass
class ToolMessage:
    content: Any
    artifact: Any
    tool_call_id: str


class BaseTool:
    """`invoke` takes arguments, or a call of a model, which gets a ToolMessage."""

    name: str
    description: str
    args_schema: Any = None
    response_format: Any = "content"

    def __init__(self, **fields: Any) -> None:
        for name, value in fields.items():
            if name.startswith("_"):
                raise TypeError(f"{name} is private")
            setattr(self, name, value)

    @property
    def tool_call_schema(self) -> Any:
        return {**self.args_schema, "description": self.description}

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, lambda: self._run(*args, **kwargs))

    def _message(self, response: Any, number: Optional[str]) -> Any:
        content, artifact = response, None
        if self.response_format == "content_and_artifact":
            assert isinstance(response, tuple) and len(response) == 2
            content, artifact = response
        return content if number is None else ToolMessage(content, artifact, number)

    @staticmethod
    def _parts(given: Any) -> Tuple[Dict[str, Any], Optional[str]]:
        if given.get("type") == "tool_call":
            return dict(given["args"]), given["id"]
        return dict(given), None

    def invoke(self, given: Any, config: Any = None) -> Any:
        args, number = self._parts(given)
        return self._message(self._run(**args), number)

    async def ainvoke(self, given: Any, config: Any = None) -> Any:
        args, number = self._parts(given)
        return self._message(await self._arun(**args), number)


class FunctionalTool(BaseTool):
    """What LangChain's decorator `tool` makes of a function, and of a coroutine function."""

    def __init__(self, function: Any, schema: Any, coroutine: Any = None) -> None:
        super().__init__(name=function.__name__, description=function.__doc__ or "",
                         args_schema=schema)
        self.func, self.coroutine = function, coroutine

    def _run(self, **args: Any) -> Any:
        return self.func(**args)

    async def _arun(self, **args: Any) -> Any:
        return await (self.coroutine(**args) if self.coroutine else super()._arun(**args))


LANGCHAIN = {
    "langchain_core": module("langchain_core"),
    "langchain_core.tools": module("langchain_core.tools", BaseTool=BaseTool),
}


# ---- OpenAI Agents SDK --------------------------------------------------------------------------


@dataclasses.dataclass
class FunctionTool:
    name: str
    description: str
    params_json_schema: Dict[str, Any]
    on_invoke_tool: Callable[[Any, str], Awaitable[Any]]
    strict_json_schema: bool = True
    is_enabled: Any = True
    tool_input_guardrails: Any = None
    tool_output_guardrails: Any = None
    needs_approval: Any = False
    timeout_seconds: Optional[float] = None
    output_json_schema: Optional[Dict[str, Any]] = None

    def __post_init__(self) -> None:
        if self.strict_json_schema:
            assert self.params_json_schema["additionalProperties"] is False
            assert set(self.params_json_schema["required"]) == set(
                self.params_json_schema["properties"])


@dataclasses.dataclass
class ToolContext:
    context: Any
    tool_name: str
    tool_call_id: str
    tool_arguments: str
    agent: Any = None

    @classmethod
    def from_agent_context(cls, context: Any, tool_call_id: str, tool_call: Any = None,
                           agent: Any = None, *, tool_name: Optional[str] = None,
                           tool_arguments: Optional[str] = None) -> "ToolContext":
        assert tool_name is not None and tool_arguments is not None
        return cls(context.context, tool_name, tool_call_id, tool_arguments,
                   agent or context.agent)


OPENAI_AGENTS = {
    "agents": module("agents", FunctionTool=FunctionTool),
    "agents.tool_context": module("agents.tool_context", ToolContext=ToolContext),
}


# ---- OpenAI Agents SDK: sandboxes ---------------------------------------------------------------


class SandboxError(Exception):
    def __init__(self, **members: Any) -> None:
        super().__init__(str(members))
        self.members = members


class Environment:
    def __init__(self, value: Dict[str, Optional[str]]) -> None:
        self.value = value

    async def resolve(self) -> Dict[str, Optional[str]]:
        return self.value


class Manifest:
    def __init__(self, root: str = "/workspace",
                 environment: Optional[Dict[str, Optional[str]]] = None) -> None:
        self.root, self.environment = root, Environment(environment or {})

    def model_copy(self, update: Dict[str, Any]) -> "Manifest":
        return Manifest(update["root"], self.environment.value)


@dataclasses.dataclass
class SandboxExecResult:
    stdout: bytes
    stderr: bytes
    exit_code: int


class SandboxSessionState:
    """Its fields are those of its class, and what it is made with."""

    workspace_root_ready = False

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def assert_path_grants_rebound(self) -> None: ...


class MemorySnapshot:
    """What is kept of a workspace: the bytes of a tar."""

    data: Optional[bytes] = None


class BaseSandboxSession(abc.ABC):
    state: Any

    @abc.abstractmethod
    async def _exec_internal(self, *command: Any, timeout: Optional[float] = None) -> Any: ...

    @abc.abstractmethod
    async def read(self, path: Any, *, user: Any = None) -> Any: ...

    @abc.abstractmethod
    async def write(self, path: Any, data: Any, *, user: Any = None) -> None: ...

    @abc.abstractmethod
    async def running(self) -> bool: ...

    @abc.abstractmethod
    async def persist_workspace(self) -> Any: ...

    @abc.abstractmethod
    async def hydrate_workspace(self, data: Any) -> None: ...

    async def _prepare_backend_workspace(self) -> None: ...

    async def _shutdown_backend(self) -> None: ...

    async def start(self) -> None:
        await self._prepare_backend_workspace()
        if self.state.snapshot.data is not None:
            await self.hydrate_workspace(io.BytesIO(self.state.snapshot.data))
        self.state.workspace_root_ready = True

    async def stop(self) -> None:
        self.state.snapshot.data = (await self.persist_workspace()).read()

    async def shutdown(self) -> None:
        await self._shutdown_backend()

    def _prepare_exec_command(self, *command: Any, shell: Any, user: Any) -> List[str]:
        words = [str(word) for word in command]
        if not shell:
            return words
        return [*(shell if isinstance(shell, list) else ["sh", "-lc"]),
                words[0] if len(words) == 1 else shlex.join(words)]

    async def exec(self, *command: Any, timeout: Optional[float] = None, shell: Any = True,
                   user: Any = None) -> Any:
        words = self._prepare_exec_command(*command, shell=shell, user=user)
        return await self._exec_internal(*words, timeout=timeout)

    async def _validate_path_access(self, path: Any, *, for_write: bool = False) -> Path:
        return Path(self.state.manifest.root, path)

    def _persist_workspace_skip_relpaths(self) -> Any:
        return {Path("left out")}


class BaseSandboxClient(abc.ABC):
    def _wrap_session(self, inner: Any) -> Any:
        return inner

    def _validate_manifest_for_create(self, manifest: Any) -> Any:
        return manifest

    @staticmethod
    def _deserialize_session_state_payload(payload: Dict[str, Any], kind: Any) -> Any:
        return kind(**payload)


SANDBOX_ERRORS = ("ExecTimeoutError", "ExecTransportError", "WorkspaceReadNotFoundError",
                  "WorkspaceArchiveReadError", "WorkspaceArchiveWriteError",
                  "WorkspaceWriteTypeError")

OPENAI_SANDBOX = {
    "agents": module("agents"),
    "agents.sandbox": module(
        "agents.sandbox", Manifest=Manifest, ExecResult=SandboxExecResult,
        resolve_snapshot=lambda spec, number: spec if spec is not None else MemorySnapshot(),
        **{name: type(name, (SandboxError,), {}) for name in SANDBOX_ERRORS}),
    "agents.sandbox.session": module(
        "agents.sandbox.session", BaseSandboxSession=BaseSandboxSession,
        BaseSandboxClient=BaseSandboxClient, SandboxSessionState=SandboxSessionState),
}


# ---- pydantic-ai --------------------------------------------------------------------------------


class ModelRetry(Exception):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ToolFailed(ModelRetry):
    pass


class UserError(RuntimeError):
    pass


class CallDeferred(Exception):
    pass


class ApprovalRequired(Exception):
    pass


@dataclasses.dataclass
class AbstractCapability:
    def get_ordering(self) -> Any:
        return None

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        return None


@dataclasses.dataclass
class CapabilityOrdering:
    position: Optional[str] = None


@dataclasses.dataclass
class ToolDefinition:
    name: str
    parameters_json_schema: Dict[str, Any]
    description: Optional[str] = None
    sequential: bool = False
    kind: str = "function"
    return_schema: Optional[Dict[str, Any]] = None
    tool_kind: Optional[str] = None
    unless_native: Optional[str] = None


@dataclasses.dataclass
class ToolsetTool:
    toolset: Any
    tool_def: ToolDefinition
    max_retries: int
    args_validator: Any


@dataclasses.dataclass
class ToolDenied:
    message: str = "The tool call was denied."


@dataclasses.dataclass
class ToolReturn:
    return_value: Any
    content: Any = None
    metadata: Any = None


@dataclasses.dataclass
class BinaryContent:
    data: bytes
    media_type: str


@dataclasses.dataclass
class ToolCallPart:
    tool_name: str
    args: Any
    tool_call_id: str


class AnyArguments:
    def validate_python(self, value: Any, **others: Any) -> Any:
        return value


@dataclasses.dataclass
class WrapperToolset:
    wrapped: Any

    async def __aenter__(self) -> Any:
        await self.wrapped.__aenter__()
        return self

    async def __aexit__(self, *args: Any) -> Any:
        return await self.wrapped.__aexit__(*args)


class FunctionToolset:
    """Functions as tools. One that is named in `kinds` is of another kind than "function"."""

    def __init__(self, *functions: Any, schemas: Dict[str, Any],
                 kinds: Optional[Dict[str, str]] = None) -> None:
        self.functions = {function.__name__: function for function in functions}
        self.schemas, self.kinds = schemas, kinds or {}
        self.is_open = False
        self.retries: List[Tuple[str, int, int]] = []  # of each call: which one it is, of how many

    async def for_run(self, ctx: Any) -> Any:
        return self

    async def for_run_step(self, ctx: Any) -> Any:
        return self

    async def __aenter__(self) -> Any:
        self.is_open = True
        return self

    async def __aexit__(self, *args: Any) -> Any:
        self.is_open = False

    async def get_tools(self, ctx: Any) -> Dict[str, ToolsetTool]:
        return {name: ToolsetTool(self, ToolDefinition(
            name, self.schemas.get(name, {"properties": {}}), function.__doc__,
            kind=self.kinds.get(name, "function"), return_schema={"type": "number"}
            if inspect.signature(function).return_annotation is float else {}), 1, AnyArguments())
            for name, function in self.functions.items()}

    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        if self.kinds.get(name) == "unapproved" and not ctx.tool_call_approved:
            raise ApprovalRequired
        self.retries.append((name, ctx.retry, ctx.max_retries))
        value = self.functions[name](**tool_args)
        return await value if inspect.isawaitable(value) else value


@dataclasses.dataclass
class RunContext:
    tool_call_id: Optional[str] = None
    tool_call_approved: bool = False
    tool_manager: Any = None
    retries: Dict[str, int] = dataclasses.field(default_factory=dict)
    retry: int = 0
    max_retries: int = 0


@dataclasses.dataclass
class ToolManager:
    """Validates arguments, calls the tool, and has a capability answer what is deferred."""

    toolset: Any
    root_capability: Any = None
    ctx: Any = None
    tools: Any = None
    refused: Any = dataclasses.field(default_factory=set)  # what a run keeps of its tools

    async def handle_call(self, call: ToolCallPart, *, approved: bool = False,
                          wrap_validation_errors: bool = True) -> Any:
        tool = self.tools[call.tool_name]
        args = tool.args_validator.validate_python(call.args)
        ctx = dataclasses.replace(self.ctx, tool_call_id=call.tool_call_id,
                                  tool_call_approved=approved, max_retries=tool.max_retries,
                                  retry=self.ctx.retries.get(call.tool_name, 0))
        self.refused.add(call.tool_name)
        try:
            return await self.toolset.call_tool(call.tool_name, args, ctx, tool)
        except (ApprovalRequired, CallDeferred):
            if self.root_capability is None:
                raise
            decision = self.root_capability(call)
            if decision is not True:
                return decision
        return await self.toolset.call_tool(
            call.tool_name, args, dataclasses.replace(ctx, tool_call_approved=True), tool)


async def matches_tool_selector(selector: Any, ctx: Any, tool_def: ToolDefinition) -> bool:
    if selector == "all":
        return True
    return bool(selector(ctx, tool_def)) if callable(selector) else tool_def.name in selector


PYDANTIC_AI = {
    "pydantic_ai": module("pydantic_ai"),
    "pydantic_ai.capabilities": module(
        "pydantic_ai.capabilities", AbstractCapability=AbstractCapability,
        CapabilityOrdering=CapabilityOrdering),
    "pydantic_ai.exceptions": module(
        "pydantic_ai.exceptions", ModelRetry=ModelRetry, ToolFailed=ToolFailed,
        UserError=UserError, CallDeferred=CallDeferred, ApprovalRequired=ApprovalRequired),
    "pydantic_ai.messages": module(
        "pydantic_ai.messages", ToolReturn=ToolReturn, BinaryContent=BinaryContent,
        ToolCallPart=ToolCallPart),
    "pydantic_ai.tools": module(
        "pydantic_ai.tools", ToolDefinition=ToolDefinition, ToolDenied=ToolDenied,
        matches_tool_selector=matches_tool_selector),
    "pydantic_ai.toolsets": module(
        "pydantic_ai.toolsets", WrapperToolset=WrapperToolset, ToolsetTool=ToolsetTool),
}


class AgentRun:
    """What an agent of pydantic-ai does with its toolset: a run, and calls of a model's tools."""

    def __init__(self, capability: Any, toolset: Any, handler: Any = None) -> None:
        self._toolset = capability.get_wrapper_toolset(toolset)
        self._handler = handler
        self.tools: Dict[str, ToolsetTool] = {}

    async def __aenter__(self) -> "AgentRun":
        self._toolset = await self._toolset.for_run(RunContext())
        await self._toolset.__aenter__()
        return self

    async def __aexit__(self, *args: Any) -> None:
        await self._toolset.__aexit__(*args)

    async def call(self, name: str, args: Any) -> Any:
        """One step, in which the model calls a tool with JSON."""
        ctx = RunContext(tool_call_id="call_1")
        toolset = await self._toolset.for_run_step(ctx)
        self.tools = await toolset.get_tools(ctx)
        ctx.tool_manager = self.manager = ToolManager(toolset, self._handler, ctx, self.tools)
        tool = self.tools[name]
        validated = (tool.args_validator.validate_json(json.dumps(args))
                     if hasattr(tool.args_validator, "validate_json") else args)
        return await tool.toolset.call_tool(name, validated, ctx, tool)


# ---- Inspect ------------------------------------------------------------------------------------


@dataclasses.dataclass
class ExecResult:
    success: bool
    returncode: int
    stdout: str
    stderr: str


class OutputLimitExceededError(Exception):
    def __init__(self, limit_str: str, truncated_output: Optional[str]) -> None:
        super().__init__(limit_str)
        self.limit_str, self.truncated_output = limit_str, truncated_output


class SandboxEnvironmentLimits:
    MAX_EXEC_OUTPUT_SIZE = 10 << 20
    MAX_EXEC_OUTPUT_SIZE_STR = "10 MiB"
    MAX_READ_FILE_SIZE = 100 << 20
    MAX_READ_FILE_SIZE_STR = "100 MiB"


class SandboxEnvironment(abc.ABC):
    @abc.abstractmethod
    async def exec(self, cmd: List[str], input: Any = None, cwd: Optional[str] = None,
                   env: Optional[Dict[str, str]] = None, user: Optional[str] = None,
                   timeout: Optional[int] = None, timeout_retry: bool = True,
                   concurrency: bool = True) -> Any: ...

    @abc.abstractmethod
    async def write_file(self, file: str, contents: Any) -> None: ...

    @abc.abstractmethod
    async def read_file(self, file: str, text: bool = True) -> Any: ...

    @classmethod
    @abc.abstractmethod
    async def sample_cleanup(cls, task_name: str, config: Any, environments: Any,
                             interrupted: bool) -> None: ...


SANDBOXES: Dict[str, Any] = {}


def sandboxenv(name: str) -> Callable[[Any], Any]:
    def register(kind: Any) -> Any:
        SANDBOXES[name] = kind
        return kind

    return register


INSPECT = {
    "inspect_ai": module("inspect_ai"),
    "inspect_ai.util": module(
        "inspect_ai.util", ExecResult=ExecResult, sandboxenv=sandboxenv,
        OutputLimitExceededError=OutputLimitExceededError, SandboxEnvironment=SandboxEnvironment,
        SandboxEnvironmentLimits=SandboxEnvironmentLimits),
}
