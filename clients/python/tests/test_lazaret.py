# SPDX-License-Identifier: MIT
"""Sessions, pools and servers, with the real program."""

import datetime
import logging
import os
import secrets
import signal
import tempfile
import threading
import unittest
from typing import Any, Dict, List, Tuple
from unittest import mock

import lazaret
from support import LiveTest

MIB = 1 << 20


class Results(LiveTest):
    def test_result_has_value_text_and_output(self) -> None:
        result = self.lua().execute("print('out') io.stderr:write('err') return {a = 1}, 'x'")
        self.assertTrue(result.ok)
        self.assertEqual(result.value, [{"a": 1}, "x"])
        self.assertEqual((result.stdout, result.stderr), ("out\n", "err"))
        self.assertEqual({piece.stream for piece in result.output}, {"stdout", "stderr"})
        self.assertIsNotNone(result.text)
        self.assertIn("wall_ms", result.usage)
        self.assertIn("backend", result.isolation or {})
        self.assertEqual(result.raw["verdict"]["reason"], result.verdict)

    def test_a_network_list_is_of_a_session(self) -> None:
        code = "import socket\ndef tries(name):\n    try: return socket.gethostbyname(name)[:6]\n" \
               "    except OSError: return None\n[tries('a.example'), tries('b.example')]"
        server = self.server_with(sandbox__backend="bwrap")
        with lazaret.Session(network=["https://a.example"], server=server) as session:
            result = session.execute(code)
            self.assertEqual(result.value, ["198.18", None])
            denial, = result.denials
            self.assertEqual((denial["name"], denial["source"]), ("b.example", "network"))
            self.assertIn("lazaret: network: b.example", result.stderr)
            session.set_network([{"host": "b.example", "to": ["10.0.0.0/8"]}])
            self.assertEqual(session.execute(code).value, [None, "198.18"])
            session.set_network([])
            self.assertEqual(session.execute(code).value, [None, None])
            with self.assertRaisesRegex(lazaret.RequestFailed, "port 22"):
                session.set_network(["b.example:22"])
            self.assertRaises(TypeError, session.set_network, "https://a.example")
        self.assertEqual(lazaret.execute(code, network=["a.example"], server=server).value,
                         ["198.18", None])
        with lazaret.Pool(size=1, network=["b.example"], server=server) as pool:
            self.assertEqual(pool.execute(code).value, [None, "198.18"])

    def test_credentials_are_of_a_session(self) -> None:
        value, code = "ghp_" + secrets.token_hex(18), "import os\nos.environ.get('API_TOKEN')"
        mine = {"host": "a.example", "header": "Authorization: Bearer {secret}",
                "secret": {"value": value}, "placeholder": {"env": "API_TOKEN"}}
        rules = ["https://a.example"]
        server = self.server_with(sandbox__backend="bwrap")

        def is_placeholder(result: lazaret.Result) -> None:
            self.assertRegex(result.value, "^ghp_")  # of the same shape, and another one
            self.assertNotIn(value, repr(result) + repr(result.raw))
            self.assertEqual(result.credentials, [])

        with lazaret.Session(network=rules, credentials=[mine], server=server) as session:
            is_placeholder(session.execute(code))
            self.assertNotIn(value, repr(session) + repr(session.describe()))
        with lazaret.Session(network=rules, credentials=[], server=server) as session:
            self.assertIsNone(session.execute(code).value)
        with lazaret.Pool(size=1, network=rules, credentials=[mine], server=server) as pool:
            is_placeholder(pool.execute(code))
        is_placeholder(lazaret.execute(code, network=rules, credentials=[mine], server=server))
        for wrong in (value, {**mine, "secret": {"file": value}}, {**mine, "x": value}):
            with self.assertRaisesRegex(lazaret.SetupFailed, r"credentials\[1\]") as caught:
                lazaret.Session(network=rules, credentials=[mine, wrong], server=server)
            self.assertNotIn(value, repr(caught.exception) + repr(caught.exception.__cause__))
        for given in (value, mine, [7]):
            with self.assertRaises(TypeError) as refused:
                lazaret.Session(network=rules, credentials=given,  # type: ignore[arg-type]
                                server=server)
            self.assertNotIn(value, repr(refused.exception))

    def test_error_of_code_has_line_and_traceback(self) -> None:
        with self.assertRaises(lazaret.ExecutionError) as caught:
            self.lua().execute("print('before')\nerror('broken', 0)")
        error = caught.exception
        self.assertEqual((str(error), error.kind, error.line), ("broken", "runtime", 2))
        self.assertTrue(error.traceback)
        self.assertIsNone(error.__cause__)
        assert error.result
        self.assertEqual(error.result.stdout, "before\n")

    def test_check_false_gives_the_result(self) -> None:
        result = self.lua().execute("error('broken')", check=False)
        self.assertEqual((result.ok, result.verdict), (False, "error"))
        self.assertRaises(lazaret.ExecutionError, result.raise_for_verdict)

    def test_syntax_error(self) -> None:
        self.assertRaises(lazaret.SyntaxFailed, self.lua().execute, "print(1) return return")

    def test_limits(self) -> None:
        session = self.lua(one)
        rows: List[Tuple[str, Dict[str, Any], type, str]] = [
            ("while true do end", {"timeout": 0.1}, lazaret.Timeout, "timeout"),
            ("while true do end", {"deadline": 0.1}, lazaret.Timeout, "deadline"),
            ("one() one()", {"max_tool_calls": 1}, lazaret.LimitExceeded, "tool_limit"),
            ("s = string.rep('x', 1 << 30)", {}, lazaret.LimitExceeded, "memory_limit"),
            ("--" + "x" * 100000, {}, lazaret.Blocked, "blocked"),
        ]
        for code, options, kind, verdict in rows:
            with self.subTest(verdict), self.assertRaises(lazaret.LazaretError) as caught:
                session.execute(code, **options)
            self.assertIs(type(caught.exception), kind)
            self.assertEqual(caught.exception.kind, verdict)

    def test_crash_is_worker_lost_and_next_result_says_so(self) -> None:
        with lazaret.Session("python", server=self.server) as session:
            with self.assertRaises(lazaret.WorkerLost):
                session.execute("import os; os.abort()")
            self.assertEqual(session.execute("1").replaced, "crashed")

    def test_code_that_is_ended_early_keeps_its_session(self) -> None:
        session = self.lua()
        with self.assertRaises(lazaret.Timeout) as caught:
            session.execute("x = 5 while true do end", timeout=0.1)
        self.assertTrue(caught.exception.result and caught.exception.result.kept)
        with self.assertRaises(lazaret.Cancelled) as caught_too:
            session.execute("print(1) while true do end",
                            output=lambda stream, text: session.interrupt())
        self.assertTrue(caught_too.exception.result and caught_too.exception.result.kept)
        session.interrupt()  # there is nothing
        result = session.execute("return x")
        self.assertEqual((result.value, result.replaced, result.kept), (5, None, True))

    def test_values_of_python(self) -> None:
        code = "import datetime\n[{1: b'a'}, 2**70, float('inf'), datetime.date(2024, 1, 31), 1j]"
        result = lazaret.execute(code, server=self.server)
        self.assertEqual(result.value[:3], [{1: b"a"}, 2**70, float("inf")])
        self.assertEqual((str(result.value[3]), result.value[4]), ("2024-01-31", 1j))


class Sessions(LiveTest):
    def test_state_lasts_until_restart(self) -> None:
        session = self.lua()
        session.execute("x = 5")
        self.assertEqual(session.execute("return x").value, 5)
        session.restart()
        self.assertIsNone(session.execute("return x").value)

    def test_description(self) -> None:
        session = self.lua(one)
        session.execute("return 1")
        self.assertTrue(session.is_alive)
        self.assertEqual([tool["name"] for tool in session.tools], ["one"])
        self.assertIn("lua", session.describe()["text"])
        session.close()
        self.assertFalse(session.is_alive)
        self.assertRaises(lazaret.LazaretError, session.execute, "return 1")

    def test_cold_session(self) -> None:
        with lazaret.Session("lua", server=self.server, warm=False) as session:
            self.assertEqual(session.execute("return 3").value, 3)

    def test_unknown_runtime(self) -> None:
        with self.assertRaisesRegex(lazaret.SetupFailed, "nope"):
            lazaret.Session("nope", server=self.server)
        with self.assertRaisesRegex(lazaret.SetupFailed, "nope"):
            lazaret.execute("", "nope", server=self.server)

    def test_second_execution_in_a_session_is_refused(self) -> None:
        def again() -> str:
            with self.assertRaises(lazaret.RequestFailed) as caught:
                session.execute("return 1")
            return caught.exception.code

        session = self.lua(again)
        self.assertEqual(session.execute("return again()").value, "LAZ_EBUSY")

    def test_a_value_that_cannot_be_sent_is_omitted(self) -> None:
        result = self.lua().execute("local t = {} t[1] = t return t")
        self.assertTrue(result.ok and result.value_omitted and result.value is None)
        self.assertRegex(str(result.text), "^table: ")
        self.assertRegex(result.warnings[0], "^value_omitted: .*contains itself")

    def test_closing_cancels(self) -> None:
        def close() -> None:
            session.close()

        session = self.lua(close)
        self.assertRaises(lazaret.Cancelled, session.execute, "close() while true do end")

    def test_pool(self) -> None:
        with lazaret.Pool("lua", 2, server=self.server) as pool:
            pool.execute("x = 1")
            self.assertIsNone(pool.execute("return x", wait=30).value)
            self.assertEqual(pool.status["total"], 2)

    def test_tools_of_a_pool_are_its_own(self) -> None:
        with lazaret.Pool("lua", 1, tools=[one], server=self.server) as pool, \
                lazaret.Pool("lua", 1, server=self.server) as other:
            self.assertEqual(pool.execute("return one()").value, 1)
            self.assertIsNone(other.execute("return one").value)

    def test_one_shot_on_the_default_server(self) -> None:
        self.assertEqual(lazaret.execute("return 1 + 1", runtime="lua").value, 2)
        self.assertEqual(lazaret.execute("return one()", "lua", tools=[one]).value, 1)
        self.assertIs(lazaret.default_server(), lazaret.default_server())

    def test_eight_threads_on_one_server(self) -> None:
        failures: List[object] = []

        def work(number: int) -> None:
            def here(value: int) -> bool:
                return threading.current_thread() is thread and value == number

            thread = threading.current_thread()
            try:
                with lazaret.Session("lua", tools=[here], server=self.server) as session:
                    for _ in range(5):
                        code = f"print({number}) return here({number}), string.rep('x', 100000)"
                        result = session.execute(code)
                        assert result.value == [True, "x" * 100000], result
                        assert result.stdout == f"{number}\n", result
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


def one() -> int:
    """Gives one."""
    return 1


class Tools(LiveTest):
    def test_error_of_tool_can_be_caught(self) -> None:
        def fail() -> None:
            raise ValueError("no luck")

        result = self.lua(fail).execute("local ok, why = pcall(fail) return ok, tostring(why)")
        self.assertFalse(result.value[0])
        self.assertIn("ValueError: no luck", result.value[1])

    def test_error_of_tool_is_the_cause_if_the_code_fails_with_it(self) -> None:
        def fail() -> None:
            raise lazaret.ToolError("no luck")

        session = self.lua(fail)
        with self.assertRaisesRegex(lazaret.ExecutionError, "no luck") as caught:
            session.execute("fail()")
        self.assertIsInstance(caught.exception.__cause__, lazaret.ToolError)
        with self.assertRaises(lazaret.ExecutionError) as caught:
            session.execute("pcall(fail) error('another')")
        self.assertIsNone(caught.exception.__cause__)

    def test_search(self) -> None:
        def read_file(path: str) -> str:
            """Reads a text file"""
            return path

        def send_mail(to: str) -> str:
            """Sends a message"""
            return to

        session = self.lua(read_file, send_mail)
        found = session.search_tools("read some files")
        self.assertEqual([tool["name"] for tool in found], ["read_file"])
        self.assertEqual(found, [tool for tool in session.tools if tool["name"] == "read_file"])
        self.assertEqual(len(session.search_tools("read message", limit=1)), 1)
        self.assertEqual(session.search_tools("weather"), [])
        with self.assertRaises(lazaret.RequestFailed):
            session.search_tools("read", limit=0)

    def test_tools_say_which_calls_need_an_approval(self) -> None:
        def some(path: str) -> str:
            return path

        def never(path: str) -> str:
            return path

        always = lazaret.Tool(some, "always", approve=True)
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "lazaret.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write('[[approve]]\ntool = "some"\nwhen = { path = "/etc/*" }\n')
            server = lazaret.Server(config=path)
        self.addCleanup(server.close)
        session = lazaret.Session("lua", tools=[always, some, never], server=server)
        self.addCleanup(session.close)
        for found in (session.tools, session.search_tools("always some never")):
            self.assertEqual(
                {tool["name"]: [tool.get("approve"), tool.get("may_approve")] for tool in found},
                {"always": [True, None], "some": [None, True], "never": [None, None]})

    def test_approvals(self) -> None:
        called: List[str] = []
        asked: List[lazaret.Approval] = []

        @lazaret.tool(approve=True)
        def erase(path: str, force: bool = False) -> str:
            called.append(path)
            return "erased"

        def approve(approval: lazaret.Approval) -> Any:
            asked.append(approval)
            if approval.args["path"] == "/c":
                raise lazaret.ToolError("not on Mondays")
            return {"/a": True, "/b": False, "/d": 1}[approval.args["path"]]

        session = lazaret.Session("lua", tools=[erase], server=self.server, approve=approve)
        self.addCleanup(session.close)
        self.assertEqual(session.execute("return erase('/a', true)").value, "erased")
        self.assertEqual(asked[0], lazaret.Approval("erase", {"path": "/a", "force": True},
                                                    session.name))
        self.assertFalse(session.execute("return (pcall(erase, '/b'))").value)
        with self.assertRaisesRegex(lazaret.ExecutionError, "not approved: not on Mondays"):
            session.execute("erase('/c')")
        with self.assertRaisesRegex(lazaret.ExecutionError, "not approved"):
            session.execute("erase('/d')")  # only True is a yes
        self.assertEqual((called, len(asked)), (["/a"], 4))
        with self.assertRaisesRegex(lazaret.ExecutionError, "decides on no approvals"):
            self.lua(erase).execute("erase('/a')")
        self.assertEqual(called, ["/a"])

    def test_interrupt_in_tool_ends_the_execution(self) -> None:
        def stop() -> None:
            raise KeyboardInterrupt

        session = self.lua(stop)
        self.assertRaises(KeyboardInterrupt, session.execute, "stop() while true do end")
        self.assertEqual(session.execute("return 1").value, 1)

    def test_8_mib_out_of_and_into_a_tool(self) -> None:
        def big() -> str:
            return "b" * (8 * MIB)

        def length(text: str) -> int:
            return len(text)

        session = self.lua(big, length)
        self.assertEqual(session.execute("return #big()").value, 8 * MIB)
        self.assertEqual(session.execute(f"return length(string.rep('l', {8 * MIB}))").value,
                         8 * MIB)
        self.assertEqual(session.execute(f"return string.rep('v', {8 * MIB})").value,
                         "v" * (8 * MIB))

    def test_value_that_cannot_be_sent_is_an_error_of_the_tool(self) -> None:
        def thing() -> object:
            return object()

        with self.assertRaisesRegex(lazaret.ExecutionError, "type object cannot be sent"):
            self.lua(thing).execute("thing()")

    def test_answer_longer_than_a_line_is_an_error_of_the_tool(self) -> None:
        def long() -> str:
            return "x" * 4000

        session = self.lua(long)
        with mock.patch.object(self.server, "_max_line", 2000):
            with self.assertRaisesRegex(lazaret.ExecutionError, "too long"):
                session.execute("long()")

    def test_coroutine_function_needs_an_async_session(self) -> None:
        async def later() -> None:
            pass

        with self.assertRaisesRegex(TypeError, "AsyncSession"):
            self.lua(later)


class JavaScript(LiveTest):
    def test_calls_and_values(self) -> None:
        def price(item: str) -> float:
            """Price of an item."""
            return {"tea": 2.5, "coffee": 3.25}[item]

        try:
            session = lazaret.Session("javascript", [price], self.server)
        except lazaret.RequestFailed as error:
            self.skipTest(str(error))
        with session:
            code = ("const items = ['tea', 'coffee'];\n"
                    "const prices = await Promise.all(items.map((item) => price({ item })));\n"
                    "({ sum: prices[0] + prices[1], when: new Date(0), bytes: new Uint8Array([1]) })")
            self.assertEqual(session.execute(code).value, {
                "sum": 5.75, "bytes": b"\x01",
                "when": datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)})
            self.assertEqual(session.execute("items.length").value, 2)
            with self.assertRaisesRegex(lazaret.ExecutionError, "RangeError: no") as caught:
                session.execute("1;\nthrow new RangeError('no')")
            self.assertEqual(caught.exception.line, 2)


class OutputOfCode(LiveTest):
    def test_output_comes_in_order_on_this_thread(self) -> None:
        got: List[Tuple[str, str, bool]] = []
        here = threading.current_thread()

        def take(stream: str, text: str) -> None:
            got.append((stream, text, threading.current_thread() is here))

        self.lua().execute("print('a') print('b')", output=take)
        self.assertEqual("".join(text for _, text, _ in got), "a\nb\n")
        self.assertEqual({(stream, same) for stream, _, same in got}, {("stdout", True)})

    def test_progress(self) -> None:
        seen: List[lazaret.Progress] = []

        def enough() -> bool:
            return len(seen) > 1

        code = "import time\nwhile not enough(): time.sleep(0.02)\n5"
        with lazaret.Session("python", tools=[enough], server=self.server) as session:
            result = session.execute(code, on_progress=seen.append)
            self.assertEqual(result.value, 5)
            first, second = seen[0], seen[1]
            self.assertLess(first.wall_ms, second.wall_ms)
            self.assertLess(0, first.tool_calls)
            self.assertGreater(first.max_rss_bytes, 0)
            self.assertLessEqual(second.tool_calls, result.usage["tool_calls"])

            def stop(progress: lazaret.Progress) -> None:
                raise ValueError("enough")

            with self.assertRaisesRegex(ValueError, "enough"):
                session.execute("while True: time.sleep(0.02)", on_progress=stop)

    def test_lines_of_output(self) -> None:
        result = self.lua().execute("print(1) print(2)", max_output_lines=1)
        self.assertEqual((result.stdout, result.truncated), ("1\n", True))

    def test_slow_callback_does_not_stop_the_reader(self) -> None:
        other = self.lua()
        sizes: List[int] = []

        def take(stream: str, text: str) -> None:
            if not sizes:  # while the flood comes, the answer to another request is read
                self.assertEqual(other.execute("return string.rep('x', 100000)").value,
                                 "x" * 100000)
            sizes.append(len(text))

        code = "for i = 1, 64 do io.write(string.rep('x', 65536)) end"
        result = self.lua().execute(code, output=take)
        self.assertEqual(sum(sizes) + result.dropped, 4 * MIB)
        self.assertEqual(len(result.stdout), 4 * MIB)

    def test_exception_of_callback_cancels_and_is_raised(self) -> None:
        session = self.lua()

        def take(stream: str, text: str) -> None:
            raise ValueError(text)

        with self.assertRaisesRegex(ValueError, "x"):
            session.execute("print('x') while true do end", output=take)
        self.assertEqual(session.execute("return 1").value, 1)


class Servers(LiveTest):
    def test_missing_program_is_one_clear_sentence(self) -> None:
        with self.assertRaisesRegex(lazaret.SetupFailed, "program is '/nonexistent/lazaret'"):
            lazaret.Server("/nonexistent/lazaret")
        with mock.patch.dict(os.environ, {"LAZARET": "", "PATH": "/nonexistent"}):
            with self.assertRaisesRegex(lazaret.SetupFailed, "was not found: install it"):
                lazaret.Server()

    def test_wrong_setting_is_setup_failed_with_the_reason(self) -> None:
        with self.assertLogs("lazaret", logging.WARNING):
            with self.assertRaisesRegex(lazaret.SetupFailed, "session.timout"):
                lazaret.Server(settings={"session.timout": 1})

    def test_configuration_and_settings_reach_the_server(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "lazaret.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write('[session]\nruntime = "lua"\n[env.set]\nA = "1"\nB = "1"\n')
            with lazaret.Server(config=path, settings={"env.set.B": 'true "\u00e4'}) as server:
                result = lazaret.execute("return os.getenv('A'), os.getenv('B')", None,
                                         server=server)
        self.assertEqual(result.value, ["1", 'true "\u00e4'])

    def test_killed_server_is_worker_lost(self) -> None:
        server = lazaret.Server()
        self.addCleanup(server.close)

        def kill() -> None:
            assert server.pid
            os.kill(server.pid, signal.SIGKILL)

        session = lazaret.Session("lua", tools=[kill], server=server)
        with self.assertRaisesRegex(lazaret.WorkerLost, "signal 9"):
            session.execute("kill() while true do end")
        self.assertFalse(server.is_alive)
        self.assertFalse(session.is_alive)
        self.assertRaises(lazaret.WorkerLost, session.execute, "return 1")
        session.close()


if __name__ == "__main__":
    unittest.main()
