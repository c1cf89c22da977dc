# SPDX-License-Identifier: MIT
"""What the tests that need the program have in common."""

import faulthandler
import importlib.util
import os
import subprocess
import sys
import unittest
from typing import Any, Callable, List, Optional, TypeVar

import lazaret
from lazaret._process import find_program

Test = TypeVar("Test", bound=Callable[..., Any])
GUARD_SECONDS = 600  # a test that takes longer hangs: the run ends with all stacks
SETTINGS = {"session.max_message_size": "32MiB", "limits.memory": "128MiB",
            "session.interrupt_grace": 60}  # a busy machine needs more than a second


def why_missing() -> str:
    """Why the program cannot be used, or an empty text."""
    try:
        find_program(None)
    except lazaret.SetupFailed as error:
        return str(error)
    return ""


def needs(*modules: str) -> Callable[[Test], Test]:
    """Skip a test, or the tests of a class, without these modules, unless they are a must."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    required = os.environ.get("LAZARET_TEST_NEED", "").split(",")
    if not missing or "all" in required or set(missing) & set(required):
        return lambda test: test
    return unittest.skip(f"not installed: {', '.join(missing)}")


class LiveTest(unittest.TestCase):
    """Tests with the real program; they share one server."""

    server: lazaret.Server

    @classmethod
    def setUpClass(cls) -> None:
        missing = why_missing()
        if missing and not os.environ.get("LAZARET_TEST_NEED"):
            raise unittest.SkipTest(missing)
        cls.server = lazaret.Server(settings=SETTINGS)
        cls.addClassCleanup(cls.server.close)

    def setUp(self) -> None:
        faulthandler.dump_traceback_later(GUARD_SECONDS, exit=True)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)

    def lua(self, *tools: object) -> lazaret.Session:
        """A session of Lua with these tools, closed after the test."""
        session = lazaret.Session("lua", tools=tools, server=self.server)  # type: ignore[arg-type]
        self.addCleanup(session.close)
        return session

    def server_with(self, **settings: object) -> lazaret.Server:
        """A server with these settings, `__` for a dot, closed after the test."""
        server = lazaret.Server(settings={
            key.replace("__", "."): value for key, value in settings.items()})
        self.addCleanup(server.close)
        return server

    def start(self, program: str, stdin: Optional[int] = None) -> "subprocess.Popen[str]":
        """Start Python with a program, in a process group of its own.

        What a shell starts in the background ignores SIGINT, and so would the program.
        """
        interruptible = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        command: List[str] = [sys.executable, "-c", interruptible + program]
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)

        def end() -> None:
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process
