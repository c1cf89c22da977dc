# SPDX-License-Identifier: MIT
"""Clients of other machines, as tests/session/remote.sh has them: `remote.py PART LAZARET DIRECTORY`.

Each part starts a server at a port of its own and talks TLS to it with Python's library, which is
not the one that lazaret uses. What fails is printed; the exit status is 1 then. Nothing here
depends on how fast the machine is: events are waited for, and the test ends when they do not come.
"""

import base64
import json
import os
import re
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

import credential_server

HANG = 600
failures = 0


def check(name, holds, detail=""):
    global failures
    if not holds:
        failures += 1
        print(f"FAILED {name}: {str(detail)[:600]}", flush=True)


class Server:
    """`lazaret serve --listen tls://127.0.0.1:0`, and what it logs."""

    def __init__(self, settings=(), engines=None):
        command = [lazaret, "serve", "-v", "--config", f"{work}/server.toml",
                   "--listen", "tls://127.0.0.1:0"]
        for setting in settings:
            command += ["--set", setting]
        if engines:
            command += ["--engines", str(engines)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, text=True)
        self.lines, self.news = [], threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()
        line = self.said(r"listening at tls://127\.0\.0\.1:(\d+)")
        self.port = int(line.group(1)) if line else 0

    def _listen(self):
        for line in self.process.stderr:
            with self.news:
                self.lines.append(line.rstrip("\n"))
                self.news.notify_all()
        with self.news:
            self.lines.append(None)
            self.news.notify_all()

    def said(self, pattern, since=0):
        """Wait for a line that matches; None when the server has ended without it."""
        with self.news:
            while True:
                for line in self.lines[since:]:
                    if line is None:
                        return None
                    found = re.search(pattern, line)
                    if found:
                        return found
                if not self.news.wait(HANG):
                    raise TimeoutError(pattern)

    def gate(self):
        """The process id of its gate."""
        for pid in os.listdir("/proc"):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    text = file.read()
                if text.split(") ")[1].split()[1] == str(self.process.pid) and "lazaret-gate" in text:
                    return int(pid)
            except (OSError, IndexError):
                continue
        return None

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(HANG)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end()


def context(cert=None, ca="ca"):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.load_verify_locations(f"{work}/{ca}.pem")
    if cert:
        made.load_cert_chain(f"{work}/{cert}.pem", f"{work}/{cert}.key")
    return made


def token(*arguments):
    done = subprocess.run([lazaret, "token", *arguments, "--sign-with", f"{work}/operator"],
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Client:
    """A client that speaks the protocol by hand."""

    def __init__(self, server, bearer=None, cert=None, first=None, greets=True):
        plain = socket.create_connection(("127.0.0.1", server.port), timeout=HANG)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.tls = context(cert).wrap_socket(plain, server_hostname="localhost")
        self.rest, self.id = b"", 0
        if first is not None:
            self.tls.sendall(first)
        elif greets:
            self.send({"type": "authenticate", **({"token": bearer} if bearer else {})})

    def send(self, message):
        self.tls.sendall(json.dumps(message).encode() + b"\n")

    def get(self):
        """The next message; None at the end."""
        while b"\n" not in self.rest:
            try:
                piece = self.tls.recv(1 << 16)
            except (ssl.SSLError, ConnectionError):
                piece = b""
            if not piece:
                return None
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, type_, /, **members):
        """Send a request, and wait for its answer."""
        self.id += 1
        self.send({"type": type_, "id": self.id, **members})
        while True:
            message = self.get()
            if message is None or message.get("id") == self.id and message["type"] in (
                    "opened", "done", "failed", "result", "description", "found"):
                return message

    def run(self, code, **members):
        return self.ask("execute", code=code, **members)

    def close(self):
        self.tls.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def output(result):
    return "".join(piece["text"] for piece in result["result"]["output"]) if result else None


def verdict(result):
    return result["result"]["verdict"]["reason"]


# ---- who may connect ------------------------------------------------------------------------------


def who():
    log = f"{work}/audit.log"
    with Server([f'audit.file="{log}"']) as server:
        bearer = token("alice")
        for how in ({"bearer": bearer}, {"cert": "bob"}):
            with Client(server, **how) as client:
                hello = client.get()
                check("hello", hello and hello["type"] == "hello", hello)
                check("run", output(client.run("print(6 * 7)")) == "42\n")
        check("log", server.said("alice has connected from 127.0.0.1"))
        check("log", server.said("bob has connected"))
        check("log", server.said("alice has disconnected"))
        try:  # before its signature is checked
            with Client(server, cert="dave") as client:
                check("costly", client.get() is None)
        except (ssl.SSLError, ConnectionError):
            pass
        check("costly", server.said("127.0.0.1 was refused: The certificate type"))
        refused = {
            "no credentials": ({}, "token or a certificate"),
            "no token": ({"bearer": "x"}, "not a token"),
            "another key": ({"bearer": forged()}, "no key of this server"),
            "expired": ({"bearer": expired()}, "expired"),
            "another server": ({"bearer": token("alice", "--audience", "other")}, "another server"),
            "certificate of a server": ({"cert": "server"}, "certificate is not accepted"),
            "revoked": ({"cert": "carol"}, "revoked"),
            "of another authority": ({"cert": "mallory"}, "not accepted"),
            "two identities": ({"bearer": bearer, "cert": "bob"}, "another identity"),
            "no first line": ({"first": b'{"type":"execute","id":1,"code":"1"}\n'}, "authenticate"),
            "garbage": ({"first": b"\0\1\2\n"}, "authenticate"),
            "a long line": ({"first": b"x" * 20000}, "first line has more than"),
            "a long token": ({"bearer": "a." * 3000}, ""),
        }
        for name, (how, words) in refused.items():
            with Client(server, **how) as client:
                message = client.get()
                check(name, message and message["type"] == "failed" and
                      message["code"] == "LAZ_EREFUSED" and words in message["message"], message)
                check(name, client.get() is None)
        check("log", server.said("127.0.0.1 was refused: .*expired"))
        with Client(server, bearer=bearer) as client:  # it still works
            check("after", client.get()["type"] == "hello")
        check("status", server.end() == 143)
    with open(log) as file:
        starts = [json.loads(line) for line in file if '"session_start"' in line]
    check("audit", {one["identity"] for one in starts} == {"alice", "bob"}, starts)


def forged():
    subprocess.run([lazaret, "token", "new-key", f"{work}/other"], check=True, capture_output=True)
    done = subprocess.run([lazaret, "token", "alice", "--sign-with", f"{work}/other"],
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


def expired():
    made = token("alice", "--expires", "1")
    time.sleep(2.1)  # the token's time is by the second; a slow machine only makes it older
    return made


def expiry():
    """A connection ends with what has shown who it is."""
    with Server() as server:
        client = Client(server, bearer=token("alice", "--expires", "2"))
        hello = client.get()
        if hello["type"] == "hello":  # it came in time
            message = client.get()
            check("expiry", message and message["type"] == "failed" and "id" not in message and
                  "expired" in message["message"], message)
        check("expiry", client.get() is None)


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], cwd=work, check=True, capture_output=True)


def chain():
    """A connection ends with the first certificate of its chain that ends, whichever that is."""
    with open(f"{work}/between.cnf", "w") as file:
        file.write("[ca]\ndefault_ca = ca\n[ca]\ndatabase = between.txt\ndefault_md = sha256\n"
                   "rand_serial = yes\nnew_certs_dir = .\npolicy = any\nx509_extensions = ext\n"
                   "[any]\ncommonName = supplied\n"
                   "[ext]\nbasicConstraints = critical,CA:TRUE\nkeyUsage = critical,keyCertSign\n")
    with open(f"{work}/between.txt", "w"):
        pass
    with open(f"{work}/leaf.ext", "w") as file:
        file.write("extendedKeyUsage=clientAuth\n")
    new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl(*new, "-subj", "/CN=between", "-keyout", "between.key", "-out", "between.csr")
    openssl(*new, "-subj", "/CN=erin", "-keyout", "erin.key", "-out", "erin.csr")
    with Server() as server:
        ends = time.strftime("%y%m%d%H%M%SZ", time.gmtime(time.time() + 4))
        openssl("ca", "-batch", "-config", "between.cnf", "-cert", "ca.pem", "-keyfile", "ca.key",
                "-enddate", ends, "-notext", "-in", "between.csr", "-out", "between.pem")
        openssl("x509", "-req", "-in", "erin.csr", "-CA", "between.pem", "-CAkey", "between.key",
                "-CAcreateserial", "-days", "20", "-extfile", "leaf.ext", "-out", "leaf.pem")
        with open(f"{work}/erin.pem", "w") as file:
            for name in ("leaf", "between"):
                with open(f"{work}/{name}.pem") as part:
                    file.write(part.read())
        client = Client(server, cert="erin")
        message = client.get()
        if message["type"] == "hello":  # it came in time
            message = client.get()
        check("chain", message and message["type"] == "failed" and "expired" in message["message"],
              message)
        check("chain", client.get() is None)


def renew():
    """Files of the server that change hold for who connects from then on."""
    with open(f"{work}/index.txt", "w"), open(f"{work}/ca.cnf", "w") as file:
        file.write("[ca]\ndefault_ca = ca\n[ca]\ndatabase = index.txt\ndefault_md = sha256\n"
                   "default_crl_days = 20\n")
    ca = ["ca", "-config", "ca.cnf", "-keyfile", "ca.key", "-cert", "ca.pem"]
    with Server() as server:
        bob = Client(server, cert="bob")
        check("before", bob.get()["type"] == "hello")
        gate = server.gate()
        openssl(*ca, "-revoke", "bob.pem")
        openssl(*ca, "-gencrl", "-out", "new.pem")
        os.rename(f"{work}/new.pem", f"{work}/revoked.pem")
        check("read again", server.said("have changed, and were read again"))
        with Client(server, cert="bob") as late:
            message = late.get()
            check("revoked", message["type"] == "failed" and "revoked" in message["message"], message)
        check("who was there", output(bob.run("print(1)")) == "1\n")
        # A file that is wrong changes nothing, however long it is; then it is right again.
        os.rename(f"{work}/server.pem", f"{work}/good.pem")
        os.symlink("server.key", f"{work}/server.pem")
        check("wrong", server.said("what they were stays in force: .*server"))
        with Client(server, bearer=token("alice")) as client:
            check("wrong", client.get()["type"] == "hello")
        since = len(server.lines)
        os.rename(f"{work}/good.pem", f"{work}/server.pem")
        check("right", server.said("were read again", since))
        with Client(server, bearer=token("alice")) as client:
            check("right", client.get()["type"] == "hello")
        check("who was there", output(bob.run("print(2)")) == "2\n")
        bob.close()
        while os.path.exists(f"/proc/{gate}"):  # it ends with its last client
            time.sleep(0.05)
        check("after", server.process.poll() is None and server.gate())
        check("status", server.end() == 143)


def lost():
    """Who is gone, or does not read, holds no place: also where nothing may flow, or time is over."""
    with Server() as server:
        client = Client(server, bearer=token("slow", "--bytes", "1KiB"))
        client.get()
        client.send({"type": "search", "id": 1, "words": "x" * 8000})
        check("lost", server.said("slow has connected"))
        time.sleep(1)  # until its bytes were read: what is reset before is another case
        client.tls.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.tls.close()
        check("lost", server.said("slow has disconnected"))
        client = Client(server, bearer=token("late", "--expires", "5"))
        if client.get()["type"] == "hello":
            client.send({"type": "execute", "id": 1, "output": True,
                         "code": "import time\nfor i in range(9000): print('x' * 1000)\ntime.sleep(9999)"})
            check("unread", server.said("late has disconnected"))  # it reads nothing
        client.close()


# ---- what a remote caller may set -----------------------------------------------------------------


def widen():
    settings = ["session.timeout=600", "session.max_tool_calls=2", "session.max_output_lines=5",
                "session.max_code_length=1000", "session.deadline=1200",
                'network.allow=["https://api.example.com"]', "network.host.ports=[9999]",
                "pool.max_sessions=4", "serve.max_sessions=3"]
    with Server(settings) as server, Client(server, cert="bob") as client:
        client.get()
        # Limits: more than the settings allow becomes what they allow.
        for name, value in (("max_tool_calls", 0), ("max_tool_calls", 3)):
            result = client.run("for i in range(3):\n    danger()\n", **{name: value})
            check(f"{name} {value}", verdict(result) == "tool_limit", result)
        for value in (0, 6, 1 << 50):
            result = client.run("for i in range(50):\n    print(i)", max_output_lines=value)
            check(f"max_output_lines {value}", result["result"]["truncated"], result)
            result = client.run("#" * 2000, max_code_length=value)
            check(f"max_code_length {value}", verdict(result) == "blocked", result)
        # Networks: what the settings do not have.
        for rule in ("evil.example", "*:443", "169.254.169.254:80", "api.example.com:80",
                     "http://api.example.com", "host.lazaret:9998", "127.0.0.1:22",
                     {"name": "x.lazaret:1", "unix": "/run/docker.sock"},
                     {"host": "api.example.com:443", "to": ["10.0.0.0/8"]}):
            for type_, members in (("open", {}), ("execute", {"code": "1"}), ("open_pool", {})):
                answer = client.ask(type_, network=[rule], **members)
                check(f"network {rule} {type_}", answer["type"] == "failed" and
                      answer["code"] in ("LAZ_EREFUSED", "LAZ_EINVAL"), answer)
        session = client.ask("open", network=[])["session"]
        for rule in ("evil.example", "https://api.example.com:8443"):
            answer = client.ask("set_network", session=session, allow=[rule])
            check(f"set_network {rule}", answer["type"] == "failed", answer)
        # Sessions: of the identity, in whatever connection.
        with Client(server, cert="bob") as other:
            other.get()
            check("sessions", other.ask("open")["type"] == "opened")
            check("sessions", other.ask("open")["type"] == "opened")
            answer = other.ask("open")
            check("sessions", answer["type"] == "failed" and "bob can have 3" in answer["message"],
                  answer)
            answer = other.run("1")
            check("sessions", answer["type"] == "failed" and "bob can have 3" in answer["message"],
                  answer)
        # What belongs to the host has no name in the protocol: what is not known is ignored, and
        # nothing of it holds.
        secret = f"{work}/secret"
        with open(secret, "w") as file:
            file.write("of the host")
        client.ask("close", session=session)
        for members in ({"read": [secret]}, {"sandbox": {"read": [secret]}}, {"write": ["/"]},
                        {"cwd": work}, {"directory": work}, {"config": "/etc/lazaret.toml"},
                        {"settings": {"sandbox.read": [work]}},
                        {"backend": "none"}, {"backends": ["none"]},
                        {"programs": "any"}, {"env": {"A": "1"}}, {"secrets": ["x"]},
                        {"audit": "/dev/null"}, {"interpreter": "/bin/sh"},
                        {"limits": {"memory": "unlimited"}}, {"uid": 0},
                        {"pre_execute_hook": ["/bin/true"]}):
            result = client.run(f"import os\ntry:\n    open({secret!r})\n    print('read')\n"
                                "except OSError:\n    print('no')\nprint(os.environ.get('A'))",
                                **members)
            check(f"{members}", output(result) == "no\nNone\n", result)
        for runtime in ("/bin/sh", "../python", "none", "", "python\n"):
            answer = client.ask("open", runtime=runtime)
            check(f"runtime {runtime!r}", answer["type"] == "failed" or
                  verdict(client.run("1", session=answer["session"])) != "ok", answer)
            if answer["type"] == "opened":
                client.ask("close", session=answer["session"])
        for name in ("../x", "/etc/passwd", "a/b", "..", "a\x1bb", ""):
            answer = client.run("1", files=[{"name": name, "data": ""}])
            check(f"file {name!r}", answer["type"] == "failed", answer)
        for name in ("/etc/passwd", "../../etc/passwd"):
            answer = client.run("print(input())", input=name)
            check(f"input {name}", answer["type"] == "failed" or
                  verdict(answer) != "ok", answer)


def credentials():
    """A client of another machine names credentials of the server, and gives no values, files or commands."""
    tokens = credential_server.Tokens(work)
    for name in ("one", "two"):
        with open(f"{work}/{name}.token", "w") as file:
            file.write(tokens.token(name))
        os.chmod(f"{work}/{name}.token", 0o600)
    with open(f"{work}/server.toml", "a") as file:
        file.write(tokens.network() + tokens.credential("one", f'{{ file = "{work}/one.token" }}') +
                   tokens.credential("two", f'{{ file = "{work}/two.token" }}'))
    secret = tokens.token("of the client")
    own = {"host": tokens.host, "header": "Authorization: Bearer {secret}"}
    log = f"{work}/audit.log"
    with Server([f'audit.file="{log}"']) as server, Client(server, cert="bob") as client:
        client.get()
        for given, said in ((["two"], "welcome two"), (["one"], "welcome one"), ([], "who are you")):
            session = client.ask("open", runtime="python", credentials=given)["session"]
            result = client.run(tokens.code(verifies=bool(given)), session=session)["result"]
            check(f"named {given}", result["value"] == said and
                  [one["name"] for one in result["credentials"]] == given, result)
            client.ask("close", session=session)
        result = client.run(tokens.code(), credentials=["two"])["result"]
        check("once", result["value"] == "welcome two", result)
        for what, given, code, words in (
                ("value", {**own, "secret": {"value": secret}}, "LAZ_EREFUSED", "names credentials of the server"),
                ("file", {**own, "secret": {"file": "/etc/shadow"}}, "LAZ_EREFUSED", "names credentials"),
                ("command", {**own, "secret": {"command": ["/bin/id"]}}, "LAZ_EREFUSED", "names credentials"),
                ("text", json.dumps({**own, "secret": {"value": secret}}), "LAZ_EINVAL", "not the name of one"),
                ("unknown", secret, "LAZ_EINVAL", "none of this name")):
            for type_, more in (("open", {}), ("open_pool", {"members": 1}), ("execute", {"code": "1"})):
                answer = client.ask(type_, credentials=["two", given], **more)
                text = json.dumps(answer)
                check(f"refused: {what} {type_}", words in text and "credentials[1]: " in text and secret not in text
                      and (answer.get("code") == code or verdict(answer) == "setup_failed"), answer)
        client.close()
        check("log", server.said("bob has disconnected") and not any(secret in line for line in server.lines if line))
    with open(log) as file:
        text = file.read()
    used = [record["credential"]["name"] for record in map(json.loads, text.splitlines())
            if record["event"] == "credential_used"]
    check("audit", used == ["two", "one", "two"] and secret not in text, used)


def approvals():
    """A client decides on calls of its own tools, not on those of the server."""
    for setting, may in ((), False), (("serve.approvals=true",), True):
        with Server(setting) as server, Client(server, cert="bob") as client:
            client.get()
            client.ask("tools", tools=[{"name": "own", "approve": True}])
            for name, allowed in (("guarded", may), ("own", True)):
                client.id += 1
                client.send({"type": "execute", "id": client.id, "approve": True,
                             "code": f"try:\n    print({name}())\nexcept Exception as e:\n"
                                     "    print('refused', e)"})
                asked = called = False
                while True:
                    message = client.get()
                    if message["type"] == "approval":
                        asked = True
                        client.send({"type": "answer", "call": message["call"], "value": True})
                    elif message["type"] == "tool_call":
                        called = True
                        client.send({"type": "answer", "call": message["call"], "value": "mine"})
                    elif message["type"] == "result":
                        break
                check(f"approval {name} {may}", asked == allowed, message)
                check(f"approval {name} {may}", called == (name == "own"), message)
                check(f"approval {name} {may}",
                      ("refused" in output(message)) == (not allowed), message)
                if not allowed:
                    check("approval", "serve.approvals" in output(message), message)


# ---- limits of an identity ------------------------------------------------------------------------


def limits():
    with Server(["serve.max_connections=2", "serve.requests=50", "serve.cpu=1"]) as server:
        with Client(server, cert="bob") as first, Client(server, cert="bob") as second:
            check("connections", first.get()["type"] == "hello")
            check("connections", second.get()["type"] == "hello")
            with Client(server, cert="bob") as third:
                message = third.get()
                check("connections", "bob has 2 connections" in message["message"], message)
            with Client(server, bearer=token("alice")) as other:
                check("connections", other.get()["type"] == "hello")
                answers = [other.ask("describe", session=1) for _ in range(200)]
                busy = [one for one in answers if one["code"] == "LAZ_EBUSY"]
                check("requests", busy and "alice has used its requests" in busy[0]["message"],
                      answers[-1])
                check("requests", answers[0]["code"] != "LAZ_EBUSY", answers[0])
            # More than a minute has, and than what has come meanwhile, however long it takes.
            burn = ("import time\nbegan = time.monotonic()\n"
                    "while time.{}() < 1.5 + (time.monotonic() - began) / 30: pass\n")
            result = first.run(burn.format("process_time"))
            check("cpu", verdict(result) == "ok", result)
            answer = second.run("1")
            check("cpu", answer["type"] == "failed" and "CPU time" in answer["message"] and
                  answer["code"] == "LAZ_EBUSY", answer)
            for type_ in ("open", "open_pool"):  # what starts takes CPU time as well
                answer = second.ask(type_)
                check(f"cpu {type_}", answer.get("code") == "LAZ_EBUSY", answer)
    # Threads that run on between executions, in a session that is closed: nothing tells of what they
    # use, so it is tried for longer and longer, until they have used a minute's worth.
    with Server(["serve.cpu=1"]) as server, Client(server, cert="bob") as client:
        client.get()
        for seconds in (2, 4, 8, 16, 32, 64, 128):
            answer = client.ask("open")
            if answer["type"] != "opened":
                break
            client.run("import threading\n"
                       "def burn():\n    while True: pass\n"
                       "threading.Thread(target=burn, daemon=True).start()",
                       session=answer["session"])
            time.sleep(seconds)
            client.ask("close", session=answer["session"])
        check("cpu of threads", answer.get("code") == "LAZ_EBUSY", answer)
    # A token narrows: bytes beyond a minute's worth wait.
    with Server() as server:
        bearer = token("alice", "--bytes", "1MiB", "--sessions", "1")
        with Client(server, bearer=bearer) as client:
            client.get()
            check("token sessions", client.ask("open")["type"] == "opened")
            answer = client.ask("open")
            check("token sessions", "alice can have 1" in answer.get("message", ""), answer)
            began = time.monotonic()  # a slow machine takes longer only
            result = client.run("print('x' * (1060 << 10))", session=1)
            took = time.monotonic() - began
            check("bytes", verdict(result) == "ok" and took >= 1, took)


# ---- hostile clients ------------------------------------------------------------------------------


def hostile():
    with Server(["serve.handshake_timeout=600"]) as server:
        good = Client(server, cert="bob")
        check("hello", good.get()["type"] == "hello")
        gate = server.gate()
        check("gate", gate)
        # What the gate may do: no file, process or connection, whatever its code becomes.
        with open(f"/proc/{gate}/status") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        check("seccomp", status["Seccomp"] == "2" and status["NoNewPrivs"] == "1", status)
        check("capabilities", int(status["CapEff"], 16) == 0, status)
        slow = []
        for _ in range(400):  # more strangers than there may be
            try:
                slow.append(socket.create_connection(("127.0.0.1", server.port), timeout=HANG))
                slow[-1].sendall(b"\x16\x03\x01\x02\x00\x01")
            except OSError:
                break
        check("strangers", len(slow) == 400, len(slow))
        with Client(server, bearer=token("alice")) as late:
            check("beside strangers", late.get()["type"] == "hello")
        check("beside strangers", output(good.run("print(1)")) == "1\n")
        check("log", server.said("was refused: too many connections"))
        for one in slow:
            one.close()
        for bytes_ in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100000, b"\x16\x03\x03\x00\x00" * 100,
                       b"\x15\x03\x03\x00\x02\x02\x28", bytes(range(256)) * 64):
            with socket.create_connection(("127.0.0.1", server.port), timeout=HANG) as plain:
                try:
                    plain.sendall(bytes_)
                    plain.shutdown(socket.SHUT_WR)
                    while plain.recv(4096):
                        pass
                except OSError:
                    pass
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        try:
            old.wrap_socket(socket.create_connection(("127.0.0.1", server.port)))
            check("TLS 1.2", False)
        except (ssl.SSLError, OSError):
            pass
        # Lines beyond every bound, half a line, nothing at all, and gone.
        for first in (b'{"type":"authenticate"}\n' + b"[" * 100000 + b"\n",
                      b'{"type":"authenticate"}\n{"type":"open","id":1', b""):
            for how in ("close", "cut"):
                client = Client(server, cert="bob", first=first)
                if how == "cut":
                    os.close(client.tls.detach())
                else:
                    client.close()
        # One that does not read holds up nobody else.
        deaf = Client(server, cert="bob")
        deaf.send({"type": "execute", "id": 1, "output": True,
                   "code": "for i in range(40):\n    print('x' * (1 << 20))"})
        check("beside the deaf", output(good.run("print(2)")) == "2\n")
        check("the gate lives", server.gate() == gate)
        # The gate is replaced, and its clients are told by the end of their connections.
        os.kill(gate, signal.SIGKILL)
        check("end", good.get() is None)
        check("log", server.said("lazaret-gate has ended; it is started again"))
        with Client(server, cert="bob") as again:
            check("again", again.get()["type"] == "hello")
            check("again", output(again.run("print(3)")) == "3\n")
        check("status", server.end() == 143)


def idle():
    """A thousand connections that say nothing, and one that works beside them."""
    with Server(["serve.max_connections=0", "serve.max_clients=2000"], engines=2) as server:
        bearer = token("alice")
        many = [Client(server, bearer=bearer) for _ in range(1000)]
        for one in many:
            check("idle", one.get()["type"] == "hello")
        with Client(server, cert="bob") as client:
            client.get()
            check("beside", output(client.run("print(4)")) == "4\n")
        for one in many:
            one.close()
        check("status", server.end() == 143)


# ---- many at once ---------------------------------------------------------------------------------


def slow():
    """200 handshakes that come in pieces, all at the same time: each succeeds, and who works does."""
    with Server(["serve.handshake_timeout=600", "serve.max_connections=0"]) as server, \
            Client(server, cert="bob") as good:
        check("hello", good.get()["type"] == "hello")
        many = []
        for number in range(200):  # of four addresses: one may have 64
            plain = socket.create_connection(("127.0.0.1", server.port), timeout=HANG,
                                             source_address=(f"127.0.0.{2 + number // 50}", 0))
            read, write = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = context("bob").wrap_bio(read, write, server_hostname="localhost")
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                pass
            many.append((plain, read, write, tls, write.read()))
        for piece in range(8):
            for plain, _, _, _, first in many:
                size = len(first) // 8 + 1
                plain.sendall(first[piece * size:(piece + 1) * size])
            check("beside", output(good.run("print(1)", runtime="lua")) == "1\n")
        for plain, read, write, tls, _ in many:
            while True:
                try:
                    tls.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    plain.sendall(write.read())
                    read.write(plain.recv(1 << 16) or b"")
            tls.write(b'{"type":"authenticate"}\n')
            plain.sendall(write.read())
        for plain, read, write, tls, _ in many:
            line = b""
            while b"\n" not in line:
                try:
                    line += tls.read(1 << 16)
                except ssl.SSLWantReadError:
                    read.write(plain.recv(1 << 16))
            check("slow", b'"hello"' in line, line)
            plain.close()
        check("status", server.end() == 143)


def flood():
    """One identity does nothing but handshakes, on and on; others open, execute and close."""
    with Server(["serve.handshake_timeout=600", "serve.max_connections=8"]) as server:
        stop, done, odd = threading.Event(), [], []

        def shake():
            while not stop.is_set():
                try:
                    with Client(server, cert="bob") as client:
                        message = client.get()
                        done.append(message["type"] if message else None)
                except (ssl.SSLError, OSError) as error:
                    odd.append(error)

        threads = [threading.Thread(target=shake, daemon=True) for _ in range(8)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            with Client(server, bearer=token("alice")) as client:
                check("hello", client.get()["type"] == "hello")
                for _ in range(5):
                    result = client.run("print(6 * 7)", runtime="lua")
                    check("beside", output(result) == "42\n", result)
        begun = len(done)
        while len(done) < begun + 20:
            time.sleep(0.02)
        stop.set()
        for thread in threads:
            thread.join()
        check("flood", len(done) > 50 and set(done) <= {"hello", "failed"}, (len(done), set(done), odd[:3]))
        check("gate", server.gate())
        check("status", server.end() == 143)


def burst():
    """100 fresh sessions are asked for at once, and all are ready and held. Says how long it took, which is
    not judged."""
    with Server(["pool.max_sessions=0", "serve.max_sessions=0"]) as server:
        for runtime, code in (("lua", "return 1"), ("python", "1")):
            with Client(server, cert="bob") as client:
                client.get()
                began = time.monotonic()
                for number in range(1, 101):
                    client.send({"type": "open", "id": number, "runtime": runtime})
                ready = {}
                while len(ready) < 100:
                    message = client.get()
                    if message["type"] == "opened":
                        client.send({"type": "execute", "id": 1000 + message["session"], "code": code,
                                     "session": message["session"]})
                    elif message["type"] == "result":
                        ready[message["id"]] = verdict(message)
                    else:
                        check("burst", False, message)
                        return
                took = time.monotonic() - began
                check("burst", set(ready.values()) == {"ok"}, ready)
                print(f"burst: 100 sessions of {runtime} are ready after {took * 1000:.0f} ms")
        check("status", server.end() == 143)


def bridge():
    """`lazaret connect`: standard input and output are the server."""
    with Server() as server:
        with open(f"{work}/token", "w", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(token("alice") + "\n")

        def connect(*options, lines, address=f"tls://localhost:{server.port}"):
            return subprocess.run([lazaret, "connect", address, *options], input=lines,
                                  capture_output=True, text=True)

        with open(f"{work}/token") as file:
            check("token", len(file.read()) > 100)
        execute = json.dumps({"type": "execute", "id": 1, "code": "print('x' * 300000)"}) + "\n"
        for options in (["--token-file", f"{work}/token"],
                        ["--cert", f"{work}/bob.pem", "--key", f"{work}/bob.key"]):
            process = subprocess.Popen([lazaret, "connect", f"tls://localhost:{server.port}", "--ca",
                                        f"{work}/ca.pem", *options], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
            check("hello", json.loads(process.stdout.readline())["type"] == "hello")
            process.stdin.write(execute)
            process.stdin.flush()
            result = json.loads(process.stdout.readline())
            check("result", len(output(result)) == 300001)
            process.stdin.close()
            check("end", process.stdout.read() == "" and process.wait(HANG) == 0)
        with open(f"{work}/lines", "w") as file:  # a file as standard input
            file.write(json.dumps({"type": "search", "id": 1, "words": "x"}) + "\n")
        with open(f"{work}/lines") as file:
            done = subprocess.run([lazaret, "connect", f"tls://localhost:{server.port}", "--ca",
                                   f"{work}/ca.pem", "--token-file", f"{work}/token"], stdin=file,
                                  capture_output=True, text=True)
        check("file", '"hello"' in done.stdout and done.returncode == 0, done)
        with open(f"{work}/answers", "w+") as answers:
            done = subprocess.run([lazaret, "connect", f"tls://localhost:{server.port}", "--ca",
                                   f"{work}/ca.pem", "--token-file", f"{work}/token"], input="",
                                  text=True, stdout=answers, stderr=subprocess.PIPE, timeout=HANG)
            answers.seek(0)
            check("into a file", done.returncode == 0 and '"hello"' in answers.read(), done)
        done = subprocess.run([lazaret, "connect", f"tls://localhost:{server.port}", "--ca",
                               f"{work}/ca.pem"], input="", capture_output=True, text=True,
                              timeout=HANG)
        check("refused", done.returncode == 126 and '"failed"' in done.stdout, done)
        for options, words in ((["--token-file", f"{work}/token"], "--ca FILE"),
                               (["--ca", f"{work}/ca.pem", "--server-name", "x.example"], "not accepted"),
                               (["--ca", f"{work}/nowhere"], "nowhere"),
                               (["--cert", f"{work}/bob.pem"], "go together")):
            done = connect(*options, lines="")
            check(f"connect {options}", done.returncode != 0 and words in done.stderr, done)
        os.chmod(f"{work}/token", 0o644)
        done = connect("--ca", f"{work}/ca.pem", "--token-file", f"{work}/token", lines="")
        check("mode", "chmod 600" in done.stderr, done)
        done = connect(lines="", address="http://x")
        check("address", done.returncode == 2 and "usage" in done.stderr, done)
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            done = connect(lines="", address=f"tls://127.0.0.1:{unused.getsockname()[1]}")
        check("nobody", done.returncode == 125 and "cannot connect" in done.stderr, done)


def wrong():
    """Configurations that cannot work are refused before anything listens."""
    base = {"certificate": "server.pem", "key": "server.key", "clients": "ca.pem"}
    os.chmod(f"{work}/mallory.key", 0o644)
    rows = (({"certificate": ""}, "needs serve.certificate"),
            ({"clients": ""}, "nobody could connect"),
            ({"certificate": "bob.pem"}, "server.key"),
            ({"key": "nowhere"}, "nowhere"),
            ({"key": "mallory.key"}, "chmod 600"),
            ({"clients": "operator.pub"}, "operator.pub"),
            ({"token_keys": "operator"}, "private key"),
            ({"token_keys": "ca.pem"}, "not a public key"),
            ({"revoked": "ca.pem"}, "ca.pem"))
    for change, words in rows:
        with open(f"{work}/wrong.toml", "w") as file:
            file.write("[serve]\n")
            for key, value in {**base, **change}.items():
                file.write(f'{key} = "{f"{work}/{value}" if value else ""}"\n')
        done = subprocess.run([lazaret, "serve", "--config", f"{work}/wrong.toml", "--listen",
                               "tls://127.0.0.1:0"], capture_output=True, text=True, timeout=HANG)
        check(f"{change}", done.returncode == 2 and words in done.stderr, done)
    for address in ("tls://", "tls://localhost:1", "tls://127.0.0.1", "tls://127.0.0.1:99999",
                    "tls://1.2.3.4.5:80"):
        done = subprocess.run([lazaret, "serve", "--config", f"{work}/server.toml", "--listen",
                               address], capture_output=True, text=True, timeout=HANG)
        check(address, done.returncode == 2 and done.stderr, done)


def tokens():
    """`lazaret token`: what it makes, and what it refuses."""
    made = token("alice", "--expires", "90s", "--audience", "lab", "--sessions", "3", "--cpu-time", "60",
                 "--bytes", "64MiB", "--requests", "600")
    body = json.loads(base64.urlsafe_b64decode(made.split(".")[1] + "=="))
    check("claims", body["sub"] == "alice" and body["aud"] == "lab" and body["lazaret"] == {
        "sessions": 3, "cpu": 60, "bytes": 64 << 20, "requests": 600}, body)
    check("expires", 0 <= body["exp"] - time.time() <= 90, body)
    check("mode", os.stat(f"{work}/operator").st_mode & 0o777 == 0o600)
    for arguments, words in ((["a b"], "not a name"), ([""], "not a name"),
                             (["alice", "--expires", "x"], "not a time"),
                             (["alice", "--expires", "0"], "not a time"),
                             (["alice", "--expires", "99999d"], "not a time"),
                             (["alice", "--sessions", "0"], "--sessions"),
                             (["alice", "--bytes", "many"], "not a size"),
                             (["new-key", f"{work}/operator"], "operator"), ([], "usage"),
                             (["alice", "--sign-with", f"{work}/operator.pub"], "")):
        done = subprocess.run([lazaret, "token", "--sign-with", f"{work}/operator", *arguments],
                              capture_output=True, text=True)
        check(f"token {arguments}", done.returncode and words in done.stderr and not done.stdout, done)
    with open(f"{work}/operator") as file:
        check("kept", "PRIVATE KEY" in file.read())


if __name__ == "__main__":
    part, lazaret, work = sys.argv[1:]
    begun = time.monotonic()
    globals()[part]()
    print(f"{part}: {failures} failed, {time.monotonic() - begun:.1f} s")
    sys.exit(failures > 0)
