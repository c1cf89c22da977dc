# SPDX-License-Identifier: MIT
"""Adapters for pydantic-ai and Inspect, with the real program.

The frameworks are stand-ins (standins.py), which call the adapters as the frameworks do.
"""

import asyncio
import os
import tempfile
import unittest
from typing import Any, Coroutine, Dict, List
from unittest import mock

import lazaret
import standins
from support import needs
from test_adapters import ITEM, PNG, PRICES, Adapted


class PydanticAI(Adapted):
    adapter = "pydantic_ai"
    modules = standins.PYDANTIC_AI

    def run_it(self, use: Any, *functions: Any, kinds: Any = None, handler: Any = None,
               **options: Any) -> standins.FunctionToolset:
        schemas = {function.__name__: ITEM for function in functions}
        toolset = standins.FunctionToolset(*functions, schemas=schemas, kinds=kinds)
        capability = self.adapted.LazaretCodeMode(server=self.server, **options)

        async def main() -> None:
            async with standins.AgentRun(capability, toolset, handler) as run:
                async def code(text: str) -> Any:
                    return await run.call("run_code", {"code": text})

                await use(code, run)

        asyncio.run(main())
        return toolset

    def test_value_output_state_and_tools(self) -> None:
        def price(item: str) -> float:
            """Price of an item."""
            return PRICES[item]

        async def later(item: str) -> Any:
            await asyncio.sleep(0)
            return standins.ToolReturn(item.upper())

        async def use(code: Any, run: standins.AgentRun) -> None:
            done = await code("print('hello')\nx = price('tea')\n[x * 2, later('a')]")
            self.assertEqual(done.return_value, "hello\n[5.0, 'A']")
            self.assertEqual(done.metadata["value"], [5.0, "A"])
            self.assertEqual((await code("x")).return_value, "2.5")
            self.assertEqual(list(run.tools), ["run_code"])
            definition = run.tools["run_code"].tool_def
            self.assertIn("price(item: string): Price of an item.", definition.description or "")
            self.assertTrue(definition.sequential)

        self.assertFalse(self.run_it(use, price, later).is_open)

    def test_calls_run_at_the_same_time(self) -> None:
        arrived: List[str] = []
        both = asyncio.Event()

        async def meet(item: str) -> str:
            arrived.append(item)
            if len(arrived) == 2:
                both.set()
            await both.wait()
            return item

        async def use(code: Any, run: standins.AgentRun) -> None:
            done = await code("import asyncio\nasync def main():\n"
                              "    return await asyncio.gather(meet.aio('a'), meet.aio('b'))\n"
                              "asyncio.run(main())")
            self.assertEqual(done.return_value, "['a', 'b']")

        self.run_it(use, meet)

    def test_failures_are_retries(self) -> None:
        def broken(item: str) -> None:
            raise standins.ModelRetry(f"no {item}")

        async def use(code: Any, run: standins.AgentRun) -> None:
            for text, words in (("print('seen')\n1 / 0", "seen\nerror: ZeroDivisionError"),
                                ("def", "syntax_error: "), ("broken('tea')", "no tea")):
                with self.assertRaisesRegex(standins.ModelRetry, words):
                    await code(text)
            with self.assertRaisesRegex(standins.ModelRetry, "code"):
                await run.call("run_code", {"text": 1})
            caught = "try:\n    broken('x')\nexcept Exception:\n    r = 1\nr"
            self.assertEqual((await code(caught)).return_value, "1")

        async def late(code: Any, run: standins.AgentRun) -> None:
            with self.assertRaisesRegex(standins.ModelRetry, "timeout: "):
                await code("while True: pass")

        self.run_it(use, broken)
        self.run_it(late, timeout=0.1)

    def test_selected_tools_stay_with_the_model(self) -> None:
        def price(item: str) -> float:
            return PRICES[item]

        def mail(item: str) -> str:
            return "sent " + item

        def outside(item: str) -> None:
            raise standins.CallDeferred

        async def use(code: Any, run: standins.AgentRun) -> None:
            self.assertEqual((await code("price('tea')")).return_value, "2.5")
            self.assertEqual(set(run.tools), {"run_code", "mail", "outside"})
            self.assertEqual(await run.call("mail", {"item": "x"}), "sent x")
            with self.assertRaisesRegex(standins.ModelRetry, "mail"):
                await code("mail('x')")

        self.run_it(use, price, mail, outside, tools=["price", "outside"],
                    kinds={"outside": "external"})

    def test_approvals(self) -> None:
        def buy(item: str) -> str:
            return "bought " + item

        def later(item: str) -> None:
            raise standins.CallDeferred

        asked: List[lazaret.Approval] = []

        async def approve(approval: lazaret.Approval) -> bool:
            asked.append(approval)
            return bool(approval.args["item"] == "tea")

        async def without(code: Any, run: standins.AgentRun) -> None:
            with self.assertRaisesRegex(standins.ModelRetry, "buy is not approved"):
                await code("buy('tea')")
            with self.assertRaisesRegex(standins.ModelRetry, "cannot wait"):
                await code("later('tea')")

        async def asking(code: Any, run: standins.AgentRun) -> None:
            self.assertEqual((await code("buy('tea')")).return_value, "'bought tea'")
            with self.assertRaisesRegex(standins.ModelRetry, "not approved"):
                await code("buy('cake')")

        async def handled(code: Any, run: standins.AgentRun) -> None:
            self.assertEqual((await code("buy('tea')")).return_value, "'bought tea'")
            with self.assertRaisesRegex(standins.ModelRetry, "denied: not today"):
                await code("buy('cake')")

        def handler(call: standins.ToolCallPart) -> Any:
            return call.args["item"] == "tea" or standins.ToolDenied("not today")

        kinds = {"buy": "unapproved"}
        self.run_it(without, buy, later, kinds=kinds)
        self.run_it(asking, buy, kinds=kinds, approve=approve)
        self.run_it(handled, buy, kinds=kinds, handler=handler)
        self.assertEqual([approval.tool for approval in asked], ["buy", "buy"])

    @needs("matplotlib")
    def test_pictures_files_and_results(self) -> None:
        results: List[lazaret.Result] = []

        async def use(code: Any, run: standins.AgentRun) -> None:
            picture, = (await code(PNG)).content
            self.assertEqual((picture.data, picture.media_type),
                             (results[0].artifacts[0].data, "image/png"))
            with self.assertRaises(standins.ModelRetry):
                await code("exit(open('in.txt').read())")
            self.assertTrue((await code("open('in.txt').read()")).return_value.endswith("'abc'"))

        self.run_it(use, timeout=60, on_result=results.append, files={"in.txt": b"abc"})

    def test_changed_tools_start_a_fresh_session(self) -> None:
        def one(item: str) -> int:
            return 1

        def two(item: str) -> int:
            return 2

        async def use(code: Any, run: standins.AgentRun) -> None:
            await code("x = 1")
            toolset.functions["two"] = two
            text = (await code("two('')")).return_value
            self.assertRegex(text, "tools have changed.*\n2")
            with self.assertRaisesRegex(standins.ModelRetry, "NameError"):
                await code("x")

        toolset = standins.FunctionToolset(one, schemas={"one": ITEM, "two": ITEM})
        capability = self.adapted.LazaretCodeMode(server=self.server)

        async def main() -> None:
            async with standins.AgentRun(capability, toolset) as run:
                await use(lambda text: run.call("run_code", {"code": text}), run)

        asyncio.run(main())

    def test_runs_have_sessions_of_their_own_which_are_closed(self) -> None:
        capability = self.adapted.LazaretCodeMode(server=self.server)
        toolset = standins.FunctionToolset(schemas={})
        watched: List[int] = []

        async def one(number: int) -> None:
            async with standins.AgentRun(capability, toolset) as run:
                await run.call("run_code", {"code": f"x = {number}"})
                self.assertEqual((await run.call("run_code", {"code": "x"})).return_value,
                                 str(number))
                watched.append(self.watch(await run._toolset.run.session.describe()))

        async def main() -> None:
            await asyncio.gather(*map(one, range(3)))
            for process in watched:
                self.assert_ends(process)

        asyncio.run(main())

    def test_the_name_run_code_is_taken(self) -> None:
        def run_code(item: str) -> None:
            pass

        async def use(code: Any, run: standins.AgentRun) -> None:
            with self.assertRaisesRegex(standins.UserError, "run_code"):
                await code("1")

        self.run_it(use, run_code, tools=[])


class Inspect(Adapted):
    adapter = "inspect"
    modules = standins.INSPECT

    def in_sample(self, use: Any, config: Any = None) -> None:
        kind = self.adapted.LazaretSandboxEnvironment

        async def main() -> None:
            await kind.task_init("startup", config)
            environments = await kind.sample_init("task", config, {})
            try:
                await use(environments["default"])
            finally:
                await kind.sample_cleanup("task", config, environments, False)
                await kind.task_cleanup("task", config, True)
            self.assertEqual(kind._servers, {})

        asyncio.run(main())

    def test_it_is_registered(self) -> None:
        self.assertIs(standins.SANDBOXES["lazaret"], self.adapted.LazaretSandboxEnvironment)

    def test_commands(self) -> None:
        async def use(box: Any) -> None:
            done = await box.exec(["sh", "-c", "cat; echo err >&2; exit 3"], input="in\u20ac")
            self.assertEqual((done.success, done.returncode, done.stdout, done.stderr),
                             (False, 3, "in\u20ac", "err\n"))
            code = "import os; print(os.environ['A'], os.getcwd())"
            done = await box.exec(["python3", "-c", code], env={"A": "1"}, cwd="/")
            self.assertEqual((done.success, done.stdout), (True, "1 /\n"))
            done = await box.exec(["nothing-like-this"])
            self.assertEqual((done.success, done.returncode), (False, 127))
            self.assertIn("nothing-like-this", done.stderr)
            self.assertEqual((await box.exec(["cat"], input=b"\xff")).stdout, "\ufffd")
            done = await box.exec(["bash", "--login", "-c", "echo $0"])
            self.assertEqual(done.stdout, "bash\n", done.stderr)

        self.in_sample(use)

    def test_state_is_in_files(self) -> None:
        async def use(box: Any) -> None:
            await box.write_file("a/b/c.txt", "one\r\ntwo\n")
            self.assertEqual(await box.read_file("a/b/c.txt"), "one\r\ntwo\n")
            self.assertEqual((await box.exec(["cat", "c.txt"], cwd="a/b")).stdout, "one\r\ntwo\n")
            await box.write_file("a/b/c.txt", b"\xc3\x28")
            self.assertEqual(await box.read_file("a/b/c.txt", text=False), b"\xc3\x28")
            with self.assertRaises(UnicodeDecodeError):
                await box.read_file("a/b/c.txt")
            await box.exec(["touch", "empty"])
            self.assertEqual(await box.read_file("empty"), "")
            big = os.urandom(20 << 20)
            await box.write_file("big", big)
            self.assertEqual(await box.read_file("big", text=False), big)
            self.assertEqual((await box.exec(["sh", "-c", "ls -A"])).stdout.split(),
                             ["a", "artifacts", "big", "empty"])

        self.in_sample(use)

    def test_errors_of_files(self) -> None:
        async def use(box: Any) -> None:
            with self.assertRaisesRegex(FileNotFoundError, "missing"):
                await box.read_file("missing")
            await box.exec(["mkdir", "d"])
            with self.assertRaises(IsADirectoryError):
                await box.read_file("d")
            with self.assertRaises(IsADirectoryError):
                await box.write_file("d", "x")
            with self.assertRaises(OSError):
                await box.write_file("/usr/x", "x")
            with mock.patch.object(standins.SandboxEnvironmentLimits, "MAX_READ_FILE_SIZE", 10):
                await box.write_file("long", "x" * 11)
                with self.assertRaises(standins.OutputLimitExceededError):
                    await box.read_file("long")

        self.in_sample(use)

    def test_output_is_bounded(self) -> None:
        async def use(box: Any) -> None:
            with mock.patch.object(standins.SandboxEnvironmentLimits, "MAX_EXEC_OUTPUT_SIZE", 1000):
                with self.assertRaises(standins.OutputLimitExceededError) as caught:
                    await box.exec(["sh", "-c", "for i in 1 2 3; do printf '%0500d' $i; done; "
                                    "printf end"])
                self.assertEqual(len(caught.exception.truncated_output or ""), 1000)
                self.assertTrue((caught.exception.truncated_output or "").endswith("end"))

        self.in_sample(use)

    def test_timeout_kills_the_command_and_the_box_goes_on(self) -> None:
        async def use(box: Any) -> None:
            await box.write_file("kept", "kept")
            with self.assertRaisesRegex(TimeoutError, "1 seconds"):
                await box.exec(["sh", "-c", "sleep 1000 & sleep 1000"], timeout=1)
            self.assertEqual(await box.read_file("kept"), "kept")
            done = await box.exec(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
            self.assertNotIn("sleep 1000", done.stdout)

        self.in_sample(use)

    def test_commands_take_turns(self) -> None:
        async def use(box: Any) -> None:
            done = await asyncio.gather(*(box.exec(["echo", str(i)]) for i in range(8)))
            self.assertEqual([one.stdout for one in done], [f"{i}\n" for i in range(8)])

        self.in_sample(use)

    def test_what_a_box_cannot_do_is_refused(self) -> None:
        async def use(box: Any) -> None:
            with self.assertRaisesRegex(NotImplementedError, "one user"):
                await box.exec(["id"], user="root")
            with self.assertRaisesRegex(NotImplementedError, "connect"):
                await box.connection()

        self.in_sample(use)
        with self.assertRaisesRegex(TypeError, "lazaret.toml"):
            self.in_sample(use, config={"a": 1})

    def test_a_box_that_was_replaced_says_so(self) -> None:
        async def use(box: Any) -> None:
            await box.write_file("f", "x")
            with self.assertRaises(lazaret.WorkerLost):
                await box.exec(["sh", "-c", "kill -9 $PPID"])
            with self.assertRaisesRegex(lazaret.LazaretError, "its files are gone"):
                await box.read_file("f")
            self.assertEqual((await box.exec(["echo", "1"])).stdout, "1\n")

        self.in_sample(use)

    def test_a_configuration_is_used(self) -> None:
        async def use(box: Any) -> None:
            self.assertEqual((await box.exec(["sh", "-c", "echo $A"])).stdout, "1\n")
            self.assertEqual((await box.exec(["bash", "-c", "true"])).returncode, 127)

        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "lazaret.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("[env.set]\nA = \"1\"\n")
            os.chmod(path, 0o600)
            self.in_sample(use, config=path)

    def test_a_wrong_configuration_is_reported_before_the_first_sample(self) -> None:
        kind = self.adapted.LazaretSandboxEnvironment
        with self.assertRaisesRegex(lazaret.SetupFailed, "/nonexistent/lazaret.toml"):
            asyncio.run(kind.task_init("startup", "/nonexistent/lazaret.toml"))
        self.assertEqual(kind._servers, {})

    def test_nothing_is_left_after_a_sample(self) -> None:
        watched: List[int] = []

        async def use(box: Any) -> None:
            code = "import os, time; os.fork() or (os.setsid(), time.sleep(1000))"
            await box.exec(["python3", "-c", code])
            watched.append(self.watch(await box._session.describe()))
            watched.append(os.pidfd_open(box._session.server.pid))
            self.addCleanup(os.close, watched[1])

        self.in_sample(use)
        for process in watched:
            self.assert_ends(process)


if __name__ == "__main__":
    unittest.main()
