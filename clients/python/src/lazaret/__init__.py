# SPDX-License-Identifier: MIT
"""Run untrusted code in sandboxed sessions of lazaret, with Python functions as its tools."""

from ._async import AsyncPool, AsyncSession
from ._commands import Completed
from ._execution import Approval, Progress
from ._files import Artifact
from ._results import (
    Blocked,
    Cancelled,
    ExecutionError,
    LazaretError,
    LimitExceeded,
    LostArtifact,
    Output,
    RequestFailed,
    Result,
    SetupFailed,
    SyntaxFailed,
    Timeout,
    ToolError,
    WorkerLost,
)
from ._server import Server, default_server
from ._session import Pool, Session, execute
from ._tools import Tool, tool

__version__ = "0.1.0"

__all__ = [
    "Approval",
    "Artifact",
    "AsyncPool",
    "AsyncSession",
    "Blocked",
    "Cancelled",
    "Completed",
    "ExecutionError",
    "LazaretError",
    "LimitExceeded",
    "LostArtifact",
    "Output",
    "Pool",
    "Progress",
    "RequestFailed",
    "Result",
    "Server",
    "Session",
    "SetupFailed",
    "SyntaxFailed",
    "Timeout",
    "Tool",
    "ToolError",
    "WorkerLost",
    "default_server",
    "execute",
    "tool",
]
