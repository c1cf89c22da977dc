# SPDX-License-Identifier: MIT
"""What the tests that need the program have in common."""

import faulthandler
import os
import subprocess
import sys
import unittest
from typing import List, Optional

import lazaret
from lazaret._process import find_program

GUARD_SECONDS = 30  # a test that takes longer hangs: the run ends with all stacks
SETTINGS = {"session.max_message_size": "32MiB", "limits.memory": "128MiB"}


def why_missing() -> str:
    """Why the program cannot be used, or an empty text."""
    try:
        find_program(None)
    except lazaret.SetupFailed as error:
        return str(error)
    return ""


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

    def start(self, program: str, stdin: Optional[int] = None) -> "subprocess.Popen[str]":
        """Start Python with a program, in a process group of its own."""
        command: List[str] = [sys.executable, "-c", program]
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)

        def end() -> None:
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process
