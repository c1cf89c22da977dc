# SPDX-License-Identifier: MIT
"""The adapter for Inspect, with the real program; Inspect is a stand-in (standins.py).

`Situations` has what Inspect asks of a sandbox of anybody: the adapter answers as its own do.
"""

import asyncio
import os
import tempfile
import unittest
from typing import Any, Dict, List, Tuple, Type
from unittest import mock

import lazaret
import standins
from test_adapters import Adapted

MIB = 1 << 20


class InInspect(Adapted):
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


class Inspect(InInspect):
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

    def test_any_program_can_be_run(self) -> None:
        async def use(box: Any) -> None:
            await box.write_file("made", "#!/usr/bin/awk -f\nBEGIN { print 6 * 7 }\n")
            await box.exec(["chmod", "+x", "made"])
            self.assertEqual((await box.exec(["./made"])).stdout, "42\n")

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
            self.assertEqual((await box.exec(["awk", "1"])).returncode, 127)

        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "lazaret.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("[sandbox]\nprograms = [\"sh\"]\n[env.set]\nA = \"1\"\n")
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
            watched.append(self.watch(await box._box.session.describe()))
            watched.append(os.pidfd_open(box._box.session.server.pid))
            self.addCleanup(os.close, watched[1])

        self.in_sample(use)
        for process in watched:
            self.assert_ends(process)


class Situations(InInspect):
    def test_files_come_back_as_they_were(self) -> None:
        rows: List[Tuple[str, Any]] = [
            ("text.txt", "two lines\nwith #signs"),
            ("signs.txt", "\u2600\ufe0e caf\u00e9 \U0001f600"),
            ("bytes.bin", b"\xc3\x28\x00\xff"),
            ("name with spaces", "x"),
            ("empty", ""),
            ("empty.bin", b""),
            ("/tmp/of/a/directory/file", "absolute"),
            ("of/a/directory/file", "relative"),
            ("twice", "a longer text, at first"),
            ("twice", "then a short one"),
        ]

        async def use(box: Any) -> None:
            for name, contents in rows:
                await box.write_file(name, contents)
                is_text = isinstance(contents, str)
                self.assertEqual(await box.read_file(name, text=is_text), contents)
            done = await box.exec(["touch", "--", "touched"])
            self.assertTrue(done.success)
            self.assertEqual(await box.read_file("touched"), "")

        self.in_sample(use)

    def test_a_file_of_50_mib(self) -> None:
        data = b"\xc3" * (50 * MIB)

        async def use(box: Any) -> None:
            await box.write_file("large", data)
            self.assertTrue(await box.read_file("large", text=False) == data)
            self.assertTrue((await box.exec(["rm", "large"])).success)

        self.in_sample(use)

    def test_files_that_cannot_be_read_or_written(self) -> None:
        async def use(box: Any) -> None:
            async def fails(kind: Type[OSError], words: str, work: Any) -> None:
                with self.assertRaisesRegex(kind, words):
                    await work

            await box.write_file("closed", "x")
            await box.exec(["chmod", "a-r", "closed"])
            await fails(PermissionError, "closed", box.read_file("closed"))
            await box.exec(["chmod", "a+r,a-w", "closed"])
            await fails(PermissionError, "closed", box.write_file("closed", "other"))
            await fails(PermissionError, "closed", box.write_file("closed", b"other"))
            self.assertEqual(await box.read_file("closed"), "x")
            await box.write_file("/tmp/directory/file", "x")
            for contents in ("no file", b"no file"):
                await fails(IsADirectoryError, "directory",
                            box.write_file("/tmp/directory", contents))
            await fails(IsADirectoryError, "directory", box.read_file("/etc"))
            await fails(FileNotFoundError, "nothing", box.read_file("nothing"))
            await fails(FileNotFoundError, "page", box.read_file("https:/host/a%20page"))
            left = await box.exec(["ls", "-A"])
            self.assertEqual(left.stdout.split(), ["artifacts", "closed"])

        self.in_sample(use)

    def test_commands_and_what_they_say(self) -> None:
        said = "caf\u00e9 \u4e2d\u6587 \U0001f600"
        escaped = "".join(f"\\{byte:03o}" for byte in said.encode("utf-8"))

        async def use(box: Any) -> None:
            done = await box.exec(["sh", "-c", "echo one; echo two; echo three >&2; exit 70"])
            self.assertEqual((done.stdout, done.stderr, done.returncode, done.success),
                             ("one\ntwo\n", "three\n", 70, False))
            done = await box.exec(["sh", "-c", f"printf '{escaped}' | tee s; cat s >&2"])
            self.assertEqual((done.stdout, done.stderr), (said, said))
            done = await box.exec(["sh", "-c", "echo $ONE; echo $TWO"],
                                  env={"ONE": "two words", "TWO": "2"})
            self.assertEqual(done.stdout, "two words\n2\n")
            words = ["x" * (64 << 10)] * 16
            self.assertEqual((await box.exec(["printf", "%s", *words])).stdout, "".join(words))
            with self.assertRaises(PermissionError):
                await box.exec(["/etc/passwd"])

        self.in_sample(use)

    def test_a_signal_is_128_and_its_number(self) -> None:
        async def use(box: Any) -> None:
            for name, number in (("TERM", 15), ("KILL", 9)):
                done = await box.exec(["sh", "-c", f"kill -{name} $$"], timeout=30)
                self.assertEqual((done.success, done.returncode), (False, 128 + number))

        self.in_sample(use)

    def test_standard_input(self) -> None:
        quoted = "$HOME `whoami` 'single' \"double\" \\back\\\nline\n"

        async def use(box: Any) -> None:
            for text in ("two\nlines\n", "", quoted):
                done = await box.exec(["cat"], input=text)
                self.assertEqual((done.success, done.stdout), (True, text))
            self.assertEqual((await box.exec(["cat"])).stdout, "")
            data = b"\xc3\x28\x00\xff\x01"
            self.assertTrue((await box.exec(["sh", "-c", "cat > got"], input=data)).success)
            self.assertEqual(await box.read_file("got", text=False), data)
            done = await box.exec(["wc", "-c"], input="a" * (50 * MIB))
            self.assertEqual(int(done.stdout), 50 * MIB)
            done = await box.exec(["ls", "-A"])
            self.assertEqual(done.stdout.split(), ["artifacts", "got"])

        self.in_sample(use)

    def test_directories_of_commands(self) -> None:
        async def use(box: Any) -> None:
            await box.write_file("here", "x")
            await box.write_file("below/there", "x")
            await box.write_file("/tmp/elsewhere/file", "x")
            rows: List[Tuple[Dict[str, str], str]] = [
                ({}, "here"), ({"cwd": "below"}, "there"), ({"cwd": "/usr/bin"}, "env"),
                ({"cwd": "/tmp/elsewhere"}, "file")]
            for options, name in rows:
                self.assertIn(name, (await box.exec(["ls", "-1"], **options)).stdout.split("\n"))

        self.in_sample(use)

    def test_a_timeout_ends_all_that_the_command_has_started(self) -> None:
        async def use(box: Any) -> None:
            for command in ("sleep 1000; : mark", "sleep 1000 & sleep 1000; : mark"):
                with self.assertRaises(TimeoutError):
                    await box.exec(["sh", "-c", command], timeout=1)
            done = await box.exec(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
            self.assertNotIn("sleep 1000", done.stdout)

        self.in_sample(use)

    def test_all_that_a_command_may_say_arrives(self) -> None:
        limit = standins.SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE

        async def use(box: Any) -> None:
            done = await box.exec(["sh", "-c", f"head -c {limit} /dev/zero | tee /dev/stderr"])
            self.assertTrue(done.stdout == done.stderr == "\0" * limit)

        self.in_sample(use)

    def test_a_command_may_take_longer_than_the_code_of_a_session(self) -> None:
        async def use(box: Any) -> None:
            hello = box._box.session.server._hello
            self.assertEqual((hello["timeout_ms"], hello["deadline_ms"]), (0, 0))

        self.in_sample(use)

    def test_limits_are_those_of_inspect(self) -> None:
        async def use(box: Any) -> None:
            await box.write_file("large", "a" * 2048)
            limits = standins.SandboxEnvironmentLimits
            with mock.patch.object(limits, "MAX_READ_FILE_SIZE", 1024), self.assertRaisesRegex(
                    standins.OutputLimitExceededError, limits.MAX_READ_FILE_SIZE_STR):
                await box.read_file("large")

        self.in_sample(use)


if __name__ == "__main__":
    unittest.main()
