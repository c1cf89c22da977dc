# SPDX-License-Identifier: MIT
"""Values of 64 MiB, floods, forks and kills in the middle of a call: tests that could hang."""

import asyncio
import os
import signal
import threading
import unittest
from typing import Any, List

import lazaret
from support import GUARD_SECONDS, LiveTest

MIB = 1 << 20
BIG = 64 * MIB

INTERRUPTED_TOOL = """
import lazaret, threading
def nap():
    print("ready", flush=True)
    threading.Event().wait()
with lazaret.Session("lua", tools=[nap]) as session:
    try:
        session.execute("nap() while true do end")
    except KeyboardInterrupt:
        print("interrupted", session.execute("return 7").value, flush=True)
"""

INTERRUPTED_LOOP = """
import asyncio, lazaret
async def main():
    async with lazaret.AsyncSession("lua") as session:
        try:
            await session.execute("print('ready') while true do end",
                                  output=lambda stream, text: print(text, end="", flush=True))
        finally:
            print("ended", (await session.execute("return 7")).value, flush=True)
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

FORKED_IN_A_TOOL = """
import os, lazaret
def fork():
    child = os.fork()
    if child == 0:
        try:
            session.execute("return 1")
        except lazaret.LazaretError as error:
            print("child:", error, flush=True)
        return 1  # in the middle of the parent's execution
    os.waitpid(child, 0)
    return "x" * (8 << 20)
session = lazaret.Session("lua", tools=[fork])
try:
    value = session.execute("for i = 1, 1000 do print(i) end return #fork()",
                            output=lambda stream, text: None).value
    print("parent:", value, flush=True)
except lazaret.LazaretError as error:
    print("child:", error, flush=True)
"""

KILLED_PARENT = """
import lazaret, sys
def ready():
    print(session.server.pid, flush=True)
session = lazaret.Session("lua", tools=[ready])
session.execute("ready() while true do io.write(string.rep('x', 65536)) end",
                output=lambda stream, text: None)
"""


class Big(LiveTest):
    def test_64_mib_out_of_and_into_a_tool_and_as_value(self) -> None:
        server = self.server_with(session__max_message_size="144MiB",
                                  session__max_value_size="80MiB", limits__memory="1GiB")

        def big() -> str:
            return "b" * BIG

        def length(text: str) -> int:
            return len(text)

        with lazaret.Session("lua", tools=[big, length], server=server) as session:
            self.assertEqual(session.execute("return #big()").value, BIG)
            self.assertEqual(session.execute(f"return length(string.rep('l', {BIG}))").value, BIG)
            self.assertEqual(len(session.execute(f"return string.rep('v', {BIG})").value), BIG)

    def test_values_that_are_too_large_are_left_out_and_the_session_goes_on(self) -> None:
        def big() -> str:
            return "b" * (65 * MIB)

        session = self.lua(big)
        with self.assertRaisesRegex(lazaret.ExecutionError, "too long for the server"):
            session.execute("big()")
        result = session.execute(f"return string.rep('v', {33 * MIB})")
        self.assertEqual((result.ok, result.value), (True, None))
        self.assertTrue(result.raw["value_omitted"])
        self.assertEqual(session.execute("return 1").value, 1)


class Floods(LiveTest):
    def test_flood_while_the_callback_waits_for_the_end_of_it(self) -> None:
        server = self.server_with(session__max_output_size="32MiB")
        sizes: List[int] = []
        is_over = threading.Event()
        watched = lazaret.Session("lua", server=server)

        def take(stream: str, text: str) -> None:
            if not sizes:  # all of the flood is received while this waits
                other = threading.Thread(target=wait_for_end)
                other.start()
                other.join()
            sizes.append(len(text))

        def wait_for_end() -> None:
            while "[idle]" not in watched.describe()["text"]:
                pass
            is_over.set()

        result = watched.execute("for i = 1, 384 do io.write(string.rep('x', 65536)) end",
                                 output=take)
        self.assertTrue(is_over.is_set())
        self.assertGreater(result.dropped, 0)
        self.assertEqual(sum(sizes) + result.dropped, 24 * MIB)
        self.assertEqual(len(result.stdout), 24 * MIB)

    def test_flood_in_asyncio_while_a_coroutine_waits(self) -> None:
        async def main() -> None:
            released = asyncio.Event()
            sizes: List[int] = []

            async def release() -> None:
                released.set()

            async def take(stream: str, text: str) -> None:
                sizes.append(len(text))

            async with lazaret.AsyncSession("lua", tools=[release],
                                            server=self.server) as session:
                result = await session.execute(
                    "for i = 1, 64 do io.write(string.rep('x', 65536)) end release()", output=take)
                self.assertTrue(released.is_set())
                self.assertEqual(sum(sizes) + result.dropped, 4 * MIB)

        asyncio.run(main())


class Ends(LiveTest):
    def test_kill_while_a_large_answer_is_written(self) -> None:
        server = self.server_with(limits__memory="1GiB")

        def big() -> str:
            assert server.pid
            threading.Thread(target=os.kill, args=(server.pid, signal.SIGKILL)).start()
            return "b" * (60 * MIB)

        session = lazaret.Session("lua", tools=[big], server=server)
        with self.assertRaises(lazaret.WorkerLost):
            session.execute("while true do big() end")
        server.close()

    def test_kill_reaches_all_that_wait(self) -> None:
        server = self.server_with()
        begun = threading.Barrier(4)
        errors: List[BaseException] = []

        def work() -> None:
            def begin() -> None:
                begun.wait(GUARD_SECONDS)

            try:
                session = lazaret.Session("lua", tools=[begin], server=server)
                session.execute("begin() while true do end")
            except lazaret.LazaretError as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        begun.wait(GUARD_SECONDS)
        assert server.pid
        os.kill(server.pid, signal.SIGKILL)
        for thread in threads:
            thread.join()
        self.assertEqual([type(error) for error in errors], [lazaret.WorkerLost] * 3)

    def test_kill_in_asyncio(self) -> None:
        async def main() -> None:
            server = self.server_with()

            async def kill() -> None:
                assert server.pid
                os.kill(server.pid, signal.SIGKILL)
                await asyncio.Event().wait()

            async with lazaret.AsyncSession("lua", tools=[kill], server=server) as session:
                with self.assertRaisesRegex(lazaret.WorkerLost, "signal 9"):
                    await session.execute("kill()")
                self.assertFalse(await session.is_alive())
            with self.assertRaises(lazaret.WorkerLost):
                await lazaret.AsyncPool("lua", 1, server=server).open()

        asyncio.run(main())

    def lines_of(self, program: str, end: Any = None) -> List[str]:
        """What a program has printed; `end` is called when it has printed a line."""
        process = self.start(program)
        assert process.stdout and process.stderr
        first = process.stdout.readline()
        if end:
            end(process, first)
        out = process.stdout.read()  # communicate() would lose what readline() has read besides
        self.assertNotIn("Traceback", process.stderr.read())
        return [first.strip(), *out.splitlines()]

    def test_interrupt_in_a_tool_that_waits(self) -> None:
        lines = self.lines_of(INTERRUPTED_TOOL, lambda process, _: process.send_signal(2))
        self.assertEqual(lines, ["ready", "interrupted 7"])

    def test_interrupt_in_asyncio(self) -> None:
        lines = self.lines_of(INTERRUPTED_LOOP, lambda process, _: os.killpg(process.pid, 2))
        self.assertEqual(lines, ["ready", "ended 7", "interrupted"])

    def test_fork_in_the_middle_of_a_call(self) -> None:
        lines = self.lines_of(FORKED_IN_A_TOOL)
        for line in lines[:2]:
            self.assertRegex(line, "^child: this server belongs to process")
        self.assertEqual(lines[2:], [f"parent: {8 * MIB}"])

    @unittest.skipUnless(hasattr(os, "pidfd_open"), "the system has no pidfd_open")
    def test_server_ends_with_a_parent_that_is_killed_in_a_flood(self) -> None:
        import select

        def kill(process: Any, line: str) -> None:
            server = os.pidfd_open(int(line))
            self.addCleanup(os.close, server)
            process.kill()
            ended, _, _ = select.select([server], [], [], GUARD_SECONDS)
            self.assertTrue(ended)

        self.lines_of(KILLED_PARENT, kill)


if __name__ == "__main__":
    unittest.main()
