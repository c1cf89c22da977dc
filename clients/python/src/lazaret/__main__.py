# SPDX-License-Identifier: MIT
"""python3 -m lazaret ARGUMENTS: the program lazaret, in place of this process."""

import os
import sys
from pathlib import Path
from typing import List, Optional

from ._process import find_program, packaged_program
from ._results import SetupFailed


def _is_python_run(arguments: List[str]) -> bool:
    """May these ask for Python to be run?"""
    if arguments[:1] != ["run"] or "--" in arguments:
        return False
    named = [text for text in arguments if text.startswith("--runtime")]
    return not named or "python" in arguments or "--runtime=python" in named


def why_other_python(program: str) -> Optional[str]:
    """Why code does not run by the Python of this process, or None.

    The runtime of the package has the interpreter, as a library, of the version that the package is
    for. The modules are those of the system's own, below /usr.
    """
    version = "{}.{}".format(*sys.version_info)
    plugins = Path(program).parents[1] / "lib" / "lazaret" / "plugins-1"
    modules = Path("/usr/lib") / f"python{version}"
    others = "the runtimes lua, shell and program"
    if not (plugins / "python.json").is_file():
        return (f"this package has no runtime for Python {version} on this system; it runs code by "
                f"{others}, and by what LAZARET_PLUGIN_PATH has")
    if not (modules / "os.py").is_file():
        return (f"the runtime for Python is for the system's own Python {version}, which is not in "
                f"{modules} (this one is in {sys.base_prefix}); it runs code by {others}")
    if sys.base_prefix != "/usr":
        return (f"code in Python runs by the system's own Python {version}, with the modules in "
                f"{modules}; those of {sys.base_prefix} are not seen")
    return None


def main() -> None:
    """Never returns. The program of this package comes first: $LAZARET may name its script."""
    arguments = sys.argv[1:]
    packaged = packaged_program()
    try:
        program = packaged or find_program(None)
    except SetupFailed as error:
        sys.exit(f"lazaret: {error}")
    why = why_other_python(packaged) if packaged and _is_python_run(arguments) else None
    if why:
        print(f"lazaret: {why}", file=sys.stderr, flush=True)
    try:
        os.execv(program, [program, *arguments])
    except OSError as error:
        sys.exit(f"lazaret: {program} cannot be started: {error.strerror}")


if __name__ == "__main__":
    main()
