# SPDX-License-Identifier: MIT
"""Commands: programs with their arguments, in sessions of the runtimes `shell` and `program`.

A shell gets words that are quoted, so that no character of an argument, and no alias or keyword, has
a meaning. The runtime `program` takes a list of words, and starts the program itself.
"""

import base64
import json
import os
import re
import subprocess
from typing import Any, List, Mapping, Optional, Sequence, Union

from ._results import Result, WorkerLost

Word = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")  # of a variable, as a shell has it


class Completed(subprocess.CompletedProcess[str]):
    """A command that has ended: `args`, `status` (or `returncode`), `stdout`, `stderr`.

    The status is that of the program, from 0 to 255: 128 and the number of a signal that has ended
    it, 127 where there is no such program, 126 where it cannot be executed. What was written is
    text; bytes that are not UTF-8 have become U+FFFD. `truncated` says whether a limit has cut it
    off (`session.max_output_size`), and `result` is the whole Result.
    """

    def __init__(self, args: Sequence[Word], result: Result) -> None:
        status = result.evidence.get("exit_status")
        if not isinstance(status, int):
            raise WorkerLost("the sandbox has given no status of the command", result)
        super().__init__(list(args), status, result.stdout, result.stderr)
        self.result = result

    @property
    def status(self) -> int:
        """The exit status."""
        return int(self.returncode)

    @property
    def truncated(self) -> bool:
        """Is the output incomplete, because of a limit?"""
        return self.result.truncated


def completed(args: Sequence[Word], result: Result, check: bool) -> Completed:
    """A result as that of a command; with `check` a status other than 0 is CalledProcessError."""
    made = Completed(args, result)
    if check:
        made.check_returncode()
    return made


def _bytes_of(word: Word, what: str) -> bytes:
    if not isinstance(word, (str, bytes, os.PathLike)):
        raise TypeError(f"{what} must be a text, not {type(word).__name__}")
    path = os.fspath(word)
    data = path.encode("utf-8", "surrogateescape") if isinstance(path, str) else path
    if b"\0" in data:
        raise ValueError(f"{what} cannot contain a NUL character")
    return data


def _text_of(word: Word, what: str) -> str:
    return _bytes_of(word, what).decode("utf-8")


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _preparation(cwd: Optional[Word], env: Optional[Mapping[str, Word]]) -> List[str]:
    """What a shell does before the command, so that it finds this directory and these variables."""
    steps = []
    if cwd is not None:
        directory = _text_of(cwd, "cwd")
        if not directory:
            raise ValueError("cwd must be the name of a directory")
        # With "./" it is neither an option, nor "-", nor looked for in CDPATH.
        steps.append("cd " + _quote(directory if directory[0] == "/" else "./" + directory))
    for name, value in (env or {}).items():
        if not _NAME.match(name):
            raise ValueError(f"{name!r} is not the name of a variable")
        steps.append(f"export {name}={_quote(_text_of(value, name))}")
    return steps


def _shell_word(word: bytes) -> str:
    try:
        return _quote(word.decode("utf-8"))
    except UnicodeDecodeError:
        return "$'" + "".join(f"\\{byte:03o}" for byte in word) + "'"


def _shell_code(words: List[bytes], steps: List[str]) -> str:
    command = " ".join(map(_shell_word, words))
    return f"({' && '.join([*steps, command])})" if steps else command


def _program_word(word: bytes) -> Any:
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        return {"$bytes": base64.b64encode(word).decode("ascii")}


def _program_code(words: List[bytes], steps: List[str]) -> str:
    line = list(map(_program_word, words))
    if steps:
        line = ["sh", "-c", " && ".join([*steps, 'exec "$@"']), "sh", *line]
    return json.dumps(line, ensure_ascii=False)


_CODES = {"shell": _shell_code, "program": _program_code}


def code_of(runtime: Optional[str], args: Sequence[Word], cwd: Optional[Word],
            env: Optional[Mapping[str, Word]]) -> str:
    """The code that runs a command in a session of this runtime."""
    if runtime not in _CODES:
        raise ValueError(f"a command needs a session of the runtime 'shell' or 'program', and this "
                         f"one is of {runtime!r}")
    if isinstance(args, (str, bytes, os.PathLike)):
        raise TypeError("a command is a list of words: ['ls', '-l']; text for a shell is code, "
                        "for `execute`")
    words = [_bytes_of(word, "a word of a command") for word in args]
    if not words:
        raise ValueError("a command needs the name of a program")
    return _CODES[runtime](words, _preparation(cwd, env))
