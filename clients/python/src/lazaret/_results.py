# SPDX-License-Identifier: MIT
"""Results of executions, and the exceptions that report them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Type

from ._values import decode

if TYPE_CHECKING:
    from ._files import Artifact


class Output(NamedTuple):
    """A piece of output."""

    stream: str  # "stdout" or "stderr"
    text: str


class LostArtifact(NamedTuple):
    """A file that is not an artifact, because it did not come as a whole."""

    name: str
    bytes: int  # that have come, and are gone
    why: str


@dataclass(frozen=True)
class Result:
    """What became of one execution."""

    verdict: str  # "ok", "error", "syntax_error", "timeout", ...
    value: Any = None  # the value of the code, as a Python value
    value_omitted: bool = False  # is it None because it was too large? A warning says more
    text: Optional[str] = None  # the value as the language prints it
    output: List[Output] = field(default_factory=list)
    truncated: bool = False  # is the output incomplete, because of a limit?
    detail: str = ""  # why the verdict is not "ok"
    evidence: Dict[str, Any] = field(default_factory=dict)
    error: Optional[Dict[str, Any]] = None  # kind, message, traceback, line, column
    warnings: List[str] = field(default_factory=list)
    replaced: Optional[str] = None  # why the session lost its state before this execution
    kept: bool = False  # does the session go on with all that its code has made?
    usage: Dict[str, Any] = field(default_factory=dict)
    isolation: Optional[Dict[str, Any]] = None  # what was enforced, and by what
    session: Optional[str] = None  # name of the session, as in the audit log
    raw: Dict[str, Any] = field(default_factory=dict, repr=False)  # the result as JSON
    dropped: int = 0  # bytes of output that the callback did not get, because it was too slow
    denials: List[Any] = field(default_factory=list)  # what the sandbox has refused, if reported
    artifacts: List["Artifact"] = field(default_factory=list)  # files and figures of the code
    artifacts_lost: List[LostArtifact] = field(default_factory=list)  # those that are not whole
    # those that were used: `name`, `host`, and `count`, how often
    credentials: List[Any] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Did the code end without an error?"""
        return self.verdict == "ok"

    @property
    def stdout(self) -> str:
        """All standard output."""
        return "".join(piece.text for piece in self.output if piece.stream == "stdout")

    @property
    def stderr(self) -> str:
        """All standard error."""
        return "".join(piece.text for piece in self.output if piece.stream == "stderr")

    @classmethod
    def from_json(cls, raw: Dict[str, Any], dropped: int = 0,
                  artifacts: Sequence["Artifact"] = ()) -> "Result":
        """Make a result of the object that the server has sent."""
        verdict = raw.get("verdict") or {}
        return cls(
            verdict=verdict.get("reason", "protocol_error"),
            value=decode(raw.get("value")),
            value_omitted=bool(raw.get("value_omitted")),
            text=raw.get("text"),
            output=[Output(piece["stream"], piece["text"]) for piece in raw.get("output", ())],
            truncated=bool(raw.get("truncated")),
            detail=verdict.get("detail", ""),
            evidence=verdict.get("evidence") or {},
            error=raw.get("error"),
            warnings=raw.get("warnings") or [],
            replaced=raw.get("replaced"),
            kept=bool(raw.get("kept")),
            usage=raw.get("usage") or {},
            isolation=raw.get("isolation"),
            session=raw.get("session"),
            raw=raw,
            dropped=dropped,
            denials=raw.get("denials") or [],
            artifacts=list(artifacts),
            artifacts_lost=[LostArtifact(lost["name"], lost["bytes"], lost["why"])
                            for lost in raw.get("artifacts_lost") or ()],
            credentials=raw.get("credentials") or [],
        )

    def raise_for_verdict(self) -> None:
        """Raise the exception of the verdict, unless it is "ok"."""
        if not self.ok:
            raise error_of(self)


class LazaretError(Exception):
    """Base of all exceptions of this package.

    `result` is the result of the execution, or None if there is none.
    """

    def __init__(self, message: str = "", result: Optional[Result] = None) -> None:
        super().__init__(message)
        self.result = result

    def _of_error(self, key: str) -> Any:
        error = self.result.error if self.result is not None else None
        return error.get(key) if error else None

    @property
    def kind(self) -> Optional[str]:
        """What kind of failure: the verdict, or for ExecutionError the kind of the error."""
        return self.result.verdict if self.result is not None else None

    @property
    def line(self) -> Optional[int]:
        """Line of the code, from 1, where it is known."""
        line: Optional[int] = self._of_error("line")
        return line

    @property
    def traceback(self) -> List[str]:
        """The traceback of the code, as lines of text."""
        return list(self._of_error("traceback") or ())


class ExecutionError(LazaretError):
    """The code has ended with an error. `kind` is "runtime", "exit", "too_large", ..."""

    @property
    def kind(self) -> Optional[str]:
        kind: Optional[str] = self._of_error("kind")
        return kind


class SyntaxFailed(LazaretError):
    """The code could not be parsed; none of it has run."""


class Timeout(LazaretError):
    """The code ran longer than `timeout`, or the whole execution longer than `deadline`."""


class LimitExceeded(LazaretError):
    """The code has exceeded a limit; `kind` says which: "memory_limit", "cpu_limit", ..."""


class Blocked(LazaretError):
    """The server has refused to run the code."""


class Cancelled(LazaretError):
    """The execution was cancelled."""


class WorkerLost(LazaretError):
    """The process that ran the code is gone, or the server is."""


class SetupFailed(LazaretError):
    """The server or the sandbox could not be started."""


class RequestFailed(LazaretError):
    """The server has refused a request. `code` is its error: "LAZ_EBUSY", ..."""

    def __init__(self, message: str = "", code: str = "") -> None:
        super().__init__(message)
        self.code = code


class ToolError(Exception):
    """Raised by a tool: its text reaches the code without the name of this class before it."""


_BY_VERDICT: Dict[str, Type[LazaretError]] = {
    "error": ExecutionError,
    "syntax_error": SyntaxFailed,
    "timeout": Timeout,
    "deadline": Timeout,
    "cpu_limit": LimitExceeded,
    "memory_limit": LimitExceeded,
    "fsize_limit": LimitExceeded,
    "tool_limit": LimitExceeded,
    "output_limit": LimitExceeded,
    "blocked": Blocked,
    "cancelled": Cancelled,
    "protocol_error": WorkerLost,
    "crashed": WorkerLost,
    "setup_failed": SetupFailed,
}


def error_of(result: Result) -> LazaretError:
    """The exception for a result that is not ok."""
    message = (result.error or {}).get("message") or result.detail or result.verdict
    return _BY_VERDICT.get(result.verdict, LazaretError)(message, result)
