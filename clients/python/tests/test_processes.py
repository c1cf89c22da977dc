# SPDX-License-Identifier: MIT
"""Sockets, signals, forks, and the end of the program that uses the package."""

import os
import select
import signal
import subprocess
import tempfile
import unittest

import lazaret
from lazaret._process import find_program
from support import GUARD_SECONDS, LiveTest

INTERRUPTED = """
import lazaret
with lazaret.Session("lua") as session:
    try:
        session.execute("print('ready') while true do end",
                        output=lambda stream, text: print(text, end="", flush=True))
    except KeyboardInterrupt:
        print("interrupted", session.execute("return 7").value, flush=True)
"""

FORKED = """
import os
import lazaret
session = lazaret.Session("lua")
child = os.fork()
if child == 0:
    try:
        session.execute("return 1")
    except lazaret.LazaretError as error:
        print("child:", error, flush=True)
    session.close()
    session.server.close()
    print("anew:", lazaret.execute("return 2", "lua").value, flush=True)
    raise SystemExit
os.waitpid(child, 0)
print("parent:", session.execute("return 3").value, flush=True)
"""

PARENT = """
import lazaret, sys
session = lazaret.Session("lua")
session.execute("return 1")
print(session.server.pid, flush=True)
sys.stdin.read()
"""


class Processes(LiveTest):
    def test_interrupt_cancels_waits_and_is_raised(self) -> None:
        process = self.start(INTERRUPTED)
        assert process.stdout
        self.assertEqual(process.stdout.readline(), "ready\n")
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.stdout.readline(), "interrupted 7\n")
        self.assertEqual(process.wait(GUARD_SECONDS), 0)

    def test_forked_child_gets_an_error_and_the_parent_goes_on(self) -> None:
        process = self.start(FORKED)
        out, err = process.communicate(timeout=GUARD_SECONDS)
        lines = out.splitlines()
        self.assertEqual(len(lines), 3, out + err)
        self.assertRegex(lines[0], "^child: this server belongs to process [0-9]+, ")
        self.assertEqual(lines[1:], ["anew: 2", "parent: 3"])
        self.assertNotIn("Traceback", err)

    @unittest.skipUnless(hasattr(os, "pidfd_open"), "the system has no pidfd_open")
    def test_server_ends_with_its_parent(self) -> None:
        for kill in (True, False):
            with self.subTest(kill=kill):
                process = self.start(PARENT, stdin=subprocess.PIPE)
                assert process.stdout
                server = os.pidfd_open(int(process.stdout.readline()))
                self.addCleanup(os.close, server)
                if kill:
                    process.kill()
                else:
                    process.communicate("go on")  # and it ends without closing anything
                ended, _, _ = select.select([server], [], [], GUARD_SECONDS)
                self.assertTrue(ended)


class Sockets(LiveTest):
    def test_two_clients_at_a_socket(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "socket")
            with self.assertRaisesRegex(lazaret.SetupFailed, "cannot connect"):
                lazaret.Server(path=path)
            process = subprocess.Popen([find_program(None), "serve", "--listen", path],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, start_new_session=True)
            try:
                assert process.stderr is not None
                self.assertIn(b"listening at", process.stderr.readline())
                process.stderr.close()
                with lazaret.Server(path=path) as one, lazaret.Server(path=path) as two:
                    first = lazaret.Session("lua", tools=[os.getpid], server=one)
                    second = lazaret.Session("lua", server=two)
                    self.assertEqual(first.execute("return 1").value, 1)
                    self.assertEqual(second.execute("return 2").value, 2)
                    self.assertIsNone(one.pid)
                    process.terminate()
                    process.wait(GUARD_SECONDS)
                    self.assertRaises(lazaret.WorkerLost, first.execute, "return 1")
            finally:
                process.kill()
                process.wait()


if __name__ == "__main__":
    unittest.main()
