# SPDX-License-Identifier: MIT
"""The server by which `lazaret doctor` tries a credential: when it says that the secret has come, and what it leaves
without an answer.

usage: proxy_answer.py LAZARET-PROXY DIRECTORY
"""
import json
import os
import socket
import ssl
import subprocess
import sys

CAME, CAME_NOT = "the secret has come", "no secret was there"
GET = b"GET /one HTTP/1.1\r\nHost: one.test\r\n"
RIGHT = b"Authorization: Bearer right\r\n"
SECRET = {"type": "secret", "credential": 0, "text": "Bearer right"}
ROWS = [  # name, what is sent, what is answered; None: nothing
    ("the secret", GET + RIGHT + b"\r\n", CAME),
    ("the secret, in other letters of the name", GET + b"authorization: Bearer right\r\n\r\n", CAME),
    ("another secret", GET + b"Authorization: Bearer wrong\r\n\r\n", CAME_NOT),
    ("a longer one", GET + b"Authorization: Bearer righter\r\n\r\n", CAME_NOT),
    ("a shorter one", GET + b"Authorization: Bearer righ\r\n\r\n", CAME_NOT),
    ("none", GET + b"\r\n", CAME_NOT),
    ("in another header", GET + b"X-Authorization: Bearer right\r\n\r\n", CAME_NOT),
    ("twice", GET + RIGHT + RIGHT + b"\r\n", CAME_NOT),
    ("a second one that is malformed", GET + RIGHT + b"Authorization : Bearer right\r\n\r\n", CAME_NOT),
    ("lines without a carriage return", (GET + RIGHT + b"\r\n").replace(b"\r", b""), None),
    ("a head that is too long", GET + RIGHT + b"A: " + b"a" * 9000 + b"\r\n\r\n", None),
    ("no head", b"\x00\xff" * 100 + b"\r\n\r\n", None),
]


def start(program, directory):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener = socket.create_server(("127.0.0.1", 0))

    def descriptors():
        high = os.dup(listener.fileno())
        os.dup2(theirs.fileno(), 0)
        os.dup2(high, 3)
        os.set_inheritable(3, True)

    process = subprocess.Popen([program, "--answer", directory], preexec_fn=descriptors, close_fds=False, env=dict(os.environ))
    theirs.close()
    port = listener.getsockname()[1]
    listener.close()
    return process, ours, port


def asked(port, ca, name, sent):
    """The answer's last line; None: there is none."""
    context = ssl.create_default_context(cafile=ca)
    context.check_hostname = name is not None
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        try:
            with context.wrap_socket(connection, server_hostname=name) as tls:
                tls.sendall(sent)
                said = b""
                while piece := tls.recv(4096):
                    said += piece
        except (ssl.SSLError, ConnectionError):
            return None
    if not said.startswith(b"HTTP/1.1 200 OK\r\n"):
        return None
    return said.decode().rstrip("\n").rpartition("\n")[2]


def plain(port):
    """Is it said without TLS?"""
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        try:
            connection.sendall(GET + RIGHT + b"\r\n")
            return CAME.encode() in connection.recv(4096)
        except ConnectionError:
            return False


def main(program, directory):
    failed = []

    def check(name, found, wanted):
        if found != wanted:
            failed.append(f"{name}: {found!r}, expected {wanted!r}")

    process, control, port = start(program, directory)
    control.settimeout(600)
    check("its first note", json.loads(control.recv(4096)), {"type": "ready"})
    check("what it writes", os.listdir(directory), ["ca.pem"])
    ca = os.path.join(directory, "ca.pem")
    check("before it was told", asked(port, ca, "one.test", GET + RIGHT + b"\r\n"), CAME_NOT)
    control.send(json.dumps(SECRET).encode())
    for name, sent, wanted in ROWS:
        check(name, asked(port, ca, "one.test", sent), wanted)
    check("another name", asked(port, ca, "two.test", ROWS[0][1]), CAME)
    check("no name", asked(port, ca, None, ROWS[0][1]), None)
    check("no TLS", plain(port), False)
    check("after all that", asked(port, ca, "one.test", ROWS[0][1]), CAME)
    check("it runs", process.poll(), None)
    control.close()
    check("its end", process.wait(600), 0)
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
