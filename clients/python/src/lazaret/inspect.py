# SPDX-License-Identifier: MIT
"""Inspect (inspect_ai): a sandbox environment, `sandbox="lazaret"`.

Each sample has a session of lazaret, and its commands are processes in the box of that session.
What a box cannot do is refused: another user, a connection from outside.
"""

import asyncio
import os
import threading
from typing import Any, Dict, List, Optional, Union

from ._adapters import framework
from ._box import SETTINGS, Box, TooLong
from ._server import Server

_PACKAGE = ("inspect-ai", "inspect")
_util = framework("inspect_ai.util", *_PACKAGE)
_Base: Any = _util.SandboxEnvironment


@_util.sandboxenv(name="lazaret")
class LazaretSandboxEnvironment(_Base):
    """A sandbox of a sample. `sandbox=("lazaret", "lazaret.toml")` chooses a configuration.

    Without a configuration there is a server with the defaults of lazaret, but for its clocks and
    its programs: any that the box shows. `sandbox.programs` of a configuration says which there are.
    """

    _servers: Dict[str, Server] = {}  # by the path of their configuration, "" without one
    _starting = threading.Lock()

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._box = Box(server)

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
        done = await self._box.run(list(cmd), limit, data=data, cwd=cwd, env=env, timeout=timeout)
        out, err = (data.decode("utf-8", "replace") for data in (done.out, done.err))
        if done.is_cut:
            raise _util.OutputLimitExceededError(
                limit_str=str(_util.SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR),
                truncated_output=out)
        return _util.ExecResult(success=done.status == 0, returncode=done.status, stdout=out,
                                stderr=err)

    async def write_file(self, file: str, contents: Union[str, bytes]) -> None:
        """Write a file; directories above it are made."""
        await self._box.write(
            file, contents.encode("utf-8") if isinstance(contents, str) else contents)

    async def read_file(self, file: str, text: bool = True) -> Union[str, bytes]:
        """Read a file, as it is, or as UTF-8."""
        try:
            data = await self._box.read(
                file, int(_util.SandboxEnvironmentLimits.MAX_READ_FILE_SIZE))
        except TooLong:
            raise _util.OutputLimitExceededError(
                limit_str=str(_util.SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR),
                truncated_output=None) from None
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
        await made._box.open()
        return {"default": made}

    @classmethod
    async def sample_cleanup(cls, task_name: str, config: Any, environments: Dict[str, Any],
                             interrupted: bool) -> None:
        for environment in environments.values():
            await environment._box.close()

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
                server = Server(config=key) if key else Server(settings=SETTINGS)
                cls._servers[key] = server
            return server
