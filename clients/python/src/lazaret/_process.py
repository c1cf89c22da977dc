# SPDX-License-Identifier: MIT
"""How the server is found, started and reached: a process with pipes, or a Unix socket.

One on another machine: see _remote.py.

Descriptors are read and written without buffers of Python: the locks of those would be held in a
child process that was forked while another thread was reading.
"""

import json
import logging
import os
import select
import shutil
import socket
import stat
import subprocess
import threading
from pathlib import Path
from typing import Any, Iterator, List, Mapping, Optional, Union

from ._results import SetupFailed

_log = logging.getLogger("lazaret")
_END_SECONDS = 10.0  # after which a server that does not end is killed
PIECE = 1 << 16  # bytes: what a pipe holds; malloc maps no pages of its own for it


class Channel:
    """Lines to and from a server.

    Each descriptor is closed by the thread that uses it, so that no other one can write to a file
    which has got the same number meanwhile.
    """

    pid: Optional[int] = None

    def __init__(self, name: str, read_fd: int, write_fd: int) -> None:
        self.name = name
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._is_pipe = stat.S_ISFIFO(os.fstat(write_fd).st_mode)
        if self._is_pipe:
            os.set_blocking(write_fd, False)
        self._room = select.poll()
        self._room.register(write_fd, select.POLLOUT)
        self._has_ended = threading.Event()

    def write(self, line: bytes) -> bool:
        """Write all of a line, and wait until there is room; False if the server is gone."""
        rest = memoryview(line)
        try:
            while rest:
                try:
                    rest = rest[os.write(self._write_fd, rest):]
                except BlockingIOError:
                    self._room.poll()
        except OSError:
            return False
        return True

    def write_now(self, line: bytes) -> bool:
        """Write all of a line if there is room for it now, otherwise nothing.

        Only a pipe does one or the other, for up to PIPE_BUF bytes. So a caller that is interrupted
        leaves no half a line behind.
        """
        if not self._is_pipe or len(line) > select.PIPE_BUF:
            return False
        try:
            return os.write(self._write_fd, line) == len(line)
        except OSError:
            return False

    def _receive(self) -> bytes:
        """Some bytes of the server, or none when the connection ends."""
        try:
            return os.read(self._read_fd, PIECE)
        except OSError:
            return b""

    def lines(self) -> Iterator[bytes]:
        """The lines of the server, until the connection ends."""
        parts: List[bytes] = []  # of a line that is not complete
        while True:
            piece = self._receive()
            if not piece:
                return
            first, *others = piece.split(b"\n")
            parts.append(first)
            for other in others:
                yield b"".join(parts)
                parts = [other]

    def end(self) -> None:
        """Nothing is written any more: the server ends, or closes the connection."""
        raise NotImplementedError

    def why_ended(self, why: str) -> str:
        """Called by the thread that reads, after the last line: say why it was the last one."""
        raise NotImplementedError

    def wait(self) -> None:
        """Wait for the end of the connection."""
        self._has_ended.wait(_END_SECONDS)

    def mark_ended(self) -> None:
        """Called by the thread that reads, after all who wait have been told."""
        self._has_ended.set()

    def forget(self) -> None:
        """Close the descriptors in a forked child, and leave the server alone."""
        raise NotImplementedError


def _hang_up(connection: socket.socket) -> None:
    """End the connection in both directions, also for a thread that waits for it."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()


class SocketChannel(Channel):
    """A server at a Unix socket."""

    def __init__(self, name: str, connection: socket.socket) -> None:
        self._reader, self._writer = connection, connection.dup()
        super().__init__(name, self._reader.fileno(), self._writer.fileno())

    def end(self) -> None:
        _hang_up(self._writer)

    def why_ended(self, why: str) -> str:
        _hang_up(self._reader)
        return f"{self.name} has closed the connection" + (f": {why}" if why else "")

    def forget(self) -> None:
        for connection in (self._reader, self._writer):
            connection.close()  # without shutdown: the parent still uses the connection


class ProcessChannel(Channel):
    """A server that is a child process."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin and process.stdout and process.stderr
        super().__init__(name, process.stdout.fileno(), process.stdin.fileno())
        self.pid = process.pid
        self._process = process
        self._complaints: List[str] = []
        self._listener = threading.Thread(target=self._listen, name="lazaret-stderr", daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        """Pass the messages for people on to the log, and keep the last ones for an error."""
        assert self._process.stderr
        for line in self._split(self._process.stderr.fileno()):
            self._complaints = self._complaints[-19:] + [line]
            _log.warning("%s", line)
        self._process.stderr.close()

    @staticmethod
    def _split(fd: int) -> Iterator[str]:
        rest = b""
        while True:
            piece = os.read(fd, 1 << 16)
            *lines, rest = (rest + piece).split(b"\n")
            if not piece and rest:
                lines.append(rest)
            for line in lines:
                yield line.decode("utf-8", "replace")
            if not piece:
                return

    def end(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()

    def why_ended(self, why: str) -> str:
        if why:
            self._process.kill()  # it may wait for us, who read no more
        status = self._process.wait()
        self._listener.join(1.0)
        assert self._process.stdout
        self._process.stdout.close()
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        said = [why] if why else self._complaints
        return f"the server has ended {how}" + (f": {' | '.join(said)}" if said else "")

    def wait(self) -> None:
        if not self._has_ended.wait(_END_SECONDS):
            self._process.kill()
            self._has_ended.wait(_END_SECONDS)

    def forget(self) -> None:
        for file in (self._process.stdin, self._process.stdout, self._process.stderr):
            if file:
                file.close()
        self._process.returncode = 0  # the child must not wait for a process of its parent


# ---- opening ------------------------------------------------------------------------------------


def packaged_program() -> Optional[str]:
    """The program that this package brings along, if it does: a wheel (packaging/wheel)."""
    program = Path(__file__).resolve().parent / "_program" / "bin" / "lazaret"
    return str(program) if program.is_file() else None


def find_program(program: Optional[str]) -> str:
    """The path of the program `lazaret`: a given one, $LAZARET, in this package, on PATH."""
    for given, what in ((program, "program"), (os.environ.get("LAZARET"), "$LAZARET")):
        if given:
            found = shutil.which(given)
            if not found:
                raise SetupFailed(f"{what} is {given!r}, which is not a program that can be executed")
            return found
    found = packaged_program() or shutil.which("lazaret")
    if not found:
        raise SetupFailed("the program lazaret was not found: install it, set the environment "
                          "variable LAZARET to its path, or give Server(program=...)")
    return found


def toml(value: Any) -> str:
    """A value of a setting as it is written in a configuration file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml(str(k))} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    raise TypeError(f"a setting cannot be a {type(value).__name__}")


def start(program: Optional[str], config: Union[str, "os.PathLike[str]", None],
          settings: Mapping[str, Any]) -> Channel:
    """Start `lazaret serve`."""
    command = [find_program(program), "serve"]
    if config is not None:
        command += ["--config", os.fspath(config)]
    for key, value in settings.items():
        command += ["--set", f"{key}={toml(value)}"]
    try:
        # A session of its own: Ctrl-C at the terminal reaches this process alone.
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, bufsize=0, start_new_session=True)
    except (OSError, ValueError) as error:
        raise SetupFailed(f"{command[0]} cannot be started: {error}") from error
    return ProcessChannel("lazaret serve", process)


def connect(path: str) -> Channel:
    """Connect to a server at a Unix socket."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError as error:
        connection.close()
        raise SetupFailed(f"cannot connect to {path}: {error}") from error
    return SocketChannel(f"the server at {path}", connection)
