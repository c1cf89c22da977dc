# SPDX-License-Identifier: MIT
"""What the way out of a box bears and costs: load.py LAZARET [--costs] [--check] [--only NAME], within world.py.

First what must hold on any machine: connections leave nothing, also those of sessions that are killed in each state
of one; two hundred at once; a gibibyte arrives whole. With --costs then what is measured, beside the same without
lazaret; with --check it has to keep what is promised. Medians; the number of samples is printed."""

import hashlib
import os
import subprocess
import sys
import threading
import time

import world

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../clients/python/src"))
import lazaret  # noqa: E402

SETTINGS = {"network.allow": ["https://api.example.test", "http://web.example.test", "plain.example.test:9000",
                              "plain.example.test:9004", "x.silent.example.test:9000"],
            "network.max_connections": 256, "network.max_bytes": "1TiB", "session.timeout": 0,
            "session.deadline": 0, "session.start_timeout": 600, "limits.nofile": 1024, "limits.cpu": "unlimited"}

with open(os.path.join(HERE, "reach.py"), encoding="utf-8") as reach:
    REACH = reach.read()

PING = """
def pings(count):
    with connect(PLAIN, 9000) as stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        times = []
        for i in range(count):
            start = time.perf_counter()
            stream.sendall(b"x" * 64)
            got = 0
            while got < 64:
                got += len(stream.recv(64))
            times.append(time.perf_counter() - start)
    return sorted(times)

def first_bytes(count):
    times = []
    address = socket.getaddrinfo(PLAIN, 9000, socket.AF_INET, socket.SOCK_STREAM)[0][4]
    for i in range(count):
        start = time.perf_counter()
        with socket.socket() as stream:
            stream.connect(address)
            stream.sendall(b"x")
            stream.recv(1)
        times.append(time.perf_counter() - start)
    return sorted(times)

def lookups(count):
    times = []
    for i in range(count):
        start = time.perf_counter()
        socket.getaddrinfo(PLAIN, 9000, socket.AF_INET, socket.SOCK_STREAM)
        times.append(time.perf_counter() - start)
    return sorted(times)

def fetched(size):
    with connect(WEB, 80, 60) as stream:
        stream.sendall(b"GET /big?n=%d HTTP/1.0\\r\\nHost: web.example.test\\r\\n\\r\\n" % size)
        start, got = time.perf_counter(), 0
        while True:
            piece = stream.recv(1 << 18)
            if not piece:
                break
            got += len(piece)
    assert got >= size
    return size / (time.perf_counter() - start) / 1e6

def saturate(seconds):
    end, total = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        total += fetched(64 << 20)
    return total
"""

# What a session is doing when it is killed; each leaves its socket open in `stream`.
STATES = {
    "asking for a name": "stream = socket.socket(); stream.setblocking(False)\n"
                         "stream.connect_ex((socket.gethostbyname('x.silent.example.test'), 9000)); time.sleep(0.2)",
    "connecting": "stream = connect(PLAIN, 9004); time.sleep(0.2)",
    "half of the first message": "stream = connect(API, 443); stream.sendall(b'\\x16\\3\\1\\2\\0'); time.sleep(0.1)",
    "half of a request": "stream = connect(WEB, 80); stream.sendall(b'GET / HT'); time.sleep(0.1)",
    "silent": "stream = connect(PLAIN, 9000); stream.sendall(b'x'); stream.recv(1)",
    "sending without reading": "stream = connect(PLAIN, 9000); stream.settimeout(0.5)\n"
                               "try:\n    while True: stream.send(bytes(65536))\nexcept OSError: pass",
    "not reading what comes": "stream = connect(WEB, 80)\n"
                              "stream.sendall(b'GET /big?n=99999999 HTTP/1.0\\r\\nHost: web.example.test\\r\\n\\r\\n')\n"
                              "time.sleep(0.3)",
    "having ended its side": "stream = connect(PLAIN, 9000); stream.sendall(b'x'); stream.shutdown(1)\n"
                             "time.sleep(0.1)",
    "half of a question": "stream = connect('127.0.0.1', 53); stream.sendall(b'\\0'); time.sleep(0.1)",
}


def descriptors(pid):
    """What a process has open, by kind."""
    found = []
    for name in os.listdir("/proc/%d/fd" % pid):
        try:
            found.append(os.readlink("/proc/%d/fd/%s" % (pid, name)).split(":")[0])
        except OSError:
            pass
    return sorted(found)


def children(pid):
    """It and all that came of it."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def spaces(pid):
    """The network namespaces that it and what came of it are in."""
    found = set()
    for one in children(pid):
        try:
            found.add(os.readlink("/proc/%d/ns/net" % one))
        except OSError:
            pass
    return found


class Load:
    def __init__(self, path):
        self.command, self.failures = world.lazaret_of(path), []
        self.server = self.opened(SETTINGS)

    def opened(self, settings):
        return lazaret.Server(self.command, settings=settings, start_timeout=600)

    def pid(self):
        return self.server._channel._process.pid

    def session(self, server=None, warm=False):
        session = lazaret.Session("python", server=server or self.server, warm=warm)
        session.execute(REACH + PING)
        return session

    def wrong(self, name, what):
        self.failures.append("%s: %s" % (name, what))

    def has(self):
        """What the server has open, and the namespaces of its processes."""
        return descriptors(self.pid()), spaces(self.pid())

    def comes_back(self, name, before):
        """Waits until the server has what it had; what remains is wrong after a minute."""
        for _ in range(600):
            now = self.has()
            if all(len(one) <= len(other) for one, other in zip(now, before)):
                return
            time.sleep(0.1)
        self.wrong(name, "left %s; before it was %s" % (now, before))

    def settled(self, warm=False):
        """What the server has when no session is open."""
        for _ in range(3):
            self.session(warm=warm).close()
        time.sleep(1)
        return self.has()

    # ---- what must hold ----

    def leaves_nothing(self):
        before = self.settled()
        with self.session() as session:
            session.execute("where(PLAIN)")
            within = len(descriptors(self.pid()))
            result = session.execute("for i in range(1000):\n    assert where(PLAIN)\nprint('all')", check=False)
            if result.stdout != "all\n" or result.denials:
                self.wrong("leaves_nothing", repr(result))
            for _ in range(100):
                if len(descriptors(self.pid())) <= within:
                    break
                time.sleep(0.1)
            else:
                self.wrong("leaves_nothing", "%d descriptors, %d before" % (len(descriptors(self.pid())), within))
        self.comes_back("leaves_nothing", before)

    def at_once(self):
        code = """
kept = [connect(PLAIN, 9000, 60) for i in range(200)]
for i, stream in enumerate(kept):
    stream.sendall(b"%06d" % i)
print(all(stream.recv(6) == b"%06d" % i for i, stream in enumerate(kept)))
for stream in kept:
    stream.close()
"""
        with self.session() as session:
            result = session.execute(code, check=False)
        if result.stdout != "True\n" or result.denials:
            self.wrong("at_once", repr(result))

    def gibibyte(self):
        code = """
import hashlib
size, block = 1 << 30, os.urandom(1 << 20)
sent, got = hashlib.sha256(), hashlib.sha256()
stream = connect(PLAIN, 9000, 60)
def send():
    for i in range(size // len(block)):
        piece = b"%08d" % i + block[8:]
        sent.update(piece)
        stream.sendall(piece)
    stream.shutdown(socket.SHUT_WR)
sender = threading.Thread(target=send)
sender.start()
count = 0
while True:
    piece = stream.recv(1 << 18)
    if not piece:
        break
    got.update(piece)
    count += len(piece)
sender.join()
print(count == size and sent.digest() == got.digest())
"""
        with self.session() as session:
            result = session.execute(code, check=False)
        if result.stdout != "True\n":
            self.wrong("gibibyte", repr(result))

    def killed(self):
        for warm in (False, True):
            before = self.settled(warm)
            for state, code in STATES.items():
                for end in ("os.kill(os.getpid(), 9)", None):
                    session = self.session(warm=warm)
                    result = session.execute(code, check=False)
                    if not result.ok:
                        self.wrong("killed", "%s: %r" % (state, result))
                    if end:
                        session.execute(end, check=False)
                    session.close()
            self.comes_back("killed", before)

    def processes_are_killed(self):
        """Of a session that lives on: what they were doing ends with them."""
        with self.session() as session:
            session.execute("where(PLAIN)")
            before = self.has()
            for state, code in STATES.items():
                session.execute("child = os.fork()\nif child == 0:\n    try:\n%s\n    finally:\n"
                                "        os.kill(os.getpid(), 9)\nos.waitpid(child, 0)" %
                                "\n".join("        " + line for line in code.split("\n")))
            self.comes_back("processes_are_killed", before)

    def host_is_killed(self):
        """What is left of a server that was killed while its sessions had connections."""
        before = spaces(os.getpid())
        session = self.session()
        session.execute(STATES["silent"])
        process, all_of_it = self.server._channel._process, children(self.pid())
        process.kill()
        for _ in range(300):
            left = [pid for pid in all_of_it if os.path.exists("/proc/%d/exe" % pid)]
            if not left and spaces(os.getpid()) <= before:
                break
            time.sleep(0.1)
        else:
            self.wrong("host_is_killed", "left %s" % left)
        self.server = self.opened(SETTINGS)

    def questions(self):
        """A session that asks without end keeps no other from its own."""
        with self.session() as loud, self.session() as quiet:
            thread = threading.Thread(target=loud.execute, args=(
                "for i in range(20000 if not os.environ.get('FULL') else 100000):\n    ask('x.other.example.test')",))
            thread.start()
            result = quiet.execute("for i in range(50):\n    assert where(PLAIN)\nprint('all')", check=False)
            if result.stdout != "all\n" or result.denials:
                self.wrong("questions", repr(result))
            thread.join()

    # ---- what is measured ----

    def outside(self, code):
        done = subprocess.run([sys.executable, "-c", REACH + PING + code], stdout=subprocess.PIPE, check=True, text=True)
        return done.stdout

    def both(self, code):
        """What the code prints without a box and in one."""
        out = self.outside(code)
        with self.session() as session:
            return out, session.execute(code).stdout

    def row(self, name, direct, inside, unit, samples, is_kept):
        print("%-44s %10.1f direct %10.1f inside  %6.2f  %-5s n=%d %s" %
              (name, direct, inside, inside / direct if direct else 0, unit, samples, "" if is_kept else "MISSED"))
        if not is_kept and "--check" in sys.argv:
            self.wrong(name, "%.1f direct, %.1f inside" % (direct, inside))

    def costs(self):
        for name, code, most in (("connect to first byte", "first_bytes", 250), ("echo of 64 bytes", "pings", None)):
            out, inner = (1e6 * float(said) for said in self.both("t = %s(500); print(t[250])" % code))
            self.row(name, out, inner, "us", 500, most is None or inner - out <= most)
        out, inner = (1e6 * float(said) for said in self.both("t = lookups(500); print(t[250])"))
        self.row("getaddrinfo", out, inner, "us", 500, inner <= 100)
        out, inner = (float(said) for said in self.both("t = sorted(fetched(256 << 20) for i in range(5)); print(t[2])"))
        self.row("throughput, to the box", out, inner, "MB/s", 5, inner >= 0.3 * out)
        self.neighbour()
        self.starts()

    def neighbour(self):
        """The slowest hundredth of a session's echoes while somebody fetches what he can: in turn a process
        without a box, and another session."""
        code = "t = pings(2000); print(t[1980])"
        direct, inside = [], []
        with self.session() as loud, self.session() as quiet:
            for _ in range(5):
                busy = subprocess.Popen([sys.executable, "-c", REACH + PING + "print('go', flush=True)\nsaturate(1e9)"],
                                        stdout=subprocess.PIPE)
                busy.stdout.readline()
                time.sleep(0.5)
                direct.append(1e6 * float(quiet.execute(code).stdout))
                busy.kill()
                busy.communicate()
                thread = threading.Thread(target=loud.execute, args=("saturate(2)",))
                thread.start()
                time.sleep(0.5)
                inside.append(1e6 * float(quiet.execute(code).stdout))
                thread.join()
        out, inner = sorted(direct)[2], sorted(inside)[2]
        self.row("p99 beside one that saturates", out, inner, "us", 5, inner <= 2 * out)

    def starts(self):
        """A start with a list against one without."""
        without = {name: value for name, value in SETTINGS.items() if not name.startswith("network.")}
        with self.opened(without) as plain:
            for warm in (False, True):
                times = {plain: [], self.server: []}
                for turn in range(41):
                    for server, kept in times.items():
                        start = time.perf_counter()
                        session = lazaret.Session("python", server=server, warm=warm)
                        session.execute("1")
                        kept.append(time.perf_counter() - start)
                        session.close()
                out, inner = (1e3 * sorted(kept[1:])[20] for kept in times.values())
                self.row("a start, %s" % ("from a template" if warm else "cold"), out, inner, "ms", 40,
                         inner - out <= 0.5)


def main():
    words = sys.argv[1:]
    load = Load(words[0])
    only = words[words.index("--only") + 1] if "--only" in words else None
    tests = ["leaves_nothing", "at_once", "gibibyte", "killed", "processes_are_killed", "host_is_killed",
             "questions"]
    for name in [only] if only else tests + (["costs"] if "--costs" in words else []):
        start = time.monotonic()
        getattr(load, name)()
        print("%s: %.1f s" % (name, time.monotonic() - start), flush=True)
    load.server.close()
    for failure in load.failures:
        print("FAILED", failure)
    print("%d failed" % len(load.failures))
    return 1 if load.failures else 0


if __name__ == "__main__":
    sys.exit(main())
