# SPDX-License-Identifier: MIT
"""A box that commands run in and files lie in, for frameworks whose sandbox is that and no more.

It is a session of Python, because a framework wants bytes as they are, errors of files as what they
are, and a command that is late to be gone with all that it has started. Code has none of these from
a session of a shell.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Type, TypeVar

from ._async import AsyncSession
from ._results import LazaretError, Result
from ._schema import SchemaTool
from ._server import Server

_Value = TypeVar("_Value")

REQUEST = "lazaret_request"  # a tool of ours, by which a request comes into the sandbox
_GRACE_SECONDS = 30.0  # that the box gets beside the timeout of a command

# Runs in the sandbox. It begins anew with each request, because code in the box may change it.
_HELPER = '''
def lazaret_answer(request):
    import errno, os, shutil, signal, subprocess, tempfile
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
        if os.path.isdir(path):  # also of one that may not be opened
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
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
    def where():
        return {"path": os.getcwd()}
    class Answer(dict):
        __repr__ = object.__repr__  # nobody reads it, and that of many bytes is long
    try:
        return Answer({"run": run, "read": read, "write": write,
                       "where": where}[request["kind"]]())
    except OSError as error:
        return {"error": type(error).__name__, "errno": error.errno or 0, "text": str(error)}
lazaret_answer(lazaret_request())
'''

PIECE_BYTES = 8 << 20  # of a file in one message, either way: values and messages are bounded
PIECE = ".lazaret-piece"  # where a piece of a file, and the input of a command, are on their way
INPUT = ".lazaret-input"

# Without a configuration: the framework has the times, and starts what it likes.
SETTINGS: Dict[str, Any] = {
    "sandbox.programs": "any", "session.timeout": 0, "session.deadline": 0}

_ERRORS = {kind.__name__: kind for kind in (
    FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError, FileExistsError)}


class TooLong(Exception):
    """A file is longer than it may be."""


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    status: int  # a signal is 128 and its number
    out: bytes
    err: bytes
    is_cut: bool = False  # of a stream that was too long there is the end alone


def _member(answer: Dict[str, Any], name: str, kind: Type[_Value]) -> _Value:
    """A member of an answer, which comes from the sandbox and can be anything."""
    value = answer.get(name)
    if not isinstance(value, kind):
        raise LazaretError(
            f"the sandbox has given an answer without {name!r}: its code was changed")
    return value


def _check(answer: Dict[str, Any], file: str) -> None:
    if "error" in answer:
        kind = _ERRORS.get(_member(answer, "error", str), OSError)
        raise kind(_member(answer, "errno", int), _member(answer, "text", str), file)


class Box:
    """One box. What is asked of it at the same time takes turns."""

    def __init__(self, server: Server) -> None:
        self.session = AsyncSession("python", [SchemaTool(
            lambda args: self._request, REQUEST, "what is asked of the box", {})], server)
        self._request: Dict[str, Any] = {}
        self._turn = asyncio.Lock()
        self._has_state = False

    async def open(self) -> None:
        """Start it."""
        await self.session.open()

    async def close(self) -> None:
        """End it, with all that is in it."""
        await self.session.close()

    async def run(self, cmd: List[str], limit: int, *, data: Optional[bytes] = None,
                  cwd: Optional[str] = None, env: Optional[Mapping[str, str]] = None,
                  timeout: Optional[float] = None) -> Ended:
        """Run a command, with these bytes as its input, and keep so many of each of its streams.

        TimeoutError: it was late, and is gone. PermissionError: it cannot be executed.
        """
        async with self._turn:
            if data:
                await self._write(INPUT, data)
            answer = await self._ask({"kind": "run", "cmd": cmd, "path": cwd or ".",
                                      "input": INPUT if data else "", "env": dict(env or {}),
                                      "timeout": timeout, "limit": limit}, timeout)
        if answer.get("late"):
            raise TimeoutError(f"the command did not end in {timeout} seconds")
        if "error" in answer:
            if answer["error"] == "PermissionError":
                raise PermissionError(_member(answer, "text", str))
            return Ended(127, b"", _member(answer, "text", str).encode("utf-8") + b"\n")
        out, err = (_member(answer, name, bytes) for name in ("out", "err"))
        is_cut = max(_member(answer, name, int) for name in ("out_size", "err_size")) > limit
        status = _member(answer, "status", int)
        return Ended(status if status >= 0 else 128 - status, out, err, is_cut)

    async def write(self, file: str, data: bytes) -> None:
        """Write a file; directories above it are made."""
        async with self._turn:
            await self._write(file, data)

    async def read(self, file: str, limit: int) -> bytes:
        """Read a file of at most so many bytes."""
        pieces: List[bytes] = []
        size = 0
        while True:
            async with self._turn:
                answer = await self._ask({"kind": "read", "path": file, "offset": size,
                                          "limit": PIECE_BYTES})
            _check(answer, file)
            pieces.append(_member(answer, "data", bytes))
            size += len(pieces[-1])
            if size > limit:
                raise TooLong
            if len(pieces[-1]) < PIECE_BYTES:
                return b"".join(pieces)

    async def where(self) -> str:
        """The directory where its commands start."""
        async with self._turn:
            return _member(await self._ask({"kind": "where", "path": "."}), "path", str)

    # ---- each of these needs the turn -----------------------------------------------------------

    async def _ask(self, request: Dict[str, Any], timeout: Optional[float] = None,
                   piece: Optional[bytes] = None) -> Any:
        self._request = request
        result = await self.session.execute(
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
            _check(answer, file)

    def _check_box(self, result: Result) -> None:
        if result.replaced and self._has_state:
            self._has_state = False
            raise LazaretError(f"the sandbox was started anew ({result.replaced}): its files are "
                               "gone", result)
        result.raise_for_verdict()
        if not isinstance(result.value, dict):
            raise LazaretError("the sandbox has given no answer: its code was changed", result)
        self._has_state = True
