# SPDX-License-Identifier: MIT
"""Servers for the tests of the network list: servers.py DIRECTORY [NAME=PORT...].

Listens on every address, on the ports that are given, or on any; prints one line of JSON with the ports, the
names and the files that clients need; ends with its standard input. Besides Python it needs openssl; git, sshd
and PostgreSQL where they are asked for (`git`, `ssh=PORT`, `postgres=PORT`). Nothing in it is safe: it is for a
network that nobody else is in (world.py), or for loopback.

DIRECTORY gets ca.pem, the certificate that signed the servers'; dns.log, a line for each question that the DNS
server was asked; http.log, a line for each request: the server name of TLS, each Host, the target."""

import base64
import hashlib
import http.server
import io
import json
import os
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import tarfile
import threading
import time
import urllib.parse
import zipfile

# ---- names ----------------------------------------------------------------------------------------

# What the DNS server knows: a name, its addresses; "*." is for all names below. Of a name with "|" every
# second question gets what follows it.
PUBLIC, OTHER = "93.184.216.10", "93.184.216.20"
NAMES = {
    **{name + ".example.test": [PUBLIC, "2606:2800:220:1::10"]
       for name in ("api", "web", "plain", "pypi", "npm", "cran", "git", "db", "idle")},
    "*.data.example.test": [PUBLIC],
    "data.example.test": [PUBLIC],
    "other.example.test": [OTHER, "2606:2800:220:1::20"],
    "doh.example.test": [OTHER],
    "*.other.example.test": [OTHER],
    "evildata.example.test": [OTHER],
    "api.example.test.evil.test": [OTHER],
    "xn--pi-7kc.example.test": [OTHER],
    "*.rebind.example.test": [PUBLIC, "|", "127.0.0.1"],
    "mixed.example.test": ["127.0.0.1", "10.1.2.3", PUBLIC],
    "six.example.test": ["2606:2800:220:1::10"],
    "loop.example.test": ["127.0.0.1"],
    "loop6.example.test": ["::1"],
    "zero.example.test": ["0.0.0.0"],
    "private.example.test": ["10.1.2.3"],
    "unique.example.test": ["fd00::1"],
    "link.example.test": ["169.254.7.7"],
    "metadata.example.test": ["169.254.169.254"],
    "cgnat.example.test": ["100.64.0.1"],
    "multicast.example.test": ["224.0.0.5"],
    "mapped.example.test": ["::ffff:127.0.0.1"],
    "nat64.example.test": ["64:ff9b::7f00:1"],
    "sixtofour.example.test": ["2002:7f00:1::1"],
    "false.example.test": ["198.18.0.1"],
    "host.lazaret": ["127.0.0.1"],
}


class Names:
    """Answers from the table, and writes down what it was asked."""

    def __init__(self, log):
        self.log = open(log, "ab", buffering=0)
        self.asked = {}

    def addresses(self, name, is_six):
        known = NAMES.get(name)
        if known is None:
            labels = name.split(".")
            known = next((NAMES[wild] for wild in ("*." + ".".join(labels[i:]) for i in range(1, len(labels)))
                          if wild in NAMES), None)
        if known is None:
            return None
        if "|" in known:
            middle, turn = known.index("|"), self.asked.get((name, is_six), 0)
            self.asked[name, is_six] = turn + 1
            known = known[middle + 1:] if turn % 2 else known[:middle]
        return [address for address in known if (":" in address) == is_six]

    def answer(self, query):
        """The answer to a question, or nothing to what is none."""
        if len(query) < 17:
            return b""
        labels, at = [], 12
        while at < len(query) and query[at]:
            if query[at] > 63:
                return b""
            labels.append(query[at + 1:at + 1 + query[at]])
            at += 1 + query[at]
        end = at + 5
        if end > len(query):
            return b""
        name = b".".join(labels).decode("latin-1").lower()
        kind = struct.unpack(">H", query[at + 1:at + 3])[0]
        self.log.write(("%d %s\n" % (kind, name.encode("unicode_escape").decode())).encode())
        if name.endswith("silent.example.test"):
            return b""
        found = self.addresses(name, kind == 28)
        if found is None:
            return query[:2] + b"\x85\x83" + struct.pack(">4H", 1, 0, 0, 0) + query[12:end]
        family = socket.AF_INET6 if kind == 28 else socket.AF_INET
        records = [b"\xc0\x0c" + struct.pack(">2HIH", kind, 1, 0, 16 if kind == 28 else 4) +
                   socket.inet_pton(family, address) for address in found] if kind in (1, 28) else []
        return (query[:2] + b"\x85\x80" + struct.pack(">4H", 1, len(records), 0, 0) + query[12:end] +
                b"".join(records))


# ---- what package managers fetch -------------------------------------------------------------------

def tarball(files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()


def packages():
    """Paths of a web server with one package each for pip, npm and R: path, (type, body)."""
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        info = "tinypkg-1.0.dist-info/"
        archive.writestr("tinypkg.py", "answer = 42\n")
        archive.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: tinypkg\nVersion: 1.0\n")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\n"
                                         "Tag: py3-none-any\n")
        archive.writestr(info + "RECORD", "tinypkg.py,,\n%sMETADATA,,\n%sWHEEL,,\n%sRECORD,,\n" %
                         (info, info, info))
    npm = tarball({"package/package.json": '{"name":"tinypkg","version":"1.0.0","main":"index.js"}',
                   "package/index.js": "module.exports = 42\n"})
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(npm).digest()).decode()
    described = {"name": "tinypkg", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
        "name": "tinypkg", "version": "1.0.0", "main": "index.js",
        "dist": {"tarball": "https://npm.example.test/tinypkg/-/tinypkg-1.0.0.tgz",
                 "integrity": integrity}}}}
    r_description = "Package: tinypkg\nVersion: 1.0\nTitle: Tiny\nDescription: Tiny.\nLicense: MIT\n" \
                    "Author: Nobody\nMaintainer: Nobody <nobody@example.test>\n"
    r_package = tarball({"tinypkg/DESCRIPTION": r_description, "tinypkg/NAMESPACE": "export(answer)\n",
                         "tinypkg/R/tiny.R": "answer <- function() 42\n"})
    r_index = "Package: tinypkg\nVersion: 1.0\nLicense: MIT\nMD5sum: %s\nNeedsCompilation: no\n\n" % \
        hashlib.md5(r_package).hexdigest()
    name = "tinypkg-1.0-py3-none-any.whl"
    return {
        "/simple/tinypkg/": ("text/html", ('<a href="/files/%s">%s</a>' % (name, name)).encode()),
        "/files/" + name: ("application/zip", wheel.getvalue()),
        "/tinypkg": ("application/json", json.dumps(described).encode()),
        "/tinypkg/-/tinypkg-1.0.0.tgz": ("application/octet-stream", npm),
        "/src/contrib/PACKAGES": ("text/plain", r_index.encode()),
        "/src/contrib/tinypkg_1.0.tar.gz": ("application/gzip", r_package),
    }


# ---- the web server --------------------------------------------------------------------------------

BLOCK = bytes(range(256)) * 256


class Web(http.server.BaseHTTPRequestHandler):
    """Answers whatever host it is asked for, and says which one that was."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    made, log, directory = {}, None, ""
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def server_name(self):
        return getattr(self.connection, "lazaret_name", "")

    def setup(self):
        super().setup()
        if getattr(self.connection, "selected_alpn_protocol", lambda: None)() == "h2":
            self.speak_h2()

    def handle(self):
        if self.connection.fileno() >= 0:
            super().handle()

    def speak_h2(self):
        """Enough of HTTP/2 to say whom a request was for: its header block, if nothing in it is compressed."""
        heard = b""
        while b"\x01\x05" not in heard[24:] and len(heard) < 65536:
            piece = self.connection.recv(4096)
            if not piece:
                break
            heard += piece
            if b":authority" in heard or b"example.test" in heard:
                break
        name = b"other" if b"other.example.test" in heard else b"api"
        self.connection.sendall(b"\0\0\0\4\0\0\0\0\0" + b"\0\0\x20\0\1\0\0\0\1" + (b"host=" + name).ljust(32))
        self.connection.close()

    def say(self, body, kind="text/plain", status=200, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            pieces = []
            while True:
                size = int(self.rfile.readline().split(b";")[0] or b"0", 16)
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
                if not size:
                    return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self):
        hosts = self.headers.get_all("Host") or []
        Web.log.write((json.dumps([self.server_name(), hosts, self.command, self.path]) + "\n").encode())
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        body = b"" if url.path == "/unread" else self.body()
        upgrade = self.headers.get("Upgrade", "").lower()
        if upgrade == "websocket":
            self.speak_websocket()
        elif upgrade == "h2c":
            self.send_response(101)
            self.send_header("Connection", "Upgrade")
            self.send_header("Upgrade", "h2c")
            self.end_headers()
            self.tunnel(None)
        elif self.command == "CONNECT":
            self.connect()
        elif url.path.startswith("/git/"):
            self.run_git(url, body)
        elif url.path in Web.made:
            self.say(Web.made[url.path][1], Web.made[url.path][0])
        elif url.path.startswith("/src/"):
            self.say(b"", status=404)
        elif url.path == "/redirect":
            self.say(b"", status=302, headers=[("Location", query["to"])])
        elif url.path == "/chunked":
            self.chunked()
        elif url.path == "/slow":
            self.slow(float(query.get("pause", "0.1")))
        elif url.path == "/big":
            self.big(int(query["n"]))
        elif url.path == "/dns-query":
            self.say(Web.names.answer(body), "application/dns-message")
        elif url.path == "/sum":
            self.say(hashlib.sha256(body).hexdigest().encode())
        elif self.command == "POST":
            self.say(body)
        else:
            said = "host=%s name=%s target=%s\n" % (",".join(hosts), self.server_name(), self.path)
            self.say(said.encode(errors="replace"))

    do_GET = do_HEAD = do_POST = do_PUT = do_CONNECT = answer

    def chunked(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in (b"one ", b"two ", b"three\n"):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def slow(self, pause):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        for letter in b"slow\n":
            time.sleep(pause)
            self.wfile.write(bytes([letter]))
            self.wfile.flush()

    def big(self, size):
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        while size > 0:
            self.wfile.write(BLOCK[:size])
            size -= len(BLOCK)

    def tunnel(self, there):
        """Both ways until one ends; without another side it is an echo."""
        self.close_connection = True
        if there is None:
            while True:
                piece = self.connection.recv(65536)
                if not piece:
                    return
                self.connection.sendall(piece)

        def copy(source, sink):
            try:
                while True:
                    piece = source.recv(65536)
                    if not piece:
                        break
                    sink.sendall(piece)
                sink.shutdown(socket.SHUT_WR)
            except OSError:
                pass

        back = threading.Thread(target=copy, args=(there, self.connection), daemon=True)
        back.start()
        copy(self.connection, there)
        back.join(10)
        there.close()

    def connect(self):
        host, _, port = self.path.rpartition(":")
        self.send_response(200)
        self.end_headers()
        self.tunnel(socket.create_connection((host, int(port)), 10))

    def speak_websocket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.wfile.flush()
        self.close_connection = True
        while True:
            head = self.rfile.read(2)
            if len(head) < 2 or head[1] & 127 > 125:
                return
            mask = self.rfile.read(4)
            text = bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.rfile.read(head[1] & 127)))
            self.connection.sendall(bytes([head[0], len(text)]) + text)
            if head[0] & 15 == 8:
                return

    def run_git(self, url, body):
        environment = {**os.environ, "HOME": Web.directory, "GIT_PROJECT_ROOT": os.path.join(Web.directory, "git"),
                       "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": url.path[len("/git"):],
                       "QUERY_STRING": url.query, "REQUEST_METHOD": self.command,
                       "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
                       "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                       "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                       "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE,
                              check=False)
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        headers = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n") if ": " in line]
        status = next((int(value[:3]) for name, value in headers if name == "Status"), 200)
        kind = next((value for name, value in headers if name == "Content-Type"), "text/plain")
        self.say(answer, kind, status)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 512
    address_family = socket.AF_INET6
    context = None

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def finish_request(self, request, client_address):
        if not self.context:
            self.RequestHandlerClass(request, client_address, self)
            return
        request.settimeout(60)
        try:
            if request.recv(1, socket.MSG_PEEK) != b"\x16":  # no TLS: as some servers do
                self.RequestHandlerClass(request, client_address, self)
                return
            with self.context.wrap_socket(request, server_side=True) as inside:
                self.RequestHandlerClass(inside, client_address, self)
        except (OSError, ValueError):
            pass # of a client that has gone, or is none

    def handle_error(self, request, client_address):
        pass

    def shutdown_request(self, request):
        try:
            super().shutdown_request(request)
        except OSError:
            pass


class Named(ssl.SSLSocket):
    """What a server accepts: it keeps the name that the client has asked for."""
    lazaret_name = ""


class Echo(socketserver.BaseRequestHandler):
    """Says back what it hears; to "where" at the beginning of a piece it says at which address it was reached."""

    def handle(self):
        while True:
            piece = self.request.recv(262144)
            if not piece:
                return
            if piece.startswith(b"where\n"):
                address = self.request.getsockname()[0]
                piece = address.removeprefix("::ffff:").encode() + b"\n"
            self.request.sendall(piece)


class DnsStream(socketserver.BaseRequestHandler):
    def handle(self):
        stream = self.request.makefile("rb")
        while True:
            head = stream.read(2)
            if len(head) < 2:
                return
            answer = Web.names.answer(stream.read(struct.unpack(">H", head)[0]))
            self.request.sendall(struct.pack(">H", len(answer)) + answer)


# ---- what is made before ---------------------------------------------------------------------------

def openssl(directory, *arguments):
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def certificates(directory):
    """A CA (ca.pem), and a certificate of it for all names that servers here have (server.pem)."""
    with open(os.path.join(directory, "server.cnf"), "w", encoding="ascii") as file:
        file.write("subjectAltName=DNS:*.example.test,DNS:*.data.example.test,DNS:localhost,DNS:host.lazaret,"
                   "IP:127.0.0.1\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl(directory, "req", "-x509", *curve, "-days", "30", "-keyout", "ca.key", "-out", "ca.pem", "-subj",
            "/CN=Test CA of the network list", "-addext", "basicConstraints=critical,CA:TRUE", "-addext",
            "keyUsage=critical,keyCertSign,cRLSign")
    openssl(directory, "req", *curve, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=example.test")
    openssl(directory, "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "20",
            "-CAcreateserial", "-extfile", "server.cnf", "-out", "server.pem")
    os.chmod(os.path.join(directory, "ca.pem"), 0o644)


def context(directory):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.sslsocket_class = Named
    made.load_cert_chain(os.path.join(directory, "server.pem"), os.path.join(directory, "server.key"))
    made.set_alpn_protocols(["http/1.1", "h2"])

    def named(connection, name, _):
        connection.lazaret_name = name or ""

    made.sni_callback = named
    return made


def repository(directory):
    """A bare repository with one commit: DIRECTORY/git/tiny.git."""
    place = os.path.join(directory, "git")
    os.makedirs(place)
    environment = {"PATH": os.environ["PATH"], "HOME": place, "GIT_CONFIG_NOSYSTEM": "1",
                   "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.test", "GIT_COMMITTER_NAME": "a",
                   "GIT_COMMITTER_EMAIL": "a@example.test"}

    def git(*words, text=None):
        return subprocess.run(["git", *words], cwd=place, env=environment, check=True, input=text,
                              stdout=subprocess.PIPE, text=True).stdout.strip()

    git("init", "-q", "--bare", "-b", "main", "tiny.git")
    blob = git("-C", "tiny.git", "hash-object", "-w", "--stdin", text="42\n")
    tree = git("-C", "tiny.git", "mktree", text="100644 blob %s\tanswer.txt\n" % blob)
    commit = git("-C", "tiny.git", "commit-tree", tree, "-m", "one")
    git("-C", "tiny.git", "update-ref", "refs/heads/main", commit)


TESTER = 61234  # the user that world.py adds; sshd and PostgreSQL look their user up


def ordinary():
    """The words before a command that make it an ordinary user's, and the user's id here."""
    if os.geteuid() != 0:
        return [], os.geteuid()
    with open("/proc/self/uid_map", encoding="ascii") as file:
        has_many = int(file.read().split()[2]) > 1
    if has_many:
        return ["setpriv", "--reuid=%d" % TESTER, "--regid=%d" % TESTER, "--clear-groups"], TESTER
    return ["unshare", "-U", "--map-user=%d" % TESTER, "--map-group=%d" % TESTER], 0


def give(path, uid):
    if uid != os.geteuid():
        os.chown(path, uid, uid)


class Ssh:
    """sshd for each connection, as an ordinary user, with keys of its own: DIRECTORY/ssh."""

    def __init__(self, directory):
        self.before, uid = ordinary()
        self.place = place = os.path.join(directory, "ssh")
        os.mkdir(place)
        give(place, uid)
        for name in ("host", "user"):
            path = os.path.join(place, name)
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path], check=True)
            give(path, uid)
        with open(os.path.join(place, "sshd_config"), "w", encoding="utf-8") as file:
            file.write("HostKey %s/host\nAuthorizedKeysFile %s/user.pub\nStrictModes no\nUsePAM no\n"
                       "PasswordAuthentication no\nPidFile none\n"
                       "SetEnv GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=*\n" %
                       (place, place))
        self.sshd = next(path for path in ("/usr/sbin/sshd", "/usr/local/sbin/sshd") if os.path.exists(path))

    def known(self, name, port):
        with open(os.path.join(self.place, "host.pub"), encoding="ascii") as file:
            return "%s %s" % (name if port == 22 else "[%s]:%d" % (name, port), file.read())

    def handler(self):
        command = [*self.before, self.sshd, "-i", "-e", "-f", os.path.join(self.place, "sshd_config")]

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                subprocess.run(command, stdin=self.request.fileno(), stdout=self.request.fileno(),
                               stderr=subprocess.DEVNULL, check=False)

        return Handler


class Postgres:
    """A cluster of its own without passwords, as an ordinary user: DIRECTORY/postgres."""

    def __init__(self, directory, port):
        before, uid = ordinary()
        place = os.path.join(directory, "postgres")
        os.mkdir(place, 0o700)
        give(place, uid)
        data = os.path.join(place, "data")
        programs = self.programs()
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        subprocess.run([*before, programs + "initdb", "-D", data, "-U", "tester", "-A", "trust", "-N",
                        "--no-instructions", "-E", "UTF8"], env=environment, cwd=place, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        with open(os.path.join(data, "pg_hba.conf"), "w", encoding="ascii") as file:
            file.write("local all all trust\nhost all all 0.0.0.0/0 trust\nhost all all ::/0 trust\n")
        self.process = subprocess.Popen(
            [*before, programs + "postgres", "-D", data, "-p", str(port), "-k", place, "-c", "listen_addresses=*",
             "-c", "fsync=off", "-c", "shared_buffers=1MB", "-c", "max_connections=10"], env=environment, cwd=place,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            if self.process.poll() is not None:
                raise RuntimeError("postgres ended with status %d" % self.process.returncode)
            if subprocess.run([programs + "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)],
                              check=False).returncode == 0:
                return
            time.sleep(0.05)

    @staticmethod
    def programs():
        versions = "/usr/lib/postgresql"
        for version in sorted(os.listdir(versions) if os.path.isdir(versions) else [], reverse=True):
            if os.path.exists("%s/%s/bin/initdb" % (versions, version)):
                return "%s/%s/bin/" % (versions, version)
        return ""

    def end(self):
        self.process.terminate()
        self.process.wait()


# ---- all together ----------------------------------------------------------------------------------

class Servers:
    """All of them; `ports`: name, port (0: any). Names: https, https2, http, echo, host, unlisted, full, udp,
    quic, dns, ssh, postgres."""

    ALWAYS = ("https", "https2", "http", "echo", "host", "unlisted", "full", "udp", "dns")

    def __init__(self, directory, ports):
        self.directory, self.ports, self.files = directory, {}, {}
        self.end_of, self.kept = [], []
        certificates(directory)
        Web.directory = directory
        Web.made = packages()
        Web.log = open(os.path.join(directory, "http.log"), "ab", buffering=0)
        Web.names = Names(os.path.join(directory, "dns.log"))
        wanted = {**dict.fromkeys(self.ALWAYS, 0), **ports}
        makers = {"https": self.web, "https2": self.web, "http": self.web, "echo": self.echo, "host": self.echo,
                  "unlisted": self.echo, "full": self.full, "udp": self.datagrams, "quic": self.datagrams,
                  "dns": self.dns, "git": lambda name, port: repository(directory), "ssh": self.ssh, "postgres": self.postgres}
        for name, port in wanted.items():
            made = makers[name](name, port)
            if made:
                self.ports[name] = made

    def serve(self, handler, port, tls=None):
        server = Server(("::", port), handler)
        server.context = tls
        threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
        return server.server_address[1]

    def web(self, name, port):
        return self.serve(Web, port, context(self.directory) if name.startswith("https") else None)

    def echo(self, _, port):
        return self.serve(Echo, port)

    def full(self, _, port):
        """A port where whoever connects hears nothing: its queue is full."""
        listening = socket.socket(socket.AF_INET)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("", port))
        listening.listen(0)
        waiting = [socket.socket(socket.AF_INET) for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", listening.getsockname()[1]))
        self.kept += [listening, *waiting]
        return listening.getsockname()[1]

    def datagrams(self, _, port):
        return self.listen_to_datagrams(port, lambda piece: piece)

    def listen_to_datagrams(self, port, answer):
        # Of each family one: an answer has to come from the address that was asked
        sockets = []
        for family in (socket.AF_INET, socket.AF_INET6):
            made = socket.socket(family, socket.SOCK_DGRAM)
            if family == socket.AF_INET6:
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
                made.setsockopt(socket.IPPROTO_IPV6, 78, 1)  # IPV6_FREEBIND
            else:
                made.setsockopt(socket.IPPROTO_IP, 8, 1)  # IP_PKTINFO
            made.bind(("", port))
            port = made.getsockname()[1]
            sockets.append(made)

        def loop(listening):
            while True:
                piece, control, _, sender = listening.recvmsg(65536, 256)
                said = answer(piece)
                level, kind, info = control[0]
                if level == socket.IPPROTO_IP:  # struct in_pktinfo: from where it was sent to
                    info = struct.pack("=i4s4s", 0, info[8:12], b"\0\0\0\0")
                if said:
                    try:
                        listening.sendmsg([said], [(level, kind, info)], 0, sender)
                    except OSError:
                        pass

        for made in sockets:
            threading.Thread(target=loop, args=(made,), daemon=True).start()
        return port

    def dns(self, _, port):
        port = self.serve(DnsStream, port)
        return self.listen_to_datagrams(port, lambda piece: Web.names.answer(piece))

    def ssh(self, _, port):
        made = Ssh(self.directory)
        port = self.serve(made.handler(), port)
        self.files["ssh_key"] = os.path.join(made.place, "user")
        self.files["ssh_known"] = made.known("git.example.test", port)
        return port

    def postgres(self, _, port):
        if not port:
            with socket.create_server(("127.0.0.1", 0)) as probe:
                port = probe.getsockname()[1]
        self.end_of.append(Postgres(self.directory, port).end)
        return port

    def said(self):
        return {"ports": self.ports, "files": self.files, "ca": os.path.join(self.directory, "ca.pem"),
                "dns_log": os.path.join(self.directory, "dns.log"),
                "http_log": os.path.join(self.directory, "http.log")}

    def end(self):
        for end in self.end_of:
            end()


def main():
    directory = os.path.abspath(sys.argv[1])
    os.makedirs(directory, exist_ok=True)
    ports = {}
    for word in sys.argv[2:]:
        name, _, port = word.partition("=")
        ports[name] = int(port or 0)
    servers = Servers(directory, ports)
    try:
        print(json.dumps(servers.said()), flush=True)
        while sys.stdin.buffer.read1(4096):
            pass
    finally:
        servers.end()
    os._exit(0)


if __name__ == "__main__":
    main()
