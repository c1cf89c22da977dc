# SPDX-License-Identifier: MIT
"""The example, the code in README.md, the types, and what the package consists of."""

import ast
import contextlib
import importlib.util
import inspect
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile
from pathlib import Path
from typing import Any, Tuple

import lazaret
from support import GUARD_SECONDS, LiveTest, needs

PACKAGE = Path(__file__).resolve().parents[1]
EXAMPLE = "sales.txt"  # what the example prints, in each language


class Documents(LiveTest):
    @needs("pandas")
    def test_example_prints_what_it_says(self) -> None:
        program = PACKAGE / "examples" / "sales.py"
        self.assertLess(len(program.read_text(encoding="utf-8").splitlines()), 30)
        done = subprocess.run([sys.executable, str(program)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=GUARD_SECONDS)
        wanted = (PACKAGE / "examples" / EXAMPLE).read_text(encoding="utf-8")
        self.assertEqual((done.stdout, done.returncode), (wanted, 0), done.stderr)

    def test_examples_of_all_clients_print_the_same(self) -> None:
        others = [PACKAGE.parent / "typescript" / "examples" / EXAMPLE,
                  PACKAGE.parent / "r" / "inst" / "examples" / EXAMPLE]
        if not all(map(Path.exists, others)):
            self.skipTest("the other clients are not beside this one")
        texts = {path.read_bytes() for path in [PACKAGE / "examples" / EXAMPLE, *others]}
        self.assertEqual(len(texts), 1)

    def test_code_in_readme_prints_what_it_says(self) -> None:
        text = (PACKAGE / "README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        self.assertGreater(len(blocks), 1)
        for block in blocks:
            said = re.findall(r"print\(.*\) +# (.*)$", block, re.M)
            self.assertTrue(said)
            with self.subTest(said=said), contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
            self.assertEqual(printed.getvalue().splitlines(), said)

    def test_the_table_of_arguments_is_true(self) -> None:
        """Of docs/clients.md, where it is: each argument is where it says."""
        page = PACKAGE.parents[1] / "docs" / "clients.md"
        if not page.exists():
            self.skipTest("the documents are not beside this package")
        rows = re.findall(r"^\| (session, pool|execution), once \| `(\w+)` \| `(\w+)` \|",
                          page.read_text(encoding="utf-8"), re.M)
        self.assertEqual(len(rows), 16)
        opened: Tuple[Any, ...] = (
            lazaret.Session, lazaret.Pool, lazaret.AsyncSession, lazaret.AsyncPool)
        for of, name, other in rows:
            places = opened if of == "session, pool" else tuple(kind.execute for kind in opened)
            for place in (*places, lazaret.execute):
                self.assertIn(name, inspect.signature(place).parameters, place)
            self.assertEqual(re.sub(r"_(\w)", lambda found: found[1].upper(), name), other)

    def test_readme_names_every_exception(self) -> None:
        text = (PACKAGE / "README.md").read_text(encoding="utf-8")
        for name in lazaret.__all__:
            kind = getattr(lazaret, name)
            if isinstance(kind, type) and issubclass(kind, lazaret.LazaretError):
                self.assertIn(f"`{name}`", text)


class Sources(unittest.TestCase):
    def test_sources_are_python_3_9(self) -> None:
        paths = [path for directory in ("src/lazaret", "tests", "examples")
                 for path in sorted((PACKAGE / directory).glob("*.py"))]
        self.assertGreater(len(paths), 10)
        for path in paths:
            text = path.read_text(encoding="utf-8")
            ast.parse(text, str(path), feature_version=(3, 9))
            self.assertTrue(text.startswith("# SPDX-License-Identifier: MIT\n"), path)

    def test_only_the_standard_library_is_imported(self) -> None:
        known = getattr(sys, "stdlib_module_names", None)
        if known is None:
            self.skipTest("this Python does not know the names of its own modules")
        for path in (PACKAGE / "src" / "lazaret").glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and not node.level:
                    names.append(node.module or "")
                for name in names:
                    self.assertIn(name.partition(".")[0], known, path)

    @needs("mypy", "pandas", "pydantic")
    def test_types_are_right_for_python_3_9(self) -> None:
        """Of version 3.9, because mypy knows which version has which name of the library."""
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", cache],
                                  cwd=PACKAGE, capture_output=True, text=True,
                                  timeout=GUARD_SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs("build", "setuptools", "wheel")
    def test_wheel_is_built_offline_and_can_be_imported(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            copy = os.path.join(directory, "package")
            shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", ".*"))
            done = subprocess.run(
                [sys.executable, "-m", "build", "--no-isolation", "--wheel", copy],
                cwd=directory, env={**os.environ, "https_proxy": "http://127.0.0.1:9"},
                capture_output=True, text=True, timeout=GUARD_SECONDS)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            wheel, = Path(copy, "dist").glob("*.whl")
            self.assertEqual(wheel.name, f"lazaret_sandbox-{lazaret.__version__}-py3-none-any.whl")
            names = set(zipfile.ZipFile(wheel).namelist())
            sources = {f"lazaret/{path.name}" for path in (PACKAGE / "src/lazaret").glob("*.py")}
            self.assertLessEqual(sources | {"lazaret/py.typed"}, names)
            self.assertTrue(any(name.endswith("/LICENSE") for name in names))
            self.assertFalse([name for name in names if "test" in name])
            done = subprocess.run([sys.executable, "-c", "import lazaret; print(lazaret.__file__)"],
                                  env={**os.environ, "PYTHONPATH": str(wheel)}, cwd=directory,
                                  capture_output=True, text=True, timeout=GUARD_SECONDS)
            self.assertIn(str(wheel), done.stdout, done.stderr)

    def test_needs_skips_or_not(self) -> None:
        self.assertIsNone(importlib.util.find_spec("no_such_module"))
        with unittest.mock.patch.dict(os.environ, {"LAZARET_TEST_NEED": "program"}):
            self.assertTrue(getattr(needs("no_such_module")(lambda: None), "__unittest_skip__"))
        for needed in ("all", "program,no_such_module"):
            with unittest.mock.patch.dict(os.environ, {"LAZARET_TEST_NEED": needed}):
                self.assertFalse(hasattr(needs("no_such_module")(lambda: None),
                                         "__unittest_skip__"))


if __name__ == "__main__":
    unittest.main()
