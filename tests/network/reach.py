# SPDX-License-Identifier: MIT
"""What the ways of ways.txt are made of; it is run in the session, or the process, before each of them."""

import array
import ctypes
import fcntl
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.request

API, WEB, PLAIN = "api.example.test", "web.example.test", "plain.example.test"
UNLISTED, OTHER = "other.example.test", "93.184.216.20"  # a name that is not in the list, and its address
PATIENCE = globals().get("PATIENCE", 1)  # how much longer than usual silence has to last: ways.py
WAIT, PAUSE = 3 * PATIENCE, 1 * PATIENCE
libc = ctypes.CDLL(None, use_errno=True)


def done(is_done=True):
    """It has succeeded."""
    if is_done:
        print("done", flush=True)


def connect(name, port, timeout=WAIT):
    return socket.create_connection((name, port), timeout)


def heard(stream, size=1 << 20):
    """All that comes until the end, a pause, or so much."""
    said = b""
    try:
        while len(said) < size:
            piece = stream.recv(65536)
            if not piece:
                break
            said += piece
    except OSError:
        pass
    return said


def where(name, port=9000, family=socket.AF_INET, kind=socket.SOCK_STREAM, protocol=0):
    """The address at which an echo server says that it was reached, or "" if it says nothing."""
    address = (name, port) if family == socket.AF_INET else (name, port, 0, 0)
    with socket.socket(family, kind, protocol) as stream:
        stream.settimeout(WAIT)
        stream.connect(address)
        stream.sendall(b"where\n")
        return heard(stream, 1).decode().strip()


def http(text, name=WEB, port=80, more=b""):
    """Sends it; the answers."""
    with connect(name, port, PAUSE) as stream:
        stream.sendall(text.encode("latin-1") if isinstance(text, str) else text)
        if more:
            time.sleep(0.1)
            stream.sendall(more)
        return heard(stream).decode("latin-1")


def trusting(alpn=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if alpn:
        made.set_alpn_protocols(alpn)
    return made


def tls(name, server_name, port=443, alpn=None, timeout=WAIT):
    """A connection to `name` that asks for the server `server_name` (None: for none)."""
    return trusting(alpn).wrap_socket(connect(name, port, timeout), server_hostname=server_name)


def https(name, server_name, host=None, port=443, path="/"):
    """The answer to a request."""
    with tls(name, server_name, port) as stream:
        stream.sendall(("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" %
                        (path, host or server_name or name)).encode())
        return heard(stream).decode("latin-1")


def client_hello(server_name, extra=b"", names=None):
    """The first message of TLS as bytes; `extra`: further extensions; `names`: the contents of its list of names."""
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        trusting().wrap_bio(into, out, server_hostname=server_name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    body = out.read()[9:]  # without the headers of the record and of the message
    at = 2 + 32
    at += 1 + body[at]
    at += 2 + struct.unpack(">H", body[at:at + 2])[0]
    at += 1 + body[at]
    head, extensions = body[:at], body[at + 2:]
    if names is not None:
        kept, extensions = extensions, b""
        while kept:
            kind, size = struct.unpack(">2H", kept[:4])
            if kind != 0:
                extensions += kept[:4 + size]
            kept = kept[4 + size:]
        extensions += struct.pack(">3H", 0, len(names) + 2, len(names)) + names
    extensions += extra
    return head + struct.pack(">H", len(extensions)) + extensions


def records(body, size=16384, version=b"\3\1"):
    """The message in records of TLS."""
    message = b"\1" + struct.pack(">I", len(body))[1:] + body
    return b"".join(b"\x16" + version + struct.pack(">H", len(piece)) + piece
                    for piece in (message[i:i + size] for i in range(0, len(message), size)))


def answers_hello(sent, name=API, port=443, pieces=None, pause=0.0):
    """Does a server answer it with its own part of the handshake?"""
    with connect(name, port) as stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(0, len(sent), pieces or len(sent)):
            stream.sendall(sent[i:i + (pieces or len(sent))])
            time.sleep(pause)
        return heard(stream, 6)[:1] == b"\x16"


def labels(name):
    return b"".join(bytes([len(label)]) + label for label in
                    (name.encode() if isinstance(name, str) else name).split(b".")) + b"\0"


def question(name, kind=1, raw=None):
    return struct.pack(">6H", os.getpid() & 0xffff, 0x100, 1, 0, 0, 0) + (raw or labels(name)) + \
        struct.pack(">2H", kind, 1)


def ask(name, kind=1, server="127.0.0.1", by_tcp=False, raw=None):
    """Asks a DNS server; (the response code, how many answers), or None without an answer."""
    asked = question(name, kind, raw)
    try:
        if by_tcp:
            with connect(server, 53) as stream:
                stream.sendall(struct.pack(">H", len(asked)) + asked)
                said = heard(stream, 14)[2:]
        else:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
                datagrams.settimeout(PAUSE)
                datagrams.sendto(asked, (server, 53))
                said = datagrams.recv(4096)
    except OSError:
        return None
    return (said[3] & 15, struct.unpack(">H", said[6:8])[0]) if len(said) >= 12 else None


def asked(token):
    """It has succeeded if a DNS server of the outer world was asked for this: the runner looks."""
    print("asked", token, flush=True)


def resolves(name):
    return bool(socket.getaddrinfo(name, 9, socket.AF_INET, socket.SOCK_STREAM))


def call(name, *arguments):
    """A function of libc that is 0 or more when it has succeeded."""
    result = getattr(libc, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result
