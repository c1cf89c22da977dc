# SPDX-License-Identifier: MIT
"""Standard input of executions, and commands in sessions of the runtimes shell and program."""

import asyncio
import os
import subprocess
import unittest
from pathlib import Path
from typing import Any, List

import lazaret
from lazaret._commands import code_of
from lazaret._files import MOST_FILES
from support import LiveTest

READ = "return io.read('a')"
ODD = ["two words", "", "'", '"', "$HOME `x` \\", "-n", "\u20ac\n", "*", "~", "A=1", "!!"]
SHOW = "import sys; print(ascii(sys.argv[1:]))"


class Codes(unittest.TestCase):
    def test_words_of_a_shell_have_no_meaning(self) -> None:
        rows: List[Any] = [
            (["if", "a b", "it's", b"\xff"], None, None, "'if' 'a b' 'it'\\''s' $'\\377'"),
            ([Path("/bin/ls"), os.fsdecode(b"\xc3(")], None, None, "'/bin/ls' $'\\303\\050'"),
            (["x"], "-", {"A": "1 '"}, "(cd './-' && export A='1 '\\''' && 'x')"),
            (["x"], "/a b", None, "(cd '/a b' && 'x')"),
        ]
        for args, cwd, env, code in rows:
            with self.subTest(args=args):
                self.assertEqual(code_of("shell", args, cwd, env), code)

    def test_words_of_a_program_are_a_list(self) -> None:
        self.assertEqual(code_of("program", ["a", b"\xff", "\u20ac"], None, {}),
                         '["a", {"$bytes": "/w=="}, "\u20ac"]')
        self.assertEqual(code_of("program", ["a"], "d", {"A": "1"}),
                         '["sh", "-c", "cd \'./d\' && export A=\'1\' && exec \\"$@\\"", "sh", "a"]')

    def test_what_is_no_command(self) -> None:
        rows: List[Any] = [
            ("python", ["ls"], None, None, ValueError, "'shell' or 'program', .* 'python'"),
            (None, ["ls"], None, None, ValueError, "of None"),
            ("shell", "ls -l", None, None, TypeError, "list of words"),
            ("shell", [], None, None, ValueError, "name of a program"),
            ("shell", ["a\0b"], None, None, ValueError, "NUL"),
            ("program", [1], None, None, TypeError, "not int"),
            ("shell", ["a"], "", None, ValueError, "directory"),
            ("shell", ["a"], None, {"A B": "1"}, ValueError, "'A B'"),
            ("shell", ["a"], None, {"A\n": "1"}, ValueError, "variable"),
            ("shell", ["a"], None, {"A": 1}, TypeError, "A must be a text"),
            ("shell", ["a"], b"\xff", None, UnicodeDecodeError, "utf-8"),
        ]
        for runtime, args, cwd, env, kind, words in rows:
            with self.subTest(args=args), self.assertRaisesRegex(kind, words):
                code_of(runtime, args, cwd, env)


class Inputs(LiveTest):
    def test_everywhere(self) -> None:
        def tool() -> None:
            """Has to be there."""

        session = self.lua()
        given: List[Any] = ["a\u20ac\n", b"\x00\xff", bytearray(b"x"), memoryview(b"y"), ""]
        for one in given:
            value = session.execute("s = io.read('a'); return #s", input=one).value
            self.assertEqual(value, len(one.encode() if isinstance(one, str) else one))
        self.assertEqual(session.execute(READ).value, "")
        both = "return io.read('a') .. io.open('f'):read('a')"
        self.assertEqual(session.execute(both, input="1", files={"f": b"2"}).value, "12")
        with lazaret.Pool("lua", 1, server=self.server) as pool:
            self.assertEqual(pool.execute(READ, input="pool").value, "pool")
        self.assertEqual(lazaret.execute(READ, "lua", server=self.server, input="1").value, "1")
        self.assertEqual(lazaret.execute(READ, "lua", [tool], server=self.server, input="2").value,
                         "2")

    def test_in_asyncio(self) -> None:
        async def main() -> None:
            async with lazaret.AsyncSession("lua", server=self.server) as session:
                self.assertEqual((await session.execute(READ, input="in")).value, "in")
            async with lazaret.AsyncPool("lua", 1, server=self.server) as pool:
                self.assertEqual((await pool.execute(READ, input=b"in")).value, "in")

        asyncio.run(main())

    def test_what_is_large_goes_before(self) -> None:
        server = self.server_with(session__max_value_size="2MiB")
        data = bytes(server.max_line // 4 * 3)
        with lazaret.Session("lua", server=server) as session:
            self.assertEqual(session.execute("return #io.read('a')", input=data).value, len(data))
        with self.assertRaisesRegex(ValueError, f"at most {MOST_FILES}"):
            lazaret.execute(READ, "lua", server=server, input=data)

    def test_values_that_are_not_printed(self) -> None:
        try:
            value = lazaret.execute("x <- 5", "r", server=self.server, invisible=True).value
        except lazaret.SetupFailed as error:
            self.skipTest(str(error))
        self.assertEqual(value, 5)
        with lazaret.Session("r", server=self.server) as session:
            self.assertIsNone(session.execute("x <- 5").value)
            self.assertEqual(session.execute("x <- 6", invisible=True).value, 6)

    def test_what_is_refused(self) -> None:
        session = self.lua()
        wrong: List[Any] = [5, Path("x"), ["a"]]
        for one in wrong:
            self.assertRaises(TypeError, session.execute, READ, input=one)
        with self.assertRaisesRegex(ValueError, "input"):
            session.execute(READ, input="1", files={".stdin": b"2"})
        self.assertEqual(session.execute("return 1").value, 1)


class Commands(LiveTest):
    def open(self, runtime: str) -> lazaret.Session:
        try:
            lazaret.execute('["true"]' if runtime == "program" else "true", runtime,
                            server=self.server)
        except lazaret.SetupFailed as error:
            self.skipTest(str(error))
        session = lazaret.Session(runtime, server=self.server)
        self.addCleanup(session.close)
        return session

    def test_streams_and_status_are_apart(self) -> None:
        for runtime in ("shell", "program"):
            with self.subTest(runtime):
                session = self.open(runtime)
                args = ["sh", "-c", "cat; echo err >&2; exit $1", "sh", "3"]
                done = session.run(args, input="in\n")
                self.assertEqual((done.args, done.status, done.returncode, done.stdout,
                                  done.stderr), (args, 3, 3, "in\n", "err\n"))
                self.assertIsInstance(done, subprocess.CompletedProcess)
                self.assertEqual(session.run(["cat"]).stdout, "")
                self.assertEqual(session.run(["cat"], input=b"\xff").stdout, "\ufffd")
                self.assertFalse(done.truncated)
                self.assertEqual(session.run(["sh", "-c", "kill -9 $$"]).status, 137)
                done = session.run(["nothing-like-this"])
                self.assertEqual((done.status, done.stdout), (127, ""))
                self.assertIn("nothing-like-this", done.stderr)
                self.assertEqual(session.run(["/etc/passwd"]).status, 126)
                with self.assertRaises(subprocess.CalledProcessError) as caught:
                    session.run(["sh", "-c", "echo no >&2; false"], check=True)
                self.assertEqual((caught.exception.returncode, caught.exception.stderr), (1, "no\n"))

    def test_words_arrive_as_they_are(self) -> None:
        for runtime in ("shell", "program"):
            with self.subTest(runtime):
                session = self.open(runtime)
                expected = ascii(ODD + ["\udcff("]) + "\n"
                extras: List[Any] = [{}, {"cwd": "/", "env": {"A": "1"}}]
                for extra in extras:
                    done = session.run(["python3", "-c", SHOW, *ODD, b"\xff("], **extra)
                    self.assertEqual((done.stdout, done.stderr), (expected, ""))

    def test_a_directory_and_variables_of_one_command(self) -> None:
        show = ["sh", "-c", 'pwd; echo "$ONE$TWO"']
        for runtime in ("shell", "program"):
            with self.subTest(runtime):
                session = self.open(runtime)
                session.run(["mkdir", "-p", "--", "- d/e"], check=True)
                done = session.run(show, cwd="- d/e", env={"ONE": "it's ", "TWO": "$2\n"})
                self.assertEqual(done.stdout, "/tmp/work/- d/e\nit's $2\n\n")
                self.assertEqual(session.run(show).stdout, "/tmp/work\n\n")
                done = session.run(show, cwd="/nowhere")
                self.assertNotEqual(done.status, 0)
                self.assertEqual((done.stdout, "/nowhere" in done.stderr), ("", True))

    def test_a_shell_keeps_what_it_has(self) -> None:
        session = self.open("shell")
        session.execute("f() { echo \"f $1 $x\"; }; x=1; shopt -s expand_aliases; alias ls=false")
        self.assertEqual(session.run(["f", "a b"]).stdout, "f a b 1\n")
        self.assertEqual(session.run(["f", "2"], env={"x": "2"}).stdout, "f 2 2\n")
        self.assertEqual(session.run(["ls", "-d", "/"]).stdout, "/\n")
        session.run(["cd", "/usr"], check=True)
        self.assertEqual(session.execute("pwd; echo $x").stdout, "/usr\n1\n")
        done = session.run(["exit", "4"])
        self.assertEqual(done.status, 4)
        self.assertEqual(session.run(["pwd"]).result.replaced, "ok")

    def test_a_timeout_is_an_exception(self) -> None:
        for runtime in ("shell", "program"):
            with self.subTest(runtime):
                session = self.open(runtime)
                with self.assertRaises(lazaret.Timeout) as caught:
                    session.run(["sh", "-c", "echo before; sleep 1000"], timeout=0.5)
                assert caught.exception.result is not None
                self.assertEqual(caught.exception.result.stdout, "before\n")
                self.assertTrue(caught.exception.result.kept)
                self.assertEqual(session.run(["echo", "on"]).stdout, "on\n")

    def test_in_asyncio(self) -> None:
        self.open("shell")

        async def main() -> None:
            async with lazaret.AsyncSession("shell", server=self.server) as session:
                done = await session.run(["tr", "a-z", "A-Z"], input="text")
                self.assertEqual((done.status, done.stdout), (0, "TEXT"))
                with self.assertRaises(subprocess.CalledProcessError):
                    await session.run(["false"], check=True)

        asyncio.run(main())

    def test_other_runtimes_are_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "'shell' or 'program', and this one is of 'lua'"):
            self.lua().run(["ls"])


if __name__ == "__main__":
    unittest.main()
