# SPDX-License-Identifier: MIT
"""The OpenAI Agents SDK: a client of its sandboxes, for a `SandboxAgent`.

Each session of the SDK has a box of its own: its commands are processes in it, its workspace a
directory. What a box cannot do is refused: users, ports, mounts from outside. A tool by which a model
runs code, with functions of the program, is in `lazaret.openai_agents`.
"""

import asyncio
import io
import os
import threading
import uuid
import weakref
from pathlib import Path
from typing import Any, Dict, List, Literal, Mapping, Optional

from ._adapters import framework
from ._box import SETTINGS, Box, Ended, TooLong
from ._results import LazaretError
from ._server import Server

_PACKAGE = ("openai-agents", "openai_sandbox")
_sandbox = framework("agents.sandbox", *_PACKAGE)
_session = framework("agents.sandbox.session", *_PACKAGE)
_State: Any = _session.SandboxSessionState
_Base: Any = _session.BaseSandboxSession
_Client: Any = _session.BaseSandboxClient

OUTPUT_BYTES = 8 << 20  # of each stream of a command; of more there is the end
FILE_BYTES = 100 << 20  # of a file that is read
_ROOT = str(_sandbox.Manifest().root)  # where nobody has chosen one
_ARCHIVE = ".lazaret-workspace.tar"  # on its way, beside the workspace


class LazaretSandboxSessionState(_State):
    """The state of a session. A box cannot be found again: a session that is resumed has a new one."""

    type: Literal["lazaret"] = "lazaret"
    has_own_root: bool = False  # was the workspace put where the box has room for it?


class LazaretSandboxSession(_Base):
    """A session of the SDK: what LazaretSandboxClient makes."""

    def __init__(self, state: Any, box: Box) -> None:
        self.state = state
        self._box = box
        self._env: Optional[Dict[str, str]] = None
        self._is_shut = False

    # ---- its life -------------------------------------------------------------------------------

    async def _prepare_backend_workspace(self) -> None:
        root = self.state.manifest.root
        done = await self._run(["mkdir", "-p", "--", root], ".", None)
        if done.status != 0:
            raise _sandbox.WorkspaceArchiveWriteError(path=Path(root), context={
                "reason": done.err.decode("utf-8", "replace")})

    async def running(self) -> bool:
        """Is its box there?"""
        return not self._is_shut and bool(await self._box.session.is_alive())

    async def _shutdown_backend(self) -> None:
        self._is_shut = True
        await self._box.close()

    # ---- commands -------------------------------------------------------------------------------

    def _prepare_exec_command(self, *command: Any, shell: Any, user: Any) -> Any:
        _refuse_user(user)
        return super()._prepare_exec_command(*command, shell=shell, user=user)

    async def _exec_internal(self, *command: Any, timeout: Optional[float] = None) -> Any:
        words = [str(word) for word in command]
        done = await self._run(words, self.state.manifest.root, timeout)
        note = f"\n[the last {OUTPUT_BYTES} bytes of each stream were kept]\n" if done.is_cut else ""
        return _sandbox.ExecResult(stdout=done.out, stderr=done.err + note.encode(),
                                   exit_code=done.status)

    async def _run(self, words: List[str], cwd: str, timeout: Optional[float]) -> Ended:
        try:
            return await self._box.run(words, OUTPUT_BYTES, cwd=cwd, env=await self._variables(),
                                       timeout=timeout)
        except TimeoutError as error:
            raise _sandbox.ExecTimeoutError(command=words, timeout_s=timeout,
                                            cause=error) from error
        except PermissionError as error:
            return Ended(126, b"", f"{error}\n".encode("utf-8", "replace"))
        except LazaretError as error:
            raise _sandbox.ExecTransportError(command=words, cause=error) from error

    async def _variables(self) -> Dict[str, str]:
        if self._env is None:
            resolved = await self.state.manifest.environment.resolve()
            self._env = {name: value for name, value in resolved.items() if value is not None}
        return self._env

    # ---- files ----------------------------------------------------------------------------------

    async def read(self, path: Any, *, user: Any = None) -> io.IOBase:
        """Read a file of the workspace."""
        _refuse_user(user)
        file = await self._validate_path_access(path)
        return io.BytesIO(await self._read(file))

    async def _read(self, file: Path) -> bytes:
        try:
            return await self._box.read(file.as_posix(), FILE_BYTES)
        except FileNotFoundError as error:
            raise _sandbox.WorkspaceReadNotFoundError(path=file, cause=error) from error
        except (OSError, TooLong, LazaretError) as error:
            raise _sandbox.WorkspaceArchiveReadError(
                path=file, context={"reason": str(error)}, cause=error) from error

    async def write(self, path: Any, data: Any, *, user: Any = None) -> None:
        """Write a file of the workspace; directories above it are made."""
        _refuse_user(user)
        file = await self._validate_path_access(path, for_write=True)
        await self._write(file, _content_of(file, data))

    async def _write(self, file: Path, data: bytes) -> None:
        try:
            await self._box.write(file.as_posix(), data)
        except (OSError, LazaretError) as error:
            raise _sandbox.WorkspaceArchiveWriteError(
                path=file, context={"reason": str(error)}, cause=error) from error

    async def persist_workspace(self) -> io.IOBase:
        """The workspace as a tar."""
        skipped = sorted(path.as_posix() for path in self._persist_workspace_skip_relpaths())
        archive = await self._archive()
        try:
            done = await self._tar(["-cf", archive.as_posix(), "--no-wildcards", "--anchored",
                                    *(f"--exclude=./{path}" for path in skipped), "."])
            if done.status != 0:
                raise _sandbox.WorkspaceArchiveReadError(path=Path(self.state.manifest.root), context={
                    "reason": done.err.decode("utf-8", "replace")})
            return io.BytesIO(await self._read(archive))
        finally:
            await self._remove(archive)

    async def hydrate_workspace(self, data: Any) -> None:
        """Unpack a tar into the workspace."""
        root = Path(self.state.manifest.root)
        content = _content_of(root, data)
        archive = await self._archive()
        await self._prepare_backend_workspace()
        try:
            await self._write(archive, content)
            done = await self._tar(["-xf", archive.as_posix()])
        finally:
            await self._remove(archive)
        if done.status != 0:
            raise _sandbox.WorkspaceArchiveWriteError(path=root, context={
                "reason": done.err.decode("utf-8", "replace")})

    async def _archive(self) -> Path:
        return Path(os.path.dirname(await self._box.where()), _ARCHIVE)

    async def _tar(self, words: List[str]) -> Ended:
        return await self._run(["tar", *words], self.state.manifest.root, None)

    async def _remove(self, file: Path) -> None:
        await self._run(["rm", "-f", "--", file.as_posix()], ".", None)


def _refuse_user(user: Any) -> None:
    if user is not None:
        raise NotImplementedError(
            f"user={getattr(user, 'name', user)!r}: a sandbox of lazaret has one user, who is nobody "
            "on the host")


def _content_of(path: Path, data: Any) -> bytes:
    content = data.read()
    if isinstance(content, str):
        content = content.encode("utf-8")
    if not isinstance(content, (bytes, bytearray)):
        raise _sandbox.WorkspaceWriteTypeError(path=path, actual_type=type(content).__name__)
    return bytes(content)


class LazaretSandboxClient(_Client):
    """`Runner.run(agent, ..., run_config=RunConfig(sandbox=SandboxRunConfig(client=...)))`.

    settings: keys of the configuration, as {"sandbox.write": ["/srv/project"]}; besides these any
        program can be run, and no clock runs but those of the SDK
    server: where the boxes are, in place of a server with these settings

    The workspace is a directory of the box unless the manifest names another root, which has to be
    in `sandbox.write`. Files of it are bounded by `limits.fsize` and `sandbox.tmp_size`.
    """

    backend_id = "lazaret"
    supports_default_options = True

    def __init__(self, settings: Optional[Mapping[str, Any]] = None, *,
                 server: Optional[Server] = None, dependencies: Any = None) -> None:
        if settings and server is not None:
            raise ValueError("`settings` are of a server of its own, and `server` is another")
        self._settings = {**SETTINGS, **(settings or {})}
        self._given = server
        self._own: Optional[Server] = None
        self._dependencies = dependencies
        self._starting = threading.Lock()

    async def create(self, *, snapshot: Any = None, manifest: Any = None,
                     options: Any = None) -> Any:
        """Make a session; there are no options."""
        if options is not None:
            raise TypeError("a sandbox of lazaret has no options: LazaretSandboxClient has settings")
        manifest = manifest if manifest is not None else _sandbox.Manifest()
        self._validate_manifest_for_create(manifest)
        number = uuid.uuid4()
        state = LazaretSandboxSessionState(
            session_id=number, manifest=manifest, has_own_root=manifest.root == _ROOT,
            snapshot=_sandbox.resolve_snapshot(snapshot, str(number)))
        return await self._open(state)

    async def resume(self, state: Any) -> Any:
        """Make a session with what a snapshot has of another."""
        if not isinstance(state, LazaretSandboxSessionState):
            raise TypeError(f"this is no state of a sandbox of lazaret, but {type(state).__name__}")
        state.assert_path_grants_rebound()
        state.workspace_root_ready = False
        return await self._open(state)

    async def delete(self, session: Any) -> Any:
        """End a session with all that is in its box."""
        await session.shutdown()
        return session

    def deserialize_session_state(self, payload: Dict[str, object]) -> Any:
        """The state of a session, which was JSON."""
        return self._deserialize_session_state_payload(payload, LazaretSandboxSessionState)

    async def _open(self, state: Any) -> Any:
        box = Box(await asyncio.get_running_loop().run_in_executor(None, self._started))
        await box.open()
        try:
            if state.has_own_root:
                root = os.path.join(os.path.dirname(await box.where()), "workspace")
                state.manifest = state.manifest.model_copy(update={"root": root})
        except BaseException:
            await box.close()
            raise
        return self._wrap_session(LazaretSandboxSession(state, box))

    def _started(self) -> Server:
        if self._given is not None:
            return self._given
        with self._starting:
            if self._own is None or not self._own.is_alive:
                self._own = Server(settings=self._settings)
                weakref.finalize(self, self._own.end)
            return self._own
