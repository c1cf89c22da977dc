# SPDX-License-Identifier: MIT
"""What the adapters for frameworks have in common: what a model is told, and how it is refused.

An adapter is a module of its own (`lazaret.smolagents`, ...), which imports its framework; nothing
else in this package does.
"""

import asyncio
import contextlib
import contextvars
import importlib
from typing import Any, AsyncIterator, Dict, Iterable, List, Optional

from ._async import AsyncPool, AsyncSession
from ._results import LazaretError, Result
from ._schema import signature_of
from ._session import Pool, Session

OUTPUT_CHARACTERS = 20000  # of the output that a model is shown: the beginning, and the end
_TRACEBACK_LINES = 20
_NAMED_FILES = 20

LANGUAGES = {"python": "Python", "r": "R", "lua": "Lua", "shell": "bash",
             "javascript": "JavaScript or TypeScript"}

CODE_SCHEMA: Dict[str, Any] = {
    "type": "object",
    "properties": {"code": {"type": "string", "description": "the code to run"}},
    "required": ["code"],
    "additionalProperties": False,
}


def framework(module: str, package: str, extra: str) -> Any:
    """Import a module of a framework; where that is missing, say what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise  # something that the framework needs
        raise ImportError(
            f"lazaret.{extra} needs the package {package}, which is not installed: "
            f"pip install {package}",
            name=module) from error


def lasts(result: Result) -> bool:
    """Is what was in the sandbox before this execution still there: variables and files?"""
    return result.kept and not result.replaced


# ---- what a model is told -----------------------------------------------------------------------


def shorten(text: str, limit: int = OUTPUT_CHARACTERS) -> str:
    """A text, or its beginning and its end, with how much was left out between them."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[-tail:]}"


def error_report(result: Result) -> str:
    """Why an execution is not ok, with what a model needs to mend its code."""
    error = result.error or {}
    message = error.get("message") or result.detail or result.verdict
    lines = list(error.get("traceback") or ())[-_TRACEBACK_LINES:]
    place = f" (line {error['line']})" if error.get("line") else ""
    text = "\n".join([f"{result.verdict}: {message}{place}", *lines])
    return shorten(text)


def report(result: Result, limit: int = OUTPUT_CHARACTERS) -> str:
    """A result as a text for a model: output, value or error, files, and whether state was lost."""
    parts: List[str] = []
    if result.replaced:
        parts.append(f"The session was started anew ({result.replaced}) before this code ran: "
                     "variables and files of before are gone.")
    output = "".join(piece.text for piece in result.output)
    if output:
        parts.append(shorten(output, limit).rstrip("\n"))
    if result.truncated:
        parts.append("[the output is incomplete: a limit was reached]")
    if not result.ok:
        parts.append(error_report(result))
    elif result.evidence.get("exit_status"):  # of a shell, or a program
        parts.append(f"exit status {result.evidence['exit_status']}")
    elif result.text and (result.value is not None or result.value_omitted):
        parts.append(shorten(result.text, limit))
    if result.artifacts:
        named = [f"{artifact.name} ({artifact.type}, {artifact.size} bytes)"
                 for artifact in result.artifacts[:_NAMED_FILES]]
        more = len(result.artifacts) - len(named)
        parts.append("Files: " + ", ".join(named) + (f", and {more} more" if more else ""))
    parts.extend(f"The file {lost.name} is lost: {lost.why}"
                 for lost in result.artifacts_lost[:_NAMED_FILES])
    return "\n".join(parts) or "(no output and no value)"


def pictures(result: Result) -> List[bytes]:
    """The PNG pictures among the artifacts."""
    found = (artifact._repr_png_() for artifact in result.artifacts)
    return [picture for picture in found if picture is not None]


def code_description(runtime: Optional[str], declarations: Iterable[Dict[str, Any]] = ()) -> str:
    """What a model is told of a tool that runs code."""
    language = LANGUAGES.get(runtime or "", runtime or "")
    code = f"{language} code" if language else "code"
    value, lasting, files = "the value of its last expression", "Variables", "and its plots, "
    if runtime == "shell":
        value, lasting, files = "its exit status", "The directory, variables and functions", ""
    text = (f"Run {code} in a sandbox without a network, and get its output and {value}. "
            f"{lasting} last from one call to the next. Files that it saves in the "
            f"directory `artifacts`, {files}are given to the user.")
    functions = [signature_of(declaration) for declaration in declarations]
    if functions and runtime == "javascript":
        text += ("\nThe code can call these functions. Each gives a promise: await it, at the top "
                 "level too; calls in Promise.all run side by side. Arguments are given in this "
                 "order, or by name in one object.\n" + "\n".join(functions))
    elif functions:
        text += "\nThe code can call these functions:\n" + "\n".join(functions)
    return text


# ---- running in a session that belongs to the program -------------------------------------------


def described(session: Any) -> str:
    """The description of a tool that runs code in this session or pool."""
    return code_description(session.runtime, session.declarations)


_running: "contextvars.ContextVar[frozenset[int]]" = contextvars.ContextVar(
    "lazaret_running", default=frozenset())


class Turns:
    """One execution at a time in a session: a model may call its tool several times at once.

    Code that calls a tool which runs code in the same session would wait for itself: that is an
    error.
    """

    def __init__(self, session: Any) -> None:
        self._needs_turns = isinstance(session, AsyncSession)
        self._lock: Optional[asyncio.Lock] = None
        self._loop: Optional[asyncio.AbstractEventLoop] = None

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        if not self._needs_turns:
            yield
            return
        if id(self) in _running.get():
            raise LazaretError("code that runs in a session cannot run other code in it")
        loop = asyncio.get_running_loop()
        if self._lock is None or self._loop is not loop:
            self._lock, self._loop = asyncio.Lock(), loop
        async with self._lock:
            token = _running.set(_running.get() | {id(self)})
            try:
                yield
            finally:
                _running.reset(token)


def check_session(session: Any, *, is_async: bool) -> None:
    """Raise a TypeError unless it is a session, or a pool, of this kind."""
    wanted = (AsyncSession, AsyncPool) if is_async else (Session, Pool)
    if not isinstance(session, wanted):
        names = " or ".join(kind.__name__ for kind in wanted)
        raise TypeError(f"this needs an {names}, not {type(session).__name__}"
                        if is_async else f"this needs a {names}, not {type(session).__name__}")
