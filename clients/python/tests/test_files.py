# SPDX-License-Identifier: MIT
"""Files for the code, and artifacts of it."""

import asyncio
import base64
import hashlib
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List
from unittest import mock

import lazaret
from lazaret._files import PART_BYTES, artifacts_of, parts_of
from support import LiveTest

COPY = """
local i = io.open('in', 'rb')
local o = io.open('artifacts/out', 'wb')
o:write(i:read('a'))
o:close()"""
# Writes to the channel as the agent does, in its place.
FORGE = """
import os, stat
channel = [f for f in range(3, 64) if os.path.exists('/proc/self/fd/%d' % f)
           and stat.S_ISSOCK(os.stat('/proc/self/fd/%d' % f).st_mode)][0]
def send(members): os.write(channel, ('{"id":1,' + members + '}\\n').encode())
send('"type":"part","of":"file","name":"b.png","data":"YWJj","more":true')
"""
BYTES = bytes(range(256)) * 12000  # 3 MB, in many parts
PNG = b"\x89PNG\r\n\x1a\nand more"


def made(data: bytes, name: str = "plot.png", kind: str = "image/png") -> lazaret.Artifact:
    """An artifact that no server has sent."""
    return lazaret.Artifact(name, kind, len(data), hashlib.sha256(data).hexdigest(), data)


class Live(LiveTest):
    def test_file_in_and_artifact_out(self) -> None:
        session = self.lua()
        for data in (b"", b"\0\r\n\xff", b"x" * PART_BYTES, BYTES):
            session.put_file("in", data)
            artifact, = session.execute(COPY).artifacts
            self.assertTrue(artifact.data == data)
            self.assertEqual((artifact.name, artifact.size), ("out", len(data)))
            self.assertEqual(artifact.sha256, hashlib.sha256(data).hexdigest())
            self.assertFalse(artifact.dropped)

    def test_file_of_a_path_and_several_artifacts(self) -> None:
        code = ("import os\nos.makedirs('artifacts/a/b')\nopen('artifacts/a/b/x.csv', 'w').write("
                "open('in').read())\nopen('artifacts/\u00e9 .txt', 'w').close()")
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "some file")
            path.write_bytes(b"a,b\n1,2\n")
            everywhere: List[Any] = [path, str(path)]
            for given in everywhere:
                result = lazaret.execute(code, server=self.server, files={"in": given})
        self.assertEqual([(one.name, one.type, one.data) for one in result.artifacts],
                         [("a/b/x.csv", "text/csv", b"a,b\n1,2\n"),
                          ("\u00e9 .txt", "text/plain", b"")])

    def test_files_at_opening(self) -> None:
        def tool() -> None:
            """Has to be there."""

        files: Dict[str, Any] = {"in": b"first", "other": bytearray(b"second")}
        with lazaret.Session("lua", server=self.server, files=files) as session:
            self.assertEqual(session.execute("return io.open('other'):read('a')").value, "second")
            self.assertEqual(session.execute(COPY).artifacts[0].data, b"first")
        result = lazaret.execute(COPY, "lua", server=self.server, tools=[tool], files=files)
        self.assertEqual(result.artifacts[0].data, b"first")

    def test_files_of_an_execution(self) -> None:
        files: Dict[str, Any] = {"in": b"first", "empty": bytearray()}
        session = self.lua()
        self.assertEqual(session.execute(COPY, files=files).artifacts[0].data, b"first")
        self.assertEqual(session.execute("return io.open('empty'):read('a')").value, "")
        self.assertTrue(session.execute(COPY, files={"in": BYTES}).artifacts[0].data == BYTES)
        with lazaret.Pool("lua", 1, server=self.server) as pool:
            self.assertEqual(pool.execute(COPY, files=files).artifacts[0].data, b"first")
            self.assertTrue(pool.execute("return io.open('in') == nil").value)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "some file")
            path.write_bytes(b"of a path")
            result = lazaret.execute(COPY, "lua", server=self.server, files={"in": path})
        self.assertEqual(result.artifacts[0].data, b"of a path")

    def test_files_of_an_execution_that_cannot_be(self) -> None:
        with lazaret.Pool("lua", 1, server=self.server_with(sandbox__tmp_size="1MiB")) as pool:
            for name, data, code in (("a/b", b"", "LAZ_EINVAL"), ("in", BYTES, "LAZ_EOS")):
                with self.subTest(name):
                    with self.assertRaises(lazaret.RequestFailed) as caught:
                        pool.execute("return 1", files={"kept": b"", name: data})
                    self.assertEqual(caught.exception.code, code)
                    with self.assertRaises(lazaret.RequestFailed):
                        lazaret.execute("return 1", "lua", server=pool.server, files={name: data})
            self.assertRaises(ValueError, pool.execute, "1", files={"a\0b": b""})
            self.assertRaises(TypeError, pool.execute, "1", files={"a": 5})
            self.assertRaises(FileNotFoundError, pool.execute, "1", files={"a": "/nonexistent/a"})
            self.assertEqual(pool.execute("return 1", files={}).value, 1)
        broken = self.server_with(sandbox__read=["/nonexistent"])
        for runtime, server in (("cobol", self.server), ("lua", broken)):
            with self.assertRaises(lazaret.SetupFailed):
                lazaret.execute("1", runtime, server=server, files={"in": b""})

    def test_files_that_do_not_go_with_the_code(self) -> None:
        server = self.server_with(session__max_value_size="2MiB")
        most, many = server.max_line, {f"f{n}": b"x" for n in range(65)}
        fits, does_not = (most - 1000) // 4 * 3, most // 4 * 3
        sent = mock.Mock(wraps=server.send)
        with lazaret.Session("lua", server=server) as session, \
                mock.patch.object(server, "send", sent):
            for size, is_put in ((fits, False), (does_not, True), (most - 9, True)):
                sent.reset_mock()
                result = session.execute(COPY, files={"other": b"", "in": bytes(size)})
                self.assertEqual(result.artifacts[0].size, size)
                kinds = [call.args[0]["type"] for call in sent.mock_calls]
                self.assertEqual("put" in kinds, is_put)
            self.assertEqual(session.execute("return io.open('f64'):read('a')", files=many).value,
                             "x")
            with self.assertRaises(lazaret.RequestFailed):
                session.execute("return 1", files={"in": bytes(most + 1)})
        with lazaret.Pool("lua", 1, server=server) as pool:
            for files in ({"in": bytes(does_not)}, {"in": "/dev/zero"}, many):
                for run in (pool.execute, lazaret.execute):
                    where = {} if run == pool.execute else {"server": server}
                    with self.assertRaisesRegex(ValueError, f"at most 64, .* {most} bytes"):
                        run("1", files=files, **where)  # type: ignore[operator]
            self.assertEqual(pool.execute(COPY, files={"in": bytes(fits)}).artifacts[0].size, fits)

    def test_files_belong_to_the_box(self) -> None:
        with lazaret.Session("python", server=self.server, files={"in": b"x"}) as session:
            with self.assertRaises(lazaret.WorkerLost):
                session.execute("import os; os.abort()")
            result = session.execute("os = __import__('os'); os.path.exists('in')")
            self.assertEqual((result.replaced, result.value), ("crashed", False))
            session.put_file("in", b"again")
            self.assertEqual(session.execute("open('in').read()").value, "again")
            session.restart()
            self.assertFalse(session.execute("__import__('os').path.exists('in')").value)

    def test_names_and_sizes_that_are_refused(self) -> None:
        session = self.lua()
        for name in ("a/b", "..", "", "a\nb"):
            with self.subTest(name), self.assertRaises(lazaret.RequestFailed) as caught:
                session.put_file(name, BYTES)
            self.assertEqual(caught.exception.code, "LAZ_EINVAL")
        self.assertRaises(ValueError, session.put_file, "a\0b", b"")
        self.assertRaises(TypeError, session.put_file, b"a", b"")
        self.assertRaises(TypeError, session.put_file, "a", 5)
        self.assertRaises(FileNotFoundError, session.put_file, "a", "/nonexistent/file")
        with self.assertRaises(lazaret.RequestFailed):
            lazaret.Session("lua", server=self.server, files={"a/b": b""})
        small = self.server_with(sandbox__tmp_size="1MiB")
        with lazaret.Session("lua", server=small) as session:
            self.assertRaises(lazaret.RequestFailed, session.put_file, "in", BYTES)
            session.put_file("in", b"less")
            self.assertEqual(session.execute(COPY).artifacts[0].data, b"less")

    def test_file_for_a_session_that_cannot_start(self) -> None:
        server = self.server_with(sandbox__read=["/nonexistent"])
        with self.assertRaises(lazaret.SetupFailed):
            lazaret.Session("lua", server=server, files={"in": b""})

    def test_files_in_a_session_that_others_use(self) -> None:
        server = self.server_with(pool__reset=False)
        with lazaret.Pool("lua", 1, server=server) as pool:
            code = "kept = (kept or 0) + 1 local f = io.open('in') return {kept, f and f:read('a')}"
            self.assertEqual(pool.execute(code, files={"in": b"mine"}).value, [1, "mine"])
            self.assertEqual(pool.execute(code).value, [2])

    def test_session_that_executes_is_busy(self) -> None:
        def put() -> str:
            with self.assertRaises(lazaret.RequestFailed) as caught:
                session.put_file("in", b"x")
            return caught.exception.code

        session = self.lua(put)
        self.assertEqual(session.execute("return put()").value, "LAZ_EBUSY")
        session.put_file("in", b"x")

    def test_code_that_fails_delivers_what_it_has_saved(self) -> None:
        code = "io.open('artifacts/x', 'w'):write('kept'):close() error('broken')"
        with self.assertRaises(lazaret.ExecutionError) as caught:
            self.lua().execute(code)
        assert caught.exception.result
        self.assertEqual(caught.exception.result.artifacts[0].data, b"kept")

    def test_a_timeout_during_a_delivery_is_a_timeout(self) -> None:
        with lazaret.Session("python", server=self.server) as session:
            with self.assertRaises(lazaret.Timeout) as caught:
                session.execute(FORGE + "while True: pass", timeout=1)
            result = caught.exception.result
            assert result
            self.assertEqual([artifact.name for artifact in result.artifacts], [])
            self.assertLessEqual({lost.name for lost in result.artifacts_lost}, {"b.png"})
            self.assertEqual(session.execute("1 + 1").value, 2)

    def test_an_artifact_that_is_not_whole_is_lost(self) -> None:
        with lazaret.Session("python", server=self.server) as session:
            with self.assertRaises(lazaret.WorkerLost) as caught:
                session.execute(FORGE + "send('\"type\":\"result\"')")
            self.assertIn("an artifact was not sent to its end", str(caught.exception))
            result = caught.exception.result
            assert result
            self.assertEqual(result.artifacts, [])
            lost, = result.artifacts_lost
            self.assertEqual((lost.name, lost.bytes), ("b.png", 3))
            self.assertIn("before all of it had come: protocol_error", lost.why)

    def test_bytes_that_are_not_wanted(self) -> None:
        with lazaret.Pool("lua", 1, server=self.server) as pool:
            code = "io.open('artifacts/x', 'w'):write('kept'):close()"
            artifact, = pool.execute(code, artifacts=False).artifacts
            self.assertEqual((artifact.size, artifact.data, artifact.dropped), (4, None, False))
            with self.assertRaisesRegex(lazaret.LazaretError, "not asked for"):
                artifact.save("unused")
            self.assertEqual(pool.execute(code).artifacts[0].data, b"kept")
        self.assertIsNone(lazaret.execute(code, "lua", server=self.server,
                                          artifacts=False).artifacts[0].data)

    def test_what_a_server_sends_wrongly(self) -> None:
        session, deliver = self.lua(), self.server._deliver

        def change(**changed: Any) -> Any:
            def replace(message: Dict[str, Any]) -> None:
                deliver({**message, **changed} if message["type"] == "artifact" else message)

            return mock.patch.object(self.server, "_deliver", replace)

        session.put_file("in", b"some")
        with change(data="c29tZQ"), self.assertRaisesRegex(lazaret.WorkerLost, "base64"):
            session.execute(COPY)
        session.execute("return 1")
        session.put_file("in", b"more")
        with change(data="c29tZQ=="), self.assertRaisesRegex(lazaret.WorkerLost, "SHA-256"):
            session.execute(COPY)

    def test_asyncio(self) -> None:
        async def main() -> None:
            async with lazaret.AsyncSession("lua", server=self.server,
                                            files={"in": b"first"}) as session:
                self.assertEqual((await session.execute(COPY)).artifacts[0].data, b"first")
                await asyncio.gather(session.put_file("in", BYTES),
                                     session.put_file("other", BYTES[::-1]))
                result = await session.execute(COPY)
                self.assertTrue(result.artifacts[0].data == BYTES)
                code = COPY.replace("'in'", "'other'")
                result = await session.execute(code, artifacts=False)
                self.assertEqual((result.artifacts[0].size, result.artifacts[0].data),
                                 (len(BYTES), None))
                with self.assertRaises(lazaret.RequestFailed):
                    await session.put_file("a/b", b"")
                result = await session.execute(COPY, files={"in": b"with the code"})
                self.assertEqual(result.artifacts[0].data, b"with the code")
                with mock.patch.object(self.server, "_max_line", 1 << 20):
                    result = await session.execute(COPY, files={"in": BYTES})
                self.assertTrue(result.artifacts[0].data == BYTES)
                with self.assertRaises(lazaret.RequestFailed):
                    await session.execute("return 1", files={"a/b": b""})
            refused = lazaret.AsyncSession("lua", server=self.server, files={"a/b": b""})
            for _ in range(2):
                with self.assertRaises(lazaret.RequestFailed):
                    await refused.open()
            await refused.close()
            async with lazaret.AsyncPool("lua", 1, server=self.server) as pool:
                code = "io.open('artifacts/x', 'w'):write('kept'):close()"
                self.assertEqual((await pool.execute(code)).artifacts[0].data, b"kept")
                result = await pool.execute(COPY, files={"in": b"first"})
                self.assertEqual(result.artifacts[0].data, b"first")
                with self.assertRaisesRegex(ValueError, "do not fit"):
                    await pool.execute("1", files={"in": "/dev/zero"})

        asyncio.run(main())


class Parts(unittest.TestCase):
    LISTED = {"name": "x", "type": "text/plain", "size": 4,
              "sha256": hashlib.sha256(b"some").hexdigest()}

    def test_parts_of_a_file(self) -> None:
        for size, count in ((0, 1), (1, 1), (PART_BYTES, 1), (PART_BYTES + 1, 2)):
            parts = list(parts_of("x", b"x" * size))
            self.assertEqual([part["part"] for part in parts], list(range(count)))
            self.assertEqual([part["more"] for part in parts], [True] * (count - 1) + [False])
            data = b"".join(base64.b64decode(part["data"]) for part in parts)
            self.assertEqual(data, b"x" * size)

    def test_parts_are_joined_and_checked(self) -> None:
        def part(number: int, data: bytes, more: bool = False, name: str = "x") -> Dict[str, Any]:
            text = base64.b64encode(data).decode("ascii")
            return {"name": name, "part": number, "data": text, "more": more}

        def join(*messages: Dict[str, Any]) -> lazaret.Artifact:
            artifact, = artifacts_of({"artifacts": [self.LISTED]}, messages, True)
            return artifact

        self.assertEqual(join(part(0, b"so", True), part(1, b"me")).data, b"some")
        wrong: List[List[Dict[str, Any]]] = [
            [],
            [part(0, b"so", True)],
            [part(1, b"some")],
            [part(0, b"so", True), part(2, b"me")],
            [part(1, b"me", True), part(0, b"so")],
            [part(0, b"some"), part(1, b"")],
            [part(0, b"so")],
            [part(0, b"somE")],
            [part(0, b"some"), part(0, b"some", name="y")],
            [{**part(0, b"some"), "data": "!"}],
            [{**part(0, b"some"), "data": 5}],
            [{"data": ""}],
        ]
        for messages in wrong:
            with self.subTest(messages), self.assertRaisesRegex(lazaret.WorkerLost, "protocol"):
                join(*messages)
        with self.assertRaises(lazaret.WorkerLost):
            artifacts_of({"artifacts": [{"name": "x"}]}, [], False)

    def test_artifact_that_was_dropped(self) -> None:
        raw = {"artifacts": [self.LISTED]}
        artifact, = artifacts_of(raw, [{"name": "x", "dropped": 4}], True)
        self.assertEqual((artifact.data, artifact.dropped, artifact.size), (None, True, 4))
        with self.assertRaisesRegex(lazaret.LazaretError, "too slow"):
            artifact.save("unused")
        self.assertEqual(artifacts_of({}, [], True), [])


class Saving(unittest.TestCase):
    def setUp(self) -> None:
        self.outer = self.directory_of(tempfile.TemporaryDirectory())
        self.directory = os.path.join(self.outer, "a", "results")

    def directory_of(self, made: "tempfile.TemporaryDirectory[str]") -> str:
        self.addCleanup(made.cleanup)
        return made.name

    def read(self, *names: str) -> bytes:
        return Path(self.directory, *names).read_bytes()

    def test_nothing_is_overwritten(self) -> None:
        names = [made(data).save(self.directory) for data in (b"one", b"two", b"three")]
        self.assertEqual(names, [os.path.join(self.directory, name)
                                 for name in ("plot.png", "plot-2.png", "plot-3.png")])
        self.assertEqual([self.read(os.path.basename(name)) for name in names],
                         [b"one", b"two", b"three"])
        made(b"", "x").save(Path(self.directory))
        self.assertEqual(made(b"", "x").save(self.directory),
                         os.path.join(self.directory, "x-2"))
        made(b"in", "d.d/e/x").save(self.directory)
        made(b"too", "d.d/e/x").save(self.directory)
        self.assertEqual((self.read("d.d/e/x"), self.read("d.d/e/x-2")), (b"in", b"too"))

    def test_no_link_is_followed(self) -> None:
        os.makedirs(self.directory)
        target = Path(self.outer, "target")
        os.symlink(target, os.path.join(self.directory, "plot.png"))
        self.assertTrue(made(b"x").save(self.directory).endswith("plot-2.png"))
        self.assertFalse(target.exists())
        target.mkdir()
        os.symlink(target, os.path.join(self.directory, "d"))
        self.assertRaises(OSError, made(b"x", "d/x").save, self.directory)
        self.assertEqual(list(target.iterdir()), [])
        os.symlink(self.directory, os.path.join(self.outer, "link"))  # of this program's own
        made(b"x", "own").save(os.path.join(self.outer, "link"))
        self.assertEqual(self.read("own"), b"x")

    def test_names_that_leave_the_directory(self) -> None:
        for name in ("../x", "/x", "a/../x", "a//x", "", "a\0b", "."):
            with self.subTest(name), self.assertRaises(lazaret.LazaretError):
                made(b"x", name).save(self.directory)
        self.assertEqual(os.listdir(self.outer), [])

    def test_notebooks_show_pictures(self) -> None:
        picture = made(PNG)
        self.assertEqual(picture._repr_png_(), PNG)
        self.assertEqual(picture._repr_mimebundle_(), {
            "text/plain": repr(picture), "image/png": base64.b64encode(PNG).decode("ascii")})
        self.assertNotIn("and more", repr(picture))
        for other in (made(b"no picture"), made(PNG, kind="text/plain")):
            self.assertIsNone(other._repr_png_())
            self.assertEqual(list(other._repr_mimebundle_()), ["text/plain"])


if __name__ == "__main__":
    unittest.main()
