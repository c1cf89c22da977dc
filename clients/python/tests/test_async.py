# SPDX-License-Identifier: MIT
"""Sessions in asyncio, with the real program."""

import asyncio
import unittest
from typing import Any, Coroutine, List

import lazaret
from support import LiveTest


class Async(LiveTest):
    def run_it(self, coroutine: Coroutine[Any, Any, None]) -> None:
        asyncio.run(coroutine)

    def test_execute_restart_describe(self) -> None:
        async def main() -> None:
            session = lazaret.AsyncSession("lua", server=self.server)
            self.assertEqual((await session.execute("x = 1 return x")).value, 1)
            await session.restart()
            self.assertIsNone((await session.execute("return x")).value)
            self.assertTrue(await session.is_alive())
            self.assertEqual(await session.tools(), [])
            with self.assertRaises(lazaret.ExecutionError):
                await session.execute("error('x')")
            await session.close()
            self.assertFalse(await session.is_alive())

        self.run_it(main())

    def test_credentials_are_of_a_session_and_a_pool(self) -> None:
        mine = {"host": "a.example", "header": "Authorization: Bearer {secret}",
                "secret": {"value": "ghp_0123456789"}, "placeholder": {"env": "API_TOKEN"}}
        code = "import os\nos.environ.get('API_TOKEN')"
        server = self.server_with(sandbox__backend="bwrap")

        async def main() -> None:
            async with lazaret.AsyncSession(network=["a.example"], credentials=[mine],
                                            server=server) as session:
                self.assertRegex((await session.execute(code)).value, "^ghp_")
            async with lazaret.AsyncPool(size=1, network=["a.example"], credentials=[],
                                         server=server) as pool:
                self.assertIsNone((await pool.execute(code)).value)

        self.run_it(main())

    def test_cancelled_task_ends_the_code(self) -> None:
        async def main() -> None:
            started, tool_ended = asyncio.Event(), asyncio.Event()

            async def wait() -> None:
                started.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    tool_ended.set()

            async with lazaret.AsyncSession("lua", tools=[wait], server=self.server) as session:
                task = asyncio.create_task(session.execute("wait()"))
                await started.wait()
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                self.assertTrue(tool_ended.is_set())
                self.assertEqual((await session.execute("return 1")).value, 1)

        self.run_it(main())

    def test_approval_by_a_coroutine(self) -> None:
        async def main() -> None:
            @lazaret.tool(approve=True)
            async def erase(path: str) -> str:
                return "erased " + path

            async def approve(approval: lazaret.Approval) -> bool:
                await asyncio.sleep(0)
                return approval.args == {"path": "a"}

            async with lazaret.AsyncSession("lua", tools=[erase], server=self.server,
                                            approve=approve) as session:
                self.assertEqual((await session.execute("return erase('a')")).value, "erased a")
                with self.assertRaisesRegex(lazaret.ExecutionError, "not approved"):
                    await session.execute("erase('b')")

        self.run_it(main())

    def test_tools_run_at_the_same_time(self) -> None:
        async def main() -> None:
            arrived: List[int] = []
            both = asyncio.Event()

            async def meet(number: int) -> int:
                arrived.append(number)
                if len(arrived) == 2:
                    both.set()
                await both.wait()
                return number

            code = ("import asyncio\nasync def main():\n"
                    "    return await asyncio.gather(meet.aio(1), meet.aio(2))\n"
                    "asyncio.run(main())")
            async with lazaret.AsyncSession("python", tools=[meet],
                                            server=self.server) as session:
                self.assertEqual((await session.execute(code)).value, [1, 2])

        self.run_it(main())

    def test_tool_that_takes_too_long_is_cancelled(self) -> None:
        async def main() -> None:
            started: List[bool] = []
            ended: List[bool] = []

            @lazaret.tool(timeout=0.1)
            async def forever() -> None:
                started.append(True)
                try:
                    await asyncio.Event().wait()
                finally:
                    ended.append(True)

            async with lazaret.AsyncSession("lua", tools=[forever],
                                            server=self.server) as session:
                result = await session.execute("return (pcall(forever))")
                self.assertEqual(result.value, False)
                self.assertEqual(ended, started)

        self.run_it(main())

    def test_plain_tool_coroutine_callback_and_sessions_side_by_side(self) -> None:
        async def main() -> None:
            texts: List[str] = []

            def double(number: int) -> int:
                return 2 * number

            async def take(stream: str, text: str) -> None:
                await asyncio.sleep(0)
                texts.append(text)

            async def work(number: int) -> Any:
                async with lazaret.AsyncSession("lua", tools=[double],
                                                server=self.server) as session:
                    code = f"print('x') return double({number})"
                    return (await session.execute(code, output=take)).value

            self.assertEqual(await asyncio.gather(*map(work, range(4))), [0, 2, 4, 6])
            self.assertEqual("".join(texts), "x\n" * 4)

        self.run_it(main())

    def test_progress(self) -> None:
        async def main() -> None:
            seen: List[lazaret.Progress] = []

            async def note(progress: lazaret.Progress) -> None:
                await asyncio.sleep(0)
                seen.append(progress)

            async def enough() -> bool:
                return bool(seen)

            code = "import time\nwhile not enough(): time.sleep(0.02)"
            async with lazaret.AsyncSession("python", tools=[enough],
                                            server=self.server) as session:
                await session.execute(code, on_progress=note)
            self.assertGreater(seen[0].wall_ms, 0)

        self.run_it(main())

    def test_pool(self) -> None:
        async def main() -> None:
            async with lazaret.AsyncPool("lua", 2, server=self.server) as pool:
                async def work(number: int) -> Any:
                    return (await pool.execute(f"x = (x or 0) + {number} return x", wait=60)).value

                self.assertEqual(await asyncio.gather(*map(work, range(6))), list(range(6)))
                self.assertEqual((await pool.status())["total"], 2)
                self.assertIn("pool", (await pool.describe())["text"])
            with self.assertRaisesRegex(lazaret.LazaretError, "this pool is closed"):
                await pool.execute("return 1")
            self.assertTrue(self.server.is_alive)

        self.run_it(main())

    def test_pool_with_tools(self) -> None:
        async def main() -> None:
            async def double(number: int) -> int:
                await asyncio.sleep(0)
                return 2 * number

            pool = lazaret.AsyncPool("lua", 1, tools=[double], server=self.server)
            async with pool:
                self.assertEqual((await pool.execute("return double(4)")).value, 8)
                task = asyncio.create_task(pool.execute("while true do end"))
                while not (await pool.status())["busy"]:
                    await asyncio.sleep(0.01)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
            self.assertTrue(self.server.is_alive)
            wrong = lazaret.AsyncPool("lua", 10**6, tools=[double], server=self.server)
            with self.assertRaises(lazaret.SetupFailed):
                await wrong.open()

        self.run_it(main())

    def test_killed_server_is_worker_lost(self) -> None:
        async def main() -> None:
            server = lazaret.Server()
            self.addCleanup(server.close)

            async def close() -> None:
                await asyncio.get_running_loop().run_in_executor(None, server.close)

            session = lazaret.AsyncSession("lua", tools=[close], server=server)
            with self.assertRaises((lazaret.WorkerLost, lazaret.Cancelled)):
                await session.execute("close() while true do end")
            with self.assertRaises(lazaret.WorkerLost):
                await session.execute("return 1")

        self.run_it(main())


if __name__ == "__main__":
    unittest.main()
