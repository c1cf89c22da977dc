# SPDX-License-Identifier: MIT
"""The sandbox client for the OpenAI Agents SDK, with the real program; the SDK is a stand-in."""

import asyncio
import io
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import lazaret
import standins
from test_adapters import Adapted

SDK = standins.OPENAI_SANDBOX["agents.sandbox"]


class Sandbox(Adapted):
    adapter = "openai_sandbox"
    modules = standins.OPENAI_SANDBOX

    def in_session(self, use: Any, **options: Any) -> None:
        async def main() -> None:
            client = self.adapted.LazaretSandboxClient()
            session = await client.create(**options)
            try:
                await session.start()
                await use(session, client)
            finally:
                await client.delete(session)
            self.assertFalse(await session.running())
            client._own.close()

        asyncio.run(main())

    def test_commands(self) -> None:
        async def use(session: Any, client: Any) -> None:
            self.assertTrue(await session.running())
            done = await session.exec("pwd; echo $COLOR; printf '\\377' >&2; exit 3")
            root = session.state.manifest.root
            self.assertEqual((done.stdout, done.stderr, done.exit_code),
                             (f"{root}\nred\n".encode(), b"\xff", 3))
            done = await session.exec("echo", "a b", "$HOME", shell=False)
            self.assertEqual(done.stdout, b"a b $HOME\n")
            for words, status in ((["nothing-like-this"], 127), (["/etc/passwd"], 126)):
                self.assertEqual((await session.exec(*words, shell=False)).exit_code, status)
            self.assertEqual((await session.exec("kill -9 $$")).exit_code, 137)
            with self.assertRaisesRegex(NotImplementedError, "'root'.* one user"):
                await session.exec("id", user="root")

        self.in_session(use, manifest=SDK.Manifest(environment={"COLOR": "red", "NONE": None}))

    def test_a_timeout_ends_all_that_a_command_has_started(self) -> None:
        async def use(session: Any, client: Any) -> None:
            with self.assertRaises(SDK.ExecTimeoutError) as caught:
                await session.exec("sleep 1000 & sleep 1000", timeout=1)
            self.assertEqual(caught.exception.members["timeout_s"], 1)
            done = await session.exec("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
            self.assertNotIn(b"sleep 1000 ", done.stdout)

        self.in_session(use)

    def test_files(self) -> None:
        async def use(session: Any, client: Any) -> None:
            await session.write(Path("d/x"), io.BytesIO(b"\0\xff"))
            await session.write(Path("t"), io.StringIO("\u20ac"))
            self.assertEqual((await session.read(Path("d/x"))).read(), b"\0\xff")
            self.assertEqual((await session.exec("cat t")).stdout, "\u20ac".encode())
            refused: Any = [
                (session.read(Path("none")), SDK.WorkspaceReadNotFoundError),
                (session.read(Path("d")), SDK.WorkspaceArchiveReadError),
                (session.write(Path("d"), io.BytesIO(b"")), SDK.WorkspaceArchiveWriteError),
                (session.write(Path("e"), mock.Mock()), SDK.WorkspaceWriteTypeError),
                (session.read(Path("t"), user="root"), NotImplementedError),
                (session.write(Path("t"), io.BytesIO(b""), user="root"), NotImplementedError),
            ]
            for work, kind in refused:
                with self.assertRaises(kind):
                    await work

        self.in_session(use)

    def test_what_is_too_long(self) -> None:
        async def use(session: Any, client: Any) -> None:
            with mock.patch.multiple(self.adapted, OUTPUT_BYTES=4, FILE_BYTES=4):
                done = await session.exec("printf 123456 | tee x")
                self.assertEqual((done.stdout, b"last 4 bytes" in done.stderr), (b"3456", True))
                with self.assertRaises(SDK.WorkspaceArchiveReadError):
                    await session.read(Path("x"))

        self.in_session(use)

    def test_a_session_goes_on_with_its_workspace(self) -> None:
        async def use(session: Any, client: Any) -> None:
            await session.exec("mkdir d; echo 1 >d/a; ln -s a d/b; chmod 700 d/a; echo 2 >'left out'")
            await session.stop()
            await client.delete(session)
            state = client.deserialize_session_state(vars(session.state))
            self.assertFalse(state is session.state)
            again = await client.resume(state)
            self.addCleanup(lambda: asyncio.run(client.delete(again)))
            await again.start()
            done = await again.exec("ls -A; cat d/b; test -x d/a && echo x")
            self.assertEqual(done.stdout.split(), [b"d", b"1", b"x"])
            with self.assertRaisesRegex(TypeError, "no state"):
                await client.resume(standins.SandboxSessionState())
            await client.delete(again)

        self.in_session(use, snapshot=standins.MemorySnapshot())

    def test_a_workspace_of_the_host(self) -> None:
        async def main() -> None:
            with tempfile.TemporaryDirectory() as directory:
                os.chmod(directory, 0o777)  # to a session of root it is that of another user
                client = self.adapted.LazaretSandboxClient({"sandbox.write": [directory]})
                session = await client.create(manifest=SDK.Manifest(directory))
                await session.start()
                await session.exec("echo made >file")
                self.assertEqual(Path(directory, "file").read_text(), "made\n")
                await client.delete(session)
                session = await client.create(manifest=SDK.Manifest("/nowhere/at/all"))
                with self.assertRaises(SDK.WorkspaceArchiveWriteError):
                    await session.start()
                await client.delete(session)
                client._own.close()

        asyncio.run(main())

    def test_a_box_that_is_lost(self) -> None:
        async def use(session: Any, client: Any) -> None:
            with self.assertRaises(SDK.ExecTransportError) as caught:
                await session.exec("kill -9 $PPID")
            self.assertIsInstance(caught.exception.__cause__, lazaret.LazaretError)

        self.in_session(use)

    def test_arguments(self) -> None:
        client = self.adapted.LazaretSandboxClient(server=self.server)
        with self.assertRaisesRegex(TypeError, "no options"):
            asyncio.run(client.create(options={"a": 1}))
        with self.assertRaises(ValueError):
            self.adapted.LazaretSandboxClient({"a": 1}, server=self.server)
        self.assertIs(client._started(), self.server)


if __name__ == "__main__":
    unittest.main()
