# SPDX-License-Identifier: MIT
"""Credentials that code uses and never sees: credentials.py LAZARET [--only PART] [--row TEXT], within
world.py --with own; --outside: only what is done without a box; --repeated: only one program of each language, and
what is done in sessions.

The servers are those of credential_servers.py, which demand tokens. Everything is done twice: without a box and with
the token, which shows that the test can tell; and in sessions, which have no token. Parts: requests and answers that
are made to be understood in two ways (credentials_raw.txt); a token in an answer that is cut at each byte; programs
(credentials.txt); placeholders; by hand (--only costs) what a credential costs; at last a search for a token in all that sessions have, and in all that was said of
them (credential_marks.py). LAZARET_TEST_FULL=yes: all rows and cuts."""

import base64
import concurrent.futures
import json
import logging
import os
import random
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import credential_servers
import programs
import world
from credential_servers import DEMANDS, HOSTS, leaks

HERE = os.path.dirname(os.path.abspath(__file__))
FULL = os.environ.get("LAZARET_TEST_FULL") == "yes"
ALLOW = ["https://api.example.test", "https://api.example.test:8443", "https://git.example.test",
         "https://pypi.example.test", "https://*.data.example.test", "http://web.example.test",
         "https://unknown.data.example.test:8443", "https://wrong.other.example.test"]

# What the code of a session does with a row, and this process as well.
REACH = r'''
import base64, socket, ssl

TRUST = ssl.create_default_context()

def raw(host, data, port=443):
    """Sends it over TLS; all that is answered. The machine may be busy: silence that lasts is an error."""
    said = b""
    try:
        with TRUST.wrap_socket(socket.create_connection((host, port), 60), server_hostname=host) as stream:
            try:
                for at in range(0, len(data), 16384):
                    stream.sendall(data[at:at + 16384])
            except TimeoutError:
                return b"(silence)"
            except OSError:
                pass # refused meanwhile: what was answered may be there nevertheless
            while True:
                piece = stream.recv(65536)
                if not piece:
                    break
                said += piece
    except TimeoutError:
        return said + b"(silence)"
    except OSError:
        pass
    return said

def tell(*all):
    for said in all:
        print(base64.b64encode(said).decode())
'''
exec(REACH)

# Microseconds: of a handshake, of a first request with it, of a later one on a connection that is kept.
COSTS = r'''
import json, statistics, time
NAMES = {"credential": %r, "spliced": %r}
def opened(name):
    stream = socket.create_connection((name, 443), 60)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return TRUST.wrap_socket(stream, server_hostname=name)
def asks(stream, name):
    stream.sendall(b"GET / HTTP/1.1\r\nHost: %%s\r\n\r\n" %% name.encode())
    said = b""
    while b"\r\n\r\n" not in said:
        said += stream.recv(65536)
    head, _, body = said.partition(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length:")[2].split()[0])
    while len(body) < size:
        body += stream.recv(65536)
took = {kind: {"handshake": [], "first": [], "later": []} for kind in NAMES}
for turn in range(310):
    for kind, name in NAMES.items():
        start = time.perf_counter()
        stream = opened(name)
        middle = time.perf_counter()
        asks(stream, name)
        end = time.perf_counter()
        stream.close()
        if turn >= 10:
            took[kind]["handshake"].append(middle - start)
            took[kind]["first"].append(end - start)
kept = {kind: opened(name) for kind, name in NAMES.items()}
for turn in range(3100):
    for kind, name in NAMES.items():
        start = time.perf_counter()
        asks(kept[kind], name)
        if turn >= 100:
            took[kind]["later"].append(time.perf_counter() - start)
print(json.dumps({kind: {what: round(statistics.median(all) * 1e6) for what, all in times.items()}
                  for kind, times in took.items()}))
'''


# ---- rows -------------------------------------------------------------------------------------------

def wire(text):
    """The bytes that a part of credentials_raw.txt stands for."""
    lines = text.removesuffix("\n").split("\n")
    text = "".join(line[:-1] if re.search(r"(?<!\\)(\\\\)*\\$", line) else line + r"\r\n" for line in lines)
    text = re.sub(r"<([^<>]*)\*(\d+)>", lambda found: found[1] * int(found[2]), text)
    bare = {"r": "\r", "n": "\n", "t": "\t", "0": "\0", "\\": "\\"}
    text = re.sub(r"\\(?:x([0-9a-f]{2})|([rnt0\\]))",
                  lambda found: chr(int(found[1], 16)) if found[1] else bare[found[2]], text)
    return text.encode("latin-1")


class Row:
    def __init__(self, block):
        head, _, rest = block.partition("\n")
        self.title, host, self.outcome = (word.strip() for word in head.split("|"))
        self.host, self.demand = HOSTS[host], DEMANDS[HOSTS[host]]
        rest, _, self.answer = rest.partition("-- answer\n")
        request, _, sees = rest.partition("-- sees\n")
        self.sees = sees.splitlines()
        request = request or "GET /script HTTP/1.1\nHost: $HOST\nConnection: close\n\n"
        self.request = wire(request).replace(b"$HOST", self.host.encode())

    def with_token(self):
        """The request as somebody sends it who has the token."""
        if self.demand.kind == "query":
            parted = self.request.replace(b"?key=own-one&", b"?").split(b" ", 2)
            parted[1] += (b"&" if b"?" in parted[1] else b"?") + b"key=" + self.demand.token.encode()
            return b" ".join(parted)
        name, _, _ = self.demand.field().partition(":")
        bare = self.request
        if self.outcome.isdigit():
            bare = re.sub(rb"(?im)^%s: .*\r\n" % name.encode(), b"", bare)
        return re.sub(rb"(?i)(Host: %s(?::443)?\r\n)" % re.escape(self.host.encode()),
                      lambda found: found[1] + self.demand.field().encode() + b"\r\n", bare)

    def answered(self):
        """What the server answers."""
        token = self.demand.token
        texts = {"$TOKEN": token.encode(), "$ALL": bytes(range(256)), "$SOME": token[:12].encode(),
                 **{"$" + name.upper(): credential_servers.forms(token)[name] for name in ("json", "percent")},
                 "$BASE64": base64.b64encode(b"a user:" + token.encode())}
        made = wire(self.answer)
        for name, text in texts.items():
            made = made.replace(name.encode(), text)
        return made.replace(b"$LENGTH", b"%d" % len(made.partition(b"\r\n\r\n")[2]))


def short(data):
    """An expression of Python for it, in which what is long does not stand as it is."""
    return re.sub(r"(\w)\1{999,}|(0123456789){100,}", lambda found: "' + %s * %d + b'" % (
        ("b'%s'" % found[1], len(found[0])) if found[1] else ("b'0123456789'", len(found[0]) // 10)), repr(data))


def rows(only):
    with open(os.path.join(HERE, "credentials_raw.txt"), encoding="utf-8") as file:
        made = [Row(block) for block in re.split(r"^== ", file.read(), flags=re.MULTILINE)[1:]]
    return [row for row in made if only in row.title]


def parts_of(answer):
    """First line, headers without those about the connection, body, trailers of an answer that is right."""
    head, _, body = answer.partition(b"\r\n\r\n")
    if re.match(rb"HTTP/1.1 1[0-9][0-9]", head):
        return [head, parts_of(body)]
    line, *fields = head.split(b"\r\n")
    trailers = b""
    if any(field.lower().replace(b" ", b"") == b"transfer-encoding:chunked" for field in fields):
        whole = b""
        while True:
            size, _, body = body.partition(b"\r\n")
            if not int(size or b"0", 16):
                break
            whole, body = whole + body[:int(size, 16)], body[int(size, 16) + 2:]
        trailers, body = body, whole
    about = (b"connection:", b"keep-alive:")
    return [line, [field for field in fields if not field.lower().startswith(about)], body, trailers]


class Tests:
    """What was found wrong, and the servers."""

    def __init__(self, is_repeated):
        self.is_repeated = is_repeated
        with open(os.environ["LAZARET_WORLD"], encoding="utf-8") as file:
            self.said = json.load(file)
        self.directory = os.path.join(os.path.dirname(os.environ["LAZARET_WORLD"]), "credentials")
        os.mkdir(self.directory)
        self.servers = credential_servers.Servers(self.directory, os.path.dirname(self.said["ca"]))
        self.seen = self.servers.seen
        self.failures, self.count, self.logged = [], 0, []
        self.token_file = None
        self.audit, self.reach = os.path.join(self.directory, "audit.log"), REACH

    def wrong(self, name, what):
        self.failures.append("%s: %s" % (name, what))
        print("FAILED %s: %s" % (name, what), flush=True)

    # ---- requests ----

    def arrives(self, row):
        """Without a box: the server sees each byte, and understands what is right."""
        data = row.with_token()
        before, known = self.seen.size(), len(self.seen.requests)
        if row.outcome.isdigit():
            raw(row.host, data)
            self.understood(row, known, "direct")
            return
        try:
            with socket.create_connection((row.host, 443), 120) as plain, \
                    TRUST.wrap_socket(plain, server_hostname=row.host) as stream:
                stream.sendall(data)
                stream.settimeout(0.01)
                end = time.monotonic() + 120
                while data not in self.seen.after(before) and time.monotonic() < end:
                    try:
                        if not stream.recv(65536):
                            break
                    except TimeoutError:
                        pass
        except OSError:
            pass # the server has closed
        if not self.seen.is_quiet(before) or self.seen.size() - before < min(len(data), 20):
            self.wrong(row.title, "direct: the server has seen %d bytes" % (self.seen.size() - before))

    def understood(self, row, known, how):
        requests = self.seen.requests[known:]
        right = [request for request in requests if request.is_right and request.name == row.host]
        want = 1 if row.outcome == "first" else int(row.outcome)
        if len(right) != want or len(requests) != want:
            self.wrong(row.title, "%s: %d requests, %d of them right" % (how, len(requests), len(right)))

    def request(self, session, row):
        """In a session."""
        before, known = self.seen.size(), len(self.seen.requests)
        result = session.execute("tell(raw(%r, %s))" % (row.host, short(row.request)), check=False)
        answer = base64.b64decode(result.stdout or "")
        if not self.seen.is_quiet(-1):
            self.wrong(row.title, "the connection to the server was left open")
        sent = self.seen.after(before)
        self.told(row.title, result, answer)
        if row.outcome.isdigit():
            self.understood(row, known, "boxed")
            if result.denials or result.error or not re.match(rb"HTTP/1.1 (100|2)", answer):
                self.wrong(row.title, "%s %s, answer %r" % (result.denials, result.error, answer[:200]))
            for text in row.sees:
                if (text.removeprefix("!").encode() in sent) == text.startswith("!"):
                    self.wrong(row.title, "not so: the server sees %s: %r" % (text, sent[:400]))
            return
        if row.outcome == "first":
            self.understood(row, known, "boxed")
            if b"SMUGGLED" in sent:
                self.wrong(row.title, "the second request has arrived")
        elif row.outcome == "cut" and len(self.seen.requests) > known:
            self.wrong(row.title, "the server has seen a whole request: %r" % sent[-300:])
        elif row.outcome == "refused" and sent:
            self.wrong(row.title, "the server has seen %r" % sent[:300])
        if not result.denials or any(denial["what"] != "credential" for denial in result.denials):
            self.wrong(row.title, "denials %s; answer %r" % (result.denials, answer[:200]))

    def told(self, title, result, answer=b""):
        """Nothing of it has a token, nor was anybody left waiting."""
        form = leaks(answer) or leaks(repr(result).encode())
        if form:
            self.wrong(title, "the code sees the token: %s: %r" % (form, answer[:300]))
        if b"(silence)" in answer:
            self.wrong(title, "nothing was answered for long")

    # ---- answers ----

    def answer(self, session, row):
        """Without a box, with the token, and in a session if there is one."""
        self.servers.answers(row.answered())
        direct = raw(row.host, row.with_token())
        shown = b"END" in direct
        carries = "$TOKEN" in row.answer or "$BASE64" in row.answer or "$JSON" in row.answer or \
            "$PERCENT" in row.answer
        if not shown or (carries and not leaks(direct)):
            self.wrong(row.title, "direct: %r" % direct[:200])
        if session is None:
            return
        result = session.execute("tell(raw(%r, %r))" % (row.host, row.request), check=False)
        boxed = base64.b64decode(result.stdout or "")
        if row.outcome != "same":
            self.told(row.title, result, boxed)
        if row.outcome in ("clean", "withheld") and (b"END" in boxed) != (row.outcome == "clean"):
            self.wrong(row.title, "the code sees %r" % boxed[:300])
        if row.outcome == "clean" and boxed.split(b"\r\n")[0] != direct.split(b"\r\n")[0] and b" 103 " not in direct:
            self.wrong(row.title, "another answer: %r" % boxed[:300])
        if row.outcome == "same" and parts_of(boxed) != parts_of(direct):
            self.wrong(row.title, "%r, not %r" % (boxed[:300], direct[:300]))

    def cuts(self, session):
        """A token in a body that comes in two pieces, each of which can be the shorter one."""
        host = HOSTS["bad"]
        bodies = credential_servers.carried(DEMANDS[host].token)
        cases = [(form, at, how) for form, body in bodies.items() for at in range(len(body) + 8)
                 for how in ("length", "chunks", "close")]
        if not FULL:
            seed = int(os.environ.get("LAZARET_TEST_SEED") or random.randrange(1 << 31))
            print("LAZARET_TEST_SEED=%d" % seed)
            cases = cases[seed % 31::31]
        paths = ["/split/%s/%d/%s" % (form.replace(" ", "%20"), at, how) for form, at, how in cases]
        request = "GET %s HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n"
        token = DEMANDS[host].field() + "\r\n\r\n"
        for path in paths[::37]:
            if b"behind" not in raw(host, (request % path + token).encode()):
                self.wrong("cuts", "direct: %s" % path)
        self.count += len(paths)
        if session is None:
            return
        for first in range(0, len(paths), 400):
            some = paths[first:first + 400]
            known = len(self.seen.requests)
            result = session.execute("tell(*[raw(%r, (%r %% path).encode()) for path in %r])" %
                                     (host, request + "\r\n", some), check=False)
            answers = [base64.b64decode(line) for line in result.stdout.split()]
            if len(answers) != len(some) or len(self.seen.requests) - known != len(some):
                self.wrong("cuts", "%d answers, %d requests: %s" %
                           (len(answers), len(self.seen.requests) - known, result.error))
            self.told("cuts", result)
            for path, answer in zip(some, answers):
                self.told(path, None, answer)
                if b"behind" in answer:
                    self.wrong(path, "the code sees what is behind the token: %r" % answer[:300])

    # ---- servers ----

    def strangers(self, session):
        """A server whose certificate is not right gets nothing. Without a box it would get the token."""
        for name in ("unknown.data.example.test:8443", "wrong.other.example.test"):
            self.count += 1
            host, _, port = name.partition(":")
            request = ("GET /a HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n" % name).encode()
            blind = ssl.create_default_context()
            blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
            known = len(self.seen.requests)
            with socket.create_connection((host, int(port or 443)), 60) as plain, \
                    blind.wrap_socket(plain, server_hostname=host) as stream:
                stream.sendall(request + DEMANDS[name].field().encode() + b"\r\n\r\n")
                while stream.recv(4096):
                    pass
            if len(self.seen.requests) != known + 1 or not self.seen.requests[-1].is_right or \
                    raw(host, request, int(port or 443)):
                self.wrong(name, "direct: not as it should be")
            before = self.seen.size()
            result = session.execute("tell(raw(%r, %r, %s))" % (host, request + b"\r\n", port or 443), check=False)
            self.told(name, result, base64.b64decode(result.stdout or ""))
            if self.seen.size() != before or not any("certificate" in str(denial) for denial in result.denials):
                self.wrong(name, "%r %s" % (self.seen.after(before), result.denials))

    # What code does with a socket to a host of a credential, other than what a client does; {} is the request.
    ODD = {
        "the name of another host in TLS":
            "stream = blind.wrap_socket(plain, server_hostname='git.example.test')",
        "no name in TLS": "stream = blind.wrap_socket(plain)",
        "no TLS": "stream = plain",
        "TLS 1.1":
            "blind.minimum_version = ssl.TLSVersion.TLSv1\nblind.maximum_version = ssl.TLSVersion.TLSv1_1\n"
            "blind.set_ciphers('ALL:@SECLEVEL=0')\nstream = blind.wrap_socket(plain, server_hostname=host)",
        "HTTP/2 alone, agreed on in TLS":
            "blind.set_alpn_protocols(['h2'])\nstream = blind.wrap_socket(plain, server_hostname=host)\n"
            "request = b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n' + bytes(9)",
    }

    def odd(self, session):
        """Nothing of that reaches a server, which it does without a box, but for old TLS."""
        host = HOSTS["api"]
        begun = "import ssl, socket\nhost, request = %r, b'GET /a HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n'\n" \
            "blind = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)\n" \
            "blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE\n" \
            "try:\n    plain = socket.create_connection((host, 443), 60)\n" % (host, host)
        ended = "    stream.sendall(request)\n    stream.recv(9)\n    stream.close()\n" \
            "except TimeoutError:\n    print('silence')\nexcept OSError as error:\n    print(error)\n"
        for title, code in self.ODD.items():
            self.count += 1
            whole = begun + "".join("    %s\n" % line for line in code.split("\n")) + ended
            before = self.seen.size()
            done = subprocess.run([sys.executable, "-c", whole.replace("stream.recv(9)", "plain.settimeout(60)\n"
                                   "    stream.settimeout(60)\n    stream.recv(9)")], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.seen.is_quiet(-1)
            if self.seen.size() == before and title != "TLS 1.1":
                self.wrong(title, "direct: nothing has arrived: %s" % done.stdout)
            before = self.seen.size()
            result = session.execute(whole, check=False)
            self.told(title, result)
            if self.seen.size() != before or "silence" in result.stdout or result.error:
                self.wrong(title, "%r %s %s %s" % (self.seen.after(before), result.stdout, result.denials, result.error))
            print("%-40s %s %s" % (title, result.stdout.strip(), [one["what"] for one in result.denials]))

    def changed(self, session):
        """A token that is no longer taken is read again, once, and only then."""
        self.count += 1
        host, demand = "git.example.test", DEMANDS["git.example.test"]
        request = b"GET /tiny.git/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % \
            host.encode()

        def asked():
            known = len(self.seen.requests)
            result = session.execute("tell(raw(%r, %r))" % (host, request), check=False)
            self.told("changed", result, base64.b64decode(result.stdout or ""))
            return [one.is_right for one in self.seen.requests[known:]]

        said = [asked()]
        demand.token = credential_servers.token()
        with open(self.token_file, "w", encoding="ascii") as file:
            file.write(demand.token + "\n")
        said.append(asked())
        end = time.monotonic() + 100
        while said[-1] != [True] and time.monotonic() < end:
            time.sleep(0.05)  # it is being read
            said.append(asked())
        if said[:2] != [[True], [False]] or said[-1] != [True]:
            self.wrong("changed", "%s" % said)

    def many(self, session):
        """Two hundred connections at once, each with requests of its own: nobody gets the answer of another."""
        self.count += 1
        known = len(self.seen.requests)
        result = session.execute(
            "import hashlib\nhost = %r\n"
            "kept = [TRUST.wrap_socket(socket.create_connection((host, 443), 120), server_hostname=host)"
            " for i in range(200)]\n"
            "wrong = 0\n"
            "for turn in range(3):\n"
            "    for i, stream in enumerate(kept):\n"
            "        stream.sendall(('POST /%%d.%%d HTTP/1.1\\r\\nHost: %%s\\r\\nContent-Length: 4\\r\\n\\r\\n%%04d'"
            " %% (turn, i, host, i)).encode())\n"
            "    for i, stream in enumerate(kept):\n"
            "        want = ('POST /%%d.%%d %%s\\n' %% (turn, i, hashlib.sha256(b'%%04d' %% i).hexdigest()[:16])).encode()\n"
            "        said = b''\n"
            "        while not said.endswith(want):\n"
            "            piece = stream.recv(4096)\n"
            "            said += piece\n"
            "            if not piece:\n"
            "                wrong += 1\n"
            "                break\n"
            "for stream in kept:\n    stream.close()\n"
            "print(wrong)" % HOSTS["api"], check=False)
        right = sum(one.is_right for one in self.seen.requests[known:])
        if result.stdout != "0\n" or result.denials or right != 600:
            self.wrong("many", "%r %s %s, %d requests" % (result.stdout, result.error, result.denials, right))

    # ---- what it costs ----

    def costs(self, session):
        """What a credential costs beside a host without one, at the same server: medians, in turns."""
        result = session.execute(COSTS % (HOSTS["api"], "open.data.example.test"), check=False)
        print(result.stdout, result.error or "", flush=True)
        times = json.loads(result.stdout) if not result.error else None
        if not times:
            self.wrong("costs", "%s %s" % (result.error, result.denials))
            return
        spliced, added = times["spliced"], times["credential"]
        if added["first"] - spliced["first"] > spliced["handshake"] + 500:
            self.wrong("costs", "a first request costs more than another handshake and 0.5 ms")
        if added["later"] - spliced["later"] > 100:
            self.wrong("costs", "a later request costs more than 100 us")

    # ---- placeholders ----

    def placeholders(self, session):
        """A worthless value is the token in a header for its host, and nowhere else."""
        held, api = HOSTS["held"], HOSTS["api"]
        result = session.execute("import os\nprint(os.environ['GITHUB_TOKEN'])", check=False)
        value = result.stdout.strip()
        self.told("the placeholder", result)
        if not re.fullmatch(r"ghp_[A-Za-z0-9]{36}", value):
            self.wrong("the placeholder", "is %r: %s" % (value, result.error))
            return
        line = "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n"
        get = lambda host: line % ("GET", "/p", host)
        bearer = "Authorization: Bearer %s\r\n" % value
        cases = [
            ("in its header", held, get(held) + bearer + "\r\n", 443, 1, False),
            ("in another header for its host", held, get(held) + bearer + "X-Also: %s\r\n\r\n" % value, 443, 1, False),
            ("missing", held, get(held) + "\r\n", 443, 0, False),
            ("in the body for its host", held, line % ("POST", "/p", held) + bearer + "Content-Length: %d\r\n\r\n%s" %
             (len(value), value), 443, 1, False),
            ("to another host", api, get(api) + bearer + "\r\n", 443, None, True),
            ("to another host, in another header", api, get(api) + "X-Also: %s\r\n\r\n" % value, 443, None, True),
        ]
        for title, host, text, port, right, is_denied in cases:
            self.count += 1
            before, known = self.seen.size(), len(self.seen.requests)
            result = session.execute("tell(raw(%r, %r, %d))" % (host, text.encode(), port), check=False)
            self.told(title, result, base64.b64decode(result.stdout or ""))
            requests, sent = self.seen.requests[known:], self.seen.after(before)
            if right is not None and sum(request.is_right for request in requests) != right:
                self.wrong("placeholder " + title, "%d requests: %s" % (len(requests), result.denials))
            if bool(result.denials) != is_denied or (is_denied and sent):
                self.wrong("placeholder " + title, "denials %s, sent %r" % (result.denials, sent[:200]))
            if "body" in title and value.encode() not in sent:
                self.wrong("placeholder " + title, "the body was changed: %r" % sent)
        result = session.execute(
            "with socket.create_connection(('web.example.test', 80), 120) as stream:\n"
            "    stream.sendall(%r)\n    try:\n        print(stream.recv(99))\n    except OSError as error:\n"
            "        print(error)" % (get("web.example.test") + bearer + "\r\n").encode(), check=False)
        self.count += 1
        if not result.denials or "host=web" in result.stdout:
            self.wrong("placeholder over plain HTTP", "denials %s, %r" % (result.denials, result.stdout))

    # ---- programs ----

    PLAIN = {"shell": ["bash", "-c"], "python": ["python3", "-c"], "r": ["Rscript", "-e"], "javascript": ["node", "-e"]}
    # What a program has in its hand: with the token, and without.
    HANDS = {"shell": ('auth=(-H "Authorization: Bearer $TOKEN") other=(-H "Authorization: token $TOKEN_OTHER")\n',
                       "auth=() other=()\n"),
             "python": ('import os\nheaders = {"Authorization": "Bearer " + os.environ["TOKEN"]}\n', "headers = {}\n"),
             "r": ('headers <- c(Authorization = paste("Bearer", Sys.getenv("TOKEN")))\n', "headers <- NULL\n"),
             "javascript": ('const headers = {Authorization: "Bearer " + process.env.TOKEN};\n',
                            "const headers = {};\n")}

    def given(self, is_full):
        """The environment of programs, with the tokens or without."""
        bundle = programs.BUNDLE
        made = {"LC_ALL": "C.UTF-8", "PIP_RETRIES": "0", "PIP_INDEX_URL": "https://pypi.example.test/simple/",
                "PRIVATE": self.servers.private_ca}
        if not is_full:
            return made
        basic = DEMANDS["git.example.test"].field()
        pypi = DEMANDS["pypi.example.test"]
        return {**made, "TOKEN": DEMANDS["api.example.test"].token, "GIT_CONFIG_COUNT": "1",
                "TOKEN_OTHER": DEMANDS["api.example.test:8443"].token,
                "GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": basic,
                "GITHUB_TOKEN": DEMANDS["held.data.example.test"].token,
                "PIP_INDEX_URL": "https://%s:%s@pypi.example.test/simple/" % (pypi.value, pypi.token),
                "NODE_EXTRA_CA_CERTS": bundle, "PIP_CERT": bundle, "REQUESTS_CA_BUNDLE": bundle}

    def outside(self, row, is_full):
        """Without a box: with the token it works, without it does not."""
        where = tempfile.mkdtemp(dir=self.directory)
        bundle = programs.BUNDLE
        environment = {"PATH": os.environ["PATH"], "HOME": where, "NODE_EXTRA_CA_CERTS": bundle, "PIP_CERT": bundle,
                       "REQUESTS_CA_BUNDLE": bundle, **self.given(is_full)}
        start = time.monotonic()
        done = subprocess.run([*self.PLAIN[row.language], self.HANDS[row.language][not is_full] + row.code], cwd=where,
                              env=environment, timeout=600, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        print("%-60s %5.1f s outside" % (row.title, time.monotonic() - start), flush=True)
        if (done.stdout == row.prints) != is_full:
            self.wrong(row.title, "outside, %s: prints %r: %s" %
                       ("with the token" if is_full else "without it", done.stdout, done.stderr[-600:]))

    def inside(self, lazaret, server, row, warm):
        start = time.monotonic()
        with lazaret.Session(row.language, server=server, warm=warm) as session:
            result = session.execute(self.HANDS[row.language][1] + row.code, check=False)
        print("%-60s %5.1f s %s" % (row.title, time.monotonic() - start, "warm" if warm else "cold"), flush=True)
        self.told(row.title, result)
        if result.stdout != row.prints or result.denials:
            self.wrong(row.title, "%s: prints %r: %s %s %s" % ("warm" if warm else "cold", result.stdout,
                                                              result.stderr[-600:], result.error, result.denials))

    def programs(self, lazaret, server, only):
        chosen = []
        with open(os.path.join(HERE, "credentials.txt"), encoding="utf-8") as file:
            every = [programs.Row(block) for block in re.split(r"^== ", file.read(), flags=re.MULTILINE)[1:]]
        for row in every:
            if only not in row.title or ("full" in row.marks and not FULL):
                continue
            missing = row.missing()
            if missing and "optional" in row.marks:
                print("%s: %s is not installed" % (row.title, missing))
            elif missing:
                print("skipped: %s is not installed: %s" % (missing, row.title))
            else:
                chosen.append(row)
        first = {row.language: row for row in reversed(chosen)}
        if self.is_repeated:
            chosen = list(first.values())
        self.count += len(chosen)
        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            # One of each language, and git, pip: the demand is the same.
            some = [] if self.is_repeated else [row for row in chosen if FULL or first[row.language] is row or re.search("git|pip", row.title)]
            list(threads.map(lambda row: self.outside(row, True), some))
            list(threads.map(lambda row: self.outside(row, False), some))
            if server:
                runs = [(row, False) for row in chosen]
                runs += [(row, True) for row in chosen if FULL or first[row.language] is row]
                list(threads.map(lambda run: self.inside(lazaret, server, *run), runs))

    # ---- all ----

    def configuration(self):
        """The file, and the environment of the host with what it reads tokens from."""
        table, variables = credential_servers.table()
        table = table.replace("$PRIVATE", self.servers.private_ca)
        # One from a file, and one from a command
        for number, host in enumerate(DEMANDS):
            if host in ("git.example.test", "pypi.example.test"):
                path = os.path.join(self.directory, "token.%d" % number)
                with open(path, "w", encoding="ascii") as file:
                    file.write(variables.pop("TOKEN_%d" % number) + "\n")
                os.chmod(path, 0o600)
                self.token_file = path if "git" in host else self.token_file
                source = '{ file = "%s" }' % path if "git" in host else '{ command = ["/bin/cat", "%s"] }' % path
                table = table.replace('{ env = "TOKEN_%d" }' % number, source)
        path = os.path.join(self.directory, "lazaret.toml")
        settings = {
            "session": {"timeout": 0, "deadline": 0, "start_timeout": 600},
            "limits": {"memory": "3GiB", "nproc": 300, "nofile": 1024, "fsize": "200MiB", "cpu": "unlimited"},
            "sandbox": {"programs": "any", "tmp_size": "256MiB"},
            "audit": {"file": self.audit},
            "network": {"allow": ALLOW, "max_bytes": "1GiB", "max_connections": 300},
        }
        with open(path, "w", encoding="utf-8") as file:
            for name, pairs in settings.items():
                file.write("[%s]\n" % name)
                file.writelines("%s = %s\n" % (key, json.dumps(value)) for key, value in pairs.items())
            file.write("[env]\nset = { %s }\n" % ", ".join("%s = %s" % (name, json.dumps(value)) for name, value
                                                          in self.given(False).items()))
            file.write(table)
        os.environ.update(variables)
        return path

    def run(self, lazaret, server, part, only):
        session = None
        if server and part in ("all", "raw", "cuts", "placeholders", "many", "strangers", "changed",
                               "costs"):
            session = lazaret.Session("python", server=server, warm=False)
            session.execute(REACH)
        if part in ("all", "raw"):
            chosen = rows(only)
            self.count += len(chosen)
            for row in chosen:
                if row.answer:
                    self.answer(session, row)
                else:
                    if not self.is_repeated:
                        self.arrives(row)
                    if session:
                        self.request(session, row)
        self.timed("raw")
        if part in ("all", "cuts"):
            self.cuts(session)
        self.timed("cuts")
        if part == "costs" and session: # by hand: of a busy machine it says nothing
            self.costs(session)
        if part in ("all", "placeholders") and session:
            self.placeholders(session)
        if part in ("all", "many") and session:
            self.many(session)
        if part in ("all", "strangers") and session:
            self.strangers(session)
            self.odd(session)
        if session and (part == "changed" or (part == "all" and FULL)):  # for a minute nothing is read again
            self.changed(session)
        self.timed("placeholders")
        if part in ("all", "programs"):
            self.programs(lazaret, server, only)
        self.timed("programs")
        return session

    start = time.monotonic()

    def timed(self, name):
        print("%s: %.1f s" % (name, time.monotonic() - self.start), flush=True)
        Tests.start = time.monotonic()


def main():
    words = sys.argv[1:]
    only = words[words.index("--row") + 1] if "--row" in words else ""
    part = words[words.index("--only") + 1] if "--only" in words else "all"
    tests = Tests("--repeated" in words)
    if words[0] == "--outside":
        tests.run(None, None, part, only)
    else:
        import credential_marks
        sys.path.insert(0, os.path.join(HERE, "../../clients/python/src"))
        import lazaret
        logging.getLogger("lazaret").addHandler(credential_marks.Logged(tests.logged))
        logging.getLogger("lazaret").setLevel(logging.DEBUG)
        command, path = world.lazaret_of(words[0]), tests.configuration()
        with lazaret.Server(command, config=path, start_timeout=600) as server:
            session = tests.run(lazaret, server, part, only)
            if part in ("all", "marks"):
                credential_marks.searched(tests, lazaret, server, command, path)
            tests.timed("marks")
            if session:
                session.close()
    print("%d cases, %d failed" % (tests.count, len(tests.failures)))
    return 1 if tests.failures else 0


if __name__ == "__main__":
    sys.exit(main())
