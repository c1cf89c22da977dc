# SPDX-License-Identifier: MIT
"""What a call costs over the library. Run by clients/measure: the tests do not measure time.

The client, the library (a program in C, which says how long it took) and a ping-pong take turns, so
that a busy machine disturbs all three. The ping-pong is a line to `cat` and back, over the pipes of
subprocess, or of asyncio where the client uses that.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from typing import Awaitable, Callable, Dict, List

import lazaret

SAMPLES = int(os.environ.get("LAZARET_MEASURE_SAMPLES", "2000"))
CALLS = 20  # of a tool in one execution
CODES = {"execution": ("return 1", 1), "tool call": (f"for i = 1, {CALLS} do one() end", CALLS)}


class Peer:
    """A process that answers each line by a line."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line: bytes) -> bytes:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin and stdout
        stdin.write(line)
        stdin.flush()
        return stdout.readline()

    def close(self) -> None:
        self._process.communicate()


PINGED = b"x" * 79 + b"\n"


async def measure(kind: str, execute: Callable[[str], Awaitable[None]], library: Peer,
                  ping: Callable[[], Awaitable[None]]) -> None:
    for name, (code, calls) in CODES.items():
        times: Dict[str, List[float]] = {"client": [], "library": [], "ping-pong": []}
        for _ in range(SAMPLES // calls):
            begun = time.perf_counter()
            await execute(code)
            times["client"].append((time.perf_counter() - begun) * 1e6 / calls)
            times["library"].append(float(library.ask(code.encode() + b"\n")) / calls)
            begun = time.perf_counter()
            for _ in range(calls):
                await ping()
            times["ping-pong"].append((time.perf_counter() - begun) * 1e6 / calls)
        for what, place in (("median", 4), ("10th percentile", 0)):
            client, inside, pong = (statistics.quantiles(one, n=10)[place]
                                    for one in times.values())
            print(f"{kind}, {name}, {what}: client {client:.0f} us, library {inside:.0f} us, "
                  f"ping-pong {pong:.0f} us: ratio {(client - inside) / pong:.1f} "
                  f"({SAMPLES // calls} samples of {calls})", flush=True)


def one() -> int:
    return 1


async def main() -> None:
    library, echo = Peer(sys.argv[1]), Peer("cat")
    other_echo = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE,
                                                      stdout=subprocess.PIPE)

    async def ping() -> None:
        echo.ask(PINGED)

    async def ping_async() -> None:
        assert other_echo.stdin and other_echo.stdout
        other_echo.stdin.write(PINGED)
        await other_echo.stdout.readline()

    with lazaret.Server() as server:
        with lazaret.Session("lua", tools=[one], server=server) as session:
            async def execute(code: str) -> None:
                session.execute(code)

            await measure("Session", execute, library, ping)
        async with lazaret.AsyncSession("lua", tools=[one], server=server) as other:
            async def execute_async(code: str) -> None:
                await other.execute(code)

            await measure("AsyncSession", execute_async, library, ping_async)
    library.close()
    echo.close()
    assert other_echo.stdin
    other_echo.stdin.close()
    await other_echo.wait()


if __name__ == "__main__":
    asyncio.run(main())
