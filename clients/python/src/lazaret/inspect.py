# SPDX-License-Identifier: MIT
"""Inspect (inspect_ai): a sandbox environment, `sandbox="lazaret"`.

Each sample has a session of lazaret, and its commands are processes in the box of that session.
What a box cannot do is refused: another user, a connection from outside.
"""

import asyncio
import os
import shutil
import threading
from typing import Any, Dict, List, Optional, Type, TypeVar, Union

from ._adapters import framework
from ._async import AsyncSession
from ._results import LazaretError, Result
from ._schema import SchemaTool
from ._server import Server

_Value = TypeVar("_Value")

_PACKAGE = ("inspect-ai", "inspect")
_util = framework("inspect_ai.util", *_PACKAGE)
_Base: Any = _util.SandboxEnvironment

REQUEST = "lazaret_request"  # a tool of ours, by which a request comes into the sandbox
_GRACE_SECONDS = 30.0  # that the box gets beside the timeout of a command

# Runs in the sandbox. It begins anew with each request, because code in the box may change it.
_HELPER = '''
def lazaret_answer(request):
    import os, shutil, signal, subprocess, tempfile
    path = os.path.join(os.getcwd(), request["path"])
    def run():
        env = {**os.environ, **request["env"]}
        with open(request["input"] or os.devnull, "rb") as put, tempfile.TemporaryFile() as out, \\
                tempfile.TemporaryFile() as err:
            if request["input"]:
                os.unlink(request["input"])
            child = subprocess.Popen(request["cmd"], stdin=put, stdout=out, stderr=err, cwd=path,
                                     env=env, start_new_session=True)
            is_late = False
            try:
                child.wait(request["timeout"])
            except subprocess.TimeoutExpired:
                is_late = True
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            answer = {"late": is_late, "status": child.returncode}
            for name, stream in (("out", out), ("err", err)):
                answer[name + "_size"] = stream.seek(0, os.SEEK_END)
                stream.seek(max(0, answer[name + "_size"] - request["limit"]))
                answer[name] = stream.read(request["limit"])
            return answer
    def read():
        with open(path, "rb") as stream:
            stream.seek(request["offset"])
            return {"data": stream.read(request["limit"])}
    def write():
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(request["piece"], "rb") as source, \\
                    open(path, "ab" if request["is_more"] else "wb") as target:
                shutil.copyfileobj(source, target)
        finally:
            os.unlink(request["piece"])
        return {}
    class Answer(dict):
        __repr__ = object.__repr__  # nobody reads it, and that of many bytes is long
    try:
        return Answer({"run": run, "read": read, "write": write}[request["kind"]]())
    except OSError as error:
        return {"error": type(error).__name__, "errno": error.errno or 0, "text": str(error)}
lazaret_answer(lazaret_request())
'''

PIECE_BYTES = 8 << 20  # of a file in one message, either way: values and messages are bounded
PIECE = ".lazaret-piece"  # where a piece of a file, and the input of a command, are on their way
INPUT = ".lazaret-input"

_ERRORS = {kind.__name__: kind for kind in (
    FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError, FileExistsError)}


def _member(answer: Dict[str, Any], name: str, kind: Type[_Value]) -> _Value:
    """A member of an answer, which comes from the sandbox and can be anything."""
    value = answer.get(name)
    if not isinstance(value, kind):
        raise LazaretError(
            f"the sandbox has given an answer without {name!r}: its code was changed")
    return value


@_util.sandboxenv(name="lazaret")
class LazaretSandboxEnvironment(_Base):
    """A sandbox of a sample. `sandbox=("lazaret", "lazaret.toml")` chooses a configuration.

    Without a configuration there is a server with the defaults of lazaret, and `bash`, which the
    tools of Inspect start; `sandbox.programs` of a configuration says which programs there are.
    """

    _servers: Dict[str, Server] = {}  # by the path of their configuration, "" without one
    _starting = threading.Lock()

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._session = AsyncSession("python", [SchemaTool(
            lambda args: self._request, REQUEST, "what Inspect asks for", {})], server)
        self._request: Dict[str, Any] = {}
        self._turn = asyncio.Lock()
        self._has_state = False

    # ---- what a sample does ---------------------------------------------------------------------

    async def exec(self, cmd: List[str], input: Union[str, bytes, None] = None,
                   cwd: Optional[str] = None, env: Optional[Dict[str, str]] = None,
                   user: Optional[str] = None, timeout: Optional[int] = None,
                   timeout_retry: bool = True, concurrency: bool = True) -> Any:
        """Run a command. One at a time runs in a sandbox; a timeout is not tried again.

        What it leaves in the background goes on until the timeout of the next command, or the end.
        """
        if user is not None:
            raise NotImplementedError(
                f"user={user!r}: a sandbox of lazaret has one user, who is nobody on the host")
        limit = int(_util.SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE)
        data = input.encode("utf-8") if isinstance(input, str) else input
        async with self._turn:
            if data:
                await self._write(INPUT, data)
            answer = await self._ask({"kind": "run", "cmd": list(cmd), "path": cwd or ".",
                                      "input": INPUT if data else "", "env": env or {},
                                      "timeout": timeout, "limit": limit}, timeout)
        if answer.get("late"):
            raise TimeoutError(f"the command did not end in {timeout} seconds")
        if "error" in answer:
            if answer["error"] == "PermissionError":
                raise PermissionError(_member(answer, "text", str))
            return self._result(127, "", _member(answer, "text", str) + "\n")
        out, err = (_member(answer, name, bytes).decode("utf-8", "replace")
                    for name in ("out", "err"))
        if max(_member(answer, name, int) for name in ("out_size", "err_size")) > limit:
            raise _util.OutputLimitExceededError(
                limit_str=str(_util.SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR),
                truncated_output=out)
        status = _member(answer, "status", int)
        return self._result(status if status >= 0 else 128 - status, out, err)

    async def write_file(self, file: str, contents: Union[str, bytes]) -> None:
        """Write a file; directories above it are made."""
        data = contents.encode("utf-8") if isinstance(contents, str) else contents
        async with self._turn:
            await self._write(file, data)

    async def read_file(self, file: str, text: bool = True) -> Union[str, bytes]:
        """Read a file, as it is, or as UTF-8."""
        limit = int(_util.SandboxEnvironmentLimits.MAX_READ_FILE_SIZE)
        pieces: List[bytes] = []
        size = 0
        while True:
            async with self._turn:
                answer = await self._ask({"kind": "read", "path": file, "offset": size,
                                          "limit": PIECE_BYTES})
            self._check(answer, file)
            pieces.append(_member(answer, "data", bytes))
            size += len(pieces[-1])
            if size > limit:
                raise _util.OutputLimitExceededError(
                    limit_str=str(_util.SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR),
                    truncated_output=None)
            if len(pieces[-1]) < PIECE_BYTES:
                break
        data = b"".join(pieces)
        return data.decode("utf-8") if text else data

    async def connection(self, *, user: Optional[str] = None) -> Any:
        raise NotImplementedError("nothing can connect to a sandbox of lazaret from outside")

    # ---- samples and tasks ----------------------------------------------------------------------

    @classmethod
    async def task_init(cls, task_name: str, config: Any) -> None:
        """Start the server, so that a wrong configuration is reported before the first sample."""
        await asyncio.get_running_loop().run_in_executor(None, cls._server, config)

    @classmethod
    async def sample_init(cls, task_name: str, config: Any,
                          metadata: Dict[str, str]) -> Dict[str, Any]:
        server = await asyncio.get_running_loop().run_in_executor(None, cls._server, config)
        made = cls(server)
        await made._session.open()
        return {"default": made}

    @classmethod
    async def sample_cleanup(cls, task_name: str, config: Any, environments: Dict[str, Any],
                             interrupted: bool) -> None:
        for environment in environments.values():
            await environment._session.close()

    @classmethod
    async def task_cleanup(cls, task_name: str, config: Any, cleanup: bool) -> None:
        server = cls._servers.pop(cls._key(config), None)
        if server is not None:
            await asyncio.get_running_loop().run_in_executor(None, server.close)

    @classmethod
    def config_files(cls) -> List[str]:
        return ["lazaret.toml"]

    @staticmethod
    def _key(config: Any) -> str:
        if config is None:
            return ""
        if isinstance(config, (str, os.PathLike)):
            return os.path.abspath(os.fspath(config))
        raise TypeError("the configuration of a sandbox of lazaret is the path of a lazaret.toml")

    @classmethod
    def _server(cls, config: Any) -> Server:
        key = cls._key(config)
        with cls._starting:
            server = cls._servers.get(key)
            if server is None or not server.is_alive:
                server = Server(config=key) if key else Server(settings=cls._defaults())
                cls._servers[key] = server
            return server

    @staticmethod
    def _defaults() -> Dict[str, Any]:
        """The settings without a configuration: Inspect has the times, and its tools start bash."""
        programs = ["default"] + (["bash"] if shutil.which("bash") else [])
        return {"sandbox.programs": programs, "session.timeout": 0, "session.deadline": 0}

    # ---- requests to the box, each of which needs the turn ---------------------------------------

    async def _ask(self, request: Dict[str, Any], timeout: Optional[float] = None,
                   piece: Optional[bytes] = None) -> Any:
        self._request = request
        result = await self._session.execute(
            _HELPER, timeout=timeout + _GRACE_SECONDS if timeout is not None else None,
            check=False, artifacts=False, files={PIECE: piece} if piece is not None else None)
        self._request = {}
        self._check_box(result)
        return result.value

    async def _write(self, file: str, data: bytes) -> None:
        for start in range(0, len(data) or 1, PIECE_BYTES):
            answer = await self._ask({"kind": "write", "path": file, "piece": PIECE,
                                      "is_more": start > 0},
                                     piece=data[start:start + PIECE_BYTES])
            self._check(answer, file)

    def _check_box(self, result: Result) -> None:
        if result.replaced and self._has_state:
            self._has_state = False
            raise LazaretError(f"the sandbox was started anew ({result.replaced}): its files are "
                               "gone", result)
        result.raise_for_verdict()
        if not isinstance(result.value, dict):
            raise LazaretError("the sandbox has given no answer: its code was changed", result)
        self._has_state = True

    @staticmethod
    def _check(answer: Dict[str, Any], file: str) -> None:
        if "error" in answer:
            kind = _ERRORS.get(_member(answer, "error", str), OSError)
            raise kind(_member(answer, "errno", int), _member(answer, "text", str), file)

    @staticmethod
    def _result(status: int, out: str, err: str) -> Any:
        return _util.ExecResult(success=status == 0, returncode=status, stdout=out, stderr=err)
