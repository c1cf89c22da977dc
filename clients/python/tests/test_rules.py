# SPDX-License-Identifier: MIT
"""What a program asks of its own executions: each argument, in sessions, pools and one-shot calls,
with and without asyncio."""

import asyncio
import contextlib
import gc
import io
import json
import math
import os
import tempfile
import threading
import unittest
from typing import Any, Callable, Dict, List, Optional, Tuple

import lazaret
from lazaret._rules import settings_of
from support import LiveTest

Way = Callable[..., List[lazaret.Result]]
OPENED = ("limits", "audit_log", "sanitize_errors", "max_executions", "pre_execute_hook", "verbose",
          "tools", "approve", "server")


def split(options: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Arguments of what is opened, and those of an execution."""
    return ({name: value for name, value in options.items() if name in OPENED},
            {name: value for name, value in options.items() if name not in OPENED})


def in_session(*codes: str, **options: Any) -> List[lazaret.Result]:
    opened, executed = split(options)
    with lazaret.Session("lua", **opened) as session:
        return [session.execute(code, check=False, **executed) for code in codes]


def in_pool(*codes: str, **options: Any) -> List[lazaret.Result]:
    opened, executed = split(options)
    with lazaret.Pool("lua", 1, **opened) as pool:
        return [pool.execute(code, check=False, **executed) for code in codes]


def at_once(*codes: str, **options: Any) -> List[lazaret.Result]:
    return [lazaret.execute(code, "lua", check=False, **options) for code in codes]


def in_async(kind: Any) -> Way:
    def way(*codes: str, **options: Any) -> List[lazaret.Result]:
        async def run() -> List[lazaret.Result]:
            opened, executed = split(options)
            async with kind("lua", **opened) as one:
                return [await one.execute(code, check=False, **executed) for code in codes]

        return asyncio.run(run())

    return way


WAYS: Dict[str, Way] = {"session": in_session, "pool": in_pool, "one-shot": at_once,
                        "async session": in_async(lazaret.AsyncSession),
                        "async pool": in_async(lazaret.AsyncPool)}


class Everywhere(LiveTest):
    def each(self, *codes: str, ways: Any = tuple(WAYS), **options: Any) -> Any:
        """The results of these codes in each way."""
        for name in ways:
            yield WAYS[name](*codes, **options)

    def test_limits(self) -> None:
        code = "local f = io.open('f', 'w') f:setvbuf('no') " \
               "return f:write(string.rep('x', 2000)) == f"
        rows: List[Tuple[Dict[str, Any], bool]] = [
            ({"fsize": 1000}, False), ({"fsize": "1KiB"}, False),
            ({"fsize": math.inf, "cpu": 5}, True)]
        for limits, wanted in rows:
            for result, in self.each(code, limits=limits):
                self.assertEqual(result.verdict == "ok" and result.value, wanted, result)

    def test_traces(self) -> None:
        parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        for name, way in WAYS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "audit.jsonl")
                way("return 5", audit_log=path, traceparent=parent, tracestate="vendor=1")
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                self.assertIn(f'"traceparent":"{parent}"', text)
                self.assertIn('"tracestate":"vendor=1"', text)
                way("return 5", server=self.server, traceparent="broken")
                with self.assertRaises(TypeError):
                    way("return 5", server=self.server, traceparent=5)

    def test_audit_log(self) -> None:
        for name, way in WAYS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "log", "audit.jsonl")
                way("return 5", audit_log=path)
                with open(path, encoding="utf-8") as lines:
                    events = [json.loads(line) for line in lines]
                self.assertIn("return 5", [event.get("code") for event in events])

    def test_sanitize_errors(self) -> None:
        code = "error('cannot open /home/me/secret', 0)"
        for result, in self.each(code, sanitize_errors=True):
            self.assertEqual((result.error or {})["message"], "cannot open [path]")
        for result, in self.each(code, server=self.server):
            self.assertEqual((result.error or {})["message"], "cannot open /home/me/secret")

    def test_max_executions(self) -> None:
        codes = ["return return", "return 1", "error('x')", "return 3"]
        for results in self.each(*codes, server=self.server, max_executions=2,
                                 ways=[way for way in WAYS if way != "one-shot"]):
            self.assertEqual([one.verdict for one in results],
                             ["syntax_error", "ok", "error", "blocked"])
            self.assertEqual(results[3].detail, "the maximum of 2 executions is reached")
        for result, in self.each("return 1", server=self.server, max_executions=1):
            self.assertEqual(result.value, 1)
        for wrong in (0, -1):
            for name in WAYS:
                with self.subTest(name), self.assertRaisesRegex(ValueError, "max_executions"):
                    WAYS[name]("return 1", server=self.server, max_executions=wrong)

    def test_pre_execute_hook(self) -> None:
        seen: List[str] = []

        def hook(code: str) -> Optional[bool]:
            seen.append(code)
            if "break" in code:
                raise ValueError("no breaks")
            return None if "1" in code else "2" in code

        codes = ["return 1", "return 2", "return 3", "do break end"]
        for results in self.each(*codes, server=self.server, pre_execute_hook=hook):
            self.assertEqual([one.verdict for one in results], ["ok", "ok", "blocked", "blocked"])
            self.assertEqual(results[2].detail, "pre_execute_hook has refused the code")
            self.assertEqual(results[3].detail,
                             "pre_execute_hook has failed: ValueError: no breaks")
        self.assertEqual(seen, codes * len(WAYS))
        for name in WAYS:
            with self.subTest(name), self.assertRaisesRegex(TypeError, "pre_execute_hook"):
                WAYS[name]("return 1", server=self.server, pre_execute_hook="no function")

    def test_validate(self) -> None:
        code = "if false then require('socket') end"
        for result, in self.each(code, server=self.server):
            self.assertEqual(len(result.warnings), 1)
        for result, in self.each(code, server=self.server, validate=False):
            self.assertEqual((result.verdict, result.warnings), ("ok", []))

    def test_max_code_length(self) -> None:
        for results in self.each("x = 10", "return", server=self.server, max_code_length=6):
            self.assertEqual([one.verdict for one in results], ["ok", "ok"])
        for result, in self.each("x = 100", server=self.server, max_code_length=6):
            self.assertEqual((result.verdict, result.detail),
                             ("blocked", "Code too long (7 characters, maximum 6)"))
        long = f"-- {'x' * 100000}"
        for result, in self.each(long, server=self.server, max_code_length=200000):
            self.assertEqual(result.verdict, "blocked")  # it is the server's that holds

    def test_verbose(self) -> None:
        def add(a: int, b: int) -> int:
            if b == 9:
                raise ValueError("no nine")
            return a + b

        for name, way in WAYS.items():
            with self.subTest(name), contextlib.redirect_stderr(io.StringIO()) as printed:
                way("add(1, 2) pcall(add, 1, 9)", "return 1", tools=[add], server=self.server,
                    verbose=True, pre_execute_hook=lambda code: code != "return 1")
            text = printed.getvalue()
            kind = "pool" if "pool" in name else "session"
            for words in (f"{kind} started", "tool call: add(a, b)", "tool result: add",
                          "tool error: add: ValueError: no nine", "execution ended: ok (",
                          "execution blocked: pre_execute_hook", f"{kind} closed"):
                self.assertIn(f"[lazaret] {words}", text)
            with contextlib.redirect_stderr(io.StringIO()) as printed:
                way("add(1, 2)", tools=[add], server=self.server)
            self.assertEqual(printed.getvalue(), "")

    def test_what_is_blocked_raises(self) -> None:
        options: Dict[str, Any] = {"server": self.server, "pre_execute_hook": lambda code: False}
        with lazaret.Session("lua", **options) as session, self.assertRaises(
                lazaret.Blocked) as caught:
            session.execute("return 1")
        self.assertEqual(caught.exception.kind, "blocked")
        with self.assertRaises(lazaret.Blocked):
            lazaret.execute("return 1", "lua", **options)

    def test_settings_are_not_for_a_server_that_is_given(self) -> None:
        wrong: List[Dict[str, Any]] = [
            {"limits": {"cpu": 1}}, {"audit_log": "x"}, {"sanitize_errors": True}]
        for name, way in WAYS.items():
            for option in wrong:
                with self.subTest(name), self.assertRaisesRegex(ValueError, "belong to a server"):
                    way("return 1", server=self.server, **option)

    def test_wrong_limits(self) -> None:
        for name, way in WAYS.items():
            with self.subTest(name), self.assertLogs("lazaret"), self.assertRaisesRegex(
                    lazaret.SetupFailed, "limits.cup.*did you mean"):
                way("return 1", limits={"cup": 1})
        for wrong in (0, -1, math.nan):
            self.assertRaises(ValueError, settings_of, {"cpu": wrong}, None, False)
        self.assertRaises(ValueError, settings_of, None, "", False)

    def test_restart_leaves_the_number_of_executions(self) -> None:
        with lazaret.Session("lua", server=self.server, max_executions=1) as session:
            session.execute("return 1")
            session.restart()
            self.assertRaises(lazaret.Blocked, session.execute, "return 1")

    def test_many_threads_have_no_more_executions(self) -> None:
        verdicts: List[str] = []
        with lazaret.Pool("lua", 2, server=self.server, max_executions=5) as pool:
            def work() -> None:
                for _ in range(2):
                    verdicts.append(pool.execute("return 1", check=False).verdict)

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(sorted(verdicts), ["blocked"] * 11 + ["ok"] * 5)

    def test_hook_of_asyncio_can_be_a_coroutine_function(self) -> None:
        async def hook(code: str) -> bool:
            await asyncio.sleep(0)
            if code == "fail()":
                raise ValueError("why")
            return code == "return 1"

        for name in ("async session", "async pool"):
            results = WAYS[name]("return 1", "return 2", "fail()", server=self.server,
                                 pre_execute_hook=hook)
            self.assertEqual([one.verdict for one in results], ["ok", "blocked", "blocked"])
        with self.assertRaisesRegex(TypeError, "coroutine"):
            in_session("return 1", server=self.server, pre_execute_hook=hook)

    def test_a_server_of_its_own_ends_with_it(self) -> None:
        with lazaret.Session("lua", limits={"cpu": 5}) as session:
            server = session.server
            self.assertIsNot(server, lazaret.default_server())
        self.assertFalse(server.is_alive)
        left = lazaret.Pool("lua", 1, sanitize_errors=True)
        server = left.server
        del left
        gc.collect()
        server._channel.wait()
        self.assertFalse(server.is_alive)

        async def use() -> lazaret.Server:
            async with lazaret.AsyncSession("lua", limits={"cpu": 5}) as one:
                await one.execute("return 1")
                assert one.server is not None
                return one.server

        self.assertFalse(asyncio.run(use()).is_alive)
        with self.assertRaises(lazaret.SetupFailed):
            lazaret.Session("nothing", limits={"cpu": 5})


if __name__ == "__main__":
    unittest.main()
