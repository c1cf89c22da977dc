# SPDX-License-Identifier: MIT
"""The process `lazaret serve`, or a connection to one, and the messages to and from it.

Two threads belong to each server. One reads, and gives each message to the request that it
belongs to, so that a slow caller never stops the reading. The other one writes what cannot be
written at once and as a whole: a caller that is interrupted by Ctrl-C cannot leave half a line
behind, and an event loop never blocks.
"""

import atexit
import itertools
import json
import os
import queue
import threading
import weakref
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Tuple, Union

from ._process import Channel, connect, start
from ._remote import Access, Path, address_of, check_access, connect_tls
from ._results import LazaretError, RequestFailed, SetupFailed, WorkerLost
from ._tools import Tool, make_tools

Message = Dict[str, Any]
Deliver = Callable[[Message], None]

PROTOCOL = 1
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
FINAL = frozenset(["result", "failed", "lost", "opened", "done", "description", "found"])
_ADDED = 256  # bytes of what a message gets when it is sent: its id, and which events are wanted
_servers: "weakref.WeakSet[Server]" = weakref.WeakSet()


class Server:
    """An engine that runs code: a process of its own, or one that runs already, here or elsewhere.

    program: the program `lazaret`; otherwise $LAZARET, in this package, or on PATH
    config: a configuration file
    settings: keys of the configuration, as {"session.timeout": "5s"}
    path: the Unix socket of a server that runs
    url: tls://HOST:PORT of a server on another machine; the port is 8443 unless it is given
    token, token_file: what its operator has made with `lazaret token`, or the file that has it
    cert, key: files with a certificate and its key, in place of a token or besides it
    ca: a file with the certificates of those who may have signed that of the server; otherwise they
        are those that this system trusts
    server_name: the name in the certificate of the server, where that is not the host of the URL
    start_timeout: seconds to wait for the first message of the server
    """

    def __init__(self, program: Optional[str] = None, *,
                 path: Union[str, "os.PathLike[str]", None] = None,
                 config: Union[str, "os.PathLike[str]", None] = None,
                 settings: Optional[Mapping[str, Any]] = None,
                 start_timeout: float = 30.0, url: Optional[str] = None,
                 token: Optional[str] = None, token_file: Optional[Path] = None,
                 ca: Optional[Path] = None, cert: Optional[Path] = None,
                 key: Optional[Path] = None, server_name: Optional[str] = None) -> None:
        self._pid = os.getpid()
        self._is_forked = False  # this is a child process, and the server the parent's
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._outbox: "queue.SimpleQueue[Tuple[Optional[bytes], int]]" = queue.SimpleQueue()
        self._write_lock = threading.RLock()  # of `_unwritten`, and of writing without the queue
        self._unwritten = 0  # lines that stand in the outbox for their turn, or are being written
        self._is_ended = False  # nothing is written any more
        self._pending: Dict[int, Deliver] = {}
        self._calls: Dict[int, int] = {}  # open calls of tools, and the executions they belong to
        self._lost: Optional[str] = None  # why the connection has ended
        self._refused: Optional[str] = None  # why the server has no use for us
        self._hello: Optional[Message] = None
        self._is_greeted = threading.Event()
        self._max_line = 1 << 20  # until the server has said how much it accepts
        self.tools: Dict[str, Tool] = {}  # tools of all sessions
        access = Access(token, token_file, ca, cert, key, server_name)
        _check_place(url, path, program is not None or config is not None or bool(settings), access)
        if url is not None:
            self._channel: Channel = connect_tls(url, access, start_timeout)
        elif path is not None:
            self._channel = connect(os.fspath(path))
        else:
            self._channel = start(program, config, settings or {})
        _servers.add(self)
        threading.Thread(target=self._read, name="lazaret-read", daemon=True).start()
        threading.Thread(target=self._write, name="lazaret-write", daemon=True).start()
        try:
            self._greet(start_timeout)
        except BaseException:
            self.close()
            raise

    def _greet(self, start_timeout: float) -> None:
        if not self._is_greeted.wait(start_timeout):
            raise SetupFailed(f"{self._channel.name} has not answered in {start_timeout} seconds")
        if self._refused is not None:
            raise SetupFailed(f"{self._channel.name} has refused this client: {self._refused}")
        if self._hello is None:
            raise SetupFailed(f"{self._channel.name} did not start: {self._lost}")
        if self._hello.get("protocol") != PROTOCOL:
            raise SetupFailed(
                f"{self._channel.name} speaks version {self._hello.get('protocol')} of the "
                f"protocol, and this package version {PROTOCOL}")
        self._max_line = int(self._hello["max_line"])

    # ---- state ----------------------------------------------------------------------------------

    @property
    def is_alive(self) -> bool:
        """Is the server there?"""
        return self._lost is None and not self._is_forked

    @property
    def version(self) -> str:
        """The version of lazaret that the server is."""
        return str((self._hello or {}).get("version"))

    @property
    def pid(self) -> Optional[int]:
        """The process id of the server, unless it is behind a socket."""
        return self._channel.pid

    @property
    def max_line(self) -> int:
        """Bytes of a message that the server accepts."""
        return self._max_line

    def close(self) -> None:
        """End the server with everything that runs in it. Can be called more than once."""
        if self._is_forked:
            return  # the server belongs to the parent process
        self.end()
        self._channel.wait()

    def end(self) -> None:
        """End the server without waiting for that. Takes no lock: finalizers call it."""
        if not self._is_forked:
            self._outbox.put((None, 0))

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    # ---- requests -------------------------------------------------------------------------------

    def check_process(self) -> None:
        """Raise an error in a child process that was forked after the server was started."""
        if self._is_forked:
            raise LazaretError(
                f"this server belongs to process {self._pid}, from which process {os.getpid()} "
                "was forked: start a new one here")

    def send(self, message: Message, deliver: Deliver) -> int:
        """Send a request; `deliver` is called with its messages, on the thread that reads."""
        self.check_process()
        number = next(self._ids)
        line = self.line_of({**message, "id": number})
        with self._lock:
            if self._lost is not None:
                raise WorkerLost(self._lost)
            self._pending[number] = deliver
        self._write_soon(line)
        return number

    def _write_soon(self, line: bytes) -> None:
        """Write a line after all that were given before, now or on the thread that writes."""
        with self._write_lock:
            if self._unwritten or self._is_ended or not self._channel.write_now(line):
                self._unwritten += 1
                self._outbox.put((line, 1))

    def post(self, message: Message) -> None:
        """Send a request whose answer does not matter. Takes no lock: finalizers call it."""
        if self.is_alive:
            self._outbox.put((self.line_of({**message, "id": next(self._ids)}), 0))

    def answer(self, message: Message) -> None:
        """Answer a call of a tool."""
        self.check_process()
        line = self.line_of({"type": "answer", **message})
        self._calls.pop(message["call"], None)
        self._write_soon(line)

    def line_of(self, message: Message) -> bytes:
        """A message as a line. One that is too long would end the connection: ValueError."""
        line = _encoder.encode(message).encode("utf-8") + b"\n"
        if len(line) > self._max_line:
            raise ValueError(f"a message of {len(line)} bytes is too long for the server, which "
                             f"accepts {self._max_line}")
        return line

    def size_of(self, message: Message) -> int:
        """The bytes of a message, or of an object in it."""
        return len(self.line_of(message))

    def room_for(self, message: Message) -> int:
        """The bytes that can be added to a message."""
        return self._max_line - self.size_of(message) - _ADDED

    def call(self, message: Message) -> Message:
        """Send a request and wait for its answer."""
        inbox: "queue.SimpleQueue[Message]" = queue.SimpleQueue()
        number = self.send(message, inbox.put)
        try:
            return answer_of(inbox.get())
        except BaseException:
            self.abandon(number)
            raise

    def abandon(self, number: int) -> None:
        """Nobody waits for this request any more: what it opens is closed again."""
        def close(message: Message) -> None:
            for key in ("session", "pool"):
                if message["type"] == "opened" and key in message:
                    self.post({"type": "close", key: message[key]})

        with self._lock:
            if number in self._pending:
                self._pending[number] = close

    def register(self, tools: Iterable[Union[Tool, Callable[..., Any]]]) -> None:
        """Give tools to all sessions and pools that are opened afterwards on this server."""
        made = make_tools(tools, allow_async=True)
        if made:
            self.call({"type": "tools", "tools": [tool.declaration for tool in made.values()]})
            self.tools.update(made)

    # ---- threads --------------------------------------------------------------------------------

    def _write(self) -> None:
        while True:
            line, count = self._outbox.get()
            if line is None or not self._channel.write(line):
                break
            with self._write_lock:
                self._unwritten -= count
        with self._write_lock:  # whoever writes without this thread must not find a closed file
            self._is_ended = True
        self._channel.end()

    def _read(self) -> None:
        why = ""
        try:
            for line in self._channel.lines():
                message = json.loads(line.decode("utf-8", "replace"))
                if message["type"] == "failed" and "id" not in message:
                    why = message["message"]
                    if self._hello is None:
                        self._refused = why
                    break  # the connection ends: what else comes are the ends of what was open
                self._deliver(message)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            why = f"it has sent what is not a message ({error})"
        self._outbox.put((None, 0))
        self._lose(self._channel.why_ended(why))
        self._channel.mark_ended()

    def _deliver(self, message: Message) -> None:
        kind = message["type"]
        if kind == "hello":
            self._hello = message
            self._is_greeted.set()
            return
        number = message.get("id")
        if kind in ("tool_call", "approval"):
            self._calls[message["call"]] = message["id"]
        elif kind == "tool_cancelled":
            number = self._calls.pop(message["call"], None)
        with self._lock:
            deliver = None
            if number is not None:
                deliver = self._pending.get(number)
                if kind in FINAL:
                    self._pending.pop(number, None)
        if deliver:
            deliver(message)

    def _lose(self, why: str) -> None:
        """The connection has ended: report it to all who wait."""
        with self._lock:
            self._lost = why
            pending, self._pending = self._pending, {}
        self._calls.clear()
        self._is_greeted.set()
        for deliver in pending.values():
            deliver({"type": "lost", "message": why})

    def forget(self) -> None:
        """In a forked child: close the descriptors, for the server ends when all are closed."""
        self._is_forked = True
        self._channel.forget()


def _check_place(url: Optional[str], path: Any, is_started: bool, access: Access) -> None:
    """Raise a ValueError where a server is named in two ways, or what belongs to another one."""
    if url is None and any(one is not None for one in access):
        names = ", ".join(name for name, one in access._asdict().items() if one is not None)
        raise ValueError(f"{names}: for a server on another machine, which needs its url as well")
    for name, one in (("url", url), ("path", path)):
        if one is not None and is_started:
            raise ValueError(f"{name} is of a server that runs: it has its own configuration")
    if url is not None and path is not None:
        raise ValueError("url and path name two servers")
    if url is not None:
        address_of(url)
        check_access(access)


def answer_of(message: Message) -> Message:
    """An answer, or the exception for a request that has failed."""
    if message["type"] == "lost":
        raise WorkerLost(message["message"])
    if message["type"] == "failed":
        if message["code"] == "LAZ_ESETUP":  # the session that was used could not start
            raise SetupFailed(message["message"])
        raise RequestFailed(message["message"], message["code"])
    return message


# ---- the default server -------------------------------------------------------------------------

_default: Optional[Server] = None
_default_lock = threading.Lock()


def default_server() -> Server:
    """The server that sessions use which are given none. It is started when it is needed."""
    global _default
    with _default_lock:
        if _default is None or not _default.is_alive:
            _default = Server()
        return _default


def _close_default() -> None:
    if _default is not None:
        _default.close()


def _after_fork() -> None:
    global _default, _default_lock
    _default, _default_lock = None, threading.Lock()
    for server in list(_servers):
        server.forget()


atexit.register(_close_default)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
