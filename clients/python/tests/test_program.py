# SPDX-License-Identifier: MIT
"""A package that has the program inside, as a wheel does: a copy, with a script in place of the program."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import GUARD_SECONDS

SOURCES = Path(__file__).resolve().parents[1] / "src" / "lazaret"
VERSION = "{}.{}".format(*sys.version_info)
MODULES = Path("/usr/lib", f"python{VERSION}", "os.py")


class PackagedProgram(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = Path(directory.name).resolve() / "a place"
        shutil.copytree(SOURCES, self.top / "lazaret",
                        ignore=shutil.ignore_patterns("__pycache__", "_program"))
        self.tree = self.top / "lazaret" / "_program"
        self.program = self.script(self.tree / "bin" / "lazaret", "inside")

    @staticmethod
    def script(path: Path, word: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho {word} "$@"\n', encoding="utf-8")
        path.chmod(0o755)
        return path

    def python(self, *arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, *arguments], env={"PATH": "/nonexistent", "PYTHONPATH": str(self.top), **env},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GUARD_SECONDS)

    def found(self, **env: str) -> str:
        done = self.python("-c", "from lazaret._process import find_program\nprint(find_program(None))",
                           **env)
        return done.stdout.strip() + done.stderr

    def test_it_is_found(self) -> None:
        elsewhere = str(self.script(self.top / "bin" / "lazaret", "elsewhere"))
        self.assertEqual(self.found(PATH=str(self.top / "bin")), str(self.program))
        self.assertEqual(self.found(LAZARET=elsewhere), elsewhere)
        shutil.rmtree(self.tree)
        self.assertEqual(self.found(PATH=str(self.top / "bin")), elsewhere)
        self.assertIn("the program lazaret was not found", self.found())

    def test_main_is_the_program(self) -> None:
        """Also where $LAZARET names a script that runs this very module."""
        done = self.python("-m", "lazaret", "plan", "a  b", LAZARET="/nonexistent/bin/lazaret")
        self.assertEqual((done.stdout, done.stderr), ("inside plan a  b\n", ""))
        self.program.chmod(0o644)
        done = self.python("-m", "lazaret", "plan")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, f"lazaret: {self.program} cannot be started: Permission denied\n")

    def test_main_without_it(self) -> None:
        shutil.rmtree(self.tree)
        elsewhere = str(self.script(self.top / "bin" / "lazaret", "elsewhere"))
        done = self.python("-m", "lazaret", "plan", LAZARET=elsewhere)
        self.assertEqual((done.stdout, done.stderr), ("elsewhere plan\n", ""))
        done = self.python("-m", "lazaret", "run")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("lazaret: the program lazaret was not found", done.stderr)

    def test_which_python_runs_is_told(self) -> None:
        wanted = f"lazaret: this package has no runtime for Python {VERSION} on this system;"
        for arguments in (["run", "-e", "1"], ["run", "--runtime", "python"], ["run", "--runtime=python"]):
            done = self.python("-m", "lazaret", *arguments)
            self.assertIn(wanted, done.stderr, arguments)
            self.assertEqual(done.stdout, f"inside {' '.join(arguments)}\n")
        for arguments in (["run", "--runtime", "lua"], ["run", "--", "sh"], ["doctor"]):
            self.assertEqual(self.python("-m", "lazaret", *arguments).stderr, "", arguments)
        description = self.tree / "lib" / "lazaret" / "plugins-1" / "python.json"
        description.parent.mkdir(parents=True)
        description.write_text("{}", encoding="utf-8")
        said = self.python("-m", "lazaret", "run", "-e", "1").stderr
        if not MODULES.is_file():
            self.assertIn(f"which is not in {MODULES.parent}", said)
        elif sys.base_prefix != "/usr":
            self.assertIn(f"those of {sys.base_prefix} are not seen", said)
        else:
            self.assertEqual(said, "")


if __name__ == "__main__":
    unittest.main()
