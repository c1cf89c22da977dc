# SPDX-License-Identifier: MIT
"""Servers on another machine, which is this one: `lazaret serve --listen tls://127.0.0.1:0`."""

import asyncio
import os
import re
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import lazaret
from lazaret._process import find_program
from lazaret._remote import Access, address_of, connect_tls
from support import GUARD_SECONDS, LiveTest, why_missing

MIB = 1 << 20
CONFIGURATION = """
[serve]
certificate = "{0}/server.pem"
key = "{0}/server.key"
clients = "{0}/ca.pem"
token_keys = "{0}/signer.pub"
[session]
max_message_size = "32MiB"
interrupt_grace = 60
"""
SERVER = "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth"
CLIENT = "extendedKeyUsage=clientAuth"
FORKED = """
import os, sys, lazaret
server = lazaret.Server(url=sys.argv[1], ca=sys.argv[2], token_file=sys.argv[3])
session = lazaret.Session("lua", server=server)
session.execute("x = 1")
if os.fork() == 0:
    try:
        session.execute("return x")
    except lazaret.LazaretError as error:
        print("child:", error, flush=True)
    os._exit(0)
os.wait()
print("parent:", session.execute("return x").value)
"""


def command(*words: str) -> str:
    return subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True).stdout


class Place:
    """A directory with certificates, and what an operator has."""

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self.close = self._directory.cleanup
        self.authority("ca")
        self.authority("other")
        self.certificate("server", "localhost", SERVER)
        self.certificate("alice", "alice", CLIENT)
        command(find_program(None), "--quiet", "token", "new-key", self["signer"])
        self.write("lazaret.toml", CONFIGURATION.format(self._directory.name))
        self.write("token", self.token("alice", "1h"))

    def __getitem__(self, name: str) -> str:
        return os.path.join(self._directory.name, name)

    def write(self, name: str, text: str) -> None:
        with open(self[name], "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self[name], 0o600)

    def authority(self, name: str) -> None:
        command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", self[name + ".key"],
                "-out", self[name + ".pem"])

    def certificate(self, name: str, subject: str, extensions: str) -> None:
        self.write("extensions", extensions + "\nbasicConstraints=CA:FALSE\n"
                   "keyUsage=digitalSignature\nauthorityKeyIdentifier=keyid\n")
        command("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-subj", f"/CN={subject}", "-keyout", self[name + ".key"], "-out", self["request"])
        os.chmod(self[name + ".key"], 0o600)
        command("openssl", "x509", "-req", "-days", "2", "-in", self["request"], "-CA",
                self["ca.pem"], "-CAkey", self["ca.key"], "-CAcreateserial", "-extfile",
                self["extensions"], "-out", self[name + ".pem"])

    def token(self, name: str, expires: str) -> str:
        return command(find_program(None), "token", name, "--sign-with", self["signer"],
                       "--expires", expires)

    def serve(self) -> Tuple[str, "subprocess.Popen[str]"]:
        """Start a server; gives its URL. Skips where it was built without TLS."""
        process = subprocess.Popen(
            [find_program(None), "serve", "--config", self["lazaret.toml"], "--listen",
             "tls://127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        assert process.stderr
        line = process.stderr.readline()
        if " at tls://" not in line:
            end(process)
            raise unittest.SkipTest(line) if "without TLS" in line else AssertionError(line)
        process.stderr.close()
        return line.split(" at ")[1].strip(), process


def end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()


class RemoteTest(LiveTest):
    """The server of LiveTest is one on another machine."""

    place: Place
    url: str

    @classmethod
    def setUpClass(cls) -> None:
        missing = why_missing() or ("" if shutil.which("openssl") else "there is no openssl")
        if missing and not os.environ.get("LAZARET_TEST_NEED"):
            raise unittest.SkipTest(missing)
        cls.place = Place()
        cls.addClassCleanup(cls.place.close)
        cls.url, process = cls.place.serve()
        cls.addClassCleanup(end, process)
        cls.server = cls.connect()
        cls.addClassCleanup(cls.server.close)

    @classmethod
    def connect(cls, **changes: Any) -> lazaret.Server:
        """Connect by a token, but for these changes; None: without it."""
        given: Dict[str, Any] = {"url": cls.url, "ca": cls.place["ca.pem"],
                                 "token_file": cls.place["token"], **changes}
        return lazaret.Server(**{name: one for name, one in given.items() if one is not None})

    def refuses(self, pattern: str, **changes: Any) -> None:
        with self.assertRaisesRegex(lazaret.SetupFailed, pattern):
            self.connect(**changes).close()


class Calls(RemoteTest):
    """What is the same as with a server of one's own."""

    def test_tools_run_here(self) -> None:
        session = self.lua(os.getpid, lazaret.Tool(lambda n: n + 1, "more"))
        self.assertEqual(session.execute("return getpid()").value, os.getpid())
        code = "local n = 0; for i = 1, 1000 do n = more(n) end; return n"
        self.assertEqual(session.execute(code).value, 1000)
        self.assertIsNone(self.server.pid)

    def test_large_values_both_ways(self) -> None:
        got: List[str] = []

        def echo(text: str) -> str:
            got.append(text)
            return text

        with lazaret.Session("python", tools=[echo], server=self.server) as session:
            code = f"s = echo('a' * {8 * MIB}); s + 'b'"
            self.assertEqual(session.execute(code).value, "a" * (8 * MIB) + "b")
        self.assertEqual(list(map(len, got)), [8 * MIB])

    def test_files_and_artifacts(self) -> None:
        with lazaret.Session("python", server=self.server) as session:
            data = os.urandom(8 * MIB)
            session.put_file("in.bin", data)
            result = session.execute(
                "import shutil, os\nos.makedirs('artifacts', exist_ok=True)\n"
                "shutil.copy('in.bin', 'artifacts/out.bin'); open('small').read()",
                files={"small": b"few"})
            self.assertEqual(result.value, "few")
            self.assertEqual([one.data for one in result.artifacts], [data])

    def test_approvals(self) -> None:
        asked: List[Any] = []

        def approve(approval: lazaret.Approval) -> bool:
            asked.append(approval.args)
            return bool(approval.args["path"] != "/")

        erase = lazaret.Tool(lambda path: "erased " + path, "erase", approve=True)
        with lazaret.Session("lua", [erase], self.server, approve=approve) as session:
            self.assertEqual(session.execute("return erase('/x')").value, "erased /x")
            self.assertRaises(lazaret.ExecutionError, session.execute, "return erase('/')")
        self.assertEqual([one["path"] for one in asked], ["/x", "/"])

    def test_interrupt(self) -> None:
        with lazaret.Session("python", server=self.server) as session:
            def output(stream: str, text: str) -> None:
                session.interrupt()

            with self.assertRaises(lazaret.Cancelled) as caught:
                session.execute("x = 1\nprint('go', flush=True)\nwhile True: pass", output=output)
            assert caught.exception.result
            self.assertTrue(caught.exception.result.kept)
            self.assertEqual(session.execute("x").value, 1)

    def test_code_in_readme(self) -> None:
        readme = Path(__file__).resolve().parents[1] / "README.md"
        found = re.search(r"^    server = lazaret\.Server\(url=.*?^    server\.close\(\)$",
                          readme.read_text(encoding="utf-8"), re.M | re.S)
        assert found
        code = textwrap.dedent(found[0])
        for name, real in (("tls://sandboxes.example:8443", self.url),
                           ("token", self.place["token"]), ("ca.pem", self.place["ca.pem"])):
            self.assertEqual(code.count(f'"{name}"'), 1)
            code = code.replace(f'"{name}"', repr(real))
        asked: List[str] = []

        def price(item: str) -> float:
            asked.append(item)
            return 2.5

        exec(code, {"lazaret": lazaret, "price": price})
        self.assertEqual(asked, ["tea"])

    def test_many_threads(self) -> None:
        values: List[Any] = []

        def work(n: int) -> None:
            with lazaret.Session("lua", tools=[lazaret.Tool(lambda s: s, "echo")],
                                 server=self.server) as session:
                for i in range(5):
                    values.append(session.execute(
                        f"return #echo(string.rep('x', {n * 100000 + i}))").value)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(values), [n * 100000 + i for n in range(6) for i in range(5)])

    def test_asyncio_and_pools(self) -> None:
        async def run() -> Any:
            async with lazaret.AsyncPool("lua", 2, server=self.server) as pool:
                results = await asyncio.gather(*(pool.execute(f"return {n}") for n in range(4)))
                return [result.value for result in results]

        self.assertEqual(asyncio.run(run()), [0, 1, 2, 3])
        self.assertEqual(lazaret.execute("return 7", "lua", server=self.server).value, 7)


class Credentials(RemoteTest):
    def test_who_is_let_in(self) -> None:
        ways: List[Dict[str, Any]] = [
            {}, {"token_file": None, "token": self.place.token("bob", "1h")},
            {"token_file": None, "cert": self.place["alice.pem"], "key": self.place["alice.key"]},
            {"url": self.url.replace("127.0.0.1", "localhost")}, {"server_name": "localhost"}]
        for changes in ways:
            with self.subTest(changes=list(changes)), self.connect(**changes) as server:
                self.assertEqual(lazaret.execute("return 1", "lua", server=server).value, 1)

    def test_who_is_not(self) -> None:
        ways: List[Tuple[str, Dict[str, Any]]] = [
                (r"refused this client: .* a token or a certificate", {"token_file": None}),
                (r"refused this client: .*not a token", {"token_file": None, "token": "no"}),
                (r"not accepted: .*; name who has signed it with ca=FILE", {"ca": None}),
                (r"not accepted: .*signed", {"ca": self.place["other.pem"]}),
                (r"not accepted: .*example.org.*; .*server_name=", {"server_name": "example.org"}),
                (r"ca is .*: No such file", {"ca": self.place["none"]}),
                (r"ca is .*", {"ca": self.place["token"]}),
                (r"cert is .*, and key .*: ", {"cert": self.place["alice.pem"],
                                               "key": self.place["ca.key"]}),
                (r"token_file cannot be read: .*No such file", {"token_file": self.place["none"]}),
                (r"cannot connect to tls://nosuch.invalid: ", {"url": "tls://nosuch.invalid"})]
        for pattern, changes in ways:
            with self.subTest(pattern=pattern):
                self.refuses(pattern, **changes)

    def test_token_that_others_can_read(self) -> None:
        self.place.write("open", "token")
        os.chmod(self.place["open"], 0o644)
        self.assertTrue(os.stat(self.place["open"]).st_mode & stat.S_IROTH)
        self.refuses("others can read this token", token_file=self.place["open"])
        self.place.write("empty", "\n")
        self.refuses("no token in it", token_file=self.place["empty"])

    def test_authorities_of_the_system(self) -> None:
        program = ("import sys, lazaret\n"
                   "lazaret.Server(url=sys.argv[1], token_file=sys.argv[2]).close()\nprint('ok')")
        done = subprocess.run(
            [sys.executable, "-c", program, self.url, self.place["token"]], text=True,
            stdout=subprocess.PIPE, env={**os.environ, "SSL_CERT_FILE": self.place["ca.pem"]},
            check=False)
        self.assertEqual(done.stdout, "ok\n")

    def test_expired(self) -> None:
        for seconds in (1, 4, 16, 64):  # a busy machine needs more
            token = self.place.token("carol", f"{seconds}s")
            try:
                server = self.connect(token_file=None, token=token)
                self.addCleanup(server.close)
                session = lazaret.Session("lua", server=server)
                break
            except lazaret.LazaretError as error:
                self.assertIn("expired", str(error))
        with self.assertRaisesRegex(lazaret.WorkerLost, "carol has expired"):
            session.execute("while true do end")
        self.assertFalse(server.is_alive)
        self.refuses("refused this client: .*expired", token_file=None, token=token)


class Endings(RemoteTest):
    def test_server_is_killed(self) -> None:
        url, process = self.place.serve()
        self.addCleanup(end, process)
        server = self.connect(url=url)
        session = lazaret.Session("lua", tools=[lazaret.Tool(lambda: process.kill(), "strike")],
                                  server=server)
        other = lazaret.Session("lua", server=server)
        lost: List[BaseException] = []

        def wait() -> None:
            try:
                other.execute("while true do end")
            except lazaret.WorkerLost as error:
                lost.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        with self.assertRaisesRegex(lazaret.WorkerLost, "closed the connection"):
            session.execute("strike(); while true do end")
        thread.join(GUARD_SECONDS)
        self.assertEqual(len(lost), 1)
        self.assertRaises(lazaret.WorkerLost, session.execute, "return 1")
        server.close()
        self.refuses("cannot connect|closed the connection", url=url)

    def test_forked_child_gets_an_error_and_the_parent_goes_on(self) -> None:
        done = subprocess.run(
            [sys.executable, "-c", FORKED, self.url, self.place["ca.pem"], self.place["token"]],
            stdout=subprocess.PIPE, text=True, timeout=GUARD_SECONDS, check=True)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], "^child: this server belongs to process [0-9]+, ")
        self.assertEqual(lines[1:], ["parent: 1"])

    def test_close_twice(self) -> None:
        server = self.connect()
        server.close()
        server.close()
        self.assertFalse(server.is_alive)


class Peers(RemoteTest):
    """Other ends that are not lazaret."""

    def peer(self, serve: Callable[[socket.socket], None]) -> str:
        """A program that listens; gives its URL."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def accept() -> None:
            connection, _ = listener.accept()
            with connection:
                serve(connection)

        threading.Thread(target=accept, daemon=True).start()
        return f"tls://127.0.0.1:{listener.getsockname()[1]}"

    def secured(self, connection: socket.socket,
                most: Optional[ssl.TLSVersion] = None) -> ssl.SSLSocket:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.place["server.pem"], self.place["server.key"])
        if most is not None:
            context.maximum_version = most
        return context.wrap_socket(connection, server_side=True)

    def test_not_tls(self) -> None:
        self.refuses("does not speak TLS 1.3 with this client: ", url=self.peer(
            lambda connection: connection.sendall(b"220 welcome\r\n" * 100)))
        self.refuses("does not speak TLS 1.3 with this client: |cannot connect",
                     url=self.peer(lambda connection: connection.close()))

    def test_an_older_tls(self) -> None:
        def serve(connection: socket.socket) -> None:
            try:
                self.secured(connection, ssl.TLSVersion.TLSv1_2).close()
            except OSError:
                pass

        self.refuses("does not speak TLS 1.3 with this client: ", url=self.peer(serve))

    def test_silence(self) -> None:
        is_over = threading.Event()
        self.addCleanup(is_over.set)

        def silent(connection: socket.socket) -> None:
            is_over.wait()

        def deaf(connection: socket.socket) -> None:
            with self.secured(connection) as tls:
                tls.recv(1)
                is_over.wait()

        self.refuses("has not answered in 0.2 seconds", url=self.peer(silent), start_timeout=0.2)
        self.refuses("has not answered in 0.5 seconds", url=self.peer(deaf), start_timeout=0.5)

    def test_writing_waits_for_a_reader_and_reading_goes_on(self) -> None:
        size, first = 16 * MIB, threading.Event()
        may_read = threading.Event()
        got = bytearray()

        def serve(connection: socket.socket) -> None:
            with self.secured(connection) as tls:
                for _ in range(64):
                    tls.sendall(b"x" * 65535 + b"\n")
                may_read.wait()
                while len(got) < size:
                    got.extend(tls.recv(1 << 16))
                tls.sendall(b"done\n")

        channel = connect_tls(self.peer(serve), Access(ca=self.place["ca.pem"]), 30.0)
        done: List[bool] = []

        def write() -> None:
            first.set()
            done.append(channel.write(b"y" * size))

        writer = threading.Thread(target=write)
        writer.start()
        first.wait()
        lines = channel.lines()
        for _ in range(64):  # while the writer waits
            self.assertEqual(len(next(lines)), 65535)
        self.assertEqual(done, [])
        may_read.set()
        self.assertEqual(next(lines), b"done")
        writer.join()
        self.assertEqual(done, [True])
        self.assertTrue(got.startswith(b'{"type": "authenticate"}\n'))
        self.assertRaises(StopIteration, next, lines)
        channel.end()
        self.assertIn("closed the connection", channel.why_ended(""))


class Arguments(unittest.TestCase):
    def test_urls(self) -> None:
        for url, wanted in (
                ("tls://a.example:1", ("a.example", 1)), ("tls://h", ("h", 8443)),
                ("tls://[::1]:99", ("::1", 99)), ("tls://10.0.0.1", ("10.0.0.1", 8443))):
            self.assertEqual(address_of(url), wanted)
        for url in ("h:1", "https://h:1", "tls://", "tls://:1", "tls://h:x", "tls://h:99999",
                    "tls://u@h:1", "tls://h:1/", "tls://h?x", "tls://::1", "tls://h:"):
            with self.subTest(url=url), self.assertRaisesRegex(ValueError, "is not the URL"):
                lazaret.Server(url=url)

    def test_contradictions(self) -> None:
        for words, given in (
                ("own configuration", {"url": "tls://h", "settings": {"session.timeout": 1}}),
                ("own configuration", {"url": "tls://h", "program": "lazaret"}),
                ("two servers", {"url": "tls://h", "path": "/x"}),
                ("token and token_file", {"url": "tls://h", "token": "a", "token_file": "b"}),
                ("cert and key", {"url": "tls://h", "cert": "a"}),
                ("^ca, server_name: .*url", {"ca": "x", "server_name": "y"}),
                ("^token: .*url", {"token": "x", "path": "/x"})):
            with self.subTest(words=words), self.assertRaisesRegex(ValueError, words):
                lazaret.Server(**given)  # type: ignore[arg-type]

    def test_url_in_place_of_a_server(self) -> None:
        url: Any = "tls://h:1"
        for kind in (lazaret.Session, lazaret.Pool, lazaret.AsyncSession, lazaret.AsyncPool):
            with self.assertRaisesRegex(TypeError, r"Server\(url="):
                kind("lua", server=url)
        with self.assertRaisesRegex(TypeError, r"Server\(url="):
            lazaret.execute("return 1", "lua", server=url)


if __name__ == "__main__":
    unittest.main()
