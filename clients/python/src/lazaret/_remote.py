# SPDX-License-Identifier: MIT
"""A server on another machine: `lazaret serve --listen tls://...`, and who we are to it.

TLS is computed in memory, under one lock. What it makes of the bytes goes through the socket
outside of that lock: one thread waits for the server's bytes while another one waits for room.
"""

import contextlib
import json
import os
import re
import socket
import ssl
import stat
import threading
import time
from typing import List, NamedTuple, Optional, Tuple, Union
from urllib.parse import urlsplit

from ._process import PIECE, SocketChannel
from ._results import SetupFailed

Path = Union[str, "os.PathLike[str]"]

PORT = 8443  # where a URL names none
_TOKEN_BYTES = 8192  # of a file
# What OpenSSL calls a certificate that nobody has signed who is trusted here.
_UNKNOWN_SIGNERS = frozenset([18, 19, 20, 21])
_OTHER_NAMES = frozenset([62, 64])
_KEEPALIVE = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 6))  # seconds, probes


class Access(NamedTuple):
    """Who we are to a server, and how we know it."""

    token: Optional[str] = None
    token_file: Optional[Path] = None
    ca: Optional[Path] = None
    cert: Optional[Path] = None
    key: Optional[Path] = None
    server_name: Optional[str] = None


class _Tls:
    """One connection as computed: bytes in, bytes out."""

    def __init__(self, context: ssl.SSLContext, name: str) -> None:
        self.failure = ""  # why it broke off
        self._lock = threading.Lock()
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_hostname=name)

    def shake_hands(self, connection: socket.socket, end: float) -> None:
        """Do the handshake, until this time. The name and the certificate are checked by it."""
        is_done = False
        while True:
            try:
                self._object.do_handshake()
                is_done = True
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError:
                with contextlib.suppress(OSError):  # tells the server why not
                    connection.sendall(self._outgoing.read())
                raise
            connection.settimeout(max(0.001, end - time.monotonic()))
            connection.sendall(self._outgoing.read())
            if is_done:
                return
            piece = connection.recv(PIECE)
            if piece:
                self._incoming.write(piece)
            else:
                self._incoming.write_eof()

    def seal(self, piece: "Union[bytes, memoryview]") -> bytes:
        """Bytes to send. One thread sends: they belong in this order."""
        with self._lock:
            self._object.write(piece)
            return self._outgoing.read()

    def open(self, piece: bytes) -> Tuple[bytes, bool]:
        """What received bytes say, and whether that was the end."""
        parts: List[bytes] = []
        with self._lock:
            self._incoming.write(piece)
            while True:
                try:
                    part = self._object.read(PIECE)
                except ssl.SSLWantReadError:
                    return b"".join(parts), not piece
                except ssl.SSLZeroReturnError:
                    part = b""
                except ssl.SSLError as error:
                    self.failure = _reason(error)
                    part = b""
                if not part:
                    return b"".join(parts), True
                parts.append(part)


class TlsChannel(SocketChannel):
    """A server on another machine."""

    def __init__(self, name: str, connection: socket.socket, tls: _Tls) -> None:
        super().__init__(name, connection)
        self._tls = tls
        self._is_over = False

    def write(self, line: bytes) -> bool:
        rest = memoryview(line)
        while rest:
            try:
                sealed = self._tls.seal(rest[:PIECE])
            except ssl.SSLError:
                return False
            if not super().write(sealed):
                return False
            rest = rest[PIECE:]
        return True

    def _receive(self) -> bytes:
        while not self._is_over:
            piece, self._is_over = self._tls.open(super()._receive())
            if piece:
                return piece
        return b""

    def why_ended(self, why: str) -> str:
        return super().why_ended(why or self._tls.failure)


# ---- opening ------------------------------------------------------------------------------------


def address_of(url: str) -> Tuple[str, int]:
    """The host and the port of tls://HOST[:PORT]."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or not re.fullmatch(r"tls://(\[[^\[\]@/?#]+\]|[^:\[\]@/?#]+)(:[0-9]+)?", url):
        raise ValueError(f"{url!r} is not the URL of a server, as tls://HOST:PORT")
    return host, PORT if port is None else port


def check_access(access: Access) -> None:
    """Raise a ValueError where it contradicts itself."""
    if access.token is not None and access.token_file is not None:
        raise ValueError("token and token_file are two ways to give the same: give one of them")
    if (access.cert is None) != (access.key is None):
        raise ValueError("cert and key go together")


def _token_of(access: Access) -> Optional[str]:
    if access.token_file is None:
        return None if access.token is None else access.token.strip()
    name = os.fspath(access.token_file)
    try:
        with open(name, encoding="ascii") as file:
            if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise SetupFailed(f"{name}: others can read this token; chmod 600")
            words = file.read(_TOKEN_BYTES).split()
    except (OSError, ValueError) as error:
        raise SetupFailed(f"token_file cannot be read: {error}") from error
    if not words:
        raise SetupFailed(f"{name}: there is no token in it")
    return words[0]


def _context_of(access: Access) -> ssl.SSLContext:
    try:
        what = f"ca is {access.ca}"
        context = ssl.create_default_context(cafile=access.ca)  # checks names and certificates
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        # The same certificates are good in each version of Python, and for the other clients.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if access.cert is not None:
            what = f"cert is {access.cert}, and key {access.key}"
            # Nobody is asked for a password.
            context.load_cert_chain(access.cert, access.key, password=lambda: "")
        return context
    except (OSError, ValueError) as error:
        why = _reason(error) if isinstance(error, ssl.SSLError) else error.args[-1]
        raise SetupFailed(f"{what}: {why}") from error


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).replace("_", " ").lower()


def _why_not_trusted(url: str, error: ssl.SSLCertVerificationError) -> str:
    hint = ""
    if error.verify_code in _UNKNOWN_SIGNERS:
        hint = "; name who has signed it with ca=FILE"
    elif error.verify_code in _OTHER_NAMES:
        hint = "; if it has another one, give that as server_name="
    return f"the certificate of {url} is not accepted: {error.verify_message.rstrip('.')}{hint}"


def _keep_alive(connection: socket.socket) -> None:
    """A machine that has vanished is noticed, and lines are sent as they are."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def connect_tls(url: str, access: Access, seconds: float) -> TlsChannel:
    """Connect to a server on another machine, and say who we are."""
    host, port = address_of(url)
    token = _token_of(access)
    tls = _Tls(_context_of(access), access.server_name or host)
    first = {"type": "authenticate", **({} if token is None else {"token": token})}
    end = time.monotonic() + seconds
    connection = None
    try:
        connection = socket.create_connection((host, port), timeout=seconds)
        _keep_alive(connection)
        tls.shake_hands(connection, end)
        connection.sendall(tls.seal(json.dumps(first).encode("ascii") + b"\n"))
        connection.settimeout(None)
        return TlsChannel(f"the server at {url}", connection, tls)
    except OSError as error:
        if connection is not None:
            connection.close()
        raise SetupFailed(_why_not_connected(url, error, seconds)) from error
    except BaseException:
        if connection is not None:
            connection.close()
        raise


def _why_not_connected(url: str, error: OSError, seconds: float) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _why_not_trusted(url, error)
    if isinstance(error, ssl.SSLError):
        return f"{url} does not speak TLS 1.3 with this client: {_reason(error)}"
    if isinstance(error, socket.timeout):
        return f"cannot connect to {url}: it has not answered in {seconds} seconds"
    return f"cannot connect to {url}: {error}"
