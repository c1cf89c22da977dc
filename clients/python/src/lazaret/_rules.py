# SPDX-License-Identifier: MIT
"""What a program asks of its own executions: settings of a server, a hook, a number, a log."""

import inspect
import math
import os
import sys
import threading
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Union

from ._results import Result
from ._tools import error_text

Limit = Union[int, float, str]
Limits = Mapping[str, Limit]
Hook = Callable[[str], Any]
Network = Iterable[Union[str, Mapping[str, Any]]]
Credentials = Iterable[Union[str, Mapping[str, Any]]]

_NOTHING_RAN = frozenset(["blocked", "syntax_error", "setup_failed"])


def _limit(value: Limit) -> Limit:
    if isinstance(value, str):
        return value
    if math.isnan(value) or value <= 0:
        raise ValueError(f"a limit is {value}, and must be a positive number, or math.inf for none")
    return "unlimited" if math.isinf(value) else math.ceil(value)


def network_of(rules: Network) -> List[Any]:
    """The rules of a network list, as messages have them."""
    if isinstance(rules, (str, bytes, Mapping)):
        raise TypeError("a network list is a list of rules, such as [\"https://api.example.com\"]")
    return list(rules)


def credentials_of(credentials: Credentials) -> List[Any]:
    """Credentials, as messages have them. No error has what is in one."""
    if isinstance(credentials, (str, bytes, Mapping)):
        raise TypeError("credentials are a list of names and of dictionaries")
    made = [dict(one) if isinstance(one, Mapping) else one for one in credentials]
    if not all(isinstance(one, (str, dict)) for one in made):
        raise TypeError("a credential is a name or a dictionary")
    return made


def settings_of(limits: Optional[Limits], audit_log: Union[str, "os.PathLike[str]", None],
                sanitize_errors: bool) -> Dict[str, Any]:
    """The settings of a server that does what is asked for; none: any server does."""
    settings: Dict[str, Any] = {f"limits.{name}": _limit(value)
                                for name, value in (limits or {}).items()}
    if audit_log is not None:
        if not os.fspath(audit_log):
            raise ValueError("audit_log must be the path of a file")
        settings["audit.file"] = os.path.abspath(audit_log)
    if sanitize_errors:
        settings["session.sanitize_errors"] = True
    return settings


def check_server(server: Any, settings: Mapping[str, Any]) -> None:
    """Raise an error where settings are given for a server that others may share.

    One that is named, as by a URL, has to be made first: it is told there who we are.
    """
    if isinstance(server, (str, os.PathLike)):
        raise TypeError("server must be a Server, as Server(url=\"tls://HOST:PORT\", "
                        "token_file=...) makes it")
    if settings and server is not None:
        raise ValueError("limits, audit_log and sanitize_errors belong to a server: give them to "
                         "Server(settings={...}), or leave out server")


def blocked(why: str) -> Result:
    """The result of code that was not sent."""
    return Result.from_json({"verdict": {"reason": "blocked", "detail": why}})


class Rules:
    """Which executions of a session, a pool, or of one code there may be, and what is told of them.

    Each is admitted by `ask`, `decide`, and released once, whatever became of it.
    """

    def __init__(self, max_executions: Optional[int], pre_execute_hook: Optional[Hook],
                 verbose: bool) -> None:
        if max_executions is not None and max_executions < 1:
            raise ValueError(f"max_executions is {max_executions}, and must be a number from 1")
        if pre_execute_hook is not None and not callable(pre_execute_hook):
            raise TypeError("pre_execute_hook must be a function")
        self._max = max_executions
        self._hook = pre_execute_hook
        self._verbose = verbose
        self._lock = threading.Lock()
        self._count = 0

    # ---- before the code is sent ----------------------------------------------------------------

    def _is_used_up(self) -> bool:
        return self._max is not None and self._count >= self._max

    def _used_up(self) -> Result:
        return blocked(f"the maximum of {self._max} executions is reached")

    def failed(self, error: Exception) -> Result:
        return blocked(f"pre_execute_hook has failed: {error_text(error)}")

    def ask(self, code: str) -> Any:
        """What the hook says of the code, or a result that blocks it."""
        if self._is_used_up():
            return self._used_up()
        if self._hook is None:
            return None
        try:
            return self._hook(code)
        except Exception as error:
            return self.failed(error)

    def decide(self, answer: Any) -> Optional[Result]:
        """Count the execution, or give the result of one that is blocked."""
        if inspect.iscoroutine(answer):
            answer.close()
            raise TypeError("pre_execute_hook is a coroutine function: it needs AsyncSession")
        if isinstance(answer, Result):
            refused = answer
        elif answer is False:
            refused = blocked("pre_execute_hook has refused the code")
        else:
            with self._lock:
                if not self._is_used_up():
                    self._count += 1
                    return None
            refused = self._used_up()
        self.say(f"execution blocked: {refused.detail}")
        return refused

    # ---- afterwards -----------------------------------------------------------------------------

    def release(self, has_run: bool) -> None:
        """What was admitted is over; code that did not run does not count."""
        if not has_run:
            with self._lock:
                self._count -= 1

    def say(self, text: str) -> None:
        """Tell whoever watches what happens."""
        if self._verbose:
            print(f"[lazaret] {text}", file=sys.stderr, flush=True)

    def say_ended(self, result: Result) -> None:
        time = f" ({result.usage['wall_ms']:.0f} ms)" if "wall_ms" in result.usage else ""
        self.say(f"execution ended: {result.verdict}{time}")

    def say_called(self, kind: str, tool: str, args: Iterable[str]) -> None:
        what = "approval of" if kind == "approval" else "tool call:"
        self.say(f"{what} {tool}({', '.join(args)})")


def has_run(result: Result) -> bool:
    """Has the code of this result been run?"""
    return result.verdict not in _NOTHING_RAN
