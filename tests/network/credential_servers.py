# SPDX-License-Identifier: MIT
"""Servers that demand a token, for credentials.py: TLS on ports 443 and 8443 of every address.

Which token a server demands depends on the name that the client has asked for. What they were sent is kept: each
byte, and each request that they understood. They understand more than they should (two lengths, folded lines), as
servers do that can be lied to; and one of them answers as badly as it is told. 8443 has a certificate that only
private.pem has signed, which the system does not know."""

import base64
import gzip
import json
import os
import random
import re
import ssl
import string
import subprocess
import threading
import time
import urllib.parse

import servers

LETTERS = string.ascii_letters + string.digits
# What is in every token, and so in all that carries one; the rest of a token is its own.
MARK = "".join(random.SystemRandom().choices(LETTERS, k=16))


def token():
    return "ghp_" + MARK + "".join(random.SystemRandom().choices(LETTERS, k=20))


class Demand:
    """What a server wants to see: a `header`, `basic` (a user) or `query` (a name), with a token of its own."""

    def __init__(self, kind, value, **settings):
        self.kind, self.value, self.settings, self.token = kind, value, settings, token()

    def field(self):
        """The header, for those who have the token."""
        if self.kind == "header":
            return self.value.replace("{secret}", self.token)
        return "Authorization: Basic " + base64.b64encode((self.value + ":" + self.token).encode()).decode()

    def is_met(self, request):
        if self.kind == "query":
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(request.target).query)
            return query.get(self.value) == [self.token]
        name, _, value = self.field().partition(": ")
        return request.all(name) == [value]


BEARER = "Authorization: Bearer {secret}"
# Name and port; `settings`: what else its [[network.credential]] has.
DEMANDS = {
    "api.example.test": Demand("header", BEARER),
    "api.example.test:8443": Demand("header", "Authorization: token {secret}", ca="$PRIVATE"),
    "git.example.test": Demand("basic", "x-access-token"),
    "pypi.example.test": Demand("basic", "reader"),
    "query.data.example.test": Demand("query", "key"),
    "xkey.data.example.test": Demand("header", "X-Api-Key: {secret}"),
    "paths.data.example.test": Demand("header", BEARER, methods=["GET", "POST"], paths=["/v1/*"]),
    "only.data.example.test": Demand("header", BEARER, only=True),
    "held.data.example.test": Demand("header", BEARER, placeholder={"env": "GITHUB_TOKEN"}),
    "bad.data.example.test": Demand("header", BEARER),
    "echo.data.example.test": Demand("header", BEARER, echo="allow"),
    # Servers whose certificate nobody should accept: of an unknown authority, and of another name
    "unknown.data.example.test:8443": Demand("header", BEARER),
    "wrong.other.example.test": Demand("header", BEARER),
}
# By their first label, those on the usual port.
HOSTS = {name.split(".")[0]: name for name in DEMANDS if ":" not in name}


def table():
    """[[network.credential]] for all of them, and what their tokens are read from: {name of a variable: token}."""
    text, variables = "", {}
    for number, (host, demand) in enumerate(DEMANDS.items()):
        variables["TOKEN_%d" % number] = demand.token
        text += '\n[[network.credential]]\nhost = "%s"\nsecret = { env = "TOKEN_%d" }\n' % (host, number)
        if "placeholder" not in demand.settings:
            text += {"header": 'header = "%s"\n', "basic": 'basic = { user = "%s" }\n',
                     "query": 'query = "%s"\n'}[demand.kind] % demand.value
        for name, value in demand.settings.items():
            written = "{ env = %s }" % json.dumps(value["env"]) if name == "placeholder" else json.dumps(value)
            text += "%s = %s\n" % (name, written)
    return text, variables


# ---- forms of a token -------------------------------------------------------------------------------

def base64_at(text, shift):
    """What is sure of the base64 of a text that has `shift` bytes before it, and something behind."""
    made = base64.b64encode(b"\0" * shift + text.encode() + b"\0\0\0").decode()
    first, end = -(-shift * 8 // 6), (shift + len(text)) * 8 // 6
    return made[first:end]


def forms(text):
    """Forms in which a text can be carried: those that lazaret looks for, and others that a search finds."""
    return {
        "raw": text.encode(),
        **{"base64.%d" % shift: base64_at(text, shift).encode() for shift in range(3)},
        "percent": "".join("%%%02X" % ord(letter) for letter in text).encode(),
        "percent small": "".join("%%%02x" % ord(letter) for letter in text).encode(),
        "json": "".join("\\u%04x" % ord(letter) for letter in text).encode(),
        "json large": "".join("\\u%04X" % ord(letter) for letter in text).encode(),
    }


def carried(token_text):
    """Bodies that carry a token in the forms that must be seen."""
    encoded = forms(token_text)
    for shift in range(3):  # as servers write it, with what is before and behind
        encoded["base64.%d" % shift] = base64.b64encode(b"ab:"[:shift] + token_text.encode() + b" end")
    encoded["percent mixed"] = "".join(letter if i % 3 else "%%%02x" % ord(letter)
                                       for i, letter in enumerate(token_text)).encode()
    encoded["json mixed"] = "".join(letter if i % 3 else "\\u%04x" % ord(letter)
                                    for i, letter in enumerate(token_text)).encode()
    return encoded


def plain(data):
    """It with percent and JSON escapes undone, wherever they stand."""
    data = re.sub(rb"%([0-9a-fA-F]{2})", lambda found: bytes([int(found[1], 16)]), data)
    return re.sub(rb"\\u00([0-9a-fA-F]{2})", lambda found: bytes([int(found[1], 16)]), data)


def leaks(data):
    """In which form this has most of the mark of a token, or None."""
    for form, needle in forms(MARK).items():
        if needle in data:
            return form
    for text in (data, plain(data)):
        if any(MARK[i:i + 12].encode() in text for i in range(5)):
            return "most of it"
    return None


# ---- requests ---------------------------------------------------------------------------------------

class Request:
    def __init__(self, name, head):
        self.name = name
        line, *fields = head.split("\r\n")
        self.method, self.target = (line.split(" ") + ["", ""])[:2]
        self.fields = [tuple(part.strip() for part in field.partition(":")[::2]) for field in fields]
        self.is_old = line.endswith("HTTP/1.0")
        self.body, self.trailers, self.is_right = b"", [], False

    def all(self, name):
        return [value for field, value in self.fields if field.lower() == name.lower()]

    def one(self, name, default=""):
        return (self.all(name) or [default])[0]

    @property
    def path(self):
        return urllib.parse.urlsplit(self.target).path


class Seen:
    """What the servers were sent: all bytes, and the requests."""

    def __init__(self):
        self.raw, self.requests, self.open, self.peers = bytearray(), [], 0, set()
        self.lock = threading.Lock()

    def add(self, piece):
        with self.lock:
            self.raw.extend(piece)

    def opened(self, number, peer=None):
        with self.lock:
            self.open += number
            self.peers.add(peer)

    def is_quiet(self, size):
        """Waits until more is there than that, and nobody is connected: nothing more comes. Who has connected is
        accepted before a connection of ours is."""
        end = time.monotonic() + 120
        for port in (443, 8443):
            with servers.socket.create_connection(("::1", port), 120) as ours:
                name = ours.getsockname()[:2]
            while name not in self.peers and time.monotonic() < end:
                time.sleep(0.001)
        while (self.open or self.size() <= size) and time.monotonic() < end:
            time.sleep(0.001)
        return not self.open

    def size(self):
        with self.lock:
            return len(self.raw)

    def after(self, size):
        """What came when so much was there already."""
        with self.lock:
            return bytes(self.raw[size:])


class Gone(Exception):
    pass


class Handler(servers.socketserver.BaseRequestHandler):
    """One connection."""

    seen, script, made, directory = None, b"", {}, ""

    def setup(self):
        name = getattr(self.request, "lazaret_name", "")
        port = self.request.getsockname()[1]
        self.name = name if port == 443 else "%s:%d" % (name, port)
        self.heard, self.is_last = b"", False
        self.request.setsockopt(servers.socket.IPPROTO_TCP, servers.socket.TCP_NODELAY, 1)

    def handle(self):
        try:
            while not self.is_last:
                self.once()
        except (Gone, OSError, ValueError):
            pass

    def more(self):
        piece = self.request.recv(65536)
        if not piece:
            raise Gone
        self.seen.add(piece)
        self.heard += piece

    def until(self, end):
        while end not in self.heard:
            self.more()
        found, _, self.heard = self.heard.partition(end)
        return found

    def exactly(self, size):
        pieces, left = [], size
        while left > len(self.heard):
            pieces.append(self.heard)
            left -= len(self.heard)
            self.heard = b""
            self.more()
        pieces.append(self.heard[:left])
        self.heard = self.heard[left:]
        return b"".join(pieces)

    def once(self):
        request = Request(self.name, self.until(b"\r\n\r\n").decode("latin-1"))
        self.is_last = request.one("Connection").lower() == "close" or request.is_old
        if request.one("Expect").lower() == "100-continue":
            self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if "chunked" in request.one("Transfer-Encoding").lower():
            self.chunks(request)
        else:
            request.body = self.exactly(int(request.one("Content-Length", "0")))
        demand = DEMANDS.get(self.name)
        request.is_right = demand is None or demand.is_met(request)
        with self.seen.lock:
            self.seen.requests.append(request)
        if not request.is_right:
            self.say(request, b"a token is needed\n", 401, [("WWW-Authenticate", 'Basic realm="tests"')])
        else:
            self.answer(request)

    def chunks(self, request):
        while True:
            size = int(self.until(b"\r\n").split(b";")[0], 16)
            if not size:
                break
            request.body += self.exactly(size)
            self.exactly(2)
        while True:
            line = self.until(b"\r\n")
            if not line:
                return
            request.trailers.append(line.decode("latin-1"))

    # ---- answers ----

    def say(self, request, body, status=200, fields=(), kind="text/plain"):
        head = "HTTP/1.1 %d Said\r\nContent-Type: %s\r\nContent-Length: %d\r\n" % (status, kind, len(body))
        head += "".join("%s: %s\r\n" % field for field in fields)
        if self.is_last:
            head += "Connection: close\r\n"
        self.request.sendall(head.encode("latin-1") + b"\r\n" + (b"" if request.method == "HEAD" else body))

    def answer(self, request):
        path = request.path
        if self.name == "git.example.test":
            self.git(request)
        elif self.name == "pypi.example.test":
            kind, body = self.made.get(path, ("text/plain", b""))
            self.say(request, body, 200 if body else 404, kind=kind)
        elif path == "/script":
            self.request.sendall(self.script)
            self.is_last = True
        elif path.startswith("/split/"):
            self.split(*path.split("/")[2:5])
        elif path == "/gzip" and "gzip" in request.one("Accept-Encoding"):
            self.say(request, gzip.compress(b"one text\n" * 9, mtime=0), fields=[("Content-Encoding", "gzip")])
        elif path == "/gzip":
            self.say(request, b"one text\n" * 9)
        elif path == "/range" and request.one("Range").startswith("bytes="):
            self.say(request, b"345", 206, [("Content-Range", "bytes 3-5/10")])
        elif path == "/range":
            self.say(request, b"0123456789")
        elif path == "/chunked":
            self.request.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                                 b"4\r\none \r\n4\r\ntwo \r\n6\r\nthree\n\r\n0\r\nX-Sum: 42\r\n\r\n")
        elif path == "/big":
            self.say(request, servers.BLOCK * int(request.target.rpartition("=")[2] or 1))
        elif path == "/items":
            kind = "application/json"
            self.say(request, request.body if request.method == "POST" else b'[{"id": 1}, {"id": 2}]\n',
                     201 if request.method == "POST" else 200, kind=kind)
        else:
            said = "%s %s %s\n" % (request.method, path, servers.hashlib.sha256(request.body).hexdigest()[:16])
            self.say(request, said.encode("latin-1"))

    def split(self, form, at, how):
        """A body that carries the token, in two pieces."""
        body = b"before " + carried(DEMANDS[self.name].token)[urllib.parse.unquote(form)] + b" behind"
        first, second = body[:int(at)], body[int(at):]
        self.is_last = True
        if how == "chunks":
            self.request.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in (first, second):
                if piece:
                    self.request.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.request.sendall(b"0\r\n\r\n")
            return
        length = b"Content-Length: %d\r\n" % len(body) if how == "length" else b"Connection: close\r\n"
        self.request.sendall(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n" + first)
        self.request.sendall(second)

    def git(self, request):
        url = urllib.parse.urlsplit(request.target)
        environment = {**os.environ, "HOME": self.directory, "GIT_PROJECT_ROOT": os.path.join(self.directory, "git"),
                       "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": url.path, "QUERY_STRING": url.query,
                       "REQUEST_METHOD": request.method, "CONTENT_TYPE": request.one("Content-Type"),
                       "CONTENT_LENGTH": str(len(request.body)), "REMOTE_USER": "tester",
                       "HTTP_CONTENT_ENCODING": request.one("Content-Encoding"),
                       "GIT_PROTOCOL": request.one("Git-Protocol"), "GIT_CONFIG_COUNT": "1",
                       "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        done = subprocess.run(["git", "http-backend"], input=request.body, env=environment, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(fields.pop("Status", "200")[:3])
        kind = fields.pop("Content-Type", "text/plain")
        self.say(request, body, status, fields.items(), kind)


# ---- all together -----------------------------------------------------------------------------------

class Server(servers.Server):
    """Counts connections from when they are accepted to when all of one was read."""

    def process_request(self, request, client_address):
        Handler.seen.opened(1, client_address[:2])
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            Handler.seen.opened(-1)


class Servers:
    """`known`: the directory of certificates that the system knows (those of servers.py)."""

    def __init__(self, directory, known):
        self.directory, self.seen = directory, Seen()
        private = os.path.join(directory, "private")
        os.makedirs(private)
        servers.certificates(private)
        self.private_ca = os.path.join(private, "ca.pem")
        servers.repository(directory)
        subprocess.run(["git", "-C", os.path.join(directory, "git", "tiny.git"), "config", "http.receivepack", "true"],
                       check=True)
        Handler.seen, Handler.made, Handler.directory = self.seen, servers.packages(), directory
        for port, place in ((443, known), (8443, private)):
            server = Server(("::", port), Handler)
            server.context = servers.context(place)
            server.context.minimum_version = ssl.TLSVersion.TLSv1_2
            threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()

    def answers(self, script):
        """From now on /script is answered so."""
        Handler.script = script
