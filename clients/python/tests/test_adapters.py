# SPDX-License-Identifier: MIT
"""Adapters for smolagents, LangChain and the OpenAI Agents SDK, with the real program.

The frameworks are stand-ins (standins.py), which call the adapters as the frameworks do.
"""

import asyncio
import base64
import contextlib
import json
import os
import re
import select
import subprocess
import sys
import unittest
from typing import Any, Coroutine, Dict, List

import lazaret
import standins
from support import GUARD_SECONDS, LiveTest, needs

PNG = ("import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\n"
       "plt.plot([1, 2])\nplt.show()")
PRICES = {"tea": 2.5, "coffee": 3.25}
ITEM = {"type": "object", "properties": {"item": {"type": "string", "description": "its name"}},
        "required": ["item"], "additionalProperties": False}


class Missing(unittest.TestCase):
    def test_without_the_framework_the_error_says_what_to_install(self) -> None:
        rows = [("smolagents", "smolagents.local_python_executor", "pip install smolagents"),
                ("langchain", "langchain_core.tools", "pip install langchain-core"),
                ("openai_agents", "agents", "pip install openai-agents"),
                ("pydantic_ai", "pydantic_ai.capabilities", "pip install pydantic-ai-slim"),
                ("inspect", "inspect_ai.util", "pip install inspect-ai")]
        for adapter, module, words in rows:
            with self.subTest(adapter):
                root = module.partition(".")[0]
                missing = {root: None, module: None}
                with self.assertRaisesRegex(ImportError, f"lazaret.{adapter} needs .*{words}"):
                    with standins.installed(missing, adapter):
                        pass

    def test_what_a_framework_lacks_itself_is_reported_as_it_is(self) -> None:
        class Finder:
            @staticmethod
            def find_spec(name: str, path: Any = None, target: Any = None) -> None:
                if name == "smolagents":
                    raise ModuleNotFoundError("No module named 'rich'", name="rich")

        sys.meta_path.insert(0, Finder)
        self.addCleanup(sys.meta_path.remove, Finder)
        with self.assertRaisesRegex(ModuleNotFoundError, "rich"):
            with standins.installed({}, "smolagents"):
                pass

    def test_the_package_imports_no_framework(self) -> None:
        code = ("import sys, lazaret\n"
                "names = {name.partition('.')[0] for name in sys.modules}\n"
                "print(names & {'smolagents', 'langchain_core', 'agents', 'pydantic_ai',"
                " 'inspect_ai', 'pydantic'})")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              timeout=GUARD_SECONDS,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(done.stdout.strip(), "set()", done.stderr)


class Adapted(LiveTest):
    adapter = ""
    modules: Dict[str, Any] = {}

    def setUp(self) -> None:
        super().setUp()
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.adapted = stack.enter_context(standins.installed(self.modules, self.adapter))

    def watch(self, description: Any) -> int:
        """A descriptor of the process of a session, for `assert_ends`."""
        found = re.search(r"pid=(\d+)", description["text"])
        assert found
        watched = os.pidfd_open(int(found.group(1)))
        self.addCleanup(os.close, watched)
        return watched

    def assert_ends(self, watched: int) -> None:
        self.assertEqual(select.select([watched], [], [], GUARD_SECONDS)[0], [watched])


# ---- smolagents ---------------------------------------------------------------------------------


class Smolagents(Adapted):
    adapter = "smolagents"
    modules = standins.SMOLAGENTS

    def executor(self, *tools: standins.SmolTool, **options: Any) -> Any:
        made = self.adapted.LazaretExecutor(server=self.server, **options)
        self.addCleanup(made.cleanup)
        made.send_tools({tool.name: tool for tool in (*tools, standins.final_answer())})
        return made

    def test_value_output_and_state(self) -> None:
        run = self.executor()
        first = run("print('hello')\nx = [1, {'a': b'b'}]\nx")
        self.assertEqual((first.output, first.logs, first.is_final_answer),
                         ([1, {"a": b"b"}], "hello\n", False))
        self.assertEqual(run("len(x)").output, 2)
        self.assertEqual(run.state["_print_outputs"], "")

    def test_variables_go_in(self) -> None:
        run = self.executor()
        run.send_variables({"data": {"list": [1, 2.5, None], "bytes": b"\0\xff"}, "word": "\u20ac"})
        self.assertEqual(run("[data['list'], data['bytes'], word]").output,
                         [[1, 2.5, None], b"\0\xff", "\u20ac"])
        run.send_variables({"word": "next"})
        run("data = 1")
        self.assertEqual(run("[data, word]").output, [1, "next"])
        with self.assertRaisesRegex(TypeError, "variable 'lock': .*cannot be sent"):
            run.send_variables({"lock": object()})
        with self.assertRaisesRegex(ValueError, "not a name"):
            run.send_variables({"a b": 1})

    def test_tools_run_here_with_their_types_checked(self) -> None:
        calls: List[str] = []

        def price(item: str, currency: Any = None) -> float:
            calls.append(item)
            return PRICES[item]

        run = self.executor(standins.SmolTool("price", "A price", {
            "item": {"type": "string", "description": "its name"},
            "currency": {"type": "string", "description": "", "nullable": True}}, price, "number"))
        self.assertEqual([tool.declaration.get("returns") for tool in run._made()],
                         [{"type": "number"}, None, None])
        self.assertEqual(run("price('tea') + price(item='coffee')").output, 5.75)
        self.assertEqual(calls, ["tea", "coffee"])
        with self.assertRaisesRegex(lazaret.ExecutionError, "item"):
            run("price(3)")
        self.assertEqual(calls, ["tea", "coffee"])
        with self.assertRaisesRegex(lazaret.ExecutionError, "KeyError: 'cake'"):
            run("price('cake')")

    def test_final_answer_ends_the_execution(self) -> None:
        called: List[int] = []
        run = self.executor(standins.SmolTool("note", "", {}, lambda: called.append(1)))
        for catch in ("Exception", "BaseException"):
            code = (f"print('before')\ntry:\n    final_answer({{'n': 42}})\nexcept {catch}:\n"
                    "    pass\nprint('after')\nnote()\nwhile True: pass")
            done = run(code)
            self.assertEqual((done.output, done.logs, done.is_final_answer),
                             ({"n": 42}, "before\n", True))
        self.assertEqual(called, [])
        self.assertFalse(run("1").is_final_answer)
        with self.assertRaisesRegex(lazaret.SyntaxFailed, "final_answer"):
            run("final_answer = 3")

    def test_state_after_a_final_answer(self) -> None:
        run = self.executor()
        run("x = 3")
        self.assertTrue(run("final_answer(x)").is_final_answer)
        self.assertEqual(run("x").output, 3)

    def test_error_and_timeout_keep_what_was_printed(self) -> None:
        run = self.executor()
        with self.assertRaisesRegex(lazaret.ExecutionError, "ZeroDivisionError(.|\n)*line 2"):
            run("print('seen')\n1 / 0")
        self.assertEqual(run.state["_print_outputs"], "seen\n")
        with self.assertRaises(lazaret.SyntaxFailed):
            run("def")
        late = self.executor(timeout=0.1)
        with self.assertRaisesRegex(lazaret.Timeout, "timeout"):
            late("while True: pass")

    def test_lost_state_gets_its_variables_again(self) -> None:
        run = self.executor()
        run.send_variables({"kept": 5})
        self.assertEqual(run("kept").output, 5)
        for code, kind in (("import os; os.abort()", lazaret.WorkerLost),
                           ("exit(3)", lazaret.ExecutionError)):
            with self.assertRaises(kind):
                run("x = 1\n" + code)
            done = run("[kept, 'x' in globals()]")
            self.assertEqual(done.output, [5, False])
            self.assertRegex(done.logs, "started anew .*gone")
        self.assertTrue(run("final_answer(kept)").is_final_answer)

    def test_other_tools_start_a_fresh_session(self) -> None:
        run = self.executor()
        run("x = 1")
        run.send_tools({"final_answer": standins.final_answer()})
        self.assertEqual(run("x").output, 1)
        one = standins.SmolTool("one", "", {}, lambda: 1)
        run.send_tools({"one": one})
        self.assertEqual(run("one()").output, 1)
        with self.assertRaises(lazaret.ExecutionError):
            run("x")

    def test_approvals(self) -> None:
        asked: List[lazaret.Approval] = []

        def approve(approval: lazaret.Approval) -> bool:
            asked.append(approval)
            return approval.args == {"item": "tea"}

        tool = standins.SmolTool("buy", "", {"item": {"type": "string", "description": ""}},
                                 lambda item: f"bought {item}")
        run = self.executor(tool, approve=approve, approved_tools=["buy"])
        self.assertEqual(run("buy('tea')").output, "bought tea")
        with self.assertRaisesRegex(lazaret.ExecutionError, "not approved"):
            run("buy('cake')")
        self.assertEqual(len(asked), 2)

    def test_files_and_results(self) -> None:
        results: List[lazaret.Result] = []
        run = self.executor(files={"in.txt": b"abc"}, on_result=results.append)
        code = "open('artifacts/out.txt', 'w').write(open('in.txt').read())"
        self.assertEqual(run(code).output, 3)
        self.assertEqual([artifact.data for artifact in results[0].artifacts], [b"abc"])
        with self.assertRaises(lazaret.ExecutionError):
            run("exit(1)")
        self.assertEqual(run("open('in.txt').read()").output, "abc")

    def test_cleanup_closes_the_session(self) -> None:
        run = self.executor()
        run("x = 1")
        watched = self.watch(run._session.describe())
        run.cleanup()
        run.cleanup()
        self.assert_ends(watched)
        with self.assertRaises(lazaret.ExecutionError):
            run("x")


# ---- LangChain ----------------------------------------------------------------------------------


def price(item: str) -> float:
    """Price of an item."""
    return PRICES[item]


async def price_later(item: str) -> float:
    await asyncio.sleep(0)
    return PRICES[item]


class LangChain(Adapted):
    adapter = "langchain"
    modules = standins.LANGCHAIN

    def tool(self, **options: Any) -> Any:
        functional = standins.FunctionalTool(price, ITEM)
        session = lazaret.Session("python", [self.adapted.as_tool(functional)], self.server)
        self.addCleanup(session.close)
        return self.adapted.CodeTool(session, **options)

    def test_value_output_state_and_tool(self) -> None:
        tool = self.tool()
        self.assertEqual(tool.name, "run_code")
        self.assertIn("Python code", tool.description)
        given = self.adapted.as_tool(standins.FunctionalTool(price, ITEM),
                                     returns={"type": "string", "title": "Price"})
        self.assertEqual(given.declaration["returns"], {"type": "string"})
        self.assertIn("price(item: str) -> float: Price of an item.", tool.description)
        self.assertEqual(tool.invoke({"code": "print('hello')\nx = price('tea')\nx * 2"}),
                         "hello\n5.0")
        message = tool.invoke({"type": "tool_call", "id": "7", "args": {"code": "x"}})
        self.assertEqual((message.content, message.tool_call_id), ("2.5", "7"))
        self.assertEqual(json.loads(json.dumps(message.artifact))["value"], 2.5)

    def test_error_and_timeout_are_told_to_the_model(self) -> None:
        tool = self.tool()
        text = tool.invoke({"code": "print('seen')\nprice('cake')"})
        self.assertRegex(text, r"seen\nerror: .*KeyError: 'cake'")
        late = self.tool(timeout=0.1)
        self.assertTrue(late.invoke({"code": "while True: pass"}).startswith("timeout: "))
        self.assertTrue(late.invoke({"code": "def"}).startswith("syntax_error: "))

    def test_results_and_files(self) -> None:
        results: List[lazaret.Result] = []
        tool = self.tool(on_result=results.append)
        text = tool.invoke({"code": "n = open('artifacts/a.txt', 'w').write('abc')"})
        self.assertIn("a.txt (text/plain, 3 bytes)", text)
        self.assertEqual(results[0].artifacts[0].data, b"abc")

    def test_ainvoke_with_a_session_runs_in_a_thread(self) -> None:
        tool = self.tool()
        tool.invoke({"code": "x = 1"})

        async def main() -> None:
            texts = await asyncio.gather(*(tool.ainvoke({"code": f"x + {i}"}) for i in range(4)))
            self.assertEqual(texts, ["1", "2", "3", "4"])

        asyncio.run(main())

    def test_ainvoke_with_an_async_session(self) -> None:
        functional = standins.FunctionalTool(price, ITEM, price_later)

        async def main() -> None:
            made = self.adapted.as_tool(functional, is_async=True)
            async with lazaret.AsyncSession("python", [made], self.server) as session:
                tool = self.adapted.CodeTool(session)
                self.assertIn("price(item: str) -> float", tool.description)
                self.assertEqual(await tool.ainvoke({"code": "x = price('tea')\nx"}), "2.5")
                calls = [tool.ainvoke({"code": f"x + {i}"}) for i in range(4)]
                texts = await asyncio.gather(*calls)
                self.assertEqual(texts, ["2.5", "3.5", "4.5", "5.5"])
                with self.assertRaisesRegex(TypeError, "use ainvoke"):
                    tool.invoke({"code": "1"})

        asyncio.run(main())

    def test_code_cannot_run_code_in_its_own_session(self) -> None:
        async def again() -> Any:
            return await tools[0].ainvoke({"code": "1"})

        tools: List[Any] = []

        async def main() -> None:
            async with lazaret.AsyncSession("lua", [again], self.server) as session:
                tools.append(self.adapted.CodeTool(session))
                self.assertIn("cannot run other code in it",
                              await tools[0].ainvoke({"code": "again()"}))

        asyncio.run(main())

    def test_a_pool_is_fresh_each_time(self) -> None:
        with lazaret.Pool("lua", 1, server=self.server) as pool:
            tool = self.adapted.CodeTool(pool)
            self.assertIn("Lua code", tool.description)
            tool.invoke({"code": "x = 1"})
            self.assertEqual(tool.invoke({"code": "return x == nil"}), "true")
        with self.assertRaisesRegex(TypeError, "Session or Pool"):
            self.adapted.CodeTool(5)

    def test_approval_of_a_tool(self) -> None:
        functional = standins.FunctionalTool(price, ITEM)
        made = self.adapted.as_tool(functional, approve=True)
        with lazaret.Session("python", [made], self.server) as session:
            text = self.adapted.CodeTool(session).invoke({"code": "price('tea')"})
        self.assertIn("approval", text)


# ---- OpenAI Agents SDK --------------------------------------------------------------------------


class OpenAIAgents(Adapted):
    adapter = "openai_agents"
    modules = standins.OPENAI_AGENTS
    context = standins.ToolContext({"user": "Ada"}, "run_code", "call_1", "{}", agent="agent")

    def run_it(self, use: Any, *tools: Any, approve: Any = None, **options: Any) -> None:
        async def main() -> None:
            made = [self.adapted.as_tool(tool) for tool in tools]
            async with lazaret.AsyncSession("python", made, self.server,
                                            approve=approve) as session:
                tool = self.adapted.run_code_tool(session, **options)

                async def run(code: str) -> Any:
                    return await tool.on_invoke_tool(self.context, json.dumps({"code": code}))

                await use(run, tool)

        asyncio.run(main())

    def function_tool(self, function: Any, **options: Any) -> standins.FunctionTool:
        async def invoke(context: Any, arguments: str) -> Any:
            value = function(context, **json.loads(arguments))
            return await value if isinstance(value, Coroutine) else value

        return standins.FunctionTool(function.__name__, function.__doc__ or "", ITEM, invoke,
                                     **options)

    def test_value_output_state_and_tool(self) -> None:
        seen: List[Any] = []

        async def price(context: Any, item: str) -> float:
            """Price of an item."""
            await asyncio.sleep(0)
            seen.append(context)
            return PRICES[item]

        async def use(run: Any, tool: Any) -> None:
            self.assertIn("price(item: str) -> float: Price of an item.", tool.description)
            self.assertEqual(await run("print('hello')\nx = price('tea')\nx * 2"), "hello\n5.0")
            self.assertEqual(await run("x"), "2.5")
            self.assertRegex(await run("price('cake')"), "error: .*KeyError: 'cake'")
            self.assertEqual(await tool.on_invoke_tool(self.context, "[]"),
                             await tool.on_invoke_tool(self.context, '{"code": 1}'))
            self.assertEqual(await asyncio.gather(run("1"), run("2")), ["1", "2"])

        self.run_it(use, self.function_tool(price, output_json_schema={"type": "number"}))
        self.assertEqual((seen[0].context, seen[0].tool_name, seen[0].agent),
                         ({"user": "Ada"}, "price", "agent"))
        self.assertNotEqual(seen[0].tool_call_id, seen[1].tool_call_id)

    def test_error_timeout_and_cancellation(self) -> None:
        started = asyncio.Event()

        async def start(context: Any, item: str) -> None:
            started.set()

        async def use(run: Any, tool: Any) -> None:
            self.assertIn("ZeroDivisionError", await run("1 / 0"))
            waiting = asyncio.create_task(run("start('')\nwhile True: pass"))
            await started.wait()
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting
            self.assertEqual(await run("3"), "3")

        async def late(run: Any, tool: Any) -> None:
            self.assertTrue((await run("while True: pass")).startswith("timeout: "))

        self.run_it(use, self.function_tool(start), timeout=None)
        self.run_it(late, timeout=0.1)

    @needs("matplotlib")
    def test_pictures_and_results(self) -> None:
        results: List[lazaret.Result] = []

        async def use(run: Any, tool: Any) -> None:
            text, picture = await run(PNG)
            self.assertEqual(text["type"], "text")
            kind, _, data = picture["image_url"].partition(",")
            self.assertEqual((picture["type"], kind), ("image", "data:image/png;base64"))
            self.assertEqual(base64.b64decode(data), results[0].artifacts[0].data)

        self.run_it(use, on_result=results.append, timeout=60)

    def test_approvals_and_guardrails_are_not_passed_by(self) -> None:
        def buy(context: Any, item: str) -> str:
            return f"bought {item}"

        async def approve(approval: lazaret.Approval) -> bool:
            return approval.args == {"item": "tea"}

        async def needs(context: Any, args: Any, number: str) -> bool:
            return bool(args["item"] != "tea")

        async def use(run: Any, tool: Any) -> None:
            self.assertEqual(await run("buy('tea')"), "'bought tea'")
            self.assertIn("approv", await run("buy('cake')"))

        self.run_it(use, self.function_tool(buy, needs_approval=True), approve=approve)
        self.run_it(use, self.function_tool(buy, needs_approval=needs))
        with self.assertRaisesRegex(ValueError, "guardrails"):
            self.adapted.as_tool(self.function_tool(buy, tool_input_guardrails=[needs]))

    def test_disabled_tools_are_refused(self) -> None:
        def buy(context: Any, item: str) -> str:
            return f"bought {item}"

        async def use(run: Any, tool: Any) -> None:
            self.assertIn("not enabled", await run("buy('tea')"))

        self.run_it(use, self.function_tool(buy, is_enabled=False))
        self.run_it(use, self.function_tool(
            buy, is_enabled=lambda context, agent: agent != "agent"))

    def test_a_session_without_asyncio_is_refused(self) -> None:
        with lazaret.Session("lua", server=self.server) as session:
            with self.assertRaisesRegex(TypeError, "AsyncSession"):
                self.adapted.run_code_tool(session)


if __name__ == "__main__":
    unittest.main()
