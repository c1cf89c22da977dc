# SPDX-License-Identifier: MIT
"""The adapter for pydantic-ai, with the real program.

The framework is a stand-in (standins.py), which calls the adapter as the framework does.
"""

import asyncio
import unittest
from typing import Any, Coroutine, Dict, List

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
            self.assertIn("price(item: str) -> float: Price of an item.",
                          definition.description or "")
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

    def test_tools_of_code_share_what_the_run_knows_of_retries(self) -> None:
        def broken(item: str) -> str:
            if item != "well":
                raise standins.ModelRetry(f"no {item}")
            return item

        def price(item: str) -> float:
            return PRICES[item]

        async def use(code: Any, run: standins.AgentRun) -> None:
            caught = "def tried(item):\n    try:\n        return broken(item)\n" \
                     "    except Exception:\n        return None\n"
            await code(caught + "tried('a'), tried('b'), price('tea')")
            with self.assertRaisesRegex(standins.ModelRetry, "no c"):
                await code("broken('c')")
            self.assertEqual(run.manager.refused, {"broken"})
            self.assertEqual((await code("tried('well'), tried('d')")).return_value,
                             "('well', None)")

        toolset = self.run_it(use, broken, price)
        self.assertEqual(toolset.retries, [
            ("broken", 0, 1), ("broken", 1, 1), ("price", 0, 1), ("broken", 1, 1),
            ("broken", 1, 1), ("broken", 0, 1)])

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


if __name__ == "__main__":
    unittest.main()
